"""Kernels on contexts alone, for bandits without a road network: an arm's number plays no part."""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels import context_kernel


class VectorKernel:
    """A variance times a kernel on contexts with one lengthscale.

    Parameters
    ----------
    context
        Name of the kernel, see `context_kernels.KERNELS`.
    variance
        Prior variance of each arm, positive.
    lengthscale
        Of every dimension, positive.

    Raises
    ------
    ValueError
        If the variance or the lengthscale is not positive and finite.
    """

    def __init__(self, context: str, variance: float, lengthscale: float) -> None:
        for name, value in (("variance", variance), ("lengthscale", lengthscale)):
            if not 0 < value < np.inf:
                raise ValueError(f"the kernel's {name} is {value:g}; it must be positive")
        self._context = context_kernel(context)
        self._variance = variance
        self._lengthscale = lengthscale

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) numbers of the arms, not used.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b) covariance.
        """
        lengthscales = np.full(features_a.shape[1], self._lengthscale)
        return self._variance * self._context(features_a, features_b, lengthscales)

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,)."""
        return np.full(len(edge), self._variance)
