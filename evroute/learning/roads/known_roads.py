"""KnownRoads: the roads of a belief, both the roads of its network and roads that it lacks.

Rows below n are roads of the network. Roads that trips drove elsewhere, or that were closed or
rebuilt since, follow: their learned deviations still count for the roads near them, and come
back with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from evroute.arrays import FloatArray, IntArray, flat, part_of
from evroute.energy.free_flow import speed_factors
from evroute.learning.roads.pieces import in_pieces
from evroute.learning.roads.road_lines import LOST, RoadIndex, RoadLines, placed
from evroute.network.road_network import RoadNetwork

NO_ROWS: IntArray = np.empty(0, dtype=np.int64)
SAME_JUNCTION_M = 1.0
NEW_PLACE = 0.5
"""Share of the roads driven below which a network is another place."""
PACE = "times/pace/"
BY_ROAD = ("seconds", "passes", "profile")
"""Arrays of a stored pace that have a value for each road."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Rows of roads and junctions of a stored belief in the network at hand.

    Parameters
    ----------
    roads, junctions
        Row by the row in the stored belief. `LOST` where nothing is known of it.
    size
        Number of roads that are known now.
    is_new_place
        Whether most roads of the stored belief are not in the network, or None if it is its own.
    """

    roads: IntArray
    junctions: IntArray
    size: int
    is_new_place: bool | None = None

    def values(self, stored: FloatArray) -> FloatArray:
        """Return values (..., m) by stored rows in the places of the rows now, (..., size)."""
        kept = np.flatnonzero(self.roads != LOST)
        values = np.zeros((*stored.shape[:-1], self.size))
        values[..., self.roads[kept]] = stored[..., kept]
        return values

    def pace_of(self, state: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Return the arrays of the pace that a state has by road, in the places of the rows now."""
        names = (f"{PACE}{name}" for name in BY_ROAD)
        return {name: self.values(state[name]) for name in names if name in state}


@lru_cache(maxsize=4)
def _index_of(network: RoadNetwork) -> RoadIndex:
    """Return the index of roads that all beliefs on a network share."""
    return RoadIndex(RoadLines.of_network(network, np.arange(network.n_edges)))


