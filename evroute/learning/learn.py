"""Learning from trips that a user has measured: a belief to plan with, and what it expected of each trip before.

The folder is one that ``evroute route --belief`` plans with; its only run is called
``NETWORK-learned``::

    manifest.json       what was asked for
    trips.parquet       one row per trip, in the order learned: `Learned.trips`
    routes/RUN.parquet  one row per edge driven: run, t, edge (network row), observed_wh, travel_s
    beliefs/RUN.npz     what was learned, and from how many of these trips; written last

A run that was interrupted is continued from the belief: rows beyond what it has learned are
dropped.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import default_rng
from scipy.special import ndtri

from evroute.arms import Round, Route
from evroute.energy.prior import DEFAULT_SPREAD
from evroute.energy.vehicle import DEFAULT as DEFAULT_VEHICLE
from evroute.errors import EvrouteError
from evroute.files import replacing
from evroute.folder import Folder
from evroute.learning import belief
from evroute.learning.measured import MeasuredTrip, read_measured
from evroute.learning.saving import Saving, about, savings
from evroute.methods.method import checked_method, make_model, make_space
from evroute.methods.setting import Setting, load_setting
from evroute.model.base import EnergyModel, HasJoint
from evroute.planning.forecast import INTERVAL_LEVEL, forecast_arms
from evroute.planning.turn_belief import TurnBelief
from evroute.policy.conformal import AdaptiveConformal

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_MODEL = "physics+gp"


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of learning a table.

    trips: of the whole folder, one row each: t, trip, departed_s, edges, length_m, travel_s (NaN
    where not wholly measured), energy_wh (measured), predicted_wh and predicted_sd_wh (expected
    before the trip was learned, the deviation with noise), eq8_wh.  new: how many of them, the last
    ones, this table brought.
    known: trips of the table that the folder had learned already.  skipped: trips set aside and
    why.  notes: what else was left out.
    saving: what planning on the belief is expected to save on all trips, against what was driven
    and eq. 8's routes.
    """

    folder: Path
    trips: "pa.Table"
    new: int
    known: int
    skipped: dict[str, str]
    notes: Sequence[str]
    saving: dict[str, Saving]

    @property
    def verdict(self) -> str:
        """How far off what was expected of the new trips was, belief against eq. 8, and how often intervals held."""
        named = ("energy_wh", "predicted_wh", "predicted_sd_wh", "eq8_wh")
        last = self.trips.slice(self.trips.num_rows - self.new)
        energy_wh, predicted_wh, std_wh, eq8_wh = (
            np.array(last[name].to_numpy()) for name in named
        )
        off_wh = np.abs(predicted_wh - energy_wh)
        total_wh = np.abs(energy_wh).sum()
        told = f"off on average by {off_wh.sum() / total_wh:.1%} of the energy, eq. 8 by "
        told += f"{np.abs(eq8_wh - energy_wh).sum() / total_wh:.1%}"
        if np.isfinite(std_wh).all():
            held = off_wh <= ndtri(0.5 + INTERVAL_LEVEL / 2) * std_wh
            told += f"; {INTERVAL_LEVEL:.0%} intervals held {int(held.sum())} of {len(held)} trips"
        return told


