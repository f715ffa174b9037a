"""Page Plan: from a trip, two clicks or two names to the route of least energy and its time."""

import json
from functools import partial

import streamlit as st
from cache import planner
from corrected import after_trip, correction_of
from literal import literal, sentence
from maps import show_map
from pydantic import ValidationError
from request import Request, ask, link_of, show_effects, take_click
from state import read_link, write_link

from evroute.errors import EvrouteError
from evroute.planning.battery import greatest_start_wh
from evroute.planning.places import stops
from evroute.planning.plan import ROW_LABELS, Plan, energy_text, held_note
from evroute.planning.planner import Planner
from evroute.report.exports import route_geojson, route_gpx
from evroute.report.maps import route_classes, route_layers, spots_layer
from evroute.report.profile import energy_bars, profiles
from evroute.report.table import parts_table, plan_table
from evroute.report.words import lowest_charge, why

MAP_HEIGHT = 560
PROFILE_HEIGHT = 240
WASTED_WH = 5.0
NOTABLE = 0.02
INKS = {"light": "#222222", "dark": "#f2f2f2"}


def main() -> None:
    st.title("Plan a trip", anchor=False)
    read_link()
    try:
        request = ask()
    except (EvrouteError, OSError, ValidationError) as error:
        st.error(sentence(str(error)))
        return
    plan, trouble = make_plan(request)
    if trouble:
        (st.info if is_waiting(request) else st.error)(sentence(trouble))
    if plan:
        st.success(sentence(plan.verdict))
        if reason := why(plan):
            st.write(sentence(reason))
    draw_map(request, plan)
    if plan:
        show(request, plan)


def is_waiting(request: Request) -> bool:
    """Return True if further places are needed."""
    return request.trip is None and len(request.places) < 2


def make_plan(request: Request) -> tuple[Plan | None, str]:
    """Return the plan, or None and the reason as a sentence."""
    if is_waiting(request):
        if not request.by_click:
            return None, "enter a start and a destination, each an edge id or LAT,LON"
        return (
            None,
            f"click the {'destination' if request.places else 'start'} on the map",
        )
    try:
        origin, *via, destination = stops(request.network, request.trip, request.places)
        return planner_of(request).plan(
            origin,
            destination,
            via=via,
            battery=request.battery,
            max_extra_time=request.max_extra_time,
            alternatives=request.alternatives,
            depart=request.depart or None,
            price=request.price,
            time_value=request.time_value,
        ), ""
    except EvrouteError as error:
        return None, str(error)


def planner_of(request: Request) -> Planner:
    """Return the planner on the chosen run's belief, else corrected by this session's trips."""
    corrected = correction_of(request)
    if corrected is None or request.folder:
        return planner(
            request.network,
            request.vehicle,
            request.conditions,
            request.folder,
            request.run,
            request.guarantee,
        )
    return Planner(
        request.network, request.vehicle, corrected.belief, conditions=request.conditions
    )


def draw_map(request: Request, plan: Plan | None) -> None:
    spots = {}
    if request.by_click:
        names = ["start", *[f"stop {i}" for i in range(1, len(request.places) - 1)], "destination"]
        spots = {
            name: (float(place.partition(",")[0]), float(place.partition(",")[2]))
            for name, place in zip(names, request.places, strict=False)
        }
    widget = f"map-{request.network.digest}"
    show_map(
        request.network,
        route_layers(request.network, plan) if plan else [spots_layer(spots)],
        key=widget,
        height=MAP_HEIGHT,
        on_click=partial(take_click, widget),
    )


def show(request: Request, plan: Plan) -> None:
    """Show legend, warnings, numbers, parts of the energy, profiles and downloads."""
    roads = request.network
    st.html(route_classes(roads, plan).legend_html())
    warn(plan)
    table = plan_table(plan)
    formats = {name: "{:.3f}" if "kWh" in name else "{:.1f}" for name in table}
    formats |= {name: "{:.2f}" for name in table if name.startswith("cost")}
    formats.pop("arrival", None)
    st.table(table.style.format(formats))
    for line in (plan.minutes_note, held_note(plan.recommended_route)):
        if line:
            st.caption(sentence(line))
    if lowest := lowest_charge(roads, plan):
        st.write(sentence(lowest))
    show_belief(plan, planner_of(request).inflation)
    show_effects(request, plan)
    left, right = st.columns(2)
    ink = INKS.get(st.context.theme.type or "", INKS["light"])
    charts = [energy_bars(plan), *profiles(roads, plan, ink=ink).values()]
    for column, chart in zip((left, right, left), charts, strict=False):
        column.altair_chart(chart, height=PROFILE_HEIGHT, width="stretch", theme=None)
    after_trip(request, plan)
    with st.expander("In numbers"):
        st.table(parts_table(plan).style.format(precision=3))
        for name, proof in plan.proofs.items():
            st.caption(sentence(f"{ROW_LABELS[name]}: {proof}"))
    columns = st.columns(3)
    name = f"{roads.name}-route"
    columns[0].download_button(
        "GeoJSON", partial(geojson, request, plan), f"{name}.geojson", on_click="ignore"
    )
    columns[1].download_button(
        "GPX", partial(route_gpx, roads, plan), f"{name}.gpx", on_click="ignore"
    )
    columns[2].caption("The address of this page reopens this plan.")
    write_link(link_of(request))


def geojson(request: Request, plan: Plan) -> str:
    return json.dumps(route_geojson(request.network, plan))


def warn(plan: Plan) -> None:
    """Warn if a full battery at the start loses regeneration of the descent."""
    least = plan.recommended_route
    if plan.battery is None or least.charge is None or least.charge.lost_wh < WASTED_WH:
        return
    at_most = plan.battery.percent(greatest_start_wh(plan.battery, least.edge_wh))
    advice = f"; starting with {at_most:.0f} % or less wastes none" if at_most > 0 else ""
    st.warning(
        sentence(
            f"{energy_text(least.charge.lost_wh)} of recuperation do not fit into the "
            f"battery{advice}"
        )
    )


def show_belief(plan: Plan, inflation: float) -> None:
    """Show the forecast of the least-energy route and the correction of its intervals."""
    least = plan.recommended_route
    expected = []
    if forecast := least.energy_forecast:
        low, high = forecast.interval_wh()
        expected.append(f"{low / 1000:.2f} to {high / 1000:.2f} kWh in 90 % of the trips")
    if charge := least.charge_forecast:
        low, high = charge.arrival_interval_percent
        expected.append(f"arriving with {low:.1f} to {high:.1f} %")
        expected.append(f"never below the reserve in {charge.never_below_reserve:.1%} of the trips")
    if bound := least.guarantee:
        st.write(
            f"Expected energy {bound.low_wh / 1000:.2f} to {bound.high_wh / 1000:.2f} kWh by "
            f"{literal(bound.assumes)}."
        )
    if expected:
        st.write(sentence(f"the belief expects {', '.join(expected)}"))
        if abs(inflation - 1) > NOTABLE:
            often = "too often" if inflation > 1 else "too seldom"
            st.caption(
                f"Its trips were outside its intervals {literal(often)}; the intervals are scaled "
                f"by {inflation:.2f}."
            )


main()