class KnownRoads:
    """Roads of a network, and roads that it does not have.

    Parameters
    ----------
    network
        The network.

    Attributes
    ----------
    lost
        Roads that the network does not have, on its sheets.
    lost_junctions_m
        (h, 3) points of junctions of other networks.
    driven, found
        Number of roads of the stored belief about which it knows something, and of those among them
        that the network has. Both 0 for a belief that began on this network.
    """

    def __init__(self, network: RoadNetwork) -> None:
        self.network = network
        self.lost = RoadLines.of_network(network, NO_ROWS)
        self.lost_junctions_m: FloatArray = np.empty((0, 3))
        self.driven = self.found = 0

    def __len__(self) -> int:
        return self.network.n_edges + len(self.lost)

    @cached_property
    def _index(self) -> RoadIndex:
        return _index_of(self.network)

    @cached_property
    def _all(self) -> RoadLines:
        own = self._index.roads
        return own.joined(self.lost) if len(self.lost) else own

    @cached_property
    def length_m(self) -> FloatArray:
        """Length of all roads as driven, m."""
        return np.append(self.network.length_m, self.lost.length_m)

    @property
    def ends_m(self) -> FloatArray:
        """(..., 2, 3) points at tail and head of all roads, m."""
        network = self.network
        own_m = np.zeros((network.n_edges, 2, 3))
        for k, at in enumerate((network.tail, network.head)):
            own_m[:, k, 0], own_m[:, k, 1] = network.x_m[at], network.y_m[at]
        return np.concatenate([own_m, self.lost.points_m[:, [0, 2]]])

    @cached_property
    def middle_m(self) -> FloatArray:
        """(..., 3) middle between tail and head of all roads, m."""
        middle_m: FloatArray = self.ends_m.mean(axis=1)
        return middle_m

    @cached_property
    def direction(self) -> FloatArray:
        """(..., 3) unit vectors from tail to head of all roads, 0 where both are one place."""
        way_m = self.ends_m[:, 1] - self.ends_m[:, 0]
        length_m = np.linalg.norm(way_m, axis=1)
        return way_m / np.where(length_m > 0, length_m, 1.0)[:, np.newaxis]

    @cached_property
    def junctions_m(self) -> FloatArray:
        """(v + h, 3) points of the junctions of the network, then of others, m."""
        network = self.network
        flat_m = np.column_stack([network.x_m, network.y_m, np.zeros(network.n_junctions)])
        return np.vstack([flat_m, self.lost_junctions_m])

    @property
    def elsewhere(self) -> str:
        """Share of the roads driven that the network has, in words. Empty if it has all."""
        if self.found == self.driven:
            return ""
        share = self.found / self.driven
        words = (
            f"learned on other roads: {self.found:,} of {self.driven:,} ({share:.0%}) are on this "
            "map, elsewhere only the numbers of the car count"
        )
        if not self._cut:
            return words
        return (
            f"{words}. {self._cut:,} of the others are on this map in pieces, which 'evroute learn "
            f"--repair FOLDER --network {self.network.name}' learns"
        )

    @cached_property
    def _cut(self) -> int:
        """Number of lost roads that the network has in pieces."""
        return len(in_pieces(self.lost, self.network))

    def map_s(self, *, driving: bool) -> FloatArray:
        """Return travel times of all roads by the map, s, with ``driving`` at drivers' speeds."""
        time_s = np.append(self.network.time_s, self.lost.time_s)
        if not driving:
            return time_s
        return time_s / np.append(speed_factors(self.network), self.lost.share)

    def rows_of(self, roads: RoadLines) -> IntArray:
        """Return the rows of roads (k,). Those that are new are added to the lost ones."""
        roads = roads.on(self.lost.sheets, self.network)
        rows = self._index.rows_of(roads)
        missing = np.flatnonzero(rows == LOST)
        if len(missing):
            rows[missing] = self._admitted(roads.take(missing))
        return rows

    def _admitted(self, roads: RoadLines) -> IntArray:
        """Return the rows of roads that the network does not have, after adding the new ones."""
        there = {self._key(self.lost, k): k for k in range(len(self.lost))}
        rows, new = np.zeros(len(roads), dtype=np.int64), []
        for k in range(len(roads)):
            key = self._key(roads, k)
            if key not in there:
                there[key] = len(there)
                new.append(k)
            rows[k] = there[key]
        self.lost = self.lost.joined(roads.take(np.array(new, dtype=np.int64)))
        self._forget()
        return rows + self.network.n_edges

    def _forget(self) -> None:
        """Remove the values that follow from the lost roads and junctions."""
        for name in ("_all", "_cut", "length_m", "middle_m", "direction", "junctions_m"):
            self.__dict__.pop(name, None)

    @staticmethod
    def _key(roads: RoadLines, k: int) -> tuple[str, bytes]:
        """Return the identity of a road: its id and its place to 10 m."""
        return roads.edge_id[k], np.round(roads.points_m[k, 1] / 10.0).tobytes()

    def state(self, rows: IntArray, junctions: IntArray) -> dict[str, Any]:
        """Return the roads as arrays.

        Parameters
        ----------
        rows, junctions
            Rows of roads and of junctions about which something is known.
        """
        rows = np.union1d(rows, np.arange(self.network.n_edges, len(self)))
        n, h = self.network.n_junctions, len(self.lost_junctions_m)
        junctions = np.union1d(junctions, np.arange(n, n + h))
        ways = self._all.take(rows)
        return {
            "digest": np.array(self.network.digest),
            "network": np.array(self.network.name),
            "counts": np.array([len(self), self.network.n_edges, self.network.n_junctions]),
            "found": np.array([self.driven, self.found]),
            "rows": rows,
            "junctions": junctions,
            "junctions_m": self.junctions_m[junctions],
            **flat(lines=ways.state()),
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], network: RoadNetwork) -> "tuple[KnownRoads, Moved]":
        """Return the roads of a stored belief on a network, and the rows there now.

        Parameters
        ----------
        state
            Of a belief on this network or on another one.
        network
            The network.
        """
        known = cls(network)
        n_stored, n_edges, n_junctions = state["counts"].tolist()
        ways = RoadLines.restored(part_of(state, "lines"))
        points_m, sheets = placed(state["junctions_m"], ways.sheets, known.lost.sheets, network)
        here = ways.on(sheets, network)
        known.lost = here.take(NO_ROWS)
        rows = state["rows"]
        if str(state["digest"]) == network.digest:
            known.lost = here.take(np.flatnonzero(rows >= n_edges))
            known.lost_junctions_m = points_m[state["junctions"] >= n_junctions]
            known.driven, known.found = state["found"].tolist()
            every = np.arange(n_stored)
            junctions = np.arange(n_junctions + len(known.lost_junctions_m))
            return known, Moved(every, junctions, n_stored)
        now = np.full(n_stored, LOST, dtype=np.int64)
        now[rows] = known.rows_of(here)
        known.driven, known.found = len(rows), int((now[rows] < network.n_edges).sum())
        junctions = known._junctions(state["junctions"], points_m)
        is_new_place = known.found < NEW_PLACE * known.driven
        return known, Moved(now, junctions, len(known), is_new_place)

    def _junctions(self, stored: IntArray, points_m: FloatArray) -> IntArray:
        """Return the rows of junctions at points (k, 3) by their stored rows (k,)."""
        now = np.full(int(stored.max(initial=-1)) + 1, LOST, dtype=np.int64)
        n = self.network.n_junctions
        apart_m, nearest = KDTree(self.junctions_m[:n]).query(points_m)
        lost = apart_m > SAME_JUNCTION_M
        now[stored[~lost]] = nearest[~lost]
        now[stored[lost]] = n + np.arange(lost.sum())
        self.lost_junctions_m = points_m[lost]
        self._forget()
        return now
