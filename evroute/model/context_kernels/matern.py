"""Matérn kernels of smoothness 1/2, 3/2 and 5/2: Sandberg et al., eqs. 135-136."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.context_kernels.base import distances, fixed

if TYPE_CHECKING:
    from gpytorch.kernels import Kernel


class Matern:
    """Frequencies and gpytorch's form of a Matérn kernel of smoothness ``nu``."""

    nu: ClassVar[float]

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size): multivariate t with 2 nu degrees of freedom.

        Source: Rahimi & Recht, *Random Features for Large-Scale Kernel Machines* (2007).

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        degrees = 2.0 * self.nu
        frequency = rng.standard_normal((n_features, size))
        frequency /= np.sqrt(rng.chisquare(degrees, size) / degrees)
        return frequency

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        from gpytorch.kernels import MaternKernel

        return fixed(MaternKernel(nu=self.nu, ard_num_dims=len(lengthscales)), lengthscales)


class Matern12(Matern):
    """``exp(-D)``, D the scaled distance."""

    nu = 0.5

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        kernel: FloatArray = np.exp(-distances(x, y, lengthscales))
        return kernel


class Matern32(Matern):
    """``(1 + r) exp(-r)`` with ``r = sqrt(3) D``, D the scaled distance."""

    nu = 1.5

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        r = np.sqrt(3.0) * distances(x, y, lengthscales)
        kernel: FloatArray = (1.0 + r) * np.exp(-r)
        return kernel


class Matern52(Matern):
    """``(1 + r + r²/3) exp(-r)`` with ``r = sqrt(5) D``, D the scaled distance."""

    nu = 2.5

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
