"""Thompson sampling: the index is a draw from the posterior of the expected energies.

It is line 2 of Algorithm 2 of Sandberg et al.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasJoint, SupportsScaledSample
from evroute.policy.base import Index, IndexOptions, IndexSetting

DEFAULT_VARIANCE_SCALE = 0.5


@dataclass(frozen=True, slots=True)
class Thompson(Index):
    """Draws whose deviations from the mean are scaled by sqrt(variance_scale)."""

    variance_scale: float = DEFAULT_VARIANCE_SCALE

    @property
    def multiplier(self) -> float:
        """Standard deviation of the draws, in posterior deviations."""
        return math.sqrt(self.variance_scale)


@dataclass(frozen=True, slots=True)
class IndependentThompson(Thompson):
    """An independent draw for each arm, as in the paper: N(mean, variance_scale * variance).

    Parameters
    ----------
    variance_scale
        Factor on the posterior variance, positive. 1 is the paper's. Less explores less.
    """

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return one draw for each arm, (a,) Wh."""
        belief = model.posterior(arms)
        normal = rng.standard_normal(len(arms))
        return normal * belief.std_wh * self.multiplier + belief.mean_wh


@dataclass(frozen=True, slots=True)
class JointThompson(Thompson):
    """One joint draw of all arms, deviations from the mean scaled by sqrt(variance_scale).

    Parameters
    ----------
    variance_scale
        Factor on the posterior variance, positive.
    """

    needs: ClassVar[type] = HasJoint

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return one joint draw, (a,) Wh."""
        if isinstance(model, SupportsScaledSample):
            return model.sample_around(arms, rng, self.multiplier)
        mean_wh = model.posterior(arms).mean_wh
        draw: FloatArray = cast(HasJoint, model).sample_many(arms, rng, 1)[0]
        return mean_wh + self.multiplier * (draw - mean_wh)


class ScaledOptions(IndexOptions):
    """Options of Thompson sampling."""

    short: ClassVar[Mapping[str, str]] = {"variance_scale": "v"}

    variance_scale: float = Field(
        default=DEFAULT_VARIANCE_SCALE,
        gt=0,
        description="factor of the sampled variances. 1 is the paper's, smaller explores less",
    )


class ThompsonOptions(ScaledOptions):
    """Thompson sampling: an independent draw for each arm, as in the paper."""

    label = "TS"

    def build(self, setting: IndexSetting) -> IndependentThompson:
        """Return the index before the first round."""
        return IndependentThompson(self.variance_scale)


class JointThompsonOptions(ScaledOptions):
    """Thompson sampling: one joint draw of all arms."""

    label = "TS joint"

    def build(self, setting: IndexSetting) -> JointThompson:
        """Return the index before the first round."""
        return JointThompson(self.variance_scale)
