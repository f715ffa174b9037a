"""Label searches with two costs: the energy from a battery, and an additive one (time, length).

Arms change the charge by their charge functions (`charge_functions`), terrain inside included.
Labels of (charge, cost) per state of the legs, pruned by lower bounds from searches from the
destination, which hold with a battery, too, since a bounded battery only adds cost. More charge is
never worse later, and with the potential p of the states the energy E actually taken from a charge
x keeps ``max(E, x - capacity) - p >= E - p >= 0``: labels in the order of the least energy to the
destination (A*) are final. Eisner, Funke & Storandt (2011), *Optimal route planning for electric
vehicles in large networks*, solve the same problem with profiles of the start charge.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.search import Search

GREATEST_EFFORT = 200_000
"""Number of labels after which a search with two costs stops."""
TOLERANCE_S = 1e-9
_UNBOUNDED = Battery(np.inf, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class LabelSearch:
    """Exact searches for one request with a battery, an additive cost, or both.

    Parameters
    ----------
    legs
        The legs of the request.
    tail_wh, head_wh
        (a,) potential before and after each arm, Wh; no arm takes less energy than its rise.
    charge
        Charge functions of the arms.
    """

    legs: Legs
    tail_wh: FloatArray
    head_wh: FloatArray
    charge: ChargeFunctions

    def cheapest(
        self,
        battery: Battery | None,
        time_s: FloatArray,
        limit_s: float = np.inf,
        *,
        worth: tuple[float, float] = (1.0, 0.0),
        better_than: float = np.inf,
        effort: int = GREATEST_EFFORT,
    ) -> tuple[Route | None, bool]:
        """Return the route of least cost of energy and time within a time limit.

        Parameters
        ----------
        battery
            Bounds of the charge; None for an unbounded battery.
        time_s
            (a,) travel time of each arm, or another additive cost.
        limit_s
            Longest travel time, s.
        worth
            Cost of one Wh and of one second, >= 0, one of them > 0.
        better_than
            Cost of a known route; only better ones are returned.
        effort
            Number of labels after which the search stops.

        Returns
        -------
        route
            The best route found; None if none is better than the known one.
        complete
            True if no better one exists; False if the search stopped before that was proven.
        """
        return self._settled(
            battery,
            time_s,
            (limit_s + TOLERANCE_S, better_than - TOLERANCE_WH * worth[0]),
            worth,
            effort,
        )

    def most_charge(self, battery: Battery) -> Route | None:
        """Return the route that arrives with the most charge and keeps the reserve, or None."""
        return self._settled(battery, None, (np.inf, np.inf), (1.0, 0.0), 2**62)[0]

    def bounds(
        self, cost: FloatArray | None, *, whole: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds of energy, Wh, and cost (a,) from each state; ``whole`` of `rest`."""
        stops = self.legs.stops
        after_wh = self.head_wh[self.legs.search.starts]
        climb_wh = np.tile(after_wh[stops[-1]] - after_wh, len(stops) - 1)
        rest_wh = (
            self.legs.rest(
                np.maximum(self.charge.energy_wh - (self.head_wh - self.tail_wh), 0.0), whole=whole
            )
            + climb_wh
        )
        if cost is None:
            return rest_wh, np.zeros(len(rest_wh))
        return rest_wh, self.legs.rest(cost, whole=whole)

    def _settled(
        self,
        battery: Battery | None,
        cost: FloatArray | None,
        limits: tuple[float, float],
        worth: tuple[float, float],
        effort: int,
    ) -> tuple[Route | None, bool]:
        search, stops, charge = self.legs.search, self.legs.stops, self.charge
        graph, start = search.line_graph, search.starts.start + stops[0]
        rest_wh, rest = self.bounds(cost)
        effort = effort if cost is None else min(effort, GREATEST_EFFORT)
        cost = np.zeros(len(charge.energy_wh)) if cost is None else cost
        bounded = battery or _UNBOUNDED
        charges = (
            bounded.start_wh,
            bounded.capacity_wh,
            bounded.lossless_wh,
            bounded.reserve_wh if battery else -np.inf,
            bounded.fade / (10.0 * bounded.capacity_wh / 100.0),
        )
        arrays: list[Any] = [
            *(graph.indptr, graph.indices, search.entering, np.array(stops[1:])),
            *(charge.start, charge.step_wh, cost, rest_wh, rest, np.full(len(rest), np.inf)),
        ]
        settle, ready = compiled(search, _settle, arrays)
        states, complete = settle(*ready, stops[0], start, charges, limits, worth, effort)
        edges = tuple(state % graph.n_edges for state in states[::-1])
        return Route(edges) if edges else None, complete


