"""Pairs of routes between the same ends that were both driven, with measured differences."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.learning.base import Belief
from evroute.learning.measured import MeasuredTrip

FEWEST = 2
"""Trips on each route of a pair."""


def driven_pairs(belief: Belief, trips: Iterable[MeasuredTrip]) -> list[str]:
    """Return a sentence on each pair of routes with at least two trips each, most trips first.

    It has the difference of the mean measured energies, the second minus the first, with its
    standard error, and the difference of the expected energies, Wh. Routes are named by their
    newest trips.

    Parameters
    ----------
    belief
        Belief after the trips.
    trips
        Measured trips.
    """
    by_ends: dict[tuple[int, int], dict[tuple[int, ...], list[MeasuredTrip]]] = defaultdict(dict)
    for trip in (trip for trip in trips if trip.routes == 1 and trip.record is None):
        edges = tuple(trip.edge.tolist())
        by_ends[edges[0], edges[-1]].setdefault(edges, []).append(trip)
    day, pairs = belief.under(EQ8_CONDITIONS), []
    for routes in by_ends.values():
        often = [(edges, driven) for edges, driven in routes.items() if len(driven) >= FEWEST]
        for (one, first), (two, second) in combinations(often, 2):
            mean_wh, variance_wh2 = zip(*map(_mean, (first, second)), strict=True)
            believed_wh = [
                float(day.mean_wh[day.space.arms_of_route(Route(edges))].sum())
                for edges in (one, two)
            ]
            sentence = (
                f"the route of trip '{second[-1].trip}' against the route of '{first[-1].trip}' "
                f"({len(second)} and {len(first)} trips): measured "
                f"{mean_wh[1] - mean_wh[0]:+.0f} ± {sum(variance_wh2) ** 0.5:.0f} Wh, expected "
                f"{believed_wh[1] - believed_wh[0]:+.0f} Wh"
            )
            pairs.append((min(len(first), len(second)), sentence))
    pairs.sort(key=lambda pair: -pair[0])
    return [sentence for _, sentence in pairs]


def _mean(trips: list[MeasuredTrip]) -> tuple[float, float]:
    """Return the mean energy of trips, Wh, and its variance, Wh²."""
    energy_wh: FloatArray = np.array([trip.energy_wh.sum() for trip in trips])
    return float(energy_wh.mean()), float(energy_wh.var(ddof=1) / len(energy_wh))
