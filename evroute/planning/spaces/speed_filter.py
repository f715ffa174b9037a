"""Speeds along a trip with less noise of single edges."""

import numpy as np

from evroute.arrays import FloatArray

SMOOTHED_EDGES = 5.0
"""Deviation of the weights by distance along a trip, edges."""
SAME_SPEED = 2.0
"""Deviation of the weights by difference, noises."""
NORMAL_DIFFERENCE = 0.6745 * 2**0.5
"""Median absolute difference of two normal values of deviation 1."""
ROUNDING = 1e-9


def smoothed(log_ratio: FloatArray) -> FloatArray:
    """Return log ratios of speeds along a trip, (k,), with less noise of single edges.

    Each is averaged with those near on the trip that differ by no more than noise (the bilateral
    filter of Tomasi & Manduchi 1998), so the ends of a jam stay sharp. The noise is estimated from
    successive differences, by their median. Without it a car appears to accelerate and brake at
    every junction, and the kinetic energy of the noise appears as energy of the trip.
    """
    k = np.arange(len(log_ratio))
    noise = np.median(np.abs(np.diff(log_ratio))) / NORMAL_DIFFERENCE if len(k) > 1 else 0.0
    apart = np.subtract.outer(k, k) / SMOOTHED_EDGES
    differ = np.subtract.outer(log_ratio, log_ratio) / max(SAME_SPEED * noise, ROUNDING)
    weight = np.exp(-0.5 * (apart**2 + differ**2))
    return weight @ log_ratio / weight.sum(axis=1)
