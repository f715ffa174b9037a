"""The energy of the rest of a trip, by what its driven part took.

The energies up to k points of a route have means and a covariance. The energy y that was read
between two points, with a variance r, moves that of every part L that is left::

    gain  = Cov(L, driven) / (Var(driven) + a² + r)
    E[L] += gain (y - E[driven]),    Var(L) -= gain² (Var(driven) + a² + r),    then + a²

Factors of the whole trip, learned columns and roads connect both parts. The noise of kilometres is
their own. The part a² of each reading of a trip is in every row of C and tells nothing: it is taken
out first, and counts for the rest as for any trip. Between two points energies are linear.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class DrivenPart:
    """The driven part of a route, and what it took.

    Numbers of driven arms have fractions: 2.25 is a quarter of the third arm.

    Parameters
    ----------
    at
        Number of arms driven.
    begin, end
        Numbers of arms driven at both ends of the part that was read, at most ``at``.
    read
        What it took, Wh, or None if it was not read.
    variance
        Variance of the reading, Wh².
    start
        Variance of the charge with which the rest begins, Wh². It tells nothing of its energy.
    """

    at: float
    begin: float = 0.0
    end: float = 0.0
    read: float | None = None
    variance: float = 0.0
    start: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """What is left of a trip.

    Parameters
    ----------
    mean
        (n,) expected energies from the car on up to the end of each further arm, Wh. The first is
        that of the arm on which the car is.
    covariance
        (n, n) their covariance, Wh².
    driven_mean, driven_std
        What was expected of the part that was read, and its standard deviation, Wh.
    """

    mean: FloatArray
    covariance: FloatArray
    driven_mean: float
    driven_std: float


def rest(mean: FloatArray, reached: FloatArray, of_reading: float, part: DrivenPart) -> Left:
    """Return what is left of a trip. Travel times in s are treated alike.

    Parameters
    ----------
    mean
        (k,) expected energies up to the end of each arm, Wh.
    reached
        (k, k) their covariance, noise included, Wh².
    of_reading
        Variance of a reading of any trip, which every element of ``reached`` includes, Wh².
    part
        The driven part. The car is before the last point.
    """
    k = len(mean)
    mean = np.append(0.0, mean)
    covariance = np.pad(reached - of_reading, ((1, 0), (1, 0)))
    left = np.eye(k + 1)[int(part.at) + 1 :] - _at(part.at, k)
    driven = _at(part.end, k) - _at(part.begin, k)
    left_mean, left_covariance = left @ mean, left @ covariance @ left.T
    variance, expected = float(driven @ covariance @ driven) + of_reading, float(driven @ mean)
    if part.read is not None and driven.any() and variance + part.variance > 0.0:
        shared = left @ covariance @ driven
        gain = shared / (variance + part.variance)
        left_mean = left_mean + gain * (part.read - expected)
        left_covariance = left_covariance - np.outer(gain, shared)
    left_covariance = left_covariance + of_reading + part.start
    return Left(left_mean, left_covariance, expected, float(np.sqrt(variance)))


def _at(arms: float, k: int) -> FloatArray:
    """Return the weights of the points around a number of driven arms, (k + 1,)."""
    weights = np.zeros(k + 1)
    before = min(int(arms), k - 1)
    weights[before + 1] = arms - before
    weights[before] += 1.0 - weights[before + 1]
    return weights
