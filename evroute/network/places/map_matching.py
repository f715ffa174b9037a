"""Map matching: the edges of a track of noisy positions, by a hidden Markov model.

Source: Newson & Krumm, *Hidden Markov Map Matching Through Noise and Sparseness*, ACM SIGSPATIAL
2009: Gaussian distances to the road (eq. 1, sigma 4.07 m there), exponential differences between
the way along the roads and the straight line (eqs. 2-3), Viterbi. Ways follow legal turns only.
Parallel edges are separate candidates. Positions closer than 2 sigma to the one before are left
out, as in the source. Positions without a road nearby are skipped if the roads have a way around
them that is as long as the track. They split the track otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.network.coordinates import WGS84, transformer
from evroute.network.geo import shapely
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

SIGMA_M = 5.0
"""Standard deviation of the position noise, m."""
BETA_M = 10.0
"""Scale of road minus straight distance, m, for 5 to 10 s between positions."""
FARTHEST_M = 50.0
MOST_CANDIDATES = 12
PIECE_M, APART_M = 100.0, 40.0
"""Length of the pieces in which shapes are searched, and between two places on one edge."""
DETOUR_M = 300.0
DETOUR_FACTOR = 2.0
"""A way may be at most DETOUR_FACTOR times the straight distance plus DETOUR_M."""
TRACK_SHARE = 0.25
TRACK_M = 100.0
"""Positions off the roads are skipped if the way around them is as long as the track."""
BACKWARD_M = 4 * SIGMA_M
"""Largest backward jump along an edge that is taken for noise, m."""


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A connected part of a track.

    edges: (k,) network rows in driving order.  position: (p,) rows of the track in this part,
    increasing.
    at_m: (p,) distance along ``edges`` of each position, m of road, never decreasing.
    """

    edges: IntArray
    position: IntArray
    at_m: FloatArray


@dataclass(frozen=True, slots=True)
class _Candidate:
    edge: int
    along_m: float
    off_m: float


@dataclass(frozen=True, slots=True)
class _Layer:
    """Places of one position.

    row: row of the position in the track.  cost: least cost of each place.  back: its predecessor
    in the layer before.
    """

    row: int
    found: list[_Candidate]
    cost: list[float]
    back: list[int]


