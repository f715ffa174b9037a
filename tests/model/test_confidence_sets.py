"""Martingale mixtures against the formulas with whole matrices, and in simulation."""

import numpy as np
import pytest
from scipy.special import logsumexp

from evroute.model.bounds.sets import Assumptions, explained

SIGMA = 0.7


def squared_radius(y, eigenvalues, squares, scales, *, sigma, delta):
    """Return R² of Theorem 4.1, from the part of it that depends on the measurements."""
    gained = explained(eigenvalues, squares, scales, sigma)
    return float(y @ y) - gained - 2 * sigma**2 * np.log(delta)


def q(gram, y, c):
    inner = np.eye(len(y)) + c / SIGMA**2 * gram
    return y @ np.linalg.solve(inner, y) + SIGMA**2 * np.linalg.slogdet(inner)[1]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 5))
    return root @ root.T, rng.normal(size=8)


def spectrum(gram, y):
    eigenvalues, vectors = np.linalg.eigh(gram)
    return np.maximum(eigenvalues, 0.0), (vectors.T @ y) ** 2


def test_the_radius_of_one_scale_equals_the_radius_by_the_whole_matrix(problem):
    gram, y = problem
    radius = squared_radius(y, *spectrum(gram, y), np.array([0.3]), sigma=SIGMA, delta=0.05)
    np.testing.assert_allclose(radius, q(gram, y, 0.3) + 2 * SIGMA**2 * np.log(20), rtol=1e-10)


def test_the_radius_of_a_mixture_is_the_mixture_of_exponentials(problem):
    gram, y = problem
    scales = np.array([0.1, 1.0, 5.0])
    qs = np.array([q(gram, y, c) for c in scales])
    expected = -2 * SIGMA**2 * logsumexp(-qs / (2 * SIGMA**2), b=1 / 3) + 2 * SIGMA**2 * np.log(20)
    radius = squared_radius(y, *spectrum(gram, y), scales, sigma=SIGMA, delta=0.05)
    np.testing.assert_allclose(radius, expected, rtol=1e-10)


def test_a_constant_is_the_kernel_of_ones():
    y = np.random.default_rng(1).normal(1.0, SIGMA, 12)
    scales = np.array([0.1, 2.0])
    whole = explained(*spectrum(np.ones((12, 12)), y), scales, SIGMA)
    one = explained(np.array([12.0]), np.array([y.sum() ** 2 / 12]), scales, SIGMA)
    np.testing.assert_allclose(one, whole, rtol=1e-9)


def test_looking_after_every_measurement_fails_no_oftener_than_delta():
    """The e-value of a constant mean, whose kernel of ones has the count as its eigenvalue."""
    rng = np.random.default_rng(2)
    mean, delta = 0.4, 0.1
    scales = np.array([0.01, 0.1, 1.0])
    y, count = rng.normal(mean, SIGMA, (2000, 100)), np.arange(1.0, 101.0)

    def rejects(off):
        total = np.cumsum(off, axis=1)
        squares = (total**2 / count)[np.newaxis]
        gain = explained(count[np.newaxis, np.newaxis], squares, scales, SIGMA)
        return np.any(gain > 2 * SIGMA**2 * np.log(1 / delta), axis=1)

    assert np.mean(rejects(y - mean)) <= delta
    assert np.mean(rejects(y)) > 0.9


@pytest.mark.parametrize(
    ("norm", "sigma", "delta", "scales", "message"),
    [
        (0.0, 1.0, 0.1, [1.0], "B is 0"),
        (np.inf, 1.0, 0.1, [1.0], "B is inf"),
        (1.0, 0.0, 0.1, [1.0], "sigma is 0"),
        (1.0, 1.0, 0.0, [1.0], "delta is 0"),
        (1.0, 1.0, 1.5, [1.0], "delta is 1.5. It must be positive, finite and at most 1"),
        (1.0, 1.0, 0.1, [1.0, -1.0], "c is"),
        (1.0, 1.0, 0.1, [], "c is"),
    ],
)
def test_assumptions_out_of_range_are_refused(norm, sigma, delta, scales, message):
    with pytest.raises(ValueError, match=message):
        Assumptions(norm, sigma, delta, np.array(scales))
