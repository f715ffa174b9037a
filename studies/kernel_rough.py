"""Both weights of the turns on rough roads, in Wh (`docs/figures/kernel.md`).

    python studies/kernel_rough.py 24    # worlds

Worlds of `rough` on Denver from seed `FIRST_WORLD` on, with random trips, in which GP-TS learns
arms on turns with the kernel as it is and with equal weights of all turns.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from unittest.mock import patch
from zlib import crc32

import numpy as np
from scipy.sparse import csc_matrix

from evroute.arrays import FloatArray
from evroute.energy.defaults import PAPER_VEHICLE
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.play import run_loop
from evroute.experiments.runs import Run
from evroute.methods.method import Method
from evroute.methods.setting import load_setting
from evroute.network.line_graph import LineGraph
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.world import load_world

METHOD = Method(model="exact", index="ts", arms="turns", learn_speeds=True)
FIRST_WORLD, TRIPS, LAST, TRIP = 3810, 150, 50, "random 3-6 km"


def saved_wh(seed: int) -> FloatArray:
    """Return the energy saved against the eq. 8 route on each trip of a world, Wh."""
    run = Run(
        "denver",
        TRIP,
        METHOD,
        "potential-rectified",
        seed,
        TRIPS,
        PAPER_VEHICLE,
        load_world("rough"),
    )
    setting = load_setting(run.network, run.vehicle, run.assumed)
    key = crc32(setting.network.name.encode()), crc32(TRIP.encode())
    worlds, policies, models, trips, _ = np.random.SeedSequence(seed, spawn_key=key).spawn(5)
    world = run.world.build(setting, load_demand(TRIP, setting, trips), worlds)
    agents = {"": make_learners(run, ("",), policies, models)[""].agent}
    log = run_loop(agents, world, make_scorers(run, ("",)), horizon=TRIPS, on_round=lambda t: None)
    return log.rounds["eq8_wh"] - log.rounds["true_wh"]


def saved_by_worlds(seeds: range, *, equal: bool) -> FloatArray:
    """Return the energy saved by world and trip, (k, TRIPS) Wh; equal: by equal weights."""
    weighted = LineGraph.laplacian

    def laplacian(graph: LineGraph, length_m: FloatArray) -> csc_matrix:
        return weighted(graph, np.ones_like(length_m) if equal else length_m)

    with patch.object(LineGraph, "laplacian", laplacian):
        return np.array([saved_wh(seed) for seed in seeds])


def main(worlds: int) -> None:
    """Print the energy that GP-TS saves with both weights of the turns."""
    seeds = range(FIRST_WORLD, FIRST_WORLD + worlds)
    saved = []
    for equal in (False, True):  # a process each, because kernels are cached
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            saved.append(process.submit(saved_by_worlds, seeds, equal=equal).result())
    ours, theirs = saved
    for name, of in (("all trips", slice(None)), (f"last {LAST}", slice(-LAST, None))):
        more = (theirs - ours)[:, of].mean(axis=1)
        print(
            f"{name}: saves {ours[:, of].mean():.2f} Wh a trip, with equal weights "
            f"{theirs[:, of].mean():.2f}; difference {more.mean():+.2f} ± "
            f"{1.96 * more.std(ddof=1) / np.sqrt(worlds):.2f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
