"""Measured trips of a car on a network: kept between visits, in a folder of ``evroute learn``.

A car is its name and the numbers that the driver changed, so that a trailer or a roof box is
another car, while a corrected number of the catalogue and a closed road lose no trip. Trips come
from uploaded logs, by the readers of ``evroute learn``, and from the charge or energy entered after
a planned trip.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cache import RUNS
from lan import check_write

from evroute.energy.vehicle import Vehicle, load_vehicle, numbers_of, vehicle_names
from evroute.errors import DamagedFileError, EvrouteError
from evroute.folder import Folder
from evroute.learning import stored
from evroute.learning.learn import Learned, learn
from evroute.learning.readers.base import NONE_GIVEN
from evroute.learning.readers.files import ZIP
from evroute.learning.readers.formats import TOTALS, suffixes
from evroute.learning.records.manifest import Choice, start_of
from evroute.learning.records.parts import (
    derived,
    move,
    new_aside,
    part_paths,
    read_parts,
    set_aside,
)
from evroute.learning.records.repair import repair
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import PlannedRoute
from evroute.planning.planner import Planner
from evroute.tables import write_table
from evroute.text import slug

ENDINGS = [suffix.removeprefix(".") for suffix in (*suffixes(), ZIP)]
"""Endings of logs."""
OWN_NUMBERS = ("mass_kg", "drag", "auxiliary_w", "battery_kwh")
"""Numbers of a car that the driver may change on the pages."""
PERCENT_STEP = 1.0
"""Step of the charge that a car displays, %."""


def folder_of(roads: RoadNetwork, vehicle: Vehicle) -> Folder:
    """Return the folder of a car's trips on a network. It may not exist yet."""
    changed = "".join(f"-{name}-{value:g}" for name, value in changes_of(vehicle).items())
    return Folder(RUNS / slug(f"my-{vehicle.name}{changed}-{roads.name}"))


def changes_of(vehicle: Vehicle) -> dict[str, float]:
    """Return the numbers of a car that differ from the catalogue's car of its name."""
    if vehicle.name not in vehicle_names():
        return {}
    usual = load_vehicle(vehicle.name)
    return {
        name: float(getattr(vehicle, name))
        for name in OWN_NUMBERS
        if getattr(vehicle, name) != getattr(usual, name)
    }


def is_current(roads: RoadNetwork, vehicle: Vehicle) -> bool:
    """Return False if the trips of a car were learned with other roads or numbers of the car.

    Without trips, and where the settings are damaged, there is nothing to differ.
    """
    try:
        made = folder_of(roads, vehicle).manifest()
    except EvrouteError:
        return True
    same_roads = made.get("networks", {}).get(roads.name) in _digests(roads)
    return same_roads and made.get("vehicle") == json.loads(json.dumps(numbers_of(vehicle)))


def _digests(roads: RoadNetwork) -> set[str]:
    return {roads.digest, on_terrain(roads, "edge").digest}


def is_usable(folder: Folder, roads: RoadNetwork, vehicle: Vehicle) -> bool:
    """Return True if the belief of a folder can plan with a car on roads.

    Its numbers must be the car's. A belief that knows the lines of its roads goes with the car to
    other roads.

    Parameters
    ----------
    folder
        Folder of trips of a car.
    roads, vehicle
        Network and car of a plan.
    """
    try:
        made = folder.manifest()
        if made.get("vehicle") != json.loads(json.dumps(numbers_of(vehicle))):
            return False
        if made.get("networks", {}).get(roads.name) in _digests(roads):
            return True
        (run,) = folder.beliefs()
        return stored.read(folder.belief_path(run)).travels
    except (EvrouteError, OSError, ValueError):
        return False


def belief_folder(roads: RoadNetwork, vehicle: Vehicle) -> Folder:
    """Return the folder of a car's trips that plans on a network use.

    It is the folder of this network. Else, as a belief goes with the car, the folder of another
    network with most trips. It may not exist yet.
    """
    here = folder_of(roads, vehicle)
    if trip_count(here) and is_usable(here, roads, vehicle):
        return here
    others = Folder.below(RUNS, "my-*/manifest.json")
    others = [each for each in others if is_own(each.path.name) and trip_count(each)]
    usable = [each for each in others if is_usable(each, roads, vehicle)]
    return max(usable, key=lambda each: (trip_count(each), each.path.name), default=here)


def renew(roads: RoadNetwork, vehicle: Vehicle) -> Learned:
    """Learn the recorded trips of a car again, with these roads and numbers.

    The belief of before is moved to ``renewed-DATE`` in the folder.

    Raises
    ------
    EvrouteError
        If a file of measured trips is damaged, or another process writes the folder. The folder
        then is as it was.
    """
    check_write()
    folder = folder_of(roads, vehicle)
    read_parts(folder.path, roads)
    made = {name: value for name, value in folder.manifest().items() if name != "charging"}
    start = start_of(made, roads, vehicle, Choice())
    manifest = start.manifest_of(start.before_trips())
    with folder.locked():
        move(derived(folder.path), folder.path, new_aside(folder.path, "renewed"))
        folder.write_manifest(manifest)
    return _learn(roads, vehicle, None)


def is_own(folder_name: str) -> bool:
    """Return True if a folder name is one of `folder_of`."""
    return folder_name.startswith("my-") and not (RUNS / folder_name / "parts").exists()


