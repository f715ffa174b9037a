"""Choice of a car by its name, and the energy of each car on a trip."""

import numpy as np
import streamlit as st
from cache import RUNS, planner
from naming import car_title, driven_cars
from own_routes import cars_address
from search_component import Choice, search
from state import key

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import find_vehicles, load_vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.folder import Folder
from evroute.network.road_network import RoadNetwork
from evroute.planning.fields import MEAN
from evroute.planning.plan import Plan, gained

WIDTHS = {"Car": 122, "kWh": 45, "Arrive": 52, "min": 40}
"""Widths of the columns of `compare_cars`, pixels: all are seen in a chip and on a phone."""


def own_cars() -> list[str]:
    """Return the names of the catalogue's cars with measured trips, those driven last first."""
    found = []
    for path in RUNS.glob("my-*"):
        try:
            name = Folder(path).manifest().get("vehicle", {}).get("name")
        except EvrouteError:
            continue
        found.append((path.stat().st_mtime, str(name)))
    names = dict.fromkeys(name for _, name in sorted(found, reverse=True))
    return [name for name in names if name in vehicle_names()]


def ask_car(name: str) -> None:
    """Ask for a car. ``name`` is the one that is chosen."""
    own = own_cars()
    search(
        "Vehicle",
        car_title(name),
        key="search:vehicle",
        address=cars_address(own),
        placeholder="Make and model",
        on_choice=_take_car,
        recent=[(car_title(each), each) for each in own],
    )


def _take_car(choice: Choice) -> None:
    """Set the car to a choice, or to the likeliest one of a text. Other texts change nothing."""
    found = [choice["text"]] if choice["text"] in vehicle_names() else []
    if not found and choice["text"]:
        found = find_vehicles(choice["text"], own_cars())
    if found:
        st.session_state[key("vehicle")] = found[0]


def show_cars(roads: RoadNetwork, chosen: str, conditions: DrivingConditions, plan: Plan) -> None:
    """Show the table of `compare_cars`."""
    widths = {name: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()}
    table = compare_cars(roads, chosen, conditions, plan)
    st.dataframe(table, hide_index=True, column_config=widths)


def compare_cars(
    roads: RoadNetwork, chosen: str, conditions: DrivingConditions, plan: Plan
) -> dict[str, list[str]]:
    """Return energy, arrival and minutes of each car of the catalogue, by physics.

    The chosen car comes first, with a mark, then the others by their energy.

    Parameters
    ----------
    roads, conditions
        Network and day of the plan.
    chosen
        Name of the chosen car.
    plan
        Routes. The trip is theirs, the charge is that at the start, %.
    """
    rows = []
    for name in {chosen: None, **dict.fromkeys(driven_cars())}:
        car = load_vehicle(name)
        label = f"✓ {car_title(name)}" if name == chosen else car_title(name)
        try:
            made = planner(roads, car, conditions, "", "").plan(
                plan.request.model_copy(
                    update={"vehicle": car, "car": None, "risk": MEAN, "charge": False}
                )
            )
        except EvrouteError:
            rows.append((name != chosen, np.inf, (label, "", "too low", "")))
            continue
        best = made.recommended_route
        assert made.battery is not None
        assert best.charge is not None
        arrival = made.battery.percent(float(best.charge.charge_wh[-1]))
        energy, took = gained(best.energy_wh / 1000, 2), f"{best.time_s / 60:.1f}"
        rows.append((name != chosen, best.energy_wh, (label, energy, f"{arrival:.0f} %", took)))
    shown = [texts for *_, texts in sorted(rows)]
    return dict(zip(WIDTHS, map(list, zip(*shown, strict=True)), strict=True))
