"""Coefficients of several types of cars as one regression, which share their ratios.

The coefficients ``b_k`` (p,) of type k deviate from its catalogue by a part that all types share,
as a ratio, and a part of their own:

.. code-block:: text

    b_k = D_k s + d_k,   s ~ N(0, q diag(s_1²)),   d_k ~ N(m_k, (1 - q) diag(s_k²)),   q = 1/2

with ``m_k`` and ``s_k`` the prior of type k alone, and ``D_k`` diagonal: the ratio of its prior
means to the prior means of the first type, and 1 where one of them is 0. So a type without trips is
expected to differ from its catalogue by half of what the others do, as a ratio.

The regression has the coefficients ``(s, d_1, .., d_K)``, and after them the features of fields. A
trip of type k with the terms x has the row ``(D_k x, 0, .., x, .., 0)``. All that holds for one
type then holds for several, single cars included (`car_effects`): a car has the weights of its own
type.

The kilometres of the noise are the first column, ``D_k`` times the kilometres driven, so trips of
heavier types are noisier.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from evroute.arrays import FloatArray, IntArray
from evroute.learning.trips.kept_trips import KM
from evroute.learning.trips.noise_fit import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior, TripRegression

SHARED = 0.5
"""Share of the prior variance of a type that all types have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class JointTypes:
    """Types of the cars of one belief.

    Parameters
    ----------
    priors
        Prior of the p coefficients of each type alone. All have the same names.
    """

    priors: tuple[CoefficientPrior, ...]

    @property
    def p(self) -> int:
        """Number of the coefficients of one type."""
        return len(self.priors[0].mean)

    @property
    def width(self) -> int:
        """Number of the coefficients of all types together."""
        return self.p * (1 + len(self.priors))

    def ratio(self, k: int) -> FloatArray:
        """Return the prior means of a type over the first type's, 1 without either, (p,)."""
        first, own = self.priors[0].mean, self.priors[k].mean
        both = (first != 0.0) & (own != 0.0)
        return np.where(both, own, 1.0) / np.where(both, first, 1.0)

    def block(self, k: int) -> slice:
        """Return the columns of the own part of a type."""
        return slice(self.p * (1 + k), self.p * (2 + k))

    def prior(self) -> CoefficientPrior:
        """Return the prior of the coefficients of all types together."""
        first = self.priors[0]
        shared = np.vstack([each.cone * self.ratio(k) for k, each in enumerate(self.priors)])
        names = [f"all {name}" for name in first.names]
        names += [f"{k} {name}" for k in range(len(self.priors)) for name in first.names]
        return CoefficientPrior(
            np.concatenate([np.zeros(self.p), *(each.mean for each in self.priors)]),
            np.concatenate(
                [
                    np.sqrt(SHARED) * first.std,
                    *(np.sqrt(1.0 - SHARED) * each.std for each in self.priors),
                ]
            ),
            np.hstack([shared, block_diag(*(each.cone for each in self.priors))]),
            names=tuple(names),
            metered=self._metered(),
            by_car=self._by_car,
        )

    def wide(self, row: FloatArray, k: int) -> FloatArray:
        """Return the row of the regression for a trip of a type.

        Parameters
        ----------
        row
            (p + f,) terms of the trip and features of fields.
        k
            Number of the type.

        Returns
        -------
        FloatArray
            (p (K + 1) + f,) row.
        """
        terms = row[: self.p]
        whole = np.zeros(self.width)
        whole[: self.p] = self.ratio(k) * terms
        whole[self.block(k)] = terms
        return np.concatenate([whole, row[self.p :]])

    def narrow(self, columns: FloatArray, k: int) -> FloatArray:
        """Return coefficients of a type from the coefficients of all types.

        Parameters
        ----------
        columns
            (p (K + 1) + f, ...) coefficients, or a root of their covariance.
        k
            Number of the type.

        Returns
        -------
        FloatArray
            (p + f, ...) of the type.
        """
        ratio = self.ratio(k).reshape(-1, *np.ones(columns.ndim - 1, dtype=np.int64))
        own = ratio * columns[: self.p] + columns[self.block(k)]
        return np.concatenate([own, columns[self.width :]])

    def kinds(self, column: IntArray) -> IntArray:
        """Return the kinds of the columns of a type (p + f,) from the kinds of all columns."""
        return np.concatenate([column[: self.p], column[self.width :]])

    def regression(self, joint: TripRegression, k: int) -> TripRegression:
        """Return the posterior of the coefficients of a type.

        Parameters
        ----------
        joint
            Posterior of all coefficients.
        k
            Number of the type.
        """
        of_fields = joint.prior_mean[self.width :], joint.prior_std[self.width :]
        own = self.priors[k]
        found = TripRegression(
            np.concatenate([own.mean, of_fields[0]]), np.concatenate([own.std, of_fields[1]])
        )
        found.set(self.narrow(joint.mean, k), self.narrow(joint.root, k))
        return found

    def noise(self, noise: TripNoiseScale, k: int) -> TripNoiseScale:
        """Return the noise by the kilometres that a type drives.

        Parameters
        ----------
        noise
            Noise by the kilometres of the first type.
        k
            Number of the type.
        """
        ratio = float(self.ratio(k)[KM])
        return replace(
            noise, root_km_wh=noise.root_km_wh * np.sqrt(ratio), km_wh=noise.km_wh * ratio
        )

    def _metered(self) -> IntArray | None:
        """Return the columns that a meter of their own may measure: shared, and by type."""
        own = self.priors[0].metered
        if own is None:
            return None
        columns = np.arange(self.p)[own]
        return np.concatenate([columns + self.p * k for k in range(1 + len(self.priors))])

    def _by_car(self, coefficients: FloatArray) -> FloatArray:
        """Return the coefficients that cars deviate by, (p (K + 1), 2)."""
        parts = [np.zeros((self.p, 2))]
        for k, prior in enumerate(self.priors):
            assert prior.by_car is not None
            own = self.narrow(coefficients, k)
            if prior.level is not None and prior.multiplied is not None:
                own = own + own[prior.level] * prior.multiplied
            parts.append(prior.by_car(own))
        return np.vstack(parts)
