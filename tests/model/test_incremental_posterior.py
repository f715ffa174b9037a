"""The numbers that the exact posterior keeps, against eq. 3 on matrices of seven arms."""

from copy import deepcopy

import numpy as np
import pytest

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


def test_means_are_corrected_and_drift_is_in_prior_variances(prior) -> None:
    posterior, rows = IncrementalPosterior(prior.diagonal()), prior[:3]
    posterior.append(np.empty((3, 0)), rows[:, :3], rows, np.arange(3))
    posterior.observe(np.arange(3), np.array([1000.0, 0.0, -3.0]), np.full(3, 0.2))
    right = posterior.mean.copy(), posterior.reference()[0]
    posterior.mean = posterior.mean + np.array([0.0, 1e-3, 2e-3])
    for slots in ([1], [0, 2]):
        assert posterior.correct(np.array(slots), prior[slots, :3], 10) < 1e-12
    np.testing.assert_allclose(posterior.mean, right[0], rtol=1e-12)
    np.testing.assert_allclose(posterior.reference()[0], right[1], rtol=1e-12)
    state = posterior.state()
    state["covariance"][0] += 1e-3
    posterior.restore(state, lambda arms: rows[:, arms])
    drift = posterior.correct(np.arange(3), prior[:3, :3], 10)
    of_open = (
        prior[3:, 0] / 0.2
    ) ** 2  # variance of an open arm: k_aa - k_aD (Lam - Lam C Lam) k_Da
    expected = 1e-3 * max(1.0, of_open.max()) / prior.diagonal()[:3].mean()
    assert drift == pytest.approx(expected, rel=1e-6)


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


def test_a_restored_covariance_stays_packed_until_the_next_measurement(prior) -> None:
    posterior, rows = IncrementalPosterior(prior.diagonal()), prior[:3]
    posterior.append(np.empty((3, 0)), rows[:, :3], rows, np.arange(3))
    posterior.observe(np.arange(3), np.array([3.0, -1.0, 2.0]), np.full(3, 0.5))
    state = posterior.state()
    restored = IncrementalPosterior(prior.diagonal())
    restored.restore(state, lambda arms: rows[:, arms])
    restored.covariance(np.arange(7), lambda some: prior[np.ix_(some, some)])
    assert restored._packed is not None
    assert not restored._triangle.any()
    for name, numbers in restored.state().items():
        np.testing.assert_array_equal(numbers, state[name])
    for core in (posterior, restored):
        core.observe(np.array([1]), np.array([4.0]), np.array([2.0]))
    assert restored._packed is None
    for name, numbers in restored.state().items():
        np.testing.assert_array_equal(numbers, posterior.state()[name])


def test_many_columns_of_a_restored_covariance_take_the_square(prior, monkeypatch) -> None:
    monkeypatch.setattr("evroute.model.incremental_posterior.COLUMNS_PACKED", 2)
    posterior, rows = IncrementalPosterior(prior.diagonal()), prior[:3]
    posterior.append(np.empty((3, 0)), rows[:, :3], rows, np.arange(3))
    posterior.observe(np.arange(3), np.array([3.0, -1.0, 2.0]), np.full(3, 0.5))
    restored = IncrementalPosterior(prior.diagonal())
    restored.restore(posterior.state(), lambda arms: rows[:, arms])
    solved = np.linalg.solve(prior[:3, :3] + 0.5 * np.eye(3), rows)
    expected = prior - rows.T @ solved
    for arms in (np.array([0, 3, 4]), np.array([1, 5, 6])):
        found = restored.covariance(
            arms, lambda some, arms=arms: prior[np.ix_(arms[some], arms[some])]
        )
        np.testing.assert_allclose(found, expected[np.ix_(arms, arms)], atol=1e-12)
    assert restored._packed is None


def test_growing_arrays_keep_their_numbers(prior, monkeypatch) -> None:
    monkeypatch.setattr("evroute.model.incremental_posterior.BLOCK", 2)
    posterior = IncrementalPosterior(prior.diagonal())
    for arm in range(7):
        rows = prior[[arm]]
        posterior.append(rows[:, :arm], rows[:, [arm]], rows, np.array([arm]))
        posterior.observe(np.array([arm]), np.array([arm - 2.0]), np.full(1, 0.5))
    solved = np.linalg.solve(prior + 0.5 * np.eye(7), prior)
    np.testing.assert_allclose(posterior.among(np.arange(7)), prior - prior @ solved, atol=1e-12)
    np.testing.assert_allclose(posterior.mean, (np.arange(7) - 2.0) @ solved, atol=1e-12)
    beyond = np.tril(posterior._lower)[7:]
    assert not beyond.any()


def test_a_copy_grows_on_its_own(prior, monkeypatch) -> None:
    monkeypatch.setattr("evroute.model.incremental_posterior.BLOCK", 2)
    posterior = IncrementalPosterior(prior.diagonal())
    for arm in range(7):
        if arm == 3:  # after a trip that the first array does not hold
            posterior = deepcopy(posterior)
        rows = prior[[arm]]
        posterior.append(rows[:, :arm], rows[:, [arm]], rows, np.array([arm]))
        posterior.observe(np.array([arm]), np.array([arm - 2.0]), np.full(1, 0.5))
    solved = np.linalg.solve(prior + 0.5 * np.eye(7), prior)
    np.testing.assert_allclose(posterior.among(np.arange(7)), prior - prior @ solved, atol=1e-12)
