"""Martingale mixtures against the formulas with whole matrices, and in simulation."""

import numpy as np
import pytest
from scipy.special import logsumexp

from evroute.model.mixture import (
    Mixture,
    constant_explained,
    constant_interval,
    explained,
)

SIGMA = 0.7


def squared_radius(y, eigenvalues, squares, mixture, *, sigma, delta):
    """Return R² of Theorem 4.1, from the part of it that depends on the measurements."""
    gained = explained(eigenvalues, squares, mixture, sigma)
    return float(y @ y) - gained - 2 * sigma**2 * np.log(delta)


def constant_log_e(count, total, mixture, *, sigma, mean=0.0):
    """Return ln E against the hypothesis that the constant is ``mean``."""
    return constant_explained(count, total - mean * count, mixture, sigma) / (2 * sigma**2)


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


def test_the_radius_of_one_scale_is_that_of_the_whole_matrix(problem):
    gram, y = problem
    radius = squared_radius(
        y, *spectrum(gram, y), Mixture(np.array([0.3])), sigma=SIGMA, delta=0.05
    )
    np.testing.assert_allclose(radius, q(gram, y, 0.3) + 2 * SIGMA**2 * np.log(20), rtol=1e-10)


def test_the_radius_of_a_mixture_is_the_mixture_of_exponentials(problem):
    gram, y = problem
    mixture = Mixture(np.array([0.1, 1.0, 5.0]))
    qs = np.array([q(gram, y, c) for c in mixture.scales])
    expected = -2 * SIGMA**2 * logsumexp(-qs / (2 * SIGMA**2), b=1 / 3) + 2 * SIGMA**2 * np.log(20)
    radius = squared_radius(y, *spectrum(gram, y), mixture, sigma=SIGMA, delta=0.05)
    np.testing.assert_allclose(radius, expected, rtol=1e-10)


def test_a_constant_is_the_kernel_of_ones():
    y = np.random.default_rng(1).normal(1.0, SIGMA, 12)
    mixture = Mixture(np.array([0.1, 2.0]))
    whole = explained(*spectrum(np.ones((12, 12)), y), mixture, SIGMA)
    np.testing.assert_allclose(constant_explained(12, y.sum(), mixture, SIGMA), whole, rtol=1e-9)


def test_the_ends_of_an_interval_are_where_the_e_value_meets_the_level():
    mixture = Mixture(np.array([0.1, 2.0]))
    count, total = np.array([1.0, 5.0, 40.0]), np.array([0.3, 2.0, 31.0])
    low, high = constant_interval(count, total, mixture, sigma=SIGMA, delta=0.05)
    for end in (low, high):
        at_end = [
            # of the guesses around 0, as the interval's: ln E = (||m - y||² - q) / (2 sigma²)
            (m**2 * n - 2 * m * s + constant_explained(n, s, mixture, SIGMA)) / (2 * SIGMA**2)
            for n, s, m in zip(count, total, end, strict=True)
        ]
        np.testing.assert_allclose(at_end, np.log(20), rtol=1e-9)


def test_nothing_measured_says_nothing():
    low, high = constant_interval(
        np.array([0]), np.array([0.0]), Mixture(np.array([1.0])), sigma=1.0, delta=0.1
    )
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert constant_log_e(0, 0.0, Mixture(np.array([1.0])), sigma=1.0) == 0.0


def test_looking_after_every_measurement_fails_no_oftener_than_delta():
    rng = np.random.default_rng(2)
    mean, delta, runs = 0.4, 0.1, 2000
    total = np.cumsum(rng.normal(mean, SIGMA, (runs, 200)), axis=1)
    count = np.broadcast_to(np.arange(1, 201), total.shape)
    mixture = Mixture(np.array([0.01, 0.1, 1.0]))
    low, high = constant_interval(count, total, mixture, sigma=SIGMA, delta=delta)
    assert np.mean(np.any((mean < low) | (mean > high), axis=1)) <= delta
    rejected = constant_log_e(count, total, mixture, sigma=SIGMA, mean=mean) > np.log(1 / delta)
    assert np.mean(np.any(rejected, axis=1)) <= delta
    assert (
        np.mean(
            np.any(constant_log_e(count, total, mixture, sigma=SIGMA) > np.log(1 / delta), axis=1)
        )
        > 0.99
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Mixture(np.array([1.0, -1.0])), "c is"),
        (lambda: Mixture(np.empty(0)), "c is"),
        (
            lambda: constant_interval(1, 1.0, Mixture(np.ones(1)), sigma=0.0, delta=0.1),
            "sigma is 0",
        ),
        (
            lambda: constant_interval(1, 1.0, Mixture(np.ones(1)), sigma=1.0, delta=0.0),
            "delta is 0",
        ),
        (
            lambda: constant_interval(1, 1.0, Mixture(np.ones(1)), sigma=1.0, delta=1.5),
            "delta is 1.5",
        ),
    ],
)
def test_what_is_out_of_range_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
