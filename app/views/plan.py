"""Plan: from a named trip or two clicks to the route of least energy, and what it costs in time."""

from dataclasses import dataclass

import folium
import streamlit as st
from cache import LEAFLET, network, planner
from streamlit_folium import st_folium

from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.network.catalog import network_names
from evroute.network.trips import load_trips
from evroute.planning.battery import Battery
from evroute.planning.places import endpoints
from evroute.planning.plan import Plan
from evroute.report.maps import base_map, route_classes, route_layers, spots_layer
from evroute.report.profile import profiles
from evroute.report.table import parts_table, plan_table

CLICKS = "two clicks on the map"
MAP_HEIGHT = 560
PROFILE_HEIGHT = 240


@dataclass(frozen=True)
class Request:
    """What the sidebar asks for; ``trip`` is None where the map is clicked."""

    network: str
    vehicle: str
    trip: str | None
    battery: Battery | None
    max_extra_time: float | None


def main() -> None:
    request = ask()
    try:
        roads = network(request.network)
    except EvrouteError as error:
        st.error(str(error))
        return
    places = st.session_state.setdefault("places", [])
    plan = None
    if request.trip is None and len(places) < 2:
        st.info("Now click where to go." if places else "Click on the map where to start.")
    else:
        try:
            ends = endpoints(roads, request.trip, [] if request.trip else places)
            plan = planner(request.network, request.vehicle).plan(
                *ends, battery=request.battery, max_extra_time=request.max_extra_time
            )
        except EvrouteError as error:
            st.error(sentence(str(error)))
    if plan:
        st.success(sentence(plan.verdict))
    spots = dict(zip(("start", "goal"), (tuple(map(float, place.split(","))) for place in places), strict=False))
    st_folium(
        base_map(roads, LEAFLET),
        key="map",
        height=MAP_HEIGHT,
        use_container_width=True,
        returned_objects=["last_clicked"],
        feature_group_to_add=route_layers(roads, plan) if plan else [spots_layer(spots)],
        layer_control=folium.LayerControl(collapsed=False),
        on_change=take_click,
    )
    if plan:
        show(request.network, plan)


def ask() -> Request:
    """Ask for network, vehicle, trip, time limit and battery."""
    with st.sidebar:
        network_name = st.selectbox("Network", list(network_names()), on_change=forget_places)
        vehicle_name = st.selectbox("Vehicle", vehicle_names())
        trip = st.selectbox("Trip", [*load_trips(network_name), CLICKS], on_change=forget_places)
        limited = st.toggle("Limit the extra time")
        extra = st.slider("At most so much slower than the fastest (%)", 0, 100, 10, disabled=not limited)
        charged = st.toggle("Follow the charge")
        soc = st.slider("Charge at the start (%)", 0, 100, 80, disabled=not charged)
        reserve = st.slider("Reserve to keep (%)", 0, soc, min(10, soc), disabled=not charged) if soc else 0
    return Request(
        network=network_name,
        vehicle=vehicle_name,
        trip=None if trip == CLICKS else trip,
        battery=Battery.of_percent(load_vehicle(vehicle_name).battery_kwh, soc, reserve) if charged else None,
        max_extra_time=extra / 100 if limited else None,
    )


def take_click() -> None:
    """Keep the click that caused this rerun: the first one starts a trip, the second ends it, a third starts anew."""
    clicked = (st.session_state["map"] or {}).get("last_clicked")
    if clicked:
        places = st.session_state["places"]
        before = places if len(places) < 2 else []
        st.session_state["places"] = [*before, f"{clicked['lat']:.6f},{clicked['lng']:.6f}"]


def forget_places() -> None:
    st.session_state["places"] = []


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def show(network_name: str, plan: Plan) -> None:
    """Show the legend, the numbers of a plan and the profiles of its routes."""
    roads = network(network_name)
    st.html(route_classes(roads, plan).legend_html())
    table = plan_table(plan)
    st.table(table.style.format({name: "{:.2f}" if "kWh" in name else "{:.1f}" for name in table}))
    st.caption(f"Least energy: {plan.proof}.")
    charts = profiles(roads, plan).values()
    for column, chart in zip(st.columns(len(charts)), charts, strict=True):
        column.altair_chart(chart, height=PROFILE_HEIGHT)
    with st.expander("Where the energy goes"):
        st.table(parts_table(plan).style.format(precision=3))


main()
