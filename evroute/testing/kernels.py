"""The contract of kernels on contexts: `check_kernel`."""

from collections.abc import Callable

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.model.context_kernels.base import ContextKernel, torch_values
from evroute.testing.base import close, ensure, equal, hold

SCALES = np.array([0.5, 2.0, 1.3])
"""Lengthscales of the checks."""
_DRAWS = 200_000


def check_kernel(kernel: type[ContextKernel] | ContextKernel) -> None:
    """Check that a kernel keeps the protocol `ContextKernel`.

    Parameters
    ----------
    kernel
        A class that is made without arguments, or a kernel.

    Raises
    ------
    ContractError
        With the sentence of the protocol that it breaks.
    """
    hold(CHECKS, kernel() if isinstance(kernel, type) else kernel)


def _points(seed: int, n: int) -> FloatArray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def one_at_distance_zero(kernel: ContextKernel) -> None:
    """The kernel of a context with itself is 1."""
    x = _points(0, 40)
    equal(kernel(x, x, SCALES).diagonal(), np.ones(40), "values of contexts with themselves")


def symmetric_and_positive(kernel: ContextKernel) -> None:
    """The matrix of a kernel is symmetric and has no negative eigenvalue."""
    x, y = _points(0, 40), _points(2, 9)
    matrix = kernel(x, x, SCALES)
    close(matrix, matrix.T, "the two halves", rtol=1e-14)
    least = float(np.linalg.eigvalsh(matrix).min())
    ensure(least > -1e-12, f"The least eigenvalue is {least:.3g}.")
    values = kernel(x, y, SCALES)
    ensure(values.shape == (40, 9), f"Of 40 and 9 contexts the shape is {values.shape}.")


def shrinks_with_distance(kernel: ContextKernel) -> None:
    """The kernel depends on the lengthscales: twice the lengthscales are half the distance."""
    x, y = _points(1, 7), _points(2, 9)
    close(kernel(x, y, 2 * SCALES), kernel(x / 2, y / 2, SCALES), "values", rtol=1e-10)
    ensure(np.ptp(kernel(x, y, SCALES)) > 0, "All values are equal.")


def spectral_draws(kernel: ContextKernel) -> None:
    """Cosines at frequencies of the spectral density average to the kernel."""
    frequency = kernel.spectral_draw(2, _DRAWS, np.random.default_rng(0))
    ensure(frequency.shape == (2, _DRAWS), f"Frequencies have the shape {frequency.shape}.")
    lag = np.array([[0.3, -0.4], [1.0, 0.5], [2.0, -1.0]])
    expected = kernel(lag, np.zeros((1, 2)), np.ones(2))[:, 0]
    # a mean of cosines has a standard error of at most 1 / sqrt(draws)
    mean = np.cos(lag @ frequency).mean(axis=1)
    close(mean, expected, "means of cosines", rtol=1e-7, atol=4 / np.sqrt(_DRAWS))


def torch_form(kernel: ContextKernel) -> None:
    """The form for gpytorch is the same kernel, or an EvrouteError says that there is none."""
    x, y = _points(5, 6), _points(6, 4)
    try:
        theirs = torch_values(kernel, x, y, SCALES)
    except EvrouteError:
        return
    close(theirs, kernel(x, y, SCALES), "values in gpytorch", rtol=1e-7, atol=1e-7)


CHECKS: tuple[Callable[[ContextKernel], None], ...] = (
    one_at_distance_zero,
    symmetric_and_positive,
    shrinks_with_distance,
    spectral_draws,
    torch_form,
)