def trip_count(folder: Folder) -> int:
    """Return the number of trips that a folder has learned."""
    with suppress(OSError, pa.ArrowException):
        return int(pq.read_metadata(folder.path / "trips.parquet").num_rows)
    return 0


def is_recorded(folder: Folder) -> bool:
    """Return True if a folder has measured trips, learned or not."""
    return bool(part_paths(folder.path))


def add_log(
    roads: RoadNetwork,
    vehicle: Vehicle,
    file_name: str,
    content: bytes,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    columns: Mapping[str, str] = NONE_GIVEN,
    totals: bool = False,
) -> Learned:
    """Learn the trips of an uploaded log.

    Parameters
    ----------
    roads, vehicle
        Network and car of the trips.
    file_name
        The user's name of the file: its ending decides the format, and a log of one trip is called
        by it.
    content
        Bytes of the file.
    on_progress
        Called with the number of trips learned and of trips to learn.
    columns
        Headers of the file that the user names, by the column here.
    totals
        Whether totals of trips are learned, without positions.

    Raises
    ------
    EvrouteError
        If no trip of it can be read.
    """
    given = Path(Path(file_name).name)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{slug(given.stem) or 'log'}{slug(given.suffix)}")
        path.write_bytes(content)
        try:
            return _learn(roads, vehicle, path, on_progress, columns, totals)
        except EvrouteError as error:  # the user's name of the file, not the temporary one
            reason = str(error).removeprefix(f"trip table {path}").lstrip(" ,:")
            raise EvrouteError(reason.replace(str(path), given.name)) from None


def add_planned(
    roads: RoadNetwork,
    planner: Planner,
    planned: PlannedRoute,
    *,
    start_percent: float,
    energy_wh: float,
    known_variance_wh2: float,
    travel_s: float | None,
) -> Learned:
    """Learn a trip along a planned route from its total energy.

    Parameters
    ----------
    roads, planner
        Network, car and day of the trip. Wind and speeds of the day are not recorded.
    planned
        The route, with the metres along its first and its last road. The difference from its
        expected energy is shared out by length.
    start_percent
        Charge at departure, %.
    energy_wh, known_variance_wh2
        Energy of the trip, Wh, and variance of its reading, Wh².
    travel_s
        Duration, s, or None if unknown.

    Raises
    ------
    EvrouteError
        If the energy is impossible on this route, or the car turned round where it charged.
    """
    driven, route = planned.stretches, planned.route
    if any(route.without(pause) is route for pause in route.pauses):
        raise EvrouteError(
            "this plan turns round at a charging station, which no recorded trip does. Record the "
            "trips to the station and from it"
        )
    vehicle, conditions = planner.vehicle, planner.conditions
    share = driven.length_m / driven.length_m.sum()
    edge_wh = planned.edge_wh + (energy_wh - planned.edge_wh.sum()) * share
    edge_s = share * (np.nan if travel_s is None else travel_s)
    day = {
        "trip": f"{datetime.now():%Y-%m-%d %H:%M:%S.%f}",
        "soc_percent": start_percent,
        "auxiliary_w": conditions.load(vehicle).auxiliary_w,
        "temperature_c": conditions.temperature_c,
        "payload_kg": conditions.payload_kg,
        "known_variance_wh2": known_variance_wh2,
        "start_m": route.start_m,
        "end_m": route.end_m,
    }
    with TemporaryDirectory() as folder:
        path = Path(folder, "trip.csv")
        # a road on which the car charges is driven once
        paused = {pause.after for pause in route.pauses}
        kept = [place for place in range(len(route)) if place not in paused]
        edges = {
            "edge": [planned.edges[place] for place in kept],
            "energy_wh": np.add.reduceat(edge_wh, kept),
            "travel_s": np.add.reduceat(edge_s, kept),
        }
        of_day = {name: [value] * len(kept) for name, value in day.items()}
        write_table(path, pa.table({**edges, **of_day}))
        return _learn(roads, vehicle, path)


def undo(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Set the newest measurements aside and learn the others again.

    Raises
    ------
    EvrouteError
        If another process writes the folder, or this tab may not.
    """
    check_write()
    folder = folder_of(roads, vehicle)
    with folder.locked():
        set_aside(folder.path, last=True)
    if is_recorded(folder):
        learn_again(roads, vehicle)


def learn_again(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Learn the recorded trips of a car. Set damaged files aside.

    Raises
    ------
    EvrouteError
        If no recorded trip is intact, another process writes the folder, or this tab may not.
    """
    check_write()
    try:
        _learn(roads, vehicle, None)
    except DamagedFileError:
        repair(folder_of(roads, vehicle).path, network=roads, vehicle=vehicle)


def forget(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Set all measurements of a car aside, in ``reset-DATE`` of its folder.

    Raises
    ------
    EvrouteError
        If another process writes the folder, or this tab may not.
    """
    check_write()
    folder = folder_of(roads, vehicle)
    with folder.locked():
        set_aside(folder.path)


def _learn(
    roads: RoadNetwork,
    vehicle: Vehicle,
    table: Path | None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    columns: Mapping[str, str] = NONE_GIVEN,
    totals: bool = False,
) -> Learned:
    check_write()
    out = folder_of(roads, vehicle).path
    if table is not None and not is_current(roads, vehicle):
        renew(roads, vehicle)
    return learn(
        table,
        out,
        network=roads,
        vehicle=vehicle,
        reader=TOTALS if totals else None,
        column=columns,
        on_progress=on_progress,
    )
