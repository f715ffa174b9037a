"""A compiled search from both ends: the cheapest route between two edges.

Dijkstra (1959) from the origin over turns and from the destination against them. The side with the
cheaper front continues until no two fronts can meet more cheaply than the best meeting so far
(Pohl, *Bi-directional search*, 1971).
"""

import numpy as np
from numba import njit

from evroute.arrays import FloatArray, IntArray
from evroute.network.line_graph import LineGraph

_compiled = njit(cache=True, nogil=True)
_WAYS = 4
"""Number of children of a heap entry."""


class TwoSided:
    """Cheapest routes on one line graph under fixed weights; not thread-safe.

    Parameters
    ----------
    line_graph
        The turns of the n edges.
    backward
        The line graph reversed.
    weights
        (n,) cost of entering each edge, not negative, +inf where it is closed.
    """

    def __init__(self, line_graph: LineGraph, backward: LineGraph, weights: FloatArray) -> None:
        n, m = line_graph.n_edges, len(line_graph.indices)
        # row 0 from the origin, row 1 from the destination: walking a turn backwards costs the edge
        # that it enters
        self._arcs = (
            np.stack([line_graph.indptr, backward.indptr]),
            np.stack([line_graph.indices, backward.indices]),
            np.stack([line_graph.turn_costs(weights), weights[backward.source]]),
        )
        self._room = (
            np.full((2, n), np.inf),
            np.empty((2, n), np.int32),
            np.empty((2, n), np.int32),
            np.empty((2, m + 1)),
            np.empty((2, m + 1), np.int32),
        )

    def route(self, origin: int, destination: int) -> IntArray:
        """Return the edges of the cheapest route in driving order; empty if there is no route."""
        edges: IntArray = _route(*self._arcs, *self._room, origin, destination)
        return edges


@_compiled
def _route(  # type: ignore[no-untyped-def]
    indptr, indices, turn_cost, cost, parent, touched, heap_cost, heap_edge, origin, destination
):
    """Search; ``cost`` (2, n) is infinite before and after, other buffers may hold any values."""
    n_touched, size = np.ones(2, np.int64), np.ones(2, np.int64)
    for side, root in ((0, origin), (1, destination)):
        cost[side, root], parent[side, root], touched[side, 0] = 0.0, -1, root
        heap_cost[side, 0], heap_edge[side, 0] = 0.0, root
    best, meeting = (0.0, origin) if origin == destination else (np.inf, -1)
    while size[0] > 0 and size[1] > 0 and heap_cost[0, 0] + heap_cost[1, 0] < best:
        side = 0 if heap_cost[0, 0] <= heap_cost[1, 0] else 1
        reached, edge = heap_cost[side, 0], heap_edge[side, 0]
        size[side] -= 1
        _sink(heap_cost[side], heap_edge[side], size[side])
        if reached > cost[side, edge]:  # a cheaper way to it was found since
            continue
        for turn in range(indptr[side, edge], indptr[side, edge + 1]):
            following, total = indices[side, turn], reached + turn_cost[side, turn]
            if total < cost[side, following]:
                if cost[side, following] == np.inf:
                    touched[side, n_touched[side]] = following
                    n_touched[side] += 1
                cost[side, following], parent[side, following] = total, edge
                _rise(heap_cost[side], heap_edge[side], size[side], total, following)
                size[side] += 1
                if total + cost[1 - side, following] < best:
                    best, meeting = total + cost[1 - side, following], following
    before, after = _climb(parent[0], meeting), _climb(parent[1], meeting)
    for side in range(2):
        for place in range(n_touched[side]):
            cost[side, touched[side, place]] = np.inf
    return np.concatenate((before[::-1], after[1:]))


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
    cost, edge, place = heap_cost[size], heap_edge[size], 0
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
