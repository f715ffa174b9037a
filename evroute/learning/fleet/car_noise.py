"""Covariance of the energies of trips around the shared coefficients, in which trips share a car.

``N = diag(v) + F F'`` for the trips of each car, with F (n, 2) their dissipated energy and heating
times the deviations over cars, and trips of different cars independent. Without named cars F has no
columns. All products with its
inverse are by Woodbury's identity car by car, with ``A = I + F' diag(v)^-1 F`` (2, 2), O(n) in all:

.. code-block:: text

    N^-1 = V^-1 - V^-1 F A^-1 F' V^-1,   det N = det V det A,   F' N^-1 F = I - A^-1
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DrivenCars:
    """Cars of n trips.

    Parameters
    ----------
    features
        (n, c) dissipated energy and heating of each trip, Wh, or (n, 0) without named cars.
    group
        (n,) number of the car of each trip, from 0.
    centre
        (c,) centre of the prior of the deviations of factor and heating over cars.
    """

    features: FloatArray
    group: IntArray
    centre: FloatArray

    @classmethod
    def none(cls, n: int) -> "DrivenCars":
        """Return no cars, for n trips of one car without a name."""
        return cls(np.empty((n, 0)), np.zeros(n, dtype=np.int64), np.empty(0))

    def covariance(self, std: FloatArray, variance: FloatArray) -> "TripCovariance":
        """Return the covariance of the trips.

        Parameters
        ----------
        std
            (c,) deviations over cars.
        variance
            (n,) variances of the noise, Wh².
        """
        return TripCovariance(self.features * std, self.group, variance)


class TripCovariance:
    """Covariance N (n, n) of the energies of n trips at known shared coefficients.

    Parameters
    ----------
    features
        (n, c) F.
    group
        (n,) number of the car of each trip, from 0.
    variance
        (n,) v, Wh².
    """

    def __init__(self, features: FloatArray, group: IntArray, variance: FloatArray) -> None:
        self.features, self.variance = features, variance
        self._order = np.argsort(group, kind="stable")
        self._starts = np.flatnonzero(np.diff(group[self._order], prepend=-1))
        over = features / variance[:, np.newaxis]
        products = features[:, :, np.newaxis] * over[:, np.newaxis, :]
        inner = np.eye(features.shape[1]) + self._by_car(products)
        self._log_det = float(np.log(variance).sum() + np.linalg.slogdet(inner)[1].sum())
        self._inverse = np.linalg.inv(inner)
        self._place = np.unique(group, return_inverse=True)[1]
        self._over = over

    @property
    def diagonal(self) -> FloatArray:
        """(n,) diagonal of the inverse."""
        taken = np.einsum("ni,nij,nj->n", self._over, self._inverse[self._place], self._over)
        return np.asarray(1.0 / self.variance - taken)

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant."""
        return self._log_det

    def solved(self, columns: FloatArray) -> FloatArray:
        """Return ``X' N^-1`` for columns X (n, ...), (..., n)."""
        flat = columns.reshape(len(columns), -1)
        sums = self._by_car(self._over[:, :, np.newaxis] * flat[:, np.newaxis, :])
        taken = np.einsum("nk,nkq->nq", self._over, (self._inverse @ sums)[self._place])
        found = flat / self.variance[:, np.newaxis] - taken
        return np.asarray(found.reshape(columns.shape).T)

    def slopes(self, half: FloatArray, solved: FloatArray) -> FloatArray:
        """Return half the slopes of a log likelihood by the logs of the deviations of cars, (c,).

        Parameters
        ----------
        half, solved
            (q, n) and (n,) with ``N^-1 - half' half`` the inverse of the covariance of the trips,
            and its product with their residuals.
        """
        own = 1.0 - np.diagonal(self._inverse, axis1=1, axis2=2)
        slopes = own.sum(axis=0)
        for k, feature in enumerate(self.features.T):
            shared = self._by_car((half * feature).T)
            slopes[k] -= (shared**2).sum() + (self._by_car(solved * feature) ** 2).sum()
        return np.asarray(slopes)

    def _by_car(self, numbers: FloatArray) -> FloatArray:
        """Return the sums over the trips of each car of numbers (n, ...), (cars, ...)."""
        return np.asarray(np.add.reduceat(numbers[self._order], self._starts, axis=0))
