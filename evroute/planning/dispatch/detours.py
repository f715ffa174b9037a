"""Recommended routes of a matrix: the fastest of each pair, or the detour that pays.

Three trees from each origin decide most pairs: the fastest routes, routes of least energy and time
together, and routes of least energy, without which no detour saves enough. Where the second route
breaks a limit of the recommendation, such as the longest extra time, and the third could still keep
it, the pair is planned singly.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.planning.dispatch.deviations import deviations_wh
from evroute.planning.dispatch.exits import (
    ENERGY_WH,
    FASTEST,
    OF_ROUTE,
    TIME_S,
    Exits,
    Found,
    Worth,
)
from evroute.planning.dispatch.stops import Stop
from evroute.planning.places import Places
from evroute.planning.recommendation import Rule, Totals
from evroute.planning.request import PlanRequest
from evroute.planning.rows import choose_rows
from evroute.planning.searches.search_problem import NO_GAP_WH
from evroute.planning.spaces.arm_numbers import DrivenArms


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Recommended routes from one origin to d destinations.

    Parameters
    ----------
    exits
        The ways into the destinations.
    trees
        The fastest routes, and the routes of least energy and time together.
    tree
        (d,) which of these trees has the route of each. -1 where it is planned singly.
    single
        Routes of pairs that are planned singly, by destination.
    """

    exits: Exits
    trees: tuple[Found, Found]
    tree: IntArray
    single: dict[int, DrivenArms]

    @property
    def values(self) -> FloatArray:
        """(d, 3) energy, time and length. NaN without a route."""
        of_trees = np.stack([each.values[:, :OF_ROUTE] for each in self.trees])
        values = of_trees[self.tree, np.arange(len(self.tree))]
        for row, driven in self.single.items():
            columns = driven.energy_wh, driven.time_s, driven.length_m
            values[row] = [each.sum() for each in columns]
        return values

    def deviations_wh(self, rows: IntArray) -> FloatArray:
        """Return the deviation of the energy of routes to some destinations, (k,) Wh.

        Parameters
        ----------
        rows
            As in `deviations.deviations_wh`.
        """
        found_wh, day = np.empty(len(rows)), self.exits.planner.forecasts.day
        for number, found in enumerate(self.trees):
            own = np.flatnonzero(self.tree[rows] == number)
            found_wh[own] = deviations_wh(self.exits, found, rows[own])
        for place in np.flatnonzero(self.tree[rows] < 0).tolist():
            driven = self.single[int(rows[place])]
            forecast = day.forecast(driven.arms, driven.energy_wh, None, driven.stretches)
            found_wh[place] = forecast.std_wh
        return found_wh


class Detours:
    """Chooses the recommended routes of the pairs of a matrix, as plans without a battery do.

    Parameters
    ----------
    exits
        The ways into the destinations, with energies above zero.
    request
        The wishes of the plans.
    """

    def __init__(self, exits: Exits, request: PlanRequest) -> None:
        self.exits, self.request = exits, request
        self.rule = Rule.of(request)
        worths = FASTEST, Worth(1.0, self.rule.per_s)
        self._trees = [(worth, exits.weights(worth)) for worth in worths]

    def chosen(self, origin: Stop, apart: BoolArray) -> Chosen:
        """Return the recommended routes from an origin.

        Parameters
        ----------
        origin
            The origin.
        apart
            (d,) whether each destination is at another place than the origin.
        """
        fastest, relaxed = (self.exits.found(origin, *each) for each in self._trees)
        tree, single = np.zeros(len(apart), dtype=np.int64), dict[int, DrivenArms]()
        less_wh, less_s = (fastest.values - relaxed.values)[:, [ENERGY_WH, TIME_S]].T
        pays = apart & (less_wh + self.rule.per_s * less_s > NO_GAP_WH)
        for row in np.flatnonzero(pays).tolist():
            energy_wh, time_s, _, taken_wh = fastest.values[row].tolist()
            quick = Totals(energy_wh, time_s)
            detour = Totals(*relaxed.values[row, [ENERGY_WH, TIME_S]].tolist())
            most_wh, most_s = self.rule.limits(quick, taken_wh)
            if self.rule.cost(detour) > most_wh:
                continue  # no route costs less
            if detour.time_s <= most_s:
                tree[row] = 1
            else:
                tree[row] = -1
                single[row] = self._planned(origin, self.exits.destinations[row])
        return Chosen(self.exits, (fastest, relaxed), tree, single)

    def _planned(self, origin: Stop, destination: Stop) -> DrivenArms:
        """Return the recommended route of a pair by its own plan."""
        planner, titles = self.exits.planner, (origin.id, destination.id)
        problem = planner.between(Places(origin.positions, (), destination.positions, titles))
        rows = choose_rows(problem, problem.least(problem.time_s), self.request, None)
        return planner.numbers.driven(rows.routes[rows.recommended])
