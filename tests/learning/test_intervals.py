"""Tail and intervals: the grid against scipy's Student t, quantiles and probabilities by hand."""

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


def test_before_any_trip_the_interval_is_that_of_the_student_t() -> None:
    """60 quantiles of weight 0.5, the level raised by 31/30: within one quantile of it."""
    spread = ErrorSpread(6.0, 1.1, NO_SCORES)
    for level in (0.5, 0.8, 0.9):
        raised = level * 31 / 30
        low, high = 1.1 * student(6).ppf(0.5 + np.array([raised - 1 / 60, raised + 1 / 60]) / 2)
        assert low <= spread.quantile(level) <= high


def test_quantiles_weigh_recent_scores_and_the_prior() -> None:
    """Old scores of 1, and 120 recent ones of 50: their weight is 1/(2^(1/60) - 1) * 3/4 = 64.5."""
    spread = ErrorSpread(6.0, 1.0, np.array([1.0] * 120 + [50.0] * 120))
    recent, old = (0.75 * share / (2 ** (1 / 60) - 1) for share in (1.0, 0.25))
    total = recent + old + 30.0
    share_below = (old + 30.0) / total  # all prior quantiles are below 50
    assert spread.quantile(share_below - 0.03) < 50.0
    assert spread.quantile(share_below + 0.03) == 50.0


def test_a_level_beyond_all_scores_reaches_the_greatest() -> None:
    assert ErrorSpread(6.0, 1.0, np.array([1.0, 9.0])).quantile(0.999) == 9.0


def test_probabilities_mix_the_student_t_and_the_scores() -> None:
    spread = ErrorSpread(5.0, 1.2, NO_SCORES)
    for z in (-2.0, 0.0, 0.7):
        assert spread.below(z) == pytest.approx(student(5).cdf(z / 1.2))
    spread = ErrorSpread(5.0, 1.2, np.array([0.5, 3.0]))
    older, newer = 0.5 ** (2 / 60), 0.5 ** (1 / 60)
    within = 30 * (2 * student(5).cdf(1 / 1.2) - 1) + older
    assert spread.below(1.0) == pytest.approx(0.5 + 0.5 * within / (30 + older + newer))
    assert spread.below(-1.0) == pytest.approx(1 - spread.below(1.0))


def test_a_prediction_is_scaled_by_its_deviation() -> None:
    spread = ErrorSpread(6.0, 1.0, np.full(400, 1.5))
    prediction = TripPrediction(-100.0, 20.0, spread, 400, 0.0)
    assert prediction.interval(0.8) == (-130.0, -70.0)
    assert prediction.below(-100.0) == 0.5
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
        held.append([abs(z) <= errors.spread.quantile(level) for level in LEVELS])
        errors.add(10.0 * z, 10.0)
    np.testing.assert_allclose(np.mean(held, axis=0), LEVELS, atol=0.04)


def test_inflation_is_the_reach_of_the_90_percent_interval_and_1_before_any_trip() -> None:
    errors = PastErrors()
    assert errors.inflation == 1.0
    errors.add(-6.0, 2.0)
    errors.add(1.0, float("nan"))  # no prediction
    errors.add(1.0, 0.0)
    assert errors.trips == 1
    spread = ErrorSpread(*tail_mode(add_error(np.zeros((7, 29)), -3.0)), np.array([3.0]))
    assert errors.inflation == pytest.approx(spread.quantile(0.9) / 1.6448536)


def test_past_errors_continue_from_their_state() -> None:
    first, second = PastErrors(), PastErrors()
    first.add(3.0, 2.0)
    second.restore(first.state())
    for errors in (first, second):
        errors.add(-5.0, 2.0)
    assert first.spread.quantile(0.8) == second.spread.quantile(0.8)
    assert second.trips == 2
