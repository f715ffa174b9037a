"""Corridors against all walks of small networks."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arms import Arms, Round, Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph
from evroute.planning.searches.search import Search
from evroute.planning.spaces.corridor import Corridor, corridor
from evroute.planning.spaces.edge_space import EdgeSpace


def on_walks(network, weights, origin, destination, most):
    """Return the edges of all walks that cost at most so much, by depth-first search."""
    following = {
        e: network.turns[network.turns[:, 0] == e, 1].tolist() for e in range(network.n_edges)
    }
    found = set()

    def extend(walk, cost):
        if cost > most:
            return
        if walk[-1] == destination:
            found.update(walk)
        for after in following[walk[-1]]:
            extend([*walk, after], cost + weights[after])

    extend([origin], weights[origin])
    return sorted(found)


@pytest.mark.parametrize("seed", range(8))
def test_it_holds_the_edges_of_all_walks_within_the_factor_and_no_others(hilly, seed):
    network, rng = hilly(seed), np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, network.n_edges)
    search = Search(LineGraph.from_network(network))
    for origin, destination in rng.integers(network.n_edges, size=(6, 2)).tolist():
        least = search.distances(weights, origin)[destination]
        if not np.isfinite(least):
            with pytest.raises(NoRouteError):
                corridor(search, weights, origin, destination, 1.2)
            continue
        for factor in (1.0, 1.2, 1.6):
            expected = on_walks(network, weights, origin, destination, factor * least * (1 + 1e-12))
            assert corridor(search, weights, origin, destination, factor).tolist() == expected


def test_it_reaches_far_beyond_the_first_sweep(make_network):
    n = 500
    line = make_network(
        [(str(k), k, k + 1) for k in range(n)], [(10.0 * k, 0.0, 0.0) for k in range(n + 1)]
    )
    search = Search(LineGraph.from_network(line))
    np.testing.assert_array_equal(corridor(search, np.ones(n), 3, 480, 1.2), np.arange(3, 481))


def test_closed_edges_are_not_in_it(hill):
    weights = np.ones(7)
    search = Search(LineGraph.from_network(hill))
    assert hill.row_of["up"] in corridor(search, weights, 0, 5, 1.5)
    weights[hill.row_of["up"]] = np.inf
    closed = corridor(search, weights, 0, 5, 1.5)
    assert closed.tolist() == [hill.row_of[name] for name in ("in", "east", "west", "out")]


def level(hill) -> EdgeSpace:
    return EdgeSpace(replace(hill, elevation_m=np.zeros(6)), load_vehicle("reference"))


@pytest.fixture
def request_over(hill):
    prior_mean_wh = np.array([10.0, 10.0, 10.0, 30.0, 30.0, 10.0, 40.0])
    return Round(
        1,
        Arms(np.arange(7), np.zeros((7, 1)), prior_mean_wh),
        hill.row_of["in"],
        hill.row_of["out"],
    )


def test_arms_and_routes_stay_in_the_corridor(hill, request_over):
    space = Corridor(level(hill), 1.2)
    assert space.arms(request_over).id.tolist() == [0, 1, 2, 5]
    route = space.route(np.ones(4), request_over)
    assert route.edges == (0, 1, 2, 5)
    arms = space.arms(request_over)
    assert arms.rows_of(space.arms_of_route(route)).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="not available"):
        arms.rows_of(space.arms_of_route(Route((0, 3, 4, 5))))


def test_a_destination_that_no_open_edge_leads_to_is_told(hill, request_over):
    space = Corridor(level(hill), 1.2)
    closed = Round(1, request_over.arms.take(np.array([0, 2, 5])), 0, 5)
    with pytest.raises(NoRouteError, match="no open way leads"):
        space.arms(closed)
