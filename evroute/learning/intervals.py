"""Distribution of the error of the next trip's energy, from past errors and a Student t.

Scores are ``z = (measured - expected)/sd`` of past trips with their sign, each from before its trip
was learned. Their weights halve every 60 trips. A Student t with survival S joins them with weight
30, and the next trip itself is one more score: half of it lies above the greatest of the last 240
scores and half below the least, spread there as the tail of the Student t. For z >= 0 and
``z_max = max(0, scores)``

    P(error > z) = (sum of w_i over z_i > z + 0.5 min(1, S(z)/S(z_max)) + 30 S(z)) / (W + 31)

with W the sum of the weights. The lower tail is its mirror image with the least score. Before any
trip this is the Student t, later the scores decide (Barber et al., *Conformal prediction beyond
exchangeability*, 2023, for weighted quantiles). Intervals, first passage, range and charging use
this one distribution.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr, stdtrit

from evroute.arrays import FloatArray
from evroute.learning.change import ChangeTest, restored_days, stored_days
from evroute.learning.tail import LOG_PRIOR, add_error, tail_mode

MEASURES = ("mean", "sd", "low50", "high50", "low90", "high90")
LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Levels of the intervals that runs record."""
HALF_LIFE_TRIPS = 60.0
STUDENT_WEIGHT = 30.0
NEXT_TRIP = 0.5
"""Weight of the next trip beyond the extreme scores, on each side."""
RECENT_SCORES = 240
"""Number of the last scores whose extremes count."""


@dataclass(frozen=True, slots=True, eq=False)
class _Tail:
    """Upper tail of a distribution from 0 on.

    Parameters
    ----------
    nu, scale
        Of the Student t.
    scores
        (m,) positive scores in rising order.
    weight
        (m + 1,) weight of the scores from each on. 0 at the end.
    extreme
        Greatest recent score, or 0.
    total
        Weight of the whole distribution.
    """

    nu: float
    scale: float
    scores: FloatArray
    weight: FloatArray
    extreme: float
    total: float

    @classmethod
    def of(cls, spread: "ErrorSpread", scores: FloatArray) -> "_Tail":
        """Return the upper tail of a spread with scores (n,) of these signs."""
        weights = 0.5 ** (np.arange(len(scores), 0, -1) / HALF_LIFE_TRIPS)
        total = float(weights.sum()) + STUDENT_WEIGHT + 2.0 * NEXT_TRIP
        if not spread.signed:  # half of each score on each side
            scores, weights = np.abs(scores), weights / 2.0
        positive = np.flatnonzero(scores > 0.0)
        order = positive[np.argsort(scores[positive], kind="stable")]
        above = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
        extreme = max(0.0, float(scores[-RECENT_SCORES:].max(initial=0.0)))
        return cls(spread.nu, spread.scale, scores[order], above, extreme, total)

    def survival(self, z: FloatArray | float) -> FloatArray:
        """Return the probability of a Student t above z (...), (...)."""
        return np.asarray(stdtr(self.nu, -np.asarray(z) / self.scale))

    def beyond(self, z: FloatArray | float) -> FloatArray:
        """Return the probability of an error above z (...), at least 0, (...)."""
        beyond = self.weight[np.searchsorted(self.scores, z, side="right")]
        student = self.survival(z)
        spread = NEXT_TRIP * np.minimum(1.0, student / self.survival(self.extreme))
        return np.asarray((beyond + spread + STUDENT_WEIGHT * student) / self.total)

    def quantile(self, risk: float) -> float:
        """Return the least z with ``beyond(z) <= risk``, for risks up to ``beyond(0)``."""
        at_scores = self.beyond(self.scores)
        first = int(np.searchsorted(-at_scores, -risk))
        # the solution lies between two scores, on the smooth part, or is the upper one
        smooth = max(risk * self.total - float(self.weight[first]), 0.0)
        shared = (smooth - NEXT_TRIP) / STUDENT_WEIGHT
        outside = smooth / (STUDENT_WEIGHT + NEXT_TRIP / float(self.survival(self.extreme)))
        student = shared if shared >= float(self.survival(self.extreme)) else outside
        z = np.inf
        if student > 0.0:
            z = -self.scale * float(stdtrit(self.nu, min(student, 0.5)))
        if first < len(self.scores):
            z = min(z, float(self.scores[first]))
        z, step = max(z, 0.0), 1e-15
        while self.beyond(z) > risk:  # rounding errors of the inverse
            z, step = z + step * max(z, 1.0), 2.0 * step
        return z


