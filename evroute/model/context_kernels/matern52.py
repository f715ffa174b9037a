"""Matérn kernel of smoothness 5/2: Sandberg et al., eqs. 135-136 with nu = 5/2."""

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


class Matern52:
    """``(1 + r + r²/3) exp(-r)`` with ``r = sqrt(5) D``, D the scaled distance."""

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        r = distances(x, y, lengthscales)
        r *= np.sqrt(5.0)
        kernel: FloatArray = r * (1.0 / 3.0)
        kernel += 1.0
        kernel *= r
        kernel += 1.0
        np.negative(r, out=r)
        kernel *= np.exp(r, out=r)
        return kernel

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
        r = np.sqrt(5.0 * squared)
        decay = np.exp(-r)
        slope = 5.0 / 3.0 * (1.0 + r) * decay
        return (1.0 + r + r**2 / 3.0) * decay, [slope * each for each in squares]

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size): multivariate t with 5 degrees of freedom.

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        return student_frequencies(5.0, n_features, size, rng)

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        return matern_torch(2.5, lengthscales)
