"""Tail and intervals: the grid against scipy's Student t, quantiles and probabilities by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from evroute.learning.intervals import (
    LEVELS,
    ErrorSpread,
    PastErrors,
    TripPrediction,
)
from evroute.learning.tail import add_error, tail_mode

NO_SCORES = np.zeros(0)


def test_before_any_error_the_tail_is_the_prior_mode() -> None:
    assert tail_mode(np.zeros((7, 29))) == (6.0, 1.0)


def test_the_tail_is_the_discounted_posterior_on_the_grid() -> None:
    errors = np.random.default_rng(0).standard_t(4, 80) * 1.4
    log_likelihood = np.zeros((7, 29))
    for z in errors:
        log_likelihood = add_error(log_likelihood, z)
    weight = 0.995 ** np.arange(79, -1, -1)
    score = {
        (nu, c): weight @ student(nu, scale=c).logpdf(errors)
        - 0.5 * (np.log(c) / 0.3) ** 2
        - 0.5 * (np.log(nu / 6) / 0.7) ** 2
        for nu in (3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 30.0)
        for c in np.exp(np.linspace(-0.7, 0.7, 29))
    }
    assert tail_mode(log_likelihood) == pytest.approx(max(score, key=score.get))


SKEWED = np.random.default_rng(8).gamma(2.0, 0.8, 90) - 0.9
CASES = {
    "none": ErrorSpread(6.0, 1.1, NO_SCORES),
    "one": ErrorSpread(3.0, 0.7, np.array([2.5])),
    "skewed": ErrorSpread(5.0, 0.9, SKEWED),
    "negative": ErrorSpread(8.0, 1.3, -np.abs(SKEWED)),
    "ties": ErrorSpread(6.0, 1.0, np.array([1.0, 1.0, 0.0, -2.0, 1.0, 0.0])),
    "long": ErrorSpread(4.0, 1.2, np.append([9.0, -7.0], np.tile(SKEWED, 4))),
}


def by_the_formula(spread: ErrorSpread, z: float) -> float:
    """Return P(error > z) as the formula reads, with scipy's Student t."""

    def upper(scores, z):
        weights = 0.5 ** (np.arange(len(scores), 0, -1) / 60)
        t = student(spread.nu, scale=spread.scale)
        greatest = max([0.0, *scores[-240:]])
        tail = 0.5 * min(1.0, t.sf(z) / t.sf(greatest)) + 30 * t.sf(z)
        return (weights[scores > z].sum() + tail) / (weights.sum() + 31)

    return upper(spread.scores, z) if z >= 0 else 1 - upper(-spread.scores, -z)


@pytest.mark.parametrize("name", CASES)
def test_the_tail_is_the_formula(name: str) -> None:
    spread = CASES[name]
    for z in [*np.linspace(-12, 12, 97), *spread.scores[:5]]:
        assert spread.beyond(z) == pytest.approx(by_the_formula(spread, z), rel=1e-12)
        assert spread.below(z) == 1 - spread.beyond(z)


@pytest.mark.parametrize("name", CASES)
def test_it_is_a_proper_distribution(name: str) -> None:
    """Monotone from 1 to 0; both tails add to 1."""
    spread = CASES[name]
    z = np.linspace(-60, 60, 4_001)
    beyond = np.array([spread.beyond(each) for each in z])
    assert np.all(np.diff(beyond) <= 1e-15)
    assert beyond[0] == pytest.approx(1.0, abs=1e-3)
    assert beyond[-1] == pytest.approx(0.0, abs=1e-3)
    mirror = ErrorSpread(spread.nu, spread.scale, -spread.scores)
    weights = 0.5 ** (np.arange(len(spread.scores), 0, -1) / 60)
    total = weights.sum() + 31
    for each in [0.0, 0.3, -1.7, *spread.scores[:5]]:
        # a score counts for the tail beyond it and its mirror image; one of 0 for neither
        at = weights[spread.scores == each].sum() / total if each == 0.0 else 0.0
        assert spread.beyond(each) + mirror.beyond(-each) + at == pytest.approx(1.0)


@pytest.mark.parametrize("name", CASES)
def test_a_risk_is_never_exceeded_at_its_quantile(name: str) -> None:
    """It is the least such z: just below it the probability is greater."""
    spread = CASES[name]
    for risk in (1e-6, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 0.95, 0.999):
        z = spread.at_risk(risk)
        assert spread.beyond(z) <= risk
        assert spread.beyond(z - 1e-6 * max(abs(z), 1.0)) > risk * (1 - 1e-12)


