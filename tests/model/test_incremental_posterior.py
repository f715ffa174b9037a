"""The numbers that the exact posterior keeps, against eq. 3 on matrices of seven arms."""

import numpy as np
import pytest

from evroute.model.fresh_posterior import Fresh
from evroute.model.incremental_posterior import IncrementalPosterior


@pytest.fixture
def prior() -> np.ndarray:
    root = np.random.default_rng(0).normal(size=(7, 7))
    return root @ root.T + np.eye(7)


def test_two_trips_give_mean_and_covariance_of_eq_3(prior) -> None:
    posterior = IncrementalPosterior(prior.diagonal())
    visited = np.array([5, 1, 2])  # arms of the slots 0, 1, 2
    first = prior[visited[:2]]
    posterior.append(np.empty((2, 0)), first[:, visited[:2]], first, visited[:2])
    posterior.observe(np.array([0, 1]), np.array([3.0, -1.0]), np.array([0.5, 2.0]))
    second = prior[visited[2:]]
    posterior.append(second[:, visited[:2]], second[:, visited[2:]], second, visited[2:])
    posterior.observe(np.array([1, 2]), np.array([4.0, 2.0]), np.array([2.0, 1.0]))

    passed, noise = np.array([5, 1, 1, 2]), np.diag([0.5, 2.0, 2.0, 1.0])
    gain = np.linalg.solve(prior[np.ix_(passed, passed)] + noise, prior[passed]).T
    mean, covariance = gain @ np.array([3.0, -1.0, 4.0, 2.0]), prior - gain @ prior[passed]
    found_mean, found_variance = posterior.reference()
    np.testing.assert_allclose(found_mean, mean)
    np.testing.assert_allclose(found_variance, covariance.diagonal())
    np.testing.assert_allclose(posterior.among(np.arange(3)), covariance[np.ix_(visited, visited)])
    np.testing.assert_allclose(
        posterior.among(np.array([0, 2])), covariance[np.ix_([5, 2], [5, 2])]
    )
    np.testing.assert_allclose(prior[:, visited] @ posterior.weights(), mean)
    solved = posterior.solve(prior[visited])
    np.testing.assert_allclose(prior - prior[:, visited] @ solved, covariance, atol=1e-12)


@pytest.mark.parametrize(("measured_wh", "unit_wh"), [(1000.0, None), (0.0, "prior deviation")])
def test_drift_is_relative_to_the_largest_mean_or_prior_deviation(prior, measured_wh, unit_wh):
    posterior, rows = IncrementalPosterior(prior.diagonal()), prior[:2]
    posterior.append(np.empty((2, 0)), rows[:, :2], rows, np.arange(2))
    posterior.observe(np.arange(2), np.array([measured_wh, 0.0]), np.ones(2))
    fresh = Fresh(prior[:2, :2], posterior.precision, posterior.information)
    assert posterior.drift(fresh, 10) < 1e-12
    unit_wh = np.sqrt(prior.diagonal()[:2].mean()) if unit_wh else np.abs(posterior.mean).max()
    posterior.mean = posterior.mean + np.array([0.0, 1e-3])
    assert posterior.drift(fresh, 10) == pytest.approx(1e-3 / unit_wh)


def test_covariances_are_looked_up_also_after_restoring(prior) -> None:
    posterior, visited = IncrementalPosterior(prior.diagonal()), np.array([5, 1, 2])
    rows = prior[visited]
    posterior.append(np.empty((3, 0)), rows[:, visited], rows, visited)
    posterior.observe(np.arange(3), np.array([3.0, -1.0, 2.0]), np.full(3, 0.5))
    gain = np.linalg.solve(prior[np.ix_(visited, visited)] + 0.5 * np.eye(3), rows).T
    expected = prior - gain @ rows
    restored, read = IncrementalPosterior(prior.diagonal()), []

    def columns(arms: np.ndarray) -> np.ndarray:
        read.append(len(arms))
        return rows[:, arms]

    restored.restore(posterior.state(), columns)
    for arms in (np.array([0, 1, 5]), np.array([1, 3, 4, 6]), np.arange(7), np.array([3, 0])):
        for core in (posterior, restored):
            found = core.covariance(
                arms, lambda some, arms=arms: prior[np.ix_(arms, arms)][np.ix_(some, some)]
            )
            np.testing.assert_allclose(found, expected[np.ix_(arms, arms)], atol=1e-12)
            np.testing.assert_array_equal(found, found.T)
    assert read == [1, 7]  # few open arms one by one, and all once they are many
    for core in (posterior, restored):
        core.observe(np.array([1]), np.array([1.0]), np.array([0.5]))
    np.testing.assert_allclose(posterior.reference(), restored.reference(), atol=1e-12)
    assert read == [1, 7]
