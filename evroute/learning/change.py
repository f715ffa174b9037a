"""Change test: detects that forecast errors are not what they were.

The score of a trip is ``z = (measured - expected)/sd`` with its sign. Its normal score ``g`` has
the sign of z, and the size whose probability under the normal distribution is the rank of ``|z|``
among the earlier ones. While nothing changes, g is standard normal whatever the distribution of z
(Vovk et al. 2021, *Retrain or not retrain: conformal test martingales for change-point detection*,
for ranks). A bias that is learned away raises no alarm: |z| becomes smaller.

Trips of one driver come in days and weeks: two trips of a day have a covariance c_d, of other days
of the week c_w, and of other weeks 0. So with n trips of sum s in a day, the trips of a week up to
now have

    A = sum of n/v,  B = sum of s/v  over the days,  v = 1 - c_d + n (c_d - c_w)

and a shift of g by d has the likelihood ratio ``exp(d B/W - d^2 A/(2 W))`` with ``W = 1 + c_w A``.
Scores that are f times as wide have ``f^-N exp((1 - f^-2) Q/2)`` by N trips and the squared length
Q of their scores (`_Sums.squared_length`). For each of these alternatives the Shiryaev-Roberts
evidence

    M <- (M at the end of the last week + 1) * ratio

is counted after each trip. By true covariances its mean is at most the number of weeks. It is an
e-detector (Shin, Ramdas & Rinaldo 2023, *E-detectors: a nonparametric framework for sequential
change detection*), and so is the mean of M over the alternatives. The covariances are estimated
from the pairs of trips of a day and of a week, each joined by pairs of a usual driver. Since they
are not known, `THRESHOLD` was found by made drivers (``python -m studies.pages --run
day-threshold``).

Models of single roads choose the routes whose energy they underestimate, so that their errors have
a lasting bias. Of these the sizes alone are judged: g is the normal score of the rank of ``|z|``
itself, and only greater sizes are alternatives.

A trip without a date is a day of its own, and `WEEK` of them in a row are a week. Where sizes alone
are judged it is a week of its own: simulated trips have no dates, and nothing in common.

`learn_ended` learns a trip and obeys the test. It is the same for ``evroute learn``, where a trip
is expected and learned at once, and for ``evroute simulate``, where other trips end in between.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isnan, log
from statistics import NormalDist
from typing import Protocol, TypeVar

import numpy as np

from evroute.arrays import FloatArray

THRESHOLD = 4000.0
"""Evidence of an alarm. Energies and times of trips have separate tests."""
SHIFTS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
FACTORS = (1.5, 2.0, 3.0)
"""Alternatives: shifts of normal scores, and factors on their width."""
SHIFTS_OF_SIZES = (0.5, 1.0, 2.0)
"""Alternatives where sizes alone are judged."""
SETTLING_TRIPS = 20
"""First trips, in which forecasts and their deviations settle: they are only ranked."""
WEEK = 7
MOST = 0.9
"""Greatest covariance of two trips."""
MOST_LOG, MOST_EVIDENCE = 50.0, 1e30
"""Bounds of the logarithm of a ratio and of evidence: numbers stay finite without a restart."""
_NORMAL = NormalDist()


@dataclass(slots=True)
class _Covariance:
    """Covariance of the normal scores of two trips of a day, or of a week.

    Parameters
    ----------
    value
        Of a usual driver.
    pairs
        Ordered pairs of trips so far. At first those that the usual driver counts for.
    """

    value: float
    pairs: float

    def add(self, products: float, pairs: float) -> None:
        """Add pairs of trips, by the sum of their products."""
        total = self.value * self.pairs + products
        self.pairs += pairs
        self.value = total / self.pairs

    def between(self, most: float) -> float:
        """Return the covariance, from 0 to ``most``."""
        return min(max(self.value, 0.0), most)


@dataclass(slots=True)
class _Sums:
    """Sums of the trips of a week.

    Parameters
    ----------
    of_day, of_week
        Covariances of two trips of a day, and of other days of the week.
    trips, total
        Number of trips, and sum of their normal scores.
    squared_trips, squared_totals
        Sums of the squares of both over the days.
    weight, weighted, length
        A and B above, and the squared length of scores apart from what the week shares.
    """

    of_day: float
    of_week: float
    trips: int = 0
    total: float = 0.0
    squared_trips: int = 0
    squared_totals: float = 0.0
    weight: float = 0.0
    weighted: float = 0.0
    length: float = 0.0

    def joined(self, day: Sequence[float]) -> "_Sums":
        """Return the sums with the normal scores of a further day."""
        n, total = len(day), sum(day)
        squares = sum(score * score for score in day)
        apart, own = self.of_day - self.of_week, 1.0 - self.of_day
        variance = own + n * apart
        return _Sums(
            self.of_day,
            self.of_week,
            self.trips + n,
            self.total + total,
            self.squared_trips + n * n,
            self.squared_totals + total * total,
            self.weight + n / variance,
            self.weighted + total / variance,
            self.length + (squares - apart * total * total / variance) / own,
        )

    @property
    def shared(self) -> float:
        """W above."""
        return 1.0 + self.of_week * self.weight

    @property
    def squared_length(self) -> float:
        """Squared length of the scores by their covariance, ``g' C^-1 g``."""
        return self.length - self.of_week * self.weighted**2 / self.shared

    def ratios(self, *, signed: bool) -> list[float]:
        """Return the logarithm of the likelihood ratio of each alternative."""
        shared, shifts = self.shared, SHIFTS if signed else SHIFTS_OF_SIZES
        shifted = [d * (self.weighted - 0.5 * d * self.weight) / shared for d in shifts]
        if not signed:
            return shifted
        length = self.squared_length
        return shifted + [0.5 * length * (1.0 - f**-2) - self.trips * log(f) for f in FACTORS]


