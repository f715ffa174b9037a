"""Intervals of trip energies: a weighted conformal quantile that begins as a Student t.

Scores are ``|measured - expected|/sd`` of past trips, with weights that halve every 60 trips. They
are joined by quantiles of ``|c t_nu|`` of fixed total weight: before any trip the interval is that
of the Student t, later the scores decide (Barber et al., *Conformal prediction beyond
exchangeability*, 2023, for weighted quantiles).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr, stdtrit

from evroute.arrays import FloatArray
from evroute.learning.change import ChangeTest
from evroute.learning.tail import LOG_PRIOR, add_error, tail_mode

MEASURES = ("mean", "sd", "low50", "high50", "low90", "high90")
LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Levels of the intervals that runs record."""
HALF_LIFE_TRIPS = 60.0
STUDENT_WEIGHT = 30.0
STUDENT_QUANTILES = 60


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSpread:
    """Distribution of ``|error|/sd`` of the next trip.

    nu, scale: of the Student t.  scores: (n,) of past trips, the newest last.
    """

    nu: float
    scale: float
    scores: FloatArray

    def quantile(self, level: float) -> float:
        """Return how many predicted deviations a central interval of a level in (0, 1) reaches.

        At most the greatest score or quantile.
        """
        points = np.concatenate([self.scores, self.scale * _student_quantiles(self.nu)])
        student = np.full(STUDENT_QUANTILES, STUDENT_WEIGHT / STUDENT_QUANTILES)
        weights = np.concatenate([self._weights(), student])
        order = np.argsort(points, kind="stable")
        cumulative = np.cumsum(weights[order])
        # the next trip is one more score: the level is raised by (1 + 1 / sum of weights)
        reached = np.searchsorted(cumulative, level * (cumulative[-1] + 1.0))
        return float(points[order[min(reached, len(order) - 1)]])

    def below(self, z: float) -> float:
        """Return the probability that the error is at most z predicted deviations."""
        weights = self._weights()
        student = 2.0 * float(stdtr(self.nu, abs(z) / self.scale)) - 1.0
        within = weights[self.scores <= abs(z)].sum() + STUDENT_WEIGHT * student
        return float(0.5 + 0.5 * np.sign(z) * within / (weights.sum() + STUDENT_WEIGHT))

    @property
    def effective_trips(self) -> float:
        """Number of past trips, those long ago counted in part."""
        return float(self._weights().sum())

    def passage(self, student: float) -> float:
        """Return the probability of an event whose probability under the Student t is ``student``.

        Both are the probability of an error above the same number of deviations.
        """
        return 1.0 - self.below(-self.scale * float(stdtrit(self.nu, student)))

    def _weights(self) -> FloatArray:
        return 0.5 ** (np.arange(len(self.scores), 0, -1) / HALF_LIFE_TRIPS)


class PastErrors:
    """Errors of past trips in predicted deviations, which give the spread of the next error."""

    def __init__(self) -> None:
        self._tail = np.zeros(LOG_PRIOR.shape)
        self._scores: list[float] = []
        self.restart()

    def restart(self) -> None:
        """Begin the tests for changes anew.

        The spread stays: it measures how far forecasts misjudge their deviations, not the roads.
        """
        self._test, self._times = ChangeTest(), ChangeTest()

    @property
    def trips(self) -> int:
        """Number of errors."""
        return len(self._scores)

    @property
    def changed(self) -> bool:
        """Whether errors of energies or times became larger, by the tests of `learning.change`."""
        return bool(self._test.detected | self._times.detected)

    @cached_property
    def spread(self) -> ErrorSpread:
        """Distribution of the next error."""
        return ErrorSpread(*tail_mode(self._tail), np.array(self._scores))

    @property
    def inflation(self) -> float:
        """Factor on a deviation for the 90 % interval of a Gaussian to hold; 1 before any trip."""
        return self.spread.quantile(0.9) / float(ndtri(0.95)) if self.trips else 1.0

    def add(self, error_wh: float, sd_wh: float) -> None:
        """Add the error of one trip; a predicted deviation of NaN or 0 skips it."""
        if sd_wh > 0:
            self.__dict__.pop("spread", None)
            self._tail = add_error(self._tail, error_wh / sd_wh)
            self._scores.append(abs(error_wh / sd_wh))
            self._test.add(self._scores[-1])

    def add_time(self, score: float) -> None:
        """Add the error of a trip's time to its test, in any unit; NaN skips it."""
        if not np.isnan(score):
            self._times.add(score)

    def refuse(self, error_wh: float, sd_wh: float) -> None:
        """Add the error of a trip that is not learned: to the test alone, not to the spread."""
        self._test.add(abs(error_wh / sd_wh))

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the errors as arrays, for `restore`."""
        scores = {"scores": self._scores, "tested": self._test.scores}
        return {"tail": self._tail, **{name: np.array(each) for name, each in scores.items()}}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state."""
        self.__dict__.pop("spread", None)
        self.restart()
        self._tail, self._scores = state["tail"], state["scores"].tolist()
        for score in state.get("tested", state["scores"]).tolist():
            self._test.add(score)


@dataclass(frozen=True, slots=True, eq=False)
class TripPrediction:
    """Energy of one trip before it is driven.

    mean_wh, sd_wh: predictive mean and standard deviation, noise included, Wh.
    spread: of the error in multiples of ``sd_wh``.  trips: how many trips it rests on.
    moved_wh: how far the cone of physical coefficients moved the mean, Wh.
    """

    mean_wh: float
    sd_wh: float
    spread: ErrorSpread
    trips: int
    moved_wh: float

    def interval(self, level: float) -> tuple[float, float]:
        """Return the central interval of a level in (0, 1), Wh."""
        half_wh = self.spread.quantile(level) * self.sd_wh
        return self.mean_wh - half_wh, self.mean_wh + half_wh

    def shifted(self, by_wh: float) -> "TripPrediction":
        """Return the prediction with another mean, for energy that is added for certain, Wh."""
        return replace(self, mean_wh=self.mean_wh + by_wh)

    def below(self, energy_wh: float) -> float:
        """Return the probability that the trip takes at most this energy."""
        return self.spread.below((energy_wh - self.mean_wh) / self.sd_wh)

    def measures(self, unit: str) -> dict[str, float]:
        """Return moments, and 50 and 90 % intervals, by names that end in their unit."""
        numbers = (self.mean_wh, self.sd_wh, *self.interval(0.5), *self.interval(0.9))
        names = (f"{name}_{unit}" for name in MEASURES)
        return dict(zip(names, numbers, strict=True))

    def numbers(self) -> dict[str, float]:
        """Return the prediction by name: moments, intervals, tail, trips, effect of the cone."""
        return {
            **self.measures("wh"),
            "nu": self.spread.nu,
            "scale": self.spread.scale,
            "trips": self.trips,
            "cone_wh": self.moved_wh,
        }


@cache
def _student_quantiles(nu: float) -> FloatArray:
    quantiles: FloatArray = stdtrit(
        nu, 0.5 + ((np.arange(STUDENT_QUANTILES) + 0.5) / STUDENT_QUANTILES) / 2
    )
    quantiles.setflags(write=False)
    return quantiles
