"""Final routes and eq. 8 routes, driven again by SUMO with equal seeds (docs/figures/sumo.md).

    python studies/sumo_redrive.py data/experiments/worlds-sumo.toml runs/worlds-sumo

A method's final route is the one that it drove most often in its last 50 trips. Both routes are
driven 20 times, by the same drivers in the same lights, none of which any run has met. Printed are,
by world, trip and seed, in Wh per trip against the eq. 8 route: the mean of the last 50 trips by
the world's truth, and the final route re-driven with half a 95 % interval of its paired mean. Needs
``evroute[sumo]`` and ``EVROUTE_DATA_DIR``.
"""

import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow.parquet as pq
from numpy.random import SeedSequence
from scipy.stats import t as student

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.experiments.experiment import load_experiment
from evroute.experiments.runs import Run, RunFolder
from evroute.methods.setting import load_setting
from evroute.planning.weights import potential
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.environment import Environment

LAST, DRIVES, FIRST_ROUND = 50, 20, 1_000_000


class Course:
    """One trip in one world of one seed; every route is driven once for each driver."""

    def __init__(self, run: Run) -> None:
        self.setting = setting = load_setting(run.network, run.vehicle, run.assumed)
        names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
        world_seeds, _, _, trip_seeds, _ = SeedSequence(run.seed, spawn_key=names).spawn(5)
        self.world: Environment = run.world.build(
            setting, load_demand(run.trip, setting, trip_seeds), world_seeds
        )
        self.request = self.world.observe(1)
        weights = potential(
            setting.arms.prior_mean_wh, np.zeros(len(setting.arms)), setting.potential_wh
        )
        self.eq8 = setting.search.route(weights, self.request.origin, self.request.destination)
        self._driven: dict[Route, FloatArray] = {}

    def drives(self, route: Route) -> FloatArray:
        """Return what a route took in each drive, (`DRIVES`,) Wh."""
        if route not in self._driven:
            requests = [replace(self.request, t=FIRST_ROUND + i) for i in range(DRIVES)]
            self._driven[route] = np.array(
                [self.world.drive(each, route).energy_wh.sum() for each in requests]
            )
        return self._driven[route]


def final_route(folder: RunFolder, run: Run) -> Route:
    """Return the route that a run drove most often in its last trips."""
    table = pq.read_table(folder.path / "routes" / f"{run.name}.parquet").to_pandas()
    routes = (
        table[table["t"] > run.horizon - LAST]
        .groupby("t")["edge"]
        .apply(lambda edges: tuple(edges.tolist()))
    )
    return Route(Counter(routes).most_common(1)[0][0])


def main(experiment: Path, path: Path) -> None:
    """Print a line for each run and one for each method in each world and trip."""
    folder = RunFolder(path)
    courses: dict[tuple[str, str, int], Course] = {}
    cells = defaultdict(list)
    print(
        "| world | trip, seed | method | eq. 8 Wh | best | last 50 trips | final route, re-driven "
        "| driver's sd |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for run in load_experiment(experiment).runs():
        part = folder.path / "parts" / f"{run.name}.parquet"
        if not part.is_file():
            continue
        key = run.world.label, run.trip, run.seed
        if key not in courses:
            courses[key] = Course(run)
        course = courses[key]
        rounds = pq.read_table(part).to_pandas().tail(LAST)
        lost = float((rounds["true_wh"] - rounds["eq8_wh"]).mean())
        headroom = float((rounds["best_wh"] - rounds["eq8_wh"]).mean())
        eq8_wh = course.drives(course.eq8)
        difference = course.drives(final_route(folder, run)) - eq8_wh
        half = student.ppf(0.975, DRIVES - 1) * difference.std(ddof=1) / np.sqrt(DRIVES)
        print(
            f"| {key[0]} | {run.trip}, {run.seed} | {run.method.label} | {eq8_wh.mean():.0f} | "
            f"{headroom:+.1f} "
            f"| {lost:+.1f} | {difference.mean():+.1f} ± {half:.1f} | {eq8_wh.std(ddof=1):.0f} |",
            flush=True,
        )
        cells[run.method.label, key[0], run.trip].append((lost, difference.mean(), half))
    print("\n| method | world, trip | last 50 trips | re-driven | clearly less, clearly more |")
    print("| --- | --- | --- | --- | --- |")
    for (label, world, trip), values in cells.items():
        lost, mean, half = np.array(values).T
        print(
            f"| {label} | {world}, {trip} | {lost.mean():+.1f} | {mean.mean():+.1f} "
            f"| {(mean < -half).sum()}, {(mean > half).sum()} of {len(values)} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
