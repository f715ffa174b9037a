"""Confidence bounds whose width follows from a theorem, or is a constant.

``index = mean - beta~ sigma~ = mean - beta std``. The papers maximise rewards with an upper bound;
energy is a cost, so the bound is a lower one.
"""

import math
from typing import Literal, cast

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasRadius
from evroute.policy.schedule import TheoremUCB

Form = Literal["lean", "theory", "safe", "cgp", "gp", "constant"]
"""``theory``, ``safe`` and ``lean`` are the model's radius (`model.nystrom.radius`). ``cgp``, also
``gp``, is the schedule of GP-UCB in Sandberg et al., Theorem 3.1. ``constant`` is a fixed number of
standard deviations.
"""


class RadiusBound:
    """Mean minus the number of standard deviations of the chosen form.

    Parameters
    ----------
    form
        Source of the width, see `Form`.
    norm_bound
        F, upper bound on the norm of the residuals in the kernel's Hilbert space, at least 0.
    delta
        Probability that the bound fails, in (0, 1).
    multiplier
        Standard deviations of the form ``constant``, at least 0.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """

    needs: type = HasRadius

    def __init__(
        self,
        *,
        form: Form = "lean",
        norm_bound: float = 1.0,
        delta: float = 0.1,
        multiplier: float = 2.0,
    ) -> None:
        if not 0 <= norm_bound < math.inf:
            raise ValueError(
                f"norm_bound is {norm_bound:g}; it must be at least 0: larger explores more"
            )
        if not 0 < delta < 1:
            raise ValueError(
                f"delta is {delta:g}; the probability that the bound breaks must be between 0 and 1"
            )
        if not 0 <= multiplier < math.inf:
            raise ValueError(
                f"multiplier is {multiplier:g}; it must be at least 0 standard deviations"
            )
        self._form = form
        self._norm_bound = norm_bound
        self._delta = delta
        self._multiplier = multiplier
        self.beta = math.nan

    def __call__(self, t: int, arms: Arms, model: EnergyModel, rng: Generator) -> FloatArray:
        """Return the lower bounds, (a,) Wh.

        ``beta`` is the squared number of deviations, as in GP-UCB.
        """
        if self._form == "constant":
            deviations = self._multiplier
        elif self._form == "cgp" or self._form == "gp":
            deviations = math.sqrt(TheoremUCB()(t, len(arms), model))
        else:
            deviations = cast(HasRadius, model).radius(self._form, self._norm_bound, self._delta)
        self.beta = deviations**2
        belief = model.posterior(arms)
        index: FloatArray = belief.mean_wh - deviations * belief.std_wh
        return index