class MapMatcher:
    """Matches tracks to one network.

    Parameters
    ----------
    network
        The roads.
    """

    def __init__(self, network: RoadNetwork) -> None:
        self.network = network
        points = np.column_stack([network.shape_x_m, network.shape_y_m])
        counts = np.diff(network.shape_start)
        edge = np.repeat(np.arange(network.n_edges), counts)
        shape_m = shapely.length(network.lines(network.shape_x_m, network.shape_y_m))
        self._scale = network.length_m / np.maximum(shape_m, 1e-9)
        # shapes are cut into pieces, for a position may have several places on one edge (hairpins)
        reached_m = np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
        reached_m -= np.repeat(reached_m[network.shape_start[:-1]], counts)
        start = np.delete(np.arange(len(points)), network.shape_start[1:] - 1)
        own = np.column_stack([edge[start], reached_m[start] // PIECE_M])
        piece = np.append(0, np.cumsum(np.any(np.diff(own, axis=0) != 0, axis=1)))
        first = np.unique(piece, return_index=True)[1]
        last = start[np.append(first[1:], len(start)) - 1] + 1
        vertex, of = np.append(start, last), np.append(piece, np.arange(len(first)))
        order = np.lexsort((vertex, of))
        self._pieces = shapely.linestrings(points[vertex[order]], indices=of[order])
        self._edge, self._from_m = edge[start[first]], reached_m[start[first]]
        self._tree = shapely.STRtree(self._pieces)
        graph = LineGraph.from_network(network)
        self._next = [
            graph.indices[a:b].tolist()
            for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
        ]
        self._length_m = network.length_m.tolist()
        self._ways: dict[int, tuple[float, dict[int, tuple[float, int]]]] = {}

    def match(self, lat: FloatArray, lon: FloatArray) -> list[Match]:
        """Return the connected parts of a track, given as (p,) degrees.

        There are several if the track leaves the network or jumps.

        Raises
        ------
        EvrouteError
            If a position is not on the earth.
        """
        if np.any(np.abs(lat) > 90) or np.any(np.abs(lon) > 180):
            raise EvrouteError("a position is no place on the earth. Lat and lon are in degrees")
        x_m, y_m = transformer(WGS84, self.network.crs).transform(lon, lat)
        return self.match_xy(np.asarray(x_m), np.asarray(y_m))

    def match_xy(self, x_m: FloatArray, y_m: FloatArray) -> list[Match]:
        """Return the connected parts of a track, given as (p,) m in the network's coordinates.

        Positions that are not finite count as off the network.
        """
        matches, layers = list[Match](), list[_Layer]()

        def close() -> None:
            if len(layers) > 1:
                matches.append(self._walk(layers))
            layers.clear()

        track_m = _track_m(x_m, y_m)
        lost = False
        for row, found in self._candidates(x_m, y_m):
            if not found:
                lost = bool(layers)
                continue
            beginning = [0.0] * len(found), [-1] * len(found)
            costs, origins = beginning
            if layers:
                last = layers[-1].row
                air_m = float(np.hypot(x_m[row] - x_m[last], y_m[row] - y_m[last]))
                if air_m < 2 * SIGMA_M and row < len(x_m) - 1:
                    continue
                far_m, least_m = air_m, 0.0
                limit_m = DETOUR_FACTOR * air_m + DETOUR_M
                if lost:
                    far_m = float(track_m[row] - track_m[last])
                    least_m = (1 - TRACK_SHARE) * far_m - TRACK_M
                    limit_m = (1 + TRACK_SHARE) * far_m + TRACK_M
                    lost = False
                costs, origins = self._step(
                    layers[-1], found, far_m, least_m=least_m, limit_m=limit_m
                )
                if not np.isfinite(costs).any():
                    close()
                    costs, origins = beginning
            emitted = [0.5 * (each.off_m / SIGMA_M) ** 2 for each in found]
            total = [way + place for way, place in zip(costs, emitted, strict=True)]
            layers.append(_Layer(row, found, total, origins))
        close()
        return matches

    def _candidates(self, x_m: FloatArray, y_m: FloatArray) -> "list[tuple[int, list[_Candidate]]]":
        """Return each position's nearest places on edges within `FARTHEST_M`, the nearest first.

        Places on one edge lie more than `APART_M` apart.
        """
        known = np.flatnonzero(np.isfinite(x_m) & np.isfinite(y_m))
        points = shapely.points(x_m[known], y_m[known])
        place, piece = self._tree.query(points, predicate="dwithin", distance=FARTHEST_M)
        edge, pieces = self._edge[piece], self._pieces[piece]
        off_m = shapely.distance(points[place], pieces)
        along_m = shapely.line_locate_point(pieces, points[place]) + self._from_m[piece]
        along_m *= self._scale[edge]
        order = np.lexsort((edge, off_m, place))
        found: list[tuple[int, list[_Candidate]]] = [(row, []) for row in range(len(x_m))]
        for i in order.tolist():
            of = found[known[place[i]]][1]
            new = _Candidate(int(edge[i]), float(along_m[i]), float(off_m[i]))
            near = (e.edge == new.edge and abs(e.along_m - new.along_m) <= APART_M for e in of)
            if len(of) < MOST_CANDIDATES and not any(near):
                of.append(new)
        return found

    def _step(
        self,
        before: _Layer,
        after: Sequence[_Candidate],
        far_m: float,
        *,
        least_m: float,
        limit_m: float,
    ) -> tuple[list[float], list[int]]:
        """Return the least cost of each candidate and its predecessor, or inf if there is none."""
        costs, origins = [np.inf] * len(after), [-1] * len(after)
        for i, (start, cost) in enumerate(zip(before.found, before.cost, strict=True)):
            if cost == np.inf:
                continue
            ways = self._from(start.edge, limit_m)
            for j, end in enumerate(after):
                way_m = self._between(start, end, ways)
                if least_m <= way_m <= limit_m:
                    total = cost + abs(way_m - far_m) / BETA_M
                    if total < costs[j]:
                        costs[j], origins[j] = total, i
        return costs, origins

    def _between(
        self, start: _Candidate, end: _Candidate, ways: dict[int, tuple[float, int]]
    ) -> float:
        """Return the distance along the roads, m."""
        if start.edge == end.edge and end.along_m >= start.along_m - BACKWARD_M:
            return max(0.0, end.along_m - start.along_m)
        if end.edge not in ways:
            return float("inf")
        return self._length_m[start.edge] - start.along_m + ways[end.edge][0] + end.along_m

    def _from(self, edge: int, limit_m: float) -> dict[int, tuple[float, int]]:
        """Return the edges that start within a limit of the end of ``edge``: m, edge before."""
        known = self._ways.get(edge)
        if known and known[0] >= limit_m:
            return known[1]
        ways: dict[int, tuple[float, int]] = {}
        queue = [(0.0, following, edge) for following in self._next[edge]]
        while queue:
            far_m, reached, before = heappop(queue)
            if reached in ways:
                continue
            ways[reached] = far_m, before
            beyond_m = far_m + self._length_m[reached]
            if beyond_m <= limit_m:
                for following in self._next[reached]:
                    if following not in ways:
                        heappush(queue, (beyond_m, following, reached))
        self._ways[edge] = limit_m, ways
        return ways

    def _walk(self, layers: Sequence[_Layer]) -> Match:
        """Follow the best candidates back, and join them by the ways between them."""
        chosen = [int(np.argmin(layers[-1].cost))]
        for layer in reversed(layers[1:]):
            chosen.append(layer.back[chosen[-1]])
        states = [layer.found[i] for layer, i in zip(layers, reversed(chosen), strict=True)]
        edges = [states[0].edge]
        start_m, at_m = 0.0, [states[0].along_m]
        for before, after in pairwise(states):
            if not (before.edge == after.edge and after.along_m >= before.along_m - BACKWARD_M):
                ways = self._ways[before.edge][1]
                way = [after.edge]
                while (previous := ways[way[-1]][1]) != before.edge:
                    way.append(previous)
                for reached in reversed(way):
                    start_m += self._length_m[edges[-1]]
                    edges.append(reached)
            at_m.append(max(at_m[-1], start_m + after.along_m))
        position = np.array([layer.row for layer in layers])
        return Match(np.array(edges), position, np.array(at_m))


def _track_m(x_m: FloatArray, y_m: FloatArray) -> FloatArray:
    """Return the length of a track up to each position, (p,) m, straight past unknown positions."""
    known = np.flatnonzero(np.isfinite(x_m) & np.isfinite(y_m))
    if not len(known):
        return np.zeros(len(x_m))
    hops_m = np.hypot(np.diff(x_m[known]), np.diff(y_m[known]))
    return np.interp(np.arange(len(x_m)), known, np.append(0.0, np.cumsum(hops_m)))
