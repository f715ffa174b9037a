"""Profiles of the day: the shrinkage in closed form, and no profile without evidence."""

import numpy as np
import pytest

from evroute.planning.forecasts.day_profile import DayProfile, quarter_of

HOUR_S = 3600.0


def filled(values: np.ndarray, n_edges: int) -> DayProfile:
    """Return the profile of values (quarters, passes, edges); NaN where there was no pass."""
    profile = DayProfile(n_edges)
    for quarter, passes in enumerate(values):
        for row in passes:
            driven = np.flatnonzero(np.isfinite(row))
            profile.add(driven, row[driven], (24 + 6 * quarter + 1) * HOUR_S)
    return profile


def test_quarters_of_departures() -> None:
    hours = [0, 5.99, 6, 12, 18, 23.99, 24, 31]
    assert [quarter_of(hour * HOUR_S) for hour in hours] == [0, 0, 1, 2, 3, 3, 0, 1]


def test_a_profile_by_hand() -> None:
    """Two edges with passes 0, 2 in one quarter and 3, 5 in another, and 1, 1 and 2, 2."""
    values = np.full((4, 2, 2), np.nan)
    values[1] = [[0.0, 1.0], [2.0, 1.0]]
    values[3] = [[3.0, 2.0], [5.0, 2.0]]
    profile = filled(values, 2)
    noise = (2.0 + 2.0 + 0.0 + 0.0) / 4  # squares within quarters; 8 passes, 4 means
    between = 4 * 1.5**2 + 4 * 0.5**2  # day means are 2.5 and 1.5
    variance = (between - noise * (4 - 2)) / (2 * (4 - (4 + 4) / 4))
    ratio = noise / variance
    shrunk = 2.0 / (2.0 + ratio)
    assert profile.deviation(7 * HOUR_S) == pytest.approx([-1.5 * shrunk, -0.5 * shrunk])
    assert profile.deviation(19 * HOUR_S) == pytest.approx([1.5 * shrunk, 0.5 * shrunk])
    assert profile.deviation(0.0) == pytest.approx([0.0, 0.0])  # no pass: the mean of the day
    assert profile.deviation(None) == pytest.approx([0.0, 0.0])


def test_deviations_are_posterior_means_at_the_true_variances() -> None:
    """With many edges the two variances are found, and the shrinkage is that of the closed form."""
    rng, edges, passes, noise_std, std = np.random.default_rng(0), 4000, 3, 0.3, 0.2
    truth = std * rng.standard_normal((4, 1, edges))
    values = truth + noise_std * rng.standard_normal((4, passes, edges))
    profile = filled(values, edges)
    apart = values.mean(axis=1) - values.mean(axis=(0, 1))
    closed = passes / (passes + noise_std**2 / std**2) * apart
    for quarter in range(4):
        found = profile.deviation(6 * HOUR_S * quarter)
        # a ratio of two variances of some 12,000 and 32,000 degrees of freedom: 2 % off at most
        np.testing.assert_allclose(found, closed[quarter], rtol=0.03)
    error, raw = closed - (truth[:, 0] - truth.mean(axis=(0, 1))), apart - truth[:, 0]
    assert np.sqrt(np.mean(error**2)) < np.sqrt(np.mean(raw**2))


def test_noise_alone_gives_no_profile_worth_the_name() -> None:
    """The mean square deviation is below a tenth of that of the means of quarters."""
    values = np.random.default_rng(1).standard_normal((4, 4, 2000))
    profile = filled(values, 2000)
    found = np.array([profile.deviation(6 * HOUR_S * quarter) for quarter in range(4)])
    raw = values.mean(axis=1) - values.mean(axis=(0, 1))
    assert np.mean(found**2) < 0.1 * np.mean(raw**2)


@pytest.mark.parametrize("quarters", [[0], [0, 2]])
def test_trips_of_one_quarter_or_single_passes_give_no_profile(quarters: list[int]) -> None:
    values = np.full((4, 1, 3), np.nan)
    values[quarters] = np.arange(3.0) + np.array(quarters)[:, np.newaxis, np.newaxis]
    profile = filled(values, 3)
    assert not profile.deviation(HOUR_S).any()
    again = filled(np.where(np.arange(4)[:, None, None] == 0, np.ones((4, 2, 3)), np.nan), 3)
    assert not again.deviation(HOUR_S).any()


def test_trips_without_times_count_in_the_mean_alone() -> None:
    """By night nothing is known, though half of the trips have no time; the day mean has all."""
    profile, edge = DayProfile(3), np.arange(3)
    for offset in (-0.01, 0.01):
        profile.add(edge, np.full(3, offset), 13 * HOUR_S)
        profile.add(edge, np.full(3, 0.4 + offset), 19 * HOUR_S)
        profile.add(edge, np.full(3, 0.8 + offset), None)
    np.testing.assert_allclose(profile.mean(), 0.4)
    assert not profile.deviation(2 * HOUR_S).any()
    assert (profile.deviation(13 * HOUR_S) < -0.3).all()


def test_a_continued_profile_is_the_same_in_any_order() -> None:
    rng = np.random.default_rng(2)
    trips = [(rng.integers(0, 5, 4), rng.standard_normal(4), 5 * HOUR_S * t) for t in range(12)]
    forth, back = DayProfile(5), DayProfile(5)
    for trip in trips[:6]:
        forth.add(*trip)
    forth = DayProfile(5, forth.moments)
    for trip in trips[6:]:
        forth.add(*trip)
    for trip in reversed(trips):
        back.add(*trip)
    for hour in (1, 7, 13, 19):
        np.testing.assert_allclose(
            forth.deviation(hour * HOUR_S), back.deviation(hour * HOUR_S), atol=1e-12
        )
