"""Fresh: the exact posterior by one factorisation, to check the incremental one."""

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from evroute.arrays import FloatArray
from evroute.model.base import lower_factor


class Fresh:
    """The same posterior by one factorisation of size D, to check or refresh the incremental one.

    The factor is of ``I + B' K_DD B`` with ``B B' = Lam``.

    Parameters
    ----------
    prior
        (D, D) prior covariance of the slots, Wh².
    precision, information
        As in `IncrementalPosterior`; every slot has a measurement.
    """

    def __init__(self, prior: FloatArray, precision: FloatArray, information: FloatArray) -> None:
        self.prior = prior
        self._root = np.sqrt(precision)
        matrix = self._root[:, np.newaxis] * prior * self._root
        matrix[np.diag_indices_from(matrix)] += 1.0
        self._factor = lower_factor(matrix, "the covariance of all visited arms", overwrite=True)
        self.weights: FloatArray = self._root * cho_solve(
            (self._factor, True), information / self._root
        )

    def whiten(self, prior: FloatArray) -> FloatArray:
        """Return T (D, a) with ``T'T = K_*D S K_D*`` for prior covariances K_D* (D, a)."""
        whitened: FloatArray = solve_triangular(
            self._factor, self._root[:, np.newaxis] * prior, lower=True
        )
        return whitened

    def variance(self, prior: FloatArray, prior_variance: FloatArray) -> FloatArray:
        """Return the posterior variance of arms, (a,), from K_D* (D, a) and prior variances."""
        whitened = self.whiten(prior)
        array: FloatArray = prior_variance - np.einsum("ij,ij->j", whitened, whitened)
        return array
