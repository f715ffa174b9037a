"""Inputs of the page Plan: places, chips that open settings, their effects, and its link."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from address import COMPASS, without_input
from basis import basis, basis_label, choose_basis, follow_belief, has_choices
from cache import choose_network, known_network, planner
from cars import ask_car, show_cars
from departures import departures
from example import is_shown
from layers import LAYERS
from literal import literal, sentence
from naming import car_title, title_of
from own_trips import belief_folder, changes_of
from places import ask_places, chosen, read_places
from state import WHILE_CLOSED, forget_change, key, starting
from stop_wishes import ask_stops
from streamlit.delta_generator import DeltaGenerator

from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle, vehicle_names
from evroute.learning.trips.fields import has_heights
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.battery import Battery
from evroute.planning.fields import MEAN, PROMISE
from evroute.planning.forecasts.effects import energy_by_change, energy_by_condition
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest

CHANGEABLE = {
    "mass_kg": ("Mass (kg)", 500.0, 45_000.0, 10.0),
    "drag": ("Drag coefficient", 0.1, 1.5, 0.01),
    "auxiliary_w": ("Heating, lights and others (W)", 0.0, 10_000.0, 50.0),
    "battery_kwh": ("Usable battery (kWh)", 1.0, 1_000.0, 0.5),
}
"""Fields of a vehicle: label, least, greatest, step."""
CARS = "cars"
LOWERED = "lowered_reserve"
"""Wished charge to keep, and the charge to keep that it gave, %."""
RISKS = (0.0, 10.0, 5.0, 2.0, 1.0)
"""Offered limits of risk, %. 0 is a plan by expected energies."""


@dataclass(frozen=True)
class Request:
    """Inputs of a plan.

    Parameters
    ----------
    network, vehicle, usual
        Roads, the vehicle, and the vehicle with the values of the catalogue.
    places
        Origin, stops and destination. Empty ones are missing.
    example
        Whether they are the example's.
    wishes
        Fields of `PlanRequest` that are not places.
    layers
        Names of the layers that the map shows.
    folder, run
        Folder and run of the belief, or empty for physics alone.
    effects
        Captions below the inputs, by the changed field.
    """

    network: RoadNetwork
    vehicle: Vehicle
    usual: Vehicle
    places: tuple[str, ...]
    example: bool
    wishes: PlanRequest
    layers: tuple[str, ...]
    folder: str
    run: str
    effects: dict[str, DeltaGenerator] = field(default_factory=dict)

    @property
    def conditions(self) -> DrivingConditions:
        """Conditions of the day."""
        return self.wishes.conditions

    @property
    def basis(self) -> tuple[Any, ...]:
        """Sources of the numbers of a route: the car, the day and the belief."""
        day = self.conditions, self.wishes.depart
        return self.network.content_digest, self.vehicle, day, self.folder, self.run

    @property
    def battery(self) -> Battery:
        """Charge at the start and reserve."""
        found = Battery.requested(self.vehicle.battery_kwh, self.wishes.soc, self.wishes.reserve)
        assert found is not None, "the page always has a charge"
        return found

    @property
    def risk(self) -> float | None:
        """Greatest probability of ever falling below the reserve, or None for no limit."""
        return self.wishes.most_risk

    def asked(self) -> PlanRequest:
        """Return the request between its places. A stop may still be empty."""
        origin, *via, destination = (place for place in self.places if place)
        ends = {"trip": None, "origin": origin, "via": tuple(via), "destination": destination}
        return self.wishes.model_copy(update=ends)


def ask() -> Request:
    """Ask for the inputs of a plan: places first, then a line of chips.

    Raises
    ------
    EvrouteError
        If the chosen network or vehicle is unknown.
    """
    effects: dict[str, DeltaGenerator] = {}
    follow_belief("vehicle")
    above = st.container(key="places")
    title = title_of(known_network())
    with st.container(horizontal=True, gap="xsmall", key="chips"):
        with st.popover(literal(title), key="chip:network"):
            roads = choose_network()
        read_places(roads)
        usual, vehicle = ask_vehicle(effects)
        charges = starting("charge", False) and bool(stations(roads))
        wishes = _ask_day(effects, charges=charges) | _ask_battery(roads)
        wishes |= ask_stops(roads) if wishes["charge"] else {}
        folder, run = "", ""
        label = basis_label(basis(roads, vehicle), roads, vehicle)
        if has_choices(roads, vehicle):
            with st.popover(literal(f"By {label}"), key="chip:basis"):
                folder, run = choose_basis(roads, vehicle)
    if not has_heights(roads):
        st.warning("These roads have no heights: the energies ignore hills.")
    with above:
        ask_places(roads)
    return Request(
        network=roads,
        vehicle=vehicle,
        usual=usual,
        places=tuple(chosen()),
        example=is_shown(),
        wishes=PlanRequest.without_places(wishes | without_input() | {"vehicle": vehicle}),
        layers=tuple(name for name in LAYERS if starting(name, False)),
        folder=folder,
        run=run,
        effects=effects,
    )


def planner_of(request: Request) -> Planner:
    """Return the planner on the chosen basis."""
    return planner(
        request.network, request.vehicle, request.conditions, request.folder, request.run
    )


def planned(request: Request, planner: Planner) -> Plan:
    """Return the plan of the inputs by their planner.

    Raises
    ------
    EvrouteError
        If it cannot be met.
    """
    return planner.plan(request.asked())


def show_effects(request: Request, plan: Plan) -> None:
    """Write below each setting its effect on the energy of the recommended route."""
    planned = plan.recommended_route
    effects_wh = energy_by_condition(
        request.network, request.vehicle, request.conditions, planned.route, time_s=planned.time_s
    )
    effects_wh |= energy_by_change(
        request.network, request.vehicle, request.usual, request.conditions, planned.route
    )
    request.effects["depart"].caption(sentence(departures(planner_of(request), plan)))
    for name, place in request.effects.items():
        if name in effects_wh:
            place.caption(f"**{effects_wh[name] / 1000:+.2f} kWh** on this route")
    with request.effects[CARS]:
        if st.toggle("Compare all cars on this trip, by physics", key="compare"):
            show_cars(request.network, request.usual.name, request.conditions, plan)


def link_of(request: Request) -> dict[str, object]:
    """Return the texts that reopen a plan."""
    texts = request.wishes.texts()
    trip = st.session_state.get(key("trip"))
    texts.pop("trip", None)
    if trip:
        texts["trip"] = trip
    else:
        origin, *via, destination = request.places
        texts |= {"from": origin, "via": ";".join(filter(None, via)), "to": destination}
    names = ["network", "route", *request.layers]
    names += ["folder", "run"] if request.folder else []
    if not request.folder and belief_folder(request.network, request.vehicle).has_manifest:
        names.append("folder")  # else own trips would be the basis of the reopened plan
    shown = {name: st.session_state.get(key(name)) for name in names}
    changes = changes_of(request.vehicle)
    changed = {f"{name}:{request.usual.name}": value for name, value in changes.items()}
    return {name: value for name, value in {**texts, **shown}.items() if value} | changed


def ask_vehicle(effects: dict[str, DeltaGenerator]) -> tuple[Vehicle, Vehicle]:
    """Ask for the vehicle in a chip. Return it with its usual and with the given numbers."""
    name = starting("vehicle", defaults.VEHICLE, vehicle_names())
    usual = load_vehicle(name)
    capacity = st.session_state.get(key(f"battery_kwh:{name}"), usual.battery_kwh)
    title, battery = car_title(name), f"{capacity:g} kWh"
    title = title if title.endswith(battery) else f"{title} · {battery}"
    changed = {}
    with st.popover(literal(title), key="chip:vehicle"):
        ask_car(name)
        effects[CARS] = st.container()
        for part, (label, low, high, step) in CHANGEABLE.items():
            if part == "drag" and usual.front_m2 == 1.0:
                label = "Drag area (m²)"
            starting(f"{part}:{name}", float(getattr(usual, part)), (low, high))
            changed[part] = st.number_input(
                literal(label),
                low,
                high,
                step=step,
                key=key(f"{part}:{name}"),
                persist_state=WHILE_CLOSED,
            )
            effects[part] = st.empty()
    return usual, replace(usual, **changed)


def _ask_battery(roads: RoadNetwork) -> dict[str, Any]:
    """Ask for charge, reserve, risk, and whether to charge on the way. A switch shows the range.

    The reserve ends at the charge. The risk is the greatest chance of ever falling below it.
    """
    soc = starting("soc", 80, (1, 100))
    reserve = _reserve(soc)
    usual = 100 * PROMISE
    percent = starting("risk", usual, (0.0, 50.0))
    limits = {0.0: "on average", usual: ""}
    words = limits.get(percent, f"risk {percent:g} %")
    title = f"{soc:d} %, keep {reserve:d} %"
    title = f"{title}, {words}" if words else f"Charge {title}"
    with st.popover(literal(title), key="chip:soc"):
        st.slider("Charge at the start (%)", 1, 100, key=key("soc"), persist_state=WHILE_CLOSED)
        starting("range", False)
        st.toggle("Show how far this charge reaches", key=key("range"))
        starting("charge", False)
        charges = bool(stations(roads)) and st.toggle(
            "Charge on the way where it falls short", key=key("charge")
        )
        st.slider("Charge to keep (%)", 0, soc, key=key("reserve"), persist_state=WHILE_CLOSED)
        st.pills(
            "Chance of ever falling below the charge to keep, at most",
            sorted({*RISKS, percent}),
            format_func=lambda each: f"{each:g} %" if each else "on average",
            required=True,
            key=key("risk"),
            persist_state=WHILE_CLOSED,
        )
    return {"soc": soc, "reserve": reserve, "charge": charges, "risk": percent / 100 or MEAN}


def _reserve(soc: int) -> int:
    """Return the charge to keep, %: as wished, or the charge at the start if that is less.

    A greater charge brings the wish back, and only the driver's own change is remembered.
    """
    shown = starting("reserve", 10, (0, 100))
    wish, lowered = st.session_state.get(LOWERED, (shown, None))
    is_moved = shown != lowered
    if is_moved:
        wish = shown
    reserve = min(wish, soc)
    if reserve != shown:
        forget_change("reserve")
    if reserve != shown or not is_moved:  # a slider with another end forgets its value
        st.session_state[key("reserve")] = reserve
    st.session_state[LOWERED] = wish, reserve
    return reserve


def keep_lowered() -> None:
    """Make the charge to keep that is shown the wished one: an advised charge rests on it."""
    st.session_state.pop(LOWERED, None)


def _ask_day(effects: dict[str, DeltaGenerator], *, charges: bool) -> dict[str, Any]:
    """Ask in a chip for departure, weather and money.

    Parameters
    ----------
    effects
        Receives space for the effect of each condition below its input.
    charges
        Whether the plan may charge on the way.
    """
    depart = clock_of(starting("depart", ""))
    temperature = starting("temperature", 20, (-30, 45))
    weather = f"{temperature:d} °C" if starting("weather", False) else "mild"
    leaves = f"Leave {depart or 'now'}, {weather}"
    with st.popover(literal(leaves), key="chip:day"):
        st.text_input("Departure (HH:MM)", key=key("depart"))
        effects["depart"] = st.empty()
        day = _ask_conditions(effects)
        money = _ask_time_and_money(charges=charges)
    return {"depart": depart or None} | day | money


def _ask_conditions(effects: dict[str, DeltaGenerator]) -> dict[str, Any]:
    """Ask for the conditions of the day, with space for the effect below each.

    The first that is moved makes the day count. Until then it is mild, as in eq. 8.
    """
    starting("wind", 0, (0, 25))
    starting("bearing", "west", list(COMPASS))
    starting("speed", 100, (30, 120))
    starting("payload", 0, (0, 2000))

    def slider(label: str, name: str, least: int, most: int, step: int = 1) -> int:
        return st.slider(
            literal(label),
            least,
            most,
            step=step,
            key=key(name),
            persist_state=WHILE_CLOSED,
            on_change=_count_weather,
            args=(True,),
        )

    temperature = slider("Temperature (°C)", "temperature", -30, 45)
    effects["temperature_c"] = st.empty()
    wind = slider("Wind (m/s)", "wind", 0, 25)
    effects["wind_mps"] = st.empty()
    wind_from = st.selectbox("Wind from the", list(COMPASS), key=key("bearing"))
    speed = slider("Speed against the limits (%)", "speed", 30, 120)
    effects["speed_factor"] = st.empty()
    payload = slider("Payload (kg)", "payload", 0, 2000, 25)
    effects["payload_kg"] = st.empty()
    if not st.session_state[key("weather")]:
        return {}
    st.button("A mild day again", on_click=_count_weather, args=(False,), key="mild")
    return {
        "temperature": temperature,
        "wind": wind,
        "wind_from": COMPASS[wind_from] if wind else None,
        "speed_factor": speed / 100,
        "payload": payload,
    }


def _count_weather(counts: bool) -> None:
    """Let the conditions of the day count, or leave them out."""
    st.session_state[key("weather")] = counts


def clock_of(text: str) -> str:
    """Return a time of day such as ``815``, ``8.15`` or ``8:15`` as HH:MM. Others as they are."""
    written = re.fullmatch(r"([0-9]{1,2})[:.h ]?([0-9]{2})", text.strip())
    return f"{int(written[1]):02d}:{written[2]}" if written else text.strip()


def _ask_time_and_money(*, charges: bool) -> dict[str, Any]:
    """Ask for prices and the greatest extra time. A price of 0 leaves money out.

    A plan that may charge on the way has no limit of the extra time.
    """
    limited = starting("limited", False)
    limited = st.toggle("Limit the extra time", key=key("limited"), disabled=charges)
    starting("extra", 20, (0, 100))
    extra = st.slider(
        "Longer than the fastest by at most (%)",
        0,
        100,
        key=key("extra"),
        persist_state=WHILE_CLOSED,
        disabled=charges or not limited,
    )
    starting("price", 0.0, (0.0, 10.0))
    price = st.number_input(
        "Own price of energy (per kWh)",
        0.0,
        10.0,
        step=0.05,
        key=key("price"),
        persist_state=WHILE_CLOSED,
        help="Price of the charge at the start, and at stations without a price of their own.",
    )
    starting("time_value", 0.0, (0.0, 1000.0))
    value = st.number_input(
        "Value of time (per hour)",
        0.0,
        1000.0,
        step=1.0,
        key=key("time_value"),
        persist_state=WHILE_CLOSED,
        disabled=not price,
        help="With a price, the plan of least cost is recommended.",
    )
    return {
        "price": price or None,
        "time_value": value if price and value else None,
        "max_extra_time": extra / 100 if limited and not charges else None,
    }
