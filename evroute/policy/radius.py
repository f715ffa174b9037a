"""Confidence bounds whose width follows from a theorem, or is a constant.

``index = mean - beta~ sigma~ = mean - beta std``. The papers maximise rewards with an upper bound;
energy is a cost, so the bound is a lower one.
"""

import math
from typing import ClassVar, Literal, cast

from numpy.random import Generator
from pydantic import Field

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasRadius
from evroute.policy.base import Index, IndexOptions, IndexSetting
from evroute.policy.confidence import TheoremUCB

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
            deviations = math.sqrt(TheoremUCB()(t, len(arms), model))
        else:
            radius = cast(HasRadius, model).radius
            deviations = radius(form, options.norm_bound, options.delta)
        self.beta = deviations**2
        belief = model.posterior(arms)
        return belief.mean_wh - deviations * belief.std_wh
