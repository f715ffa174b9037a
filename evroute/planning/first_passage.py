"""First passage: the probability that the charge of a trip ever falls below its reserve.

The energies used up to k points of a route are jointly normal, or jointly Student t, about their
expectations: ``e = R g`` with g normal and R = 1 or ``sqrt(nu / chi²_nu)`` common to the trip. The
probability that any e_j exceeds its room is integrated over g at the point with the least room in
deviations, in closed form for every one of `N_DRAWS` fixed draws of R and of the rest of g.
"""

from functools import cache

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtr

from evroute.arrays import FloatArray

N_DRAWS = 1024
SEED = 0
"""Of the trips that stand for all."""
NEGLIGIBLE = 1e-4
"""Probability that points far from the reserve may add, all together."""
_LEVELS = (np.arange(N_DRAWS) + 0.5) / N_DRAWS


def first_passage(room_wh: FloatArray, covariance_wh2: FloatArray, nu: float = np.inf) -> float:
    """Return the probability that any of k errors exceeds its room, in [0, 1].

    Parameters
    ----------
    room_wh
        (k,) expected charge minus the reserve at each point, Wh; negative below the reserve.
    covariance_wh2
        (k, k) covariance of the energies used up to the points, Wh²; for a finite ``nu`` the
        squared scale of the Student t.
    nu
        Degrees of freedom of the Student t; infinite for normal errors.
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
    rest = covariance_wh2[np.ix_(kept, kept)] - np.outer(slope, slope)
    value, vector = np.linalg.eigh(rest)
    root = (vector * np.sqrt(np.maximum(value, 0.0)))[:, ::-1]
    room = room_wh[kept] / _scales(nu) - standard(1 + len(kept) // 64)[:, : len(kept)] @ root.T
    slope = np.where(np.abs(slope) < 1e-9 * std_wh[kept].max(), 1e-12, slope)
    # g at the worst point crosses above the first of these bounds, or below the second
    high = np.where(slope > 0, room / slope, np.inf).min(axis=1)
    low = np.where(slope < 0, room / slope, -np.inf).max(axis=1)
    crossed = np.where(low < high, ndtr(low) + ndtr(-high), 1.0)
    return float(max(crossed.mean(), tails[worst]))


def _below(deviates: FloatArray, nu: float) -> FloatArray:
    """Return the probability that a normal or Student t error is below deviates (k,), (k,)."""
    below: FloatArray = ndtr(deviates) if np.isinf(nu) else stdtr(nu, deviates)
    return below


@cache
def standard(blocks: int) -> FloatArray:
    """Return standard normal numbers, (`N_DRAWS`, 64 * blocks), whose columns are uncorrelated."""
    columns = np.repeat(ndtri(_LEVELS)[:, np.newaxis], 64 * blocks, axis=1)
    mixed = np.random.default_rng(SEED).permuted(columns, axis=0)
    root = np.linalg.cholesky(mixed.T @ mixed / N_DRAWS)
    return np.linalg.solve(root, mixed.T).T


@cache
def _scales(nu: float) -> FloatArray:
    """Return the common factors R of the draws, (`N_DRAWS`, 1), in an order of their own."""
    if np.isinf(nu):
        return np.ones((1, 1))
    scales = np.sqrt(nu / (2.0 * gammaincinv(nu / 2.0, _LEVELS)))
    return np.random.default_rng(SEED + 1).permutation(scales)[:, np.newaxis]
