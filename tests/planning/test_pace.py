"""Pace of roads: by hand, in any order, from a stored state."""

import numpy as np
import pytest

from evroute.planning.forecasts.pace import Pace

LENGTH_M = np.array([100.0, 200.0, 300.0])
MAP_S = np.array([10.0, 20.0, 15.0])
FAR = np.array([[0.0, 0.0], [1e6, 0.0], [2e6, 0.0]])
"""Roads too far apart to have any weight for each other."""


def make(middle_m: np.ndarray = FAR) -> Pace:
    return Pace(LENGTH_M, MAP_S, middle_m)


def spm(pace: Pace) -> np.ndarray:
    return pace.paces(np.arange(3))


def test_before_any_trip_the_map_is_slowed_by_the_start_factor() -> None:
    assert make().factor == pytest.approx(1.6)
    assert spm(make()) == pytest.approx([0.16, 0.16, 0.08])


def test_one_trip_by_hand() -> None:
    pace = make()
    pace.learn(np.array([0, 1, 0]), np.array([30.0, np.nan, 10.0]))
    factor = (1 * 40 / 20 + 3 * 1.6) / 4  # two passes of edge 0, 10 s each on the map
    assert pace.factor == pytest.approx(factor)
    assert spm(pace) == pytest.approx([(factor * 10 + 40) / (3 * 100), factor * 0.1, factor * 0.05])


def test_the_times_of_a_network_are_the_pace_times_the_length(hill) -> None:
    pace = Pace.of_network(hill)
    assert pace.time_s == pytest.approx(1.6 * hill.time_s)
    assert pace.trips == 0
    pace.learn(np.array([0]), np.array([130.0]))  # 100 s on the map
    factor = (1.3 + 3 * 1.6) / 4
    assert pace.time_s[0] == pytest.approx((factor * 100 + 130) / 2)
    assert pace.trips == 1


def test_roads_take_the_pace_of_their_surroundings() -> None:
    pace = make(np.array([[0.0, 0.0], [0.0, 300.0], [0.0, 601.0]]))
    pace.learn(np.array([1]), np.array([60.0]))  # three times as long as on the map
    factor = (3 + 3 * 1.6) / 4
    weight = np.exp(-0.5 * 1.5**2)
    near = (10 * factor + weight * 60) / (10 + weight * 20)
    # the driven road itself has no driven neighbour, the third is beyond 600 m of it
    expected_s = [near * 10, (factor * 20 + 60) / 2]
    assert pace.time_s[:2] == pytest.approx(expected_s)
    beyond = make(np.array([[0.0, 0.0], [0.0, 300.0], [0.0, 901.0]]))
    beyond.learn(np.array([1]), np.array([60.0]))
    assert beyond.time_s[2] == pytest.approx(factor * 15)


def test_roads_alone_go_by_their_own_passes_and_by_the_map_before_the_first() -> None:
    pace = Pace(LENGTH_M, MAP_S, FAR / 1e5, alone=True)
    assert pace.time_s == pytest.approx(MAP_S)
    pace.learn(np.array([0, 1, 0]), np.array([30.0, np.nan, 10.0]))
    assert pace.time_s == pytest.approx([20.0, 20.0, 15.0])
    assert pace.times(np.array([2, 0])) == pytest.approx([15.0, 20.0])


def test_a_trip_without_times_changes_nothing() -> None:
    pace = make()
    pace.learn(np.array([0, 1]), np.full(2, np.nan))
    assert pace.factor == pytest.approx(1.6)


def test_order_does_not_matter_and_a_state_continues() -> None:
    trips = [
        (np.array([0, 1]), np.array([12.0, 31.0])),
        (np.array([2]), np.array([20.0])),
        (np.array([1, 2, 1]), np.array([25.0, 18.0, np.nan])),
    ]
    forth, back, continued = make(), make(), make()
    for trip in trips:
        forth.learn(*trip)
    for trip in reversed(trips):
        back.learn(*trip)
    np.testing.assert_allclose(spm(back), spm(forth), rtol=1e-12)
    continued.learn(*trips[0])
    later = make()
    later.restore(continued.state())
    for trip in trips[1:]:
        later.learn(*trip)
    assert np.array_equal(spm(later), spm(forth))
    assert spm(continued)[2] != spm(later)[2]


def test_a_state_of_other_edges_is_refused() -> None:
    with pytest.raises(ValueError, match="a pace of 3 edges, expected 1"):
        Pace(np.ones(1), np.ones(1), np.zeros((1, 2))).restore(make().state())


