"""Sandberg et al., eqs. 132-133: the incidence Laplacian of the line graph."""

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork


def test_eq132_133_laplacian_of_three_edges_by_hand(
    make_network: Callable[..., RoadNetwork],
) -> None:
    """a -> b -> c -> a around a triangle of 10, 20 and 30 m: mean 20 m, so W = 2, 1 and 2/3."""
    positions = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    triangle = make_network(
        [("a", 0, 1), ("b", 1, 2), ("c", 2, 0)], positions, length_m=[10, 20, 30]
    )
    laplacian = LineGraph.from_network(triangle).laplacian(triangle.length_m).toarray()
    ab, bc, ca = 4, 1, 4 / 9
    by_hand = [[ab + ca, -ab, -ca], [-ab, ab + bc, -bc], [-ca, -bc, bc + ca]]
    np.testing.assert_allclose(laplacian, by_hand, rtol=1e-15)


def test_eq132_133_laplacian_equals_networkx_with_squared_weights(denver: RoadNetwork) -> None:
    """Two opposite turns between the same two edges add up."""
    graph = nx.Graph()
    graph.add_nodes_from(range(denver.n_edges))
    for a, b in denver.turns.tolist():
        weight = (denver.length_m.mean() / denver.length_m[a]) ** 2
        before = graph.get_edge_data(a, b, {"weight": 0.0})["weight"]
        graph.add_edge(a, b, weight=before + weight)
    expected = nx.laplacian_matrix(graph, nodelist=range(denver.n_edges)).toarray()
    laplacian = LineGraph.from_network(denver).laplacian(denver.length_m).toarray()
    np.testing.assert_allclose(laplacian, expected, rtol=1e-12, atol=1e-12)


def test_eq132_133_laplacian_has_one_zero_eigenvalue_on_a_connected_network(
    hill: RoadNetwork,
) -> None:
    laplacian = LineGraph.from_network(hill).laplacian(hill.length_m).toarray()
    assert laplacian.sum(axis=0) == pytest.approx(np.zeros(hill.n_edges), abs=1e-12)
    eigenvalues = np.linalg.eigvalsh(laplacian)
    assert eigenvalues[0] == pytest.approx(0.0, abs=1e-9)
    assert eigenvalues[1] > 1e-3


def test_eq132_133_a_turn_of_an_edge_into_itself_adds_nothing(
    make_network: Callable[..., RoadNetwork],
) -> None:
    positions = [(0, 0, 0), (30, 0, 0)]
    edges = [("a", 0, 1), ("loop", 1, 1)]
    network = make_network(edges, positions, length_m=[30, 90])
    graph = LineGraph(np.array([0, 1, 2]), np.array([1, 1]), np.array([0, 1]))
    assert graph.laplacian(network.length_m).toarray().tolist() == [[4, -4], [-4, 4]]
