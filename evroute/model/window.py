"""Window: less work for an incremental posterior where trips repeat slots of the trips before.

A trip over k of D slots changes the covariances with the open arms by a product of k x D with
D x (n - D) numbers. While trips repeat, the posterior at the start of a window takes the place of
the prior. Let Q be the q slots of the window, P their posterior covariance with the open arms at
its start, and Lam_w the precision measured since. With C the posterior covariance of today, the
covariance of any slot p with the open arms is

    k_p* - C_pD Lam K_D*    or    P_p - C_pQ Lam_w P,

one equation (`incremental_posterior`) with two priors. The second has q terms in place of D. A slot
that enters a window later gets the row ``P_p`` that makes both sides equal. Trips do not change P,
so rounding errors do not grow from trip to trip.
"""

from typing import NamedTuple

import numpy as np

from evroute.arrays import FloatArray, IntArray

MOST_SLOTS = 256
"""Most slots of a window."""


class Trip(NamedTuple):
    """The k distinct slots of a trip, among D slots.

    Parameters
    ----------
    slots
        (k,) the slots.
    learned
        (k,) precision of their measurements, 1/Wh².
    inverse
        (k, k) a matrix.
    covariance
        (k, D) their posterior covariance with all slots, Wh².
    product
        (k, D) ``inverse @ covariance``.
    """

    slots: IntArray
    learned: FloatArray
    inverse: FloatArray
    covariance: FloatArray
    product: FloatArray


class Window:
    """The slots of trips that repeat, and P, their covariances with the open arms at its start."""

    def __init__(self) -> None:
        self._last: IntArray = np.empty(0, dtype=np.int64)
        self._slots: IntArray = np.empty(0, dtype=np.int64)
        self._precision: FloatArray = np.empty(0)
        self._rows: FloatArray = np.empty((0, 0))

    def product(self, trip: Trip, precision: FloatArray, prior: FloatArray) -> FloatArray:
        """Return a trip's matrix times its posterior covariance with the open arms, (k, n - D).

        The trip is then learned. A window begins with a trip that has half of its slots from the
        trip before. It ends with a trip that does not, and begins anew where it would have more
        than half of all slots.

        Parameters
        ----------
        trip
            The trip.
        precision
            (D,) diagonal of Lam before the trip, 1/Wh².
        prior
            (D, n - D) prior covariance of all slots with the open arms, Wh².
        """
        slots, most = trip.slots, min(len(precision) // 2, MOST_SLOTS)
        repeats = 2 * np.count_nonzero(np.isin(slots, self._last)) >= len(slots)
        self._last = slots
        if not repeats or len(slots) > most:
            self._begin(0)
            return prior_row_weights(slots, trip.inverse, trip.product, precision) @ prior
        if not len(self._slots) or len(np.union1d(self._slots, slots)) > most:
            self._begin(prior.shape[1])
        new = np.flatnonzero(~np.isin(slots, self._slots))
        if len(new):
            covariance = trip.covariance[new]
            rows = prior_row_weights(slots[new], np.eye(len(new)), covariance, precision) @ prior
            rows += (covariance[:, self._slots] * self._precision) @ self._rows
            self._rows = np.concatenate([self._rows, rows])
            self._slots = np.append(self._slots, slots[new])
            self._precision = np.append(self._precision, np.zeros(len(new)))
        of_window, places = trip.product[:, self._slots], self._places(slots)
        weights = prior_row_weights(places, trip.inverse, of_window, self._precision)
        self._precision[places] += trip.learned
        return weights @ self._rows

    def move(self, gaps: IntArray, movers: IntArray, left: int) -> None:
        """Move the columns of some open arms into the gaps of others.

        Parameters
        ----------
        gaps, movers
            Columns that are overwritten, and the columns that take their places.
        left
            Number of columns that are kept, from the first on.
        """
        if len(self._slots):
            self._rows[:, gaps] = self._rows[:, movers]
            self._rows = self._rows[:, :left]

    def _begin(self, n_open: int) -> None:
        """Forget all slots."""
        self._slots, self._precision = np.empty(0, dtype=np.int64), np.empty(0)
        self._rows = np.empty((0, n_open))

    def _places(self, slots: IntArray) -> IntArray:
        """Return the places of some slots in the window, (k,)."""
        order = np.argsort(self._slots)
        places: IntArray = order[np.searchsorted(self._slots[order], slots)]
        return places


def prior_row_weights(
    places: IntArray, inverse: FloatArray, product: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the weights of prior rows in ``inverse`` times posterior covariances, (k, D).

    Parameters
    ----------
    places
        (k,) prior rows of the k slots, among D.
    inverse
        (k, k) matrix.
    product
        (k, D) the matrix times the posterior covariance with the slots of the prior rows.
    precision
        (D,) precision measured since the prior, 1/Wh².
    """
    weights: FloatArray = -product * precision
    weights[:, places] += inverse
    return weights
