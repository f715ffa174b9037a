"""Martingale mixtures: what a whole run has measured rules out, at every round at once.

Source: Flynn & Reeb, *Tighter Confidence Bounds for Sequential Kernel Regression* (arXiv
2403.12732), Theorem 4.1. Measurements are ``y_s = f(x_s) + e_s`` with ``e_s`` sub-Gaussian with
parameter sigma given the past, guesses are ``g ~ P = sum_j pi_j N(0, c_j K)``. With ``q_j = y'(I +
c_j K / sigma²)^-1 y + sigma² ln det(I + c_j K / sigma²)``

    ln E = ||f - y||² / (2 sigma²) + ln sum_j pi_j exp(-q_j / (2 sigma²))

is the logarithm of a non-negative supermartingale that starts at 1: with probability ``1 - delta``
it never exceeds ``ln(1 / delta)`` (Ville), however the ``x_s`` were chosen. The scales c and the
weights pi must be fixed before the run; the mixture over several c is our extension and costs at
most ``2 sigma² ln(1 / pi_j)`` over the best of them.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from evroute.arrays import FloatArray, freeze

DEFAULT_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Normal guesses whose covariance is one of several multiples of the kernel.

    scales: (j,) c, in units of the kernel.  weights: (j,) pi, that sum to 1; equal ones if empty.

    Raises
    ------
    ValueError
        If a scale or a weight is not positive, or the weights do not sum to 1.
    """

    scales: FloatArray
    weights: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        n = len(self.scales)
        weights = self.weights if len(self.weights) else np.full(n, 1.0 / max(n, 1))
        freeze(self, scales=(self.scales, np.float64, (n,)), weights=(weights, np.float64, (n,)))
        if not (n and np.all((self.scales > 0) & (self.scales < np.inf))):
            raise ValueError(
                f"c is {self.scales.tolist()}; the covariance scales of a mixture must be positive"
            )
        if not (np.all(self.weights > 0) and abs(float(self.weights.sum()) - 1.0) < 1e-9):
            raise ValueError(
                f"mixture weights are {self.weights.tolist()}; they must be positive and sum to 1"
            )


def check_sigma_delta(sigma: float, delta: float) -> None:
    """Raise ValueError unless ``sigma > 0`` and ``0 < delta <= 1``."""
    if not 0 < sigma < np.inf:
        raise ValueError(f"sigma is {sigma:g}; the sub-Gaussian noise parameter must be positive")
    if not 0 < delta <= 1:
        raise ValueError(
            f"delta is {delta:g}; the chance that a bound fails must be above 0 and at most 1"
        )


def explained(
    eigenvalues: FloatArray, squares: FloatArray, mixture: Mixture, sigma: float
) -> float:
    """Return ``||y||² - ||f - y||²`` at its least: ``||y||²`` minus the squared radius (R) for ``delta = 1``.

    The part of y outside the span of K cancels here, so that neither it nor repetitions of an arm
    need be known.

    eigenvalues, squares: (r,) of K, and the squares of y along its eigenvectors.
    """
    return float(
        _explained(
            np.asarray(eigenvalues)[..., np.newaxis],
            np.asarray(squares)[..., np.newaxis],
            mixture,
            sigma,
        )
    )


def squared_radius(
    y: FloatArray,
    eigenvalues: FloatArray,
    squares: FloatArray,
    mixture: Mixture,
    *,
    sigma: float,
    delta: float,
) -> float:
    """Return ``R²`` of (R): with probability ``1 - delta``, ``||f - y||² <= R²`` at all times.

    y: (t,).  eigenvalues, squares: as for `explained`; other eigenvalues are 0.
    """
    check_sigma_delta(sigma, delta)
    return (
        float(y @ y)
        - explained(eigenvalues, squares, mixture, sigma)
        - 2 * sigma**2 * float(np.log(delta))
    )


def constant_explained(
    count: FloatArray, total: FloatArray, mixture: Mixture, sigma: float
) -> FloatArray:
    """Return `explained` for the kernel ``K = 11'``, an unknown constant: its one eigenvalue is the count.

    count, total: of any one shape: how many measurements there are, and their sum.
    """
    count, total = np.asarray(count, dtype=np.float64), np.asarray(total, dtype=np.float64)
    squares = np.divide(
        total**2, count, out=np.zeros(np.broadcast(count, total).shape), where=count > 0
    )
    return _explained(
        count[np.newaxis, ..., np.newaxis], squares[np.newaxis, ..., np.newaxis], mixture, sigma
    )


def constant_interval(
    count: FloatArray, total: FloatArray, mixture: Mixture, *, sigma: float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return low and high end of a confidence sequence of an unknown constant mean.

    With probability ``1 - delta`` the mean lies between them after every measurement, so one may
    look as often as one likes. One-sided, each end fails with at most that probability too. The
    scales of the mixture are variances that the mean may have, in the unit of the measurements
    squared.

    count, total: of any one shape, such as running sums: measurements so far, and their sum.
    Infinite ends at none.
    """
    check_sigma_delta(sigma, delta)
    count, total = np.asarray(count, dtype=np.float64), np.asarray(total, dtype=np.float64)
    some = np.maximum(count, 1.0)
    mean = total / some
    # ||m - y||² <= R² with R² = ||y||² - explained + 2 sigma² ln(1 / delta), solved for the
    # constant m
    square = (
        mean**2
        - (constant_explained(count, total, mixture, sigma) + 2 * sigma**2 * np.log(delta)) / some
    )
    half = np.where(count > 0, np.sqrt(np.maximum(square, 0.0)), np.inf)
    return mean - half, mean + half


def _explained(
    eigenvalues: FloatArray, squares: FloatArray, mixture: Mixture, sigma: float
) -> FloatArray:
    """Sum over the first axis, mix over the last: ``2 sigma² ln sum_j pi_j exp((||y||² - q_j) / (2 sigma²))``."""
    scaled = mixture.scales / sigma**2 * eigenvalues
    gain = (squares * scaled / (1.0 + scaled) - sigma**2 * np.log1p(scaled)).sum(axis=0)
    mixed: FloatArray = 2 * sigma**2 * logsumexp(gain / (2 * sigma**2), axis=-1, b=mixture.weights)
    return mixed
