"""ContextKernel: the protocol of kernels between contexts, and distances that siblings share.

Contexts x and y are scaled by one lengthscale for each dimension. A kernel is 1 at distance 0.
"""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from evroute.arrays import FloatArray

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
            (d, size) angular frequencies w; the kernel is the mean of ``cos(w'(x - y))``.
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
