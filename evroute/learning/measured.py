"""Tables of trips that a user has measured, edge by edge: reading and checking them.

Columns: trip, edge (the network's own ids, in driving order), energy_wh or energy_kwh; if wanted
time (ISO 8601 or seconds, when the edge was entered), travel_s, departed_s (of the trip, used where
there is no time) and vehicle. A table that cannot be
read is refused; a trip that cannot have been is set aside with the reason, and the others go on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evroute.arms import Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.text import check_printable

if TYPE_CHECKING:
    import pyarrow as pa

WH_PER_KWH = 1000.0
EDGE_COLUMNS = (
    "trip",
    "edge",
    "time",
    "energy_wh",
    "energy_kwh",
    "travel_s",
    "departed_s",
    "vehicle",
)
TEXT = ("trip", "edge", "vehicle", "time")
NUMBERS = ("energy_wh", "energy_kwh", "travel_s", "departed_s", "lat", "lon", "soc_percent")

JAM_WH = 500.0
"""What any edge may take or give beyond eq. 8 without being called impossible, Wh."""
FACTOR = 10.0
"""Between this and its inverse lies what a trip may dissipate, as a multiple of eq. 8."""
JUDGED_M = 1000.0
"""Trips below this length are too short to judge their consumption."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTrip:
    """One trip: (k,) network rows in driving order, energies in Wh and times in s (NaN where not measured).

    departed_s: since the midnight before the table's first trip; 0 where there are no times.
    """

    trip: str
    edge: IntArray
    energy_wh: FloatArray
    travel_s: FloatArray
    departed_s: float = 0.0

    def feedback(self, setting: Setting) -> Feedback:
        """Return what a model learns from it, in free-flow contexts."""
        return Feedback(
            id=self.edge,
            features=setting.arms.features[self.edge],
            prior_mean_wh=setting.arms.prior_mean_wh[self.edge],
            energy_wh=self.energy_wh,
            travel_s=self.travel_s,
            trip_id=self.trip,
            vehicle=setting.vehicle.name,
            departed_s=self.departed_s,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The trips of a table in its order, and those set aside: trip and reason.

    notes: what was left out of trips that are kept, one sentence each.
    """

    trips: list[MeasuredTrip] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class ImpossibleTripError(EvrouteError):
    """A trip that cannot have been; the message is the reason."""


def read_table(
    path: Path, text: Sequence[str] = TEXT, number: Sequence[str] = NUMBERS
) -> "pa.Table":
    """Read a CSV or Parquet file; the columns ``text`` become text, ``number`` numbers.

    Raises
    ------
    EvrouteError
        If the file is missing, cannot be read, is empty, or holds text where numbers belong.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if not path.is_file():
        raise EvrouteError(f"trip table {path} does not exist")
    try:
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
        else:
            types = dict.fromkeys(text, pa.string())
            options = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
            table = pyarrow.csv.read_csv(path, convert_options=options)
    except (pa.ArrowException, OSError) as error:
        raise EvrouteError(
            f"trip table {path} is neither CSV nor Parquet: {str(error).splitlines()[0]}"
        ) from None
    if not table.num_rows:
        raise EvrouteError(f"trip table {path} has no rows")
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise EvrouteError(f"trip table {path} has two columns '{name}'")
        if name not in {*text, *number}:
            continue
        try:
            wanted = table[name].cast(pa.string() if name in text else pa.float64())
        except pa.ArrowException as error:
            raise EvrouteError(
                f"trip table {path}, column '{name}': {str(error).splitlines()[0]}"
            ) from None
        table = table.set_column(table.column_names.index(name), name, wanted)
    return table


def check_columns(
    path: Path, names: Sequence[str], known: Sequence[str], needed: Sequence[str]
) -> None:
    """Refuse a table that lacks a column or has one that is not known.

    Raises
    ------
    EvrouteError
        Then; the message names it.
    """
    if missing := [name for name in needed if name not in names]:
        raise EvrouteError(
            f"trip table {path} has no column '{missing[0]}'; it has {', '.join(names)}"
        )
    if unknown := [name for name in names if name not in known]:
        raise EvrouteError(
            f"trip table {path}: unknown column '{unknown[0]}'; known are {', '.join(known)}"
        )


def read_edges(
    path: Path, table: "pa.Table", setting: Setting, vehicle_column: Sequence[str]
) -> Measured:
    """Return the trips of a table with a row per edge.

    vehicle_column: names under which the setting's vehicle goes in the column ``vehicle``; trips of
    others are set aside.

    Raises
    ------
    EvrouteError
        If columns are missing, unknown or given twice, or no trip is left.
    """
    names = table.column_names
    check_columns(path, names, EDGE_COLUMNS, ("trip", "edge"))
    energies = [name for name in ("energy_wh", "energy_kwh") if name in names]
    if len(energies) != 1:
        raise EvrouteError(f"trip table {path} needs one of the columns energy_wh and energy_kwh")
    energy_wh = numbers(table, energies[0]) * (WH_PER_KWH if energies[0] == "energy_kwh" else 1.0)
    edge_id = table["edge"].to_pylist()
    travel_s = numbers(table, "travel_s") if "travel_s" in names else np.full(len(edge_id), np.nan)
    time_s = seconds(path, table["time"].to_pylist()) if "time" in names else None
    departures_s = np.zeros(len(edge_id))
    if time_s is not None:
        departures_s = time_s
    elif "departed_s" in names:
        departures_s = np.nan_to_num(numbers(table, "departed_s"))
    measured = Measured()
    for trip, rows in trips_of(path, table):
        try:
            check_vehicle(table, rows, vehicle_column)
            times = time_s[rows] if time_s is not None else None
            edges = _rows_of(setting.network, [edge_id[row] for row in rows])
            driven_s = _travel(travel_s[rows], times)
            departed_s = float(departures_s[rows[0]])
            found = MeasuredTrip(trip, edges, energy_wh[rows], driven_s, departed_s)
            check_trip(found, setting)
        except ImpossibleTripError as error:
            measured.skipped[trip] = str(error)
        else:
            measured.trips.append(found)
    return measured


def numbers(table: "pa.Table", name: str) -> FloatArray:
    """Return a column of numbers, (k,); NaN where there is none."""
    return np.array(table[name].to_numpy(), dtype=float)


def trips_of(path: Path, table: "pa.Table") -> Iterator[tuple[str, IntArray]]:
    """Yield each trip and its rows in their order; the rows of trips may be mixed.

    Raises
    ------
    EvrouteError
        If a row names no trip, or a name holds signs that cannot be shown.
    """
    rows: dict[str, list[int]] = {}
    for row, trip in enumerate(table["trip"].to_pylist()):
        if not trip:
            raise EvrouteError(f"trip table {path}, row {row + 1}: no trip is named")
        rows.setdefault(trip, []).append(row)
    check_printable(f"trip table {path}: trip", rows)
    for trip, its in rows.items():
        yield trip, np.array(its)


def seconds(path: Path, texts: Sequence[str | None]) -> FloatArray:
    """Return (k,) seconds: numbers as they are, ISO 8601 since the midnight before the first; NaN where empty.

    Raises
    ------
    EvrouteError
        If a time is neither, or some are numbers and some are not, or some have an offset to UTC
        and some have not.
    """
    given = [(row, text) for row, text in enumerate(texts) if text]
    times = np.full(len(texts), np.nan)
    try:
        for row, text in given:
            times[row] = float(text)
        return times
    except ValueError:
        pass
    moments: list[tuple[int, datetime]] = []
    for row, text in given:
        try:
            moments.append((row, datetime.fromisoformat(text)))
        except ValueError:
            raise EvrouteError(
                f"trip table {path}, row {row + 1}: time '{text}' is neither seconds nor like 2026-05-04T07:30:00"
            ) from None
    try:
        first = min(moment for _, moment in moments)
        midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
        for row, moment in moments:
            times[row] = (moment - midnight).total_seconds()
    except TypeError:
        raise EvrouteError(
            f"trip table {path}: some times have an offset to UTC and some have not"
        ) from None
    return times


def check_vehicle(table: "pa.Table", rows: IntArray, names: Sequence[str]) -> None:
    """Refuse a trip of another vehicle.

    Raises
    ------
    ImpossibleTripError
        If the column ``vehicle`` names none of ``names``; empty goes for any.
    """
    if "vehicle" not in table.column_names:
        return
    others = {str(each) for each in table["vehicle"].take(rows).to_pylist() if each} - set(names)
    if others:
        raise ImpossibleTripError(
            f"driven by vehicle '{min(others)}'; learn it with --vehicle into another folder"
        )


def check_trip(trip: MeasuredTrip, setting: Setting) -> None:
    """Refuse what cannot have been.

    Raises
    ------
    ImpossibleTripError
        If a turn is not one of the network, an energy is missing, or an edge or the whole takes
        what none can.
    """
    network, edge, energy_wh = setting.network, trip.edge, trip.energy_wh
    legal = np.isin(
        edge[:-1] * network.n_edges + edge[1:],
        network.turns[:, 0] * network.n_edges + network.turns[:, 1],
    )
    if not legal.all():
        gap = int(np.flatnonzero(~legal)[0])
        raise ImpossibleTripError(
            f"a gap: no turn leads from edge '{network.edge_id[edge[gap]]}' to '{network.edge_id[edge[gap + 1]]}'"
        )
    if not np.isfinite(energy_wh).all():
        missing = int(np.flatnonzero(~np.isfinite(energy_wh))[0])
        raise ImpossibleTripError(f"a gap: edge '{network.edge_id[edge[missing]]}' has no energy")
    dissipated_wh, climb_wh = setting.prior.dissipated_wh[edge], setting.potential_wh[edge]
    room_wh = JAM_WH + FACTOR * (dissipated_wh + np.abs(climb_wh))
    if np.any(np.abs(energy_wh) > room_wh):
        worst = int(np.argmax(np.abs(energy_wh) / room_wh))
        raise ImpossibleTripError(
            f"edge '{network.edge_id[edge[worst]]}' of {network.length_m[edge[worst]]:.0f} m takes "
            f"{energy_wh[worst] / WH_PER_KWH:,.3g} kWh, which cannot be; are the units right?"
        )
    length_m = float(network.length_m[edge].sum())
    factor = float((energy_wh - climb_wh).sum() / dissipated_wh.sum())
    if length_m >= JUDGED_M and not 1 / FACTOR <= factor <= FACTOR:
        per_km = float(energy_wh.sum()) / length_m * 1000
        raise ImpossibleTripError(
            f"it takes {per_km:,.3g} Wh/km, climbs apart {factor:.2g} times what eq. 8 says, which cannot be; "
            "are the units right?"
        )


def _rows_of(network: RoadNetwork, ids: Sequence[str | None]) -> IntArray:
    row_of: Mapping[Any, int] = network.row_of
    if unknown := [each for each in ids if each not in row_of]:
        raise ImpossibleTripError(f"network '{network.name}' has no edge '{unknown[0]}'")
    return np.array([row_of[each] for each in ids])


def _travel(travel_s: FloatArray, times: FloatArray | None) -> FloatArray:
    """Return the travel times given, or what lies between the times at which edges were entered; the last is NaN."""
    if np.any(travel_s < 0):
        raise ImpossibleTripError(f"a travel time of {np.nanmin(travel_s):g} s")
    if times is None:
        return travel_s
    check_times(times)
    return np.where(np.isfinite(travel_s), travel_s, np.append(np.diff(times), np.nan))


def check_times(times: FloatArray) -> None:
    """Refuse times that cannot be.

    Raises
    ------
    ImpossibleTripError
        If one is missing or negative, or they do not increase.
    """
    if not np.isfinite(times).all():
        raise ImpossibleTripError("a gap: a row has no time")
    if times.min() < 0:
        raise ImpossibleTripError(f"a negative time, {times.min():g} s")
    if np.any(np.diff(times) < 0):
        raise ImpossibleTripError(
            f"times go back at its row {int(np.flatnonzero(np.diff(times) < 0)[0]) + 2}"
        )
