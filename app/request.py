"""Sidebar of the page Plan: its inputs, their effects on the energy, and the link to a plan."""

from dataclasses import dataclass, field, replace

import streamlit as st
from cache import choose_belief, choose_network, first_trip
from literal import literal
from state import key, starting
from streamlit.delta_generator import DeltaGenerator

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle, vehicle_names
from evroute.network.road_network import RoadNetwork
from evroute.network.trips import load_trips
from evroute.planning.battery import Battery
from evroute.planning.effects import energy_by_change, energy_by_condition
from evroute.planning.guarantee import Guarantee
from evroute.planning.plan import Plan

PLACE_INPUTS = ["a named trip", "clicks on the map", "names or coordinates"]
COMPASS = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south-east": 135.0}
COMPASS |= {"south": 180.0, "south-west": 225.0, "west": 270.0, "north-west": 315.0}


@dataclass(frozen=True)
class Request:
    """Inputs of the sidebar; either ``places`` or ``trip`` is given.

    usual: the vehicle with its catalogue values.  captions: below the inputs, by changed field.
    """

    network: RoadNetwork
    vehicle: Vehicle
    usual: Vehicle
    conditions: DrivingConditions
    trip: str | None
    places: tuple[str, ...]
    by_click: bool
    battery: Battery | None
    max_extra_time: float | None
    alternatives: int
    depart: str
    price: float | None
    time_value: float | None
    folder: str
    run: str
    guarantee: Guarantee | None
    captions: dict[str, DeltaGenerator] = field(default_factory=dict)


def ask() -> Request:
    """Ask for the inputs of a plan.

    Raises
    ------
    EvrouteError
        If the chosen network or vehicle is unknown.
    """
    captions: dict[str, DeltaGenerator] = {}
    with st.sidebar:
        roads = choose_network()
        trip, places, by_click = _ask_places(roads)
        limited = starting("limited", False)
        limited = st.toggle("Limit the extra time", key=key("limited"))
        starting("extra", 20, (0, 100))
        extra = st.slider(
            "Extra time, at most (%)",
            0,
            100,
            key=key("extra"),
            disabled=not limited,
        )
        starting("alternatives", 1, (0, 3))
        alternatives = st.slider("Alternatives between them", 0, 3, key=key("alternatives"))
        depart, price, time_value = _ask_departure_and_money()
        usual, vehicle = _ask_vehicle(captions)
        battery = _ask_battery(vehicle)
        conditions = _ask_conditions(captions)
        folder, run = choose_belief(roads)
        guarantee = _ask_guarantee() if folder else None
    return Request(
        network=roads,
        vehicle=vehicle,
        usual=usual,
        conditions=conditions,
        trip=trip,
        places=places,
        by_click=by_click,
        battery=battery,
        max_extra_time=extra / 100 if limited else None,
        alternatives=alternatives,
        depart=depart,
        price=price,
        time_value=time_value,
        folder=folder,
        run=run,
        guarantee=guarantee,
        captions=captions,
    )


def show_effects(request: Request, plan: Plan) -> None:
    """Write below each setting its effect on the energy of the least-energy route."""
    planned = plan.recommended_route
    effect_wh = energy_by_condition(
        request.network, request.vehicle, request.conditions, planned.route, time_s=planned.time_s
    )
    effect_wh |= energy_by_change(
        request.network, request.vehicle, request.usual, request.conditions, planned.route
    )
    for name, place in request.captions.items():
        if name in effect_wh:
            place.caption(f"**{effect_wh[name] / 1000:+.3f} kWh** on this route")


def link_of(request: Request) -> dict[str, object]:
    """Return the inputs that reopen a plan."""
    names = [
        "network",
        "by",
        "trip",
        "from",
        "to",
        "via",
        "places",
        "vehicle",
        "limited",
        "extra",
        "alternatives",
        "depart",
        "price",
        "time_value",
    ]
    names += [
        "charged",
        "soc",
        "reserve",
        "weather",
        "temperature",
        "wind",
        "bearing",
        "speed",
        "payload",
    ]
    names += ["folder", "run"]
    switched = {
        "charged": ("soc", "reserve"),
        "weather": ("temperature", "wind", "bearing", "speed", "payload"),
    }
    hidden = {
        name
        for switch, others in switched.items()
        if not st.session_state.get(key(switch))
        for name in others
    }
    by = dict(zip(PLACE_INPUTS, ({"trip"}, {"places"}, {"from", "to", "via"}), strict=True))[
        st.session_state[key("by")]
    ]
    hidden |= {"trip", "places", "from", "to", "via"} - by
    hidden |= set() if request.folder else {"folder", "run"}
    changed = {
        f"{name}:{request.usual.name}": getattr(request.vehicle, name)
        for name in CHANGEABLE
        if getattr(request.vehicle, name) != getattr(request.usual, name)
    }
    return {name: st.session_state.get(key(name)) for name in names if name not in hidden} | changed


CHANGEABLE = {
    "mass_kg": ("Mass (kg)", 500.0, 45_000.0, 10.0),
    "drag": ("Drag coefficient", 0.1, 1.5, 0.01),
    "auxiliary_w": ("Auxiliary power (W)", 0.0, 10_000.0, 50.0),
    "battery_kwh": ("Usable battery (kWh)", 1.0, 1_000.0, 0.5),
}
"""Fields of a vehicle: label, least, greatest, step."""


def take_click(widget: str) -> None:
    """Add the click that caused this rerun as a place.

    The first is the start, the second the destination. A third starts again, or adds a stop if that
    is
    chosen.
    """
    clicked = (st.session_state[widget] or {}).get("last_clicked")
    if not clicked or st.session_state.get(key("by")) != PLACE_INPUTS[1]:
        return
    places = [place for place in st.session_state.get(key("places"), "").split(";") if place]
    if len(places) >= 2 and not st.session_state.get("add_stop"):
        places = []
    st.session_state[key("places")] = ";".join(
        [*places, f"{clicked['lat']:.6f},{clicked['lng']:.6f}"]
    )


