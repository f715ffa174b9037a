"""Measured trips of a car on a network: kept between visits, in a folder of ``evroute learn``.

A car is its numbers, so that a trailer or a roof box is another car. Trips come from uploaded logs,
by the readers of ``evroute learn``, and from the charge or energy entered after a planned trip.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cache import RUNS

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import DamagedFileError, EvrouteError
from evroute.folder import Folder
from evroute.learning.learn import Learned, learn
from evroute.learning.readers.formats import suffixes
from evroute.learning.records.parts import part_paths, set_aside
from evroute.learning.records.repair import repair
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import PlannedRoute
from evroute.tables import write_table
from evroute.text import slug

ENDINGS = [suffix.removeprefix(".") for suffix in suffixes()]
"""Endings of logs."""
PERCENT_STEP = 1.0
"""Step of the charge that a car displays, %."""


def folder_of(roads: RoadNetwork, vehicle: Vehicle) -> Folder:
    """Return the folder of a car's trips on a network; it may not exist yet."""
    about = json.dumps([roads.digest, numbers_of(vehicle)], sort_keys=True)
    name = slug(f"my-{vehicle.name}-{roads.name}")[:60]
    return Folder(RUNS / f"{name}-{crc32(about.encode()):08x}")


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
            return _learn(roads, vehicle, path, on_progress)
        except EvrouteError as error:  # the user's name of the file, not the temporary one
            reason = str(error).removeprefix(f"trip table {path}").lstrip(" ,:")
            raise EvrouteError(reason.replace(str(path), given.name)) from None


def add_planned(
    roads: RoadNetwork,
    vehicle: Vehicle,
    conditions: DrivingConditions,
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
    roads, vehicle, conditions
        Network, car and day of the trip; wind and speeds of the day are not recorded.
    planned
        The route. The difference from its expected energy is shared out by length.
    start_percent
        Charge at departure, %.
    energy_wh, known_variance_wh2
        Energy of the trip, Wh, and variance of its reading, Wh².
    travel_s
        Duration, s; None if unknown.

    Raises
    ------
    EvrouteError
        If the energy is impossible on this route.
    """
    rows = planned.route.rows
    share = roads.length_m[rows] / roads.length_m[rows].sum()
    edge_wh = planned.edge_wh + (energy_wh - planned.edge_wh.sum()) * share
    edge_s = share * (np.nan if travel_s is None else travel_s)
    day = {
        "trip": f"{datetime.now():%Y-%m-%d %H:%M:%S.%f}",
        "soc_percent": start_percent,
        "auxiliary_w": conditions.load(vehicle).auxiliary_w,
        "temperature_c": conditions.temperature_c,
        "payload_kg": conditions.payload_kg,
        "known_variance_wh2": known_variance_wh2,
    }
    with TemporaryDirectory() as folder:
        path = Path(folder, "trip.csv")
        edges = {"edge": planned.edges, "energy_wh": edge_wh, "travel_s": edge_s}
        of_day = {name: [value] * len(rows) for name, value in day.items()}
        write_table(path, pa.table({**edges, **of_day}))
        return _learn(roads, vehicle, path)


def undo(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Set the newest measurements aside and learn the others again.

    Raises
    ------
    EvrouteError
        If another process writes the folder.
    """
    folder = folder_of(roads, vehicle)
    with folder.locked():
        set_aside(folder.path, last=True)
    if is_recorded(folder):
        learn_again(roads, vehicle)


def learn_again(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Learn the recorded trips of a car; set damaged files aside.

    Raises
    ------
    EvrouteError
        If no recorded trip is intact, or another process writes the folder.
    """
    try:
        _learn(roads, vehicle, None)
    except DamagedFileError:
        repair(folder_of(roads, vehicle).path, network=roads, vehicle=vehicle)


def forget(roads: RoadNetwork, vehicle: Vehicle) -> None:
    """Set all measurements of a car aside, in ``reset-DATE`` of its folder.

    Raises
    ------
    EvrouteError
        If another process writes the folder.
    """
    folder = folder_of(roads, vehicle)
    with folder.locked():
        set_aside(folder.path)


def _learn(
    roads: RoadNetwork,
    vehicle: Vehicle,
    table: Path | None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    out = folder_of(roads, vehicle).path
    return learn(table, out, network=roads, vehicle=vehicle, on_progress=on_progress)
