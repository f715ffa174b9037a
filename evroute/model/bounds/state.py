"""Confidence bounds by the name of their kind, AY-GP-UCB and IGP-UCB among them.

Sources of these two: Abbasi-Yadkori, *Online Learning for Linearly Parametrized Control Problems*
(2012), Theorem 3.11; Chowdhury & Gopalan, *On Kernelized Multi-armed Bandits* (2017), Theorem 2.
Both are ``mu ± multiplier rho`` at one ridge strength. AMM at the same strength is strictly
narrower (Flynn & Reeb, Theorem 6.3).
"""

import math
from typing import Literal, get_args

import numpy as np

from evroute.model.bounds.sets import DEFAULT_SCALES, Assumptions, ConfidenceSet, Interval
from evroute.model.bounds.spectrum import Points, Spectrum

Kind = Literal["cmm", "dmm", "amm", "ay", "igp"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEFAULT_NORM = 5.0
DEFAULT_DELTA = 0.05
DEFAULT_ETA = 1e-4


Scale = float | Literal["mixture"]
Norm = float | Literal["auto"]
AUTO_NORM = 3.0
NORM_FACTOR = 1.5
"""B ``auto`` is the larger of `AUTO_NORM` and this factor times the least fitting norm: a rule of
thumb without guarantee.
"""


def assume(norm: float, sigma: float, delta: float, c: Scale) -> Assumptions:
    """Return assumptions with one scale, or the mixture of `DEFAULT_SCALES`.

    Parameters
    ----------
    norm
        B, positive.
    sigma
        Noise factor, positive.
    delta
        Failure probability, in (0, 1).
    c
        A scale, or ``mixture``.
    """
    return Assumptions(
        norm, sigma, delta, np.array(DEFAULT_SCALES if c == "mixture" else (c,), dtype=np.float64)
    )


def bounds(
    confidence: ConfidenceSet,
    points: Points,
    kind: Kind,
    *,
    count: float,
    eta: float = DEFAULT_ETA,
) -> Interval:
    """Return the bounds of a kind.

    Parameters
    ----------
    confidence, points
        In the same eigenbasis.
    kind
        One of `KINDS`.
    count
        Number of measurements so far, used by IGP.
    eta
        Of IGP, positive.

    Raises
    ------
    EmptySetError
        If the set is empty, for CMM, DMM and AMM.
    """
    sets = {"cmm": confidence.exact, "dmm": confidence.best_of, "amm": confidence.analytic}
    if kind in sets:
        return sets[kind](points)
    if kind == "ay":
        return abbasi_yadkori(confidence.spectrum, points, confidence.assumptions)
    return improved_gp(confidence.spectrum, points, confidence.assumptions, eta=eta, count=count)


def abbasi_yadkori(spectrum: Spectrum, points: Points, assumptions: Assumptions) -> Interval:
    """Return the AY-GP-UCB interval at ridge strength ``sigma² / c``.

    Parameters
    ----------
    spectrum, points
        Measurements and points in the same eigenbasis.
    assumptions
        Norm, noise, delta and scales.
    """
    a, lam = assumptions, assumptions.alpha
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
    return Interval(mean - half, mean + half)
