"""Data sets of the benchmark: trips of one car in order of departure, and where they come from.

``sources.toml`` in ``data/benchmark`` lists them. The two made years ship with evroute. The others
are read from a folder of the user.
"""

import csv
import hashlib
import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError, require
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import read_measured
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources import graphml
from evroute.resources import data_path

SHIPPED = ("made-1", "made-2")
"""Data sets that ship with evroute."""
PIECE_KM = 5.0
"""Length of the pieces of the bus."""
SHORTEST_PIECE_M = 1_000.0
PAUSE_S = 1_800.0
"""Pause of the bus that begins a new piece."""
CELL_M = 50.0
"""Positions of the bus in one square of this size are one junction."""
SHORTEST_SEGMENT_M = 10.0
BUS_KMH = 40.0
DAY_KMH = 50.0
"""Assumed speed of all roads of the bus, and of days without routes."""
MOST_DAY_KM = 5_000.0
METRES_OF_DEGREE = 111_320.0
METRES_OF_LATITUDE = 110_950.0
CORNER_LON, CORNER_LAT, MIDDLE_LAT = -85.3, 35.0, 35.03
"""Origin of the plane of the bus, and the latitude of its scale, degrees."""


@dataclass(frozen=True, slots=True)
class Data:
    """Trips of one car in order of departure.

    Parameters
    ----------
    name
        Its name.
    about
        Its title, source, commit and licence.
    digests
        SHA-256 of each file, by its name.
    setting
        Network and vehicle.
    trips
        Measured trips.
    """

    name: str
    about: Mapping[str, str]
    digests: Mapping[str, str]
    setting: Setting
    trips: tuple[MeasuredTrip, ...]


def load_data(folder: Path | None = None, only: Sequence[str] = ()) -> list[Data]:
    """Return the data sets of a folder, or the made years.

    Parameters
    ----------
    folder
        A folder with ``drives/`` or ``ioniq5/``, or None for the made years. Data sets of which it
        has no file are left out.
    only
        Names of the data sets to read. All if empty.

    Raises
    ------
    EvrouteError
        If the folder has no data set, or a data set is incomplete or cannot be read.
    """
    tables = sources()
    if folder is None:
        made = [name for name in SHIPPED if not only or name in only]
        return [_load(name, tables[name], data_path("benchmark")) for name in made]
    names = [name for name in tables if name not in SHIPPED and (not only or name in only)]
    found = [name for name in names if any((folder / f).exists() for f in tables[name]["files"])]
    some = ", ".join(str(f) for name in names for f in tables[name]["files"][:1])
    require(found, f"{folder} has no data set of the benchmark. It reads {some}")
    return [_load(name, tables[name], folder) for name in found]


def sources() -> dict[str, dict[str, Any]]:
    """Return the table of each data set by its name."""
    path = data_path("benchmark", "sources.toml")
    return limits.parse_toml(path.read_text(encoding="utf-8"), path.name)


def _load(name: str, table: Mapping[str, Any], folder: Path) -> Data:
    """Return a data set by its table.

    Parameters
    ----------
    name, table
        Its name and its table in ``sources.toml``.
    folder
        Folder of its files.
    """
    paths = [folder / each for each in table["files"]]
    digests = {}
    for each, path in zip(table["files"], paths, strict=True):
        try:
            with path.open("rb") as handle:
                digests[each] = hashlib.file_digest(handle, "sha256").hexdigest()
        except OSError as error:
            raise EvrouteError(f"{path} cannot be read: {error.strerror}") from None
    beside = data_path("benchmark", table["vehicle"])
    vehicle = load_vehicle(beside if beside.exists() else table["vehicle"])
    try:
        setting, trips = READERS[name](vehicle, paths)
        for trip in trips:
            require(
                np.isfinite(trip.energy_wh.sum()), f"trip {trip.trip} has no energy", ValueError
            )
    except (LookupError, ValueError, EOFError, OSError, zlib.error) as error:
        raise EvrouteError(f"{paths[0]} is not the file of '{name}': {error!r}") from None
    trips.sort(key=lambda trip: trip.departed_s or 0.0)
    about = {key: str(table[key]) for key in ("title", "source", "commit", "licence")}
    return Data(name, about, digests, setting, tuple(trips))


