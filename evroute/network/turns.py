"""Turns for sources without them: between edges that meet, U-turns only at dead ends."""

import numpy as np

from evroute.arrays import IntArray


def meeting_turns(tail: IntArray, head: IntArray) -> IntArray:
    """Return the turns between edges that meet, (m, 2) edge rows, sorted.

    A turn back is legal only at dead ends: junctions with no other edge to continue on.

    tail, head: (n,) junction rows of the edges.
    """
    by_tail = np.argsort(tail, kind="stable")
    first = np.searchsorted(tail[by_tail], head, side="left")
    count = np.searchsorted(tail[by_tail], head, side="right") - first
    source = np.repeat(np.arange(len(tail)), count)
    rank = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
    target = by_tail[np.repeat(first, count) + rank]

    back = head[target] == tail[source]
    goes_on = np.zeros(len(tail), dtype=bool)
    goes_on[source[~back]] = True
    legal = ~back | ~goes_on[source]
    return np.column_stack([source[legal], target[legal]])
