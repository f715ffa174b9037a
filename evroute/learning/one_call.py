"""One call of ``evroute learn``: trips learned in memory, recorded, and written to the folder."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from evroute.energy.vehicle import numbers_of
from evroute.errors import DamagedFileError, EvrouteError
from evroute.folder import Folder
from evroute.learning import belief
from evroute.learning.base import Belief
from evroute.learning.findings import findings
from evroute.learning.fleet.cars_table import check_named
from evroute.learning.learned import Learned
from evroute.learning.measured import Measured
from evroute.learning.records.history import (
    History,
    driven_edges,
    measured_row,
    numbered,
    read_history,
    record,
)
from evroute.learning.records.manifest import DEFAULT_MODEL as DEFAULT_MODEL
from evroute.learning.records.manifest import (
    Start,
    as_continued,
)
from evroute.learning.records.outcome import Outcome, check_numbers, learn_all
from evroute.learning.records.parts import check_on_network, set_aside
from evroute.learning.stored import read
from evroute.tables import is_readable, write_columns
from evroute.text import counted

WAIT_S = 60.0
"""Longest wait for another call that writes the same folder, s."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """Folder, settings and trips of one call. ``aside`` holds the trips that a reset moved."""

    folder: Folder
    start: Start
    manifest: dict[str, Any]
    measured: Measured
    aside: Path | None
    on_progress: Callable[[int, int], None]


def learn_locked(call: Call, fresh: Belief) -> Learned:
    """Learn in memory, record the new trips, then write the rest of the folder."""
    folder, start = call.folder, call.start
    history = read_history(folder.path, start.setting)
    if not fresh.travels:
        check_on_network(history.recorded.values(), start.setting.network)
    new = [trip for trip in call.measured.trips if trip.trip not in history.recorded]
    new.sort(key=lambda trip: trip.departed_s or 0.0)
    check_named(folder.path, [trip.car for trip in (*history.in_order, *new)])
    saved = _saved(folder, start)
    outcome = learn_all(
        _continued(saved, start, history) or fresh,
        [*history.in_order, *new],
        lambda: _continued(saved, start, history) or start.before_trips(),
        call.on_progress,
    )
    if not outcome.trips and outcome.refused:
        name, reason = next(iter(outcome.refused.items()))
        raise EvrouteError(
            f"none of {len(outcome.refused)} trips can be learned; '{name}': {reason}"
        )
    if folder.manifest() != call.manifest:  # the car goes on elsewhere, or has other numbers
        folder.write_manifest(call.manifest)
    record(folder.path, history, outcome.trips, outcome.learner, call.manifest)
    rows = _rows(start, history, outcome)
    _write(folder, start, outcome, rows)
    return _report(call, history, outcome, rows)


def _saved(folder: Folder, start: Start) -> Path:
    """Return the path of the belief to continue: of this network, or else of another one."""
    own = folder.belief_path(start.run)
    others = sorted(own.parent.glob("[!.]*-learned.npz"))
    return own if own.exists() or not others else others[-1]


def _continued(path: Path, start: Start, history: History) -> Belief | None:
    """Return the saved belief, or None if there is none, or it is damaged or has other trips."""
    if not path.exists():
        return None
    try:
        with np.errstate(all="ignore"):  # of a belief whose numbers are not finite
            learner = belief.continued(path, start.setting)
        check_numbers(learner)
    except DamagedFileError as error:
        log.warning("%s, learning its trips again", str(error).partition(". Make it again")[0])
        return None
    except ArithmeticError as error:
        log.warning("%s cannot plan (%s), learning its trips again", path, error)
        return None
    if numbers_of(learner.vehicle) != numbers_of(read(path).about.vehicle):
        log.info("%s has other numbers of the vehicle, learning its trips by these", path)
        return None
    if learner.trips > len(history.rows):
        if history.stored:
            log.warning(
                "%s has learned other trips than those recorded, learning these again", path
            )
        return None
    return learner


def _rows(start: Start, history: History, outcome: Outcome) -> list[dict[str, Any]]:
    """Return the rows of ``trips.parquet``, with its earlier rows unchanged."""
    there = {row["trip"]: row for row in history.rows}
    rows = []
    for t, trip in enumerate(outcome.trips):
        row = measured_row(start.setting, trip)
        prediction = outcome.predictions[t - outcome.before] if t >= outcome.before else {}
        rows.append(there.get(trip.trip) or row | prediction)
    return rows


def _write(folder: Folder, start: Start, outcome: Outcome, rows: list[dict[str, Any]]) -> None:
    """Write the tables and the belief where they are not up to date. The belief comes last."""
    driven = folder.path / "routes" / f"{start.run}.parquet"
    own = folder.belief_path(start.run)
    if outcome.before == len(rows) and is_readable(driven) and own.exists():
        return
    write_columns(folder.path / "trips.parquet", numbered(rows))
    write_columns(driven, driven_edges(start.run, outcome.trips))
    outcome.learner.save(own)
    for path in (*own.parent.glob("[!.]*-learned.npz"), *driven.parent.glob("[!.]*.parquet")):
        if path.stem != start.run:  # of the network before
            path.unlink()


def _report(call: Call, history: History, outcome: Outcome, rows: list[dict[str, Any]]) -> Learned:
    measured = call.measured
    late = {trip.trip for trip in outcome.trips[outcome.before :]}
    known = [t for t in measured.trips if t.trip not in late and t.trip not in outcome.refused]
    conflicts = [t.trip for t in known if not t.is_same(history.recorded[t.trip])]
    refused = history.gate.skipped
    recorded_before = {name: f"recorded before: {reason}" for name, reason in refused.items()}
    return Learned(
        folder=call.folder.path,
        trips=pa.table(numbered(rows)),
        new=len(late),
        known=len(known),
        conflicts=conflicts,
        skipped=measured.skipped | recorded_before | outcome.refused,
        notes=[
            *measured.notes,
            *_notes(measured, conflicts, late),
            *history.gate.unknown_notes(late),
        ],
        aside=call.aside,
        findings=findings(pa.table(numbered(rows)), outcome.trips, outcome.learner),
    )


def _notes(measured: Measured, conflicts: list[str], late: set[str]) -> list[str]:
    """Return sentences on trips of the table that differ, and on earlier trips learned now."""
    notes = []
    if conflicts:
        others = " and others" if len(conflicts) > 1 else ""
        notes.append(
            f"trip '{conflicts[0]}'{others}: recorded before with "
            "other measurements, which are kept. Give new measurements a new id"
        )
    if healed := len(late - {trip.trip for trip in measured.trips}):
        notes.append(f"{counted(healed, 'trip')} recorded before: learned now")
    return notes


@dataclass(slots=True)
class Opened:
    """A folder as a call opens it: its start, its manifest before, and whether it starts afresh."""

    folder: Folder
    start: Start
    made: dict[str, Any]
    reset: bool
    on_progress: Callable[[int, int], None]

    def learn(self, measured: Measured) -> Learned:
        """Learn trips, and record them.

        Raises
        ------
        EvrouteError
            As `learn`.
        """
        folder, start = self.folder, self.start
        fresh = start.before_trips()
        manifest = start.manifest_of(fresh)
        opened = as_continued(self.made, manifest)
        if not self.reset:
            folder.open(opened)
        # threads of small products wait for each other
        with folder.locked(WAIT_S), threadpool_limits(1):
            aside = set_aside(folder.path) if self.reset else None
            if self.reset:
                folder.write_manifest(manifest)
            folder.open(opened)  # another process may have made it first
            call = Call(folder, start, manifest, measured, aside, self.on_progress)
            learned = learn_locked(call, fresh)
        self.reset, self.made = False, manifest
        return learned