@dataclass(frozen=True, eq=False)
class ErrorSpread:
    """Distribution of ``error/sd`` of the next trip.

    Parameters
    ----------
    nu, scale
        Of the Student t.
    scores
        (n,) of past trips with their sign, the newest last.
    signed
        Whether the signs count. Otherwise both tails are equal.
    """

    nu: float
    scale: float
    scores: FloatArray
    signed: bool = True

    def beyond(self, z: float) -> float:
        """Return the probability that the error is more than z predicted deviations."""
        return float(self._above.beyond(z) if z >= 0.0 else 1.0 - self._below.beyond(-z))

    def below(self, z: float) -> float:
        """Return the probability that the error is at most z predicted deviations."""
        return 1.0 - self.beyond(z)

    def at_risk(self, risk: float) -> float:
        """Return the least z with ``beyond(z) <= risk``, for risks in (0, 1)."""
        if risk not in self._found:
            self._found[risk] = self._at_risk(risk)
        return self._found[risk]

    def _at_risk(self, risk: float) -> float:
        if risk <= float(self._above.beyond(0.0)):
            return self._above.quantile(risk)
        z, step = -self._below.quantile(1.0 - risk), 1e-15
        while self.beyond(z) > risk:  # the bound of a score is not reached
            z, step = z + step * max(abs(z), 1.0), 2.0 * step
        return z

    def interval(self, level: float) -> tuple[float, float]:
        """Return the central interval of a level in (0, 1), in predicted deviations."""
        risk = (1.0 - level) / 2.0
        return -self._mirrored.at_risk(risk), self.at_risk(risk)

    def half_width(self, level: float) -> float:
        """Return half the width of the central interval of a level, in predicted deviations."""
        low, high = self.interval(level)
        return (high - low) / 2.0

    @property
    def effective_trips(self) -> float:
        """Number of past trips, those long ago counted in part."""
        return self._above.total - STUDENT_WEIGHT - 2.0 * NEXT_TRIP

    @property
    def supported_risk(self) -> float:
        """Least risk that past scores support. Smaller ones rest on the Student t."""
        return self.beyond(self._above.extreme)

    def passage(self, student: float) -> float:
        """Return the probability of an event whose probability under the Student t is ``student``.

        Both are the probability of an error above the same number of deviations.
        """
        return self.beyond(-self.scale * float(stdtrit(self.nu, student)))

    def passages(self, student: FloatArray) -> FloatArray:
        """Return the probabilities of events, (k,), as `passage` does for one."""
        z = -self.scale * stdtrit(self.nu, student)
        above = self._above.beyond(np.maximum(z, 0.0))
        below = self._below.beyond(-np.minimum(z, 0.0))
        return np.where(z >= 0.0, above, 1.0 - below)

    def ever_beyond(self, z: float) -> float:
        """Return a bound of the probability that errors along a trip are ever above z deviations.

        Under the Student t it is at most twice the probability at the end (Lévy's inequality).
        """
        student = 2.0 * float(self._above.survival(z))
        return self.passage(student) if student < 1.0 else 1.0

    @cached_property
    def _above(self) -> _Tail:
        return _Tail.of(self, self.scores)

    @cached_property
    def _below(self) -> _Tail:
        return _Tail.of(self, -self.scores)

    @cached_property
    def _found(self) -> dict[float, float]:
        """Answers of `at_risk` by risk: plans ask for few levels of one spread, again and again."""
        return {}

    @cached_property
    def _mirrored(self) -> "ErrorSpread":
        return replace(self, scores=-self.scores)