def _made(vehicle: Vehicle, paths: Sequence[Path]) -> tuple[Setting, list[MeasuredTrip]]:
    """Return a made year in Denver."""
    setting = Setting(load_network("denver"), vehicle)
    return setting, _by_edges(paths[0], setting)


def _twizy(vehicle: Vehicle, paths: Sequence[Path]) -> tuple[Setting, list[MeasuredTrip]]:
    """Return the pieces of the Twizy by edges, on the network of its drives."""
    with TemporaryDirectory() as folder:
        network = graphml.read(_unpacked(paths[1], Path(folder)), "rabat")
    setting = Setting(network, vehicle)
    return setting, _by_edges(paths[0], setting)


def _by_edges(path: Path, setting: Setting) -> list[MeasuredTrip]:
    """Return the trips of a compressed table with a row for each edge."""
    with TemporaryDirectory() as folder:
        plain = _unpacked(path, Path(folder))
        return read_measured(plain, setting, {setting.vehicle.name}).trips


def _bus(vehicle: Vehicle, paths: Sequence[Path]) -> tuple[Setting, list[MeasuredTrip]]:
    """Return pieces of about 5 km of the bus, on a level network of its segments.

    Its rows are segments between two positions. Positions in one square of 50 m are one junction.
    Segments between the same junctions on the same OSM way are one edge, of their median length.
    """
    rows = sorted(_rows(paths[0]), key=lambda row: float(row["TimeStamp_Begin"]))

    def column(name: str) -> FloatArray:
        return np.array([float(row[name]) for row in rows])

    degree_m = METRES_OF_DEGREE * np.cos(np.radians(MIDDLE_LAT))
    ends = ("Initial", "Final")
    lon, lat = (
        np.stack([column(f"{end}_recorded_{axis}") for end in ends], axis=1)
        for axis in ("Longitude", "Latitude")
    )
    x_m, y_m = (lon - CORNER_LON) * degree_m, (lat - CORNER_LAT) * METRES_OF_LATITUDE
    cells = [tuple(each) for each in np.floor(np.stack([x_m, y_m], 2) / CELL_M).reshape(-1, 2)]
    junction = {each: k for k, each in enumerate(dict.fromkeys(cells))}
    tail, head = np.array([junction[each] for each in cells]).reshape(-1, 2).T
    length_m = column("Distance")
    kept = np.flatnonzero((tail != head) & (length_m > SHORTEST_SEGMENT_M))
    length_m = length_m[kept]
    segments = [(int(tail[k]), int(head[k]), rows[k]["OSM_Feature"]) for k in kept]
    row_of = {each: k for k, each in enumerate(dict.fromkeys(segments))}
    edge = np.array([row_of[each] for each in segments])
    lengths = [float(np.median(length_m[edge == k])) for k in range(len(row_of))]
    places = (np.array(list(junction)) + 0.5) * CELL_M
    firsts = np.array([each[:2] for each in row_of])
    network = level_network("bus", firsts, np.array(lengths), places, BUS_KMH)

    began_s = column("TimeStamp_Begin")[kept] / 1000.0
    pauses = np.cumsum(np.diff(began_s, prepend=began_s[0]) > PAUSE_S)
    of_piece = list(zip(pauses, np.cumsum(length_m) / 1000.0 // PIECE_KM, strict=True))
    energy_wh = column("Energy_Consumed")[kept] * vehicle.battery_kwh * 10.0
    travel_s, soc = column("TimeNeeded_in_Seconds")[kept], column("Energy_at_Begining")[kept]
    trips = []
    for number, piece in enumerate(dict.fromkeys(of_piece)):
        at = np.array([k for k, each in enumerate(of_piece) if each == piece])
        if length_m[at].sum() > SHORTEST_PIECE_M:
            charge = float(soc[at[0]])
            measured = edge[at], energy_wh[at], travel_s[at]
            trips.append(MeasuredTrip(str(number), *measured, soc_percent=charge))
    return Setting(network, vehicle), trips


def _days(vehicle: Vehicle, paths: Sequence[Path]) -> tuple[Setting, list[MeasuredTrip]]:
    """Return the days of a car without routes, each on the first km of one level road.

    The energy is all that the car counts on that day. Rows with a time are running totals of their
    day, so the last row of a day counts. Days without km are left out.
    """
    totals = {row["datetime"][:8]: row for row in _rows(paths[0])}
    rows = [row for row in totals.values() if float(row["distance"]) > 0.0]
    days_km = np.array([float(row["distance"]) for row in rows])
    require(np.all(days_km < MOST_DAY_KM), f"a day of {days_km.max():g} km", ValueError)
    n = int(np.ceil(days_km.max()))
    ends = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    places = np.column_stack([1_000.0 * np.arange(n + 1), np.zeros(n + 1)])
    network = level_network("days", ends, np.full(n, 1_000.0), places, DAY_KMH)
    trips = []
    for row, km in zip(rows, days_km, strict=True):
        edges = np.arange(int(np.ceil(km)))
        shares = np.minimum(km - edges, 1.0) / km
        day = row["datetime"][:8]
        midnight = datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC)
        trips.append(
            MeasuredTrip(
                day,
                edges,
                float(row["total_consumed"]) * shares,
                np.full(len(edges), np.nan),
                midnight.timestamp(),
                whole=True,
                end_m=1_000.0 * float(km - edges[-1]),
            )
        )
    return Setting(network, vehicle), trips


READERS: dict[str, Callable[[Vehicle, Sequence[Path]], tuple[Setting, list[MeasuredTrip]]]] = {
    "made-1": _made,
    "made-2": _made,
    "twizy": _twizy,
    "bus": _bus,
    "ioniq5": _days,
}
"""Function that reads each data set, with its vehicle and the paths of its files."""


def level_network(
    name: str, ends: IntArray, length_m: FloatArray, places: FloatArray, speed_kmh: float
) -> RoadNetwork:
    """Return a network without heights, of one speed, whose turns are in no use.

    Parameters
    ----------
    name
        Its name.
    ends
        (n, 2) first and last junction of each edge.
    length_m
        (n,) lengths, m.
    places
        (j, 2) positions of the junctions, m.
    speed_kmh
        Speed on all edges, km/h.
    """
    n, (tail, head) = len(ends), ends.T
    return RoadNetwork(
        name=name,
        edge_id=tuple(map(str, range(n))),
        tail=tail,
        head=head,
        length_m=length_m,
        speed_mps=np.full(n, speed_kmh / 3.6),
        structure=np.zeros(n, dtype=int),
        street=("",) * n,
        road_class=("",) * n,
        turns=np.empty((0, 2), dtype=int),
        junction_id=tuple(map(str, range(len(places)))),
        x_m=places[:, 0],
        y_m=places[:, 1],
        elevation_m=np.zeros(len(places)),
        shape_start=2 * np.arange(n + 1),
        shape_x_m=np.column_stack([places[tail, 0], places[head, 0]]).ravel(),
        shape_y_m=np.column_stack([places[tail, 1], places[head, 1]]).ravel(),
        crs="EPSG:32616",
        source=Source(kind="drives"),
    )


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, which may be compressed."""
    with limits.unpacked(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        return list(csv.DictReader(limits.lines(text, str(path)), skipinitialspace=True))


def _unpacked(path: Path, folder: Path) -> Path:
    """Write a compressed file to a folder, under its name without ``.gz``. Return its path."""
    plain = folder / path.name.removesuffix(".gz")
    with limits.unpacked(path) as stream:
        plain.write_bytes(stream.read())
    return plain
