"""ContextKernel: the protocol of kernels between contexts, and distances that siblings share.

Contexts x and y are scaled by one lengthscale for each dimension. A kernel is 1 at distance 0. So
are the mean (`Sum`) and the product of two kernels.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from evroute.arrays import FloatArray
from evroute.optional import check_extra

if TYPE_CHECKING:
    from gpytorch.kernels import Kernel


class ContextKernel(Protocol):
    """A stationary kernel between contexts."""

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between two lists of contexts.

        Parameters
        ----------
        x, y
            (a, d) and (b, d) standardised contexts.
        lengthscales
            (d,) positive, in standard deviations of the contexts.

        Returns
        -------
        FloatArray
            (a, b) values, 1 at distance 0.
        """

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies from the spectral density at lengthscale 1 (Bochner's theorem).

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.

        Returns
        -------
        FloatArray
            (d, size) angular frequencies w. The kernel is the mean of ``cos(w'(x - y))``.
        """

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the same kernel for gpytorch, in float64, its numbers fixed.

        Raises
        ------
        EvrouteError
            If the kernel has no form for gpytorch.
        """


def distances(x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
    """Return Euclidean distances between scaled contexts, (a, b).

    Parameters
    ----------
    x, y
        (a, d) and (b, d) contexts.
    lengthscales
        (d,) positive.
    """
    # Distances from differences: expanding the square would lose all digits between near contexts.
    scaled: FloatArray = cdist(x / lengthscales, y / lengthscales)
    return scaled


def fixed(kernel: "Kernel", lengthscales: FloatArray) -> "Kernel":
    """Return a gpytorch kernel in float64 with fixed lengthscales (d,), without gradient."""
    import torch

    kernel = kernel.double()
    kernel.lengthscale = torch.tensor(lengthscales)
    return kernel.requires_grad_(False)


@dataclass(frozen=True, slots=True)
class Sum:
    """``(first + second) / 2``: named ``first+second``."""

    first: ContextKernel
    second: ContextKernel

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        return 0.5 * (self.first(x, y, lengthscales) + self.second(x, y, lengthscales))

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size), each from the first or the second with equal probability.

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        first, second = (k.spectral_draw(n_features, size, rng) for k in (self.first, self.second))
        return np.where(rng.random(size) < 0.5, first, second)

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        from gpytorch.kernels import ScaleKernel

        mean = ScaleKernel(
            self.first.torch_kernel(lengthscales) + self.second.torch_kernel(lengthscales)
        ).double()
        mean.outputscale = 0.5
        return mean.requires_grad_(False)


@dataclass(frozen=True, slots=True)
class Product:
    """``first * second``: named ``first*second``."""

    first: ContextKernel
    second: ContextKernel

    def __call__(self, x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
        """Return the kernel between contexts (a, d) and (b, d), (a, b)."""
        return self.first(x, y, lengthscales) * self.second(x, y, lengthscales)

    def spectral_draw(self, n_features: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw frequencies (d, size): sums of independent draws from both kernels.

        Parameters
        ----------
        n_features
            Dimension d of the contexts.
        size
            Number of frequencies.
        rng
            Source of randomness.
        """
        first, second = (k.spectral_draw(n_features, size, rng) for k in (self.first, self.second))
        return first + second

    def torch_kernel(self, lengthscales: FloatArray) -> "Kernel":
        """Return the kernel for gpytorch with lengthscales (d,)."""
        return (
            self.first.torch_kernel(lengthscales) * self.second.torch_kernel(lengthscales)
        ).requires_grad_(False)


def torch_values(
    kernel: ContextKernel, x: FloatArray, y: FloatArray, lengthscales: FloatArray
) -> FloatArray:
    """Return the values of a kernel by its form for gpytorch.

    Parameters
    ----------
    kernel
        The kernel.
    x, y
        (n, d) and (m, d) contexts.
    lengthscales
        (d,) positive.

    Returns
    -------
    FloatArray
        (n, m).

    Raises
    ------
    MissingPackageError
        If gpytorch is not installed.
    EvrouteError
        If it has no such form.
    """
    check_extra("gp")
    import torch

    form = kernel.torch_kernel(lengthscales)
    values: FloatArray = form(torch.tensor(x), torch.tensor(y)).to_dense().detach().numpy()
    return values
