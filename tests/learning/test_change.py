"""Change test: evidence by a dense normal model, false alarms, delays, and restarts."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from evroute.arrays import FloatArray
from evroute.learning.change import FACTORS, SETTLING_TRIPS, SHIFTS, THRESHOLD, ChangeTest
from evroute.learning.intervals import PastErrors


def alarm(scores: FloatArray, days: FloatArray | None = None) -> float:
    """Return the first trip with an alarm, or inf if there is none."""
    test = ChangeTest()
    days = np.full(len(scores), np.nan) if days is None else days
    for t, (score, day) in enumerate(zip(scores.tolist(), days.tolist(), strict=True), start=1):
        test.add(score, day)
        if test.detected:
            return t
    return np.inf


def test_the_evidence_is_that_of_a_dense_normal_model_of_a_week() -> None:
    """Ranks by a loop, covariances of the usual driver, densities of all trips at once."""
    rng = np.random.default_rng(2)
    settling = rng.standard_normal(SETTLING_TRIPS)
    scores, days = rng.standard_normal(6), np.array([7.0, 7.0, 8.0, 10.0, 10.0, 10.0])
    test, normal = ChangeTest(), list[float]()
    for score in settling.tolist():
        test.add(score, 0.0)
    assert test.evidence == 0.0
    known = settling.tolist()
    for t, (score, day) in enumerate(zip(scores.tolist(), days.tolist(), strict=True), start=1):
        below = sum(abs(other) < abs(score) for other in known)
        normal.append(np.sign(score) * norm.ppf(0.5 + (below + 0.5) / (len(known) + 1) / 2))
        known.append(score)
        test.add(score, day)
        same_day = days[:t, np.newaxis] == days[:t]
        covariance = np.where(same_day, 0.4, 0.05) + 0.6 * np.eye(t)
        usual = multivariate_normal(np.zeros(t), covariance).logpdf(normal)
        others = [multivariate_normal(np.full(t, d), covariance).logpdf(normal) for d in SHIFTS]
        others += [
            multivariate_normal(np.zeros(t), f * f * covariance).logpdf(normal) for f in FACTORS
        ]
        assert test.evidence == pytest.approx(np.mean(np.exp(np.array(others) - usual)))


def test_evidence_of_earlier_weeks_multiplies() -> None:
    """Trips without a date are days, and seven of them a week."""
    test, evidence = ChangeTest(), list[float]()
    for t in range(SETTLING_TRIPS + 14):
        test.add(2.0 + t, np.nan)  # each is the greatest so far
        evidence.append(test.evidence)
    assert evidence[SETTLING_TRIPS - 1] == 0.0
    assert np.all(np.diff(evidence[SETTLING_TRIPS:]) > 0.0)
    assert evidence[-1] > evidence[SETTLING_TRIPS + 6] ** 1.5
    assert test.detected == (test.evidence >= THRESHOLD)


@pytest.mark.parametrize("shrinking", [False, True])
def test_stationary_streams_rarely_alarm(shrinking: bool) -> None:
    """Heavy tails, scales of their own: by t trips at most t/7/THRESHOLD of the streams (Doob).

    Errors and biases that shrink as a forecast learns alarm no more often.
    """
    rng, trips, streams = np.random.default_rng(3), 300, 400
    scores = rng.standard_t(2.5, (streams, trips))
    if shrinking:
        learned = np.sqrt(np.arange(1, trips + 1))
        scores = scores * (1 + 3 / learned) + 2 / learned
    scores *= rng.lognormal(0, 2, (streams, 1))
    share = np.mean([np.isfinite(alarm(each)) for each in scores])
    bound = trips / 7 / THRESHOLD
    assert share <= bound + 2 * np.sqrt(bound * (1 - bound) / streams)


@pytest.mark.parametrize(
    ("shift", "scale", "trips"), [(4.0, 1.0, 10), (-4.0, 1.0, 10), (2.0, 1.0, 20), (0.0, 4.0, 30)]
)
def test_a_change_is_detected_within_some_trips(shift: float, scale: float, trips: int) -> None:
    rng = np.random.default_rng(4)
    errors = rng.standard_normal((300, 70 + trips))
    errors[:, 70:] = shift + scale * errors[:, 70:]
    found = np.array([alarm(each) for each in errors])
    assert np.mean((found > 70) & (found <= 70 + trips)) >= 0.9


def test_a_small_shift_is_found_by_its_sign() -> None:
    """By half a deviation within 160 trips, where sizes alone hardly change."""
    rng = np.random.default_rng(6)
    errors = rng.standard_normal((60, 260))
    errors[:, 100:] += 0.5
    found = np.array([alarm(each) for each in errors])
    assert np.mean(found > 100) >= 0.98
    assert np.mean(np.isfinite(found)) >= 0.8


def test_drivers_whose_errors_come_in_days_rarely_alarm() -> None:
    """Correlation 0.5 within a day: 12,000 trips, at most 0.3 alarms in 1,000."""
    alarms = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        test, trips, day = ChangeTest(), 0, 0
        while trips < 2_000:
            day += 1
            of_day = rng.standard_t(5)
            for _ in range(1 + rng.poisson(1.5)):
                trips += 1
                test.add(np.sqrt(0.5) * of_day + np.sqrt(0.5) * rng.standard_t(5), float(day))
                if test.detected:
                    alarms += 1
                    test = ChangeTest()
    assert alarms <= 0.3 * 12


def test_a_restored_test_of_days_continues() -> None:
    errors, again = PastErrors(), PastErrors()
    for trip in range(60):
        errors.add((1.0 + trip % 7 / 7) * (-1) ** trip, 1.0, day=float(trip // 3))
    again.restore(errors.state())
    for trip in range(18):
        for each in (errors, again):
            each.add(50.0 + trip, 1.0, day=21.0 + trip // 3)
        assert again.changed == errors.changed
    assert errors.changed


def test_a_lasting_bias_is_no_change_where_sizes_alone_are_judged() -> None:
    """As models of single roads have it. Larger errors are found all the same.

    By true ranks, evidence reaches 4,000 in at most one of 4,000 trips on average.
    """
    rng, alarms = np.random.default_rng(9), 0
    for _ in range(40):
        test, detected = ChangeTest(signed=False), []
        for error in (0.6 + rng.standard_normal(400)).tolist():
            test.add(error)
            detected.append(test.detected)
        alarms += any(detected)
        for _ in range(30):
            test.add(0.6 + 4.0 * rng.standard_normal())
        assert test.detected
    assert alarms <= 8  # 4 are expected at most, 9 or more in 2 % of such draws


def test_a_restored_test_continues() -> None:
    errors, again = PastErrors(), PastErrors()
    for trip in range(30, 0, -1):
        errors.add((1.0 + trip / 30) * (-1) ** trip, 1.0)
    again.restore(errors.state())
    detected = []
    for trip in range(30):
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
        errors.add_time((0.03 + 0.001 * (trip % 10)) * (-1) ** trip)
        errors = _again(errors)
    assert not errors.changed
    trips = 0
    while not errors.changed and trips < 60:
        errors.add_time(0.3 + 0.01 * trips)
        errors, trips = _again(errors), trips + 1
    assert trips <= 40


def _again(errors: PastErrors) -> PastErrors:
    again = PastErrors()
    again.restore(errors.state())
    return again


def test_errors_of_times_alone_are_a_change() -> None:
    errors, rng = PastErrors(), np.random.default_rng(8)
    for _ in range(60):
        errors.add(rng.standard_normal(), 1.0)
        errors.add_time(0.05 * rng.standard_normal())
        errors.add_time(np.nan)
    assert not errors.changed
    trips = 0
    while not errors.changed and trips < 60:
        errors.add(rng.standard_normal(), 1.0)
        errors.add_time(0.3 + 0.01 * trips)
        trips += 1
    assert trips <= 25
    errors.restart()
    assert not errors.changed
