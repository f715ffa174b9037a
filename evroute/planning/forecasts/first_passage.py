"""First passage: the probability that the charge of a trip ever falls below its reserve.

The energies used up to k points of a route are jointly normal, or jointly Student t, about their
expectations: ``e = R g`` with g normal and R = 1 or ``sqrt(nu / chi²_nu)`` common to the trip. The
probability that any e_j exceeds its room is integrated over g at the point with the least room in
deviations, in closed form, over R and the rest of g by `N_POINTS` lattice points and their mirror
images.

For many trips at once there are bounds without these points: a trip exceeds its room at the
point with the least room in deviations, or at another point and not there. The probabilities of
two points are sums over steps of the error at the other point.
"""

from functools import cache

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtr

from evroute.arrays import FloatArray, IntArray

N_POINTS = 1024
ERROR = 2e-3
"""Greatest error of a probability that is integrated over points."""
NEGLIGIBLE = 1e-4
"""Probability that points far from the reserve may add, all together."""
_SLIGHT = 1e-6
"""Probability of a point that a bound takes as one step."""
_STEPS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0])
"""Steps of the error at a point, in deviations from its expectation by another point's error."""


def first_passage(room_wh: FloatArray, covariance_wh2: FloatArray, nu: float = np.inf) -> float:
    """Return the probability that any of k errors exceeds its room, in [0, 1].

    Parameters
    ----------
    room_wh
        (k,) expected charge minus the reserve at each point, Wh. Negative below the reserve.
    covariance_wh2
        (k, k) covariance of the energies used up to the points, Wh². For a finite ``nu`` the
        squared scale of the Student t.
    nu
        Degrees of freedom of the Student t, or infinite for normal errors.
    """
    std_wh = np.sqrt(np.maximum(covariance_wh2.diagonal(), 0.0))
    deviates = room_wh / np.maximum(std_wh, 1e-12)
    worst = int(np.argmin(deviates))
    tails = _below(-deviates, nu)
    # most that a point adds: it is crossed, and then the worst one is not, given that R and e_j
    shared = covariance_wh2[:, worst] / np.maximum(std_wh * std_wh[worst], 1e-12)
    apart = np.sqrt(np.maximum(1.0 - shared**2, 1e-12))
    if np.isfinite(nu):
        apart *= np.sqrt((nu + deviates**2) / (nu + 1.0))
    added = tails * _below((deviates[worst] - shared * deviates) / apart, nu + 1.0)
    added[worst] = 1.0
    order = np.argsort(added, kind="stable")
    kept = order[np.cumsum(added[order]) > NEGLIGIBLE]
    if len(kept) < 2:
        return float(tails[worst])
    slope = covariance_wh2[kept, worst] / std_wh[worst]
    value, vector = np.linalg.eigh(covariance_wh2[np.ix_(kept, kept)] - np.outer(slope, slope))
    rest_wh = _normal(len(kept)) @ (vector * np.sqrt(np.maximum(value, 0.0)))[:, ::-1].T
    room = room_wh[kept] / _scales(nu) + np.concatenate([rest_wh, -rest_wh])
    slope = np.where(np.abs(slope) < 1e-9 * std_wh[kept].max(), 1e-12, slope)
    # g at the worst point crosses above the first of these bounds, or below the second
    high = np.where(slope > 0, room / slope, np.inf).min(axis=1)
    low = np.where(slope < 0, room / slope, -np.inf).max(axis=1)
    return float(max(np.where(low < high, ndtr(low) + ndtr(-high), 1.0).mean(), tails[worst]))


