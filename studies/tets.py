"""TETS, Thompson sampling on an ensemble of trees, beside the Gaussian process on Luxembourg.

    pip install ".[benchmarks,report]"
    python studies/tets.py runs/tets pairs named prior turns
    python studies/tets.py runs/tets turns runs/carry-luxembourg

The first argument is the folder of the runs; then the parts to run and tabulate, or folders of
finished runs.

Source: Nilsson, Johansson, Åkerblom & Haghir Chehreghani, *Tree Ensembles for Contextual Bandits*,
arXiv 2402.06963, and a public program of the method (class ``BernoulliXGBoostTSAgent``).
Gradient-boosted trees are fitted to the measured energies of edges. A tree contributes its leaf
value with variance ``s² / c``: the sample variance of the residuals in the leaf over their number,
both after the learning rate. Sums over the trees are mean and variance of an edge, and the index is
an independent draw for each edge. The trees are grown again when ``ceil(8 ln t)`` increases, and
other trips update the sums of their leaves. Trees, depth, learning rate, penalty and least leaf
are the defaults of the program.

Departures: LightGBM grows the trees instead of XGBoost; no gain is required of a split; trees are
fitted to the difference from eq. 8, which every model here knows; the first ten trips, random in
the program, are draws from the prior deviation of each edge. ``first_trips = 1`` starts with the
trees after one trip.
"""

import math
import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.methods.parts import MODELS
from evroute.model.base import EnergyModel, ModelOptions, ModelSetting, State
from evroute.report.charts.mean_interval import half_interval
from evroute.report.results import read_rounds, read_timings

N_TREES, N_LEAVES, RATE, PENALTY, REGROWTHS = 100, 1024, 0.3, 1.0, 8
"""Trees, leaves of a tree at most, learning rate, penalty of leaf values, and regrowths for each
factor e of the trips."""
TREES = {
    "objective": "regression",
    "learning_rate": RATE,
    "lambda_l2": PENALTY,
    "max_depth": 10,
    "num_leaves": N_LEAVES,
    "min_data_in_leaf": 2,
    "min_data_in_bin": 1,
    "boost_from_average": False,
    "feature_pre_filter": False,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 0,
    "verbose": -1,
}
LAST, LOSES = 50, 0.005
WORLD = ["trip", "world", "seed"]
TETS: dict[str, Any] = {"model": "tets", "index": "ts", "variance_scale": 1.0}
EDGES: list[Any] = [
    TETS,
    TETS | {"first_trips": 1},
    "gp-ts",
    {"model": "exact", "index": "greedy"},
    {"model": "factor", "index": "greedy", "factor_std": 1e-6},
]
PAIR = "random pair 3-7 km"
PARTS: dict[str, dict[str, Any]] = {
    "pairs": {"trip": PAIR, "world": ["rough"], "seeds": 30, "methods": EDGES},
    "named": {
        "trip": ("A", "B"),
        "world": ["rough", "sampled-gp"],
        "seeds": 3,
        "methods": EDGES,
    },
    "prior": {"trip": PAIR, "world": ["sampled-gp"], "seeds": 10, "methods": EDGES},
    "turns": {
        "trip": PAIR,
        "world": ["rough"],
        "seeds": 30,
        "methods": [TETS | {"first_trips": 1, "arms": "turns", "learn_speeds": True}],
    },
}
"""Trips, worlds, seeds and methods of each part; 200 trips a run on Luxembourg."""


