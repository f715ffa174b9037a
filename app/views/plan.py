"""Page Plan: places, settings and the answer on the left, the map on the right.

The last plan is left on the map and the cards, dimmed, where a request cannot be met.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import streamlit as st
from address import write_address
from cards import (
    cards_of,
    distinct_rows,
    extra_time,
    minutes,
    refused_line,
    shown_rows,
    time_interval,
)
from charge_way import charge_way
from driving import CAR_ROW, car_pin, take_car
from forecasts import refused_fastest
from literal import literal, sentence
from map_component import (
    CHARGE_SPOT,
    OTHER_ROUTE,
    SPOT,
    MapEvent,
    bounds_of,
    legend,
    legend_of_marks,
    show_cards,
    show_map,
)
from map_layers import Shown, layers_data, shown_layers
from naming import check_place, place_label, place_point
from places import chosen, take_event
from pydantic import ValidationError
from request import (
    Request,
    ask_request,
    currency_sign,
    keep_lowered,
    link_of,
    planned,
    planner_of,
    show_effects,
)
from road_files import flipped
from route_tabs import DRIVING, STOP_FORMATS, TAB, show_tabs, stops_table
from state import key, put
from visit import remember_places, show_notices, visit

from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.battery import greatest_start_wh
from evroute.planning.charge.stations import why_no_charging
from evroute.planning.plan import Plan, PlannedRoute, energy_text, held_note
from evroute.planning.planner import Planner
from evroute.report.colours import ENERGY_CLASSES
from evroute.report.lines import route_line
from evroute.report.maps.network_maps import marks, stretches

LAST = "last_plan"
# car, day and belief of the last plan (`Request.basis`); Streamlit writes a bare string on the page
BASIS = "last_basis"
WASTED_WH = 5.0
HEIGHT = "var(--evroute-full-height)"
EXAMPLE = "Example trip. Click the map to plan your own."
START = "Click where you start."
GO = "Now click where you are going. Drag the pins to change."
STOP = "Click the stop on the map, or choose it by name."


def main() -> None:
    with st.container(horizontal=True, key="plan", gap="small"):
        left, right = st.container(width=360, key="plan-left"), st.container(key="plan-map")
    request = planner = None
    with left:
        try:
            inputs = ask_request()
            show_notices()
            planner = planner_of(inputs)  # a belief may be about another car
            request = inputs
        except (EvrouteError, OSError, ValidationError) as error:
            st.error(sentence(str(error)))
        plan = make_plan(request, planner)
        refused = refused_fastest(planner, plan) if planner and plan else None
        roads, shown = plan_to_show(request, plan)
        if roads is None:
            return
        layers = shown_layers(request, planner) if request and planner else {}
        for words in filter(None, (layer.words for layer in layers.values())):
            st.markdown(sentence(words))
        selected = selected_row(shown) if shown else ""
        if shown:
            show_answer(roads, plan, shown, selected, refused)
    with right:
        draw_map(roads, request, shown, selected, dim=plan is None, layers=layers)
    with left:
        if request and plan:
            details(request, plan, selected, refused)
        if request:
            write_address(link_of(request))
        if request and plan:
            remember_places(request.network.name, request.places)


def show_answer(
    roads: RoadNetwork, plan: Plan | None, shown: Plan, selected: str, refused: PlannedRoute | None
) -> None:
    """Show the cards of the routes, above a line on what the limit of risk takes or refuses.

    Parameters
    ----------
    roads
        The network.
    plan, shown
        The plan, or None where the request cannot be met, and the one that is shown.
    selected
        The selected row.
    refused
        The fastest route, if the plan refuses it.
    """
    lines = []
    if plan and refused:
        lines = [refused_line(plan, refused)]
    elif plan and (other := plan.unlimited):
        best = plan.recommended_route
        is_other = (best.route, best.stops) != (other.route, other.stops)
        lines = [f"{plan.safety}."] if is_other else []
    rows, sign = shown_rows(shown, selected), currency_sign()
    refuses = refused is not None
    cards = cards_of(roads, shown, rows, selected, currency=sign, refuses=refuses)
    show_cards(cards, key="cards", lines=lines, dim=plan is None, on_event=on_event)


def plan_to_show(
    request: Request | None, plan: Plan | None
) -> tuple[RoadNetwork | None, Plan | None]:
    """Return the network, and the plan or else the last one if its numbers still hold."""
    if request and plan:
        keep_last(request, plan)
    roads, last = st.session_state.get(LAST, (None, None))
    if request is None:
        return roads, last
    same_roads = roads is not None and roads.content_digest == request.network.content_digest
    same_basis = st.session_state.get(BASIS) == request.basis
    stays = same_roads and same_basis and request.places[0] and request.places[-1]
    return request.network, last if stays else None


def keep_last(request: Request, plan: Plan) -> None:
    """Keep a plan for requests that cannot be met."""
    st.session_state[LAST] = request.network, plan
    st.session_state[BASIS] = request.basis


def make_plan(request: Request | None, planner: Planner | None) -> Plan | None:
    """Return the plan, or None below a line with the reason.

    A trip from a place to itself waits for its stop without a line.
    """
    if request is None or planner is None or not (request.places[0] and request.places[-1]):
        return None
    known = [place for place in request.places if place]
    if len(known) < len(request.places) and any(a == b for a, b in pairwise(known)):
        return None
    try:
        for place in filter(None, request.places):
            check_place(request.network, place)
        return planned(request, planner)
    except NotEnoughChargeError as error:
        show_shortage(request, planner, error)
    except EvrouteError as error:
        st.error(sentence(str(error)))
    return None


def show_shortage(request: Request, planner: Planner, error: NotEnoughChargeError) -> None:
    """Show the missing charge with buttons that mend it.

    A first visit shows the routes with enough charge, and so does another car, day or belief.

    Parameters
    ----------
    request, planner
        Inputs with too little charge, and their planner.
    error
        From the planner.
    """
    soc = request.wishes.soc or 0.0
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="shortage"):
        if error.start_percent is None or request.wishes.charge:
            st.error(sentence(str(error).replace(" (--charge)", "")))
        else:
            risk = request.risk
            goal = "" if risk is None else f" for {100 * (1 - risk):g} of 100 trips"
            average = ""
            if error.average_percent is not None:
                average = f" (on average {error.average_percent} % is enough)"
            st.error(
                sentence(
                    f"{soc:.0f} % is not enough{goal}: start with at least "
                    f"{error.start_percent:d} %{average}"
                )
            )
        for number, step in enumerate(error.steps):
            st.button(
                literal(step_label(step)), on_click=use, args=(step,), key=f"use{number or ''}"
            )
        if not planner.chargers and stations(request.network):
            reason = why_no_charging(request.network, request.vehicle, planner.chargers)
            st.caption(sentence(f"no charging on the way: {reason}"))
    if error.steps and st.session_state.get(BASIS) != request.basis:
        wishes = request.wishes.model_copy(update=dict(error.steps[0]))
        with suppress(NotEnoughChargeError):
            keep_last(request, planned(replace(request, wishes=wishes), planner))


def step_label(step: Mapping[str, float | bool]) -> str:
    """Return the label of the button of a change that mends a refusal."""
    soc, reserve = step.get("soc"), step.get("reserve")
    if reserve is not None:
        return f"Use {soc:.0f} %, keep {reserve:.0f} %"
    if not step.get("charge"):
        return f"Use {soc:.0f} %"
    return "Charge on the way" if soc is None else f"Use {soc:.0f} % and charge on the way"


def selected_row(plan: Plan) -> str:
    """Return the selected row if it has a route of its own, else the recommended one."""
    name = st.session_state.get(key("route"))
    return name if name in distinct_rows(plan) else plan.recommended


def use(step: Mapping[str, float | bool]) -> None:
    """Set inputs before the next run, as advised for the charge to keep that is shown."""
    keep_lowered()
    for name, value in step.items():
        put(name, value)


def draw_map(
    roads: RoadNetwork,
    request: Request | None,
    shown: Plan | None,
    selected: str,
    *,
    dim: bool,
    layers: dict[str, Shown],
) -> None:
    """Draw routes, pins and layers.

    Parameters
    ----------
    roads
        The network.
    request
        Inputs, or None if one of them is invalid.
    shown
        The routes, or None for none.
    selected
        The selected row.
    dim
        True if the routes belong to an earlier request.
    layers
        The layers that are switched on.
    """
    places = request.places if request else tuple(chosen())
    pins = pins_of(roads, places)
    corners = [pin["at"] for pin in pins] if len(pins) > 1 else []
    placing = not all(places) or (request is not None and request.example)
    drawn = routes_drawn(roads, shown, selected) if shown else {"legends": []}
    if shown and not dim and st.session_state.get(TAB) == DRIVING:
        pins.append(car_pin(roads, shown.routes[selected]))
    drawn |= {
        "pins": pins,
        "hint": hint(places, request),
        "dim": dim,
        "click": "send" if placing else "menu",
        "layers": layers_data(request, layers),
    }
    corners += [point for route in drawn.get("routes", ()) for point in route["line"]]
    for layer in layers.values():
        drawn["legends"] += layer.legends
        corners += layer.corners
    show_map(
        roads,
        key="map",
        height=HEIGHT,
        drawn=drawn,
        bounds=bounds_of(corners),
        on_event=on_event,
    )


def routes_drawn(roads: RoadNetwork, plan: Plan, selected: str) -> dict[str, Any]:
    """Return the routes of a plan, the charge along the selected one, its spots and the legends."""
    routes = [route_of(roads, plan, name, selected) for name in shown_rows(plan, selected)]
    spots = spots_of(roads, plan, selected)
    marks = {"other routes": ("line", OTHER_ROUTE)} if len(routes) > 1 else {}
    for spot in spots:
        marks["stop to charge" if spot["label"] else "lowest charge"] = ("dot", spot["colour"])
    return {
        "routes": routes,
        "way": charge_way(roads, plan, selected),
        "spots": spots,
        "legends": [legend(ENERGY_CLASSES), legend_of_marks(marks)],
    }


def spots_of(roads: RoadNetwork, plan: Plan, selected: str) -> list[dict[str, Any]]:
    """Return the marks of a row between its ends. A stop to charge has a label and a colour."""
    stops = plan.routes[selected].stops
    labels = {stop.mark: f"{stop.station}: {stop.numbers}" for stop in stops}
    return [
        {
            "text": text,
            "at": (lat, lon),
            "label": labels.get(text, ""),
            "colour": CHARGE_SPOT if text in labels else SPOT,
        }
        for text, (lon, lat) in marks(roads, plan, selected).items()
        if text not in ("start", "destination")
    ]


def on_event(event: MapEvent) -> None:
    """Select the clicked route, show or hide a layer, or change the places."""
    if event["kind"] == "route":
        st.session_state[key("route")] = event["name"]
    elif event["kind"] == "move" and event["row"] == CAR_ROW:
        take_car(event)
    elif event["kind"] == "layer":
        st.session_state[key(event["name"])] = not st.session_state.get(key(event["name"]))
    else:
        take_event(event)


def pins_of(roads: RoadNetwork, places: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return row, label, text and position of each place that is known and on the network."""
    last, pins = len(places) - 1, []
    for row, place in enumerate(places):
        if not place:
            continue
        label, share = {0: ("A", 0.0), last: ("B", 1.0)}.get(row, (str(row), 0.5))
        try:
            at = place_point(roads, place, share)
        except EvrouteError:
            continue
        stop = 0 < row < last
        text = place_label(roads, place)
        pins.append({"row": row, "label": label, "text": text, "at": at, "stop": stop})
    return pins


