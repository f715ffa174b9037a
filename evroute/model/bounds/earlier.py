"""Earlier bounds for comparison: AY-GP-UCB and IGP-UCB.

Sources: Abbasi-Yadkori, *Online Learning for Linearly Parametrized Control Problems* (2012),
Theorem 3.11; Chowdhury & Gopalan, *On Kernelized Multi-armed Bandits* (2017), Theorem 2. Both are
``mu ± multiplier rho`` at one ridge strength. AMM at the same strength is strictly narrower (Flynn
& Reeb, Theorem 6.3).
"""

import math

import numpy as np

from evroute.model.bounds.sets import Assumptions, Interval
from evroute.model.bounds.spectrum import Points, Spectrum


def abbasi_yadkori(
    spectrum: Spectrum, points: Points, assumptions: Assumptions, lam: float | None = None
) -> Interval:
    """Return the AY-GP-UCB interval.

    Parameters
    ----------
    spectrum, points
        Measurements and points in the same eigenbasis.
    assumptions
        Norm, noise, delta and scales.
    lam
        Ridge strength; None for ``sigma² / c``.
    """
    a = assumptions
    lam = a.alpha if lam is None else lam
    noise = a.sigma * math.sqrt(spectrum.log_det(1.0 / lam) - 2 * math.log(a.delta))
    return _around(spectrum, points, lam, (noise + math.sqrt(lam) * a.norm) / math.sqrt(lam))


def improved_gp(
    spectrum: Spectrum, points: Points, assumptions: Assumptions, *, eta: float, count: float
) -> Interval:
    """Return the IGP-UCB interval at ridge strength ``1 + eta``.

    Parameters
    ----------
    spectrum, points
        Measurements and points in the same eigenbasis.
    assumptions
        Norm, noise and delta.
    eta
        Recommended: 2 over the number of planned measurements.
    count
        Number of measurements so far.
    """
    a = assumptions
    noise = a.sigma * math.sqrt(
        spectrum.log_det(1.0 / (1.0 + eta)) + count * eta - 2 * math.log(a.delta)
    )
    return _around(spectrum, points, 1.0 + eta, noise + a.norm)


def _around(spectrum: Spectrum, points: Points, alpha: float, multiplier: float) -> Interval:
    mean, variance = (each[:, 0] for each in spectrum.ridge(points, np.array([alpha])))
    half = multiplier * np.sqrt(variance)
    alphas = np.full(len(points), alpha)
    return Interval(mean - half, mean + half, alphas, alphas)
