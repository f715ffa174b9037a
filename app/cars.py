"""Choice of a car by its name."""

import streamlit as st
from cache import RUNS
from search_component import Choice, search
from search_routes import car_label, cars_address
from state import key

from evroute.energy.vehicle import find_vehicles, vehicle_names
from evroute.errors import EvrouteError
from evroute.folder import Folder


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
        car_label(name),
        key="search:vehicle",
        address=cars_address(own),
        placeholder="Make and model",
        on_choice=_take_car,
        recent=[(car_label(each), each) for each in own],
    )


def _take_car(choice: Choice) -> None:
    """Set the car to a choice, or to the likeliest one of a text. Other texts change nothing."""
    found = [choice["text"]] if choice["text"] in vehicle_names() else []
    if not found and choice["text"]:
        found = find_vehicles(choice["text"], own_cars())
    if found:
        st.session_state[key("vehicle")] = found[0]