def passage_bounds(
    deviates: FloatArray, shared: FloatArray, first: IntArray, worst: IntArray, nu: float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the probabilities that an error of a trip exceeds its room, (r,) each.

    The lower ones are the probabilities at the points with the least room. The upper ones are 1
    where that is negative.

    Parameters
    ----------
    deviates
        (k,) room at each point of all trips, one trip after the other, in deviations.
    shared
        (k,) correlation of the errors at each point and at the worst point of its trip.
    first, worst
        (r,) position of the first point of each trip, and of its point with the least room.
    nu
        As in `first_passage`.
    """
    trip = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(deviates))))
    least = deviates[worst][trip]
    beyond, apart = _beyond(deviates, nu), np.sqrt(np.maximum(1.0 - shared**2, 1e-12))
    # given the error at a point, the worst point keeps its room the less the greater that error is
    rising = shared > 0.0
    added = np.where(rising, beyond * _kept(deviates, least, shared, apart, nu), beyond)
    added[worst] = beyond[worst]
    near = np.flatnonzero((added > _SLIGHT) & rising & (deviates > 0.0))
    near = near[near != worst[trip[near]]]
    own = deviates[near]
    shared, apart = shared[near], apart[near]
    scale = np.sqrt((nu + own**2) / (nu + 1.0)) if np.isfinite(nu) else np.ones(len(own))
    error = own[:, np.newaxis] + (apart * scale / shared)[:, np.newaxis] * _STEPS
    within = _beyond(error, nu) - np.column_stack([_beyond(error[:, 1:], nu), np.zeros(len(own))])
    above, shared, apart = (each[:, np.newaxis] for each in (least[near], shared, apart))
    added[near] = (within * _kept(error, above, shared, apart, nu)).sum(axis=1)
    most: FloatArray = np.minimum(np.bincount(trip, added, len(first)) + _SLIGHT, 1.0)
    most[deviates[worst] <= 0.0] = 1.0
    return np.maximum(beyond[worst] - 2.0 * _SLIGHT, 0.0), most


def _kept(
    error: FloatArray, least: FloatArray, shared: FloatArray, apart: FloatArray, nu: float
) -> FloatArray:
    """Return the probability that the worst point keeps its room, given an error elsewhere."""
    if np.isfinite(nu):
        apart = apart * np.sqrt((nu + error**2) / (nu + 1.0))
    return _beyond((shared * error - least) / apart, nu + 1.0)


def _beyond(deviates: FloatArray, nu: float) -> FloatArray:
    """Return the probability of an error above deviates, from a table, off by 1e-6 at most."""
    return np.interp(deviates, *_tails(nu))


@cache
def _tails(nu: float) -> tuple[FloatArray, FloatArray]:
    """Return deviates, and the probabilities of errors above them. Outside the last one holds."""
    deviates = np.linspace(-60.0, 60.0, 24_001)
    above = _below(-deviates, nu)
    above[0] = 1.0
    return deviates, above


def _below(deviates: FloatArray, nu: float) -> FloatArray:
    """Return the probability that a normal or Student t error is below deviates (k,), (k,)."""
    return ndtr(deviates) if np.isinf(nu) else stdtr(nu, deviates)


@cache
def _normal(dimensions: int) -> FloatArray:
    """Return normal numbers of the points, (`N_POINTS`, dimensions)."""
    return ndtri(_points(1 + dimensions)[:, 1:])


@cache
def _scales(nu: float) -> FloatArray:
    """Return the factors R of the points and of their mirror images, (2 `N_POINTS`, 1)."""
    if np.isinf(nu):
        return np.ones((1, 1))
    scales = np.sqrt(nu / (2.0 * gammaincinv(nu / 2.0, _points(1))))
    return np.concatenate([scales, scales])


def _points(dimensions: int) -> FloatArray:
    """Return points in the unit cube, (`N_POINTS`, dimensions), and no coordinate 0 or 1.

    Richtmyer's lattice, the roots of primes, folded (Genz & Bretz 2009, *Computation of
    Multivariate Normal and t Probabilities*, section 4.2).
    """
    # the n-th prime is below n (log n + log log n) for n > 5
    n = dimensions + 5
    numbers = np.arange(2, int(n * (np.log(n) + np.log(np.log(n)))) + 1)
    prime = (numbers[:, np.newaxis] % numbers > 0).sum(axis=1) == len(numbers) - 1
    steps = np.arange(1, N_POINTS + 1)[:, np.newaxis]
    return np.abs(2.0 * (steps * np.sqrt(numbers[prime][:dimensions]) % 1.0) - 1.0)
