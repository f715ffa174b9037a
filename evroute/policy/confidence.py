"""Lower confidence bounds of costs: ``mean - sqrt(beta_t) * std`` (Algorithm 2, line 2).

UCB, BayesUCB and the greedy rule are this one index with different schedules.
"""

import math
from dataclasses import dataclass, field

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import Schedule
from evroute.policy.schedule import InverseTime, Scaled, TheoremBayesUCB, TheoremUCB


@dataclass(slots=True)
class ConfidenceBound:
    """Optimism in the face of uncertainty; ``beta`` is the last value of the schedule."""

    schedule: Schedule
    beta: float = field(default=math.nan, init=False)

    @property
    def needs(self) -> type:
        """Protocol that the schedule asks of the model."""
        return self.schedule.needs

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the lower confidence bounds, (a,) Wh."""
        self.beta = self.schedule(t, len(arms), model)
        belief = model.posterior(arms)
        index: FloatArray = belief.mean_wh - math.sqrt(self.beta) * belief.std_wh
        return index


def ucb(beta_scale: float = 1.0) -> ConfidenceBound:
    """Return GP-UCB (or BI-UCB) of Theorem 3.1 with scaled beta."""
    return ConfidenceBound(Scaled(TheoremUCB(), beta_scale))


def bayes_ucb(omega: float = 1.0, xi: float = 1.0, beta_scale: float = 1.0) -> ConfidenceBound:
    """Return GP-BayesUCB of Theorem 3.1; the defaults are those of the paper's section 4.2.

    Parameters
    ----------
    omega, xi
        Exponents of the number of arms and of the round in the level, positive.
    beta_scale
        Factor on beta, at least 0.

    Raises
    ------
    ValueError
        If an exponent is not positive.
    """
    for name, value in (("omega", omega), ("xi", xi)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} is {value:g}; it must be positive")
    return ConfidenceBound(Scaled(TheoremBayesUCB(omega, xi), beta_scale))


def bayes_ucb_quantile(beta_scale: float = 1.0) -> ConfidenceBound:
    """Return BayesUCB with the ``1 / t`` quantile of Algorithm 2."""
    return ConfidenceBound(Scaled(InverseTime(), beta_scale))
