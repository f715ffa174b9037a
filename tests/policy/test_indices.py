"""Confidence bounds, Thompson samples and baselines over models whose posterior is known."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback
from evroute.policy.baselines import Greedy, Random
from evroute.policy.confidence import BayesUCBOptions, BayesUCBQuantileOptions, UCBOptions
from evroute.policy.thompson import (
    IndependentThompson,
    JointThompson,
    JointThompsonOptions,
    ThompsonOptions,
)
from evroute.policy.thompson_shared import SharedThompson, SharedThompsonOptions

MEAN = np.array([4.0, -1.0, 10.0])
COVARIANCE = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 0.25]])
STD = np.sqrt(COVARIANCE.diagonal())
ARMS = Arms(np.array([0, 2, 3]), np.zeros((3, 1)), np.array([5.0, -1.5, 9.0]))


class Known:
    """A model that believes MEAN and COVARIANCE."""

    def posterior(self, arms: Arms) -> Belief:
        return Belief(MEAN, STD)

    def noise_std(self, arms: Arms) -> np.ndarray:
        return np.ones(3)

    def update(self, feedback: Feedback) -> None: ...

    def state(self) -> dict[str, np.ndarray]:
        return {}

    def restore(self, state: dict[str, np.ndarray]) -> None: ...

    def covariance(self, arms: Arms) -> np.ndarray:
        return COVARIANCE

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> np.ndarray:
        return MEAN + rng.standard_normal((size, 3)) @ np.linalg.cholesky(COVARIANCE).T


def test_a_bound_lies_below_the_mean_by_the_root_of_beta_deviations() -> None:
    index = UCBOptions().build(None)
    values = index(5, ARMS, Known(), default_rng(0))
    beta = 2 * math.log(3 * 25 / math.sqrt(2 * math.pi))
    np.testing.assert_allclose(values, MEAN - math.sqrt(beta) * STD, rtol=1e-14)
    assert index.beta == pytest.approx(beta)


def test_the_quantile_form_of_algorithm_2_is_the_quantile_of_the_posterior() -> None:
    index = BayesUCBQuantileOptions().build(None)
    values = index(40, ARMS, Known(), default_rng(0))
    np.testing.assert_allclose(
        values, MEAN - 1.959963984540054 * STD, rtol=1e-12
    )  # level 1/40 = 2.5 %


def test_beta_is_not_a_number_before_the_first_call() -> None:
    assert math.isnan(BayesUCBOptions().build(None).beta)


@pytest.mark.parametrize(
    "bad", [{"omega": 0.0}, {"xi": -1.0}, {"xi": math.nan}, {"beta_scale": -0.1}]
)
def test_numbers_without_meaning_are_refused(bad) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        BayesUCBOptions(**bad)


@pytest.mark.parametrize("scale", [0.25, 0.5, 1.0])
def test_an_independent_sample_has_the_marginals_scaled_and_no_correlation(scale) -> None:
    draws = draws_of(IndependentThompson(scale))
    check_moments(draws, scale * np.diag(STD**2))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_a_joint_sample_has_the_posterior_covariance_scaled(scale) -> None:
    draws = draws_of(JointThompson(scale))
    check_moments(draws, scale * COVARIANCE)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_a_shared_sample_has_the_marginals_scaled_and_full_correlation(scale) -> None:
    draws = draws_of(SharedThompson(scale))
    check_moments(draws, scale * np.outer(STD, STD))
    shared = (draws - MEAN) / STD  # one number a round
    assert np.ptp(shared, axis=1) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("kind", [ThompsonOptions, JointThompsonOptions, SharedThompsonOptions])
def test_a_variance_scale_that_is_not_positive_is_refused(kind, scale) -> None:
    with pytest.raises(ValueError, match="variance_scale"):
        kind(variance_scale=scale)


def test_the_same_stream_gives_the_same_sample() -> None:
    index = IndependentThompson()
    first, again = (index(1, ARMS, Known(), default_rng(9)) for _ in range(2))
    assert np.array_equal(first, again)


def test_greedy_believes_the_mean() -> None:
    assert np.array_equal(Greedy()(3, ARMS, Known(), default_rng(0)), MEAN)


def test_random_scales_the_dissipation_of_an_edge_around_eq_8() -> None:
    potential = np.array([1.0, 99.0, -2.0, 8.0])
    index = Random(potential)
    rng = default_rng(0)
    draws = np.array([index(t, ARMS, Known(), rng) for t in range(1, 20_001)])
    dissipated = ARMS.prior_mean_wh - potential[ARMS.id]
    assert np.all(draws >= potential[ARMS.id])
    assert np.all(draws <= potential[ARMS.id] + 2 * dissipated)
    standard_error = dissipated / math.sqrt(3 * len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - ARMS.prior_mean_wh) < 5 * standard_error)


N_DRAWS = 40_000


def draws_of(index) -> np.ndarray:
    rng = default_rng(1)
    model = Known()
    return np.array([index(1, ARMS, model, rng) for _ in range(N_DRAWS)])


def check_moments(draws: np.ndarray, covariance: np.ndarray) -> None:
    """Compare moments at five standard errors of a normal sample of this size."""
    std = np.sqrt(covariance.diagonal())
    assert np.all(np.abs(draws.mean(axis=0) - MEAN) < 5 * std / math.sqrt(N_DRAWS))
    error = np.sqrt((np.outer(std**2, std**2) + covariance**2) / N_DRAWS)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 5 * error)


def test_every_index_says_how_many_deviations_it_departs_from_the_mean() -> None:
    index = UCBOptions().build(None)
    index(5, ARMS, Known(), default_rng(0))
    assert index.multiplier == pytest.approx(
        math.sqrt(2 * math.log(3 * 25 / math.sqrt(2 * math.pi)))
    )
    assert IndependentThompson(0.25).multiplier == JointThompson(0.25).multiplier == 0.5
    assert Greedy().multiplier == 0.0
    assert math.isnan(Random(np.zeros(3)).multiplier)
    assert math.isnan(index.b_min)