class ChangeTest:
    """Test of the scores of one vehicle's trips.

    Parameters
    ----------
    signed
        Whether signs count. Otherwise sizes alone are judged.

    Attributes
    ----------
    scores
        Scores so far, with their sign.
    days
        Day of each trip, or NaN where unknown.
    """

    def __init__(self, *, signed: bool = True) -> None:
        self.signed = signed
        self.scores: list[float] = []
        self.days: list[float] = []
        self._sizes: list[float] = []  # in rising order
        self._undated = 0  # days of trips without dates
        self._day = self._week = np.nan
        self._today: list[float] = []  # normal scores
        self._of_day, self._of_week = _Covariance(0.4, 30.0), _Covariance(0.05, 100.0)
        self._sums = _Sums(self._of_day.value, self._of_week.value)  # of the week before today
        self._before = self._evidence = [0.0] * len(self._sums.ratios(signed=signed))

    @property
    def evidence(self) -> float:
        """Evidence of a change: the mean of M above over the alternatives."""
        return sum(self._evidence) / len(self._evidence)

    @property
    def detected(self) -> bool:
        """Whether the evidence of a change reaches `THRESHOLD`."""
        return self.evidence >= THRESHOLD

    def add(self, score: float, day: float = np.nan) -> None:
        """Add the score of the next trip.

        Parameters
        ----------
        score
            Error of the trip in any unit, with its sign.
        day
            Number of the day on which it began, or NaN if it is unknown.
        """
        self.scores.append(score)
        self.days.append(day)
        earlier, size = len(self._sizes), abs(score)
        below = bisect_left(self._sizes, size)
        self._sizes.insert(below, size)
        if isnan(day):
            self._undated += 1 if self.signed else WEEK
            day = -float(self._undated)
        if earlier < SETTLING_TRIPS:
            return
        if day != self._day:
            self._end_day()
            if day // WEEK != self._week:
                self._end_week()
            self._day, self._week = day, day // WEEK
        rank = (below + 0.5) / (earlier + 1)
        normal = _NORMAL.inv_cdf(0.5 + 0.5 * rank if self.signed else rank)
        self._today.append(-normal if self.signed and score < 0.0 else normal)
        ratios = self._sums.joined(self._today).ratios(signed=self.signed)
        self._evidence = [
            min((before + 1.0) * exp(min(ratio, MOST_LOG)), MOST_EVIDENCE)
            for before, ratio in zip(self._before, ratios, strict=True)
        ]

    def _end_day(self) -> None:
        """Count today among the days of the week."""
        if self._today:
            n, total = len(self._today), sum(self._today)
            squares = sum(score * score for score in self._today)
            self._of_day.add(total * total - squares, n * n - n)
            self._sums, self._today = self._sums.joined(self._today), []

    def _end_week(self) -> None:
        """Begin a week, with the covariances of the weeks before it."""
        week = self._sums
        self._of_week.add(week.total**2 - week.squared_totals, week.trips**2 - week.squared_trips)
        of_day = self._of_day.between(MOST)
        self._sums = _Sums(of_day, self._of_week.between(of_day))
        self._before = self._evidence


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
