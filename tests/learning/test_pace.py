"""Pace of roads: by hand, in any order, from a stored state."""

import numpy as np
import pytest

from evroute.learning.pace import Pace


def make() -> Pace:
    return Pace(np.array([100.0, 200.0, 300.0]), np.array([0.1, 0.1, 0.05]))


def test_before_any_trip_the_map_is_slowed_by_the_start_factor() -> None:
    assert make().factor == pytest.approx(1.6)
    assert make().spm == pytest.approx([0.16, 0.16, 0.08])


def test_one_trip_by_hand() -> None:
    pace = make()
    pace.learn(np.array([0, 1, 0]), np.array([30.0, np.nan, 10.0]))
    factor = (1 * 40 / 20 + 3 * 1.6) / 4  # two passes of edge 0, 10 s each on the map
    assert pace.factor == pytest.approx(factor)
    assert pace.spm == pytest.approx([(factor * 10 + 40) / (3 * 100), factor * 0.1, factor * 0.05])


def test_the_times_of_a_network_are_the_pace_times_the_length(hill) -> None:
    pace = Pace.of_network(hill)
    assert pace.time_s == pytest.approx(1.6 * hill.time_s)
    assert pace.trips == 0
    pace.learn(np.array([0]), np.array([130.0]))  # 100 s on the map
    factor = (1.3 + 3 * 1.6) / 4
    assert pace.time_s[:2] == pytest.approx([(factor * 100 + 130) / 2, factor * 100.1])
    assert pace.trips == 1


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
    np.testing.assert_allclose(back.spm, forth.spm, rtol=1e-12)
    continued.learn(*trips[0])
    later = make()
    later.restore(continued.state())
    for trip in trips[1:]:
        later.learn(*trip)
    assert np.array_equal(later.spm, forth.spm)
    assert continued.spm[2] != later.spm[2]


def test_a_state_of_other_edges_is_refused() -> None:
    with pytest.raises(ValueError, match="a pace of 3 edges, expected 1"):
        Pace(np.ones(1), np.ones(1)).restore(make().state())
