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

    def log_gradient(
        self, x: FloatArray, y: FloatArray, lengthscales: FloatArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return the kernel and its derivatives by the logarithm of each lengthscale.

        Parameters
        ----------
        x, y, lengthscales
            As in a call.

        Returns
        -------
        tuple of FloatArray and list of FloatArray
            (a, b) values, and d arrays (a, b).
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


def squared_differences(
    x: FloatArray, y: FloatArray, lengthscales: FloatArray
) -> tuple[FloatArray, list[FloatArray]]:
    """Return squared scaled distances (a, b), and their summands (a, b) for each dimension.

    Parameters
    ----------
    x, y
        (a, d) and (b, d) contexts.
    lengthscales
        (d,) positive.
    """
    squares = [((x[:, [j]] - y[:, j]) / scale) ** 2 for j, scale in enumerate(lengthscales)]
    return sum(squares, np.zeros((len(x), len(y)))), squares


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
        (k_1, by_1), (k_2, by_2) = _both(self, x, y, lengthscales)
        return 0.5 * (k_1 + k_2), [0.5 * (a + b) for a, b in zip(by_1, by_2, strict=True)]

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
        (k_1, by_1), (k_2, by_2) = _both(self, x, y, lengthscales)
        return k_1 * k_2, [a * k_2 + k_1 * b for a, b in zip(by_1, by_2, strict=True)]

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


def _both(
    pair: Sum | Product, x: FloatArray, y: FloatArray, lengthscales: FloatArray
) -> list[tuple[FloatArray, list[FloatArray]]]:
    return [kernel.log_gradient(x, y, lengthscales) for kernel in (pair.first, pair.second)]


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
