"""Turns for sources without them: between edges that meet, U-turns only at dead ends."""

import numpy as np

from evroute.arrays import IntArray, expanded
from evroute.network.memory import check_memory


def meeting_turns(tail: IntArray, head: IntArray) -> IntArray:
    """Return the turns between edges that meet, (m, 2) edge rows, sorted.

    A turn back is legal only at dead ends: junctions with no other edge to continue on.

    tail, head: (n,) junction rows of the edges.

    Raises
    ------
    LimitError
        If there are too many.
    """
    by_tail = np.argsort(tail, kind="stable")
    start = np.searchsorted(tail[by_tail], np.arange(head.max(initial=-1) + 2))
    check_memory(len(tail), int(np.diff(start)[head].sum()), "the network")
    row, source = expanded(start, head)
    target = by_tail[row]
    back = head[target] == tail[source]
    goes_on = np.zeros(len(tail), dtype=bool)
    goes_on[source[~back]] = True
    legal = ~back | ~goes_on[source]
    return np.column_stack([source[legal], target[legal]])
