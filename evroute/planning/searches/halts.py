"""Halts: positions on roads at which a route may stop and go on, such as charging stations.

A car stops at a halt on one of the edges on which it lies, and goes on from a position at which a
trip may begin there: ahead on its edge, or in the other direction of a street. The search has nodes
behind the edges: one for each edge on which a car goes on, then one for each on which it arrives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from evroute.arms import Pause, Route
from evroute.arrays import FloatArray, IntArray
from evroute.network.places.positions import Position


@dataclass(frozen=True)
class Halt:
    """Positions on which a car arrives, and from which it goes on."""

    arrivals: tuple[Position, ...]
    departures: tuple[Position, ...]

    @cached_property
    def _hash(self) -> int:
        return hash((self.arrivals, self.departures))

    def __hash__(self) -> int:
        """Return the hash of the positions, which is computed once."""
        return self._hash


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Arms over parts of edges, by edges and metres along them. None is the end of an edge.

    Parameters
    ----------
    starts, ends, pieces
        Arms by the edge and the metres from which it is driven. By the edge before, the edge, and
        the metres up to which it is driven. And by the edge and both metres.
    """

    starts: dict[tuple[int, float], int]
    ends: dict[tuple[int, int, float | None], int]
    pieces: dict[tuple[int, float, float | None], int]

    def replace_in(self, arms: IntArray, part: Route) -> None:
        """Replace the first and the last arm of a part of a route without pauses.

        Parameters
        ----------
        arms
            (k,) arms over its whole edges. They are changed.
        part
            The part of a route.
        """
        edges = part.edges
        if len(edges) == 1:
            arms[0] = self.pieces.get((edges[0], part.start_m, part.end_m), arms[0])
            return
        arms[0] = self.starts.get((edges[0], part.start_m), arms[0])
        arms[-1] = self.ends.get((edges[-2], edges[-1], part.end_m), arms[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Halts:
    """The nodes of the halts of a request in its search, and the arms between them.

    Parameters
    ----------
    n_roads, first
        Numbers of the nodes that are edges, and of those before the first arrival.
    edge
        (N,) edge of each node.
    along_m
        Metres along its edge of each node behind the edges.
    nodes
        Nodes of arrival of each halt.
    departures_m
        By the node of arrival, the metres from which a car goes on, by edge.
    after_wh
        (N - n_roads,) potential at the nodes of departure behind their edges, and of arrival, Wh.
    rows
        The arms that begin or end at halts.
    """

    n_roads: int
    first: int
    edge: IntArray
    along_m: Mapping[int, float]
    nodes: Mapping[Halt, tuple[int, ...]]
    departures_m: Mapping[int, Mapping[int, float]]
    after_wh: FloatArray
    rows: PartRows

    def on_edge(self, edge: int) -> list[tuple[int, float]]:
        """Return the nodes of arrival on an edge, and the metres along it."""
        places = np.flatnonzero(self.edge[self.first :] == edge) + self.first
        return [(node, self.along_m[node]) for node in places.tolist()]

    def route(
        self, nodes: Sequence[int], start_m: Mapping[int, float], end_m: Mapping[int, float | None]
    ) -> Route:
        """Return the route over nodes of the search, in driving order.

        Parameters
        ----------
        nodes
            Nodes. The route stops at nodes of arrival.
        start_m, end_m
            Metres along the edges on which the request begins and ends.
        """
        edges = tuple(self.edge[list(nodes)].tolist())
        pauses = []
        for place, (node, following) in enumerate(pairwise(nodes)):
            if node >= self.first:
                from_m = self.departures_m[node][edges[place + 1]]
                if self.n_roads <= following < self.first:
                    from_m = self.along_m[following]
                pauses.append(Pause(place + 1, self.along_m[node], from_m))
        return Route(edges, start_m[edges[0]], end_m[edges[-1]], tuple(pauses))
