"""Basis of a plan: physics alone, the car's own trips, or the belief of a saved run."""

from contextlib import suppress
from pathlib import Path

import streamlit as st
from address import without_input
from cache import RUNS
from literal import literal
from own_trips import belief_folder, folder_of, is_own, is_usable, trip_count
from state import ask, key, starting

from evroute.energy.vehicle import Vehicle, vehicle_names
from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.folder import Folder
from evroute.learning.fleet import type_folders
from evroute.network.road_network import RoadNetwork

PHYSICS = "physics alone"


def basis(roads: RoadNetwork, vehicle: Vehicle) -> str:
    """Return the chosen basis. The car's own trips at first, if there are any."""
    own, choices = belief_folder(roads, vehicle).path.name, _choices(roads, vehicle)
    return str(starting("folder", own if own in choices else PHYSICS, choices))


def basis_label(folder: str, roads: RoadNetwork, vehicle: Vehicle) -> str:
    """Return a basis for drivers, such as "my 14 trips".

    Parameters
    ----------
    folder
        From `basis`.
    roads, vehicle
        Network and car of the plan.
    """
    own = belief_folder(roads, vehicle)
    if folder != own.path.name:
        return "physics" if folder == PHYSICS else folder
    trips = trip_count(own)
    where = "" if own == folder_of(roads, vehicle) else " elsewhere"
    return (f"my {trips} trips" if trips > 1 else "my trip") + where


def has_choices(roads: RoadNetwork, vehicle: Vehicle) -> bool:
    """Return True if there is more than physics to plan by, or if trips wait to be learned."""
    return len(_choices(roads, vehicle)) > 1 or trip_count(folder_of(roads, vehicle)) > 0


def choose_basis(roads: RoadNetwork, vehicle: Vehicle) -> tuple[str, str]:
    """Ask for the basis. Folder and run are empty for physics alone."""
    basis(roads, vehicle)
    folder = ask(
        st.selectbox,
        "Based on",
        "folder",
        options=_choices(roads, vehicle),
        format_func=lambda each: basis_label(each, roads, vehicle),
        help="Physics, this car's own trips (page My car), or the trips of a saved run.",
    )
    here = folder_of(roads, vehicle)
    if trip_count(here) and not is_usable(here, roads, vehicle):
        st.caption("Trips of this car wait on the page My car to be learned again.")
    if folder == PHYSICS:
        return "", ""
    try:
        folder = _of_car(folder, vehicle.name)
    except EvrouteError as error:
        st.caption(literal(f"{error}. This page plans by physics."))
        return "", ""
    car = belief_vehicle(folder)
    if car not in ("", *vehicle_names()):
        st.caption(
            literal(
                f"The trips of {folder} are of '{car}', a car of its own file. `evroute route` "
                "plans with them. This page plans by physics."
            )
        )
        return "", ""
    runs = _runs(folder, roads.name)
    if not runs:
        st.caption(literal(f"No run in {folder} was driven on {roads.name}."))
        return "", ""
    if len(runs) == 1:
        return folder, runs[0]
    starting("run", runs[0], runs)
    return folder, str(ask(st.selectbox, "Run", "run", options=runs))


def belief_vehicle(folder: str) -> str:
    """Return the name of the vehicle of the beliefs in a folder, or empty if there are none."""
    if RUNS / folder not in {path.parent for path in _manifests()}:
        return ""
    return str(RunFolder(RUNS / folder).manifest().get("vehicle", {}).get("name", ""))


def _of_car(folder: str, vehicle: str | None) -> str:
    """Return the folder of a type in that of a fleet, by the car of the plan or by a vehicle."""
    if not type_folders.is_fleet(RUNS / folder):
        return folder
    car = without_input().get("car")
    return str(type_folders.folder_of(RUNS / folder, car, vehicle).relative_to(RUNS))


def _manifests() -> list[Path]:
    """Return the manifests of folders with beliefs, those of fleets with that of each type."""
    return [*RUNS.glob("*/manifest.json"), *RUNS.glob("*/*/manifest.json")]


def _choices(roads: RoadNetwork, vehicle: Vehicle) -> list[str]:
    """Return physics, the car's own trips and the folders with beliefs, the newest first."""
    own = belief_folder(roads, vehicle).path
    below = RunFolder.below(RUNS, "*/manifest.json")
    found = [each.path for each in below if each.beliefs()]
    fleets = RunFolder.below(RUNS, "*/cars.csv")
    found += [each.path for each in fleets if type_folders.is_fleet(each.path)]
    found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    usable = is_usable(Folder(own), roads, vehicle)
    names = [
        path.name
        for path in found
        if (path == own and usable) or (path != own and not is_own(path.name))
    ]
    return [PHYSICS, *sorted(names, key=lambda name: name != own.name)]


def _runs(folder: str, network_name: str) -> list[str]:
    """Return the runs of a folder that have a belief, those on a network. All of own trips."""
    runs = RunFolder(RUNS / folder)
    return [
        name
        for name in runs.beliefs()
        if (is_own(folder) or name.startswith(f"{network_name}-"))
        and runs.belief_path(name).is_file()
    ]


def follow_belief(name: str) -> None:
    """Set the input ``name`` to the vehicle of a belief, once the belief is chosen."""
    folder, followed = st.session_state.get(key("folder")), f"followed_{name}"
    if folder != st.session_state.get(followed):
        st.session_state[followed] = folder
        with suppress(EvrouteError):  # of several types, none is named
            if (vehicle := belief_vehicle(_of_car(str(folder), None))) in vehicle_names():
                st.session_state[key(name)] = vehicle