def route_of(roads: RoadNetwork, plan: Plan, name: str, selected: str) -> dict[str, Any]:
    """Return a row as the map draws it."""
    planned, label = plan.routes[name], extra_time(plan, name, selected)
    line = flipped(route_line(roads, planned.stretches))
    route = {"name": name, "selected": name == selected, "line": line, "label": label}
    route["text"] = f"{minutes(planned.time_s)}, {energy_text(planned.energy_wh)}"
    if name == selected:
        route["stretches"] = [
            {"colour": colour, "line": flipped(piece), "text": text}
            for colour, piece, text in stretches(roads, planned)
        ]
    return route


def hint(places: tuple[str, ...], request: Request | None) -> str:
    """Return the line on the map."""
    if request and request.example:
        return EXAMPLE
    if not places[0]:
        return START
    if not places[-1]:
        return GO
    return "" if all(places) else STOP


def details(request: Request, plan: Plan, selected: str, refused: PlannedRoute | None) -> None:
    """Show warnings, the tabs of the selected route and the effects of the settings."""
    best = plan.recommended_route
    if plan.battery and best.charge and best.charge.lost_wh >= WASTED_WH:
        at_most = plan.battery.percent(greatest_start_wh(plan.battery, best.charge.step_wh))
        advice = f", with {at_most:.0f} % or less at the start none is lost" if at_most > 0 else ""
        st.warning(
            sentence(
                f"{energy_text(best.charge.lost_wh)} of regeneration do not fit into the battery"
                f"{advice}"
            )
        )
    if found := plan.routes[selected].stops:
        st.dataframe(stops_table(found), hide_index=True, column_config=STOP_FORMATS)
    found = notes(request, plan, selected)
    show_tabs(request, plan, selected, found, refuses=refused is not None)
    show_effects(request, plan)


def notes(request: Request, plan: Plan, selected: str) -> list[str]:
    """Return sentences on the forecast, its width and the sources of the numbers."""
    planned = plan.routes[selected]
    found = []
    if forecast := planned.energy_forecast:
        low, high = forecast.interval_wh()
        found.append(f"{low / 1000:.2f} to {high / 1000:.2f} kWh in 90 % of the trips")
    if ends := time_interval(plan, planned):
        found.append(f"{ends[0]:.1f} to {ends[1]:.1f} min in 90 % of the trips")
    if charge := planned.charge_forecast:
        share = charge.never_below_reserve
        words = f"{100 * share:.0f} %" if share < 0.995 else "more than 99 %"
        found.append(f"the charge stays above the reserve in {words} of the trips")
    return [*found, *filter(None, [plan.safety, plan.note, held_note(planned)]), plan.minutes_note]


with visit():
    main()
