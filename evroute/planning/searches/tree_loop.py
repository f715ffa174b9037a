"""Loop that settles the roads within reach of a charge, by the most charge on arrival.

It is compiled by numba where the search is compiled (`compiled.run`).
"""

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
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


def settle_charges(roads: Roads, steps: Steps, charges: Charges) -> FloatArray:
    """Settle edges in falling order of the charge left plus the potential.

    Parameters
    ----------
    roads, steps, charges
        Network, starts and battery.

    Returns
    -------
    rows
        (k, 6) of each edge within reach: the edge, the arm that enters it, the position of the edge
        before (-1 at a start), the charge at its start and its end, and the lowest after its
        beginning, Wh.
    """
    n = len(roads.first) - 1
    place = np.full(n, -1)
    # negative charge and potential, edge, arm, position before, charge before, after, lowest
    queue = [(0.0, 0, 0, -1, 0.0, 0.0, 0.0)]
    queue.pop()
    rows = np.empty((n, 6))
    for k in range(len(roads.start_edge)):
        edge, arm = roads.start_edge[k], roads.start_arm[k]
        left, low = drive(steps, charges, charges.first_wh, arm)
        if low >= charges.least_wh:
            order = -(left + roads.head_wh[edge])
            heapq.heappush(queue, (order, edge, arm, -1, charges.first_wh, left, low))
    settled = 0
    while len(queue) > 0:
        _, edge, arm, before, begin, end, low = heapq.heappop(queue)
        if place[edge] >= 0:
            continue
        place[edge] = settled
        rows[settled, 0] = edge
        rows[settled, 1] = arm
        rows[settled, 2] = before
        rows[settled, 3] = begin
        rows[settled, 4] = end
        rows[settled, 5] = low
        for turn in range(roads.first[edge], roads.first[edge + 1]):
            into, arm = roads.entered[turn], roads.arm[turn]
            if place[into] < 0:
                left, low = drive(steps, charges, end, arm)
                if low >= charges.least_wh:
                    order = -(left + roads.head_wh[into])
                    heapq.heappush(queue, (order, into, arm, settled, end, left, low))
        settled += 1
    return rows[:settled].copy()


PIECES = (drive, faded)
"""Functions that the loop calls, compiled with it."""
