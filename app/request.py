"""Inputs of the page Plan: places, chips that open settings, their effects, and its link."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st
from address import without_input
from basis import basis, basis_label, choose_basis, follow_belief, has_choices
from cache import choose_network, known_network, planner
from cars import ask_car, show_cars
from departures import departures
from example import is_shown
from inputs import CURRENCIES, INPUTS, ask, start, wishes
from layers import LAYERS
from literal import literal, sentence
from naming import car_title, title_of
from own_trips import OWN_NUMBERS, belief_folder, changes_of
from places import ask_places, chosen, read_places
from state import forget_change, key, put, starting
from stop_wishes import ask_stops
from streamlit.delta_generator import DeltaGenerator

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.learning.trips.fields import has_heights
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.battery import Battery
from evroute.planning.fields import PROMISE
from evroute.planning.forecasts.effects import energy_by_change, energy_by_condition
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest

CARS = "cars"
DAY = {
    "temperature": "temperature_c",
    "wind": "wind_mps",
    "bearing": "wind_from_deg",
    "speed": "speed_factor",
    "payload": "payload_kg",
}
"""Inputs of the day, and the conditions whose effects are shown below them."""
MOVED = {"wind": "wind {} m/s", "speed": "speed {} %", "payload": "{} kg"}
"""Words of inputs of the day in the label of their chip, once they are moved."""
DEPARTURES = "departures"
"""Planner, route and words of the last departures."""
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


def ask_request() -> Request:
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
        charges = start("charge") and bool(stations(roads))
        _ask_day(effects, charges=charges)
        _ask_battery(roads)
        if charges:
            ask_stops(roads)
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
        wishes=wished(vehicle, charges=charges),
        layers=tuple(name for name in LAYERS if starting(name, False)),
        folder=folder,
        run=run,
        effects=effects,
    )


def wished(vehicle: Vehicle, *, charges: bool) -> PlanRequest:
    """Return the request of the inputs and of the fields that no input shows, without its places.

    Parameters
    ----------
    vehicle
        The vehicle, with its changed numbers.
    charges
        Whether the plan may charge on the way, and so has no limit of the extra time.
    """
    texts = wishes({"limited" if charges else "charge"}) | without_input()
    return PlanRequest.without_places(texts | {"vehicle": vehicle})


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
    request.effects["depart"].caption(sentence(_departures(planner_of(request), plan)))
    for name, place in request.effects.items():
        if name in effects_wh:
            place.caption(f"**{effects_wh[name] / 1000:+.2f} kWh** on this route")
    with request.effects[CARS]:
        if st.toggle("Compare all cars on this trip, by physics", key="compare"):
            show_cars(request.network, request.usual.name, request.conditions, plan)


def _departures(planner: Planner, plan: Plan) -> str:
    """Return the words of `departures`, kept for reruns with the same planner and route."""
    route = plan.recommended_route.route
    kept = st.session_state.get(DEPARTURES)
    if kept is None or kept[0] is not planner or kept[1] != route:
        kept = planner, route, departures(planner, plan)
        st.session_state[DEPARTURES] = kept
    return str(kept[2])


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
    names = ["network", "route", "currency", *request.layers]
    names += ["folder", "run"] if request.folder else []
    if not request.folder and belief_folder(request.network, request.vehicle).has_manifest:
        names.append("folder")  # else own trips would be the basis of the reopened plan
    shown = {name: st.session_state.get(key(name)) for name in names}
    changes = changes_of(request.vehicle)
    changed = {f"{name}:{request.usual.name}": value for name, value in changes.items()}
    return {name: value for name, value in {**texts, **shown}.items() if value} | changed


def chosen_vehicle() -> tuple[Vehicle, Vehicle]:
    """Return the chosen vehicle, with its usual and with the given numbers."""
    usual = load_vehicle(start("vehicle"))
    own = {part: start(f"{part}:{usual.name}", float(getattr(usual, part))) for part in OWN_NUMBERS}
    return usual, replace(usual, **own)


def ask_vehicle(effects: dict[str, DeltaGenerator]) -> tuple[Vehicle, Vehicle]:
    """Ask for the vehicle in a chip. Return it with its usual and with the given numbers."""
    usual, vehicle = chosen_vehicle()
    title, battery = car_title(usual.name), f"{vehicle.battery_kwh:g} kWh"
    title = title if title.endswith(battery) else f"{title} · {battery}"
    with st.popover(literal(title), key="chip:vehicle"):
        ask_car(usual.name)
        effects[CARS] = st.container()
        for part in OWN_NUMBERS:
            is_area = part == "drag" and usual.front_m2 == 1.0
            label = {"label": "Drag area (m²)"} if is_area else {}
            ask(f"{part}:{usual.name}", first=float(getattr(usual, part)), **label)
            effects[part] = st.empty()
    return usual, vehicle


def _ask_battery(roads: RoadNetwork) -> None:
    """Ask for charge, reserve, risk, and whether to charge on the way. A switch shows the range.

    The reserve ends at the charge. The risk is the greatest chance of ever falling below it.
    """
    soc, percent = start("soc"), start("risk")
    reserve = _reserve(soc)
    limits = {0.0: "on average", 100 * PROMISE: ""}
    words = limits.get(percent, f"risk {percent:g} %")
    title = f"{soc:d} %, keep {reserve:d} %"
    title = f"{title}, {words}" if words else f"Charge {title}"
    with st.popover(literal(title), key="chip:soc"):
        ask("soc")
        ask("range")
        if stations(roads):
            ask("charge")
        ask("reserve", max_value=soc)
        ask("risk", options=sorted({*RISKS, percent}))


def _reserve(soc: int) -> int:
    """Return the charge to keep, %: as wished, or the charge at the start if that is less.

    A greater charge brings the wish back, and only the driver's own change is remembered.
    """
    shown = start("reserve")
    wish, lowered = st.session_state.get(LOWERED, (shown, None))
    if shown != lowered:
        wish = shown
    reserve: int = min(wish, soc)
    if reserve != shown:
        forget_change("reserve")
        put("reserve", reserve)
    st.session_state[LOWERED] = wish, reserve
    return reserve


def keep_lowered() -> None:
    """Make the charge to keep that is shown the wished one: an advised charge rests on it."""
    st.session_state.pop(LOWERED, None)


def _ask_day(effects: dict[str, DeltaGenerator], *, charges: bool) -> None:
    """Ask in a chip for departure, weather and money.

    Until the temperature is moved the day is mild, as in eq. 8. A plan that may charge on the way
    has no limit of the extra time.

    Parameters
    ----------
    effects
        Receives space for the effect of each condition below its input.
    charges
        Whether the plan may charge on the way.
    """
    depart = start("depart")
    weather = f"{start('temperature'):d} °C" if start("with_temperature") else "mild"
    moved = [MOVED[name].format(start(name)) for name in changed_day()]
    title = ", ".join([f"Leave {depart:%H:%M}" if depart else "Leave now", weather, *moved])
    with st.popover(literal(title), key="chip:day"):
        if ask("depart"):
            st.button("Leave now", on_click=put, args=("depart", None), key="now")
        effects["depart"] = st.empty()
        for name, condition in DAY.items():
            ask(
                name, then=partial(put, "with_temperature", True) if name == "temperature" else None
            )
            effects[condition] = st.empty()
        if start("with_temperature") or changed_day():
            st.button("A mild day again", on_click=_mild, key="mild")
        limited = ask("limited", disabled=charges)
        ask("extra", disabled=charges or not limited)
        money = f"{currency_sign()} per kWh".strip()
        price = ask("price", label=f"Own price of energy ({money})")
        ask("time_value", disabled=not price)
        ask("currency")


def changed_day() -> list[str]:
    """Return the names of the inputs of the day, but the temperature, that are moved."""
    return [name for name in MOVED if start(name) != INPUTS[name].first]


def _mild() -> None:
    """Put the day back as it was before the first input was moved."""
    put("with_temperature", False)
    for name in DAY:
        put(name, INPUTS[name].first)


def currency_sign() -> str:
    """Return the sign of the currency in which the driver counts, or nothing."""
    return CURRENCIES[start("currency")]
