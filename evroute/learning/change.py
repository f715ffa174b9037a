"""Change test: detects that forecast errors are larger than they were.

While nothing changes, the scores of trips (``|measured - expected|/sd``) are exchangeable. The rank
of each score among the earlier ones is then uniform and independent of earlier ranks, whatever the
distribution of the scores (Vovk et al. 2021, *Retrain or not retrain: conformal test martingales
for change-point detection*). A score that is among the share p of the largest pays ``p**(k - 1)``,
divided by its mean over all ranks. For each power k the Shiryaev-Roberts evidence

    M <- (M + 1) * payoff

has at most the number of trips as its mean. It is an e-detector (Shin, Ramdas & Rinaldo 2023,
*E-detectors: a nonparametric framework for sequential change detection*), and so is the mean of M
over the powers: the mean number of trips up to a false alarm is at least `THRESHOLD`. Small powers
detect a few errors of a new size, powers near 1 a small shift or a wider spread. Errors that become
smaller, because the forecasts learn, raise no alarm.

Trips of one driver come in rides and days and are not exchangeable: of errors with a correlation
of 0.4 within a day a test of single trips raises over one false alarm in 1,000 trips. Therefore the
trips of a day are one score, the root mean square of theirs, and the days are exchanged. The
evidence of an alarm is `THRESHOLD` trips, and fewer days by their mean number of trips. A trip
without a date is a day of its own.

`learn_ended` learns a trip and obeys the test. It is the same for ``evroute learn``, where a trip
is expected and learned at once, and for ``evroute simulate``, where other trips end in between.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray

THRESHOLD = 4000.0
"""Evidence of an alarm. Energies and times of trips have separate tests. Ranks have the same
distribution whatever the scores, and by simulation a test raises 0.13 false alarms in 1,000 trips.
Both together therefore raise at most 0.3."""
POWERS: FloatArray = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
SETTLING_TRIPS = 20
"""First trips, in which forecasts and their deviations settle: they pay nothing."""


class ChangeTest:
    """Test of the scores of one vehicle's trips, or of equal arrays of independent streams.

    Attributes
    ----------
    scores
        Scores so far, of each trip a number or (s,) of s streams.
    days
        Day of each trip, or NaN where unknown.
    """

    def __init__(self) -> None:
        self.scores: list[FloatArray | float] = []
        self.days: list[float] = []
        self._of_days: list[FloatArray | float] = []
        self._ordered: list[float] = []  # numbers among them, in rising order
        self._today: list[float] = []  # scores of a day that goes on
        self._evidence = np.zeros(1)  # (powers,) or (powers, s)

    @property
    def detected(self) -> BoolArray:
        """Whether the evidence of a change reaches `THRESHOLD`, () or (s,)."""
        trips = len(self.scores) - len(self._today)
        return self._evidence.mean(axis=0) >= THRESHOLD * max(len(self._of_days), 1) / max(trips, 1)

    def add(self, score: FloatArray | float, day: float = np.nan) -> None:
        """Add the score of the next trip, a number or (s,).

        Parameters
        ----------
        score
            Of the trip.
        day
            Number of the day on which it began, or NaN if it is unknown. The score of a day counts
            from the first trip of another day on.
        """
        if self._today and day != self.days[-1]:
            today = float(np.sqrt(np.mean(np.square(self._today))))
            self._end(today, len(self.scores) - len(self._today))
            self._today = []
        if isinstance(score, float) and not np.isnan(day):
            self._today.append(score)
        else:
            self._end(score, len(self.scores))
        self.scores.append(score)
        self.days.append(day)

    def _end(self, score: FloatArray | float, trips: int) -> None:
        """Count the score of a day that has ended, after a number of trips before it."""
        earlier = len(self._of_days)
        if trips >= SETTLING_TRIPS:
            at_least: IntArray | int
            if isinstance(score, float):
                at_least = earlier - bisect_left(self._ordered, score)
            else:
                at_least = np.sum(np.array(self._of_days) >= score, axis=0)
            self._evidence = (self._evidence + 1.0) * _payoffs(earlier)[:, at_least]
        self._of_days.append(score)
        if isinstance(score, float):
            insort(self._ordered, score)


@lru_cache(maxsize=8)
def _payoffs(earlier: int) -> FloatArray:
    """Return what a score pays by the number of earlier ones at least as great, (powers, n + 1).

    Parameters
    ----------
    earlier
        Number n of earlier scores.
    """
    payoff = (np.arange(1, earlier + 2) / (earlier + 1)) ** (POWERS[:, np.newaxis] - 1.0)
    payoff /= payoff.mean(axis=1, keepdims=True)
    return payoff


UNKNOWN_DAY = -1.0
"""Number that stands for an unknown day in stored states, whose numbers are finite."""


def stored_days(days: Sequence[float]) -> FloatArray:
    """Return days for a state: `UNKNOWN_DAY` where unknown. Empty if none is known."""
    known = np.isfinite(days)
    return np.where(known, days, UNKNOWN_DAY) if known.any() else np.empty(0)


def restored_days(stored: FloatArray, trips: int) -> list[float]:
    """Return the days of some trips from `stored_days`, NaN where unknown."""
    days = stored if len(stored) else np.full(trips, UNKNOWN_DAY)
    return [float(day) if day >= 0.0 else np.nan for day in days]


TripT = TypeVar("TripT", contravariant=True)
ExpectedT = TypeVar("ExpectedT", contravariant=True)


class Learner(Protocol[TripT, ExpectedT]):
    """A learner of ended trips that may begin anew after a change."""

    def take(self, trip: TripT, expected: ExpectedT) -> None:
        """Learn a trip and the error of its expectation from before it was driven."""

    @property
    def changed(self) -> bool:
        """Whether the errors of the trips became larger, by the test of `learning.change`."""

    def restart(self) -> None:
        """Learn anew all that a change of roads makes void. The rest stays."""


def learn_ended(learner: Learner[TripT, ExpectedT], trip: TripT, expected: ExpectedT) -> None:
    """Learn a trip that ended, then begin anew if the errors of the trips became larger.

    Parameters
    ----------
    learner
        Learner of the trip's vehicle.
    trip
        The measured trip.
    expected
        Its expectation from before it was driven.
    """
    learner.take(trip, expected)
    if learner.changed:
        learner.restart()
