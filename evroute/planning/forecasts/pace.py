"""Pace of roads, s/m, learned from the travel times of trips.

``(n0 L g_e pace_map + sum of seconds) / ((n0 + passes) L)`` for an edge of length L: the map's pace
times a local factor g_e counts as ``n0`` passes. g_e is driven time over the map's time on the
other roads near the edge, each once with a Gaussian weight of its distance, joined by `LOCAL_S`
seconds at the factor g of all trips. g is driven time over the map's time on all edges measured,
joined by `START_TRIPS` trips at `START_FACTOR`, each as long as the average trip. With the times of
drivers' plans, which count stops, the map's times are over `speed_factors` and the start is 1.

That is the mean of all passes. Where roads are ``alone``, each goes by the mean of its own passes,
and by the map before the first. The mean time at a departure is the mean times the factor of the
quarter of the day (`DayProfile`) for the logarithms of driven over the map's times.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from evroute.arrays import FloatArray, IntArray
from evroute.energy.free_flow import speed_factors
from evroute.errors import require
from evroute.network.places.zones import local_s
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.day_profile import DayProfile
from evroute.planning.forecasts.near_roads import LOCAL_M, REACH, NearRoads, near_roads_of

MAP_PASSES = 1.0
START_TRIPS = 3.0
START_FACTOR = 1.6
LOCAL_S = 10.0


class Pace:
    """Pace of n edges. Sums over trips, so the order of trips does not matter.

    Parameters
    ----------
    length_m
        (n,) driven length, m.
    map_s
        (n,) time at the speed limit of the map, s.
    middle_m
        (n, d) middle of each edge in metres.
    start_factor
        Driven time over the map's time before any trip.
    network
        Network of the edges, whose zone has the local clock of dated departures, or None if no
        departure has a date.
    alone
        Whether each road goes by its own passes alone, and by the map before the first.
    """

    def __init__(
        self,
        length_m: FloatArray,
        map_s: FloatArray,
        middle_m: FloatArray,
        start_factor: float = START_FACTOR,
        network: RoadNetwork | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self._network = network
        self._alone = alone
        self._length_m = length_m
        self._start_factor = start_factor
        self._map_s = map_s
        self._middle_m = middle_m
        self.forget()

    def forget(self) -> None:
        """Remove all trips."""
        self._seconds = np.zeros(len(self._length_m))
        self._passes = np.zeros(len(self._length_m))
        self._totals = np.zeros(3)  # driven s, map s, trips
        self._profile = DayProfile(len(self._length_m))
        self._known: dict[bytes, FloatArray] = {}  # of the edges asked last
        self._kept: dict[tuple[bytes, float], FloatArray] = {}  # and at the last departure
        self._of_all_s: FloatArray | None = None

    @classmethod
    def of_network(cls, network: RoadNetwork, *, driving: bool = False) -> "Pace":
        """Return the pace of edges before any trip, from drivers' plans if ``driving``."""
        if driving:
            return cls(
                network.length_m,
                network.time_s / speed_factors(network),
                network.middle_m,
                1.0,
                network,
            )
        return cls(network.length_m, network.time_s, network.middle_m, network=network)

    @property
    def trips(self) -> int:
        """Number of trips with at least one measured travel time."""
        return int(self._totals[2])

    def extend(self, length_m: FloatArray, map_s: FloatArray, middle_m: FloatArray) -> None:
        """Add edges after those known.

        Parameters
        ----------
        length_m, map_s, middle_m
            As in `Pace`, of all edges.
        """
        more = len(length_m) - len(self._length_m)
        if not more:
            return
        self._length_m, self._map_s, self._middle_m = length_m, map_s, middle_m
        self._seconds = np.append(self._seconds, np.zeros(more))
        self._passes = np.append(self._passes, np.zeros(more))
        moments = np.pad(self._profile.moments, ((0, 0), (0, 0), (0, more)))
        self._profile = DayProfile(len(self._length_m), moments)
        self._known, self._of_all_s = {}, None
        self._kept = {}
        vars(self).pop("_near_roads", None)

    @property
    def passed(self) -> IntArray:
        """(k,) edges with a measured travel time."""
        return np.flatnonzero(self._passes)

    @property
    def factor(self) -> float:
        """Driven time over the map's time, g."""
        driven_s, map_s, trips = self._totals
        ratio = driven_s / map_s if trips else 0.0
        return float((trips * ratio + START_TRIPS * self._start_factor) / (trips + START_TRIPS))

    @property
    def time_s(self) -> FloatArray:
        """(n,) expected travel time of each edge, mean of the day, s."""
        if self._of_all_s is None:
            self._of_all_s = self._mean_s(slice(None))
        return self._of_all_s

    def times(self, edge: IntArray, departed_s: float | None = None) -> FloatArray:
        """Return the expected travel times of edges (k,) at a departure, s. None for the mean."""
        if departed_s is not None:
            return self._at(edge, departed_s)
        if self._of_all_s is not None or len(edge) > len(self._map_s) // 2:
            return self.time_s[edge]
        known, asked = self._known, edge.tobytes()  # another thread may replace `_known`
        if asked not in known:
            self._known = known = {asked: self._mean_s(edge)}
        return known[asked]

    def _at(self, edge: IntArray, departed_s: float) -> FloatArray:
        """Return the expected travel times of edges (k,) at a departure, s."""
        if len(edge) > len(self._map_s) // 2:
            return self.times(edge) * self._profile.factor(edge, self._clock_s(departed_s))
        kept, asked = self._kept, (edge.tobytes(), departed_s)  # as `_known`
        if asked not in kept:
            factor = self._profile.factor(edge, self._clock_s(departed_s))
            self._kept = kept = {asked: self.times(edge) * factor}
        return kept[asked]

    def _mean_s(self, edge: IntArray | slice) -> FloatArray:
        """Return the mean travel times of edges (k,), or of all, over the day, s."""
        if self._alone:
            mean_s = self._seconds[edge] / np.maximum(self._passes[edge], 1.0)
            return np.where(self._passes[edge] > 0, mean_s, self._map_s[edge])
        unseen_s = MAP_PASSES * self._local_factor(edge) * self._map_s[edge]
        passes: FloatArray = MAP_PASSES + self._passes[edge]
        return (unseen_s + self._seconds[edge]) / passes

    def paces(self, edge: IntArray, departed_s: float | None = None) -> FloatArray:
        """Return the expected paces of edges (k,) at a departure, s/m, or None for the mean."""
        return self.times(edge, departed_s) / self._length_m[edge]

    def _clock_s(self, departed_s: float | None) -> float | None:
        """Return the local time of day of a departure, s."""
        return departed_s if self._network is None else local_s(departed_s, self._network)

    @cached_property
    def _near_roads(self) -> NearRoads:
        """Pairs of roads near each other, of the network or of further roads too."""
        network = self._network
        if network is not None and len(self._middle_m) == network.n_edges:
            return near_roads_of(network)
        return NearRoads(self._middle_m)

    def _local_factor(self, edge: IntArray | slice) -> FloatArray:
        """Return driven time over the map's time near edges (k,), or near all."""
        driven, edges = np.flatnonzero(self._passes), np.arange(len(self._map_s))[edge]
        if not len(driven):
            return np.full(len(edges), LOCAL_S * self.factor / LOCAL_S)
        if len(edges) == len(self._map_s):  # all of them, in the order of their rows
            row, column, near = self._near_roads.of(driven)
        else:
            row, column, near = _near(self._middle_m[edge], self._middle_m[driven])
        other = edges[row] != driven[column]  # its own trips count in `times`
        weight = other * near
        driven_s = self._seconds[driven] / self._passes[driven]
        sums = (
            np.bincount(row, weight * seconds[column], len(edges))
            for seconds in (driven_s, self._map_s[driven])
        )
        near_driven_s, near_map_s = sums
        return (LOCAL_S * self.factor + near_driven_s) / (LOCAL_S + near_map_s)

    def learn(self, edge: IntArray, travel_s: FloatArray, departed_s: float | None = None) -> None:
        """Add one trip.

        Parameters
        ----------
        edge
            (k,) edges driven.
        travel_s
            (k,) travel times, s, or NaN where not measured.
        departed_s
            Departure since 1970-01-01 UTC or on a local clock, s, or None if unknown.
        """
        measured = np.isfinite(travel_s)
        if not measured.any():
            return
        edge, travel_s = edge[measured], travel_s[measured]
        np.add.at(self._seconds, edge, travel_s)
        np.add.at(self._passes, edge, 1.0)
        self._known, self._of_all_s = {}, None
        self._kept = {}
        moved = travel_s > 0
        log_ratio = np.log(travel_s[moved] / self._map_s[edge[moved]])
        self._profile.add(edge[moved], log_ratio, self._clock_s(departed_s))
        added = travel_s.sum(), self._map_s[edge].sum(), 1.0
        self._totals = self._totals + np.array(added)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the sums over trips, as arrays."""
        return {
            "seconds": self._seconds.copy(),
            "passes": self._passes.copy(),
            "totals": self._totals,
            "profile": self._profile.moments.copy(),
        }

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the sums of another estimator on the same edges. An empty state has none.

        Raises
        ------
        ValueError
            If the state has another number of edges.
        """
        require(
            state["seconds"].shape == self._seconds.shape,
            f"a pace of {len(state['seconds'])} edges, expected {len(self._seconds)}",
            ValueError,
        )
        self._seconds, self._passes = np.array(state["seconds"]), np.array(state["passes"])
        self._totals = np.array(state["totals"])
        self._known, self._of_all_s = {}, None
        self._kept = {}
        self._profile = DayProfile(len(self._passes), state.get("profile"))


def _near(here: FloatArray, there: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of places near each other, and their weights, (p,) each.

    Parameters
    ----------
    here, there
        Coordinates of places, (k, d) and (l, d) m.
    """
    near = KDTree(here).sparse_distance_matrix(
        KDTree(there), REACH * LOCAL_M, output_type="coo_matrix"
    )
    return near.row, near.col, np.exp(-0.5 * (near.data / LOCAL_M) ** 2)
