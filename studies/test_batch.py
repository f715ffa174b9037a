"""Batches on one belief: requests per second and core, by networkx and by evroute."""

from time import process_time
from typing import Any

import networkx as nx
import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.planning.weights import WEIGHT_RULES

REQUESTS, BY_NETWORKX = 1000, 40


@pytest.mark.data
@pytest.mark.benchmark(group="1,000 requests on one belief, Luxembourg")
@pytest.mark.parametrize("ends", [1000, 100, 10], ids=lambda n: f"{n} origins")
def test_a_batch_of_requests(benchmark: Any, luxembourg: RoadNetwork, ends: int) -> None:
    """Goal: 2,000 requests per second and core, 20 times those of networkx."""
    planner = Planner(luxembourg, load_vehicle("reference"), physics="eq8")
    rng = np.random.default_rng(0)
    origin = rng.choice(luxembourg.n_edges, ends, replace=False)[np.arange(REQUESTS) % ends]
    destination = (origin + rng.integers(1, luxembourg.n_edges, size=REQUESTS)) % luxembourg.n_edges
    prior = planner.prior
    weights = WEIGHT_RULES["potential"](prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(luxembourg.n_edges))
    graph.add_weighted_edges_from((a, b, float(weights[b])) for a, b in luxembourg.turns.tolist())
    costs, started = [], process_time()
    for request in zip(
        origin[:BY_NETWORKX].tolist(), destination[:BY_NETWORKX].tolist(), strict=True
    ):
        try:
            costs.append(nx.dijkstra_path_length(graph, *request))
        except nx.NetworkXNoPath:
            costs.append(np.nan)
    by_networkx = BY_NETWORKX / (process_time() - started)
    took = []

    def answer() -> Any:
        started = process_time()
        told = planner.energies(origin, destination)
        took.append(process_time() - started)
        return told

    told = benchmark.pedantic(answer, rounds=5, warmup_rounds=1)
    per_second = REQUESTS / float(np.median(took))
    benchmark.extra_info |= {"per_s": round(per_second), "networkx_per_s": round(by_networkx)}
    print(
        f"{ends} origins: {per_second:.0f}/s, networkx {by_networkx:.0f}/s, "
        f"{per_second / by_networkx:.1f} times"
    )
    edges = [told.edges(i) for i in range(BY_NETWORKX)]
    ours = [weights[rows[1:]].sum() if len(rows) else np.nan for rows in edges]
    np.testing.assert_allclose(ours, costs, atol=1e-6 + told.within_wh.max())
