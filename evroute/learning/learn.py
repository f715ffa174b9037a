"""Learning from measured trips: a belief, and the expected energy of each trip before it.

The folder is one that ``evroute route --belief`` plans with; its only run is called
``NETWORK-learned``::

    manifest.json       the settings of the belief
    measured/0001.parquet ...  the trips as measured, one file for each call: `parts`
    trips.parquet       one row per trip, in the order learned: `Learned.trips`
    routes/RUN.parquet  one row per edge driven: run, t, edge (network row), observed_wh, travel_s
    beliefs/RUN.npz     the belief, and the number of these trips in it; written last

Everything but the manifest follows from the measured trips, which are written first. A call learns
the recorded trips that the belief lacks, after any interruption of earlier calls.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from threadpoolctl import threadpool_limits

from evroute.energy.prior import DEFAULT_SPREAD
from evroute.energy.vehicle import DEFAULT as DEFAULT_VEHICLE
from evroute.energy.vehicle import DRIVER_DEFAULT, Vehicle, charging_of, load_vehicle
from evroute.errors import DamagedFileError, EvrouteError, UnknownNameError
from evroute.folder import Folder
from evroute.learning import belief
from evroute.learning.blocks import learn_in_turn
from evroute.learning.findings import findings
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.learning.parts import append_part, read_parts, set_aside
from evroute.learning.readers.formats import read_measured
from evroute.learning.trips import energies as trip_energies
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import checked_method
from evroute.methods.parts import MODELS
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.model.context_kernels import DEFAULT_KERNEL
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.tables import is_readable, read_columns, write_columns

DEFAULT_MODEL = trip_energies.MODEL
WAIT_S = 60.0
"""Longest wait for another call that writes the same folder, s."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Learned:
    """Result of learning a table.

    trips: of the whole folder, one row each: t, trip, departed_s, edges, length_m, travel_s (NaN
    where not wholly measured), energy_wh (measured), predicted_wh and predicted_sd_wh (expected
    before the trip was learned, the deviation with noise), low50_wh, high50_wh, low90_wh, high90_wh
    (ends of its intervals), eq8_wh, climb_m and descent_m; with model ``trips`` also predicted_s to
    high90_s, of the travel time.  new: number of them from this table, the last ones.
    known: trips of the table that the folder had learned already.  conflicts: those of them that
    are recorded with other edges or energies, which stand.  skipped: trips set aside, with
    the reason.  notes: other omissions.
    aside: folder to which ``reset`` moved the earlier trips; None if there was none.
    findings: sentences on errors, intervals and coefficients, over all trips.
    """

    folder: Path
    trips: pa.Table
    new: int
    known: int
    conflicts: Sequence[str]
    skipped: dict[str, str]
    notes: Sequence[str]
    aside: Path | None
    findings: Sequence[str]


