"""Many requests with equal weights: shared Dijkstra trees, and two-sided searches for the rest.

Requests with a common end share one tree. The two-sided search is compiled (numba, extra ``fast``).
Without numba every request has a Dijkstra by scipy: the same routes, slower.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError
from evroute.planning.searches.cch import Contracted
from evroute.planning.searches.search import Search
from evroute.planning.searches.search_problem import SearchProblem

BLOCK = 64
"""Number of trees grown at once. Each takes 12 bytes per edge of the network."""
SHARED = 3
"""Number of requests per end from which one tree is faster than two-sided searches."""


@dataclass(frozen=True, slots=True, eq=False)
class Energies:
    """The least-energy routes of q requests, in their order.

    energy_wh, length_m, time_s: (q,), NaN where there is no route.  within_wh: (q,) greatest
    excess of ``energy_wh`` over the least energy, Wh. 0 where the search does not round costs.
    edge: network rows of all routes, one after the other in driving order. Request i drives
    ``edge[start[i]:start[i + 1]]``.
    """

    energy_wh: FloatArray
    length_m: FloatArray
    time_s: FloatArray
    within_wh: FloatArray
    edge: IntArray
    start: IntArray

    def edges(self, request: int) -> IntArray:
        """Return the network rows of one route, or empty if there is no route."""
        return self.edge[self.start[request] : self.start[request + 1]]


def joined(of_one: Sequence[bool], one: Energies, other: Energies) -> Energies:
    """Return the routes of two groups of requests in the order of all requests.

    Parameters
    ----------
    of_one
        Whether each request is of the first group.
    one, other
        Routes of both groups, in their order.
    """
    first = np.array(of_one, dtype=bool)
    order = np.argsort(np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)]))
    q = len(one.start) - 1
    routes = [one.edges(k) if k < q else other.edges(k - q) for k in order.tolist()]

    def both(name: str) -> FloatArray:
        values: FloatArray = np.concatenate([getattr(one, name), getattr(other, name)])
        return values[order]

    return Energies(
        both("energy_wh"),
        both("length_m"),
        both("time_s"),
        both("within_wh"),
        np.concatenate([np.empty(0, dtype=np.int64), *routes]),
        np.cumsum([0, *map(len, routes)]),
    )


def lesser(one: Energies, other: Energies, least_wh: FloatArray) -> Energies:
    """Return the route of less energy of each request.

    Parameters
    ----------
    one, other
        A route of each of the same q requests.
    least_wh
        (q,) lower bounds of the energies, Wh.
    """
    first = ~(other.energy_wh < one.energy_wh)
    q = len(first)
    routes = [(one if of_one else other).edges(k) for k, of_one in enumerate(first.tolist())]
    wh, metres, seconds = (
        np.where(first, getattr(one, name), getattr(other, name))
        for name in ("energy_wh", "length_m", "time_s")
    )
    within_wh = np.nan_to_num(np.maximum(wh - least_wh, 0.0))
    edge = np.concatenate([np.empty(0, dtype=np.int64), *routes])
    return Energies(
        wh, metres, seconds, within_wh, edge, np.cumsum([0, *map(len, routes)])[: q + 1]
    )


def cheapest(
    search: Search,
    weights: FloatArray,
    origin: IntArray,
    destination: IntArray,
    contracted: Contracted | None = None,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the cheapest routes of q requests, as `Contracted.routes` does.

    Least costs are NaN without a hierarchy: the routes have them.

    Parameters
    ----------
    search
        A search over a arms.
    weights
        (a,) cost of each arm, not negative, +inf where it is closed.
    origin, destination
        (q,) network rows.
    contracted
        Hierarchy with these weights to take instead of the search.

    Raises
    ------
    ValueError
        If a weight is negative or NaN.
    EvrouteError
        If a request ends where it begins.
    """
    if (same := origin == destination).any():
        raise EvrouteError(f"request {np.argmax(same)}: origin and destination are the same edge")
    if contracted is not None:
        return contracted.routes(origin, destination)
    ends = [len(np.unique(each)) for each in (origin, destination)]
    if len(origin) < SHARED * min(ends) and search.compiled:
        routes = search.routes(weights, zip(origin.tolist(), destination.tolist(), strict=True))
    else:
        routes = _by_trees(search, weights, origin, destination, forwards=ends[0] <= ends[1])
    start = np.concatenate(([0], np.cumsum([len(route) for route in routes], dtype=np.int64)))
    edge = np.concatenate(routes) if routes else np.empty(0, dtype=np.int64)
    return edge, start, np.full(len(routes), np.nan)


