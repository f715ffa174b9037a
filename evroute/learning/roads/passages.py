"""Bounds of the risks of many trips, the probabilities that their charges fall below a reserve.

The energies up to the ends of all arms have a covariance with the energy up to one arm of the same
trip, the one with the least room. It bounds the probability that any of them exceeds its room
(`first_passage.passage_bounds`).
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.learning.intervals import ErrorSpread
from evroute.learning.trips.sums import Sums
from evroute.planning.forecasts.first_passage import passage_bounds
from evroute.planning.forecasts.many_trips import TripsTogether


def bounds_of(
    spread: ErrorSpread,
    sums: Sums,
    trips: TripsTogether,
    reserve_wh: float,
    battery_share: float,
) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the probabilities that trips ever fall below a reserve, (r,) each.

    Parameters
    ----------
    spread
        Of the errors of trips.
    sums
        Their energies up to the ends of all arms.
    trips, reserve_wh
        The r trips, and the reserve, Wh.
    battery_share
        As in `TripDay`.
    """
    trip, first = trips.trip, trips.first
    used_wh = battery_share * (trips.begin_wh[first][trip] - trips.end_wh)
    variance_wh2 = sums.covariance_with(np.arange(len(trip)))
    std_wh = np.sqrt(np.maximum(variance_wh2 + used_wh**2, 1e-18))
    deviates = (trips.low_wh - reserve_wh) / (spread.scale * std_wh)
    least = np.flatnonzero(deviates == np.minimum.reduceat(deviates, first)[trip])
    worst = least[np.searchsorted(trip[least], np.arange(len(first)))]
    at = worst[trip]
    shared = (sums.covariance_with(at) + used_wh * used_wh[at]) / (std_wh * std_wh[at])
    low, high = passage_bounds(deviates, shared, first, worst, spread.nu)
    # scipy returns plus infinity as the quantile of 0
    return np.where(low > 0.0, spread.passages(low), 0.0), spread.passages(high)
