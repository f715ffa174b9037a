"""Sandberg et al., Theorem 3.1: beta of GP-UCB and GP-BayesUCB, against 50 digits."""

import mpmath
import pytest

from evroute.policy.confidence import BayesUCBOptions, UCBOptions


@pytest.mark.parametrize("n_arms", [3, 1342, 5895])
@pytest.mark.parametrize("t", [1, 2, 500, 100_000])
def test_theorem_31_i_beta_of_ucb(t, n_arms) -> None:
    with mpmath.workdps(50):
        expected = 2 * mpmath.log(n_arms * mpmath.mpf(t) ** 2 / mpmath.sqrt(2 * mpmath.pi))
    assert UCBOptions().schedule(t, n_arms) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("n_arms", [3, 1342, 5895])
@pytest.mark.parametrize("t", [1, 2, 500, 100_000])
@pytest.mark.parametrize(("omega", "xi"), [(1.0, 1.0), (1.0, 0.5), (1.5, 2.0)])
def test_theorem_31_ii_beta_of_bayes_ucb(t, n_arms, omega, xi) -> None:
    with mpmath.workdps(50):
        eta = mpmath.sqrt(2 * mpmath.pi) ** omega / (
            2 * mpmath.mpf(n_arms) ** omega * mpmath.mpf(t) ** xi
        )
        expected = 2 * mpmath.erfinv(1 - 2 * eta) ** 2
    assert BayesUCBOptions(omega=omega, xi=xi).schedule(t, n_arms) == pytest.approx(
        float(expected), rel=1e-12
    )