def learn(
    table: str | Path,
    out: str | Path,
    *,
    network: str = "denver",
    vehicle: str = DEFAULT_VEHICLE,
    model: str = DEFAULT_MODEL,
    options: dict[str, Any] | None = None,
    prior: str = DEFAULT_SPREAD,
    reset: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    """Learn the trips of a table, on top of what the folder ``out`` has learned already.

    Parameters
    ----------
    table
        CSV or Parquet, by edges (`measured.EDGE_COLUMNS`) or by GPS points (`gps.COLUMNS`).
    out
        The folder: new, empty, or made with the same network, vehicle and model.
    network, vehicle, prior
        Names or files.
    model, options
        One of `parts.MODELS`, and its options; ``arms="turns"`` and ``learn_speeds=True`` go with
        them.
    reset
        Forget what the folder has learned.
    on_progress
        Hears the trips learned and the trips to learn.

    Raises
    ------
    EvrouteError
        If the table cannot be read or no trip of it can be used, or the folder belongs to something
        else; the folder then still is what it was.
    """
    setting = load_setting(network, vehicle, prior)
    method = checked_method({"model": model, "index": "greedy"} | (options or {}))
    learner = make_model(method, setting, {"prior_factor": None, "rng": default_rng(0)})
    if space := make_space(method, setting):
        learner = TurnBelief(learner, space, setting.arms)
    measured = read_measured(
        Path(table), setting, {vehicle, Path(vehicle).stem, setting.vehicle.name}
    )
    folder, run = Folder(Path(out)), f"{setting.network.name}-learned"
    manifest = {
        "kind": "learned",
        "method": method.model_dump(exclude_none=True),
        "prior": prior,
        "networks": {setting.network.name: setting.network.digest},
        "vehicle": setting.vehicle_numbers,
    }
    if reset and (folder.path / "manifest.json").exists():
        if folder.manifest().get("kind") != "learned":
            raise EvrouteError(
                f"{folder.path} was not made by 'evroute learn'; choose another --out"
            )
        with replacing(folder.path / "manifest.json") as temporary:
            temporary.write_text(
                json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    else:
        folder.open(manifest)
    kept, driven = folder.belief_path(run), folder.path / "routes" / f"{run}.parquet"
    conformal, trips, routes = AdaptiveConformal(), _Rows(), _Rows()
    if not reset and kept.exists():
        learner, conformal, n_learned = belief.continued(kept, setting)
        trips, routes = (
            _Rows.read(folder.path / "trips.parquet", n_learned),
            _Rows.read(driven, n_learned),
        )
    have = set(trips.columns.get("trip", ()))
    new = [trip for trip in measured.trips if trip.trip not in have]
    before = len(have)
    for t, trip in enumerate(new, start=before + 1):
        told = {"t": t} | _foretold(learner, trip, setting)
        trips.add([told])
        conformal.update(
            told["predicted_wh"], told["predicted_sd_wh"], told["energy_wh"], conformal.multipliers
        )
        learner.update(trip.feedback(setting))
        passages = zip(
            trip.edge.tolist(), trip.energy_wh.tolist(), trip.travel_s.tolist(), strict=True
        )
        routes.add(
            {"run": run, "t": t, "edge": e, "observed_wh": y, "travel_s": s} for e, y, s in passages
        )
        on_progress(t - before, len(new))
    if new or reset:
        trips.write(folder.path / "trips.parquet")
        routes.write(driven)
        belief.save(
            kept,
            learner,
            method=method,
            setting=setting,
            conformal=conformal,
            trips=before + len(new),
        )
    return Learned(
        folder=folder.path,
        trips=trips.table(),
        new=len(new),
        known=len(measured.trips) - len(new),
        skipped=measured.skipped,
        notes=measured.notes,
        saving=savings(learner, routes_of(routes.columns), setting),
    )


def routes_of(columns: dict[str, list[Any]]) -> list[Route]:
    """Return the routes of a table with a row per edge driven, in the order of its trips."""
    edges: dict[int, list[int]] = {}
    for t, edge in zip(columns.get("t", ()), columns.get("edge", ()), strict=True):
        edges.setdefault(t, []).append(edge)
    return [Route(tuple(each)) for each in edges.values()]


def _foretold(model: EnergyModel, trip: MeasuredTrip, setting: Setting) -> dict[str, Any]:
    """Return a trip's row: what it took, and what was expected of it before it is learned."""
    edge = trip.edge
    learner, space = about(model, setting)
    route = Route(tuple(edge.tolist()))
    request = Round(1, setting.arms, route.edges[0], route.edges[-1])
    arms, passed = space.arms(request), space.arms_of_route(request, route)
    if isinstance(learner, HasJoint):
        told = forecast_arms(learner, arms, passed)
        mean_wh, std_wh = told.mean_wh, told.std_wh
    else:
        distinct, place = np.unique(passed, return_inverse=True)
        mean_wh, std_wh = (
            float(learner.posterior(arms.take(distinct)).mean_wh[place].sum()),
            float("nan"),
        )
    return {
        "trip": trip.trip,
        "departed_s": trip.departed_s,
        "edges": len(edge),
        "length_m": float(setting.network.length_m[edge].sum()),
        "travel_s": float(trip.travel_s.sum()),
        "energy_wh": float(trip.energy_wh.sum()),
        "predicted_wh": mean_wh,
        "predicted_sd_wh": std_wh,
        "eq8_wh": float(setting.prior.mean_wh[edge].sum()),
    }


class _Rows:
    """A table that grows by rows."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {}

    @classmethod
    def read(cls, path: Path, trips: int) -> "_Rows":
        """Read the rows of the first ``trips`` trips."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        from evroute.tables import check_size

        rows = cls()
        try:
            check_size(path)
            stored = pq.read_table(path)
        except (pa.ArrowException, OSError):
            raise EvrouteError(f"{path} is unreadable; learn anew with --reset") from None
        rows.columns = stored.filter(pc.less_equal(stored["t"], trips)).to_pydict()
        return rows

    def add(self, rows: Any) -> None:
        for row in rows:
            for name, value in row.items():
                self.columns.setdefault(name, []).append(value)

    def table(self) -> "pa.Table":
        import pyarrow as pa

        return pa.table(self.columns)

    def write(self, path: Path) -> None:
        import pyarrow.parquet as pq

        with replacing(path) as temporary:
            pq.write_table(self.table(), temporary)
