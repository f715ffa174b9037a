"""The search: cheapest routes on the line graph, with new weights on a fixed structure.

A search has weights of arms: the edges themselves, or the turns between them followed by a start on
each edge. A turn has the weight of the arm that it enters. Compiled searches (numba, extra
``fast``) and scipy's Dijkstra return routes of equal cost. Negative weights raise an error.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.ends import Ends

if TYPE_CHECKING:
    from evroute.planning.searches.two_sided import TwoSided

_CHECKED: WeakValueDictionary[int, FloatArray] = WeakValueDictionary()
"""Read-only weights that were checked, by their identity."""
LARGE = 100_000
"""Number of edges from which one plan without compiled code takes longer than loading the code."""


@cache
def numba_installed() -> bool:
    """Return True if numba is installed, so that searches can be compiled."""
    return find_spec("numba") is not None


class Search:
    """Cheapest routes on one line graph, for weights that change with every call. Thread-safe.

    Parameters
    ----------
    line_graph
        The m turns between n edges.
    turns
        Whether the arms are the turns, then a start on each edge, instead of the edges.
    compiled
        Whether searches are compiled where numba is installed. Loading the compiled code takes as
        long as some hundred searches of a city.
    """

    def __init__(
        self, line_graph: LineGraph, *, turns: bool = False, compiled: bool = True
    ) -> None:
        self.line_graph = line_graph
        self.turns = turns
        self.compiled = compiled and numba_installed()

    def without(self, closed: Sequence[int]) -> "Search":
        """Return the search over the same arms in which no turn leads into some edges.

        Parameters
        ----------
        closed
            Network rows. The search itself is returned if there are none.
        """
        if not len(closed):
            return self
        graph, left = self.line_graph, Search(self.line_graph, compiled=self.compiled)
        kept = ~np.isin(graph.indices, closed)
        n_before = np.concatenate([[0], np.cumsum(kept)])
        left.turns, left.starts = self.turns, self.starts
        left.entering = self.entering[kept]
        left.line_graph = LineGraph(
            n_before[graph.indptr].astype(np.int32), graph.indices[kept], graph.source[kept]
        )
        return left

    @cached_property
    def by_turns(self) -> "Search":
        """The search on the same graph whose arms are the turns."""
        return Search(self.line_graph, turns=True, compiled=self.compiled)

    @cached_property
    def entering(self) -> IntArray:
        """(m,) arm of each turn."""
        indices = self.line_graph.indices.astype(np.int64)
        return np.arange(len(indices)) if self.turns else indices

    @cached_property
    def starts(self) -> slice:
        """The arms of starts on each edge among all arms."""
        first = len(self.line_graph.indices) * self.turns
        return slice(first, first + self.line_graph.n_edges)

    def route(self, weights: FloatArray, origin: int, destination: int) -> Route:
        """Return the cheapest route.

        Parameters
        ----------
        weights
            (a,) cost of each arm, +inf where it is closed. Starts may be left out.
        origin, destination
            Network rows.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from origin to destination.
        """
        check_weights(weights)
        edges: list[int] = []
        if self.turns or weights[origin] < np.inf:
            if self.compiled:
                edges = self.two_sided.route(weights, origin, destination).tolist()
            else:
                edges = _climbed(
                    self.trees(weights, np.array([origin]), forwards=True)[0], origin, destination
                )
        if not edges:
            raise NoRouteError(no_way(origin, destination))
        return Route(tuple(edges))

    def routes(self, weights: FloatArray, requests: Iterable[tuple[int, int]]) -> list[IntArray]:
        """Return the edges of the cheapest routes of many requests. None where there is no route.

        Parameters
        ----------
        weights
            (a,) as in `route`.
        requests
            First and last edge of each request.
        """
        check_weights(weights)
        return [self.two_sided.route(weights, *ends) for ends in requests]

    def between(
        self, weights: FloatArray, origins: Ends, destinations: Ends
    ) -> tuple[tuple[int, ...], float]:
        """Return the cheapest route from any of several edges to any of others, and its cost.

        Parameters
        ----------
        weights
            (a,) as in `route`.
        origins, destinations
            First and last edges. Their costs are for driving the first edge, and for what follows
            the end of the last one.

        Returns
        -------
        edges
            Empty if there is no route.
        cost
            Cost of both ends and of the arms between, or infinite if there is no route.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        check_weights(weights)
        if self.compiled:
            found, cost = self.two_sided.between(weights, origins, destinations)
            return tuple(found.tolist()), cost
        total, before = dijkstra(
            self._rooted(weights, 0, origins), indices=-1, return_predecessors=True
        )
        arrived = total[destinations.edge] + destinations.cost
        best = int(np.argmin(arrived))
        if not arrived[best] < np.inf:
            return (), np.inf
        root = self.line_graph.n_edges
        edges = _climbed(before, root, int(destinations.edge[best]))
        return tuple(edges[1:]), float(arrived[best])

    def distances(self, weights: FloatArray, origin: int, *, limit: float = np.inf) -> FloatArray:
        """Return the least cost from the origin to the end of every edge, (n,).

        Parameters
        ----------
        weights
            (n,) cost of each edge, +inf where it is closed.
        origin
            Network row. Its cost is included.
        limit
            Costs above it may be +inf.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        return self._tree(weights, 0, origin, limit, ()) + weights[origin]

    def rest(
        self,
        weights: FloatArray,
        destination: int | Ends,
        *,
        limit: float = np.inf,
        until: Sequence[int] = (),
        beyond: float = 1.0,
    ) -> FloatArray:
        """Return the least cost from the end of every edge to the end of the destination, (n,).

        It is 0 at the destination.

        Parameters
        ----------
        weights
            (a,) cost of each arm, +inf where it is closed.
        destination
            Network row, or several edges, at which it is at most their cost.
        limit
            Costs above it are +inf.
        until
            Edges whose costs suffice. Greater costs may be replaced by the greatest of them. Empty
            for none.
        beyond
            Factor on the cost of the last of these edges up to which costs suffice, 1 or more.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        return self._tree(weights, 1, destination, limit, until, beyond)

    def since(
        self,
        weights: FloatArray,
        origins: Ends,
        *,
        limit: float = np.inf,
        until: Sequence[int] = (),
    ) -> FloatArray:
        """Return the least cost from the ends of some edges to the end of every edge, (n,).

        Parameters
        ----------
        weights
            (a,) cost of each arm, +inf where it is closed.
        origins
            Edges, at which it is at most their cost.
        limit, until
            As in `rest`, and so are errors.
        """
        return self._tree(weights, 0, origins, limit, until)

    def trees(self, weights: FloatArray, roots: IntArray, *, forwards: bool) -> IntArray:
        """Return trees of cheapest routes, (r, n): the edge before each edge, negative if none.

        Parameters
        ----------
        weights
            (a,) cost of each arm, +inf where it is closed.
        roots
            (r,) network rows.
        forwards
            True for routes from the roots. False for routes to them, with the edge after each edge.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        check_weights(weights)
        arcs = self._weighted(weights, 0 if forwards else 1)
        return dijkstra(arcs, indices=roots, return_predecessors=True)[1]

    def tree(self, weights: FloatArray, roots: Ends) -> IntArray:
        """Return the tree of cheapest routes from several edges, (n,).

        Parameters
        ----------
        weights
            (a,) cost of each arm, +inf where it is closed.
        roots
            Edges at which routes may begin, with the costs of driving them.

        Returns
        -------
        before
            The edge before each edge. Negative where routes begin, and where none leads.

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        """
        check_weights(weights)
        rooted = self._rooted(weights, 0, roots)
        before = dijkstra(rooted, indices=-1, return_predecessors=True)[1][:-1]
        return np.where(before == self.line_graph.n_edges, -1, before)

    @property
    def turns_into(self) -> tuple[IntArray, IntArray, IntArray]:
        """The turns into each edge: first of them (n + 1,), edge left (m,) and arm (m,)."""
        arcs, arm = self._sides[1]
        return arcs.indptr, arcs.indices, arm

    def _tree(
        self,
        weights: FloatArray,
        side: int,
        root: int | Ends,
        limit: float,
        until: Sequence[int],
        beyond: float = 1.0,
    ) -> FloatArray:
        check_weights(weights)
        if self.compiled:
            return self.two_sided.tree(weights, side, root, limit, until, beyond)
        if isinstance(root, Ends):
            return dijkstra(self._rooted(weights, side, root), indices=-1, limit=limit)[:-1]
        return dijkstra(self._weighted(weights, side), indices=root, limit=limit)

    def _rooted(self, weights: FloatArray, side: int, roots: Ends) -> csr_matrix:
        """Return the turns of a side, and a last node before the roots."""
        arcs, arm = self._sides[side]
        n, m = self.line_graph.n_edges, len(arm) + len(roots.edge)
        data = np.concatenate([weights[arm], roots.cost])
        indices = np.concatenate([arcs.indices, roots.edge])
        return csr_matrix((data, indices, np.append(arcs.indptr, m)), shape=(n + 1, n + 1))

    def _weighted(self, weights: FloatArray, side: int) -> csr_matrix:
        """Return the turns of a side with their weights: a copy, invisible to other searches."""
        arcs, arm = self._sides[side]
        filled = copy(arcs)
        filled.data = weights[arm]
        return filled

    @cached_property
    def _sides(self) -> tuple[tuple[csr_matrix, IntArray], tuple[csr_matrix, IntArray]]:
        """The turns from each edge and those into it, and the arm of each of these turns."""
        graph = self.line_graph
        turn, shape = np.arange(len(graph.indices)), (graph.n_edges, graph.n_edges)
        forward = csr_matrix((turn, graph.indices, graph.indptr), shape=shape)
        backward = forward.T.tocsr()
        return (forward, self.entering), (backward, self.entering[backward.data])

    @cached_property
    def two_sided(self) -> "TwoSided":
        """The compiled searches."""
        from evroute.planning.searches.two_sided import TwoSided

        (arcs, arm), into = self._sides[0], self.turns_into
        return TwoSided((arcs.indptr, arcs.indices, arm), into)


def no_way(origin: int, destination: int) -> str:
    """Return the message where no way leads from an edge to another one."""
    return f"no open way leads from edge row {origin} to edge row {destination}"


def _climbed(before: IntArray, origin: int, destination: int) -> list[int]:
    """Return the edges from origin to destination in a tree, or empty if it is not reached."""
    edges = [destination]
    while edges[-1] != origin:
        if (edge := int(before[edges[-1]])) < 0:
            return []
        edges.append(edge)
    return edges[::-1]


def check_weights(weights: FloatArray) -> None:
    """Raise ValueError if a weight (a,) is negative or NaN. A read-only array is checked once."""
    if _CHECKED.get(id(weights)) is weights:
        return
    least = weights.min(initial=np.inf)
    if not least >= 0:  # the least of numbers and a NaN is NaN
        raise ValueError(f"search weights must be numbers >= 0. The least is {least}")
    if not weights.flags.writeable:
        _CHECKED[id(weights)] = weights


def shared_search(network: RoadNetwork, *, turns: bool, single: bool = False) -> Search:
    """Return the search that all planners on a network share.

    Parameters
    ----------
    network
        The roads.
    turns
        As in `Search`.
    single
        Whether only one plan is made. Compiled code is then loaded from `LARGE` edges on.
    """
    return _shared(network, turns=turns, compiled=not single or network.n_edges >= LARGE)


@lru_cache(maxsize=4)
def _shared(network: RoadNetwork, *, turns: bool, compiled: bool) -> Search:
    return Search(LineGraph.from_network(network), turns=turns, compiled=compiled)
