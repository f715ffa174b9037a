"""First passage against closed forms and against many joint draws."""

import numpy as np
import pytest
from scipy.special import ndtr, stdtr
from scipy.stats import multivariate_normal

from evroute.arrays import FloatArray
from evroute.planning.forecasts.first_passage import first_passage, passage_bounds

N = 50_000
STATED_ERROR = 1e-3
"""The stated error of the quadrature: 0.1 percentage point."""


def prefixes(edge_covariance: FloatArray) -> FloatArray:
    return edge_covariance.cumsum(axis=0).cumsum(axis=1)


def joint_draws(covariance: FloatArray, nu: float, rng: np.random.Generator) -> FloatArray:
    root = np.linalg.cholesky(covariance)
    errors = rng.standard_normal((N, len(root))) @ root.T
    return errors if np.isinf(nu) else errors * np.sqrt(nu / rng.chisquare(nu, size=(N, 1)))


def test_one_point_is_the_tail_of_its_distribution() -> None:
    covariance = np.array([[4.0]])
    assert first_passage(np.array([3.0]), covariance) == pytest.approx(ndtr(-1.5), rel=1e-12)
    assert first_passage(np.array([3.0]), covariance, 5.0) == pytest.approx(stdtr(5, -1.5))
    assert first_passage(np.array([-3.0]), covariance) == pytest.approx(ndtr(1.5))


def test_two_independent_points_multiply() -> None:
    found = first_passage(np.array([1.0, 4.0]), np.diag([1.0, 9.0]))
    assert found == pytest.approx(1 - ndtr(1.0) * ndtr(4 / 3), abs=STATED_ERROR)


def test_certain_points_fall_below_or_do_not() -> None:
    zero = np.zeros((2, 2))
    assert first_passage(np.array([1.0, 0.5]), zero) == 0.0
    assert first_passage(np.array([1.0, -0.5]), zero) == 1.0


@pytest.mark.parametrize("nu", [4.0, np.inf])
@pytest.mark.parametrize("kind", ["positive", "negative", "independent"])
def test_the_risk_of_a_route_equals_its_share_in_many_joint_draws(kind: str, nu: float) -> None:
    k, rng = 25, np.random.default_rng(7)
    load = rng.uniform(5.0, 15.0, k)
    if kind == "negative":  # the second half of the trip gives back the error of the first
        load *= np.where(np.arange(k) < k // 2, 1.0, -0.7)
    edges = np.diag(rng.uniform(50.0, 150.0, k))
    edges += np.outer(load, load) * (kind != "independent")
    covariance = prefixes(edges)
    errors = joint_draws(covariance, nu, rng)
    for room_at_end in (100.0, 200.0, 300.0):
        room = np.linspace(600.0, room_at_end, k) + 60.0 * np.sin(np.arange(k))
        expected = (errors > room).any(axis=1).mean()
        tolerance = STATED_ERROR + 4 * np.sqrt(max(expected, 1e-4) / N)
        assert first_passage(room, covariance, nu) == pytest.approx(expected, abs=tolerance)


def bound(room: FloatArray, covariance: FloatArray, nu: float) -> float:
    std = np.sqrt(covariance.diagonal())
    worst = int(np.argmin(room / std))
    shared = covariance[worst] / (std * std[worst])
    trips = np.tile(room / std, 2), np.tile(shared, 2), np.array([0, len(room)])
    found = passage_bounds(*trips, np.array([worst, len(room) + worst]), nu)
    least, most = found
    assert least[0] == least[1] <= most[0] == most[1]  # of two equal trips
    return float(most[0])


@pytest.mark.parametrize("nu", [4.0, np.inf])
def test_bounds_hold_in_many_joint_draws_and_are_close_where_errors_add_up(nu: float) -> None:
    k, rng = 25, np.random.default_rng(7)
    load = rng.uniform(5.0, 15.0, k)
    covariance = prefixes(np.outer(load, load) + np.diag(rng.uniform(5.0, 15.0, k)))
    errors = joint_draws(covariance, nu, rng)
    for room_at_end in (300.0, 400.0, 500.0):
        room = np.linspace(900.0, room_at_end, k) + 5.0 * np.sin(np.arange(k))
        expected = (errors > room).any(axis=1).mean()
        deviation = np.sqrt(expected / N)
        assert expected > 0.01
        assert (
            expected - 4 * deviation < bound(room, covariance, nu) < 1.1 * expected + 4 * deviation
        )


def test_bounds_of_two_points_are_nearly_their_risk() -> None:
    room = np.array([1.8, 1.7])
    for shared in (0.3, 0.9, 0.99, 0.999999):
        covariance = np.array([[1.0, shared], [shared, 1.0]])
        below = multivariate_normal(cov=covariance, abseps=1e-8, releps=1e-8).cdf(room)
        assert 1.0 <= bound(room, covariance, np.inf) / (1.0 - below) <= 1.05


def test_bounds_of_independent_points_are_the_sum_of_their_tails() -> None:
    found = bound(np.array([1.5, 2.0]), np.eye(2), np.inf)
    assert found == pytest.approx(ndtr(-1.5) + ndtr(-2.0), abs=2e-6)


def test_a_trip_that_is_expected_below_its_reserve_has_no_bound() -> None:
    assert bound(np.array([1.0, -0.1]), np.array([[1.0, 0.9], [0.9, 1.0]]), 4.0) == 1.0
