"""Demand: trips from a table, a SUMO route file, or at random, described by one text.

``random 2-5 km``
    a new origin and destination in each round, this far apart on the shortest way
``random pair 2-5 km``
    the same trip every full hour, between an origin and a destination drawn once by the seed
``FILE.csv``
    a table (or ``.parquet``): origin, destination, departure, vehicle, count (`read_rows`)
``FILE.rou.xml``
    a SUMO route file (or ``.rou.xml.gz``): vehicles with routes, trips (`demand.sumo_routes`)
``A``, ``X to Y``
    the same trip every full hour
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.given import located
from evroute.learning.readers.clocks import seconds
from evroute.learning.readers.table import check_columns, numbers, read_table
from evroute.methods.setting import Setting
from evroute.planning.places import stops
from evroute.planning.searches.search import Search
from evroute.worlds.demand.trips import S_PER_H, Repeated, Trip, Trips
from evroute.worlds.environment import child

if TYPE_CHECKING:
    import pyarrow as pa

_RANDOM = re.compile(r"random(\s+pair)?\s+(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)\s*km")
_SUMO = (".xml", ".xml.gz")
_TABLE = (".csv", ".parquet")
S_PER_DAY = 24 * S_PER_H
COLUMNS = ("origin", "destination", "departure", "vehicle", "count")
TEXT = ("origin", "destination", "departure", "vehicle")
ORIGINS = 200
"""Origins drawn before a distance band is rejected."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Trips of a file in order of departure. After the last the list repeats, whole days later.

    Parameters
    ----------
    trips
        Trips in order of departure.
    skipped
        Number of trips that cannot be driven, by reason.
    notes
        Changes made on reading, one sentence each.
    """

    trips: tuple[Trip, ...]
    skipped: dict[str, int]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.trips)

    @property
    def vehicles(self) -> tuple[str, ...]:
        """The vehicles named by trips, sorted, without the run's own."""
        return tuple(sorted({trip.vehicle for trip in self.trips} - {""}))

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t``."""
        again, place = divmod(t - 1, len(self.trips))
        trip = self.trips[place]
        if not again:
            return trip
        days = int(self.trips[-1].departed_s // S_PER_DAY) + 1
        later_s = trip.departed_s + again * days * S_PER_DAY
        return Trip(
            trip.origin, trip.destination, later_s, trip.vehicle, f"{trip.trip_id}+{again * days}d"
        )


class RandomTrips:
    """Trips between edges whose shortest way, both included, is within a band. One every full hour.

    Parameters
    ----------
    nearest_m, farthest_m
        Band of distances, m.
    search
        Search over all edges.
    length_m
        (n,) lengths of the edges, m.
    seeds
        Seeds of the trips.

    Raises
    ------
    EvrouteError
        If the network has no such trip.
    """

    def __init__(
        self,
        nearest_m: float,
        farthest_m: float,
        *,
        search: Search,
        length_m: np.ndarray,
        seeds: np.random.SeedSequence,
    ) -> None:
        self.nearest_m = nearest_m
        self.farthest_m = farthest_m
        self.search = search
        self.length_m = length_m
        self._seeds = seeds
        self._last = (1, self._drawn(1))

    def trip(self, t: int) -> Trip:
        """Return the trip of round ``t``."""
        if self._last[0] != t:
            self._last = (t, self._drawn(t))
        return self._last[1]

    def _drawn(self, t: int) -> Trip:
        rng = np.random.default_rng(child(self._seeds, t))
        for origin in rng.integers(len(self.length_m), size=ORIGINS).tolist():
            distance_m = self.search.distances(self.length_m, origin)
            distance_m[origin] = np.inf
            within = np.flatnonzero(
                (distance_m >= self.nearest_m) & (distance_m <= self.farthest_m)
            )
            if len(within):
                return Trip(
                    origin, int(rng.choice(within)), departed_s=(t - 1) * S_PER_H, trip_id=str(t)
                )
        raise EvrouteError(
            f"{ORIGINS} origins have no destination within "
            f"{self.nearest_m / 1000:g}-{self.farthest_m / 1000:g} km. "
            "Choose another band"
        )


def is_file(trip: str) -> bool:
    """Return whether a text names a file of trips."""
    return trip.lower().endswith((*_SUMO, *_TABLE))


def load_demand(trip: str, setting: Setting, seeds: np.random.SeedSequence) -> Trips:
    """Return the trips described by a text.

    Parameters
    ----------
    trip
        Description of the trips.
    setting
        Network and vehicle.
    seeds
        Seeds of random trips, equal for all methods.

    Raises
    ------
    EvrouteError
        If a file cannot be read or has no trip that can be driven, a band has no trips, or a
        place is unknown.
    """
    if is_file(trip):
        return load_file(Path(trip), setting)
    if trip.startswith("random"):
        band = _RANDOM.fullmatch(trip)
        if not band or not 0 <= float(band[2]) < float(band[3]):
            raise EvrouteError(
                f"trips '{trip}' are not like 'random 2-5 km' or 'random pair 2-5 km', from less "
                "to more"
            )
        drawn = RandomTrips(
            float(band[2]) * 1000,
            float(band[3]) * 1000,
            search=setting.search,
            length_m=setting.network.length_m,
            seeds=seeds,
        )
        first = drawn.trip(1)
        return Repeated(first.origin, first.destination) if band[1] else drawn
    return Repeated(*setting.ends(trip))


def load_file(path: Path, setting: Setting) -> Listed:
    """Return the trips of a file.

    Raises
    ------
    EvrouteError
        If the file cannot be read or has no trip that can be driven.
    """
    path = located(path)
    if not path.is_file():
        raise EvrouteError(f"trip file {path} does not exist")
    if path.name.lower().endswith(_SUMO):
        from evroute.worlds.demand.sumo_routes import read_routes

        return listed(path, *read_routes(path, setting))
    return listed(path, *read_rows(path, read_table(path, TEXT, ("count",)), setting))


def listed(path: Path, trips: list[Trip], skipped: dict[str, int]) -> Listed:
    """Sort trips by departure, with a note if they were not in order.

    Parameters
    ----------
    path
        File of the trips, for messages.
    trips
        Trips that can be driven.
    skipped
        Number of other trips, by reason.

    Raises
    ------
    EvrouteError
        If there are no trips.
    """
    if not trips:
        reason = max(skipped, key=lambda each: skipped[each], default="it is empty")
        raise EvrouteError(f"trip file {path} holds no trip that can be driven: {reason}")
    ordered = sorted(trips, key=lambda trip: trip.departed_s)
    return Listed(
        tuple(ordered),
        skipped,
        () if ordered == trips else ("departures were out of order: sorted",),
    )


def read_rows(path: Path, table: "pa.Table", setting: Setting) -> tuple[list[Trip], dict[str, int]]:
    """Return the trips of a table, and the number of trips that cannot be driven, by reason.

    Columns: origin and destination are an edge's id or "lat,lon". departure is ISO 8601 or
    seconds, 0 without the column. vehicle is of the catalogue or a file. The run's own if empty
    or equal to it. count is the number of equal trips, 1 if empty.

    Parameters
    ----------
    path
        File of the table, for messages.
    table
        Rows of trips.
    setting
        Network and vehicle.

    Raises
    ------
    EvrouteError
        If a column is missing or unknown, a time cannot be read, a count is no positive whole
        number, or a vehicle is unknown.
    """
    check_columns(path, table.column_names, ("origin", "destination"), COLUMNS)
    count = _counts(path, table)
    limits.check("trips", float(count.sum()), f"trip table {path} counts {{}} trips")
    columns = zip(
        table["origin"].to_pylist(),
        table["destination"].to_pylist(),
        _departures(path, table).tolist(),
        _vehicles(path, table, setting),
        count.astype(int).tolist(),
        strict=True,
    )
    trips: list[Trip] = []
    skipped: dict[str, int] = {}
    ends = _Ends(setting)
    for row, (origin, destination, departed_s, vehicle, times) in enumerate(columns, start=1):
        try:
            if not departed_s >= 0:
                raise EvrouteError(f"a departure at {departed_s:g} s")
            first, last = ends.of(origin or "", destination or "")
        except EvrouteError as error:
            skipped[str(error)] = skipped.get(str(error), 0) + times
            continue
        for copy in range(1, times + 1):
            name = f"{row}" if times == 1 else f"{row}.{copy}"
            trips.append(Trip(first, last, departed_s=departed_s, vehicle=vehicle, trip_id=name))
    return trips, skipped


def _counts(path: Path, table: "pa.Table") -> FloatArray:
    """Return the number of equal trips of each row, 1 where it is empty, (n,)."""
    if "count" not in table.column_names:
        return np.ones(table.num_rows)
    count = numbers(table, "count")
    count = np.where(np.isnan(count), 1.0, count)
    if np.any(wrong := (count < 1) | (count % 1 != 0)):
        row = int(np.flatnonzero(wrong)[0])
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: count is {count[row]:g}. It must be 1, 2, ..."
        )
    return count


def _departures(path: Path, table: "pa.Table") -> FloatArray:
    """Return the departures of the rows, 0 without the column, (n,) s."""
    if "departure" not in table.column_names:
        return np.zeros(table.num_rows)
    return seconds(path, table["departure"].to_pylist())


def _vehicles(path: Path, table: "pa.Table", setting: Setting) -> list[str]:
    """Return the vehicle of each row, empty for the setting's own."""
    if "vehicle" not in table.column_names:
        return [""] * table.num_rows
    named: list[str | None] = table["vehicle"].to_pylist()
    there: dict[str, str] = {"": ""}
    for row, name in enumerate(named, start=1):
        if name and name not in there:
            try:
                there[name] = "" if load_vehicle(name) == setting.vehicle else name
            except EvrouteError as error:
                raise EvrouteError(f"trip table {path}, row {row}: {error}") from None
    return [there[name or ""] for name in named]


