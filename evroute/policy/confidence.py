"""Lower confidence bounds of costs: ``mean - sqrt(beta_t) * std`` (Algorithm 2, line 2).

UCB and BayesUCB are this one index with different schedules of ``beta_t``: Sandberg et al.,
Theorem 3.1 and Algorithm 2. ``|A|`` is the number of arms available in the round: the proof sums
the failure probability over those alone. The quantile of BayesUCB of level ``eta`` is the bound
with ``sqrt(beta) = Phi^-1(1 - eta)``, computed as ``-Phi^-1(eta)``, since ``erfinv(1 - 2 eta)``
loses the digits of a small ``eta``. A level above one half occurs with one or two arms only and
would not be optimistic. Beta is 0 there.

`RadiusBound` has a width that follows from a theorem on the model, or is a constant: ``index = mean
- beta~ sigma~ = mean - beta std``. The papers maximise rewards with an upper bound. Energy is a
cost, so the bound is a lower one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, cast

from numpy.random import Generator
from pydantic import Field
from scipy.special import ndtri

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasRadius
from evroute.policy.base import Index, IndexOptions, IndexSetting


@dataclass(slots=True)
class ConfidenceBound(Index):
    """Optimism in the face of uncertainty. ``beta`` is the last value of the schedule, scaled.

    Parameters
    ----------
    schedule
        Returns ``beta_t``, finite and at least 0, of a round t and its number of arms.
    scale
        Factor of the schedule (Sandberg et al., section 4.2, Fig. 3).
    """

    schedule: Callable[[int, int], float]
    scale: float = 1.0
    beta: float = field(default=math.nan, init=False)

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the lower confidence bounds, (a,) Wh."""
        self.beta = self.scale * self.schedule(t, len(arms))
        belief = model.posterior(arms)
        return belief.mean_wh - math.sqrt(self.beta) * belief.std_wh


class UCBOptions(IndexOptions):
    """GP-UCB (or BI-UCB) of Theorem 3.1 with scaled beta."""

    label = "UCB"
    short: ClassVar[Mapping[str, str]] = {"beta_scale": "b", "omega": "w", "xi": "x"}

    beta_scale: float = Field(default=1.0, ge=0, description="factor of beta: less explores less")

    def build(self, setting: IndexSetting) -> ConfidenceBound:
        """Return the index before the first round."""
        return ConfidenceBound(self.schedule, self.beta_scale)

    def schedule(self, t: int, n_arms: int) -> float:
        """Return ``2 log(|A| t² / sqrt(2 pi))``, at least 0: Theorem 3.1 (i)."""
        return max(0.0, 2.0 * math.log(n_arms * t**2 / math.sqrt(2.0 * math.pi)))


class BayesUCBOptions(UCBOptions):
    """GP-BayesUCB of Theorem 3.1. The defaults follow the paper's section 4.2."""

    label = "BayesUCB"

    omega: float = Field(
        default=1.0, gt=0, description="exponent of the number of arms in the level of Theorem 3.1"
    )
    xi: float = Field(
        default=1.0, gt=0, description="exponent of the round in the level of Theorem 3.1"
    )

    def schedule(self, t: int, n_arms: int) -> float:
        """Return beta of level ``sqrt(2 pi)^omega / (2 |A|^omega t^xi)``: Theorem 3.1 (ii)."""
        return _beta_of_level(0.5 * (math.sqrt(2.0 * math.pi) / n_arms) ** self.omega * t**-self.xi)


class BayesUCBQuantileOptions(UCBOptions):
    """BayesUCB with the ``1 / t`` quantile of Algorithm 2."""

    label = "BayesUCB 1/t"

    def schedule(self, t: int, n_arms: int) -> float:
        """Return beta of level ``1 / t``: BayesUCB as printed in Algorithm 2, line 2.

        Level 1 of the first round would be an infinite index on every edge. The mean is used there,
        as level one half of the second round gives it.
        """
        return _beta_of_level(1.0 / t)


def _beta_of_level(level: float) -> float:
    return float(ndtri(min(level, 0.5))) ** 2


Form = Literal["lean", "theory", "safe", "cgp", "gp", "constant"]
"""``theory``, ``safe`` and ``lean`` are the model's radius (`model.nystrom.radius`). ``cgp``, also
``gp``, is the schedule of GP-UCB in Sandberg et al., Theorem 3.1. ``constant`` is a fixed number of
standard deviations.
"""


class RadiusOptions(IndexOptions):
    """Mean minus the number of standard deviations of a theorem, or of a constant."""

    label = "radius"

    form: Form = Field(
        default="lean",
        description="whose radius: lean, theory, safe (the model's), gp, cgp (GP-UCB's), constant "
        "(multiplier)",
    )
    norm_bound: float = Field(
        default=1.0,
        ge=0,
        description="bound of the norm of the learned deviation: larger explores more",
    )
    delta: float = Field(
        default=0.1, gt=0, lt=1, description="probability that any of the bounds fails"
    )
    multiplier: float = Field(
        default=2.0, ge=0, description="standard deviations of the form constant"
    )

    def build(self, setting: IndexSetting) -> "RadiusBound":
        """Return the index before the first round."""
        return RadiusBound(self)


class RadiusBound(Index):
    """Mean minus the number of standard deviations of the chosen form."""

    needs: ClassVar[type] = HasRadius
    beta: float = math.nan

    def __init__(self, options: RadiusOptions) -> None:
        self._options = options

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the lower bounds, (a,) Wh.

        ``beta`` is the squared number of deviations, as in GP-UCB.
        """
        form, options = self._options.form, self._options
        if form == "constant":
            deviations = options.multiplier
        elif form == "cgp" or form == "gp":
            deviations = math.sqrt(UCBOptions().schedule(t, len(arms)))
        else:
            deviations = cast(HasRadius, model).radius(form, options.norm_bound, options.delta)
        self.beta = deviations**2
        belief = model.posterior(arms)
        return belief.mean_wh - deviations * belief.std_wh
