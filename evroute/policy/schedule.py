"""Schedules of the confidence parameter ``beta_t`` in ``mean - sqrt(beta_t) * std``.

Sandberg et al., Theorem 3.1 and Algorithm 2. ``|A|`` is the number of arms available in the round:
the proof sums the failure probability over those alone. BayesUCB is a schedule too: its quantile of
level ``eta`` is the bound with ``sqrt(beta) = Phi^-1(1 - eta)``, computed as ``-Phi^-1(eta)``,
since ``erfinv(1 - 2 eta)`` loses the digits of a small ``eta``. A level above one half occurs with
one or two arms only and would not be optimistic; beta is 0 there.
"""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from evroute.model.base import EnergyModel


@dataclass(frozen=True, slots=True)
class TheoremUCB:
    """``beta_t = 2 log(|A| t² / sqrt(2 pi))``: GP-UCB, Theorem 3.1 (i)."""

    def __call__(self, t: int, n_arms: int, model: EnergyModel) -> float:
        """Return beta of round ``t``."""
        return max(0.0, 2.0 * math.log(n_arms * t**2 / math.sqrt(2.0 * math.pi)))


@dataclass(frozen=True, slots=True)
class TheoremBayesUCB:
    """Level ``eta_t = sqrt(2 pi)^omega / (2 |A|^omega t^xi)``: GP-BayesUCB, Theorem 3.1 (ii)."""

    omega: float
    xi: float

    def __call__(self, t: int, n_arms: int, model: EnergyModel) -> float:
        """Return beta of round ``t``."""
        level = 0.5 * (math.sqrt(2.0 * math.pi) / n_arms) ** self.omega * t**-self.xi
        return _beta_of_level(level)


@dataclass(frozen=True, slots=True)
class InverseTime:
    """The quantile of level ``1 / t``: BayesUCB as printed in Algorithm 2, line 2.

    Level 1 of the first round would be an infinite index on every edge. The mean is used there, as
    level one half of the second round gives it.
    """

    def __call__(self, t: int, n_arms: int, model: EnergyModel) -> float:
        """Return beta of round ``t``."""
        return _beta_of_level(1.0 / t)


def _beta_of_level(level: float) -> float:
    return float(ndtri(min(level, 0.5))) ** 2
