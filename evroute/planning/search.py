"""The search: one Dijkstra on the line graph, with new weights on a fixed structure.

The weight of a turn is the cost of the turn and of the edge that it enters. The origin edge's cost
is added at the start. scipy's Dijkstra follows zeros that are stored in the matrix, so the
structure is made once and only its data are replaced. scipy only warns of negative weights, so they
raise an error here.
"""

from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph

if TYPE_CHECKING:
    from evroute.planning.two_sided import TwoSided


class Search:
    """Cheapest routes on one line graph, for weights that change with every call; thread-safe."""

    def __init__(self, line_graph: LineGraph) -> None:
        self.line_graph = line_graph
        self._reversed = line_graph.reversed()
        self._arcs, self._arcs_back = _structure(line_graph), _structure(self._reversed)

    def route(self, weights: FloatArray, origin: int, destination: int) -> Route:
        """Return the cheapest route for costs of the edges.

        Parameters
        ----------
        weights
            (n,) cost of each edge, +inf where it is closed.
        origin, destination
            Network rows.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from origin to destination.
        """
        return self.route_by_turns(
            self.line_graph.turn_costs(weights), float(weights[origin]), origin, destination
        )

    def route_by_turns(
        self, turn_weights: FloatArray, origin_weight: float, origin: int, destination: int
    ) -> Route:
        """Return the cheapest route for costs of the turns.

        Parameters
        ----------
        turn_weights
            (m,) cost of each turn and the edge that it enters.
        origin_weight
            Cost of the origin edge.
        origin, destination
            Network rows.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from origin to destination.
        """
        cost, predecessor = self._from(turn_weights, origin_weight, origin)
        if not np.isfinite(cost[destination]):
            raise NoRouteError(
                f"no open way leads from edge row {origin} to edge row {destination}"
            )
        edges = [destination]
        while edges[-1] != origin:
            edges.append(int(predecessor[edges[-1]]))
        return Route(tuple(reversed(edges)))

    def distances(self, weights: FloatArray, origin: int, *, limit: float = np.inf) -> FloatArray:
        """Return the least cost from the origin to the end of every edge, (n,).

        Parameters
        ----------
        weights
            (n,) cost of each edge, +inf where it is closed.
        origin
            Network row; its cost is included.
        limit
            Costs above it may be +inf.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        return self._from(
            self.line_graph.turn_costs(weights), float(weights[origin]), origin, limit
        )[0]

    def rest(self, weights: FloatArray, destination: int, *, limit: float = np.inf) -> FloatArray:
        """Return the least cost from the end of every edge to the end of the destination, (n,).

        It is 0 at the destination.

        Parameters
        ----------
        weights
            (n,) cost of each edge, +inf where it is closed.
        destination
            Network row.
        limit
            Costs above it are +inf.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        # walking a turn backwards costs the edge that it enters when driven
        turn_weights = weights[self._reversed.source]
        _check(turn_weights.min(initial=np.inf))
        cost: FloatArray = dijkstra(
            _filled(self._arcs_back, turn_weights), indices=destination, limit=limit
        )
        return cost

    def trees(self, weights: FloatArray, roots: IntArray, *, forwards: bool) -> IntArray:
        """Return trees of cheapest routes, (r, n): the edge before each edge, negative if none.

        Parameters
        ----------
        weights
            (n,) cost of each edge, +inf where it is closed.
        roots
            (r,) network rows.
        forwards
            True for routes from the roots; False for routes to them, with the edge after each edge.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        arcs = self._arcs if forwards else self._arcs_back
        turn_weights = (
            self.line_graph.turn_costs(weights) if forwards else weights[self._reversed.source]
        )
        _check(turn_weights.min(initial=np.inf))
        parent: IntArray = dijkstra(
            _filled(arcs, turn_weights), indices=roots, return_predecessors=True
        )[1]
        return parent

    def two_sided(self, weights: FloatArray) -> "TwoSided":
        """Return a compiled search from both ends under these weights; needs numba.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        from evroute.planning.two_sided import TwoSided

        _check(weights.min(initial=np.inf))
        return TwoSided(self.line_graph, self._reversed, weights)

    def _from(
        self, turn_weights: FloatArray, origin_weight: float, origin: int, limit: float = np.inf
    ) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        _check(origin_weight)
        _check(turn_weights.min(initial=np.inf))
        arcs = _filled(self._arcs, turn_weights)
        cost, predecessor = dijkstra(arcs, indices=origin, return_predecessors=True, limit=limit)
        cost += origin_weight
        return cost, predecessor


def _structure(line_graph: LineGraph) -> csr_matrix:
    n = line_graph.n_edges
    return csr_matrix(
        (np.ones(len(line_graph.indices)), line_graph.indices, line_graph.indptr), shape=(n, n)
    )


def _filled(arcs: csr_matrix, data: FloatArray) -> csr_matrix:
    """Return the structure with other data: a shallow copy, invisible to other searches."""
    filled = copy(arcs)
    filled.data = data
    return filled


def _check(least: float) -> None:
    if not least >= 0:  # the least of numbers and a NaN is NaN
        raise ValueError(f"search weights must be numbers >= 0; the least is {least}")
