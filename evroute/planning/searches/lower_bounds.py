"""Lower bounds from every state of the legs of a request to its destination.

Each leg has a search back from its end, with the costs of the next leg there. It may be cut where
costs exceed a multiple of that from the first edges of the leg.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from evroute.arrays import FloatArray
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.legs import Legs, cheapest_exits, ends_of
from evroute.planning.searches.search import Search, check_weights

LEAST_WH = 1e-9
"""Energies that are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Rests:
    """Bounds of one request that several searches share.

    Parameters
    ----------
    legs
        The legs of the request.
    """

    legs: Legs
    _known: list[tuple[FloatArray, float, FloatArray]] = field(default_factory=list, repr=False)
    _onward_wh: list[FloatArray] = field(default_factory=list, repr=False)

    def of(self, cost: FloatArray, *, beyond: float = 1.0) -> FloatArray:
        """Return `rest` for a cost (a,), an array that does not change. The bounds are kept."""
        for known, multiple, found in self._known:
            if known is cost and multiple == beyond:
                return found
        found = rest(self.legs, cost, beyond=beyond)
        self._known.append((cost, beyond, found))
        return found

    def onward_wh(
        self,
        weights: FloatArray,
        head_wh: FloatArray,
        excess_wh: float,
        charge: ChargeFunctions,
    ) -> FloatArray:
        """Return lower bounds of the energy from each node to any point ahead, (N,) Wh, at most 0.

        They are kept.

        Parameters
        ----------
        weights, head_wh
            (a,) weights of the arms, and the potential after them, Wh.
        excess_wh
            As of `excess_wh`.
        charge
            Charge functions of the arms.
        """
        if not self._onward_wh:
            search, after_wh = self.legs.search, self.legs.after_wh(head_wh)
            lowest_wh = float(after_wh.min())
            roots = Ends(np.arange(len(after_wh)), after_wh - lowest_wh)
            least_wh = search.rest(weights, roots) + (lowest_wh - after_wh)
            least_wh += charge.deepest_wh() - excess_wh
            self._onward_wh.append(np.minimum(least_wh, 0.0))
        return self._onward_wh[0]


def rest(legs: Legs, weights: FloatArray, *, beyond: float = 1.0) -> FloatArray:
    """Return lower bounds of the cost from every state to the destination, and 0 on arrival.

    They are exact within each leg up to a multiple of the cost from its first edges.

    Parameters
    ----------
    legs
        The legs of a request.
    weights
        (a,) cost of each arm.
    beyond
        The multiple, 1 or more. Infinite for costs that are exact everywhere.

    Returns
    -------
    rest
        (l * n + 1,) one per state. The last is arrival.
    """
    begins = [tuple(each.edge for each in legs.starts), *legs.stops]
    trees = [np.zeros(1)]
    if legs.ends_inside:
        trees.append(_to_exits(legs, weights, begins[len(legs.stops) - 1], beyond))
    for leg in reversed(range(len(legs.stops) - legs.ends_inside)):
        edges, until = legs.stops[leg], () if beyond == np.inf else begins[leg]
        after = [float(trees[-1][edge]) if len(trees) > 1 else 0.0 for edge in edges]
        if len(edges) == 1:
            tree = legs.search.rest(weights, edges[0], until=until, beyond=beyond) + after[0]
        else:
            ends = ends_of(zip(edges, after, strict=True))
            tree = legs.search.rest(weights, ends, until=until, beyond=beyond)
        trees.append(tree)
    return np.concatenate(trees[::-1])


def since(
    legs: Legs, weights: FloatArray, edges: Sequence[int], *, limit: float | None = None
) -> FloatArray:
    """Return lower bounds of the cost from the ends of some edges to every state, (s,).

    They are exact up to the end of each leg, or up to a limit.

    Parameters
    ----------
    legs
        The legs of a request.
    weights
        (a,) cost of each arm.
    edges
        Edges on which routes begin.
    limit
        Cost up to which they are exact in place of the end of each leg. None for none.
    """
    roots, trees = [(edge, 0.0) for edge in edges], []
    for stops in legs.stops:
        until = stops or tuple({each.before for each in legs.exits})
        known = [(edge, cost) for edge, cost in roots if cost < np.inf]
        tree = np.full(legs.search.line_graph.n_edges, np.inf)
        if known:
            if limit is None:
                tree = legs.search.since(weights, ends_of(known), until=until)
            else:
                tree = legs.search.since(weights, ends_of(known), limit=limit)
                tree = np.minimum(tree, limit)
        trees.append(tree)
        roots = [(edge, float(tree[edge])) for edge in stops]
    return np.concatenate(trees)


