"""Turns where the source gives none: whatever meets at a junction, and U-turns only where a road ends."""

import numpy as np

from evroute.arrays import IntArray


def meeting_turns(tail: IntArray, head: IntArray) -> IntArray:
    """Return the (m, 2) turns between edges that meet, sorted; back to where one came from only at dead ends.

    tail, head: (n,) junction rows of the edges. A dead end is a junction from which an edge can go
    nowhere but back.
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
