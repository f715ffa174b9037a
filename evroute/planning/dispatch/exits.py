"""Best routes of a matrix: from an origin to all destinations, by one tree.

Sums along the routes of a tree are added level by level, from the root on. A pair of places is
driven in the directions of the best route, as by a plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.heating import NO_WARM_UP
from evroute.network.crossings import beyond_mean_m
from evroute.network.places.positions import Position
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.dispatch.stops import Stop
from evroute.planning.planner import Planner
from evroute.planning.searches.between import OwnArms
from evroute.planning.searches.ends import Ends
from evroute.planning.searches.search_problem import TIE_PER_WH
from evroute.planning.spaces.arm_numbers import DrivenArms
from evroute.planning.spaces.arm_space import SearchSpace

ENERGY_WH, TIME_S, LENGTH_M, POSITIVE_WH = range(4)
"""Columns of the values of routes. The last is the sum of the energies above zero."""
OF_ROUTE = 3
"""Number of these columns that all values have."""


class Worth(NamedTuple):
    """Cost of one Wh and of one second. The routes of a tree have the least sum."""

    per_wh: float
    per_s: float


LEAST_ENERGY, FASTEST = Worth(1.0, 0.0), Worth(TIE_PER_WH, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Best routes from one origin to d destinations.

    Parameters
    ----------
    origin
        The origin.
    values
        (d, v) numbers by the columns of `Exits.values`. NaN without a route.
    way
        (d,) position of the end of each among the exits, and behind them the pieces. -1 without.
    before
        (n,) edge before each edge of the tree, negative where routes begin and outside.
    pieces
        The pieces from the origin along one edge, or None for none.
    """

    origin: Stop
    values: FloatArray
    way: IntArray
    before: IntArray
    pieces: DrivenArms | None


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The chosen routes from one origin to d destinations.

    Parameters
    ----------
    trees
        Trees of routes.
    tree
        (d,) which of them has the route of each. -1 where it is planned singly.
    single
        Routes of pairs that are planned singly, by destination, and their energies, Wh.
    """

    trees: tuple[Found, ...]
    tree: IntArray
    single: dict[int, tuple[DrivenArms, float]] = field(default_factory=dict)

    @property
    def values(self) -> FloatArray:
        """(d, 3) energy, time and length. NaN without a route."""
        of_trees = np.stack([each.values[:, :OF_ROUTE] for each in self.trees])
        values: FloatArray = of_trees[self.tree, np.arange(len(self.tree))]
        for row, (driven, energy_wh) in self.single.items():
            values[row] = energy_wh, driven.time_s.sum(), driven.length_m.sum()
        return values


class Exits:
    """The ways into the d destinations of a matrix, for any origins.

    Parameters
    ----------
    planner
        Planner of all pairs.
    destinations
        The d destinations.
    positive
        Whether the values of routes have the column `POSITIVE_WH`.
    warm
        Whether routes begin warm, so that none has a warm-up.

    Attributes
    ----------
    before, place
        (e,) edge before the last one of each exit, and position of its arm among the last arms.
    last
        The last arms of routes, or None for none.
    """

    def __init__(
        self,
        planner: Planner,
        destinations: Sequence[Stop],
        *,
        positive: bool = False,
        warm: bool = False,
    ) -> None:
        self.planner, self.destinations = planner, destinations
        self.warm_up = NO_WARM_UP if warm else planner.heating.warm_up
        self._positive = positive
        problem = planner.problem(())
        columns = [problem.energy_wh, problem.time_s, problem.length_m]
        if positive:
            columns.append(_positive_wh(problem.charge))
        self._values = np.column_stack(columns)
        self._weights_wh, self._seconds = problem.weights(), problem.time_s
        own, of_stop = OwnArms(planner.numbers, planner.search), list[int]()
        for number, stop in enumerate(destinations):
            known = len(own.exits)
            own.add_ends((), stop.positions)
            of_stop += [number] * (len(own.exits) - known)
        self.before = np.array([each.before for each in own.exits], dtype=np.int64)
        self.place = np.array([own.place(each.arm) for each in own.exits], dtype=np.int64)
        self.last = _driven(own)
        # arms of turns have the lengths of their turns
        self._by_edges = planner.space is planner.space.edges
        self._of_stop = np.array(of_stop, dtype=np.int64)
        self._last_values = self._of(self.last)[self.place]
        if self.last is not None:
            self._last_values = self._turned(
                self._last_values, self.before, self.last.stretches.edge[self.place]
            )
        self._on_edge: dict[int, list[tuple[int, Position]]] = {}
        for number, stop in enumerate(destinations):
            for each in stop.positions:
                self._on_edge.setdefault(each.edge, []).append((number, each))

    def weights(self, worth: Worth) -> FloatArray:
        """Return the costs of all arms for searches, (a,)."""
        if not worth.per_s:
            return self._weights_wh
        return worth.per_s * self._seconds + worth.per_wh * self._weights_wh

    def lines(self, worth: Worth) -> list[tuple[Worth, FloatArray]]:
        """Return the worth along each line of the warm-up, and its costs of all arms, (a,).

        Parameters
        ----------
        worth
            Cost of energy with its warm-up, and of time.
        """
        lines = self.warm_up.lines if worth.per_wh >= LEAST_ENERGY.per_wh else ((0.0, 0.0),)
        along = [Worth(worth.per_wh, worth.per_s + worth.per_wh * per_s) for per_s, _ in lines]
        return [(each, self.weights(each)) for each in along]

    def best(self, origin: Stop, worth: Worth, lines: Sequence[tuple[Worth, FloatArray]]) -> Chosen:
        """Return the routes of least worth from an origin, the best of those along the lines.

        Parameters
        ----------
        origin
            The origin.
        worth, lines
            Cost of energy and time, and its `lines`.
        """
        trees = tuple(self.found(origin, *line) for line in lines)
        cost = np.stack(
            [
                worth.per_s * each.values[:, TIME_S] + worth.per_wh * each.values[:, ENERGY_WH]
                for each in trees
            ]
        )
        tree = np.zeros(cost.shape[1], dtype=np.int64)
        if len(trees) > 1:
            tree = np.nan_to_num(cost, nan=np.inf).argmin(axis=0)
        return Chosen(trees, tree)

    def found(self, origin: Stop, worth: Worth, weights: FloatArray) -> Found:
        """Return the best routes from an origin, their energies with the warm-up.

        Parameters
        ----------
        origin
            The origin.
        worth
            Cost of energy and time.
        weights
            (a,) costs of the arms by it, from `weights`.
        """
        planner, own = self.planner, OwnArms(self.planner.numbers, self.planner.search)
        own.add_starts(origin.positions)
        begun = self._of(own.driven())
        roots = np.array([each.edge for each in origin.positions])
        tree = planner.search.tree(weights, Ends(roots, self._begun(roots, begun, worth)))
        reached = np.flatnonzero(tree >= 0)
        reached = reached[np.argsort(tree[reached], kind="stable")]  # turns are looked up in order
        of_edges = np.full((len(tree), begun.shape[1]), np.nan)
        of_arms = self._values[entered(planner.space, tree, reached)]
        of_edges[reached] = self._turned(of_arms, tree[reached], reached)
        begins = tree[roots] < 0
        of_edges[roots[begins]] = self._turned(begun, np.full(len(roots), -1), roots)[begins]
        sums = _summed(of_edges, tree)
        pieces, of_pieces = self._pieces(origin)
        alone = self._of(pieces)
        if pieces is not None:
            alone = self._turned(alone, np.full(len(alone), -1), pieces.stretches.edge)
        values = np.concatenate([sums[self.before] + self._last_values, alone])
        stop = np.concatenate([self._of_stop, of_pieces])
        cost = worth.per_s * values[:, TIME_S] + worth.per_wh * values[:, ENERGY_WH]
        order = np.lexsort((cost, stop))
        order = order[np.isfinite(values[order, ENERGY_WH])]
        reached, first_of = np.unique(stop[order], return_index=True)
        best = np.full((len(self.destinations), values.shape[1]), np.nan)
        way = np.full(len(self.destinations), -1)
        best[reached], way[reached] = values[order[first_of]], order[first_of]
        best[:, ENERGY_WH] += self.warm_up.after(best[:, TIME_S])
        return Found(origin, best, way, tree, pieces)

    def _begun(self, roots: IntArray, begun: FloatArray, worth: Worth) -> FloatArray:
        """Return the costs of driving the first edges, (r,), not negative.

        Parameters
        ----------
        roots
            (r,) first edges.
        begun
            (r, v) values of the parts of them that are driven.
        worth
            Cost of energy and time.
        """
        start = self.planner.search.starts.start + roots
        states = self.planner.numbers.states
        above_wh = begun[:, ENERGY_WH] - states.state_wh[states.head[start]]
        above_wh -= above_wh.min()
        return worth.per_s * begun[:, TIME_S] + worth.per_wh * above_wh

    def _pieces(self, origin: Stop) -> tuple[DrivenArms | None, IntArray]:
        """Return the trips along one edge, and their destinations, (p,)."""
        own, stops = OwnArms(self.planner.numbers, self.planner.search), list[int]()
        for start in origin.positions:
            for number, end in self._on_edge.get(start.edge, ()):
                known = len(own.pieces)
                own.add_pieces([start], [end])
                stops += [number] * (len(own.pieces) - known)
        return _driven(own), np.array(stops, dtype=np.int64)

    def _turned(self, values: FloatArray, left: IntArray, entered: IntArray) -> FloatArray:
        """Return values of arms with the lengths of the turns into them, (k, v).

        Parameters
        ----------
        values
            (k, v) values of arms.
        left, entered
            (k,) edges before the arms, negative where routes begin, and edges of the arms.
        """
        if self._by_edges:
            values = values.copy()
            values[:, LENGTH_M] += beyond_mean_m(self.planner.network, left, entered)
        return values

    def _of(self, driven: DrivenArms | None) -> FloatArray:
        """Return the values of arms of requests, (c, v)."""
        if driven is None:
            return np.empty((0, self._values.shape[1]))
        columns = [driven.energy_wh, driven.time_s, driven.length_m]
        if self._positive:
            columns.append(_positive_wh(driven.charge))
        return np.column_stack(columns)


def _driven(own: OwnArms) -> DrivenArms | None:
    """Return the arms of requests by the parts of their edges, or None for none."""
    return own.driven() if own.arms else None


def _positive_wh(charge: ChargeFunctions) -> FloatArray:
    """Return the sum of the energies above zero of each arm, (a,) Wh."""
    return np.add.reduceat(np.maximum(charge.step_wh, 0.0), charge.start[:-1])


def entered(space: SearchSpace, before: IntArray, edges: IntArray) -> IntArray:
    """Return the arms by which routes of a tree enter edges, (k,).

    Parameters
    ----------
    space
        The arms.
    before
        (n,) edge before each edge of the tree.
    edges
        (k,) edges that are no beginnings.
    """
    pairs = np.column_stack([before[edges], edges]).ravel()
    return space.arms_of_routes(pairs, np.arange(0, len(pairs), 2))[1::2]


def _summed(values: FloatArray, before: IntArray) -> FloatArray:
    """Return sums from the roots of a tree to every edge, (n, v).

    Parameters
    ----------
    values
        (n, v) values of the edges of the tree. NaN outside.
    before
        (n,) edge before each edge, negative at the roots and outside.
    """
    # in driving order, as the plan of one request adds
    depth = depths(before)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 2))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    by_level, above = values[order], place[before[order]]
    for low, high in pairwise(first.tolist()):
        by_level[low:high] += by_level[above[low:high]]
    sums = np.empty_like(values)
    sums[order] = by_level
    return sums


def depths(before: IntArray) -> IntArray:
    """Return the number of edges between each edge of a tree and its root, (n,)."""
    n = len(before)
    above = np.append(np.where(before < 0, n, before), n)
    depth = (above < n).astype(np.int64)
    while (above < n).any():
        depth += depth[above]
        above = above[above]
    return depth[:n]
