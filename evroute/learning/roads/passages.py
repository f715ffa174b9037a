"""Bounds of the risks of many trips, the probabilities that their charges fall below a reserve.

The energies up to the ends of all arms have a covariance with the energy up to one arm of the same
trip, the one with the least room. It bounds the probability that any of them exceeds its room
(`first_passage.passage_bounds`).
"""

from collections.abc import Callable

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.intervals import ErrorSpread
from evroute.learning.trips.sums import Sums
from evroute.network.heights.stretches import Stretches
from evroute.planning.forecasts.first_passage import passage_bounds
from evroute.planning.forecasts.many_trips import TripsTogether

Covariance = Callable[[IntArray], FloatArray]
"""Function from (k,) arms of the same trips to the covariance of the energies up to the end of each
arm and up to the end of the given one, (k,) Wh²."""


def covariances(
    sums: Sums, trips: TripsTogether, unknown_wh2: Callable[[Stretches], FloatArray] | None
) -> Covariance:
    """Return the covariances of the energies up to the ends of the arms of trips.

    Parameters
    ----------
    sums
        Energies up to the ends of the arms.
    trips
        The trips.
    unknown_wh2
        As in `TripDay`, or None where columns explain all.
    """
    trip, first, spread_wh = trips.trip, trips.first, sums.shared_wh
    unknown = list[FloatArray]()
    if unknown_wh2 is not None:
        each = np.split(np.arange(len(trip)), first[1:])
        unknown = [unknown_wh2(trips.stretches[rows]) for rows in each]

    def covariance(at: IntArray) -> FloatArray:
        shared_wh2 = np.einsum("kr,kr->k", spread_wh, spread_wh[at])
        shared_wh2 += sums.belief.noise.covariance_with(sums.km, at)
        if unknown:
            pairs = zip(unknown, np.split(at - first[trip], first[1:]), strict=True)
            found = [of_trip[np.arange(len(other)), other] for of_trip, other in pairs]
            shared_wh2 += np.concatenate(found)
        return shared_wh2

    return covariance


def bounds_of(
    spread: ErrorSpread,
    covariance: Covariance,
    trips: TripsTogether,
    reserve_wh: float,
    battery_share: float,
) -> FloatArray:
    """Return upper bounds of the probabilities that trips ever fall below a reserve, (r,).

    Parameters
    ----------
    spread
        Of the errors of trips.
    covariance
        Of their energies.
    trips, reserve_wh
        The r trips, and the reserve, Wh.
    battery_share
        As in `TripDay`.
    """
    trip, first = trips.trip, trips.first
    used_wh = battery_share * (trips.begin_wh[first][trip] - trips.end_wh)
    std_wh = np.sqrt(np.maximum(covariance(np.arange(len(trip))) + used_wh**2, 1e-18))
    deviates = (trips.low_wh - reserve_wh) / (spread.scale * std_wh)
    least = np.flatnonzero(deviates == np.minimum.reduceat(deviates, first)[trip])
    worst = least[np.searchsorted(trip[least], np.arange(len(first)))]
    at = worst[trip]
    shared = (covariance(at) + used_wh * used_wh[at]) / (std_wh * std_wh[at])
    return spread.passages(passage_bounds(deviates, shared, first, worst, spread.nu))
