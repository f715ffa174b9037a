"""Plan: from a named trip, two clicks or two names to the route of least energy, and what it costs in time."""

import json
from dataclasses import dataclass, replace
from functools import partial

import folium
import streamlit as st
from cache import LEAFLET, choose_belief, choose_network, planner
from pydantic import ValidationError
from state import key, read_link, starting, write_link
from streamlit_folium import st_folium

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.trips import load_trips
from evroute.planning.battery import Battery, greatest_start_wh
from evroute.planning.guarantee import Guarantee
from evroute.planning.places import stops
from evroute.planning.plan import Plan, energy_text
from evroute.planning.planner import Planner, price_of_conditions
from evroute.report.exports import route_geojson, route_gpx
from evroute.report.maps import base_map, route_classes, route_layers, spots_layer
from evroute.report.profile import energy_bars, profiles
from evroute.report.table import parts_table, plan_table
from evroute.report.words import lowest_charge
from evroute.simulation.own.correction import Correction
from evroute.simulation.setting import Setting

MAP_HEIGHT = 560
PROFILE_HEIGHT = 240
WAYS = ["a named trip", "clicks on the map", "names or coordinates"]
COMPASS = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south-east": 135.0}
COMPASS |= {"south": 180.0, "south-west": 225.0, "west": 270.0, "north-west": 315.0}
PRICES = {"temperature_c": "temperature", "wind_mps": "wind", "speed_factor": "speed", "payload_kg": "payload"}
WASTED_WH = 5.0


@dataclass(frozen=True)
class Request:
    """What the sidebar asks for; ``places`` and ``trip``: one of them says where to drive."""

    network: RoadNetwork
    vehicle: Vehicle
    conditions: DrivingConditions
    trip: str | None
    places: tuple[str, ...]
    by_click: bool
    battery: Battery | None
    max_extra_time: float | None
    alternatives: int
    folder: str
    run: str
    guarantee: Guarantee | None


def main() -> None:
    read_link()
    try:
        request = ask()
    except (EvrouteError, OSError, ValidationError) as error:
        st.error(sentence(str(error)))
        return
    plan, trouble = make_plan(request)
    if trouble:
        waiting = request.by_click and len(request.places) < 2
        (st.info if waiting else st.error)(sentence(trouble))
    if plan:
        st.success(sentence(plan.verdict))
    draw_map(request, plan)
    if plan:
        show(request, plan)


def make_plan(request: Request) -> tuple[Plan | None, str]:
    """Return the plan, or a sentence that tells why there is none."""
    if request.by_click and len(request.places) < 2:
        return None, "now click where to go" if request.places else "click on the map where to start"
    try:
        origin, *via, destination = stops(request.network, request.trip, request.places)
        return planner_of(request).plan(
            origin,
            destination,
            via=via,
            battery=request.battery,
            max_extra_time=request.max_extra_time,
            alternatives=request.alternatives,
        ), ""
    except EvrouteError as error:
        return None, str(error)


def planner_of(request: Request) -> Planner:
    """Return the planner: corrected by this session's own trips, unless a run's knowledge was chosen."""
    corrected = corrections().get(about(request))
    if corrected is None or request.folder or not corrected.trips:
        return planner(
            request.network, request.vehicle, request.conditions, request.folder, request.run, request.guarantee
        )
    return Planner(request.network, request.vehicle, corrected.model, conditions=request.conditions)


def corrections() -> dict[tuple[str, str], Correction]:
    """Return what this session's own trips have taught, by network and vehicle."""
    kept: dict[tuple[str, str], Correction] = st.session_state.setdefault("corrections", {})
    return kept


def about(request: Request) -> tuple[str, str]:
    return request.network.digest, repr(request.vehicle)


