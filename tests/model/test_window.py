"""Trips that repeat, in a window of the incremental posterior, against eq. 3 on dense matrices."""

import numpy as np
import pytest

from evroute.model import window
from evroute.model.incremental_posterior import IncrementalPosterior

ARMS = 90


class Roads:
    """A posterior of arms that are all open at first, and all its measurements."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        root = self.rng.normal(size=(ARMS, ARMS))
        self.prior = root @ root.T / ARMS + np.eye(ARMS)
        self.posterior = IncrementalPosterior(self.prior.diagonal())
        self.visited = np.empty(0, dtype=np.int64)
        self.driven: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def drive(self, arms: np.ndarray, *posteriors: IncrementalPosterior) -> None:
        """Measure arms once each, in every posterior."""
        residual_wh = self.rng.normal(size=len(arms))
        noise_variance = self.rng.uniform(0.2, 2.0, len(arms))
        new = arms[~np.isin(arms, self.visited)]
        for posterior in posteriors or (self.posterior,):
            if len(new):
                with_old = self.prior[np.ix_(new, self.visited)]
                among = self.prior[np.ix_(new, new)]
                posterior.append(with_old, among, self.prior[new], new)
            posterior.observe(posterior.slot_of[arms], residual_wh, noise_variance)
        self.visited = np.append(self.visited, new)
        self.driven.append((arms, residual_wh, noise_variance))

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of all arms by eq. 3, one row for each measurement."""
        arms, residual_wh, noise_variance = map(np.concatenate, zip(*self.driven, strict=True))
        gain = np.linalg.solve(
            self.prior[np.ix_(arms, arms)] + np.diag(noise_variance), self.prior[arms]
        ).T
        return gain @ residual_wh, (self.prior - gain @ self.prior[arms]).diagonal()


@pytest.fixture
def roads() -> Roads:
    roads = Roads()
    for first in range(0, 40, 10):  # 40 slots, no trip repeats
        roads.drive(np.arange(first, first + 10))
    return roads


def sizes_of_windows(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Record the prior rows of each product and the slots of all, which stand for no window."""
    sizes, weights = [], window.prior_row_weights

    def watched(places, inverse, product, precision):
        sizes.append((len(inverse), len(precision)))
        return weights(places, inverse, product, precision)

    monkeypatch.setattr(window, "prior_row_weights", watched)
    return sizes


def test_trips_that_repeat_are_learned_exactly(roads, monkeypatch) -> None:
    sizes = sizes_of_windows(monkeypatch)
    usual = np.arange(3, 13)
    trips = [usual, usual, usual[::-1], np.append(usual[:8], [50, 51]), usual, np.arange(8, 20)]
    trips += [
        np.arange(70, 80),
        usual,
        np.arange(5, 15),
        *(np.arange(k, k + 10) for k in range(30)),
    ]
    for trip in trips:
        roads.drive(trip)
        for found, expected in zip(roads.posterior.reference(), roads.dense(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    n_slots = len(roads.visited)
    products = [slots for slots, prior_rows in sizes if prior_rows < 40]
    assert len(products) > 30  # of windows
    assert max(prior_rows for _, prior_rows in sizes if prior_rows < 40) <= n_slots // 2
    assert sizes.count((10, 42)) + sizes.count((10, 52)) >= 2  # windows end and begin anew


def test_a_posterior_restored_within_a_window_goes_on_to_the_last_bit(roads) -> None:
    usual = np.arange(3, 13)
    for _ in range(4):
        roads.drive(usual)
    prior, visited = roads.prior, roads.visited.copy()
    restored = IncrementalPosterior(prior.diagonal())
    restored.restore(roads.posterior.state(), lambda arms: prior[np.ix_(visited, arms)])
    for trip in (usual, usual, np.append(usual[:8], [60, 61]), usual):
        roads.drive(trip, roads.posterior, restored)
    for found, expected in zip(restored.reference(), roads.posterior.reference(), strict=True):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(restored.reference(), roads.dense(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_window_ends_when_all_numbers_are_computed_afresh(roads) -> None:
    usual = np.arange(3, 13)
    for _ in range(3):
        roads.drive(usual)
    assert len(roads.posterior._window._slots) == 10
    roads.posterior.refresh(roads.prior[np.ix_(roads.visited, roads.visited)])
    assert not len(roads.posterior._window._slots)
    roads.drive(usual)
    for found, expected in zip(roads.posterior.reference(), roads.dense(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
