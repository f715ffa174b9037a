"""Coefficients in a cone: the constrained mode against every active set, draws against moments."""

import itertools

import numpy as np
import pytest

from evroute.learning.trips.cone import constrained_mode

SLOPES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
"""b1 >= 0 and 0 <= b3 <= b2."""


def by_active_sets(mean, covariance, constraints):
    """Try every set of constraints as equalities; the mode is the nearest feasible point."""
    best, least = None, np.inf
    for size in range(len(constraints) + 1):
        for active in itertools.combinations(range(len(constraints)), size):
            part = constraints[list(active)]
            gain = covariance @ part.T @ np.linalg.pinv(part @ covariance @ part.T)
            point = mean - gain @ (part @ mean)
            distance = (point - mean) @ np.linalg.solve(covariance, point - mean)
            if np.all(constraints @ point >= -1e-9) and distance < least:
                best, least = point, distance
    return best


@pytest.mark.parametrize("seed", range(20))
def test_the_constrained_mode_is_the_nearest_point_of_all_active_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3)) * [[30.0], [1.0], [1.0]]
    mean = rng.normal(size=3) * [30.0, 1.0, 1.0]
    found = constrained_mode(mean, root, SLOPES)
    expected = by_active_sets(mean, root @ root.T, SLOPES)
    np.testing.assert_allclose(found.coefficients, expected, atol=1e-8)
    np.testing.assert_allclose(found.moved, expected - mean, atol=1e-8)


def test_a_mean_in_the_cone_stays_where_it_is() -> None:
    mean = np.array([0.0, 4.0, 4.0])
    found = constrained_mode(mean, np.eye(3), SLOPES)
    assert np.array_equal(found.coefficients, mean)
    assert not found.moved.any()
