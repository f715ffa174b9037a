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