class PastErrors:
    """Errors of past trips in predicted deviations, which give the spread of the next error.

    Parameters
    ----------
    signed
        Whether the spread has two sides. Otherwise it is symmetric, as the forecasts of models of
        edges are.
    """

    def __init__(self, *, signed: bool = False) -> None:
        self.signed = signed
        self._tail = np.zeros(LOG_PRIOR.shape)
        self._scores: list[float] = []
        self.restart()

    def restart(self) -> None:
        """Begin the tests for changes anew.

        The spread stays: it measures how far forecasts misjudge their deviations, not the roads.
        """
        self._test = ChangeTest(signed=self.signed)
        self._times = ChangeTest(signed=self.signed)

    @property
    def trips(self) -> int:
        """Number of errors."""
        return len(self._scores)

    @property
    def changed(self) -> bool:
        """Whether errors of energies or times became larger, by the tests of `learning.change`."""
        return self._test.detected or self._times.detected

    @cached_property
    def spread(self) -> ErrorSpread:
        """Distribution of the next error."""
        return ErrorSpread(*tail_mode(self._tail), np.array(self._scores), self.signed)

    @property
    def inflation(self) -> float:
        """Factor on a deviation for the 90 % interval of a Gaussian to hold. 1 before any trip."""
        return self.spread.half_width(0.9) / float(ndtri(0.95)) if self.trips else 1.0

    def add(
        self, error_wh: float, sd_wh: float, unit_wh: float | None = None, day: float = np.nan
    ) -> None:
        """Add the error of one trip. A predicted deviation of NaN or 0 skips it.

        Parameters
        ----------
        error_wh
            Measured less expected.
        sd_wh
            Predicted deviation.
        unit_wh
            Unit of the score that the test for changes sees. ``sd_wh`` if None.
        day
            Number of its day, or NaN if it is unknown.
        """
        if sd_wh > 0:
            self.add_untested(error_wh / sd_wh)
            self._test.add(error_wh / (unit_wh or sd_wh), day)

    def add_untested(self, score: float, kept: int | None = None) -> None:
        """Add a score to the spread alone.

        Parameters
        ----------
        score
            Error in predicted deviations.
        kept
            Number of the newest scores that stay, or None for all.
        """
        self.__dict__.pop("spread", None)
        self._tail = add_error(self._tail, score)
        self._scores.append(score)
        if kept is not None:
            del self._scores[:-kept]

    def add_time(self, score: float) -> None:
        """Add the error of a trip's time to its test, in any unit. NaN skips it."""
        if not np.isnan(score):
            self._times.add(score)

    def refuse(self, error_wh: float, sd_wh: float, day: float = np.nan) -> None:
        """Add the error of a trip that is not learned: to the test alone, not to the spread.

        Parameters
        ----------
        error_wh, sd_wh, day
            As in `add`.
        """
        self._test.add(error_wh / sd_wh, day)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the errors as arrays, for `restore`."""
        scores = {"signed": self._scores, "judged": self._test.scores}
        if self._times.scores:
            scores["judged_times"] = self._times.scores
        if len(days := stored_days(self._test.days)):
            scores["judged_day"] = days.tolist()
        return {"tail": self._tail, **{name: np.array(each) for name, each in scores.items()}}

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over a state. The tests begin anew by one whose scores have no signs."""
        self.__dict__.pop("spread", None)
        self.restart()
        self._tail, self._scores = state["tail"], state["signed"].tolist()
        judged = state.get("judged", np.empty(0))
        days = restored_days(state.get("judged_day", np.empty(0)), len(judged))
        for score, day in zip(judged.tolist(), days, strict=True):
            self._test.add(score, day)
        for score in state.get("judged_times", np.empty(0)).tolist():
            self._times.add(score)


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
        low, high = self.spread.interval(level)
        return self.mean_wh + low * self.sd_wh, self.mean_wh + high * self.sd_wh

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
