"""Mean and product of two kernels on contexts; both keep the value 1 at distance 0."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.context_kernels.base import ContextKernel

if TYPE_CHECKING:
    from gpytorch.kernels import Kernel


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
        """Draw frequencies (d, size): sums of independent ones of both.

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
