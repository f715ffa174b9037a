"""Measures of expectations, and their paired intervals by a block bootstrap."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.baseline import FEWEST_TRIPS

RESAMPLES = 2_000
FIRST_TRIPS = 10
MISS_FACTOR = 20.0
"""Factor of a miss in the interval score: 2/(1 - 0.9) (Gneiting and Raftery 2007, eq. 43)."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Trips in order of time: energies, expectations and 90 % intervals.

    Measures take rows of trips (..., k) and return a value for each set of k trips, (...).

    Parameters
    ----------
    measured_wh
        (n,) measured energies, Wh.
    expected_wh, low_wh, high_wh
        (n,) expectations and ends of their intervals, Wh.
    """

    measured_wh: FloatArray
    expected_wh: FloatArray
    low_wh: FloatArray
    high_wh: FloatArray

    def error(self, trips: IntArray) -> FloatArray:
        """Return the sum of absolute errors of some trips over the sum of measured energies."""
        off_wh = np.abs(self.expected_wh - self.measured_wh)[trips]
        return np.asarray(off_wh.sum(axis=-1) / np.abs(self.measured_wh[trips]).sum(axis=-1))

    def held(self, trips: IntArray) -> FloatArray:
        """Return the share of some trips whose energy lies in its interval."""
        inside = (self.low_wh <= self.measured_wh) & (self.measured_wh <= self.high_wh)
        return np.asarray(inside[trips].mean(axis=-1))

    def score_wh(self, trips: IntArray) -> FloatArray:
        """Return the mean interval score of some trips, Wh: width, and 20 times each miss."""
        below_wh, above_wh = self.low_wh - self.measured_wh, self.measured_wh - self.high_wh
        missed_wh = np.maximum(below_wh, 0.0) + np.maximum(above_wh, 0.0)
        score_wh = self.high_wh - self.low_wh + MISS_FACTOR * missed_wh
        return np.asarray(score_wh[trips].mean(axis=-1))

    def risk(self, trips: IntArray) -> FloatArray:
        """Return the share of some trips that took more than the upper end. 5 % is right."""
        return np.asarray((self.measured_wh > self.high_wh)[trips].mean(axis=-1))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of an entry on a data set.

    Parameters
    ----------
    name
        Its name.
    unit
        ``share`` or ``Wh``.
    value
        Function of expectations and rows of trips.
    first, end
        Trips that count, from ``first`` (from 0) to before ``end``.
    """

    name: str
    unit: str
    value: Callable[[Expected, IntArray], FloatArray]
    first: int = FEWEST_TRIPS
    end: int | None = None

    def trips(self, n: int) -> IntArray:
        """Return the rows that count among n trips."""
        return np.arange(n)[self.first : self.end]


MEASURES = (
    Measure("error", "share", Expected.error),
    Measure("held", "share", Expected.held),
    Measure("score", "Wh", Expected.score_wh),
    Measure("first ten", "share", Expected.error, 0, FIRST_TRIPS),
    Measure("risk", "share", Expected.risk),
)
"""Error from the fourth trip on, share of 90 % intervals that hold, interval score, error of the
first ten trips, and share of trips above the upper end."""


def resampled(n: int) -> IntArray:
    """Return rows of n trips drawn in blocks of trips in a row, (`RESAMPLES`, n).

    Circular block bootstrap (Politis and Romano 1992). The seed is fixed.
    """
    length = block_length(n)
    rng = np.random.default_rng(0)
    starts = rng.integers(n, size=(RESAMPLES, -(-n // length)))
    rows = starts[:, :, np.newaxis] + np.arange(length)
    return rows.reshape(RESAMPLES, -1)[:, :n] % n


def block_length(n: int) -> int:
    """Return the number of trips in a block: the whole number nearest to the cube root of n."""
    return max(1, round(n ** (1.0 / 3.0)))


def paired(measure: Measure, entry: Expected, other: Expected) -> tuple[float, float, float]:
    """Return the difference of a measure between two entries, and its 90 % interval.

    Both have the same resampled trips.

    Parameters
    ----------
    measure
        The measure.
    entry, other
        Expectations of the same trips.
    """
    trips = measure.trips(len(entry.measured_wh))

    def difference(rows: IntArray) -> FloatArray:
        return measure.value(entry, rows) - measure.value(other, rows)

    low, high = np.quantile(difference(trips[resampled(len(trips))]), [0.05, 0.95])
    return float(difference(trips)), float(low), float(high)
