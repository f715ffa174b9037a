"""Adaptive conformal intervals: they hold as often as they say, however wrong the
deviations are.
"""

import numpy as np
import pytest
from scipy.stats import norm

from evroute.policy.conformal import LEVELS, AdaptiveConformal

N_TRIPS = 4000


def misses(scores: np.ndarray) -> np.ndarray:
    """Return (t, 4) whether each trip fell outside each interval, told in turn."""
    conformal = AdaptiveConformal()
    missed = []
    for score in scores:
        now = conformal.multipliers
        missed.append(score > now)
        conformal.update(0.0, 1.0, score, now)
    return np.array(missed)


def test_before_any_trip_the_multipliers_are_those_of_a_gaussian() -> None:
    conformal = AdaptiveConformal()
    assert np.allclose(conformal.multipliers, norm.ppf(0.5 + np.array(LEVELS) / 2))
    assert conformal.inflation == 1.0


@pytest.mark.parametrize("said_too_small_by", [0.5, 1.0, 2.0])
def test_long_run_coverage_is_within_two_percent_under_wrong_deviations(
    said_too_small_by: float,
) -> None:
    scores = np.abs(np.random.default_rng(3).standard_normal(N_TRIPS)) * said_too_small_by
    coverage = 1 - misses(scores).mean(axis=0)
    assert np.allclose(coverage, LEVELS, atol=0.02)


def test_coverage_holds_where_deviations_go_wrong_over_time() -> None:
    scores = np.abs(np.random.default_rng(4).standard_normal(N_TRIPS)) * np.repeat(
        [0.5, 4, 1, 0.3], N_TRIPS // 4
    )
    assert np.allclose(1 - misses(scores).mean(axis=0), LEVELS, atol=0.02)


def test_misses_obey_the_bound_of_proposition_4_1_for_ever_worse_trips() -> None:
    # max(alpha, 1 - alpha) + step over step T, and here a few misses more for twice the greatest
    # score is no line
    scores = np.linspace(1, 30, 1000)
    share = misses(scores).mean(axis=0)
    alpha = 1 - np.array(LEVELS)
    assert np.all(
        np.abs(share - alpha) <= (np.maximum(alpha, 1 - alpha) + 0.02) / (0.02 * 1000) + 0.01
    )


def test_deviations_said_twice_too_small_are_widened_twice() -> None:
    conformal = AdaptiveConformal()
    rng = np.random.default_rng(5)
    inflations = []
    for score in 2 * np.abs(rng.standard_normal(1500)):
        conformal.update(0.0, 1.0, score, conformal.multipliers)
        inflations.append(conformal.inflation)
    assert np.mean(inflations[200:]) == pytest.approx(2.0, rel=0.1)
    assert conformal.trips_heard == 100


def test_a_trip_without_a_deviation_changes_nothing() -> None:
    conformal = AdaptiveConformal()
    conformal.update(100.0, float("nan"), 120.0, conformal.multipliers)
    conformal.update(100.0, 0.0, 120.0, conformal.multipliers)
    assert conformal.trips == 0


def test_the_state_goes_on_where_it_was() -> None:
    scores = np.abs(np.random.default_rng(6).standard_normal(300))
    first, second = AdaptiveConformal(), AdaptiveConformal()
    for score in scores[:150]:
        first.update(0.0, 1.0, score, first.multipliers)
    second.restore(first.state())
    for score in scores[150:]:
        first.update(0.0, 1.0, score, first.multipliers)
        second.update(0.0, 1.0, score, second.multipliers)
    assert np.array_equal(first.multipliers, second.multipliers)
