"""Adaptive conformal intervals of route energies: past errors set the width.

Source: Gibbs & Candès, *Adaptive Conformal Inference Under Distribution Shift* (2021), eqs. 1-2.
The score of a trip is ``|y - mu| / sd``. The multiplier of a level is the quantile of past scores
at ``1 - alpha_t``, and ``alpha_{t+1} = alpha_t + step (alpha - miss_t)``. The share of misses tends
to ``alpha`` for any sequence of trips, also where routes were selected by their forecasts and the
deviations are wrong.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray

LEVELS = (0.5, 0.8, 0.9, 0.95)
STEP = 0.02
WINDOW = 100
GAUSSIAN_SCORES: FloatArray = ndtri(0.5 + np.arange(1, 20) / 40)
"""Scores before the first trip: quantiles i/20 of a half-normal, so that all levels start right."""


class AdaptiveConformal:
    """Multipliers of a deviation with which central intervals of `LEVELS` keep coverage.

    Parameters
    ----------
    step
        Step of ``alpha_t``, positive.
    window
        Number of newest scores kept.
    """

    def __init__(self, step: float = STEP, window: int = WINDOW) -> None:
        self.step = step
        self.window = window
        self.trips = 0
        self._scores = GAUSSIAN_SCORES
        self._alpha: FloatArray = 1 - np.array(LEVELS)

    @cached_property
    def multipliers(self) -> FloatArray:
        """(4,) half-widths of the next intervals, in predicted deviations, by level.

        Where ``alpha_t <= 0`` it is twice the largest score, instead of the paper's whole line:
        bounded scores are covered after a few such trips.
        """
        within = np.quantile(self._scores, np.clip(1 - self._alpha, 0, 1), method="weibull")
        beyond = np.where(self._alpha >= 1, 0.0, within)
        return np.where(self._alpha <= 0, 2 * self._scores.max(), beyond)

    @property
    def inflation(self) -> float:
        """Factor on a deviation for the 90 % interval of a Gaussian to hold; 1 before any trip."""
        return float(self.multipliers[LEVELS.index(0.9)] / ndtri(0.95)) if self.trips else 1.0

    @property
    def trips_heard(self) -> int:
        """Number of trips behind the multipliers, at most ``window``."""
        return min(self.trips, self.window)

    def update(
        self, mean_wh: float, sd_wh: float, measured_wh: float, multipliers: FloatArray
    ) -> None:
        """Update the multipliers with the total energy of one trip.

        Parameters
        ----------
        mean_wh
            Predicted energy of the trip, Wh.
        sd_wh
            Predicted deviation, Wh; a trip with NaN or 0 is skipped.
        measured_wh
            Measured energy, Wh.
        multipliers
            (4,) multipliers that were in force when the trip was planned.
        """
        if not sd_wh > 0:
            return
        self.__dict__.pop("multipliers", None)
        score = abs(measured_wh - mean_wh) / sd_wh
        missed = score > multipliers
        self._alpha = self._alpha + self.step * (1 - np.array(LEVELS) - missed)
        self._scores = np.append(self._scores, score)[-self.window :]
        self.trips += 1

    def state(self) -> dict[str, Any]:
        """Return the state as arrays, for `restore`."""
        return {"scores": self._scores, "alpha": self._alpha, "trips": np.array(self.trips)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of an object with the same step and window."""
        self.__dict__.pop("multipliers", None)
        self._scores, self._alpha, self.trips = state["scores"], state["alpha"], int(state["trips"])
