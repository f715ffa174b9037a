"""ChargeTree: from an origin to every road, the route that arrives with the most charge."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.searches.search_problem import SearchProblem


@dataclass(frozen=True, slots=True, eq=False)
class ChargeTree:
    """The routes of most charge to k edges, nearest in energy first.

    Parameters
    ----------
    edges, arms
        (k,) edges within reach, and the arm of the problem that enters each.
    before
        (k,) position of the edge before each; -1 for an origin.
    begin_wh, end_wh, low_wh
        (k,) expected charge at the start and at the end of each edge, and the lowest on it after
        its beginning, Wh.
    from_m
        Metres along each edge of a start at which the routes begin on it.
    """

    edges: IntArray
    arms: IntArray
    before: IntArray
    begin_wh: FloatArray
    end_wh: FloatArray
    low_wh: FloatArray
    from_m: Mapping[int, float]

    def route(self, position: int) -> Route:
        """Return the route to the edge at a position."""
        edges = tuple(self.edges[way(self.before, position)].tolist())
        return Route(edges, self.from_m[edges[0]])


def way(before: IntArray, position: int) -> IntArray:
    """Return the positions from an origin to a position, given those before each, (k,)."""
    steps = [position]
    while (previous := int(before[steps[-1]])) >= 0:
        steps.append(previous)
    return np.array(steps[::-1])


def charge_tree(problem: SearchProblem, battery: Battery) -> ChargeTree:
    """Return the routes of most charge from the starts of a problem to every edge in reach.

    The charge left plus the potential never rises along a route, so the first route that the
    search settles for an edge is final.
    """
    search = problem.legs.search
    graph = search.line_graph
    indptr, indices = graph.indptr.tolist(), graph.indices.tolist()
    entering, drive = search.entering.tolist(), problem.charge.driven(battery)
    after_wh = problem.head_wh[search.starts].tolist()
    least_wh = battery.reserve_wh - TOLERANCE_WH
    place = np.full(graph.n_edges, -1).tolist()
    rows: list[tuple[int, int, int, float, float, float]] = []
    queue: list[tuple[float, int, int, int, float, float, float]] = []

    def reach(edge: int, arm: int, previous: int, charge_wh: float) -> None:
        left_wh, low_wh = drive(charge_wh, arm)
        if low_wh >= least_wh:
            heapq.heappush(
                queue,
                (-(left_wh + after_wh[edge]), edge, arm, previous, charge_wh, left_wh, low_wh),
            )

    for start in problem.legs.starts:
        reach(start.edge, start.arm, -1, battery.start_wh)
    while queue:
        _, edge, arm, previous, charge_wh, left_wh, low_wh = heapq.heappop(queue)
        if place[edge] >= 0:
            continue
        place[edge] = len(rows)
        rows.append((edge, arm, previous, charge_wh, left_wh, low_wh))
        for turn in range(indptr[edge], indptr[edge + 1]):
            if place[indices[turn]] < 0:
                reach(indices[turn], entering[turn], place[edge], left_wh)
    table = np.array(rows, dtype=float).reshape(-1, 6)
    edges, arms, before = table[:, :3].astype(np.int64).T
    from_m = {start.edge: start.from_m for start in problem.legs.starts}
    begin_wh, end_wh, low_wh = table[:, 3:].T
    return ChargeTree(edges, arms, before, begin_wh, end_wh, low_wh, from_m)
