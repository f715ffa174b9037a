"""History of a folder of ``evroute learn``: its recorded trips, and a row for each trip learned.

The rows come from ``trips.parquet``. They hold while the recorded trip is the one that was
learned: a row whose trip is recorded with other numbers ends the part of the rows that holds.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evroute.learning.base import Belief
from evroute.learning.gate import admit
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.learning.records.parts import append_part, read_parts, without_lines
from evroute.methods.setting import Setting
from evroute.tables import read_columns

COMPARED = ("departed_s", "edges", "travel_s", "energy_wh")
"""Columns by which a row is compared with the trip recorded."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class History:
    """The trips of a folder before a call.

    recorded: every trip by name, in the order recorded.  trips: those that pass the gate, as they
    are learned.  gate: trips and values that the gate left out.  rows: of the trips learned, in the
    order learned.  stored: number of rows in ``trips.parquet``, 0 where it is missing or damaged.
    """

    recorded: Mapping[str, MeasuredTrip]
    trips: Mapping[str, MeasuredTrip]
    gate: Measured
    rows: Sequence[dict[str, Any]]
    stored: int

    @property
    def learned(self) -> list[MeasuredTrip]:
        """The trips of the rows, in their order."""
        return [self.trips[row["trip"]] for row in self.rows]

    @property
    def in_order(self) -> list[MeasuredTrip]:
        """The trips in the order of their rows. Those without a row follow as recorded."""
        learned = {trip.trip: trip for trip in self.learned}
        return list((learned | dict(self.trips)).values())


def read_history(folder: Path, setting: Setting) -> History:
    """Read the recorded trips of a folder, and their rows as far as they hold.

    Raises
    ------
    DamagedFileError
        If a file of recorded trips is damaged.
    """
    recorded, gate = read_parts(folder, setting.network), Measured()
    for trip in recorded.values():
        if trip.record is None:
            admit(gate, trip, setting)
        else:  # it passed the gate on its own map
            gate.trips.append(trip)
    trips = {trip.trip: trip for trip in gate.trips}
    rows, stored = [], _stored_rows(folder)
    for row in stored:
        if (name := row["trip"]) not in trips:
            break
        if not _is_of(row, measured_row(setting, trips[name])):
            break
        rows.append(row)
    return History(recorded, trips, gate, rows, len(stored))


def record(
    folder: Path,
    history: History,
    trips: Sequence[MeasuredTrip],
    learner: Belief,
    manifest: Mapping[str, Any],
) -> None:
    """Record new trips, and with their lines those that earlier versions recorded.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    history
        Its records.
    trips
        All trips learned, in order.
    learner
        Belief that has learned them.
    manifest
        Manifest of the folder.
    """
    renewed = without_lines(folder)
    kept = [
        (t, history.recorded.get(trip.trip, trip))
        for t, trip in enumerate(trips)
        if trip.trip not in history.recorded or (trip.record is None and trip.trip in renewed)
    ]
    kept.sort(key=lambda each: each[1].record is not None)  # totals follow
    if kept:
        terms = learner.terms_of([t for t, _ in kept])
        for k, (_, trip) in enumerate(kept):
            if trip.record is not None:
                terms[k] = {**trip.record.terms, **terms[k]}
        append_part(folder, [trip for _, trip in kept], learner.setting, manifest, terms)


def _stored_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of ``trips.parquet`` without their numbers ``t``, or none if it is lost."""
    path = folder / "trips.parquet"
    if not path.exists():
        if any(folder.glob("beliefs/[!.]*.npz")):  # they are written after it
            log.warning("%s is missing, computing it again from the measured trips", path)
        return []
    try:
        table = read_columns(path).drop_columns("t")
        table.select(["trip"])
        return list(table.to_pylist())
    except (OSError, pa.ArrowException, LookupError):
        log.warning("%s is damaged, computing it again from the measured trips", path)
        return []


def _is_of(row: Mapping[str, Any], measured: Mapping[str, Any]) -> bool:
    """Return whether a row is of a trip with these measured columns."""
    stored = {name: np.nan if row.get(name) is None else row[name] for name in COMPARED}
    if np.isnan(measured["departed_s"]) and stored["departed_s"] == 0.0:
        stored["departed_s"] = np.nan  # an earlier version had 0 for an unknown departure
    of_trip = {name: measured[name] for name in COMPARED}
    of_trip["edges"] = min(of_trip["edges"], stored["edges"])  # this map may have roads in pieces
    values = [*stored.values()], [*of_trip.values()]
    return bool(np.allclose(*values, rtol=1e-9, equal_nan=True))


def measured_row(setting: Setting, trip: MeasuredTrip) -> dict[str, Any]:
    """Return the columns of a trip that do not depend on the belief."""
    network, edge = setting.network, trip.edge
    record = trip.record
    if record is None:
        length_m, eq8_wh = network.length_m[edge], setting.edges.reference.prior_mean_wh[edge]
        climb_m, descent_m = network.ascent_m[edge], network.descent_m[edge]
        stretches, share = trip.stretches(network), trip.share(network.length_m)
        if stretches is not None:
            climb_m, descent_m = stretches.heights(network)
            eq8_wh = setting.edges.stretch_wh(edge, stretches)
    else:
        length_m, eq8_wh = record.lines.length_m, record.eq8_wh
        climb_m, descent_m = record.ascent_m, record.descent_m
        share = replace(trip, edge=np.arange(len(length_m))).share(length_m)
        eq8_wh, climb_m, descent_m = (share * each for each in (eq8_wh, climb_m, descent_m))
    return {
        "trip": trip.trip,
        "departed_s": np.nan if trip.departed_s is None else trip.departed_s,
        "edges": len(edge) // trip.routes,
        "length_m": float((share * length_m).sum()) / trip.routes,
        "climb_m": float(climb_m.sum()) / trip.routes,
        "descent_m": float(descent_m.sum()) / trip.routes,
        "travel_s": float(trip.travel_s.sum()),
        "energy_wh": float(trip.energy_wh.sum()),
        "eq8_wh": float(eq8_wh.sum()) / trip.routes,
        **({"car": trip.car} if trip.car else {}),
    }


def numbered(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of ``trips.parquet`` from its rows. ``t`` counts them from 1."""
    columns = dict.fromkeys(name for row in rows for name in row)
    numbers = list(range(1, len(rows) + 1))
    return {"t": numbers} | {name: [row.get(name) for row in rows] for name in columns}


def driven_edges(run: str, trips: Iterable[MeasuredTrip]) -> dict[str, Any]:
    """Return the columns of the table with a row per edge driven, of trips on the network."""
    driven = [
        (t, *passage)
        for t, trip in enumerate(trips, start=1)
        if trip.routes == 1 and trip.record is None
        for passage in zip(trip.edge, trip.energy_wh, trip.travel_s, strict=True)
    ]
    names = ("t", "edge", "observed_wh", "travel_s")
    table = {name: [passage[k] for passage in driven] for k, name in enumerate(names)}
    return {"run": [run] * len(driven)} | table
