"""Kernels of arms in units of the noise: whitened measurements have noise 1 on every arm."""

from typing import Protocol

import numpy as np

from evroute.arrays import FloatArray, IntArray


class Covariance(Protocol):
    """The prior covariance that a sparse posterior needs."""

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) arm rows.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b) Wh².
        """

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh²."""


class Whitened:
    """A covariance divided by the noise deviations of its arms.

    Parameters
    ----------
    kernel
        Covariance in Wh².
    noise_std_wh
        (n,) noise deviation of one measurement of each arm, Wh.
    """

    def __init__(self, kernel: Covariance, noise_std_wh: FloatArray) -> None:
        self._kernel = kernel
        self._noise_std = noise_std_wh

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the whitened prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) arm rows.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b).
        """
        covariance = self._kernel(edge_a, features_a, edge_b, features_b)
        covariance /= self._noise_std[edge_a, np.newaxis]
        covariance /= self._noise_std[edge_b]
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the whitened prior variance of each arm, (a,)."""
        return self._kernel.diagonal(edge, features) / self._noise_std[edge] ** 2
