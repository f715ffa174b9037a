"""Compiled trees of least costs from one end of a line graph, and the heap of the searches.

A tree ends at a greatest cost, or once some edges are met, where it may be led towards them by
lower bounds of the cost that is left (A*).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray

_compiled: Any = njit(cache=True, nogil=True)
_WAYS = 4
"""Number of children of a heap entry."""


class Heap(NamedTuple):
    """A heap of edges by cost, as arrays of costs and edges."""

    cost: FloatArray
    edge: NDArray[np.int32]


class Led(NamedTuple):
    """What leads a search: lower bounds of the rest, (n,), and whether each edge counts, (n,)."""

    guide: FloatArray
    over: NDArray[np.bool_]


class Cut(NamedTuple):
    """Where a tree ends: its greatest cost, and edges, all met, with a factor on the last cost."""

    limit: float
    until: IntArray
    beyond: float


@_compiled
def tree_from(arcs, weights, heap, cost, root, cut):  # type: ignore[no-untyped-def]
    """Fill ``cost`` (n,), infinite before. Return the cost at the end, infinite if all are met.

    Parameters
    ----------
    arcs, weights
        Turns of one side, and the cost of each arm.
    heap, cost
        An empty heap, and the costs that are found.
    root, cut
        The root, and where the tree ends.
    """
    cost[root] = heap.cost[0] = 0.0
    heap.edge[0] = root
    return _grow(arcs, weights, heap, cost, 1, cut)


@_compiled
def forest_from(arcs, weights, heap, cost, root, root_cost, cut):  # type: ignore[no-untyped-def]
    """Fill ``cost`` (n,), infinite before. Return the cost at the end, infinite if all are met.

    Parameters
    ----------
    arcs, weights, heap, cost, cut
        As in `tree_from`.
    root, root_cost
        (k,) roots, and their costs.
    """
    size = 0
    for k in range(len(root)):
        if root_cost[k] <= cut.limit and root_cost[k] < cost[root[k]]:
            cost[root[k]] = root_cost[k]
            rise(heap.cost, heap.edge, size, root_cost[k], root[k])
            size += 1
    return _grow(arcs, weights, heap, cost, size, cut)


@_compiled
def guided_over(arcs, weights, heap, cost, led, root, root_cost, cut):  # type: ignore[no-untyped-def]
    """Fill ``cost`` (2 n,), infinite before, in the order of costs plus lower bounds of the rest.

    The first n are costs of edges as `forest_from` has them, the others costs over one of some
    edges. Return the cost at the end, infinite if all are met.

    Parameters
    ----------
    arcs, weights, heap, cost, root, cut
        As in `forest_from`. The limit of the cut does not matter, and edges are met by the others.
    led
        Lower bounds of the cost between each edge and those that the cut asks for, and the edges
        over one of which the others lead.
    root_cost
        (2, k) costs of the roots, of the first kind and of the other.
    """
    guide, over = led.guide, led.over
    until, n = cut.until, len(guide)
    size, last = 0, np.inf
    met = np.zeros(len(until), np.bool_)
    for layer in range(2):
        for k in range(len(root)):
            state, first = layer * n + root[k], root_cost[layer, k]
            size = _lower(heap, cost, size, state, first, guide[root[k]])
    while size > 0:
        reached, state = heap.cost[0], heap.edge[0]
        size -= 1
        sink(heap.cost, heap.edge, size)
        layer = 1 if state >= n else 0
        edge = state - layer * n
        if reached > cost[state] + guide[edge]:
            continue
        if reached >= last:
            return reached
        if layer == 1:
            for k in range(len(until)):
                met[k] = met[k] or until[k] == edge
            if last == np.inf and met.all():
                last = cut.beyond * reached
        elif over[edge]:
            size = _lower(heap, cost, size, n + edge, cost[state], guide[edge])
        for turn in range(arcs.first[edge], arcs.first[edge + 1]):
            following, total = arcs.edge[turn], cost[state] + weights[arcs.arm[turn]]
            size = _lower(heap, cost, size, layer * n + following, total, guide[following])
    return np.inf


@_compiled
def _lower(heap, cost, size, state, total, rest):  # type: ignore[no-untyped-def]
    """Put a state with a lower bound of the rest into a heap, if its cost is lower. Return size."""
    if total < cost[state] and rest < np.inf:
        cost[state] = total
        rise(heap.cost, heap.edge, size, total + rest, state)
        size += 1
    return size


@_compiled
def _grow(arcs, weights, heap, cost, size, cut):  # type: ignore[no-untyped-def]
    """Settle edges until a heap is empty, or all edges of the cut are met. Return the cost then."""
    limit, until = cut.limit, cut.until
    missing = len(until)
    last = np.inf
    while size > 0:
        reached, edge = heap.cost[0], heap.edge[0]
        size -= 1
        sink(heap.cost, heap.edge, size)
        if reached > cost[edge]:
            continue
        if reached >= last:
            return reached
        if missing > 0:
            for k in range(len(until)):
                missing -= until[k] == edge
            if missing == 0:
                last = cut.beyond * reached
                if cut.beyond == 1.0:
                    return reached
        for turn in range(arcs.first[edge], arcs.first[edge + 1]):
            following, total = arcs.edge[turn], reached + weights[arcs.arm[turn]]
            if total <= limit and total < cost[following]:
                cost[following] = total
                rise(heap.cost, heap.edge, size, total, following)
                size += 1
    return np.inf


@_compiled
def rise(heap_cost, heap_edge, place, cost, edge):  # type: ignore[no-untyped-def]
    """Insert an edge at the end of a heap and restore its order.

    Parameters
    ----------
    heap_cost, heap_edge
        Costs and edges of the heap.
    place
        Number of its entries.
    cost, edge
        The new entry.
    """
    while place > 0:
        above = (place - 1) // _WAYS
        if heap_cost[above] <= cost:
            break
        heap_cost[place], heap_edge[place] = heap_cost[above], heap_edge[above]
        place = above
    heap_cost[place], heap_edge[place] = cost, edge


@_compiled
def sink(heap_cost, heap_edge, size):  # type: ignore[no-untyped-def]
    """Move the last entry of a heap, at ``size``, to its first place and restore its order.

    Parameters
    ----------
    heap_cost, heap_edge
        Costs and edges of the heap.
    size
        Number of the entries without the first one.
    """
    cost, edge = heap_cost[size], heap_edge[size]
    place = 0
    while True:
        first = _WAYS * place + 1
        if first >= size:
            break
        if first + 3 < size:  # the first of the least, without a branch
            low = first + (heap_cost[first + 1] < heap_cost[first])
            high = first + 2 + (heap_cost[first + 3] < heap_cost[first + 2])
            least = high if heap_cost[high] < heap_cost[low] else low
        else:
            least = first
            for child in range(first + 1, size):
                if heap_cost[child] < heap_cost[least]:
                    least = child
        if heap_cost[least] >= cost:
            break
        heap_cost[place], heap_edge[place] = heap_cost[least], heap_edge[least]
        place = least
    heap_cost[place], heap_edge[place] = cost, edge
