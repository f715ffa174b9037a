"""Lower confidence bounds of costs: ``mean - sqrt(beta_t) * std`` (Algorithm 2, line 2).

UCB, BayesUCB and the greedy rule are this one index with different schedules.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import Index, IndexOptions, IndexSetting, Schedule
from evroute.policy.schedule import InverseTime, TheoremBayesUCB, TheoremUCB


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
