"""Sandberg et al., eq. 134: the graph Matérn kernel on edges."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network.line_graph import LineGraph


def test_eq134_two_edges_by_hand(make_network):
    """Two edges in a ring, 10 and 30 m: W = 2 and 2/3, L = w [[1, -1], [-1, 1]], w = 4 + 4/9.

    Its eigenvalues are 0 and 2w, on (1, 1) and (1, -1); with nu = 2, kappa = 1 they become 1/16 and
    (4 + 2w)^-2.
    """
    positions = [(0, 0, 0), (1, 0, 0)]
    ring = make_network([("out", 0, 1), ("back", 1, 0)], positions, length_m=[10, 30])
    # make_network forbids turning straight back; these two turns are the ring.
    ring = replace(ring, turns=np.array([[0, 1], [1, 0]]))
    graph = GraphMatern(LineGraph.from_network(ring).laplacian(ring.length_m))
    even, odd = 1 / 16, (4 + 2 * (4 + 4 / 9)) ** -2
    raw = np.array([[even + odd, even - odd], [even - odd, even + odd]]) / 2
    np.testing.assert_allclose(graph.block(np.arange(2), np.arange(2)), raw / raw[0, 0], rtol=1e-14)


@pytest.mark.parametrize(("nu", "kappa"), [(1, 1.0), (2, 1.0), (3, 2.0)])
def test_eq134_by_the_eigendecomposition_as_printed(hill, nu, kappa):
    laplacian = LineGraph.from_network(hill).laplacian(hill.length_m)
    eigenvalues, vectors = np.linalg.eigh(laplacian.toarray())
    raw = vectors @ np.diag((2 * nu / kappa**2 + eigenvalues) ** -nu) @ vectors.T
    graph = GraphMatern(laplacian, nu, kappa)
    np.testing.assert_allclose(
        graph.block(np.arange(7), np.arange(7)), raw / np.trace(raw) * 7, atol=1e-13
    )