def learn(
    table: str | Path | None,
    out: str | Path,
    *,
    network: RoadNetwork | str = "denver",
    vehicle: Vehicle | str | None = DEFAULT_VEHICLE,
    model: str | None = None,
    options: dict[str, Any] | None = None,
    prior: str | None = None,
    kernel: str | None = None,
    terrain: str | None = None,
    reset: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    """Learn the trips of a table, on top of what the folder ``out`` has learned already.

    Parameters
    ----------
    table
        CSV or Parquet, by edges (`measured.EDGE_COLUMNS`) or by GPS points (`gps.COLUMNS`). None
        learns the recorded trips alone, those that the belief lacks.
    out
        The folder: new, empty, or made with the same network, vehicle and model.
    network
        A network, or its name or file.
    vehicle
        A vehicle, or its name or file; None for that of the folder, and `DRIVER_DEFAULT` for a new
        one.
    prior, kernel
        Spread of the prior deviations, and kernel between contexts, of a model of edges. None for
        those of the folder, and ``"paper"`` and ``"matern-5/2"`` for a new one.
    model, options
        ``"trips"``, the belief of whole trips, with the option ``physics`` (`planner.PHYSICS`; that
        of drivers' plans in a new folder); or one of `parts.MODELS` with
        its options, ``arms="turns"`` and ``learn_speeds=True`` among them. None for those of the
        folder, and ``"trips"`` for a new one.
    terrain
        One slope per edge (``"edge"``), or the ``"profile"`` of the network. None for that of the
        folder, and for a new one the profile where the network has one.
    reset
        Start afresh. The trips measured before are moved to ``reset-DATE`` in the folder.
    on_progress
        Called with the number of trips learned and of trips to learn.

    Raises
    ------
    EvrouteError
        If the table cannot be read or no trip of it can be used, the folder belongs to something
        else, or another process writes it for longer than `WAIT_S`; the folder then still is what
        it was.
    """
    folder = Folder(Path(out))
    made = {} if reset or not folder.has_manifest else folder.manifest()
    assumed = Prior(
        prior or str(made.get("prior", DEFAULT_SPREAD)),
        kernel or str(made.get("kernel", DEFAULT_KERNEL)),
    )
    if terrain is None and made and not made.get("profile"):
        terrain = "edge"
    car = vehicle or DRIVER_DEFAULT
    if isinstance(network, str) and isinstance(car, str):
        setting = load_setting(network, car, assumed, terrain)
    else:
        roads = load_network(network) if isinstance(network, str) else network
        car = load_vehicle(car) if isinstance(car, str) else car
        setting = Setting(on_terrain(roads, terrain), car, assumed)
    if vehicle is None and "vehicle" in made:
        setting = Setting(
            setting.network, Vehicle(**made["vehicle"], **made.get("charging", {})), assumed
        )
    model, options = _method_of(made, model, options or {})
    given = {"prior": prior, "kernel": kernel}
    fresh = _before_trips(model, options, setting, [name for name, value in given.items() if value])
    measured = Measured()
    if table is not None:
        given_name = {vehicle, Path(vehicle).stem} if isinstance(vehicle, str) else set()
        by_edges, names = not isinstance(fresh, TripEnergies), given_name | {setting.vehicle.name}
        measured = read_measured(Path(table), setting, names, with_routes=by_edges)
    run = f"{setting.network.name}-learned"
    manifest = {
        "kind": "learned",
        "method": belief.method_of(fresh),
        "prior": assumed.spread,
        "kernel": assumed.kernel,
        "networks": {setting.network.name: setting.network.digest},
        "vehicle": setting.vehicle_numbers,
    }
    if pieces := setting.network.pieces:
        manifest["profile"] = pieces.digest
    if charging := made.get("charging") if made else charging_of(setting.vehicle):
        manifest["charging"] = charging  # a folder keeps its own
    reset = reset and folder.has_manifest
    if not reset:
        folder.open(manifest)
    elif folder.manifest().get("kind") != "learned":
        raise EvrouteError(f"{folder.path} was not made by 'evroute learn'; choose another --out")
    # threads of small products wait for each other
    with folder.locked(WAIT_S), threadpool_limits(1):
        aside = set_aside(folder.path) if reset else None
        if reset:
            folder.write_manifest(manifest)
        folder.open(manifest)  # another process may have made it first
        recorded = read_parts(folder.path, setting.network)
        conflicts = [
            trip.trip
            for trip in measured.trips
            if trip.trip in recorded and not trip.is_same(recorded[trip.trip])
        ]
        if new := [trip for trip in measured.trips if trip.trip not in recorded]:
            new.sort(key=lambda trip: trip.departed_s)
            append_part(folder.path, new, setting.network)
            recorded |= {trip.trip: trip for trip in new}
        expected = _expected(folder.path / "trips.parquet")
        kept = folder.belief_path(run)
        learner = _continued(kept, fresh, setting, list(recorded), list(expected))
        before = learner.trips or 0
        rows: list[dict[str, Any]] = []
        predictions = learn_in_turn(learner, list(recorded.values())[before:])
        for t, trip in enumerate(recorded.values(), start=1):
            prediction = next(predictions) if t > before else {}
            rows.append(
                {"t": t} | (expected.get(trip.trip) or _measured(setting, trip) | prediction)
            )
            if t > before:
                on_progress(t - before, len(recorded) - before)
        columns = dict.fromkeys(name for row in rows for name in row)
        trips = {name: [row.get(name) for row in rows] for name in columns}
        driven = folder.path / "routes" / f"{run}.parquet"
        if before < len(recorded) or not is_readable(driven):
            write_columns(folder.path / "trips.parquet", trips)
            write_columns(driven, _routes(run, recorded.values()))
            belief.save(kept, learner, trips=len(recorded))
    late = set(list(recorded)[before:])
    known = [trip for trip in measured.trips if trip.trip not in late]
    notes = list(measured.notes)
    if conflicts:
        notes.append(
            f"trip '{conflicts[0]}'{' and others' * (len(conflicts) > 1)}: recorded before with "
            "other measurements, which are kept; give new measurements a new id"
        )
    if healed := len(late) - (len(measured.trips) - len(known)):
        notes.append(f"{healed} trips that were recorded before are learned too")
    return Learned(
        folder=folder.path,
        trips=pa.table(trips),
        new=len(late),
        known=len(known),
        conflicts=conflicts,
        skipped=measured.skipped,
        notes=notes,
        aside=aside,
        findings=findings(pa.table(trips), recorded.values(), learner),
    )


def _method_of(
    made: dict[str, Any], model: str | None, options: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return a model and its options: those given, on top of those of a manifest or the default."""
    method = dict(made.get("method", {"model": DEFAULT_MODEL, "physics": "driving"}))
    own = str(method.pop("model"))
    if model not in (None, own if own == DEFAULT_MODEL else None):
        return str(model), options
    return own, {k: v for k, v in method.items() if k != "index"} | options


def _before_trips(
    model: str, options: dict[str, Any], setting: Setting, given: list[str]
) -> LearnedBelief | TripEnergies:
    """Return the belief before any trip; ``given`` names what only models of edges take."""
    if model == trip_energies.MODEL:
        if strange := [*(name for name in options if name != "physics"), *given]:
            raise EvrouteError(
                f"model '{model}' learns whole trips and takes no {strange[0]}; name "
                "another model of 'evroute method list', such as physics+gp"
            )
        return TripEnergies(setting, physics=str(options.get("physics", "eq8")))
    if model not in MODELS:
        known = ", ".join([trip_energies.MODEL, *MODELS])
        raise UnknownNameError(f"unknown model '{model}'; there are {known}")
    return LearnedBelief.before_trips(
        checked_method({"model": model, "index": "greedy"} | options), setting
    )


def _expected(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of ``trips.parquet`` by trip, without their numbers ``t``."""
    if not path.exists():
        return {}
    try:
        return {row["trip"]: row for row in read_columns(path).drop_columns("t").to_pylist()}
    except (OSError, pa.ArrowException, LookupError):
        log.warning("%s is damaged; computing it again from the measured trips", path)
        return {}


def _continued(
    path: Path,
    fresh: LearnedBelief | TripEnergies,
    setting: Setting,
    recorded: list[str],
    expected: list[str],
) -> LearnedBelief | TripEnergies:
    """Return the saved belief, or ``fresh`` if it is damaged or has learned other trips."""
    if not path.exists():
        return fresh
    try:
        learner = belief.continued(path, setting)
    except DamagedFileError as error:
        log.warning("%s; learning its trips again", str(error).partition("; make it again")[0])
        return fresh
    trips = learner.trips or 0
    if trips > len(recorded) or expected[:trips] != recorded[:trips]:
        log.warning("%s has learned other trips than those recorded; learning these again", path)
        return fresh
    return learner


def _routes(run: str, trips: Iterable[MeasuredTrip]) -> dict[str, Any]:
    """Return the columns of the table with a row per edge driven."""
    driven = [
        (t, *passage)
        for t, trip in enumerate(trips, start=1)
        if trip.routes == 1
        for passage in zip(trip.edge, trip.energy_wh, trip.travel_s, strict=True)
    ]
    names = ("t", "edge", "observed_wh", "travel_s")
    table = {name: [passage[k] for passage in driven] for k, name in enumerate(names)}
    return {"run": [run] * len(driven)} | table


def _measured(setting: Setting, trip: MeasuredTrip) -> dict[str, Any]:
    """Return the columns of a trip that do not depend on the belief."""
    network, edge = setting.network, trip.edge
    return {
        "trip": trip.trip,
        "departed_s": trip.departed_s,
        "edges": len(edge) // trip.routes,
        "length_m": float(network.length_m[edge].sum()) / trip.routes,
        "climb_m": float(network.ascent_m[edge].sum()) / trip.routes,
        "descent_m": float(network.descent_m[edge].sum()) / trip.routes,
        "travel_s": float(trip.travel_s.sum()),
        "energy_wh": float(trip.energy_wh.sum()),
        "eq8_wh": float(setting.edges.reference.prior_mean_wh[edge].sum()) / trip.routes,
    }
