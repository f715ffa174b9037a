"""Change test: payoffs of mean 1, false alarms of many streams, delay, and restarts."""

import numpy as np
import pytest

from evroute.arrays import BoolArray, FloatArray
from evroute.learning.change import POWERS, SETTLING_TRIPS, THRESHOLD, ChangeTest
from evroute.learning.intervals import PastErrors


def alarms(scores: FloatArray) -> FloatArray:
    """Return the first trip with an alarm of each stream, (s,), of scores (t, s); inf if none."""
    test, detected = ChangeTest(), []
    for score in scores:
        test.add(score)
        detected.append(np.broadcast_to(test.detected, score.shape))
    found: BoolArray = np.array(detected)
    return np.where(found.any(axis=0), found.argmax(axis=0) + 1.0, np.inf)


def test_records_pay_their_rank_to_the_power() -> None:
    """Every trip is the largest so far: p = 1/n of n trips; sums in a plain loop."""
    test = ChangeTest()
    evidence = dict.fromkeys(POWERS.tolist(), 0.0)
    for n in range(1, 27):
        test.add(float(n))
        if n > SETTLING_TRIPS:
            for k in evidence:
                mean = sum((rank / n) ** (k - 1) for rank in range(1, n + 1)) / n
                evidence[k] = (evidence[k] + 1) * (1 / n) ** (k - 1) / mean
        assert bool(test.detected) == (sum(evidence.values()) / len(evidence) >= THRESHOLD)
    assert test.detected


def test_the_evidence_grows_by_one_on_average_over_all_ranks() -> None:
    test, streams = ChangeTest(), SETTLING_TRIPS + 1
    for score in range(SETTLING_TRIPS):
        test.add(np.full(streams, float(score)))
    test.add(np.arange(streams) - 0.5)
    assert test._evidence.mean(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("shrinking", [False, True])
def test_stationary_streams_rarely_alarm(shrinking: bool) -> None:
    """Heavy tails, scales of their own: by t trips at most t/THRESHOLD of 2,000 streams (Doob).

    Errors that shrink as a forecast learns alarm no more often.
    """
    rng, trips = np.random.default_rng(3), 300
    scores = np.abs(rng.standard_t(2.5, (trips, 2000))) * rng.lognormal(0, 2, 2000)
    if shrinking:
        scores *= 1 + 3 / np.sqrt(np.arange(1, trips + 1))[:, np.newaxis]
    share = float(np.isfinite(alarms(scores)).mean())
    bound = trips / THRESHOLD
    assert share <= bound + 2 * np.sqrt(bound * (1 - bound) / 2000)
    assert shrinking or share > 0  # the streams can alarm at all


@pytest.mark.parametrize(("shift", "scale"), [(4.0, 1.0), (0.0, 4.0)])
def test_a_change_is_detected_within_20_trips(shift: float, scale: float) -> None:
    rng = np.random.default_rng(4)
    errors = rng.standard_normal((90, 300))
    errors[70:] = shift + scale * errors[70:]
    found = alarms(np.abs(errors))
    assert np.mean((found > 70) & (found <= 90)) >= 0.9


def test_trips_of_a_day_are_one_score_and_dates_change_nothing_without_them() -> None:
    """Root mean squares of days, by hand, as single trips of a test without dates."""
    rng = np.random.default_rng(5)
    by_day, plain = ChangeTest(), ChangeTest()
    for day in range(60):
        scores = np.abs(rng.standard_normal(1 + day % 3))
        for score in scores.tolist():
            by_day.add(score, float(day))
        plain.add(float(np.sqrt((scores**2).mean())))
    by_day.add(1.0, 60.0)  # ends the last day
    assert by_day._of_days == pytest.approx(plain.scores)
    assert not by_day.detected
    for day in range(61, 70):
        for _ in range(3):
            by_day.add(20.0, float(day))
    assert by_day.detected


def test_drivers_whose_errors_come_in_days_rarely_alarm() -> None:
    """Correlation 0.5 within a day: 12,000 trips, at most 0.3 alarms in 1,000, single trips 3 times
    as many.
    """
    alarms = {"day": 0, "trip": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tests, trips, day = {name: ChangeTest() for name in alarms}, 0, 0
        while trips < 2_000:
            day += 1
            of_day = rng.standard_t(5)
            for _ in range(1 + rng.poisson(1.5)):
                trips += 1
                score = abs(float(np.sqrt(0.5) * of_day + np.sqrt(0.5) * rng.standard_t(5)))
                for name, test in tests.items():
                    test.add(score, float(day) if name == "day" else np.nan)
                    if test.detected:
                        alarms[name] += 1
                        tests[name] = ChangeTest()
    assert alarms["day"] <= 0.3 * 12
    assert alarms["trip"] >= 3 * alarms["day"]


def test_a_restored_test_of_days_continues() -> None:
    errors, again = PastErrors(), PastErrors()
    for trip in range(60):
        errors.add(1.0 + trip % 7 / 7, 1.0, day=float(trip // 3))
    again.restore(errors.state())
    for trip in range(18):
        for each in (errors, again):
            each.add(50.0 + trip, 1.0, day=21.0 + trip // 3)
        assert again.changed == errors.changed
    assert errors.changed


def test_a_restored_test_continues() -> None:
    errors, again = PastErrors(), PastErrors()
    for trip in range(30, 0, -1):
        errors.add(1.0 + trip / 30, 1.0)
    again.restore(errors.state())
    detected = []
    for trip in range(12):
        for each in (errors, again):
            each.add(100.0 + trip, 1.0)
        assert again.changed == errors.changed
        detected.append(errors.changed)
    assert not detected[1]
    assert detected[-1]
    spread = errors.spread.half_width(0.9)
    errors.restart()
    assert not errors.changed
    assert errors.spread.half_width(0.9) == spread  # the tests alone begin anew


def test_a_restored_test_of_times_continues() -> None:
    """One that begins anew after each trip would never leave its first trips."""
    errors = PastErrors()
    for trip in range(40):
        errors.add_time(0.03 + 0.001 * (trip % 10))
        errors = _again(errors)
    assert not errors.changed
    for _ in range(12):
        errors.add_time(0.3)
        errors = _again(errors)
    assert errors.changed


def _again(errors: PastErrors) -> PastErrors:
    again = PastErrors()
    again.restore(errors.state())
    return again


def test_errors_of_times_alone_are_a_change() -> None:
    errors, rng = PastErrors(), np.random.default_rng(8)
    for _ in range(60):
        errors.add(rng.standard_normal(), 1.0)
        errors.add_time(0.05 * abs(rng.standard_normal()))
        errors.add_time(np.nan)
    assert not errors.changed
    trips = 0
    while not errors.changed:
        errors.add(rng.standard_normal(), 1.0)
        errors.add_time(0.3)
        trips += 1
    assert trips <= 7
    errors.restart()
    assert not errors.changed