def after_trip(request: Request, plan: Plan) -> None:
    """Take what a trip along the least-energy route really took, show it beside the plan, and learn from it."""
    least = plan.routes["energy"]
    corrected = corrections().get(about(request))
    with st.expander("After the trip: what did it really take?", expanded=bool(corrected and corrected.trips)):
        if request.conditions != DrivingConditions():
            st.caption("Corrections are learned on days without weather, load and traffic: switch these off.")
            return
        if plan.battery is not None and least.charge is not None:
            arrival = plan.battery.percent(float(least.charge.charge_wh[-1]))
            actual = st.number_input("Charge on arrival (%)", 0.0, 100.0, round(max(arrival, 0.0), 1), 0.5)
            energy_wh = plan.battery.start_wh - actual / 100 * plan.battery.capacity_wh
            st.write(f"Planned {arrival:.1f} %, arrived with {actual:.1f} %: {energy_text(energy_wh)} driven.")
        else:
            energy_wh = 1000 * st.number_input("Energy used (kWh)", value=round(least.energy_wh / 1000, 3), step=0.01)
            st.write(f"Planned {energy_text(least.energy_wh)}, took {energy_text(energy_wh)}.")
        left, right = st.columns(2)
        if left.button("Learn from it"):
            fresh = Correction(Setting(request.network, request.vehicle))
            learner = corrections().setdefault(about(request), fresh)
            try:
                learner.learn(least.route, energy_wh)
            except EvrouteError as error:
                st.error(sentence(str(error)))
                return
            st.rerun()
        if corrected and corrected.trips:
            st.write(
                f"After {corrected.trips} trip{'s' * (corrected.trips > 1)} this car is planned to dissipate "
                f"**{corrected.factor:.2f}** times what physics says."
            )
            if right.button("Forget what was learned"):
                corrections().pop(about(request))
                st.rerun()


def ask() -> Request:
    """Ask for all that a plan depends on.

    Raises
    ------
    EvrouteError
        If the network or the vehicle chosen is none.
    """
    with st.sidebar:
        roads = choose_network()
        trip, places, by_click = ask_places(roads)
        vehicle = ask_vehicle()
        limited = starting("limited", True)
        limited = st.toggle("Limit the extra time", key=key("limited"))
        starting("extra", 20, (0, 100))
        extra = st.slider("Longer than the fastest by at most (%)", 0, 100, key=key("extra"), disabled=not limited)
        starting("alternatives", 1, (0, 3))
        alternatives = st.slider("Alternatives between them", 0, 3, key=key("alternatives"))
        battery = ask_battery(vehicle)
        conditions = ask_conditions()
        folder, run = choose_belief(roads)
        guarantee = ask_guarantee() if folder else None
    return Request(
        network=roads,
        vehicle=vehicle,
        conditions=conditions,
        trip=trip,
        places=places,
        by_click=by_click,
        battery=battery,
        max_extra_time=extra / 100 if limited else None,
        alternatives=alternatives,
        folder=folder,
        run=run,
        guarantee=guarantee,
    )


def ask_guarantee() -> Guarantee | None:
    """Ask for bounds of the expected energy that hold for all routes at all times, and what they may assume."""
    starting("guaranteed", False)
    if not st.toggle("Interval with a guarantee", key=key("guaranteed"), help="CMM, of arms on edges."):
        return None
    starting("norm", 10, (1, 100))
    return Guarantee(
        B=float(st.slider("What physics leaves out, at most (B, prior deviations)", 1, 100, key=key("norm")))
    )


def ask_places(roads: RoadNetwork) -> tuple[str | None, tuple[str, ...], bool]:
    """Ask where to drive: a trip, or places, and whether these are clicked."""
    trips = list(load_trips(roads.name))
    ways = WAYS if trips else WAYS[1:]
    starting("by", ways[0], ways)
    way = st.selectbox("Where to, by", ways, key=key("by"))
    if way == WAYS[0]:
        starting("trip", trips[0], trips)
        return st.selectbox("Trip", trips, key=key("trip")), (), False
    if way == WAYS[2]:
        starting("from", "")
        starting("to", "")
        starting("via", "")
        start = st.text_input("From (edge id, or LAT,LON)", key=key("from"))
        via = st.text_input("Past (several with ;)", key=key("via"))
        goal = st.text_input("To", key=key("to"))
        between = [place.strip() for place in via.split(";")]
        return None, tuple(place for place in (start.strip(), *between, goal.strip()) if place), False
    starting("places", "")
    st.caption("The first click is the start, the last one the goal.")
    st.button("Forget the last", on_click=forget_place, disabled=not st.session_state[key("places")])
    st.toggle("Pass the goal on", key="add_stop", help="The next click is the goal; the last one is passed.")
    return None, tuple(filter(None, st.session_state[key("places")].split(";"))), True


