"""Earlier bounds of the same kind, to compare with: AY-GP-UCB and IGP-UCB.

Sources: Abbasi-Yadkori, *Online Learning for Linearly Parametrized Control Problems* (2012),
Theorem 3.11; Chowdhury & Gopalan, *On Kernelized Multi-armed Bandits* (2017), Theorem 2. Both are
``mu ± multiplier rho`` at one ridge strength. AMM at the same strength is narrower, strictly (Flynn
& Reeb, Theorem 6.3).
"""

import math

import numpy as np

from evroute.model.bounds.sets import Assumptions, Interval
from evroute.model.bounds.spectrum import Points, Spectrum


def abbasi_yadkori(
    spectrum: Spectrum, points: Points, assumptions: Assumptions, lam: float | None = None
) -> Interval:
    """Return AY-GP-UCB at ridge strength ``lam``, ``sigma² / c`` unless given."""
    a = assumptions
    lam = a.alpha if lam is None else lam
    noise = a.sigma * math.sqrt(spectrum.log_det(1.0 / lam) - 2 * math.log(a.delta))
    return _around(spectrum, points, lam, (noise + math.sqrt(lam) * a.norm) / math.sqrt(lam))


def improved_gp(
    spectrum: Spectrum, points: Points, assumptions: Assumptions, *, eta: float, count: float
) -> Interval:
    """Return IGP-UCB at ridge strength ``1 + eta``.

    eta: 2 over the number of measurements planned is recommended.  count: measurements so far.
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
