"""Loop that settles the roads within reach of a charge, by the most charge on arrival.

It is compiled by numba where the search is compiled (`compiled.run`).
"""

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.charge.warming import Warming, is_covered, warmed
from evroute.planning.searches.label_loops import Charges, Steps, drive, faded


class Roads(NamedTuple):
    """Turns between n edges, and where the routes begin.

    Parameters
    ----------
    first, entered, arm
        Turns in CSR form: (n + 1,) first turn of each edge, and the edge and the arm of each turn.
    head_wh
        (n,) potential after each edge, Wh.
    start_edge, start_arm
        (b,) edges of the starts and their arms.
    """

    first: NDArray[np.integer[Any]]
    entered: IntArray
    arm: IntArray
    head_wh: FloatArray
    start_edge: IntArray
    start_arm: IntArray


def settle_charges(roads: Roads, steps: Steps, charges: Charges, warming: Warming) -> FloatArray:
    """Settle edges in falling order of the charge left, before the warm-up, plus the potential.

    After a cold start an edge is settled again with less charge if less of the warm-up is left.

    Parameters
    ----------
    roads, steps, charges, warming
        Network, starts, battery and warm-up.

    Returns
    -------
    rows
        (k, 6) of each edge within reach: the edge, the arm that enters it, the position of the edge
        before (-1 at a start), the charge at its start and its end, and the lowest after its
        beginning, Wh.
    """
    n = len(roads.first) - 1
    cold = warming.whole_wh > 0.0
    # negative charge and potential, edge, arm, position before, charge before, after, lowest, time
    queue = [(0.0, 0, 0, -1, 0.0, 0.0, 0.0, 0.0)]
    queue.pop()
    rows = np.empty((n, 6))
    newest = np.empty(n, np.int64)  # last row of each edge
    newest[:] = -1
    # of each row: the one before of its edge, charge before the warm-up, no cost, and time
    held = [(-1, 0.0, 0.0, 0.0)]
    held.pop()
    settled = 0
    for k in range(len(roads.start_edge)):
        into = roads.start_edge[k], roads.start_arm[k]
        _enter(queue, roads, steps, charges, warming, into, (-1, charges.first_wh, 0.0))
    while len(queue) > 0:
        _, edge, arm, before, begin, end, low, driven_s = heapq.heappop(queue)
        known = (newest[edge], end + warmed(warming, driven_s), 0.0, driven_s)
        if known[0] >= 0 and (not cold or is_covered(warming, held, known, edge, True)):
            continue
        if settled == len(rows):
            longer = np.empty((2 * settled, 6))
            longer[:settled] = rows
            rows = longer
        newest[edge] = settled
        held.append(known)
        rows[settled, 0] = edge
        rows[settled, 1] = arm
        rows[settled, 2] = before
        rows[settled, 3] = begin
        rows[settled, 4] = end
        rows[settled, 5] = low
        for turn in range(roads.first[edge], roads.first[edge + 1]):
            into = roads.entered[turn], roads.arm[turn]
            if cold or newest[into[0]] < 0:
                _enter(queue, roads, steps, charges, warming, into, (settled, end, driven_s))
        settled += 1
    return rows[:settled].copy()


def _enter(
    queue: list[Any],
    roads: Roads,
    steps: Steps,
    charges: Charges,
    warming: Warming,
    into: tuple[int, int],
    known: tuple[int, float, float],
) -> None:
    """Put an edge into the queue, unless the charge falls below the reserve on the arm into it.

    The edge and its arm come from a row: its position, and charge and time at its end.
    """
    edge, arm = into
    before, begin, driven_s = known
    after_s, drawn_wh, warm_wh = 0.0, 0.0, 0.0
    if warming.whole_wh > 0.0:
        after_s = driven_s + warming.time_s[arm]
        warm_wh = warmed(warming, after_s)
        drawn_wh = warm_wh - warmed(warming, driven_s)
    left, low = drive(steps, charges, begin, arm, drawn_wh)
    if low >= charges.least_wh:
        order = -(left + warm_wh + roads.head_wh[edge])
        heapq.heappush(queue, (order, edge, arm, before, begin, left, low, after_s))


PIECES = (_enter, drive, faded, is_covered, warmed)
"""Functions that the loop calls, compiled with it."""
