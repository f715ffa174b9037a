"""Recommended routes of a matrix: the fastest of each pair, or the detour that pays.

Trees from each origin decide most pairs: the fastest routes, and routes of least energy and time
together, in the cold by both lines of the warm-up. Where such a route takes longer than the longest
extra time, the pair is planned singly.
"""

from dataclasses import replace

import numpy as np

from evroute.arrays import BoolArray
from evroute.planning.dispatch.exits import (
    ENERGY_WH,
    FASTEST,
    TIME_S,
    Chosen,
    Exits,
    Worth,
)
from evroute.planning.dispatch.stops import Stop
from evroute.planning.places import Places
from evroute.planning.recommendation import Rule, Totals
from evroute.planning.request import PlanRequest
from evroute.planning.rows import choose_rows
from evroute.planning.searches.search_problem import NO_GAP_WH
from evroute.planning.spaces.arm_numbers import DrivenArms


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
        self._worths = [(worth, exits.lines(worth)) for worth in worths]

    def chosen(self, origin: Stop, apart: BoolArray) -> Chosen:
        """Return the recommended routes from an origin.

        Parameters
        ----------
        origin
            The origin.
        apart
            (d,) whether each destination is at another place than the origin.
        """
        quick, relaxed = (self.exits.best(origin, *each) for each in self._worths)
        tree, single = np.zeros(len(apart), dtype=np.int64), dict[int, tuple[DrivenArms, float]]()
        (fastest,), detours = quick.trees, relaxed.values
        less_wh, less_s = (quick.values - detours)[:, [ENERGY_WH, TIME_S]].T
        pays = apart & (less_wh + self.rule.per_s * less_s > NO_GAP_WH)
        for row in np.flatnonzero(pays).tolist():
            energy_wh, time_s, _, taken_wh = fastest.values[row].tolist()
            detour, first = (
                Totals(*detours[row, [ENERGY_WH, TIME_S]].tolist()),
                Totals(energy_wh, time_s),
            )
            if detour.time_s > self.rule.most_s(first):
                tree[row] = -1
                single[row] = self._planned(origin, self.exits.destinations[row])
            elif self.rule.pays(detour, first, taken_wh):
                tree[row] = 1 + relaxed.tree[row]
        return Chosen((fastest, *relaxed.trees), tree, single)

    def _planned(self, origin: Stop, destination: Stop) -> tuple[DrivenArms, float]:
        """Return the recommended route of a pair by its own plan, and its energy, Wh."""
        planner, titles = self.exits.planner, (origin.id, destination.id)
        problem = planner.between(Places(origin.positions, (), destination.positions, titles))
        problem = replace(problem, warm_up=self.exits.warm_up)
        rows = choose_rows(problem, self.request, None)
        driven = planner.numbers.driven(rows.routes[rows.recommended])
        warm_up_wh = self.exits.warm_up.after(driven.time_s.sum())
        return driven, float(driven.energy_wh.sum() + warm_up_wh)
