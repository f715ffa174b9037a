"""Schedules of beta: non-negative, monotone where the theory says so, and sound at their edges."""

import numpy as np
import pytest

from evroute.arms import Arms
from evroute.model.independent import IndependentNormal
from evroute.policy.confidence import BayesUCBOptions, BayesUCBQuantileOptions, UCBOptions

MODEL = IndependentNormal(np.ones(1), np.ones(1))
THEOREM_UCB = UCBOptions().schedule
BAYES_UCB = BayesUCBOptions().schedule
SLOW_BAYES_UCB = BayesUCBOptions(xi=0.5).schedule
INVERSE_TIME = BayesUCBQuantileOptions().schedule
SCHEDULES = [THEOREM_UCB, BAYES_UCB, SLOW_BAYES_UCB, INVERSE_TIME]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("n_arms", [1, 2, 3, 5895])
def test_beta_is_finite_never_negative_and_never_falls(schedule, n_arms) -> None:
    betas = [schedule(t, n_arms) for t in range(1, 600)]
    assert np.all(np.isfinite(betas))
    assert min(betas) >= 0
    assert np.all(np.diff(betas) >= 0)


def test_level_one_over_t_begins_at_the_mean() -> None:
    assert INVERSE_TIME(1, 100) == 0.0
    assert INVERSE_TIME(2, 100) == 0.0
    assert INVERSE_TIME(3, 100) == pytest.approx(0.4307272992954576**2)  # Phi^-1(2/3)


def test_bayes_ucb_explores_less_than_ucb_on_a_city() -> None:
    for t in (1, 10, 500):
        assert SLOW_BAYES_UCB(t, 3475) <= BAYES_UCB(t, 3475)
        assert BAYES_UCB(t, 3475) < THEOREM_UCB(t, 3475)


def test_scaling_multiplies_beta_not_its_root() -> None:
    index = UCBOptions(beta_scale=0.5).build(None)
    index(7, Arms(np.zeros(1), np.zeros((1, 1)), np.zeros(1)), MODEL, np.random.default_rng(0))
    assert index.beta == 0.5 * THEOREM_UCB(7, 1)
