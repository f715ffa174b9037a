"""Baseline of every belief: a regression of trip energies on km, climb and descent."""

import numpy as np

from evroute.arrays import FloatArray

FEWEST_TRIPS = 3
"""Trips before the first expectation."""


def online_regression(
    km: FloatArray, climb_m: FloatArray, descent_m: FloatArray, energy_wh: FloatArray
) -> FloatArray:
    """Return the energy of each trip by a regression on the earlier ones, (n,) Wh.

    Weighted least squares without intercept, weights ``1/km``.

    Parameters
    ----------
    km
        (n,) lengths, km.
    climb_m, descent_m
        (n,) heights gained and lost, m.
    energy_wh
        (n,) measured energies, Wh.
    """
    rows = np.column_stack([km, climb_m, descent_m])
    weighted = rows / km[:, np.newaxis]
    gram = np.cumsum(weighted[:, :, np.newaxis] * rows[:, np.newaxis, :], axis=0)
    moments = np.cumsum(weighted * energy_wh[:, np.newaxis], axis=0)
    expected = np.full(len(km), np.nan)
    for i in range(FEWEST_TRIPS, len(km)):
        expected[i] = rows[i] @ np.linalg.lstsq(gram[i - 1], moments[i - 1])[0]
    return expected
