"""Many least-cost routes on the same costs, by a contraction hierarchy of turns (extra ``cch``).

RoutingKit searches the line graph, so forbidden turns are absent and turns have their own costs.
The costs, reduced by the potential, are integers of mWh, rounded down once. The least integer cost
is thus a lower bound, and the cost of the route that attains it, summed in floating point, exceeds
the least cost by no more than the difference. A battery, risk or limit has no such costs.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from math import floor

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.network.contraction import contraction_installed, hierarchy, stored_order
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search import Search, check_weights

PER_WH = 1000
INFINITE = 2**31 - 1
"""Greatest cost of RoutingKit, mWh. Longer routes are searched by `Search`."""
SEARCH = 10
"""Time of a two-sided search in queries of the hierarchy on Luxembourg. 130 on a region."""
TREE = 25
"""Time of a tree in such queries. 310 on a region."""
BUILD = 5000
"""Time to build a hierarchy without a stored order. 39,000 on a region."""
BUILD_STORED = 400
"""Time to build one with a stored order. 3,100 on a region."""


def pays(network: RoadNetwork, origin: IntArray, destination: IntArray, *, built: bool) -> bool:
    """Return True if a hierarchy answers requests faster than searches and shared trees.

    Parameters
    ----------
    network
        The roads.
    origin, destination
        (q,) network rows of the requests.
    built
        Whether the hierarchy is at hand.
    """
    if not contraction_installed():
        return False
    trees = min(len(np.unique(each)) for each in (origin, destination))
    saved = min(SEARCH * len(origin), TREE * trees) - len(origin)
    if built:
        return saved > 0
    if saved <= BUILD_STORED:
        return False
    return saved > BUILD or stored_order(network) is not None


class Contracted:
    """Least-cost routes on fixed costs.

    Parameters
    ----------
    network
        Roads of n edges.
    search
        The search over the a arms of these roads.
    weights
        (a,) cost of each arm, Wh, not negative, +inf where it is closed.

    Raises
    ------
    ValueError
        If a weight is negative or NaN.
    """

    def __init__(self, network: RoadNetwork, search: Search, weights: FloatArray) -> None:
        from routingkit_cch import CCHMetric

        self._search, self._weights = search, weights
        check_weights(weights)
        rounded = np.minimum(np.floor(PER_WH * weights[search.entering]), INFINITE)
        self._metric = CCHMetric(hierarchy(network), rounded.astype(np.int64).tolist())

    def routes(
        self, origin: IntArray, destination: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the edges of the routes of q requests, starts (q + 1,), and least costs (q,), Wh.

        The least cost is a lower bound, without the cost of the start. A request without a route
        has no edges.

        Parameters
        ----------
        origin, destination
            (q,) network rows, different for each request.
        """
        from routingkit_cch import CCHQuery

        query, least_wh = CCHQuery(self._metric), np.full(len(origin), np.nan)

        def route(i: int, first: int, last: int) -> Sequence[int]:
            if not self._search.turns and self._weights[first] == np.inf:
                return ()
            found = query.run(first, last)
            if found.distance is None:
                return self._searched(first, last)
            least_wh[i] = found.distance / PER_WH
            return found.node_path

        ends = zip(origin.tolist(), destination.tolist(), strict=True)
        routes = [route(i, *each) for i, each in enumerate(ends)]
        start = np.cumsum([0, *map(len, routes)])
        return np.fromiter(chain.from_iterable(routes), np.int64, start[-1]), start, least_wh

    def between(self, origins: Ends, destinations: Ends) -> tuple[tuple[int, ...], float, float]:
        """Return the edges of a route between several edges, its cost, and a lower bound, Wh.

        The costs of both ends are rounded down like the costs of the arms.

        Parameters
        ----------
        origins, destinations
            As in `Search.between`. The edges are none, and the costs infinite, without a route.
        """
        from routingkit_cch import CCHQuery

        begin, end = (
            [(edge, floor(PER_WH * cost)) for edge, cost in zip(*_lists(ends), strict=True)]
            for ends in (origins, destinations)
        )
        found = CCHQuery(self._metric).run_multi(begin, end)
        if found.distance is None:  # none, or one whose cost exceeds `INFINITE`
            edges, cost = self._search.between(self._weights, origins, destinations)
            return edges, cost, cost
        edges = tuple(found.node_path)
        cost = dict(zip(*_lists(origins), strict=True))[edges[0]]
        cost += dict(zip(*_lists(destinations), strict=True))[edges[-1]]
        cost += sum(float(self._weights[self._arm(*turn)]) for turn in pairwise(edges))
        return edges, cost, found.distance / PER_WH

    def _arm(self, left: int, entered: int) -> int:
        """Return the arm of a turn."""
        graph = self._search.line_graph
        turns = slice(graph.indptr[left], graph.indptr[left + 1])
        place = int(np.flatnonzero(graph.indices[turns] == entered)[0])
        return int(self._search.entering[turns][place])

    def _searched(self, origin: int, destination: int) -> Sequence[int]:
        """Return a route whose cost exceeds `INFINITE`, or empty if there is none."""
        try:
            return self._search.route(self._weights, origin, destination).edges
        except NoRouteError:
            return ()


def _lists(ends: Ends) -> tuple[list[int], list[float]]:
    """Return edges and costs of ends as lists."""
    return ends.edge.tolist(), ends.cost.tolist()
