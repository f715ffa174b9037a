"""Inputs of the page Plan: places, chips that open settings, their effects, and its link."""

from dataclasses import dataclass, field, replace

import streamlit as st
from basis import basis, basis_label, choose_basis, follow_belief
from cache import choose_network, known_network, planner
from layers import LAYERS
from literal import literal
from own_trips import folder_of
from places import ask_places, chosen, read_places
from state import key, starting
from streamlit.delta_generator import DeltaGenerator

from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.learning.trips.fields import has_heights
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.battery import Battery
from evroute.planning.forecasts.effects import energy_by_change, energy_by_condition
from evroute.planning.plan import Plan

COMPASS = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south-east": 135.0}
COMPASS |= {"south": 180.0, "south-west": 225.0, "west": 270.0, "north-west": 315.0}
CHANGEABLE = {
    "mass_kg": ("Mass (kg)", 500.0, 45_000.0, 10.0),
    "drag": ("Drag coefficient", 0.1, 1.5, 0.01),
    "auxiliary_w": ("Heating, lights and others (W)", 0.0, 10_000.0, 50.0),
    "battery_kwh": ("Usable battery (kWh)", 1.0, 1_000.0, 0.5),
}
"""Fields of a vehicle: label, least, greatest, step."""
CARS = "cars"
RISKS = (0.0, 10.0, 5.0, 2.0, 1.0)
"""Offered limits of risk, %; 0 is none."""
WEATHER = ("temperature", "wind", "bearing", "speed", "payload")


@dataclass(frozen=True)
class Request:
    """Inputs of a plan.

    places: origin, stops and destination; empty ones are missing.  example: True if they are those
    of the example.  usual: the vehicle with its catalogue values.  risk: greatest probability of
    ever falling below the reserve, None for no limit.  layers: names of the
    layers that the map shows.  charges: whether to charge on the way where the battery falls
    short.  effects: captions below the inputs, by the changed field.
    """

    network: RoadNetwork
    vehicle: Vehicle
    usual: Vehicle
    conditions: DrivingConditions
    places: tuple[str, ...]
    example: bool
    battery: Battery
    risk: float | None
    layers: tuple[str, ...]
    charges: bool
    max_extra_time: float | None
    depart: str
    price: float | None
    time_value: float | None
    folder: str
    run: str
    effects: dict[str, DeltaGenerator] = field(default_factory=dict)


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
    title = known_network().replace("-", " ").title()
    with st.container(horizontal=True, gap="xsmall", key="chips"):
        with st.popover(literal(title), key="chip:network"):
            roads = choose_network()
        usual, vehicle = ask_vehicle(effects)
        battery, charges = _ask_battery(vehicle, roads)
        risk = _ask_risk()
        conditions = _ask_conditions(effects)
        depart, price, time_value, max_extra_time = _ask_time_and_money()
        label = basis_label(basis(roads, vehicle), roads, vehicle)
        with st.popover(literal(f"Based on: {label}"), key="chip:basis"):
            folder, run = choose_basis(roads, vehicle)
    if not has_heights(roads):
        st.warning("These roads have no heights: the energies ignore hills.")
    with above:
        example = read_places(roads)
        ask_places(roads)
    return Request(
        network=roads,
        vehicle=vehicle,
        usual=usual,
        conditions=conditions,
        places=tuple(chosen()),
        example=example,
        battery=battery,
        risk=risk,
        layers=tuple(name for name in LAYERS if starting(name, False)),
        charges=charges,
        max_extra_time=max_extra_time,
        depart=depart,
        price=price,
        time_value=time_value,
        folder=folder,
        run=run,
        effects=effects,
    )


def show_effects(request: Request, plan: Plan) -> None:
    """Write below each setting its effect on the energy of the recommended route."""
    planned = plan.recommended_route
    effects_wh = energy_by_condition(
        request.network, request.vehicle, request.conditions, planned.route, time_s=planned.time_s
    )
    effects_wh |= energy_by_change(
        request.network, request.vehicle, request.usual, request.conditions, planned.route
    )
    for name, place in request.effects.items():
        if name in effects_wh:
            place.caption(f"**{effects_wh[name] / 1000:+.2f} kWh** on this route")
    with request.effects[CARS]:
        if st.toggle("Compare all cars on this trip, by physics", key="compare"):
            st.dataframe(compare_cars(request, plan), hide_index=True)


