"""Legs: the searches of one request, from place to place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.planning.searches.compiled import read_only
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.halts import Halts, PartRows
from evroute.planning.searches.search import Search, no_way
from evroute.planning.searches.settle import BEFORE_START, Settled, Ways


class Start(NamedTuple):
    """A beginning of routes: an edge, the arm of the start on it, and metres along the edge.

    A start that leads to a halt on its edge has the node of the halt in place of the edge.
    """

    edge: int
    arm: int
    from_m: float = 0.0


class Exit(NamedTuple):
    """An end of routes: the edge before, the last one, the arm between, and metres along the last.

    None in place of metres is the end of the edge. An end behind a halt on its edge has the node of
    the halt in place of the edge before.
    """

    before: int
    edge: int
    arm: int
    to_m: float | None = None


class Piece(NamedTuple):
    """A whole route on one edge: the edge, the arm, and the metres at both ends."""

    edge: int
    arm: int
    from_m: float
    to_m: float | None


class Way(NamedTuple):
    """A way from a start to an edge: its cost, its edges, and the metres at both ends."""

    cost: float
    edges: tuple[int, ...]
    from_m: float
    to_m: float | None


@dataclass(frozen=True, slots=True)
class Legs:
    """The legs of one request on one search.

    A state ``k * n + e`` is edge e of n in leg k. Driving over an edge of ``stops[k]`` begins leg
    k + 1. Arrival on edge e is the state ``l * n + e`` after l legs.

    Parameters
    ----------
    search
        Search over a arms.
    starts
        Edges on which routes begin, each once.
    stops
        For each of the l legs the edges that end it, any of them. The last leg has one edge, or
        none where there are exits.
    whole_arms
        Returns the arms of a route over whole edges, (k,).
    exits
        Turns into last edges that end before the end of their edge, or are several.
    pieces
        Routes on one edge.
    halts
        Halts at which routes may stop. Their nodes are behind the edges. None for none.
    beyond
        Nodes to which a car drives on from the destination, and the arms on which it does so. None
        for no metres.
    """

    search: Search
    starts: tuple[Start, ...]
    stops: tuple[tuple[int, ...], ...]
    whole_arms: Callable[[Route], IntArray]
    exits: tuple[Exit, ...] = ()
    pieces: tuple[Piece, ...] = ()
    halts: Halts | None = None
    beyond: tuple[tuple[int, int | None], ...] = ()
    _arms: dict[Route, IntArray] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    @classmethod
    def over(
        cls, search: Search, edges: tuple[int, ...], whole_arms: Callable[[Route], IntArray]
    ) -> "Legs":
        """Return the legs of a request over whole edges.

        Parameters
        ----------
        search
            Search over a arms.
        edges
            Edges to drive over in this order: origin, places on the way, destination.
        whole_arms
            Returns the arms of a route over edges, (k,).
        """
        starts = tuple(Start(edge, search.starts.start + edge) for edge in edges[:1])
        return cls(search, starts, tuple((edge,) for edge in edges[1:]), whole_arms)

    @property
    def whole(self) -> bool:
        """Whether each place is one whole edge."""
        single = len(self.starts) == 1 and all(len(edges) == 1 for edges in self.stops)
        return single and self.starts[0].from_m == 0.0 and not self.pieces

    @property
    def ends_inside(self) -> bool:
        """Whether routes end by exits and pieces."""
        return bool(self.stops) and not self.stops[-1]

    @property
    def n_states(self) -> int:
        """Number of states before arrival. Without a destination the only leg does not end."""
        return max(len(self.stops), 1) * self.search.line_graph.n_edges

    def arms_of_route(self, route: Route) -> IntArray:
        """Return the arms of a route of this request, (k,), in driving order. Looked up once."""
        if route not in self._arms:
            self._arms[route] = self._found_arms(route)
        return self._arms[route]

    def _found_arms(self, route: Route) -> IntArray:
        if self.halts is None:
            return self._arms_of_part(route)
        own, found = self._part_rows(self.halts), []
        for part in route.parts:
            found.append(self.whole_arms(part).copy())
            self.halts.rows.replace_in(found[-1], part)
            own.replace_in(found[-1], part)
        return np.concatenate(found)

    def _part_rows(self, halts: Halts) -> PartRows:
        """Return the arms that only this request has, where routes may stop at halts."""
        starts = {(each.edge, each.from_m): each.arm for each in self.starts}
        ends = {(int(halts.edge[end.before]), end.edge, end.to_m): end.arm for end in self.exits}
        pieces = {(each.edge, each.from_m, each.to_m): each.arm for each in self.pieces}
        for node, arm, from_m in self.starts:
            if node in halts.along_m:
                pieces[int(halts.edge[node]), from_m, halts.along_m[node]] = arm
        for end in self.exits:
            if end.before in halts.departures_m:
                from_m = halts.departures_m[end.before][end.edge]
                pieces[end.edge, from_m, end.to_m] = end.arm
        return PartRows(starts, ends, pieces)

    def _arms_of_part(self, route: Route) -> IntArray:
        """Return the arms of a route without pauses, (k,)."""
        arms = self.whole_arms(route)
        if self.whole:
            return arms
        arms, edges = arms.copy(), route.edges
        for piece in self.pieces:
            if (piece.from_m, piece.edge, piece.to_m) == (route.start_m, *edges, route.end_m):
                arms[0] = piece.arm
                return arms
        for start in self.starts:
            if (start.edge, start.from_m) == (edges[0], route.start_m):
                arms[0] = start.arm
        for each in self.exits:
            if (each.before, each.edge, each.to_m) == (*edges[-2:], route.end_m):
                arms[-1] = each.arm
        return arms

    def driven(self, edges: tuple[int, ...]) -> Route:
        """Return the route of this request over some edges or nodes, from its start to its end."""
        if self.whole:
            return Route(edges)
        for piece in self.pieces:
            if edges == (piece.edge,):
                return Route(edges, piece.from_m, piece.to_m)
        if self.halts is not None:
            start_m = {start.edge: start.from_m for start in self.starts}
            end_m = {end.edge: end.to_m for end in self.exits}
            end_m |= {piece.edge: piece.to_m for piece in self.pieces}
            return self.halts.route(edges, start_m, end_m)
        from_m = next(each.from_m for each in self.starts if each.edge == edges[0])
        ends = (each.to_m for each in self.exits if (each.before, each.edge) == edges[-2:])
        return Route(edges, from_m, next(ends, None))

    def arrived(self, settled: Settled) -> list[Route]:
        """Return the routes of the labels that arrived, in the order in which they did."""
        n_edges, before, routes = self.search.line_graph.n_edges, settled.before, []
        nodes = settled.state % n_edges
        for label in settled.arrived.tolist():
            edges = list[int]()
            while label > 0:
                edges.append(int(nodes[label]))
                label = int(before[label])
            routes.append(self.driven(tuple(edges[::-1])))
        return routes

    def route(self, weights: FloatArray) -> Route:
        """Return the cheapest route over all stops for costs of the arms, (a,).

        Raises
        ------
        ValueError
            If a weight is negative or NaN.
        NoRouteError
            If no way over open edges leads from one stop to the next.
        """
        if not self.whole:
            return self._cheapest(weights)
        edges: tuple[int, ...] = (self.starts[0].edge,)
        for (stop,) in self.stops:
            edges += self.search.route(weights, edges[-1], stop).edges[1:]
        return Route(edges)

    def _cheapest(self, weights: FloatArray) -> Route:
        """Return the cheapest route between positions, or over any of several edges."""
        ways = [Way(float(weights[each.arm]), (each.edge,), *each[2:]) for each in self.pieces]
        reached = [
            Way(float(weights[each.arm]), (each.edge,), each.from_m, None) for each in self.starts
        ]
        for edges in self.stops[: len(self.stops) - self.ends_inside]:
            found = (self._onward(weights, reached, self._exits_of(edge)) for edge in edges)
            reached = [way for way in found if way is not None]
        if self.ends_inside:
            last = self._onward(weights, reached, self.exits)
            reached = [] if last is None else [last]
        best = min((*ways, *reached), key=lambda way: way.cost, default=None)
        if best is None or best.cost == np.inf:
            raise NoRouteError(no_way(self.starts[0].edge, self.destinations[0]))
        return Route(best.edges, best.from_m, best.to_m)

    def _onward(
        self, weights: FloatArray, reached: Sequence[Way], exits: Sequence[Exit]
    ) -> Way | None:
        """Return the cheapest way that goes on from one of some ways over an exit. None if none."""
        so_far = {way.edges[-1]: way for way in reached}
        last = cheapest_exits(weights, exits)
        if not so_far or not last:
            return None
        edges, cost = self.search.between(
            weights,
            ends_of((edge, way.cost) for edge, way in so_far.items()),
            ends_of((edge, float(weights[each.arm])) for edge, each in last.items()),
        )
        if not edges:
            return None
        way, end = so_far[edges[0]], last[edges[-1]]
        return Way(cost, (*way.edges, *edges[1:], end.edge), way.from_m, end.to_m)

    def _exits_of(self, edge: int) -> list[Exit]:
        """Return the turns into an edge that is driven whole."""
        first, before, arm = self.search.turns_into
        turns = slice(first[edge], first[edge + 1])
        pairs = zip(before[turns].tolist(), arm[turns].tolist(), strict=True)
        return [Exit(left, edge, entering) for left, entering in pairs]

    @property
    def destinations(self) -> tuple[int, ...]:
        """The last edges of routes."""
        ends = [each.edge for each in self.exits] + [each.edge for each in self.pieces]
        return (*ends, *self.stops[-1])

    def total(self, values: FloatArray, route: Route) -> float:
        """Return the sum of values (a,) over the arms of a route."""
        return float(values[self.arms_of_route(route)].sum())

    def after_wh(self, head_wh: FloatArray) -> FloatArray:
        """Return the potential at each node of the search, (N,) Wh.

        Parameters
        ----------
        head_wh
            (a,) potential after each arm, Wh.
        """
        roads_wh = head_wh[self.search.starts]
        return roads_wh if self.halts is None else np.append(roads_wh, self.halts.after_wh)

    def own_turns(self) -> dict[int, list[tuple[int, int]]]:
        """Return by state the states and arms after it, by turns that only this request has."""
        turns: dict[int, list[tuple[int, int]]] = {}
        for before, into, arm in self._own():
            turns.setdefault(before, []).append((into, arm))
        return turns

    def _own(self) -> list[tuple[int, int, int]]:
        """Return states before and after, and arms, of the turns that only this request has."""
        n_states = self.n_states
        last = n_states - self.search.line_graph.n_edges
        return [
            *((BEFORE_START, each.edge, each.arm) for each in self.starts),
            *((BEFORE_START, n_states + each.edge, each.arm) for each in self.pieces),
            *((last + each.before, n_states + each.edge, each.arm) for each in self.exits),
        ]

    def ways(self) -> Ways:
        """Return the turns and the legs for the loops of label searches."""
        graph, n_edges = self.search.line_graph, self.search.line_graph.n_edges
        n_states = self.n_states
        ends = np.zeros(n_states, dtype=np.int8)
        for leg, edges in enumerate(self.stops):
            ends[[leg * n_edges + edge for edge in edges]] = 1
        before, into, arm = np.array(self._own(), dtype=np.int64).T
        return Ways(
            read_only(graph.indptr),
            read_only(graph.indices),
            read_only(self.search.entering),
            read_only(ends),
            read_only(before),
            read_only(into),
            read_only(arm),
            n_edges,
            n_states,
            n_edges if self.halts is None else self.halts.first,
        )


def cheapest_exits(weights: FloatArray, exits: Sequence[Exit]) -> dict[int, Exit]:
    """Return the cheapest exit after each edge."""
    cheapest: dict[int, Exit] = {}
    for each in exits:
        known = cheapest.get(each.before)
        if known is None or weights[each.arm] < weights[known.arm]:
            cheapest[each.before] = each
    return cheapest


def ends_of(costs: Iterable[tuple[int, float]]) -> Ends:
    """Return edges with their costs as the ends of a search."""
    edges, cost = zip(*costs, strict=True)
    return Ends(np.array(edges, dtype=np.int64), np.array(cost, dtype=np.float64))