class _Ends:
    """Edge rows of pairs of places. Each pair is looked up once."""

    def __init__(self, setting: Setting) -> None:
        self._network = setting.network
        self._found: dict[tuple[str, str], tuple[int, int]] = {}

    def of(self, origin: str, destination: str) -> tuple[int, int]:
        """Return the first and the last edge of a trip.

        Raises
        ------
        EvrouteError
            If a place is missing or unknown, or both are on the same edge.
        """
        if not origin:
            raise EvrouteError("without an origin")
        if not destination:
            raise EvrouteError("without a destination")
        pair = origin, destination
        if pair not in self._found:
            first, last = stops(self._network, None, pair)
            self._found[pair] = first, last
        first, last = self._found[pair]
        if first == last:
            raise EvrouteError(f"origin and destination are the same edge, '{origin}'")
        return first, last


def vehicles_of(trips: Trips) -> tuple[str, ...]:
    """Return the vehicles named by trips, without the run's own."""
    return trips.vehicles if isinstance(trips, Listed) else ()


def provenance(trip: str, setting: Setting) -> dict[str, object]:
    """Return the digest, size and skipped trips of a trip file. Empty for other trips.

    Raises
    ------
    EvrouteError
        If the trips cannot be read.
    """
    trips = load_demand(trip, setting, np.random.SeedSequence(0))
    if not isinstance(trips, Listed):
        return {}
    source = {
        "sha256": hashlib.sha256(Path(trip).read_bytes()).hexdigest(),
        "trips": len(trips),
        "skipped": trips.skipped,
        "notes": list(trips.notes),
    }
    cars = {
        name: Setting(setting.network, load_vehicle(name)).vehicle_numbers
        for name in trips.vehicles
    }
    return source | ({"vehicles": cars} if cars else {})
