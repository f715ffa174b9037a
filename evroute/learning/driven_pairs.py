"""Pairs of routes between the same ends that were both driven: measured and believed difference."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.learning.measured import MeasuredTrip
from evroute.planning.learned import LearnedDay

FEWEST = 2
"""Trips on each route of a pair."""


class HasDays(Protocol):
    """A belief with energies under the conditions of a day."""

    def under(self, conditions: DrivingConditions) -> LearnedDay:
        """Return the energies on a day with these conditions."""


@dataclass(frozen=True, slots=True)
class RoutePair:
    """Difference of two routes between the same ends, the second minus the first.

    Parameters
    ----------
    first, second
        Names of the newest trips on both routes.
    trips
        Number of trips on each.
    measured_wh, error_wh
        Difference of the mean measured energies and its standard error, Wh.
    believed_wh
        Difference of the expected energies, Wh.
    """

    first: str
    second: str
    trips: tuple[int, int]
    measured_wh: float
    error_wh: float
    believed_wh: float

    def __str__(self) -> str:
        return (
            f"the route of trip '{self.second}' against that of '{self.first}' "
            f"({self.trips[1]} and {self.trips[0]} trips): measured {self.measured_wh:+.0f} ± "
            f"{self.error_wh:.0f} Wh, expected {self.believed_wh:+.0f} Wh"
        )


def driven_pairs(belief: HasDays, trips: Iterable[MeasuredTrip]) -> list[RoutePair]:
    """Return the pairs of routes that were driven at least twice each, most trips first.

    Parameters
    ----------
    belief
        Belief after the trips.
    trips
        Measured trips.
    """
    by_ends: dict[tuple[int, int], dict[tuple[int, ...], list[MeasuredTrip]]] = defaultdict(dict)
    for trip in (trip for trip in trips if trip.routes == 1):
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
            pairs.append(
                RoutePair(
                    first[-1].trip,
                    second[-1].trip,
                    (len(first), len(second)),
                    mean_wh[1] - mean_wh[0],
                    sum(variance_wh2) ** 0.5,
                    believed_wh[1] - believed_wh[0],
                )
            )
    return sorted(pairs, key=lambda pair: -min(pair.trips))


def _mean(trips: list[MeasuredTrip]) -> tuple[float, float]:
    """Return the mean energy of trips, Wh, and its variance, Wh²."""
    energy_wh: FloatArray = np.array([trip.energy_wh.sum() for trip in trips])
    return float(energy_wh.mean()), float(energy_wh.var(ddof=1) / len(energy_wh))