def rest_over(
    legs: Legs,
    weights: FloatArray,
    edges: Sequence[int],
    *,
    beyond: float,
    guide: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return lower bounds as `rest`, and of the cost from every state over one of some edges.

    Parameters
    ----------
    legs, weights
        As in `rest`.
    edges
        Edges of which a route passes the end of at least one, in any leg.
    beyond
        Multiple, 1 or more, of the least cost over one of them, from the first edges of each leg,
        up to which bounds are exact.
    guide
        (s,) lower bounds of the cost from the first edges to every state (`since`), which lead the
        search.

    Returns
    -------
    rest, over
        (l * n + 1,) one per state. The latter is infinite where no route passes one of the edges,
        and on arrival.
    """
    if not len(edges):
        without = rest(legs, weights, beyond=beyond)
        return without, np.full(len(without), np.inf)
    n_edges = legs.search.line_graph.n_edges
    begins = [tuple(each.edge for each in legs.starts), *legs.stops]
    both = [(np.zeros(1), np.full(1, np.inf))]
    for leg in reversed(range(len(legs.stops))):
        if leg + 1 == len(legs.stops) and legs.ends_inside:
            last = cheapest_exits(weights, legs.exits)
            costs = {edge: (float(weights[each.arm]), np.inf) for edge, each in last.items()}
        elif leg + 1 == len(legs.stops):
            costs = dict.fromkeys(legs.stops[leg], (0.0, np.inf))
        else:
            after, over = both[-1]
            costs = {edge: (float(after[edge]), float(over[edge])) for edge in legs.stops[leg]}
        both.append(
            over_edges(
                legs.search,
                weights,
                ends_of((edge, first) for edge, (first, _) in costs.items()),
                (np.array([second for _, second in costs.values()]), edges),
                until=begins[leg],
                beyond=beyond,
                guide=guide[leg * n_edges : (leg + 1) * n_edges],
            )
        )
    least, over = (np.concatenate(each[::-1]) for each in zip(*both, strict=True))
    return least, over


def over_edges(
    search: Search,
    weights: FloatArray,
    destinations: Ends,
    over: tuple[FloatArray, Sequence[int]],
    *,
    until: Sequence[int],
    beyond: float,
    guide: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return costs as `Search.rest`, and likewise over one of some edges, (n,) each.

    Parameters
    ----------
    search
        The search.
    weights
        (a,) cost of each arm, +inf where it is closed.
    destinations
        Several edges, at which the cost is at most theirs.
    over
        (k,) costs at the destinations where one of the edges lies behind them, or +inf, and these
        edges.
    until
        Edges whose costs over one of them suffice.
    beyond
        Factor on the greatest of these up to which costs suffice where a route from those edges
        over another one has this least cost. Greater costs may be replaced by lower ones.
    guide
        (n,) lower bounds of the cost from these edges to each, as `Search.since`.

    Raises
    ------
    ValueError
        If a weight is negative or NaN.
    """
    check_weights(weights)
    if search.compiled:
        return search.two_sided.rest_over(weights, destinations, over, until, beyond, guide)
    rest = search.rest(weights, destinations)
    first = np.full(len(rest), np.inf)
    first[list(over[1])] = rest[list(over[1])]
    first[destinations.edge] = np.minimum(first[destinations.edge], over[0])
    edges = np.flatnonzero(first < np.inf)
    return rest, search.rest(weights, Ends(edges, first[edges])) if len(edges) else first


def climbs_wh(legs: Legs, head_wh: FloatArray) -> FloatArray:
    """Return the rise of the potential from every state to the destination, Wh, 0 on arrival.

    Parameters
    ----------
    legs
        As in `rest`.
    head_wh
        (a,) potential after each arm, Wh.
    """
    after_wh = legs.after_wh(head_wh)
    if legs.ends_inside:
        end_wh = head_wh[legs.exits[0].arm if legs.exits else legs.pieces[0].arm]
    else:
        end_wh = after_wh[legs.stops[-1][0]]
    return np.concatenate([end_wh - after_wh] * len(legs.stops) + [np.zeros(1)])


def excess_wh(legs: Legs, above_wh: FloatArray) -> float:
    """Return by how much sums along a route exceed its energy where none is negative, Wh.

    Parameters
    ----------
    legs
        As in `rest`.
    above_wh
        (a,) energy of each arm above the rise of the potential, Wh. It may be below 0 at halts,
        where cars go on in another direction than they came.
    """
    if legs.halts is None:
        return 0.0
    return len(legs.stops) * float(np.maximum(-above_wh - LEAST_WH, 0.0).sum())


def _to_exits(legs: Legs, weights: FloatArray, until: Sequence[int], beyond: float) -> FloatArray:
    """Return the least cost from the end of every edge by an exit, (n,). Others as `rest`.

    Parameters
    ----------
    legs
        The legs of a request.
    weights, until, beyond
        As in `Search.rest`. ``until`` does not matter if ``beyond`` is infinite.
    """
    last = cheapest_exits(weights, legs.exits)
    if not last:
        return np.full(legs.search.line_graph.n_edges, np.inf)
    roots = ends_of((edge, float(weights[each.arm])) for edge, each in last.items())
    until = () if beyond == np.inf else until
    return legs.search.rest(weights, roots, until=until, beyond=beyond)
