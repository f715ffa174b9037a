"""The compiled search from both ends: scipy's costs, whichever weights."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.network.catalog import load_network
from evroute.network.line_graph import LineGraph
from evroute.planning import batch
from evroute.planning.search import Search

pytest.importorskip("numba")


@pytest.fixture(scope="module")
def line_graph() -> LineGraph:
    return LineGraph.from_network(load_network("denver"))


def weights_of(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    if kind == "whole":  # with ties, and edges that cost nothing
        return rng.integers(4, size=n).astype(float)
    weights = rng.exponential(size=n)
    if kind == "closed":
        weights[rng.random(n) < 0.3] = np.inf
    return weights


@pytest.mark.parametrize("kind", ["real", "whole", "closed"])
def test_every_route_is_legal_and_costs_what_scipy_says(line_graph: LineGraph, kind: str) -> None:
    n, rng = line_graph.n_edges, np.random.default_rng(0)
    weights = weights_of(kind, n)
    search = Search(line_graph).two_sided(weights)
    turns = set(zip(line_graph.source.tolist(), line_graph.indices.tolist(), strict=True))
    entered = csr_matrix(
        (weights[line_graph.indices], line_graph.indices, line_graph.indptr), shape=(n, n)
    )
    origins = rng.choice(n, 30, replace=False)
    costs = dijkstra(entered, indices=origins)
    lost = 0
    for origin, cost in zip(origins.tolist(), costs, strict=True):
        for destination in rng.choice(n, 30, replace=False).tolist():
            route = search.route(origin, destination)
            if not np.isfinite(cost[destination]):
                assert len(route) == 0
                lost += 1
                continue
            assert (route[0], route[-1]) == (origin, destination)
            assert turns.issuperset(pairwise(route.tolist()))
            assert weights[route[1:]].sum() == pytest.approx(cost[destination], abs=1e-9)
    assert (lost > 0) == (kind == "closed")


@pytest.mark.parametrize("weight", [1.0, 1e-6, 0.0])
def test_a_route_to_where_one_is_has_one_edge(line_graph: LineGraph, weight: float) -> None:
    search = Search(line_graph).two_sided(np.full(line_graph.n_edges, weight))
    assert search.route(7, 7).tolist() == [7]


def test_negative_weights_are_refused(line_graph: LineGraph) -> None:
    with pytest.raises(ValueError, match="search weights must be numbers >= 0"):
        Search(line_graph).two_sided(np.full(line_graph.n_edges, -1.0))


def test_a_batch_costs_the_same_without_numba(
    line_graph: LineGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, rng = line_graph.n_edges, np.random.default_rng(1)
    weights, ends = rng.exponential(size=n), rng.permutation(n)[:80].reshape(2, 40)
    search = Search(line_graph)

    def costs() -> np.ndarray:
        edge, start = batch.cheapest(search, weights, *ends)
        return batch.summed(weights, edge, start)

    assert batch.compiled()
    ours = costs()
    monkeypatch.setattr(batch, "compiled", lambda: False)
    np.testing.assert_allclose(ours, costs(), rtol=1e-12)
