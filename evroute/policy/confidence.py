"""Lower confidence bounds of costs: ``mean - sqrt(beta_t) * std`` (Algorithm 2, line 2).

UCB and BayesUCB are this one index with different schedules of ``beta_t``: Sandberg et al.,
Theorem 3.1 and Algorithm 2. ``|A|`` is the number of arms available in the round: the proof sums
the failure probability over those alone. The quantile of BayesUCB of level ``eta`` is the bound
with ``sqrt(beta) = Phi^-1(1 - eta)``, computed as ``-Phi^-1(eta)``, since ``erfinv(1 - 2 eta)``
loses the digits of a small ``eta``. A level above one half occurs with one or two arms only and
would not be optimistic; beta is 0 there.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from numpy.random import Generator
from pydantic import Field
from scipy.special import ndtri

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import Index, IndexOptions, IndexSetting, Schedule


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


@dataclass(slots=True)
class ConfidenceBound(Index):
    """Optimism in the face of uncertainty; ``beta`` is the last value of the schedule, scaled.

    Parameters
    ----------
    schedule
        Confidence parameter by round.
    scale
        Factor of the schedule (Sandberg et al., section 4.2, Fig. 3).
    """

    schedule: Schedule
    scale: float = 1.0
    beta: float = field(default=math.nan, init=False)

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the lower confidence bounds, (a,) Wh."""
        self.beta = self.scale * self.schedule(t, len(arms), model)
        belief = model.posterior(arms)
        return belief.mean_wh - math.sqrt(self.beta) * belief.std_wh


class UCBOptions(IndexOptions):
    """GP-UCB (or BI-UCB) of Theorem 3.1 with scaled beta."""

    label = "UCB"
    short: ClassVar[Mapping[str, str]] = {"beta_scale": "b", "omega": "w", "xi": "x"}

    beta_scale: float = Field(default=1.0, ge=0, description="factor of beta: less explores less")

    def build(self, setting: IndexSetting) -> ConfidenceBound:
        """Return the index before the first round."""
        return ConfidenceBound(self.schedule(), self.beta_scale)

    def schedule(self) -> Schedule:
        """Return beta by round, before its factor."""
        return TheoremUCB()


class BayesUCBOptions(UCBOptions):
    """GP-BayesUCB of Theorem 3.1; the defaults are those of the paper's section 4.2."""

    label = "BayesUCB"

    omega: float = Field(
        default=1.0, gt=0, description="exponent of the number of arms in the level of Theorem 3.1"
    )
    xi: float = Field(
        default=1.0, gt=0, description="exponent of the round in the level of Theorem 3.1"
    )

    def schedule(self) -> Schedule:
        """Return beta by round, before its factor."""
        return TheoremBayesUCB(self.omega, self.xi)


class BayesUCBQuantileOptions(UCBOptions):
    """BayesUCB with the ``1 / t`` quantile of Algorithm 2."""

    label = "BayesUCB 1/t"

    def schedule(self) -> Schedule:
        """Return beta by round, before its factor."""
        return InverseTime()
