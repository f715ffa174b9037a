"""Compiled searches on one line graph: a route from both ends, and a tree from one end.

Dijkstra (1959) from the origin over turns and from the destination against them. The side with the
cheaper front continues until no two fronts can meet more cheaply than the best meeting so far
(Pohl, *Bi-directional search*, 1971). numba does not look at other files: change this one with
`trees`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.ends import Ends, read_as
from evroute.planning.searches.trees import (
    Cut,
    Heap,
    Led,
    forest_from,
    guided_over,
    rise,
    sink,
    tree_from,
)

_compiled: Any = njit(cache=True, nogil=True)


class Arcs(NamedTuple):
    """The turns between n edges, forwards and backwards.

    Parameters
    ----------
    first
        (2, n + 1) first turn of each edge. Of the backward ones, those into the edge.
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
        (2, n) least cost found to each edge. Infinite before and after a search.
    before
        (2, n) edge before each, -1 at a root.
    touched
        (2, n) edges whose cost is set.
    heap_cost, heap_edge
        (2, n + m) entries of the heaps.
    n_touched, size
        (2,) number of touched edges, and of entries of the heaps.
    """

    cost: FloatArray
    before: NDArray[np.int32]
    touched: NDArray[np.int32]
    heap_cost: FloatArray
    heap_edge: NDArray[np.int32]
    n_touched: IntArray
    size: IntArray


class TwoSided:
    """Cheapest routes and trees on one line graph. Thread-safe, with workspaces that are reused.

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
        self._n_edges, self._n_arms = first.shape[1] - 1, int(arm.max(initial=-1)) + 1

    def route(self, weights: FloatArray, origin: int, destination: int) -> IntArray:
        """Return the edges of the cheapest route in driving order, or empty if there is no route.

        Parameters
        ----------
        weights
            (a,) cost of each arm, not negative, +inf where it is closed.
        origin, destination
            Network rows. The cost of the start does not matter.

        Raises
        ------
        ValueError
            If there is no such row, or weights of arms are missing.
        """
        weights = self._checked(weights, origin, destination)
        room = self._room()
        edges: IntArray = _route(self._arcs, weights, room, origin, destination)
        self._rooms.append(room)
        return edges

    def between(
        self, weights: FloatArray, origins: Ends, destinations: Ends
    ) -> tuple[IntArray, float]:
        """Return the edges and the cost of the cheapest route between several edges. Empty if none.

        Parameters
        ----------
        weights
            (a,) as in `route`.
        origins, destinations
            Different edges, at most n, with costs that are added to the route's cost.

        Raises
        ------
        ValueError
            As in `route`.
        """
        weights = self._checked(weights, *origins.edge, *destinations.edge)
        room = self._room()
        found: tuple[IntArray, float] = _between(
            self._arcs, weights, room, *origins.checked(), *destinations.checked()
        )
        self._rooms.append(room)
        return found

    def tree(
        self,
        weights: FloatArray,
        side: int,
        roots: int | Ends,
        limit: float = np.inf,
        until: Sequence[int] = (),
        beyond: float = 1.0,
    ) -> FloatArray:
        """Return least costs between the nearest root and every edge, (n,), starts left out.

        Parameters
        ----------
        weights
            (a,) as in `route`.
        side
            0 for costs from the roots, 1 for costs to them.
        roots
            Network row, or different edges with costs that are added.
        limit
            Costs above it are +inf.
        until
            Edges at the last of which the search stops. Greater costs are then replaced by its
            cost. Empty for none.
        beyond
            Factor on the cost of the last one, 1 or more, at which the search stops instead.

        Raises
        ------
        ValueError
            As in `route`.
        """
        edges = roots.edge if isinstance(roots, Ends) else (roots,)
        weights = self._checked(weights, *edges)
        room, arcs = self._room(), self._sides[side]
        cost = np.full(len(arcs.first) - 1, np.inf)
        heap = Heap(room.heap_cost[side], room.heap_edge[side])
        given = arcs, weights, heap, cost
        if isinstance(roots, int) and len(until) < 2:
            last = np.array(until[:1] or (-1,), dtype=np.int64)
            reached = tree_from(*given, roots, Cut(limit, last, beyond))
        else:
            edge, first_cost = (
                roots.checked() if isinstance(roots, Ends) else (np.array([roots]), np.zeros(1))
            )
            cut = Cut(limit, np.array(until, dtype=np.int64), beyond)
            reached = forest_from(*given, edge, first_cost, cut)
        self._rooms.append(room)
        return cost if np.isinf(reached) else np.minimum(cost, reached, out=cost)

    def rest_over(
        self,
        weights: FloatArray,
        roots: Ends,
        over: tuple[FloatArray, Sequence[int]],
        until: Sequence[int],
        beyond: float,
        guide: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return least costs from every edge to the nearest root, and over one of some edges, (n,).

        Parameters
        ----------
        weights
            (a,) as in `route`.
        roots
            Different edges with costs that are added.
        over
            (k,) costs at the roots where one of the edges lies behind them, and these edges.
        until, beyond
            As in `tree`. They are met by costs over one of the edges. Greater costs are then
            replaced by lower bounds.
        guide
            (n,) lower bounds of the cost between each edge and those of ``until``, none of which
            falls by more than a turn costs. The search goes towards these (A*).

        Raises
        ------
        ValueError
            As in `route`.
        """
        edge, first = roots.checked()
        both = np.stack([first, read_as(over[0])])
        weights = self._checked(weights, *edge, *over[1])
        room, arcs = self._room(), self._sides[1]
        n = self._n_edges
        cost, at = np.full(2 * n, np.inf), np.zeros(n, np.bool_)
        at[list(over[1])] = True
        heap = Heap(room.heap_cost.ravel(), room.heap_edge.ravel())
        cut = Cut(np.inf, np.array(until, dtype=np.int64), beyond)
        reached = guided_over(arcs, weights, heap, cost, Led(read_as(guide), at), edge, both, cut)
        self._rooms.append(room)
        rest, beside = cost[:n], cost[n:]
        if not np.isinf(reached):
            least = np.where(guide < np.inf, np.maximum(reached - guide, 0.0), np.inf)
            np.minimum(rest, least, out=rest)
            np.minimum(beside, least, out=beside)
        return rest, beside

    def _checked(self, weights: FloatArray, *edges: int) -> FloatArray:
        """Return weights as they are compiled. ValueError if rows or weights are missing."""
        if weights.ndim != 1 or len(weights) < self._n_arms:
            raise ValueError(f"weights have shape {weights.shape}, expected ({self._n_arms},)")
        for edge in (min(edges, default=0), max(edges, default=0)):
            if not 0 <= edge < self._n_edges:
                raise ValueError(f"edge row {edge} is not one of 0 to {self._n_edges - 1}")
        return read_as(weights)

    def _room(self) -> Room:
        if self._rooms:
            return self._rooms.pop()
        n, m = self._arcs.first.shape[1] - 1, self._arcs.edge.shape[1]
        return Room(
            cost=np.full((2, n), np.inf),
            before=np.empty((2, n), np.int32),
            touched=np.empty((2, n), np.int32),
            heap_cost=np.empty((2, n + m)),
            heap_edge=np.empty((2, n + m), np.int32),
            n_touched=np.empty(2, np.int64),
            size=np.empty(2, np.int64),
        )


@_compiled
def _route(arcs, weights, room, origin, destination):  # type: ignore[no-untyped-def]
    """Return the edges of the cheapest route between two edges."""
    room.n_touched[:] = 0
    room.size[:] = 0
    _begin(room, 0, origin, 0.0)
    _begin(room, 1, destination, 0.0)
    best, meeting = (0.0, origin) if origin == destination else (np.inf, -1)
    return _meet(arcs, weights, room, best, meeting)[0]


@_compiled
def _between(  # type: ignore[no-untyped-def]
    arcs, weights, room, origin, origin_cost, destination, destination_cost
):
    """Return the edges and the cost of the cheapest route between several edges."""
    room.n_touched[:] = 0
    room.size[:] = 0
    for k in range(len(origin)):
        _begin(room, 0, origin[k], origin_cost[k])
    best, meeting = np.inf, -1
    for k in range(len(destination)):
        edge = destination[k]
        _begin(room, 1, edge, destination_cost[k])
        total = room.cost[0, edge] + room.cost[1, edge]
        if total < best:
            best, meeting = total, edge
    return _meet(arcs, weights, room, best, meeting)


@_compiled
def _begin(room, side, edge, cost):  # type: ignore[no-untyped-def]
    """Put a root of one side into its heap, unless its cost is infinite."""
    if cost < room.cost[side, edge]:
        room.touched[side, room.n_touched[side]] = edge
        room.n_touched[side] += 1
        room.cost[side, edge] = cost
        room.before[side, edge] = -1
        rise(room.heap_cost[side], room.heap_edge[side], room.size[side], cost, edge)
        room.size[side] += 1


@_compiled
def _meet(arcs, weights, room, best, meeting):  # type: ignore[no-untyped-def]
    """Return the edges of the cheapest route and its cost. Room costs are infinite afterwards."""
    cost, before = room.cost, room.before
    touched, n_touched = room.touched, room.n_touched
    heap_cost, heap_edge = room.heap_cost, room.heap_edge
    size = room.size
    while size[0] > 0 and size[1] > 0 and heap_cost[0, 0] + heap_cost[1, 0] < best:
        side = 0 if heap_cost[0, 0] <= heap_cost[1, 0] else 1
        reached, edge = heap_cost[side, 0], heap_edge[side, 0]
        other = heap_cost[1 - side, 0]
        size[side] -= 1
        sink(heap_cost[side], heap_edge[side], size[side])
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
                    rise(heap_cost[side], heap_edge[side], size[side], total, following)
                    size[side] += 1
    to_meeting, from_meeting = _climb(before[0], meeting), _climb(before[1], meeting)
    for side in range(2):
        for place in range(n_touched[side]):
            cost[side, touched[side, place]] = np.inf
    return np.concatenate((to_meeting[::-1], from_meeting[1:])), best


@_compiled
def _climb(parent, edge):  # type: ignore[no-untyped-def]
    """Return the way from an edge to the root of its side, both included. Empty from -1."""
    steps, at = 0, edge
    while at >= 0:
        steps, at = steps + 1, parent[at]
    way = np.empty(steps, np.int64)
    at = edge
    for step in range(steps):
        way[step], at = at, parent[at]
    return way