def test_before_any_trip_the_distribution_is_the_student_t() -> None:
    spread = CASES["none"]
    for z in (-3.0, -0.5, 0.0, 0.7, 8.0):
        assert spread.beyond(z) == pytest.approx(student(6).sf(z / 1.1))
    for level in (0.5, 0.8, 0.9, 0.99):
        half = 1.1 * student(6).ppf(0.5 + level / 2)
        assert spread.interval(level) == pytest.approx((-half, half))
        assert spread.half_width(level) == pytest.approx(half)
    assert spread.supported_risk == pytest.approx(0.5)


def test_skewed_scores_give_skewed_intervals_that_hold() -> None:
    """2,000 trips of a skewed error: both sides have their share, within 2 percentage points."""
    rng, errors, outside = np.random.default_rng(2), PastErrors(signed=True), []
    for z in rng.gamma(2.0, 1.0, 2_000) - 2.0:
        low, high = errors.spread.interval(0.8)
        outside.append((z < low, z > high))
        errors.add(10.0 * z, 10.0)
    np.testing.assert_allclose(np.mean(outside, axis=0), [0.1, 0.1], atol=0.02)
    low, high = errors.spread.interval(0.8)
    assert high > 1.2 * -low


def test_without_signs_each_score_counts_half_on_both_sides() -> None:
    spread = ErrorSpread(5.0, 1.2, np.array([0.5, -3.0]), signed=False)
    older, newer = 0.5 ** (2 / 60), 0.5 ** (1 / 60)
    t = student(5, scale=1.2)
    beyond = (newer / 2 + 0.5 + 30 * t.sf(1.0)) / (older + newer + 31)
    assert spread.beyond(1.0) == pytest.approx(beyond)
    assert spread.below(-1.0) == pytest.approx(beyond)
    low, high = spread.interval(0.8)
    assert low == -high


def test_probabilities_along_a_trip_are_mapped_from_the_student_t() -> None:
    spread = CASES["skewed"]
    for z in (0.4, 1.3, 3.0):
        share = student(5).sf(z / 0.9)
        assert spread.passage(share) == pytest.approx(spread.beyond(z))
        assert spread.ever_beyond(z) == pytest.approx(spread.passage(2 * share))
        assert spread.ever_beyond(z) >= spread.beyond(z)
    assert spread.ever_beyond(-0.1) == 1.0


def test_a_prediction_is_scaled_by_its_deviation() -> None:
    spread = ErrorSpread(6.0, 1.0, np.full(400, 1.5))
    prediction = TripPrediction(-100.0, 20.0, spread, 400, 0.0)
    low, high = spread.interval(0.8)
    assert prediction.interval(0.8) == (-100.0 + 20.0 * low, -100.0 + 20.0 * high)
    assert prediction.below(-100.0) == spread.below(0.0)
    assert prediction.below(-60.0) == spread.below(2.0)
    numbers = prediction.numbers()
    assert (numbers["low50_wh"], numbers["high50_wh"]) == prediction.interval(0.5)
    assert (numbers["low90_wh"], numbers["high90_wh"]) == prediction.interval(0.9)
    assert (numbers["nu"], numbers["scale"], numbers["trips"]) == (6.0, 1.0, 400)


@pytest.mark.parametrize("too_small_by", [0.5, 1.0, 2.0])
def test_intervals_keep_their_level_under_wrong_deviations(too_small_by: float) -> None:
    """1,000 trips: a standard deviation of 1.6 % of the coverage at level 0.5, 0.7 % at 0.95."""
    errors, held = PastErrors(), []
    for z in np.random.default_rng(3).standard_normal(1_000) * too_small_by:
        ends = [errors.spread.interval(level) for level in LEVELS]
        held.append([low <= z <= high for low, high in ends])
        errors.add(10.0 * z, 10.0)
    np.testing.assert_allclose(np.mean(held, axis=0), LEVELS, atol=0.04)


def test_inflation_is_the_reach_of_the_90_percent_interval_and_1_before_any_trip() -> None:
    errors = PastErrors()
    assert errors.inflation == 1.0
    errors.add(-6.0, 2.0)
    errors.add(1.0, float("nan"))  # no prediction
    errors.add(1.0, 0.0)
    assert errors.trips == 1
    spread = ErrorSpread(*tail_mode(add_error(np.zeros((7, 29)), -3.0)), np.array([-3.0]))
    spread = replace(spread, signed=False)
    assert errors.inflation == pytest.approx(spread.half_width(0.9) / 1.6448536)


def test_past_errors_continue_from_their_state() -> None:
    first, second = PastErrors(), PastErrors()
    first.add(3.0, 2.0)
    second.restore(first.state())
    for errors in (first, second):
        errors.add(-5.0, 2.0)
    assert first.spread.interval(0.8) == second.spread.interval(0.8)
    assert second.trips == 2
