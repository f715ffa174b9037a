"""Closed drives that gain charge, against networkx and against loops made on purpose."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from evroute.network.line_graph import LineGraph
from evroute.planning.conservation import gaining_loop
from evroute.planning.planner import Planner
from evroute.planning.searches.search import Search


def graph_of(seed: int, n: int = 30, m: int = 80) -> LineGraph:
    """Return random legal turns between n edges."""
    rng = np.random.default_rng(seed)
    turns = sorted({(int(a), int(b)) for a, b in rng.integers(0, n, (m, 2))})
    source = np.array([a for a, _ in turns], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))]).astype(np.int32)
    return LineGraph(indptr, np.array([b for _, b in turns], dtype=np.int32), source)


@pytest.mark.parametrize("turns", [False, True], ids=["edges", "turns"])
def test_a_loop_is_found_where_and_only_where_networkx_finds_one(turns: bool) -> None:
    found = {True: 0, False: 0}
    for seed in range(150):
        search = Search(graph_of(seed), turns=turns, compiled=False)
        rng = np.random.default_rng(1000 + seed)
        energy_wh = rng.normal(rng.uniform(0.5, 2.5), 1.5, search.starts.stop)
        graph = nx.DiGraph()
        cost = energy_wh[search.entering]
        arcs = zip(search.line_graph.source, search.line_graph.indices, cost, strict=True)
        graph.add_weighted_edges_from((int(a), int(b), float(w)) for a, b, w in arcs)
        expected = nx.negative_edge_cycle(graph)
        loop = gaining_loop(search, energy_wh)
        assert (loop is not None) == expected
        found[expected] += 1
        if loop is not None:
            around = [*loop.edges[-1:], *loop.edges]
            total = sum(graph.edges[a, b]["weight"] for a, b in pairwise(around))
            assert total == pytest.approx(loop.energy_wh)
            assert total < 0.0
    assert min(found.values()) > 20


def test_one_road_that_returns_half_a_kwh_is_in_the_loop(denver) -> None:
    planner = Planner(denver, physics="eq8")
    assert gaining_loop(planner.search, planner.mean_wh) is None
    rng = np.random.default_rng(0)
    on_loops = np.unique(planner.search.line_graph.indices)
    for row in rng.choice(on_loops, 5, replace=False):
        spoiled = planner.mean_wh.copy()
        spoiled[row] -= 500.0
        loop = gaining_loop(planner.search, spoiled)
        assert loop is not None
        assert row in loop.edges
        assert loop.energy_wh == pytest.approx(spoiled[list(loop.edges)].sum())


def test_energies_that_are_a_potential_alone_gain_nothing(denver) -> None:
    """Every loop of a perfect vehicle takes exactly 0, and rounding is no gain."""
    planner = Planner(denver, physics="eq8")
    assert gaining_loop(planner.search, planner.prior.potential_wh) is None