def test_times_at_a_departure_are_times_of_the_day_multiplied_by_the_profile() -> None:
    """Edge 0 takes 10 or 20 s by turns before noon, 40 or 80 s after; the map's 10 s."""
    pace, edge = make(), np.array([0])
    for second, noon in ((10.0, 40.0), (20.0, 80.0)) * 2:
        pace.learn(edge, np.array([second]), 7 * 3600.0)
        pace.learn(edge, np.array([noon]), (24 + 13) * 3600.0)
    log = np.log
    noise = 2 * (log(2) ** 2) / 6  # squares within quarters: 8 passes, 2 means
    between = 8 * log(2) ** 2 - noise
    ratio = noise / (between / (8 - (16 + 16) / 8))
    slow, fast = np.exp(4 / (4 + ratio) * log(2) * np.array([1, -1]))
    slow, fast = 2 * slow / (slow + fast), 2 * fast / (slow + fast)  # as many passes in both
    at_7, at_13, at_night = (pace.times(edge, hour * 3600.0) for hour in (7, 13, 1))
    mean_s = pace.times(edge)
    assert at_7 == pytest.approx(mean_s * fast)
    assert at_13 == pytest.approx(mean_s * slow)
    assert at_night == pytest.approx(mean_s)
    assert pace.paces(edge, 7 * 3600.0) == pytest.approx(at_7 / 100.0)
    again = make()
    again.restore(pace.state())
    assert np.array_equal(again.times(edge, 13 * 3600.0), at_13)
    old = {name: part for name, part in pace.state().items() if name != "profile"}
    again.restore(old)  # a belief without a profile: the mean of the day
    assert np.array_equal(again.times(edge, 13 * 3600.0), mean_s)


JAMS = (2.0, 3.3, 5.0)
"""How many times slower a road is in the second quarter of the day than in the others."""
MANY = 400


def driven_by_quarter(jam: float, passes, noise: float, seed: int = 0) -> tuple[Pace, np.ndarray]:
    """Return the pace of roads apart of 10 s each, and their mean times by quarter, (4,) s.

    Each has its passes in the four quarters of the day, with log-normal noise.
    """
    rng, edge = np.random.default_rng(seed), np.arange(MANY)
    apart = np.column_stack([1e6 * edge, np.zeros(MANY)])
    pace = Pace(np.full(MANY, 100.0), np.full(MANY, 10.0), apart, start_factor=1.0)
    factor = np.array([1.0, jam, 1.0, 1.0])
    for quarter, count in enumerate(passes):
        for _ in range(count):
            seconds = 10.0 * factor[quarter] * rng.lognormal(0.0, noise, MANY)
            pace.learn(edge, seconds, (6 * quarter + 1) * 3600.0)
    return pace, 10.0 * factor * np.exp(noise**2 / 2)


@pytest.mark.parametrize("jam", JAMS)
@pytest.mark.parametrize("passes", [(120, 120, 120, 120), (40, 200, 60, 180)])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_times_by_quarter_are_unbiased_for_the_mean_time(jam, passes, noise) -> None:
    """Every road is one sample of the estimate.

    The deviations are shrunk by s²/tau² passes, about 0.1 to 1 here, against 40 and more.
    """
    pace, mean_s = driven_by_quarter(jam, passes, noise)
    of_day_s = np.array(passes) / sum(passes) @ mean_s
    assert pace.time_s.mean() == pytest.approx(of_day_s, rel=0.003)
    for quarter, expected_s in enumerate(mean_s):
        found_s = pace.times(np.arange(MANY), (6 * quarter + 2) * 3600.0).mean()
        assert found_s == pytest.approx(expected_s, rel=0.012 if noise else 0.001)


def test_the_mean_of_the_quarters_equals_the_day() -> None:
    """Also after few passes, whose deviations are shrunk."""
    passes = (1, 3, 2, 0)
    pace, _ = driven_by_quarter(3.0, passes, 0.4)
    edge = np.arange(MANY)
    by_quarter_s = [pace.times(edge, 6 * 3600.0 * quarter) for quarter in range(4)]
    mean_s = np.array(passes[:3]) / 6 @ by_quarter_s[:3]
    np.testing.assert_allclose(mean_s, pace.time_s)
    np.testing.assert_array_equal(by_quarter_s[3], pace.time_s)  # nobody drove then
