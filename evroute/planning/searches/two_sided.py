"""Compiled searches on one line graph: a route from both ends, and a tree from one.

Dijkstra (1959) from the origin over turns and from the destination against them. The side with the
cheaper front continues until no two fronts can meet more cheaply than the best meeting so far
(Pohl, *Bi-directional search*, 1971).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray

_compiled: Any = njit(cache=True, nogil=True)
_WAYS = 4
"""Number of children of a heap entry."""


class Arcs(NamedTuple):
    """The turns between n edges, forwards and backwards.

    Parameters
    ----------
    first
        (2, n + 1) first turn of each edge; of the backward ones, those into the edge.
    edge, arm
        (2, m) edge at the other end of each turn, and its arm.
    """

    first: NDArray[np.int32]
    edge: NDArray[np.int32]
    arm: NDArray[np.int32]


class Room(NamedTuple):
    """Workspaces of one search over n edges and m turns, forwards and backwards.

    Parameters
    ----------
    cost
        (2, n) least cost found to each edge; infinite before and after a search.
    before
        (2, n) edge before each, -1 at a root.
    touched
        (2, n) edges whose cost is set.
    heap_cost, heap_edge
        (2, m + 1) entries of the heaps.
    """

    cost: FloatArray
    before: NDArray[np.int32]
    touched: NDArray[np.int32]
    heap_cost: FloatArray
    heap_edge: NDArray[np.int32]


class Heap(NamedTuple):
    """A heap of edges by cost, as arrays of costs and edges."""

    cost: FloatArray
    edge: NDArray[np.int32]


class TwoSided:
    """Cheapest routes and trees on one line graph; thread-safe, with workspaces that are reused.

    Parameters
    ----------
    forward, backward
        The turns from each of n edges, and those into it: first turn (n + 1,), edge at the other
        end (m,), and arm of the turn (m,).
    """

    def __init__(
        self,
        forward: tuple[IntArray, IntArray, IntArray],
        backward: tuple[IntArray, IntArray, IntArray],
    ) -> None:
        both = zip(forward, backward, strict=True)
        first, edge, arm = (np.stack(pair).astype(np.int32) for pair in both)
        self._arcs = Arcs(first, edge, arm)
        self._sides = tuple(Arcs(first[k], edge[k], arm[k]) for k in range(2))
        self._rooms: list[Room] = []

    def route(self, weights: FloatArray, origin: int, destination: int) -> IntArray:
        """Return the edges of the cheapest route in driving order; empty if there is no route.

        Parameters
        ----------
        weights
            (a,) cost of each arm, not negative, +inf where it is closed.
        origin, destination
            Network rows; the cost of the start does not matter.
        """
        room = self._room()
        edges: IntArray = _route(self._arcs, _owned(weights), room, origin, destination)
        self._rooms.append(room)
        return edges

    def tree(
        self, weights: FloatArray, side: int, root: int, limit: float, until: int
    ) -> FloatArray:
        """Return least costs between the root and every edge, (n,), without that of the start.

        Parameters
        ----------
        weights
            (a,) as in `route`.
        side
            0 for costs from the root, 1 for costs to it.
        root
            Network row.
        limit
            Costs above it are +inf.
        until
            Edge at which the search stops, or -1; greater costs are then replaced by its cost.
        """
        room, arcs = self._room(), self._sides[side]
        cost = np.full(len(arcs.first) - 1, np.inf)
        heap = Heap(room.heap_cost[side], room.heap_edge[side])
        reached = _tree(arcs, _owned(weights), heap, cost, root, limit, until)
        self._rooms.append(room)
        return cost if np.isinf(reached) else np.minimum(cost, reached)

    def _room(self) -> Room:
        if self._rooms:
            return self._rooms.pop()
        n, m = self._arcs.first.shape[1] - 1, self._arcs.edge.shape[1]
        return Room(
            cost=np.full((2, n), np.inf),
            before=np.empty((2, n), np.int32),
            touched=np.empty((2, n), np.int32),
            heap_cost=np.empty((2, m + 1)),
            heap_edge=np.empty((2, m + 1), np.int32),
        )


def _owned(weights: FloatArray) -> FloatArray:
    """Return writable numbers, the only kind that is compiled."""
    kept = weights.flags.c_contiguous and weights.flags.writeable and weights.dtype == np.float64
    return weights if kept else np.array(weights, np.float64, order="C")


@_compiled
def _route(arcs, weights, room, origin, destination):  # type: ignore[no-untyped-def]
    """Return the edges of the cheapest route; the costs of the room are infinite afterwards."""
    cost, before, touched = room.cost, room.before, room.touched
    heap_cost, heap_edge = room.heap_cost, room.heap_edge
    n_touched, size = np.ones(2, np.int64), np.ones(2, np.int64)
    for side, root in ((0, origin), (1, destination)):
        cost[side, root] = heap_cost[side, 0] = 0.0
        touched[side, 0] = heap_edge[side, 0] = root
        before[side, root] = -1
    best, meeting = (0.0, origin) if origin == destination else (np.inf, -1)
    while size[0] > 0 and size[1] > 0 and heap_cost[0, 0] + heap_cost[1, 0] < best:
        side = 0 if heap_cost[0, 0] <= heap_cost[1, 0] else 1
        reached, edge = heap_cost[side, 0], heap_edge[side, 0]
        other = heap_cost[1 - side, 0]
        size[side] -= 1
        _sink(heap_cost[side], heap_edge[side], size[side])
        if reached > cost[side, edge]:  # a cheaper way to it was found since
            continue
        for turn in range(arcs.first[side, edge], arcs.first[side, edge + 1]):
            following = arcs.edge[side, turn]
            total = reached + weights[arcs.arm[side, turn]]
            if total < cost[side, following]:
                if cost[side, following] == np.inf:
                    touched[side, n_touched[side]] = following
                    n_touched[side] += 1
                cost[side, following] = total
                before[side, following] = edge
                if total + cost[1 - side, following] < best:
                    best, meeting = total + cost[1 - side, following], following
                if total + other < best:  # else no cheaper route goes on from here
                    _rise(heap_cost[side], heap_edge[side], size[side], total, following)
                    size[side] += 1
    to_meeting, from_meeting = _climb(before[0], meeting), _climb(before[1], meeting)
    for side in range(2):
        for place in range(n_touched[side]):
            cost[side, touched[side, place]] = np.inf
    return np.concatenate((to_meeting[::-1], from_meeting[1:]))


@_compiled
def _tree(arcs, weights, heap, cost, root, limit, until):  # type: ignore[no-untyped-def]
    """Fill ``cost`` (n,), infinite before; return the cost at ``until``, infinite if not met."""
    cost[root] = heap.cost[0] = 0.0
    heap.edge[0] = root
    size = 1
    while size > 0:
        reached, edge = heap.cost[0], heap.edge[0]
        if edge == until:
            return reached
        size -= 1
        _sink(heap.cost, heap.edge, size)
        if reached > cost[edge]:
            continue
        for turn in range(arcs.first[edge], arcs.first[edge + 1]):
            following, total = arcs.edge[turn], reached + weights[arcs.arm[turn]]
            if total <= limit and total < cost[following]:
                cost[following] = total
                _rise(heap.cost, heap.edge, size, total, following)
                size += 1
    return np.inf


@_compiled
def _rise(heap_cost, heap_edge, place, cost, edge):  # type: ignore[no-untyped-def]
    """Insert an edge at the end of a heap and restore its order."""
    while place > 0:
        above = (place - 1) // _WAYS
        if heap_cost[above] <= cost:
            break
        heap_cost[place], heap_edge[place] = heap_cost[above], heap_edge[above]
        place = above
    heap_cost[place], heap_edge[place] = cost, edge


@_compiled
def _sink(heap_cost, heap_edge, size):  # type: ignore[no-untyped-def]
    """Move the last entry of a heap, at ``size``, to its first place and restore its order."""
    cost, edge = heap_cost[size], heap_edge[size]
    place = 0
    while True:
        first = _WAYS * place + 1
        if first >= size:
            break
        least = first
        for child in range(first + 1, min(first + _WAYS, size)):
            if heap_cost[child] < heap_cost[least]:
                least = child
        if heap_cost[least] >= cost:
            break
        heap_cost[place], heap_edge[place] = heap_cost[least], heap_edge[least]
        place = least
    heap_cost[place], heap_edge[place] = cost, edge


@_compiled
def _climb(parent, edge):  # type: ignore[no-untyped-def]
    """Return the way from an edge to the root of its side, both included; empty from -1."""
    steps, at = 0, edge
    while at >= 0:
        steps, at = steps + 1, parent[at]
    way = np.empty(steps, np.int64)
    at = edge
    for step in range(steps):
        way[step], at = at, parent[at]
    return way
