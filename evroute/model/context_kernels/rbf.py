"""Radial basis function kernel, also called squared exponential or Gaussian."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from evroute.arrays import FloatArray
from evroute.model.context_kernels.base import fixed

if TYPE_CHECKING:
    from gpytorch.kernels import Kernel


class RBF:
    """``exp(-D² / 2)``, D the scaled distance."""

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        squared: FloatArray = cdist(x / lengthscales, y / lengthscales, "sqeuclidean")
        return np.exp(-0.5 * squared)

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size): standard normal.

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        return rng.standard_normal((n_features, size))

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        from gpytorch.kernels import RBFKernel

        return fixed(RBFKernel(ard_num_dims=len(lengthscales)), lengthscales)
