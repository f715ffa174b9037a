"""The figures of docs/figures/scale.md, "Many requests by a contraction hierarchy".

    python studies/cch_figures.py luxembourg
    python studies/cch_figures.py region

Random requests, CPU time of one process with one BLAS thread, on both physics. ``EVROUTE_DATA_DIR``
names the data folder; ``test_scale.write_region`` writes the sources of ``region``.
"""

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from routingkit_cch import CCHQuery
from threadpoolctl import threadpool_limits

from evroute.energy.defaults import KINDS_OF_PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.network import contraction
from evroute.network.catalog import load_network
from evroute.planning import planner
from evroute.planning.searches import least_energies
from evroute.planning.searches.cch import Contracted

REQUESTS, SEARCHED, REPEATS = 3000, 200, 5


def seconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median CPU time of a function, s."""
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return float(np.median(times))


def measure(name: str, physics: str) -> None:
    """Print the times of a hierarchy, and the rates of its answers and of single searches."""
    network = load_network(name).with_tables({"cch": {}})
    plans = planner.Planner(network, load_vehicle("reference"), physics=physics)
    rng = np.random.default_rng(0)
    origin = rng.integers(network.n_edges, size=REQUESTS)
    destination = (origin + rng.integers(1, network.n_edges, size=REQUESTS)) % network.n_edges
    weights = plans.problem(()).weights()
    order_s = seconds(lambda: contraction.order_tables(network), 1)
    stored = network.with_tables(contraction.order_tables(network))
    build_s = seconds(lambda: contraction.hierarchy(stored), 1)
    costs_s = seconds(lambda: Contracted(stored, plans.search, weights))
    query = CCHQuery(plans.least_energies._contracted(0.0)._metric)
    ends = list(zip(origin.tolist(), destination.tolist(), strict=True))
    distance_s = seconds(lambda: [query.run(*each).distance for each in ends]) / REQUESTS
    plans.energies(origin, destination)
    path_s = seconds(lambda: plans.energies(origin, destination)) / REQUESTS
    least_energies.pays = lambda *_, built: False  # type: ignore[assignment]
    few = origin[:SEARCHED], destination[:SEARCHED]
    plans.energies(*few)
    search_s = seconds(lambda: plans.energies(*few), 1) / SEARCHED
    print(
        f"| {name}, {network.n_edges} edges | `{physics}` | {order_s:.2f} | {build_s:.3f} | "
        f"{costs_s:.3f} | {1 / distance_s:,.0f} | {1 / path_s:,.0f} | {1 / search_s:,.0f} |"
    )


if __name__ == "__main__":
    pays = least_energies.pays
    with threadpool_limits(1):
        for physics in KINDS_OF_PHYSICS:
            least_energies.pays = pays
            measure(sys.argv[1], physics)
