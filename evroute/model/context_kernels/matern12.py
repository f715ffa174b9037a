"""Matérn kernel of smoothness 1/2: Sandberg et al., eqs. 135-136 with nu = 1/2."""

from typing import TYPE_CHECKING

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.context_kernels.base import (
    distances,
    matern_torch,
    squared_differences,
    student_frequencies,
)

if TYPE_CHECKING:
    from gpytorch.kernels import Kernel


class Matern12:
    """``exp(-D)``, D the scaled distance."""

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        return np.exp(-distances(x, y, lengthscales))

    def log_gradient(
        self, x: FloatArray, y: FloatArray, lengthscales: FloatArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return the kernel and its derivatives by the logarithm of each lengthscale, (a, b) each.

        Parameters
        ----------
        x, y
            (a, d) and (b, d) contexts.
        lengthscales
            (d,) positive.
        """
        squared, squares = squared_differences(x, y, lengthscales)
        r = np.sqrt(squared)
        kernel = np.exp(-r)
        # each summand is at most r², so its quotient by r tends to 0 with r
        slope = np.divide(kernel, r, out=np.zeros_like(r), where=r > 0)
        return kernel, [slope * each for each in squares]

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size): multivariate t with 1 degree of freedom.

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        return student_frequencies(1.0, n_features, size, rng)

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        return matern_torch(0.5, lengthscales)
