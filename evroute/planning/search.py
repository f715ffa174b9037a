"""The search: one Dijkstra on the line graph, fresh weights on a fixed structure.

The weight of a turn is what it costs to take it and drive the edge it enters; the origin edge's own cost is added at
the start. scipy's Dijkstra walks zeros that are stored in the matrix, which is why the structure is made once and
only its data are replaced; it merely warns of negative weights, which is why they are refused here.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph


class Search:
    """Cheapest routes on one line graph, for weights that change with every call."""

    def __init__(self, line_graph: LineGraph) -> None:
        self.line_graph = line_graph
        n = line_graph.n_edges
        self._arcs = csr_matrix(
            (np.ones(len(line_graph.indices)), line_graph.indices, line_graph.indptr), shape=(n, n)
        )

    def route(self, weights: FloatArray, origin: int, destination: int) -> Route:
        """Return the cheapest route when driving edge e costs ``weights[e]`` (n,), +inf where it is closed.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from origin to destination.
        """
        return self.route_by_turns(self.line_graph.turn_costs(weights), float(weights[origin]), origin, destination)

    def route_by_turns(self, turn_weights: FloatArray, origin_weight: float, origin: int, destination: int) -> Route:
        """Return the cheapest route when turn i and the edge it enters cost ``turn_weights[i]`` (m,).

        Raises as `route` does.
        """
        cost, predecessor = self._from(turn_weights, origin_weight, origin)
        if not np.isfinite(cost[destination]):
            raise NoRouteError(f"no open way leads from edge row {origin} to edge row {destination}")
        edges = [destination]
        while edges[-1] != origin:
            edges.append(int(predecessor[edges[-1]]))
        return Route(tuple(reversed(edges)))

    def distances(self, weights: FloatArray, origin: int) -> FloatArray:
        """Return the (n,) least cost of reaching the end of every edge from ``origin``, its own cost included.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        return self._from(self.line_graph.turn_costs(weights), float(weights[origin]), origin)[0]

    def _from(
        self, turn_weights: FloatArray, origin_weight: float, origin: int
    ) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        least = min(turn_weights.min(initial=np.inf), origin_weight)
        if not least >= 0:
            raise ValueError(f"search weights must be numbers >= 0; the least is {least}")
        self._arcs.data = turn_weights
        cost, predecessor = dijkstra(self._arcs, indices=origin, return_predecessors=True)
        cost += origin_weight
        return cost, predecessor
