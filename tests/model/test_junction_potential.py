"""Kernel of junction potentials: loops, ends, and routes between the same ends."""

from itertools import pairwise

import numpy as np
import pytest

from evroute.model.junction_potential import JunctionPotential

A, B, C, D = range(4)
FAR = np.array([[0.0, 0.0], [1e5, 0.0], [0.0, 1e5], [1e5, 1e5]])
SIGMA = 300.0


@pytest.fixture
def grid() -> JunctionPotential:
    """A grid of 5 by 5 junctions 250 m apart, both directions of each road."""
    places = np.array([(x, y) for x in range(5) for y in range(5)])
    apart = np.abs(places[:, np.newaxis] - places).sum(axis=2)
    return JunctionPotential(250.0 * places, np.argwhere(apart == 1), std_wh=SIGMA)


def posterior(kernel, observed, energy_wh, noise_wh2, routes):
    """Condition routes on observed routes, both by their ends."""
    gram = kernel.between(observed, observed) + noise_wh2 * np.eye(len(observed))
    gain = np.linalg.solve(gram, kernel.between(observed, routes)).T
    covariance = kernel.between(routes, routes) - gain @ kernel.between(observed, routes)
    return gain @ energy_wh, covariance


def test_a_measured_road_informs_its_way_back_and_its_neighbour() -> None:
    kernel = JunctionPotential(FAR, np.array([[A, B]]), std_wh=SIGMA)
    assert kernel.diagonal(np.array([0])) == pytest.approx([2 * SIGMA**2])
    routes = np.array([[A, B], [B, A], [A, C], [C, D]])
    mean_wh, covariance = posterior(kernel, np.array([[A, B]]), np.array([500.0]), 0.0, routes)
    assert mean_wh == pytest.approx([500.0, -500.0, 250.0, 0.0])
    assert covariance[0, 0] == pytest.approx(0.0, abs=1e-6)


def test_a_closed_loop_has_no_variance(grid) -> None:
    ends = [[0, 1], [1, 6], [6, 5], [5, 0]]
    edges = [int(np.flatnonzero((grid._ends == each).all(axis=1))[0]) for each in ends]
    block = grid.block(np.array(edges), np.array(edges))
    assert block.sum() == pytest.approx(0.0, abs=1e-9 * SIGMA**2)
    assert grid.between(np.array([[0, 0]]), np.array(ends)) == pytest.approx(np.zeros((1, 4)))


def test_the_block_of_edges_is_a_covariance(grid) -> None:
    edges = np.arange(len(grid._ends))
    block = grid.block(edges, edges)
    np.testing.assert_allclose(block, block.T, atol=1e-9)
    np.testing.assert_allclose(block.diagonal(), grid.diagonal(edges), rtol=1e-9)
    values = np.linalg.eigvalsh(block)
    assert values[0] >= -1e-9 * values[-1]


def test_an_edge_by_the_matern_formula() -> None:
    kernel = JunctionPotential(np.array([[0.0, 0.0], [300.0, 400.0]]), np.array([[0, 1]]), std_wh=2)
    r = np.sqrt(5) * 500 / 600
    alike = (1 + r + r**2 / 3) * np.exp(-r)
    assert kernel.diagonal(np.array([0])) == pytest.approx([2 * 4 * (1 - alike)])
    at_head = kernel.junctions(np.array([1]), np.array([[0, 1]]))
    assert at_head == pytest.approx(np.array([[4 * (1 - alike)]]))


def test_trips_never_separate_routes_between_the_same_ends(grid) -> None:
    rng = np.random.default_rng(3)
    edges = np.arange(len(grid._ends))
    along = {tuple(ends): row for row, ends in enumerate(grid._ends.tolist())}
    routes = [[0, 1, 2, 7, 12], [0, 5, 10, 11, 12]]
    contrast = np.zeros(len(edges))
    for sign, route in zip((1.0, -1.0), routes, strict=True):
        for step in pairwise(route):
            contrast[along[step]] += sign
    driven = rng.integers(0, len(edges), 40)
    block = grid.block(edges, edges)
    gram = block[np.ix_(driven, driven)] + 15.0**2 * np.eye(40)
    gain = np.linalg.solve(gram, block[driven]).T
    mean_wh = gain @ rng.normal(50.0, 100.0, 40)
    covariance = block - gain @ block[driven]
    assert np.abs(mean_wh).max() > 10.0
    assert contrast @ mean_wh == pytest.approx(0.0, abs=1e-9 * SIGMA)
    assert contrast @ covariance @ contrast == pytest.approx(0.0, abs=1e-9 * SIGMA**2)
