"""Thompson sampling with one seed: every arm takes the same quantile of its own marginal.

Jin, Zhao, Tan & Gu, *Avoiding exp(k) Scaling for Thompson Sampling in Combinatorial Semi-Bandits:
From Multiple Seeds to a Single Seed*, COLT 2026 (PMLR 336:3825-3855). With an independent draw for
each arm, all k arms of the best super arm are seldom optimistic in one round, and the known bound
of the regret grows exponentially with k. With one uniform number a round they are optimistic
together, and the bound is polynomial, for rewards that are monotone and smooth in the arms.

For sums, as routes are, polynomial bounds were known before, with boosted normal draws (Zhang &
Combes, *Thompson Sampling for Combinatorial Bandits: Polynomial Regret and Mismatched Sampling
Paradox*, NeurIPS 2024). The theorem is about independent arms with their own posteriors. It states
nothing about Gaussian processes or scaled variances.

The quantile at U of a normal marginal is ``mean + std z`` with ``z = Phi^-1(U)``. In a round with z
below 0 whole districts without measurements may cost nothing, and one with z above 0 explores none.
"""

from dataclasses import dataclass

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel
from evroute.policy.base import IndexSetting
from evroute.policy.thompson import ScaledOptions, Thompson


@dataclass(frozen=True, slots=True)
class SharedThompson(Thompson):
    """One standard normal number a round moves all arms by their deviations.

    Parameters
    ----------
    variance_scale
        Factor on the posterior variance, positive. 1 is the paper's. Less explores less.
    """

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the same quantile of each arm, (a,) Wh."""
        belief = model.posterior(arms)
        return belief.mean_wh + self.multiplier * rng.standard_normal() * belief.std_wh


class SharedThompsonOptions(ScaledOptions):
    """Thompson sampling with one seed: the same quantile of each arm."""

    label = "TS shared"

    def build(self, setting: IndexSetting) -> SharedThompson:
        """Return the index before the first round."""
        return SharedThompson(self.variance_scale)