class Ensemble:
    """Boosted trees with the sums of the residuals in each leaf.

    Parameters
    ----------
    x
        (m, d) contexts.
    residual_wh
        (m,) measured energy minus eq. 8, Wh.
    """

    def __init__(self, x: FloatArray, residual_wh: FloatArray) -> None:
        data = lightgbm.Dataset(x, residual_wh, params=TREES)
        self._trees = lightgbm.train(TREES, data, num_boost_round=N_TREES)
        self._sums = np.zeros((3, N_TREES * N_LEAVES))
        self.add(self.leaves(x), residual_wh)

    def leaves(self, x: FloatArray) -> IntArray:
        """Return the leaf of each context (m, d) in each of k trees, (m, k), among all leaves."""
        leaf = self._trees.predict(x, pred_leaf=True, num_threads=1)
        found: IntArray = np.asarray(leaf, dtype=np.int32)
        return found + N_LEAVES * np.arange(found.shape[1], dtype=np.int32)

    def add(self, leaves: IntArray, residual_wh: FloatArray) -> None:
        """Add measurements to their leaves, tree by tree.

        Parameters
        ----------
        leaves
            (m, k) leaf of each measurement in each tree, from `leaves`.
        residual_wh
            (m,) measured energy minus eq. 8, Wh.
        """
        left = residual_wh.copy()
        for leaf in leaves.T:
            for total, power in zip(self._sums, (1.0, left, left**2), strict=True):
                np.add.at(total, leaf, power)
            left -= self._values(leaf)

    def _values(self, leaf: IntArray | slice = slice(None)) -> FloatArray:
        """Return the value of each leaf, Wh: the shrunk sum of its residuals."""
        values: FloatArray = RATE * self._sums[1, leaf] / (self._sums[0, leaf] + PENALTY)
        return values

    def moments(self, leaves: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the expected residuals, (m,) Wh and (m,) Wh²."""
        count, first, second = self._sums
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = (second - first**2 / count) / (count - 1) / count
        variance_wh2 = RATE**2 * np.where(count > 1, np.maximum(spread, 0.0), 0.0)
        return self._values()[leaves].sum(axis=1), variance_wh2[leaves].sum(axis=1)


class TreeEnsemble(EnergyModel):
    """Belief about the energy of arms by an ensemble of trees on their contexts.

    Parameters
    ----------
    prior_std_wh
        (a,) deviations of the arms before the first tree, Wh.
    noise_std_wh
        (a,) deviation of one measurement, Wh.
    first_trips
        Trips driven before the first tree.
    """

    def __init__(
        self, prior_std_wh: FloatArray, noise_std_wh: FloatArray, first_trips: int
    ) -> None:
        self._prior_std_wh, self._noise_std_wh = prior_std_wh, noise_std_wh
        self._first_trips = first_trips
        self._trips: list[tuple[FloatArray, FloatArray]] = []
        self._ensemble: Ensemble | None = None
        self._leaves = np.zeros((len(prior_std_wh), N_TREES), dtype=np.int32)
        self._x = np.empty((len(prior_std_wh), 0))

    def posterior(self, arms: Arms) -> Belief:
        """Return mean and deviation of each arm, (a,) Wh each."""
        if self._ensemble is None:
            return Belief(arms.prior_mean_wh, self._prior_std_wh[arms.id])
        if self._x.shape[1] != arms.features.shape[1]:
            self._x = np.full((len(self._x), arms.features.shape[1]), np.nan)
        stale = np.any(self._x[arms.id] != arms.features, axis=1)
        if stale.any():
            rows = arms.id[stale]
            self._x[rows] = arms.features[stale]
            self._leaves[rows] = self._ensemble.leaves(self._x[rows])
        mean_wh, variance_wh2 = self._ensemble.moments(self._leaves[arms.id])
        return Belief(arms.prior_mean_wh + mean_wh, np.sqrt(variance_wh2))

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std_wh[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Learn one trip: grow the trees again, or add it to its leaves."""
        self._learn(feedback.features, feedback.energy_wh - feedback.prior_mean_wh)

    def _learn(self, x: FloatArray, residual_wh: FloatArray) -> None:
        self._trips.append((x, residual_wh))
        t = len(self._trips)
        if t < self._first_trips:
            return
        if self._ensemble is None or grows(t):
            self._ensemble = Ensemble(*map(np.concatenate, zip(*self._trips, strict=True)))
            self._x[:] = np.nan
        else:
            self._ensemble.add(self._ensemble.leaves(x), residual_wh)

    def state(self) -> State:
        """Return contexts, residuals and lengths of all trips."""
        x, residual_wh = zip(*self._trips, strict=True) if self._trips else ((), ())
        return {
            "x": np.concatenate(x) if x else np.empty((0, 0)),
            "residual_wh": np.concatenate(residual_wh) if x else np.empty(0),
            "length": np.array([len(trip) for trip in x], dtype=np.int64),
        }

    def restore(self, state: State) -> None:
        """Learn the trips of a state anew."""
        self._trips, self._ensemble = [], None
        ends = np.cumsum(state["length"])[:-1]
        if len(state["length"]):
            for x, residual_wh in zip(
                np.split(state["x"], ends), np.split(state["residual_wh"], ends), strict=True
            ):
                self._learn(x, residual_wh)


def grows(t: int) -> bool:
    """Return whether the trees are grown again after trip ``t``."""
    return t == 1 or math.ceil(REGROWTHS * math.log(t)) > math.ceil(REGROWTHS * math.log(t - 1))


class TreeEnsembleOptions(ModelOptions):
    """Boosted trees on the contexts of arms (TETS)."""

    label = "TE"

    first_trips: int = Field(default=10, ge=1, description="trips driven before the first tree")

    def build(self, setting: ModelSetting, rng: Generator) -> TreeEnsemble:
        """Return the model before any trip."""
        std_wh = np.sqrt(setting.prior_variance_wh2)
        return TreeEnsemble(std_wh, setting.noise_std_wh, self.first_trips)


MODELS["tets"] = "tets:TreeEnsembleOptions"


def run(part: str, out: Path) -> Path:
    """Drive the missing runs of a part and return its folder."""
    fields = dict(PARTS[part])
    trips = fields.pop("trip")
    experiment = Experiment(
        trips={"luxembourg": (trips,) if isinstance(trips, str) else trips}, horizon=200, **fields
    )
    return simulate(experiment, out / part).path


def table(paths: list[Path]) -> pd.DataFrame:
    """Return a row for each world, trip and method: regret, Wh a trip against eq. 8, milliseconds.

    ``vs GP-TS`` is the paired difference from Thompson sampling on the exact Gaussian process with
    the same arms in the last 50 trips, and half its 95 % interval over the worlds.
    """
    rounds = pd.concat([read_rounds(RunFolder(path)) for path in paths])
    seconds = pd.concat([read_timings(RunFolder(path)) for path in paths])
    rounds = rounds.merge(seconds[["run", "t", "ms"]], on=["run", "t"])
    rounds["lost_wh"] = rounds["true_wh"] - rounds["eq8_wh"]
    last = rounds[rounds["t"] > rounds["t"].max() - LAST]
    ends = last.groupby(["method", *WORLD])[["lost_wh", "eq8_wh"]].mean()
    rows = []
    for (world, trip, method), group in rounds.groupby(["world", "trip", "method"], sort=False):
        by_world = group.groupby(WORLD)
        regret_wh, end = by_world["regret_wh"].sum(), ends.loc[method].loc[by_world.groups.keys()]
        gp = "GP-TS turns with speeds" if "turns" in method else "GP-TS"
        apart_wh = np.full(len(end), np.nan)
        if gp in ends.index:
            apart_wh = (end["lost_wh"] - ends.loc[gp]["lost_wh"].reindex(end.index)).to_numpy()
        rows.append(
            {
                "world": world,
                "trip": trip,
                "method": method,
                "worlds": len(regret_wh),
                "regret, median (Wh)": regret_wh.median(),
                "quartiles": "{:.0f} to {:.0f}".format(*regret_wh.quantile([0.25, 0.75])),
                "worst": regret_wh.max(),
                "vs eq. 8, median (Wh)": end["lost_wh"].median(),
                "mean": end["lost_wh"].mean(),
                "worst, last 50": end["lost_wh"].max(),
                "loses (%)": 100 * (end["lost_wh"] >= LOSES * end["eq8_wh"].abs()).mean(),
                "vs GP-TS (Wh)": apart_wh.mean(),
                "± 95 %": half_interval(apart_wh, 0.95),
                "all trips (kWh)": by_world["lost_wh"].sum().mean() / 1000,
                "ms": group["ms"].median(),
            }
        )
    return pd.DataFrame(rows)


def main(out: str, parts: list[str]) -> None:
    """Run parts and print the table of their runs and of other folders."""
    folders = [run(part, Path(out)) if part in PARTS else Path(part) for part in parts]
    print(table(folders).round(1).to_string())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
