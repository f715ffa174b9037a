"""Bayesian linear regression of trip energies with known noise, exact in any order of trips.

``y_i = x_i' b + e_i`` with ``b ~ N(m, diag(s²))`` and ``e_i ~ N(0, v_i)``. The state is the
posterior mean and a square root R of the posterior covariance. Each trip changes both, O(p²).

A Gaussian process joins as more coefficients: the features of a basis, whitened, as further columns
of the rows with prior mean 0 and standard deviation 1. R then holds its cross-covariance with b.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtri

from evroute.arrays import FloatArray, IntArray, freeze


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientPrior:
    """Independent normal priors of p coefficients, and the cone in which they are physical.

    mean, std: (p,).  cone: (c, p), physical coefficients b have ``cone @ b >= 0``. c may be 0.
    names: of the coefficients, for stored states. May be empty.
    level: number of the coefficient of the level (`level`), or None.
    multiplied: (p,) prior means of the terms that the level multiplies, others 0, or None for none.
    metered: columns whose sum a meter of its own may measure (`KeptTrip.part_wh`), or None.
    by_car: function that returns the coefficients (p, 2) by which single cars deviate, times a
    factor each (`fleet.car_effects`), from the shared ones, or None for no single cars.
    """

    mean: FloatArray
    std: FloatArray
    cone: FloatArray
    names: tuple[str, ...] = ()
    level: int | None = None
    multiplied: FloatArray | None = None
    metered: slice | IntArray | None = None
    by_car: Callable[[FloatArray], FloatArray] | None = None

    def __post_init__(self) -> None:
        p = len(self.mean)
        freeze(
            self,
            mean=(self.mean, np.float64, (p,)),
            std=(self.std, np.float64, (p,)),
            cone=(self.cone, np.float64, (len(self.cone), p)),
        )


SPARE = 20
"""Columns of a root beyond twice the number of its rows, from which on it is made square again."""


def inverse_factor(precision: FloatArray) -> FloatArray:
    """Return the inverse of the lower Cholesky factor of a precision, (p, p).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the precision is not positive definite.
    """
    return dtrtri(np.linalg.cholesky(precision), lower=1)[0]


class TripRegression:
    """Posterior of the coefficients after any number of trips.

    mean: (p,) posterior mean of b.
    root: (p, m) with ``root @ root.T`` the posterior covariance of b, m at least p.
    """

    def __init__(self, prior_mean: FloatArray, prior_std: FloatArray) -> None:
        self.prior_mean, self.prior_std = prior_mean, prior_std
        self.set(prior_mean, np.diag(prior_std))

    def set(self, mean: FloatArray, root: FloatArray) -> None:
        """Take over the posterior mean and root of a stored state or of trips learned elsewhere."""
        self.mean, self.root = mean, root

    def update(self, row: FloatArray, energy_wh: float, noise_wh2: float) -> None:
        """Learn one trip, O(p²).

        The root takes Potter's update: ``R - R w w' / (s + sqrt(s v))`` with ``w = R' x`` and
        ``s = v + w'w`` (Bierman, *Factorization Methods for Discrete Sequential Estimation* (1977),
        section II.3).

        Parameters
        ----------
        row
            (p,) terms of the trip.
        energy_wh
            Measured energy, Wh.
        noise_wh2
            Variance of the trip's noise, Wh².
        """
        w = row @ self.root
        total_wh2 = noise_wh2 + float(w @ w)
        gain = self.root @ w
        self.mean = self.mean + gain * ((energy_wh - row @ self.mean) / total_wh2)
        self.root = self.root - np.outer(gain, w / (total_wh2 + np.sqrt(total_wh2 * noise_wh2)))

    def step(self, column: int, kept: float, added: float) -> None:
        """Let a coefficient drift: multiply its deviation, then add variance to it, O(p²).

        Parameters
        ----------
        column
            Number of the coefficient.
        kept
            Factor on the coefficient.
        added
            Variance that is added.
        """
        p = len(self.mean)
        mean, root = self.mean.copy(), self.root.copy()
        mean[column] *= kept
        root[column] *= kept
        drift = np.zeros((p, 1))
        drift[column] = np.sqrt(added)
        root = np.hstack([root, drift])
        if root.shape[1] > 2 * p + SPARE:
            root = np.linalg.qr(root.T).R.T
        self.set(mean, root)

    def rebuild(self, rows: FloatArray, energy_wh: FloatArray, noise_wh2: FloatArray) -> None:
        """Replace all that was learned by trips given at once, O(n p²).

        Parameters
        ----------
        rows
            (n, p) terms of the trips.
        energy_wh, noise_wh2
            (n,) measured energies, Wh, and variances of their noise, Wh².
        """
        z = rows * self.prior_std
        weighted = (z / noise_wh2[:, np.newaxis]).T
        inverse = inverse_factor(np.eye(rows.shape[1]) + weighted @ z)
        root = self.prior_std[:, np.newaxis] * inverse.T
        self.set(
            self.prior_mean + root @ (inverse @ (weighted @ (energy_wh - rows @ self.prior_mean))),
            root,
        )

    def learn_in_turn(self, rows: FloatArray, energy_wh: FloatArray, noise_wh2: FloatArray) -> None:
        """Learn rows one after the other, O(n p²).

        Parameters
        ----------
        rows, energy_wh, noise_wh2
            As in `rebuild`.
        """
        for row, wh, variance in zip(rows, energy_wh, noise_wh2, strict=True):
            self.update(row, wh, variance)

    def variance(self, row: FloatArray) -> float:
        """Return the posterior variance of ``x' b``, noise left out, Wh²."""
        spread = row @ self.root
        return float(spread @ spread)

    @property
    def covariance(self) -> FloatArray:
        """(p, p) posterior covariance of the coefficients."""
        return self.root @ self.root.T
