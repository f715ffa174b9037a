"""Sandberg et al., Algorithm 2: indices and rectified weights, by hand on three edges."""

import math

import mpmath
import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Arms, Feedback, Round, Route
from evroute.model.independent import IndependentNormal
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.confidence import BayesUCBQuantileOptions, UCBOptions
from evroute.policy.thompson import IndependentThompson

PRIOR_MEAN = np.array([10.0, -6.0, 3.0])
PRIOR_VARIANCE = np.array([4.0, 9.0, 1.0])
NOISE_STD = np.array([1.0, 2.0, 0.5])
POTENTIAL = np.array([2.0, -9.0, 0.0])
ARMS = Arms(np.arange(3), np.zeros((3, 1)), PRIOR_MEAN)


class Recorder:
    """A space of three edges that keeps the weights of its search."""

    def arms(self, request: Round) -> Arms:
        return request.arms

    def potential_wh(self, request: Round) -> np.ndarray:
        return POTENTIAL

    def route(self, weights: np.ndarray, request: Round) -> Route:
        self.weights = weights
        return Route((request.origin, request.destination))


def weights_of(index, rule: str, t: int) -> np.ndarray:
    """Ask in round t, after one measurement of 8 Wh on edge 0."""
    model = IndependentNormal(PRIOR_VARIANCE, NOISE_STD)
    model.update(Feedback(np.array([0]), np.zeros((1, 1)), PRIOR_MEAN[:1], np.array([8.0])))
    space = Recorder()
    agent = Agent(
        model=model,
        index=index,
        weight_rule=WEIGHT_RULES[rule],
        space=space,
        rng=default_rng(3),
    )
    agent.ask(Round(t, ARMS, 0, 2))
    return space.weights


# The posterior by hand: edge 0 has precision 1/4 + 1/1 = 5/4 and mean 10 + (8 - 10) * 1 / (5/4) =
# 8.4.
MEAN = [8.4, -6.0, 3.0]
STD = [math.sqrt(0.8), 3.0, 1.0]


def rectified(mean: float, std: float) -> float:
    """E[max(0, z)] of z ~ N(mean, std²), by its integral."""
    with mpmath.workdps(30):
        density = lambda z: z * mpmath.npdf(z, mean, std)  # noqa: E731
        return float(
            mpmath.quad(
                density,
                [0, max(mean, 0) + 5 * std, max(mean, 0) + 15 * std, max(mean, 0) + 40 * std],
            )
        )


def test_algorithm_2_line_2_ucb_then_line_3() -> None:
    beta = 2 * math.log(3 * 16 / math.sqrt(2 * math.pi))
    index = [m - math.sqrt(beta) * s for m, s in zip(MEAN, STD, strict=True)]
    expected = [rectified(i, n) for i, n in zip(index, NOISE_STD, strict=True)]
    np.testing.assert_allclose(
        weights_of(UCBOptions().build(None), "rectified", 4), expected, rtol=1e-9
    )


def test_algorithm_2_line_2_bucb_then_line_3() -> None:
    with mpmath.workdps(30):
        root = float(
            mpmath.sqrt(2) * mpmath.erfinv(2 * (1 - mpmath.mpf(1) / 20) - 1)
        )  # Q(1/20) lies root below
    index = [m - root * s for m, s in zip(MEAN, STD, strict=True)]
    expected = [rectified(i, n) for i, n in zip(index, NOISE_STD, strict=True)]
    np.testing.assert_allclose(
        weights_of(BayesUCBQuantileOptions().build(None), "rectified", 20), expected, rtol=1e-9
    )


def test_algorithm_2_line_2_ts_then_line_3() -> None:
    z = default_rng(3).standard_normal(3)
    index = [m + s * float(d) for m, s, d in zip(MEAN, STD, z, strict=True)]
    expected = [rectified(i, n) for i, n in zip(index, NOISE_STD, strict=True)]
    np.testing.assert_allclose(
        weights_of(IndependentThompson(1.0), "rectified", 7), expected, rtol=1e-9
    )


@pytest.mark.parametrize("rule", ["potential", "potential-rectified", "clamped"])
def test_our_other_rules_take_the_place_of_line_3(rule) -> None:
    z = default_rng(3).standard_normal(3)
    index = [m + s * float(d) for m, s, d in zip(MEAN, STD, z, strict=True)]
    by_hand = {
        "potential": [max(0.0, i - p) for i, p in zip(index, POTENTIAL, strict=True)],
        "potential-rectified": [
            rectified(i - p, n) for i, p, n in zip(index, POTENTIAL, NOISE_STD, strict=True)
        ],
        "clamped": [max(0.0, i) for i in index],
    }
    np.testing.assert_allclose(
        weights_of(IndependentThompson(1.0), rule, 7), by_hand[rule], rtol=1e-9
    )
