"""Legs: the searches of one request, from place to place."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.compiled import read_only
from evroute.planning.searches.label_loops import Ways
from evroute.planning.searches.search import Search


@dataclass(frozen=True, slots=True)
class Legs:
    """The legs of one request on one search.

    A state ``k * n + e`` is edge e of n in leg k; driving over ``stops[k + 1]`` begins leg k + 1.

    Parameters
    ----------
    search
        Search over a arms.
    stops
        Edges to drive over in this order: origin, places on the way, destination.
    arms_of_route
        Returns the arms of a route over edges, (k,).
    """

    search: Search
    stops: tuple[int, ...]
    arms_of_route: Callable[[Route], IntArray]

    def route(self, weights: FloatArray) -> Route:
        """Return the cheapest route over all stops for costs of the arms, (a,).

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from one stop to the next.
        """
        edges = self.stops[:1]
        for origin, destination in pairwise(self.stops):
            edges += self.search.route(weights, origin, destination).edges[1:]
        return Route(edges)

    def ways(self) -> Ways:
        """Return the turns and the legs for the loops of label searches."""
        search, graph = self.search, self.search.line_graph
        n_edges, next_stops = graph.n_edges, np.array([*self.stops[1:-1], -1])
        return Ways(
            read_only(graph.indptr),
            read_only(graph.indices),
            read_only(search.entering),
            read_only(next_stops),
            n_edges=n_edges,
            final=n_edges * (len(self.stops) - 2) + self.stops[-1],
            origin=self.stops[0],
            start=search.starts.start + self.stops[0],
        )

    def total(self, values: FloatArray, route: Route) -> float:
        """Return the sum of values (a,) over the arms of a route."""
        return float(values[self.arms_of_route(route)].sum())

    def rest(self, weights: FloatArray, *, whole: bool = False) -> FloatArray:
        """Return lower bounds of the cost from every state to the destination, one per state.

        They are exact within each leg up to the cost from its first edge, or everywhere.

        Parameters
        ----------
        weights
            (a,) cost of each arm.
        whole
            Whether they are exact everywhere.
        """
        after, rest = 0.0, []
        for before, stop in reversed(list(pairwise(self.stops))):
            tree = self.search.rest(weights, stop, until=() if whole else (before,)) + after
            after = float(tree[before])
            rest.append(tree)
        return np.concatenate(rest[::-1])
