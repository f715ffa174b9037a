"""Pace of roads, s/m, learned from the travel times of trips.

``(n0 L g pace_map + sum of seconds) / ((n0 + passes) L)`` for an edge of length L: the map's pace
times a factor g counts as ``n0`` passes. g is driven time over the map's time on all edges
measured, joined by `START_TRIPS` trips at `START_FACTOR`, each as long as the average trip.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arrays import FloatArray, IntArray
from evroute.network.road_network import RoadNetwork

MAP_PASSES = 1.0
START_TRIPS = 3.0
START_FACTOR = 1.6


class Pace:
    """Pace of n edges; sums over trips, so the order of trips does not matter.

    length_m: (n,) as driven.  map_spm: (n,) pace of the map, ``1 / speed limit``, s/m.
    """

    def __init__(self, length_m: FloatArray, map_spm: FloatArray) -> None:
        self._length_m = length_m
        self._map_s = length_m * map_spm
        self._seconds = np.zeros(len(length_m))
        self._passes = np.zeros(len(length_m))
        self._totals = np.zeros(3)  # driven s, map s, trips

    @classmethod
    def of_network(cls, network: RoadNetwork) -> "Pace":
        """Return the pace of the edges of a network before any trip."""
        return cls(network.length_m, network.time_s / network.length_m)

    @property
    def trips(self) -> int:
        """Number of trips with at least one measured travel time."""
        return int(self._totals[2])

    @property
    def factor(self) -> float:
        """Driven time over the map's time, g."""
        driven_s, map_s, trips = self._totals
        ratio = driven_s / map_s if trips else 0.0
        return float((trips * ratio + START_TRIPS * START_FACTOR) / (trips + START_TRIPS))

    @property
    def time_s(self) -> FloatArray:
        """(n,) expected travel time of each edge, s."""
        expected_s = MAP_PASSES * self.factor * self._map_s + self._seconds
        time: FloatArray = expected_s / (MAP_PASSES + self._passes)
        return time

    @property
    def spm(self) -> FloatArray:
        """(n,) expected pace of each edge, s/m."""
        pace: FloatArray = self.time_s / self._length_m
        return pace

    def learn(self, edge: IntArray, travel_s: FloatArray) -> None:
        """Add one trip over edges (k,) with travel times (k,) s; NaN where not measured."""
        measured = np.isfinite(travel_s)
        if not measured.any():
            return
        edge, travel_s = edge[measured], travel_s[measured]
        np.add.at(self._seconds, edge, travel_s)
        np.add.at(self._passes, edge, 1.0)
        added = travel_s.sum(), self._map_s[edge].sum(), 1.0
        self._totals = self._totals + np.array(added)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the sums over trips, as arrays."""
        return {
            "seconds": self._seconds.copy(),
            "passes": self._passes.copy(),
            "totals": self._totals,
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the sums of another estimator on the same edges.

        Raises
        ------
        ValueError
            If the state has another number of edges.
        """
        if state["seconds"].shape != self._seconds.shape:
            raise ValueError(
                f"a pace of {len(state['seconds'])} edges, expected {len(self._seconds)}"
            )
        self._seconds, self._passes = np.array(state["seconds"]), np.array(state["passes"])
        self._totals = np.array(state["totals"])