def compare_cars(request: Request, plan: Plan) -> dict[str, list[str]]:
    """Return energy, arrival and minutes of each car of the catalogue, by physics.

    Parameters
    ----------
    request, plan
        Inputs and routes; the trip and the day are theirs, the charge is that at the start, %.
    """
    assert plan.battery is not None
    percent = [plan.battery.percent(wh) for wh in (plan.battery.start_wh, plan.battery.reserve_wh)]
    rows = []
    for name in vehicle_names():
        car = load_vehicle(name)
        try:
            made = planner(request.network, car, request.conditions, "", "").plan(
                plan.origin,
                plan.destination,
                via=plan.via,
                battery=Battery.of_percent(car.battery_kwh, *percent),
                max_extra_time=request.max_extra_time,
            )
        except EvrouteError:
            rows.append((name, "", "charge too low", ""))
            continue
        best = made.recommended_route
        assert made.battery is not None
        assert best.charge is not None
        arrival = made.battery.percent(float(best.charge.charge_wh[-1]))
        energy, took = f"{best.energy_wh / 1000:.2f}", f"{best.time_s / 60:.1f}"
        rows.append((name, energy, f"{arrival:.0f} %", took))
    columns = ("car", "kWh", "arrives with", "min")
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def link_of(request: Request) -> dict[str, object]:
    """Return the inputs that reopen a plan."""
    inputs = {name: st.session_state.get(key(name)) for name in ("network", "vehicle", "trip")}
    if not inputs["trip"]:
        origin, *via, destination = request.places
        inputs |= {"from": origin, "via": ";".join(filter(None, via)), "to": destination}
    names = ["soc", "reserve", "risk", "depart", "price", "time_value", "route"]
    names += request.layers
    names += ["charge"] if request.charges else []
    names += ["limited", "extra"] if request.max_extra_time is not None else []
    names += ["weather", *WEATHER] if st.session_state.get(key("weather")) else []
    names += ["folder", "run"] if request.folder else []
    if not request.folder and folder_of(request.network, request.vehicle).has_manifest:
        names.append("folder")  # else own trips would be the basis of the reopened plan
    inputs |= {name: st.session_state.get(key(name)) for name in names}
    changed = {
        f"{name}:{request.usual.name}": getattr(request.vehicle, name)
        for name in CHANGEABLE
        if getattr(request.vehicle, name) != getattr(request.usual, name)
    }
    for name in ("risk", "price", "time_value"):
        inputs[name] = inputs[name] or None  # 0 is no limit, and leaves money out
    return {name: value for name, value in inputs.items() if value not in (None, "")} | changed


def ask_vehicle(effects: dict[str, DeltaGenerator]) -> tuple[Vehicle, Vehicle]:
    """Ask for the vehicle in a chip; return it with its usual and with the given numbers."""
    name = starting("vehicle", defaults.VEHICLE, vehicle_names())
    usual = load_vehicle(name)
    capacity = st.session_state.get(key(f"battery_kwh:{name}"), usual.battery_kwh)
    title = f"{name.replace('-', ' ').title()} · {capacity:g} kWh"
    changed = {}
    with st.popover(literal(title), key="chip:vehicle"):
        st.selectbox("Vehicle", vehicle_names(), key=key("vehicle"))
        effects[CARS] = st.container()
        for part, (label, low, high, step) in CHANGEABLE.items():
            starting(f"{part}:{name}", float(getattr(usual, part)), (low, high))
            changed[part] = st.number_input(
                literal(label), low, high, step=step, key=key(f"{part}:{name}")
            )
            effects[part] = st.empty()
    return usual, replace(usual, **changed)


