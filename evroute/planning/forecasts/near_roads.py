"""NearRoads: roads near those that trips drove, with their weights, found once for each."""

from functools import cached_property, lru_cache
from threading import Lock

import numpy as np
from scipy.spatial import KDTree

from evroute.arrays import FloatArray, IntArray, expanded
from evroute.network.road_network import RoadNetwork

LOCAL_M = 200.0
"""Deviation of the weights by distance between the middles of two roads, m."""
REACH = 3.0
"""Distance in deviations beyond which a road has no weight."""
MOST_PAIRS = 4_000_000
"""Number of pairs from which pairs of earlier roads are dropped, 16 bytes each."""


class NearRoads:
    """Pairs of roads near each other. Thread-safe.

    Parameters
    ----------
    middle_m
        (n, d) middle of each road, m.
    """

    def __init__(self, middle_m: FloatArray) -> None:
        self._middle_m = middle_m
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._place = np.full(len(self._middle_m), -1)
        self._kept = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._middle_m)

    def of(self, driven: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the pairs of roads and driven roads near each other, (p,) each.

        Parameters
        ----------
        driven
            (k,) different rows of roads, rising.

        Returns
        -------
        road, position
            Row of the road, and position of the driven one among ``driven``.
        weight
            Gaussian weight of their distance.
        """
        with self._lock:
            new = driven[self._place[driven] < 0]
            if len(new):
                self._add(new)
            start, road, weight = self._kept
            pair, position = expanded(start, self._place[driven])
            if len(road) > MOST_PAIRS:
                self._forget()
        return road[pair], position, weight[pair]

    def _add(self, new: IntArray) -> None:
        """Find the roads near further ones (k,)."""
        near = self._tree.query_ball_point(self._middle_m[new], REACH * LOCAL_M, return_sorted=True)
        count = np.array([len(each) for each in near])
        road = np.concatenate([np.array(each, dtype=np.int64) for each in near])
        step_m = self._middle_m[road] - self._middle_m[np.repeat(new, count)]
        weight = np.exp(-0.5 * (step_m**2).sum(axis=1) / LOCAL_M**2)
        start, roads, weights = self._kept
        self._place[new] = len(start) - 1 + np.arange(len(new))
        self._kept = (
            np.append(start, start[-1] + np.cumsum(count)),
            np.append(roads, road),
            np.append(weights, weight),
        )


@lru_cache(maxsize=4)
def near_roads_of(network: RoadNetwork) -> NearRoads:
    """Return the pairs that all paces on a network share."""
    return NearRoads(network.middle_m)
