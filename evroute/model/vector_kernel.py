"""Kernels on contexts alone, for bandits without a road network: an arm's number plays no part."""

import numpy as np
from scipy.spatial.distance import cdist

from evroute.arrays import FloatArray, IntArray
from evroute.model.kernels import matern52


class _Isotropic:
    def __init__(self, variance: float, lengthscale: float) -> None:
        for name, value in (("variance", variance), ("lengthscale", lengthscale)):
            if not 0 < value < np.inf:
                raise ValueError(f"the kernel's {name} is {value:g}; it must be positive")
        self._variance = variance
        self._lengthscale = lengthscale

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,)."""
        return np.full(len(edge), self._variance)


class SquaredExponential(_Isotropic):
    """``variance * exp(-|x - y|² / (2 lengthscale²))``."""

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms, (a, b)."""
        squared: FloatArray = cdist(
            features_a / self._lengthscale, features_b / self._lengthscale, "sqeuclidean"
        )
        return self._variance * np.exp(-0.5 * squared)


class Matern52(_Isotropic):
    """The Matérn kernel of smoothness 5/2, ``model.kernels.matern52``, times a variance."""

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms, (a, b)."""
        lengthscales = np.full(features_a.shape[1], self._lengthscale)
        return self._variance * matern52(features_a, features_b, lengthscales)
