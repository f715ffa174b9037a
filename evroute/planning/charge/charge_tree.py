"""ChargeTree: from an origin to every road, the route that arrives with the most charge."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.battery import Battery
from evroute.planning.searches.search_problem import SearchProblem


@dataclass(frozen=True, slots=True, eq=False)
class ChargeTree:
    """The routes of most charge to k edges, nearest in energy first.

    Parameters
    ----------
    edges, arms
        (k,) edges within reach, and the arm of the problem that enters each. After a cold start an
        edge may repeat.
    before
        (k,) position of the edge before each. -1 for an origin.
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


def add_along(before: IntArray, values: FloatArray) -> None:
    """Replace the values of positions (k, ...) by their sums along the ways to them.

    Parameters
    ----------
    before
        (k,) position before each, a lower one. -1 for an origin.
    values
        (k, ...) values.
    """
    steps = array("q")  # a list of a million numbers takes five times the memory
    for previous in before.data:
        steps.append(steps[previous] + 1 if previous >= 0 else 0)
    ends = np.cumsum(np.bincount(steps))  # positions with as many steps are added at once
    for level in np.split(np.argsort(steps, kind="stable"), ends[:-1])[1:]:
        values[level] += values[before[level]]


def last_along(before: IntArray, own: IntArray) -> IntArray:
    """Return which of some positions is the last on the way to each position, (k,). -1 for none.

    Parameters
    ----------
    before
        As in `add_along`.
    own
        (q,) positions in increasing order, whose numbers 0 to q - 1 are returned.
    """
    number = np.full(len(before), -1)
    number[own] = np.arange(len(own))
    last = array("q")
    for at, previous in zip(number.data, before.data, strict=True):
        last.append(at if at >= 0 or previous < 0 else last[previous])
    return np.array(last, dtype=np.int64)


def charge_tree(problem: SearchProblem, battery: Battery) -> ChargeTree:
    """Return the routes of most charge from the starts of a problem to every edge in reach.

    The charge left plus the potential never rises along a route, so the first route that the
    search settles for an edge is final. After a cold start an edge may have further routes, which
    arrive with less charge before the warm-up but have less of it left.
    """
    settled = problem.label_search.within_reach(battery)
    n_edges = problem.legs.search.line_graph.n_edges
    from_m = {start.edge: start.from_m for start in problem.legs.starts}
    return ChargeTree(
        settled.state[1:] % n_edges,
        settled.arm[1:],
        settled.before[1:] - 1,
        settled.charge_wh[settled.before[1:]],
        settled.charge_wh[1:],
        settled.low_wh[1:],
        from_m,
    )
