"""DayProfile: deviations of the quarters of a day from the day's mean, by edge, shrunk.

A value on edge e in quarter q is ``m_e + d_eq + noise``: the mean of the day, a deviation of
variance tau², and noise of variance s². With n values in the quarter the deviation is

    d_eq = sum of (value - m_e) / (n + s²/tau²),

the posterior mean given m_e, and 0 in a quarter without values. s² and tau² are common to all
edges, by the analysis of variance of unequal groups (Searle, Casella & McCulloch 1992, *Variance
Components*): s² is the mean square within quarters, and tau² follows from the sum of squares
between the quarters of each edge. Without evidence of a difference tau² and all deviations are 0.

Where the values are logarithms, the mean of ``exp(value)`` in a quarter is the mean of all passes
times

    exp(d_eq) / (sum over the quarters of w_eq exp(d_eq)),

with w_eq the share of the passes in each quarter: ``exp(m_e)`` and the mean of the noise's
exponential are the same in all quarters and cancel. In a quarter without passes the factor is 1.
"""

from typing import overload

import numpy as np

from evroute.arrays import FloatArray, IntArray

QUARTERS, QUARTER_S = 4, 6 * 3600.0


@overload
def quarter_of(departed_s: float) -> int: ...


@overload
def quarter_of(departed_s: float | None) -> int | None: ...


def quarter_of(departed_s: float | None) -> int | None:
    """Return the quarter of the day of a departure, s since a midnight: 0 before 6 h, to 3.

    None if the departure is unknown.
    """
    return None if departed_s is None else int(departed_s // QUARTER_S) % QUARTERS


class DayProfile:
    """Values of n edges by quarter of the day. The order in which they came does not matter.

    Parameters
    ----------
    n_edges
        Number of edges.
    moments
        Moments of another profile, to continue it, or None before any trip.

    Attributes
    ----------
    moments
        (3, 5, n) number of values, their sum and the sum of their squares, by quarter. The last
        belong to trips without a time of departure, which count in the mean alone.
    """

    def __init__(self, n_edges: int, moments: FloatArray | None = None) -> None:
        self.moments = np.zeros((3, QUARTERS + 1, n_edges)) if moments is None else moments.copy()
        self._deviations: FloatArray | None = None  # (4, n), until the next trip

    def add(self, edge: IntArray, value: FloatArray, departed_s: float | None) -> None:
        """Add the values of a trip.

        Parameters
        ----------
        edge
            (k,) edges of the trip.
        value
            (k,) values of these edges.
        departed_s
            Departure, s since midnight, or None if unknown.
        """
        quarter = QUARTERS if departed_s is None else quarter_of(departed_s)
        for power, sums in enumerate(self.moments[:, quarter]):
            np.add.at(sums, edge, value**power)
        self._deviations = None

    def mean(self) -> FloatArray:
        """Return the mean of the day, (n,). 0 without values."""
        count, total, _ = self.moments.sum(axis=1)
        return total / np.maximum(count, 1.0)

    def deviation(self, departed_s: float | None) -> FloatArray:
        """Return the deviations in the quarter of a departure, s, (n,). 0 for the whole day."""
        if departed_s is None:
            return np.zeros(self.moments.shape[-1])
        of_quarter: FloatArray = self._of_quarters()[quarter_of(departed_s)]
        return of_quarter

    def factor(self, edge: IntArray, departed_s: float | None) -> FloatArray:
        """Return the mean of ``exp(value)`` in the quarter of a departure over the day's mean.

        Parameters
        ----------
        edge
            (k,) edges.
        departed_s
            Departure, s since midnight, or None for the whole day.

        Returns
        -------
        numpy.ndarray
            (k,) factors, 1 for the whole day and in a quarter without passes.
        """
        if departed_s is None:
            return np.ones(len(edge))
        count, ratio = self.moments[0, :QUARTERS][:, edge], np.exp(self._of_quarters()[:, edge])
        passes, quarter = count.sum(axis=0), quarter_of(departed_s)
        driven = count[quarter] > 0
        mean = (count * ratio).sum(axis=0)[driven] / passes[driven]
        factor = np.ones(len(edge))
        factor[driven] = ratio[quarter, driven] / mean
        return factor

    def _of_quarters(self) -> FloatArray:
        """Return the deviations of all quarters, (4, n), kept until the next trip."""
        if self._deviations is None:
            self._deviations = self._all_deviations()
        return self._deviations

    def _all_deviations(self) -> FloatArray:
        count, total, square = self.moments[:, :QUARTERS]
        nonzero, passes = np.maximum(count, 1.0), count.sum(axis=0)
        apart, groups = total - count * self.mean(), np.count_nonzero(count)
        free = passes.sum() - groups
        noise = max((square - total**2 / nonzero).sum() / max(free, 1.0), 0.0)
        between = (apart**2 / nonzero).sum() - noise * (groups - np.count_nonzero(passes))
        if free <= 0 or between <= 0:
            return np.zeros(count.shape)
        inner = passes - (count**2).sum(axis=0) / np.maximum(passes, 1.0)
        deviations: FloatArray = apart / (nonzero + noise * inner.sum() / between)
        return deviations
