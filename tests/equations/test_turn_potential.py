"""Total-energy potential on turns: Dijkstra on shifted weights equals Bellman-Ford on energies."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import bellman_ford

from evroute.arms import Round
from evroute.energy.vehicle import load_vehicle
from evroute.network.line_graph import LineGraph
from evroute.network.turn_table import TurnTable
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace
from evroute.planning.weights import potential

ROUNDING_WH = 1e-9
ZERO_WH = 1e-12  # scipy's Bellman-Ford takes an exact 0 for no arc


def check(network, n_origins: int, n_destinations: int) -> None:
    vehicle = load_vehicle("reference")
    table, line_graph = TurnTable.from_network(network), LineGraph.from_network(network)
    space = TurnSpace(EdgeSpace(network, vehicle), table)
    edges = space.edges.reference
    rng, n, m = default_rng(0), network.n_edges, table.n_turns
    request = Round(1, edges, 0, 1)
    arms, rise_wh = space.arms(request), space.potential_wh(request)
    energy_wh = arms.prior_mean_wh
    assert np.all(energy_wh - rise_wh >= -ROUNDING_WH)
    assert energy_wh[:m].min() < 0
    weights = potential(energy_wh, np.ones(len(arms)), rise_wh)
    signed = csr_matrix(
        (
            np.where(energy_wh[:m] == 0, ZERO_WH, energy_wh[:m]),
            line_graph.indices,
            line_graph.indptr,
        ),
        shape=(n, n),
    )
    for origin in rng.choice(n, n_origins, replace=False).tolist():
        least_wh = bellman_ford(signed, indices=origin) + energy_wh[m + origin]
        reached = np.flatnonzero(np.isfinite(least_wh))
        for destination in rng.choice(
            reached, min(n_destinations, len(reached)), replace=False
        ).tolist():
            between = Round(1, edges, origin, destination)
            route = space.route(weights, between)
            total_wh = energy_wh[space.arms_of_route(route)].sum()
            assert total_wh == pytest.approx(least_wh[destination], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_on_random_hilly_networks(hilly, seed) -> None:
    check(hilly(seed), 5, 10)


def test_on_denver(denver) -> None:
    check(denver, 6, 40)


@pytest.mark.data
def test_on_monaco(monaco) -> None:
    check(monaco, 2, 60)
