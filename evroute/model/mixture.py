"""Martingale mixtures: confidence sets that hold at all rounds of a run simultaneously.

Source: Flynn & Reeb, *Tighter Confidence Bounds for Sequential Kernel Regression* (arXiv
2403.12732), Theorem 4.1. Measurements are ``y_s = f(x_s) + e_s`` with ``e_s`` sub-Gaussian with
parameter sigma given the past, guesses are ``g ~ P = sum_j pi_j N(0, c_j K)``. With ``q_j = y'(I
+ c_j K / sigma²)^-1 y + sigma² ln det(I + c_j K / sigma²)``

    ln E = ||f - y||² / (2 sigma²) + ln sum_j pi_j exp(-q_j / (2 sigma²))

is the logarithm of a non-negative supermartingale that starts at 1: with probability ``1 -
delta`` it never exceeds ``ln(1 / delta)`` (Ville), for any choice of the ``x_s``. The scales c
must be fixed before the run; the weights pi are equal here. The mixture over several c is our
extension; it costs at most ``2 sigma² ln(1 / pi_j)`` over the best of them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from evroute.arrays import FloatArray, freeze

DEFAULT_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Normal guesses whose covariance is one of several multiples of the kernel, equally likely.

    Parameters
    ----------
    scales
        (j,) c, positive, in units of the kernel.

    Raises
    ------
    ValueError
        If a scale is not positive.
    """

    scales: FloatArray

    def __post_init__(self) -> None:
        n = len(self.scales)
        freeze(self, scales=(self.scales, np.float64, (n,)))
        if not (n and np.all((self.scales > 0) & (self.scales < np.inf))):
            raise ValueError(
                f"c is {self.scales.tolist()}; the covariance scales of a mixture must be positive"
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
    """Return ``||y||² - R²``: ``||f - y||² <= R²`` at all times with probability ``1 - delta``.

    This is R² for ``delta = 1``; any other adds ``2 sigma² ln(1 / delta)``.

    The part of y outside the span of K cancels; neither it nor repetitions of an arm are needed.

    Parameters
    ----------
    eigenvalues, squares
        (r,) eigenvalues of K, and squared components of y along the eigenvectors.
    mixture
        Guesses.
    sigma
        Sub-Gaussian parameter of the noise, in the unit of y.
    """
    return float(
        _explained(
            np.asarray(eigenvalues)[..., np.newaxis],
            np.asarray(squares)[..., np.newaxis],
            mixture,
            sigma,
        )
    )


def constant_explained(
    count: FloatArray, total: FloatArray, mixture: Mixture, sigma: float
) -> FloatArray:
    """Return `explained` for ``K = 11'``, an unknown constant, whose one eigenvalue is the count.

    Parameters
    ----------
    count, total
        Number of measurements and their sum, of any common shape.
    mixture
        Guesses.
    sigma
        Sub-Gaussian parameter of the noise, in the unit of the measurements.
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
    """Return the ends of a confidence sequence of an unknown constant mean.

    With probability ``1 - delta`` the mean lies between them after every measurement, so one may
    look at any time. One-sided, each end fails with at most that probability too.

    Parameters
    ----------
    count, total
        Number of measurements and their sum, of any common shape, such as running sums.
    mixture
        Guesses; its scales are variances of the mean, in the unit of the measurements squared.
    sigma
        Sub-Gaussian parameter of the noise, in the unit of the measurements.
    delta
        Probability that the sequence fails, in (0, 1].

    Returns
    -------
    tuple[FloatArray, FloatArray]
        Low and high end, in the shape of ``count``; infinite where the count is 0.

    Raises
    ------
    ValueError
        If sigma or delta is outside its range.
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
    """Return ``2 sigma² ln sum_j pi_j exp((||y||² - q_j) / (2 sigma²))``.

    The sum of q_j is over the first axis, the mixture over the last.
    """
    scaled = mixture.scales / sigma**2 * eigenvalues
    gain = (squares * scaled / (1.0 + scaled) - sigma**2 * np.log1p(scaled)).sum(axis=0)
    total = logsumexp(gain / (2 * sigma**2), axis=-1)
    mixed: FloatArray = 2 * sigma**2 * (total - np.log(len(mixture.scales)))
    return mixed
