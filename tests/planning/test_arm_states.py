"""The potential of a belief: reduced costs are not negative, and searches stay exact."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting

ROUNDING_WH = 1e-6


def energies_without_gaining_walks(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Return energies far below the climb on some arms, of which no closed walk is negative."""
    states = setting.space.states
    tail, head = states.tail, states.head
    hidden_wh = rng.normal(0, 300, len(states.state_wh))  # a potential that physics does not know
    rise_wh = (states.state_wh + hidden_wh)[head] - (states.state_wh + hidden_wh)[tail]
    return rise_wh + rng.uniform(0, 20, len(tail))


@pytest.mark.parametrize("turns", [False, True])
def test_energies_without_gaining_walks_need_no_raising(denver, turns) -> None:
    setting = Setting(denver, load_vehicle("reference"))
    setting = setting.on_turns() if turns else setting
    rng = np.random.default_rng(0)
    energy_wh = energies_without_gaining_walks(setting, rng)
    before = setting.space.states
    assert (energy_wh < before.head_wh - before.tail_wh - 100).sum() > 100
    states = before.under(energy_wh)
    reduced_wh = energy_wh - (states.head_wh - states.tail_wh)
    assert reduced_wh.min() > -ROUNDING_WH
    graph = nx.DiGraph()
    for a, b, wh in zip(states.tail, states.head, energy_wh, strict=True):
        if not graph.has_edge(a, b) or graph[a][b]["wh"] > wh:
            graph.add_edge(int(a), int(b), wh=float(wh))
    assert not nx.negative_edge_cycle(graph, weight="wh")
    ends = [(int(a), int(b)) for a, b in rng.choice(denver.n_edges, (4, 2))]
    for a, b in ends:
        start, goal = int(states.tail[a]), int(states.head[b])
        if start == goal or not nx.has_path(graph, start, goal):
            continue
        shortest = nx.bellman_ford_path(graph, start, goal, weight="wh")
        true_wh = sum(graph[u][v]["wh"] for u, v in pairwise(shortest))
        reduced = nx.DiGraph()
        for u, v, wh in graph.edges(data="wh"):
            reduced.add_edge(u, v, wh=max(0.0, wh - states.state_wh[v] + states.state_wh[u]))
        least = nx.dijkstra_path_length(reduced, start, goal, weight="wh")
        assert least + states.state_wh[goal] - states.state_wh[start] == pytest.approx(
            true_wh, abs=1e-4
        )


def test_physics_keeps_its_own_potential(denver) -> None:
    space = Setting(denver, load_vehicle("reference")).space
    states = space.states.under(space.reference.prior_mean_wh)
    np.testing.assert_array_equal(states.state_wh, space.states.state_wh)


def test_a_walk_that_gains_energy_ends_the_search_for_a_potential(hill) -> None:
    space = Setting(hill, load_vehicle("reference")).space
    energy_wh = np.full(space.size, -50.0)
    states = space.states.under(energy_wh)
    rise_wh = states.head_wh - states.tail_wh
    assert np.isfinite(states.state_wh).all()
    assert (rise_wh > energy_wh + 1).any()