def _remove_place() -> None:
    st.session_state[key("places")] = st.session_state[key("places")].rpartition(";")[0]


def _ask_places(roads: RoadNetwork) -> tuple[str | None, tuple[str, ...], bool]:
    """Ask for a trip or places; the last value is True for clicks on the map."""
    trips = list(load_trips(roads.name))
    ways = PLACE_INPUTS if trips else PLACE_INPUTS[1:]
    starting("by", ways[0], ways)
    way = st.selectbox("Choose places by", ways, key=key("by"))
    if way == PLACE_INPUTS[0]:
        starting("trip", first_trip(roads), trips)
        return st.selectbox("Trip", trips, key=key("trip")), (), False
    if way == PLACE_INPUTS[2]:
        starting("from", "")
        starting("to", "")
        starting("via", "")
        start = st.text_input("From (edge id, or LAT,LON)", key=key("from"))
        via = st.text_input("Via (several with ;)", key=key("via"))
        destination = st.text_input("To", key=key("to"))
        between = [place.strip() for place in via.split(";")]
        return (
            None,
            tuple(place for place in (start.strip(), *between, destination.strip()) if place),
            False,
        )
    starting("places", "")
    st.caption("The first click is the start, the next the destination; a third click starts anew.")
    st.button(
        "Remove the last", on_click=_remove_place, disabled=not st.session_state[key("places")]
    )
    st.toggle(
        "Add a stop",
        key="add_stop",
        help="The next click is the destination; the last one becomes a stop.",
    )
    return None, tuple(filter(None, st.session_state[key("places")].split(";"))), True


def _ask_vehicle(captions: dict[str, DeltaGenerator]) -> tuple[Vehicle, Vehicle]:
    starting("vehicle", vehicle_names()[0], vehicle_names())
    usual = load_vehicle(st.selectbox("Vehicle", vehicle_names(), key=key("vehicle")))
    changed = {}
    with st.expander("Change its numbers"):
        for name, (label, low, high, step) in CHANGEABLE.items():
            starting(f"{name}:{usual.name}", float(getattr(usual, name)), (low, high))
            changed[name] = st.number_input(
                literal(label), low, high, step=step, key=key(f"{name}:{usual.name}")
            )
            captions[name] = st.empty()
    return usual, replace(usual, **changed)


def _ask_departure_and_money() -> tuple[str, float | None, float | None]:
    """Ask for departure, price of energy and value of time; 0 leaves money out."""
    starting("depart", "")
    depart = st.text_input("Departure (HH:MM)", key=key("depart")).strip()
    starting("price", 0.0, (0.0, 10.0))
    price = st.number_input("Price of energy (per kWh)", 0.0, 10.0, step=0.05, key=key("price"))
    starting("time_value", 0.0, (0.0, 1000.0))
    value = st.number_input(
        "Value of time (per hour)", 0.0, 1000.0, step=1.0, key=key("time_value"), disabled=not price
    )
    return depart, price or None, value if price and value else None


def _ask_battery(vehicle: Vehicle) -> Battery | None:
    starting("charged", False)
    charged = st.toggle("Follow the charge", key=key("charged"))
    starting("soc", 80, (0, 100))
    soc = st.slider("Charge at the start (%)", 0, 100, key=key("soc"), disabled=not charged)
    starting("reserve", 10, (0, 100))
    reserve = st.slider("Reserve to keep (%)", 0, 100, key=key("reserve"), disabled=not charged)
    return Battery.of_percent(vehicle.battery_kwh, soc, reserve) if charged else None


def _ask_conditions(captions: dict[str, DeltaGenerator]) -> DrivingConditions:
    """Ask for the conditions of the day, with space for the effect below each."""
    starting("weather", False)
    if not st.toggle("Weather, load and traffic", key=key("weather")):
        return DrivingConditions()
    starting("temperature", 20, (-30, 45))
    starting("wind", 0, (0, 25))
    starting("bearing", "west", list(COMPASS))
    starting("speed", 100, (30, 120))
    starting("payload", 0, (0, 2000))
    temperature_c = st.slider("Temperature (°C)", -30, 45, key=key("temperature"))
    captions["temperature_c"] = st.empty()
    wind_mps = st.slider("Wind (m/s)", 0, 25, key=key("wind"))
    captions["wind_mps"] = st.empty()
    wind_from = st.selectbox("Wind from the", list(COMPASS), key=key("bearing"))
    speed = st.slider("Speed factor (%)", 30, 120, key=key("speed"))
    captions["speed_factor"] = st.empty()
    payload_kg = st.slider("Payload (kg)", 0, 2000, step=25, key=key("payload"))
    captions["payload_kg"] = st.empty()
    return DrivingConditions(
        temperature_c=float(temperature_c),
        wind_mps=float(wind_mps),
        wind_from_deg=COMPASS[wind_from],
        speed_factor=speed / 100,
        payload_kg=float(payload_kg),
    )


def _ask_guarantee() -> Guarantee | None:
    """Ask for the assumptions of a guaranteed interval of the expected energy; None for none."""
    starting("guaranteed", False)
    if not st.toggle(
        "Interval with a guarantee",
        key=key("guaranteed"),
        help="By CMM, on beliefs of edges.",
    ):
        return None
    starting("norm", 10, (1, 100))
    return Guarantee(
        B=float(
            st.slider("Bound B on the deviation from physics (prior sd)", 1, 100, key=key("norm"))
        )
    )