def ask_vehicle() -> Vehicle:
    starting("vehicle", vehicle_names()[0], vehicle_names())
    vehicle = load_vehicle(st.selectbox("Vehicle", vehicle_names(), key=key("vehicle")))
    with st.expander("Change its numbers"):
        fields = {
            "mass_kg": ("Mass (kg)", 500.0, 45_000.0, 10.0),
            "drag": ("Drag coefficient", 0.1, 1.5, 0.01),
            "auxiliary_w": ("Auxiliary power (W)", 0.0, 10_000.0, 50.0),
            "battery_kwh": ("Usable battery (kWh)", 1.0, 1_000.0, 0.5),
        }
        changed = {
            name: st.number_input(
                label, low, high, float(getattr(vehicle, name)), step, key=key(f"{name}:{vehicle.name}")
            )
            for name, (label, low, high, step) in fields.items()
        }
    return replace(vehicle, **changed)


def ask_battery(vehicle: Vehicle) -> Battery | None:
    starting("charged", False)
    charged = st.toggle("Follow the charge", key=key("charged"))
    starting("soc", 80, (0, 100))
    soc = st.slider("Charge at the start (%)", 0, 100, key=key("soc"), disabled=not charged)
    starting("reserve", 10, (0, 100))
    reserve = st.slider("Reserve to keep (%)", 0, 100, key=key("reserve"), disabled=not charged)
    return Battery.of_percent(vehicle.battery_kwh, soc, reserve) if charged else None


def ask_conditions() -> DrivingConditions:
    """Ask for the day; what each part of it costs is told below the map."""
    starting("weather", False)
    if not st.toggle("Weather, load and traffic", key=key("weather")):
        return DrivingConditions()
    starting("temperature", 20, (-30, 45))
    starting("wind", 0, (0, 25))
    starting("bearing", "west", list(COMPASS))
    starting("speed", 100, (30, 120))
    starting("payload", 0, (0, 2000))
    return DrivingConditions(
        temperature_c=float(st.slider("Temperature (°C)", -30, 45, key=key("temperature"))),
        wind_mps=float(st.slider("Wind (m/s)", 0, 25, key=key("wind"))),
        wind_from_deg=COMPASS[st.selectbox("Wind from the", list(COMPASS), key=key("bearing"))],
        speed_factor=st.slider("Speeds, of those allowed (%)", 30, 120, key=key("speed")) / 100,
        payload_kg=float(st.slider("Payload (kg)", 0, 2000, step=25, key=key("payload"))),
    )


def draw_map(request: Request, plan: Plan | None) -> None:
    spots = {}
    if request.by_click:
        names = ["start", *[f"stop {i}" for i in range(1, len(request.places) - 1)], "goal"]
        spots = {
            name: (float(place.partition(",")[0]), float(place.partition(",")[2]))
            for name, place in zip(names, request.places, strict=False)
        }
    st_folium(
        base_map(request.network, LEAFLET),
        key=f"map-{request.network.digest}",
        height=MAP_HEIGHT,
        use_container_width=True,
        returned_objects=["last_clicked"],
        feature_group_to_add=route_layers(request.network, plan) if plan else [spots_layer(spots)],
        layer_control=folium.LayerControl(collapsed=False),
        on_change=partial(take_click, f"map-{request.network.digest}"),
    )


def take_click(widget: str) -> None:
    """Keep the click that caused this rerun: start, goal, and then anew, unless the goal is to be passed."""
    clicked = (st.session_state[widget] or {}).get("last_clicked")
    if not clicked or st.session_state.get(key("by")) != WAYS[1]:
        return
    places = [place for place in st.session_state.get(key("places"), "").split(";") if place]
    if len(places) >= 2 and not st.session_state.get("add_stop"):
        places = []
    st.session_state[key("places")] = ";".join([*places, f"{clicked['lat']:.6f},{clicked['lng']:.6f}"])


