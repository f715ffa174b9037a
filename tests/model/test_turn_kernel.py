"""The kernel between turns: its formula, and that it is a covariance."""

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.model.kernels.arms import ENTERED_SHARE, TurnGraph
from evroute.model.kernels.build import standard_graph
from evroute.network.turn_table import TurnTable


@pytest.fixture
def turns(hilly):
    network = hilly(0)
    graph, table = standard_graph(network, None), TurnTable.from_network(network)
    return TurnGraph(graph, table.left, table.entered), graph.matrix(), table


def test_turns_covary_by_the_edges_they_enter_and_leave(turns) -> None:
    graph, of_edges, table = turns
    size = np.sqrt(of_edges.diagonal())
    for i, j in default_rng(0).integers(len(table), size=(20, 2)):
        left, entered = (table.left[[i, j]], table.entered[[i, j]])
        alike = of_edges[left[0], left[1]] / np.prod(size[left])
        expected = of_edges[entered[0], entered[1]] * (ENTERED_SHARE + (1 - ENTERED_SHARE) * alike)
        assert graph.block(np.array([i]), np.array([j]))[0, 0] == pytest.approx(expected)


def test_blocks_are_parts_of_the_matrix_and_that_is_a_covariance(turns) -> None:
    graph, _, table = turns
    matrix = graph.matrix()
    rows, columns = np.array([3, 0, 5]), np.arange(len(table))
    np.testing.assert_allclose(graph.block(rows, columns), matrix[rows], atol=1e-14)
    np.testing.assert_allclose(matrix.diagonal(), graph.diagonal)
    np.testing.assert_allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0