def _by_trees(
    search: Search, weights: FloatArray, origin: IntArray, destination: IntArray, *, forwards: bool
) -> list[IntArray]:
    """Return the routes by a tree from every origin, or else to every destination."""
    root, leaf = (origin, destination) if forwards else (destination, origin)
    order = np.argsort(root, kind="stable")
    roots, first = np.unique(root[order], return_index=True)
    first = np.append(first, len(root))
    routes: list[IntArray] = [np.empty(0, dtype=np.int64)] * len(root)
    for low in range(0, len(roots), BLOCK):
        block = slice(low, low + BLOCK)
        parent = search.trees(weights, roots[block], forwards=forwards)
        mine = order[first[low] : first[min(low + BLOCK, len(roots))]]
        for request, steps in zip(
            mine.tolist(),
            _climbed(parent, np.searchsorted(roots[block], root[mine]), leaf[mine], root[mine]),
            strict=True,
        ):
            routes[request] = steps[::-1] if forwards else steps
    return routes


def _climbed(
    parent: IntArray, tree: IntArray, leaf: IntArray, root: IntArray
) -> Sequence[IntArray]:
    """Return the way of every leaf to the root of its tree, both included. Empty if outside."""
    flat = parent.ravel()
    offset = tree.astype(np.int64) * parent.shape[1]
    at = leaf.astype(np.int64)
    levels, length = [at], np.ones(len(leaf), dtype=np.int64)
    lost = np.zeros(len(leaf), dtype=bool)
    climbing = at != root
    while climbing.any():
        above = np.where(climbing, flat[offset + at], at)
        lost |= above < 0
        at = np.where(above < 0, root, above)
        levels.append(at)
        length += climbing
        climbing = at != root
    length[lost] = 0
    return [
        way[:steps] for way, steps in zip(np.stack(levels, axis=1), length.tolist(), strict=True)
    ]


def totals(
    problem: SearchProblem,
    weights: FloatArray,
    arms_of_routes: Callable[[IntArray, IntArray], IntArray],
    edge: IntArray,
    start: IntArray,
    least_wh: FloatArray,
    halt_wh: FloatArray,
) -> Energies:
    """Return the sums over routes.

    Parameters
    ----------
    problem
        Numbers of the a arms.
    weights
        (a,) costs of the arms in the search, Wh.
    arms_of_routes
        Returns the arms (k,) of edges (k,) of routes that begin at some positions.
    edge, start, least_wh
        As `cheapest` returns them.
    halt_wh
        (n,) energy of coming to a standstill at the end of each edge, Wh.
    """
    routes = np.flatnonzero(np.diff(start))
    arm, last = arms_of_routes(edge, start[routes]), start[routes + 1] - 1
    energy_wh = problem.energy_wh[arm]
    energy_wh[last] += halt_wh[edge[last]]
    searched_wh = weights[arm]
    searched_wh[start[routes]] = 0.0
    each = (energy_wh, problem.length_m[arm], problem.time_s[arm], searched_wh)
    # a sparse product adds in driving order, as the plan of one request does
    steps = np.ones(len(arm)), np.arange(len(arm)), start
    driven = csr_array(steps, shape=(len(least_wh), len(arm)))
    sums = driven @ np.column_stack(each)
    sums[np.diff(start) == 0] = np.nan
    wh, metres, seconds, cost_wh = sums.T
    return Energies(wh, metres, seconds, np.nan_to_num(cost_wh - least_wh), edge, start)