def _ask_battery(vehicle: Vehicle, roads: RoadNetwork) -> tuple[Battery, bool]:
    """Ask for charge and reserve, and whether to charge on the way; a switch shows the range.

    The reserve ends at the charge.
    """
    soc = starting("soc", 80, (1, 100))
    reserve = starting("reserve", min(10, soc), (0, soc))
    st.session_state[key("reserve")] = reserve  # a slider with another end forgets its value
    with st.popover(f"Charge {soc:d} %", key="chip:soc"):
        st.slider("Charge at the start (%)", 1, 100, key=key("soc"))
        starting("range", False)
        st.toggle("Show how far this charge reaches", key=key("range"))
        starting("charge", False)
        charges = bool(stations(roads)) and st.toggle(
            "Charge on the way where it falls short", key=key("charge")
        )
    with st.popover(f"Keep {reserve:d} %", key="chip:reserve"):
        st.slider("Charge to keep (%)", 0, soc, key=key("reserve"))
    return Battery.of_percent(vehicle.battery_kwh, soc, reserve), charges


def _ask_risk() -> float | None:
    """Ask for the greatest probability of ever falling below the reserve."""
    percent = starting("risk", 0.0, (0.0, 50.0))
    with st.popover(f"Risk {percent:g} %" if percent else "Any risk", key="chip:risk"):
        st.pills(
            "Chance of ever falling below the charge to keep, at most",
            sorted({*RISKS, percent}),
            format_func=lambda each: f"{each:g} %" if each else "no limit",
            key=key("risk"),
        )
    return percent / 100 or None


def _ask_conditions(effects: dict[str, DeltaGenerator]) -> DrivingConditions:
    """Ask for the conditions of the day, with space for the effect below each."""
    on = starting("weather", False)
    temperature = starting("temperature", 20, (-30, 45))
    with st.popover(f"{temperature:d} °C" if on else "Mild weather", key="chip:weather"):
        if not st.toggle("Weather, load and traffic", key=key("weather")):
            return DrivingConditions()
        starting("wind", 0, (0, 25))
        starting("bearing", "west", list(COMPASS))
        starting("speed", 100, (30, 120))
        starting("payload", 0, (0, 2000))
        st.slider("Temperature (°C)", -30, 45, key=key("temperature"))
        effects["temperature_c"] = st.empty()
        wind_mps = st.slider("Wind (m/s)", 0, 25, key=key("wind"))
        effects["wind_mps"] = st.empty()
        wind_from = st.selectbox("Wind from the", list(COMPASS), key=key("bearing"))
        speed = st.slider("Speed against the limits (%)", 30, 120, key=key("speed"))
        effects["speed_factor"] = st.empty()
        payload_kg = st.slider("Payload (kg)", 0, 2000, step=25, key=key("payload"))
        effects["payload_kg"] = st.empty()
    return DrivingConditions(
        temperature_c=float(temperature),
        wind_mps=float(wind_mps),
        wind_from_deg=COMPASS[wind_from],
        speed_factor=speed / 100,
        payload_kg=float(payload_kg),
    )


def _ask_time_and_money() -> tuple[str, float | None, float | None, float | None]:
    """Ask for departure, prices and the greatest extra time; a price of 0 leaves money out."""
    depart = starting("depart", "").strip()
    with st.popover(literal(f"Leave {depart}" if depart else "Leave now"), key="chip:depart"):
        st.text_input("Departure (HH:MM)", key=key("depart"))
        limited = starting("limited", False)
        limited = st.toggle("Limit the extra time", key=key("limited"))
        starting("extra", 20, (0, 100))
        extra = st.slider(
            "Longer than the fastest by at most (%)", 0, 100, key=key("extra"), disabled=not limited
        )
        starting("price", 0.0, (0.0, 10.0))
        price = st.number_input("Price of energy (per kWh)", 0.0, 10.0, step=0.05, key=key("price"))
        starting("time_value", 0.0, (0.0, 1000.0))
        value = st.number_input(
            "Value of time (per hour)",
            0.0,
            1000.0,
            step=1.0,
            key=key("time_value"),
            disabled=not price,
        )
    return (
        depart,
        price or None,
        value if price and value else None,
        extra / 100 if limited else None,
    )
