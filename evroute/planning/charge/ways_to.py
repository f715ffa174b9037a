"""WaysTo: from every edge the cheapest way to the destination of a request."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.legs import Exit, Piece, cheapest_exits
from evroute.planning.searches.search_problem import SearchProblem


@dataclass(frozen=True, slots=True, eq=False)
class WaysTo:
    """From each of n edges the cheapest way to a destination, each from the beginning of its edge.

    Parameters
    ----------
    following
        (n,) edge driven after each one. -1 where the way is about to end, or there is none.
    exits
        The end of ways by the edge before it. Empty where they end with a whole edge.
    pieces
        Ways on one edge, by it.
    """

    following: IntArray
    exits: Mapping[int, Exit]
    pieces: Mapping[int, Piece]

    def route(self, edge: int) -> Route:
        """Return the way from an edge, from which one leads."""
        if edge in self.pieces:
            return Route((edge,), 0.0, self.pieces[edge].to_m)
        edges = [edge]
        while (after := int(self.following[edges[-1]])) >= 0:
            edges.append(after)
        if edges[-1] not in self.exits:
            return Route(tuple(edges))
        end = self.exits[edges[-1]]
        return Route((*edges, end.edge), 0.0, end.to_m)


def ways_to(problem: SearchProblem, weights: FloatArray) -> WaysTo:
    """Return the cheapest ways to the destination of a request without places on the way.

    Parameters
    ----------
    problem
        The request.
    weights
        (a,) cost of each arm, > 0.
    """
    legs = problem.legs
    graph, n = legs.search.line_graph, legs.search.line_graph.n_edges
    exits = cheapest_exits(weights, legs.exits)
    cost = problem.rests.of(weights, beyond=np.inf)[:n]
    first, behind = graph.indptr[:-1], np.append(graph.indices, 0)
    onward = np.append(weights[legs.search.entering] + cost[graph.indices], np.inf)
    least = np.full(n, np.inf)
    some = np.flatnonzero(np.diff(graph.indptr))
    least[some] = np.minimum.reduceat(onward, first[some])
    from_edge = np.repeat(np.arange(n), np.diff(graph.indptr))
    best = np.flatnonzero(onward[:-1] == least[from_edge])
    following = np.full(n, -1, dtype=np.int64)
    following[from_edge[best]] = behind[best]
    following[~np.isfinite(least)] = -1
    ends = list(exits) if legs.ends_inside else list(legs.stops[0])
    for edge in ends:
        if not legs.ends_inside or weights[exits[edge].arm] <= least[edge]:
            following[edge] = -1
        else:
            del exits[edge]
    pieces = {each.edge: each for each in legs.pieces if each.from_m == 0.0}
    return WaysTo(following, exits, pieces)
