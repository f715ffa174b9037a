"""Learning from measured trips: a belief, and the expected energy of each trip before it.

The folder is one that ``evroute route --belief`` plans with. Its only run is called
``NETWORK-learned``::

    manifest.json       the settings of the belief
    measured/0001.parquet ...  the trips as measured, one file for each call: `records.parts`
    trips.parquet       one row per trip, in the order learned: `Learned.trips`
    routes/RUN.parquet  one row per edge driven: run, t, edge (network row), observed_wh, travel_s
    beliefs/RUN.npz     the belief, and the number of these trips in it. Written last

Everything but the manifest follows from the measured trips. Trips are learned in memory, then
recorded, and then the belief is written. A call learns the recorded trips that the belief lacks,
after any interruption of earlier calls. A damaged folder is mended by `records.repair`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import DamagedFileError, EvrouteError, require
from evroute.folder import Folder
from evroute.learning import belief
from evroute.learning.base import Belief
from evroute.learning.findings import findings
from evroute.learning.fleet.cars_table import CarTypes, check_named, read_cars
from evroute.learning.fleet.type_folders import is_fleet, several_types
from evroute.learning.learn_types import Fleet, learn_types
from evroute.learning.learned import Learned as Learned
from evroute.learning.measured import Measured
from evroute.learning.readers.formats import read_measured
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
    Choice,
    Start,
    as_continued,
    start_of,
    stored_manifest,
    vehicle_names,
)
from evroute.learning.records.outcome import Outcome, check_numbers, learn_all
from evroute.learning.records.parts import check_on_network, set_aside
from evroute.learning.stored import read
from evroute.learning.trips.energies import MODEL
from evroute.network.road_network import RoadNetwork
from evroute.tables import is_readable, write_columns
from evroute.text import counted

WAIT_S = 60.0
"""Longest wait for another call that writes the same folder, s."""
log = logging.getLogger(__name__)


def learn(  # noqa: PLR0913 - each is a keyword with a default
    table: str | Path | None,
    out: str | Path,
    *,
    network: RoadNetwork | str | None = None,
    vehicle: Vehicle | str | None = None,
    model: str | None = None,
    options: dict[str, Any] | None = None,
    prior: str | None = None,
    kernel: str | None = None,
    terrain: str | None = None,
    reader: str | None = None,
    reset: bool = False,
    cars: str | Path | CarTypes | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    """Learn the trips of a table, on top of what the folder ``out`` has learned already.

    Parameters
    ----------
    table
        CSV or Parquet, by edges (`readers.edges.COLUMNS`) or by GPS points
        (`readers.points.COLUMNS`). None learns the recorded trips alone, those that the belief
        lacks.
    out
        The folder: new, empty, or made with the same vehicle and model. A model of edges stays on
        its network. A belief of trips goes on with its car.
    network
        A network, or its name or file, or None for the folder's, and
        `manifest.DEFAULT_NETWORK` for a new one.
    vehicle
        A vehicle, or its name or file, or None for the folder's, and
        `defaults.VEHICLE` for a new one. With other numbers of the same vehicle all recorded trips
        are learned again by these.
    prior, kernel
        Spread of the prior deviations, and kernel between contexts, of a model of edges. None for
        the folder's own, and ``"paper"`` and ``"matern-5/2"`` for a new one.
    model, options
        ``"trips"``, the belief of whole trips, with the option ``physics`` (the physics of drivers'
        plans in a new folder), or one of `parts.MODELS` with its options, ``arms="turns"`` and
        ``learn_speeds=True`` among them. None for the folder's own, and ``"trips"`` for a new
        one.
    terrain
        One slope per edge (``"edge"``), or the ``"profile"`` of the network. None for the folder's
        own, and for a new one the profile where the network has one.
    reader
        Name of the reader of the table, or None for the one that its suffix or its columns choose.
    reset
        Start afresh. The trips measured before are moved to ``reset-DATE`` in the folder.
    cars
        Table with the columns car and vehicle, the type of each car of a fleet. In ``out`` each
        type then has a folder of its own, by the name of its vehicle. With ``vehicle``, or where
        ``out`` is a folder of one type, trips of cars of other types are set aside. None if all are
        of one type, or the fleet in ``out`` knows the types.
    on_progress
        Called with the number of trips learned and of trips to learn.

    Raises
    ------
    EvrouteError
        If the table cannot be read or no trip of it can be used, the folder belongs to something
        else, or another process writes it for longer than `WAIT_S`. The folder then is as
        it was.
    """
    folder = Folder(Path(out))
    types = read_cars(Path(cars)) if isinstance(cars, str | Path) else cars
    one_type = vehicle is not None or folder.has_manifest
    if is_fleet(folder.path) or (types is not None and not one_type):
        one = partial(
            learn,
            table,
            network=network,
            model=model,
            options=options,
            prior=prior,
            kernel=kernel,
            terrain=terrain,
            reader=reader,
            reset=reset,
            on_progress=on_progress,
        )
        fleet = Fleet(folder.path, types, vehicle)
        return learn_types(fleet, None if table is None else Path(table), reader, one)
    reset = reset and folder.has_manifest
    stored = stored_manifest(folder) if folder.has_manifest else {}
    if stored.get("types"):
        raise several_types(folder.path)
    made = {} if reset else stored
    start = start_of(made, network, vehicle, Choice(model, options, prior, kernel, terrain))
    fresh = start.before_trips()
    names = vehicle_names(start.setting, vehicle)
    manifest, measured = start.manifest_of(fresh), _read(table, fresh, names, reader, types)
    opened = as_continued(made, manifest)
    if not reset:
        folder.open(opened)
    # threads of small products wait for each other
    with folder.locked(WAIT_S), threadpool_limits(1):
        aside = set_aside(folder.path) if reset else None
        if reset:
            folder.write_manifest(manifest)
        folder.open(opened)  # another process may have made it first
        call = Call(folder, start, manifest, measured, aside, on_progress)
        return learn_locked(call, fresh)


def _read(
    table: str | Path | None,
    fresh: Belief,
    names: set[str],
    reader: str | None,
    cars: CarTypes | None,
) -> Measured:
    """Return the trips of a table for a belief, or none without a table."""
    if table is None:
        return Measured()
    with_routes = not fresh.learns_totals
    measured = read_measured(
        Path(table), fresh.setting, names, with_routes=with_routes, reader=reader, cars=cars
    )
    require(
        fresh.of_fleets or not any(trip.car for trip in measured.trips),
        f"model '{fresh.method_table['model']}' does not tell cars apart, which trip table {table} "
        f"names. Learn with model {MODEL}, or leave the names of cars out",
    )
    return measured


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
