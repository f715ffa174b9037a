"""Adaptive conformal intervals of route totals: how wide they have to be is learned from how wrong they were.

Source: Gibbs & Candès, *Adaptive Conformal Inference Under Distribution Shift* (2021), eqs. 1-2.
Scores are ``|y - mu| / sd`` of the trips driven; the multiplier of a level is their quantile at ``1
- alpha_t``, and ``alpha_t``
gives way after every trip: ``alpha_{t+1} = alpha_t + step (alpha - miss_t)``. The share of misses
then tends to ``alpha`` whatever the trips are, also where routes were chosen for looking cheap and
the deviations are wrong.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray

LEVELS = (0.5, 0.8, 0.9, 0.95)
STEP = 0.02
WINDOW = 100
GAUSSIAN_SCORES: FloatArray = ndtri(0.5 + np.arange(1, 20) / 40)
"""What is heard before the first trip: quantiles i/20 of a half-normal score, so that all levels begin right."""


class AdaptiveConformal:
    """Multipliers of a predicted deviation that make central intervals of `LEVELS` hold as often as they say.

    step: of ``alpha_t``, > 0.  window: so many scores, the newest, are looked at.
    """

    def __init__(self, step: float = STEP, window: int = WINDOW) -> None:
        self.step = step
        self.window = window
        self.trips = 0
        self._scores = GAUSSIAN_SCORES
        self._alpha: FloatArray = 1 - np.array(LEVELS)

    @property
    def multipliers(self) -> FloatArray:
        """(4,) how many predicted deviations the next interval of each level reaches from the mean.

        Where no miss can be afforded, ``alpha_t <= 0``, it is twice the greatest score, in place of
        the paper's whole
        line: scores that are bounded are covered after a few such trips.
        """
        within = np.quantile(self._scores, np.clip(1 - self._alpha, 0, 1), method="weibull")
        beyond = np.where(self._alpha >= 1, 0.0, within)
        multipliers: FloatArray = np.where(self._alpha <= 0, 2 * self._scores.max(), beyond)
        return multipliers

    @property
    def inflation(self) -> float:
        """What to multiply a deviation by for the 90 % interval of a Gaussian to hold; 1 before any trip."""
        return float(self.multipliers[LEVELS.index(0.9)] / ndtri(0.95)) if self.trips else 1.0

    @property
    def trips_heard(self) -> int:
        """How many trips the multipliers rest on, at most ``window``."""
        return min(self.trips, self.window)

    def update(
        self, mean_wh: float, sd_wh: float, measured_wh: float, multipliers: FloatArray
    ) -> None:
        """Learn from a trip: what was predicted and what was measured of its total.

        sd_wh: a trip whose deviation is NaN or 0 has no interval, and says nothing.  multipliers:
        (4,) those in force when it was planned.
        """
        if not sd_wh > 0:
            return
        score = abs(measured_wh - mean_wh) / sd_wh
        missed = score > multipliers
        self._alpha = self._alpha + self.step * (1 - np.array(LEVELS) - missed)
        self._scores = np.append(self._scores, score)[-self.window :]
        self.trips += 1

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as arrays."""
        return {"scores": self._scores, "alpha": self._alpha, "trips": np.array(self.trips)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up the state of another with the same step and window."""
        self._scores, self._alpha, self.trips = state["scores"], state["alpha"], int(state["trips"])