def forget_place() -> None:
    st.session_state[key("places")] = st.session_state[key("places")].rpartition(";")[0]


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def show(request: Request, plan: Plan) -> None:
    """Show the legend, warnings, numbers, where the energy goes, profiles, and what to take away."""
    roads = request.network
    st.html(route_classes(roads, plan).legend_html())
    warn(plan)
    table = plan_table(plan)
    st.table(table.style.format({name: "{:.2f}" if "kWh" in name else "{:.1f}" for name in table}))
    if lowest := lowest_charge(roads, plan):
        st.write(sentence(lowest))
    tell_belief(plan)
    tell_conditions(request, plan)
    left, right = st.columns(2)
    charts = [energy_bars(plan), *profiles(roads, plan).values()]
    for column, chart in zip((left, right, left), charts, strict=False):
        column.altair_chart(chart, height=PROFILE_HEIGHT, width="stretch", theme=None)  # dark lines, white ground
    after_trip(request, plan)
    with st.expander("In numbers"):
        st.table(parts_table(plan).style.format(precision=3))
        st.caption(f"Least energy: {plan.proof}.")
    columns = st.columns(3)
    name = f"{roads.name}-route"
    columns[0].download_button("GeoJSON", json.dumps(route_geojson(roads, plan)), f"{name}.geojson")
    columns[1].download_button("GPX", route_gpx(roads, plan), f"{name}.gpx")
    columns[2].caption("The address of this page reopens this plan.")
    write_link(link_of(request))


def warn(plan: Plan) -> None:
    """Warn where a full start wastes what the descent would give back."""
    least = plan.routes["energy"]
    if plan.battery is None or least.charge is None or least.charge.lost_wh < WASTED_WH:
        return
    at_most = plan.battery.percent(greatest_start_wh(plan.battery.capacity_wh, least.edge_wh))
    advice = f"; starting with {at_most:.0f} % or less would waste none" if at_most > 0 else ""
    st.warning(
        f"{energy_text(least.charge.lost_wh)} that the descent gives back do not fit into the battery{advice}."
    )


def tell_belief(plan: Plan) -> None:
    """Tell what a belief says of the least-energy route."""
    least = plan.routes["energy"]
    told = []
    if forecast := least.energy_forecast:
        low, high = forecast.interval_wh()
        told.append(f"{low / 1000:.2f} to {high / 1000:.2f} kWh in 90 % of the trips")
    if charge := least.charge_forecast:
        low, high = charge.arrival_interval_percent
        told.append(f"arriving with {low:.1f} to {high:.1f} %")
        told.append(f"never below the reserve in {charge.never_below_reserve:.1%} of the trips")
    if bound := least.guarantee:
        st.write(f"Expected energy {bound.low_wh / 1000:.2f} to {bound.high_wh / 1000:.2f} kWh by {bound.assumes}.")
    if told:
        st.write(f"The belief expects {', '.join(told)}.")


def tell_conditions(request: Request, plan: Plan) -> None:
    prices = price_of_conditions(request.network, request.vehicle, request.conditions, plan.routes["energy"].route)
    if prices:
        for column, (name, price_wh) in zip(st.columns(len(prices)), prices.items(), strict=True):
            column.metric(f"{PRICES[name].capitalize()}, on this route", f"{price_wh / 1000:+.2f} kWh")


def link_of(request: Request) -> dict[str, object]:
    names = ["network", "by", "trip", "from", "to", "via", "places", "vehicle", "limited", "extra", "alternatives"]
    names += ["charged", "soc", "reserve", "weather", "temperature", "wind", "bearing", "speed", "payload"]
    names += ["folder", "run"]
    dull = {"charged": ("soc", "reserve"), "weather": ("temperature", "wind", "bearing", "speed", "payload")}
    hidden = {name for switch, others in dull.items() if not st.session_state.get(key(switch)) for name in others}
    by = {WAYS[0]: {"trip"}, WAYS[1]: {"places"}, WAYS[2]: {"from", "to", "via"}}[st.session_state[key("by")]]
    hidden |= {"trip", "places", "from", "to", "via"} - by
    hidden |= set() if request.folder else {"folder", "run"}
    return {name: st.session_state.get(key(name)) for name in names if name not in hidden}


main()
