"""The search against networkx and Bellman-Ford, closed edges, zeros, and weights that are no
weights.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search import Search
from evroute.planning.weights import WEIGHT_RULES


@pytest.fixture
def search(hill: RoadNetwork) -> Search:
    return Search(LineGraph.from_network(hill))


def arcs(network: RoadNetwork, costs: FloatArray) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.n_edges))
    graph.add_weighted_edges_from((a, b, costs[b]) for a, b in network.turns.tolist())
    return graph


def total(costs: FloatArray, edges: tuple[int, ...]) -> float:
    return float(costs[list(edges)].sum())


def test_the_cheapest_way_goes_where_the_weights_say(hill: RoadNetwork, search: Search) -> None:
    origin, destination = hill.row_of["in"], hill.row_of["out"]
    weights = np.ones(hill.n_edges)
    weights[hill.row_of["up"]] = 5
    route = search.route(weights, origin, destination)
    assert [hill.edge_id[e] for e in route.edges] == ["in", "east", "west", "out"]
    weights[hill.row_of["west"]] = 9
    route = search.route(weights, origin, destination)
    assert [hill.edge_id[e] for e in route.edges] == ["in", "up", "down", "out"]


def test_an_infinite_weight_closes_an_edge(hill: RoadNetwork, search: Search) -> None:
    weights = np.ones(hill.n_edges)
    weights[hill.row_of["down"]] = np.inf
    origin, destination = hill.row_of["in"], hill.row_of["out"]
    assert hill.row_of["west"] in search.route(weights, origin, destination).edges
    weights[hill.row_of["west"]] = np.inf
    with pytest.raises(NoRouteError):
        search.route(weights, origin, destination)


@pytest.mark.parametrize("end", ["in", "out"])
def test_a_closed_end_has_no_route(hill: RoadNetwork, search: Search, end: str) -> None:
    weights = np.ones(hill.n_edges)
    weights[hill.row_of[end]] = np.inf
    with pytest.raises(NoRouteError):
        search.route(weights, hill.row_of["in"], hill.row_of["out"])


def test_weights_of_zero_are_walked(hill: RoadNetwork, search: Search) -> None:
    route = search.route(np.zeros(hill.n_edges), hill.row_of["in"], hill.row_of["out"])
    assert route.edges[0] == hill.row_of["in"]
    assert route.edges[-1] == hill.row_of["out"]
    assert (
        search.distances(np.zeros(hill.n_edges), hill.row_of["in"]).tolist() == [0.0] * hill.n_edges
    )


def test_zeros_in_one_search_are_not_lost_for_the_next(hill: RoadNetwork, search: Search) -> None:
    origin, destination = hill.row_of["in"], hill.row_of["out"]
    search.route(np.zeros(hill.n_edges), origin, destination)
    assert search.distances(np.ones(hill.n_edges), origin)[destination] == 4


@pytest.mark.parametrize("bad", [np.nan, -1e-12])
def test_a_negative_or_missing_weight_is_refused(
    hill: RoadNetwork, search: Search, bad: float
) -> None:
    for edge in range(hill.n_edges):
        weights = np.ones(hill.n_edges)
        weights[edge] = bad
        with pytest.raises(ValueError, match="weights"):
            search.route(weights, hill.row_of["in"], hill.row_of["out"])


def test_the_origin_alone_is_a_route_to_itself(hill: RoadNetwork, search: Search) -> None:
    assert search.route(np.ones(hill.n_edges), 2, 2).edges == (2,)
    assert search.distances(np.full(hill.n_edges, 3.0), 2)[2] == 3


def test_routes_cost_as_much_as_by_networkx(hilly: Callable[[int], RoadNetwork]) -> None:
    for seed in range(20):
        network = hilly(seed)
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.0, 1.0, 2.5], network.n_edges)
        search = Search(LineGraph.from_network(network))
        truth = nx.single_source_dijkstra_path_length(arcs(network, weights), 0)
        distances = search.distances(weights, 0)
        for edge in range(network.n_edges):
            assert distances[edge] == pytest.approx(truth.get(edge, np.inf) + weights[0])
            if edge in truth:
                assert total(weights, search.route(weights, 0, edge).edges) == pytest.approx(
                    distances[edge]
                )


def test_least_costs_to_a_destination_equal_networkx(
    hilly: Callable[[int], RoadNetwork],
) -> None:
    for seed in range(20):
        network = hilly(seed)
        weights = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], network.n_edges)
        destination = network.n_edges - 1
        rest = Search(LineGraph.from_network(network)).rest(weights, destination)
        graph = arcs(network, weights)
        for edge in range(network.n_edges):
            reachable = nx.has_path(graph, edge, destination)
            truth = nx.dijkstra_path_length(graph, edge, destination) if reachable else np.inf
            assert rest[edge] == pytest.approx(truth)


def test_threads_may_share_a_search(hilly: Callable[[int], RoadNetwork]) -> None:
    network = hilly(0)
    search = Search(LineGraph.from_network(network))
    weights = np.random.default_rng(0).uniform(1, 2, (400, network.n_edges))
    alone = [search.distances(w, 0).tolist() for w in weights]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda w: search.distances(w, 0).tolist(), weights))
    assert together == alone


def test_potential_search_equals_bellman_ford_on_signed_energies(
    hilly: Callable[[int], RoadNetwork],
) -> None:
    vehicle = load_vehicle("reference")
    for seed in range(20):
        network = hilly(seed)
        prior = fit(network, vehicle)
        assert (prior.mean_wh < 0).any()
        weights = WEIGHT_RULES["potential"](prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
        search = Search(LineGraph.from_network(network))
        truth = nx.single_source_bellman_ford_path_length(arcs(network, prior.mean_wh), 0)
        for edge, energy_wh in truth.items():
            route = search.route(weights, 0, edge)
            assert total(prior.mean_wh, route.edges) == pytest.approx(
                energy_wh + prior.mean_wh[0], abs=1e-9
            )


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "scipy"])
def test_routes_between_several_edges_are_the_best_of_all_pairs(
    hilly: Callable[[int], RoadNetwork], compiled: bool
) -> None:
    if compiled:
        pytest.importorskip("numba")
    seen: Counter[str] = Counter()
    for seed in range(60):
        network, rng = hilly(seed), np.random.default_rng(seed)
        n = network.n_edges
        weights = rng.choice([0.0, 1.0, 2.5, np.inf], n, p=[0.1, 0.4, 0.4, 0.1])
        search = Search(LineGraph.from_network(network), compiled=compiled)
        first, last = (rng.choice(n, size, replace=False) for size in rng.integers(1, 4, size=2))
        origins = Ends(first, rng.choice([0.0, 0.5, 3.0, np.inf], len(first)))
        destinations = Ends(last, rng.choice([0.0, 0.5, 3.0], len(last)))
        graph = arcs(network, weights)
        least = np.inf
        for a, before in zip(*origins, strict=True):
            costs = nx.single_source_dijkstra_path_length(graph, a)
            for b, after in zip(*destinations, strict=True):
                least = min(least, before + costs.get(b, np.inf) + after)
        edges, cost = search.between(weights, origins, destinations)
        assert cost == pytest.approx(least)
        seen["none" if np.isinf(least) else "found"] += 1
        if edges:
            begins, ends = first.tolist().index(edges[0]), last.tolist().index(edges[-1])
            between = total(weights, edges[1:])
            assert origins.cost[begins] + between + destinations.cost[ends] == pytest.approx(least)
            assert all((a, b) in graph.edges for a, b in pairwise(edges))
            seen["one edge"] += len(edges) == 1
        assert bool(edges) == np.isfinite(least)
        rest = search.rest(weights, destinations)
        truth = [
            min(
                cost + nx.single_source_dijkstra_path_length(graph, edge).get(b, np.inf)
                for b, cost in zip(*destinations, strict=True)
            )
            for edge in range(n)
        ]
        np.testing.assert_allclose(rest, truth)
        until = first.tolist()
        np.testing.assert_allclose(
            search.rest(weights, destinations, until=until)[until], rest[until]
        )
    assert min(seen[kind] for kind in ("none", "found", "one edge")) >= 5
