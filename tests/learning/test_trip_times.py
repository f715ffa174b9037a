"""Travel times of trips: expected by the pace of roads, with intervals that hold."""

import numpy as np
import pytest

from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.trips.times import START_S, TripTimes
from evroute.planning.forecasts.pace import Pace


@pytest.fixture
def roads(make_network):
    edges = [(str(i), i, i + 1) for i in range(20)]
    return make_network(edges, [(500.0 * i, 0.0, 0.0) for i in range(21)])


def test_before_any_trip_the_map_and_the_noise_at_the_start_are_in_force(roads) -> None:
    edge = np.arange(8)
    expected = TripTimes(KnownRoads(roads)).expect(edge)
    assert expected["mean_s"] == pytest.approx(1.6 * roads.time_s[edge].sum())
    km = 4.0
    assert expected["sd_s"] == pytest.approx(np.sqrt(60**2 + 40**2 * km + 20**2 * km**2))
    assert START_S.trip_wh == 60.0
    slow = TripTimes(KnownRoads(roads)).expect(edge, speed_factor=0.5)
    assert slow["mean_s"] == pytest.approx(2 * expected["mean_s"])
    assert (
        TripTimes(KnownRoads(roads)).expect(np.array([0]))["low90_s"] == 0.0
    )  # no time is negative


def test_the_mean_is_the_pace_and_edges_without_a_time_do_not_count(roads) -> None:
    times, pace = TripTimes(KnownRoads(roads)), Pace.of_network(roads)
    rng = np.random.default_rng(1)
    for _ in range(12):
        edge = np.arange(rng.integers(2, 20))
        travel_s = roads.time_s[edge] * rng.uniform(1.0, 3.0)
        travel_s[-1] = np.nan
        times.learn(edge, travel_s)
        pace.learn(edge, travel_s)
    assert times.errors.trips == 12
    assert times.expect(np.arange(5))["mean_s"] == pytest.approx(pace.time_s[:5].sum())


def test_ninety_per_cent_of_trips_take_a_time_within_their_interval(roads) -> None:
    """Trips with a common factor, log-normal 0.2; 200 trips in each of 5 seeds."""
    held = []
    for seed in range(5):
        rng, times = np.random.default_rng(seed), TripTimes(KnownRoads(roads))
        for i in range(200):
            edge = np.arange(rng.integers(4, 20))
            travel_s = 1.4 * roads.time_s[edge] * rng.lognormal(0.0, 0.2)
            expected = times.expect(edge)
            if i >= 20:
                held.append(expected["low90_s"] <= travel_s.sum() <= expected["high90_s"])
            times.learn(edge, travel_s)
    # 900 trips: standard error 1 %, and one more for errors that neighbours share
    assert np.mean(held) == pytest.approx(0.9, abs=0.03)


def test_times_come_back_from_their_state(roads) -> None:
    times, again = TripTimes(KnownRoads(roads)), TripTimes(KnownRoads(roads))
    for k in range(1, 12):
        times.learn(np.arange(k), roads.time_s[:k] * (1 + k % 3))
    again.restore(times.state())
    assert again.expect(np.arange(9)) == times.expect(np.arange(9))


@pytest.mark.parametrize(("slow", "changed"), [(("a",), False), (("a", "b", "c"), True)])
def test_the_times_of_one_car_do_not_judge_the_roads(roads, slow, changed) -> None:
    """Several cars that take half more time are a change of roads, one of six is another driver."""
    times, rng, seen = TripTimes(KnownRoads(roads)), np.random.default_rng(12), False
    edge, cars = np.arange(4), "abcdef"
    usual_s = roads.time_s[edge]
    for trip in range(360):
        car = cars[trip % 6]
        factor = 1.5 if trip >= 240 and car in slow else 1.0
        times.learn(edge, factor * usual_s * rng.lognormal(0.0, 0.03), car=car)
        seen = seen or times.errors.changed
    assert seen == changed