def compiled(
    search: Search, function: Callable[..., Any], arrays: Sequence[Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function and its arrays, compiled and writeable, or plain and as lists.

    Parameters
    ----------
    search
        Search that states which.
    function, arrays
        Plain Python that numba can compile, and arrays for it.
    """
    if search.compiled:
        return _compiled(function), [np.require(array, requirements=["C", "W"]) for array in arrays]
    return function, [array.tolist() for array in arrays]


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from numba import njit

    return njit(cache=True, nogil=True)(function)


def _settle(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    entering,
    stops,
    steps,
    step_wh,
    cost,
    rest_wh,
    rest,
    best,
    origin,
    start,
    charges,
    limits,
    worth,
    effort,
):
    """Settle labels in the order of one cost; a later label of a state must be better in the other.

    The order is that of the energy unless it costs nothing. Plain Python that numba compiles. The
    limits are those of the additive cost, inclusive, and of the worth, exclusive, which each found
    route lowers. Return the states of the best route backwards, and whether it is proven.
    """
    first_wh, capacity_wh, lossless_wh, reserve_wh, fade = charges
    last, least = limits
    per_wh, per_cost = worth
    n, legs = len(indptr) - 1, len(stops)
    final = n * (legs - 1) + stops[legs - 1]
    states, parents = [-1], [-1]  # of each label; label 0 is before the start
    queue = [(0.0, 0.0, 0.0, 0.0, 0, 0)]
    queue.pop()
    label, found, proven, leg, edge = 0, 0, False, 0, 0
    charge_wh, clock = first_wh, 0.0
    while True:
        low, high, following, arm = 0, 1, origin, start
        if label > 0:
            low, high = indptr[edge], indptr[edge + 1]
        for turn in range(low, high):
            if label > 0:
                following, arm = indices[turn], entering[turn]
            left_wh, low_wh = charge_wh, math.inf
            for step in range(steps[arm], steps[arm + 1]):
                before_wh, left_wh = left_wh, left_wh - step_wh[step]
                if left_wh > lossless_wh:
                    if fade > 0.0 and left_wh > before_wh:
                        full_wh = max(before_wh, lossless_wh)
                        taken = max(1.0 - fade * (full_wh - lossless_wh), 0.0)
                        left_wh = full_wh - taken / fade * math.expm1(-fade * (left_wh - full_wh))
                    left_wh = min(left_wh, capacity_wh)
                low_wh = min(low_wh, left_wh)
            into = leg + 1 if leg < legs - 1 and following == stops[leg] else leg
            state, spent = n * into + following, clock + cost[arm]
            total_wh, total = first_wh - left_wh + rest_wh[state], spent + rest[state]
            # enough on the arm, and enough on arrival even if nothing were lost on the way
            enough = min(low_wh, left_wh - rest_wh[state]) >= reserve_wh - TOLERANCE_WH
            if enough and total <= last and per_wh * total_wh + per_cost * total < least:
                if per_wh > 0.0:
                    heapq.heappush(queue, (total_wh, spent, left_wh, spent, state, label))
                else:
                    heapq.heappush(queue, (total, -left_wh, left_wh, spent, state, label))
        settled = False
        while not settled and len(queue) > 0 and len(states) <= effort:
            _, other, charge_wh, clock, state, previous = heapq.heappop(queue)
            if other < best[state]:
                best[state] = other
                states.append(state)
                parents.append(previous)
                label, leg = len(states) - 1, state // n
                edge = state - n * leg
                settled = state != final
                if not settled:
                    total = per_wh * (first_wh - charge_wh) + per_cost * clock
                    if total < least:
                        found, least = label, total
                    proven = not (per_wh > 0.0 and per_cost > 0.0)
                    if proven:
                        break
        if not settled:
            break
    path = [0]
    path.pop()
    while found > 0:
        path.append(states[found])
        found = parents[found]
    return path, proven or len(queue) == 0
