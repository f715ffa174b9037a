"""Routes whose probability of ever falling below the reserve is at most a limit.

The risk of a route depends on the joint distribution of its edges, so no prefix dominates another
by mean and variance. Candidates are the routes on convex hulls of the cost and the energy plus
multiples of the deviations of the arms. Then routes are enumerated in the order of their cost, none
cut, until one keeps the risk: it is the best. Where the effort ends first, the best candidate is
returned with its gap to the cheapest route that is not enumerated.
"""

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import NotEnoughChargeError
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.recommendation import NONE_PAYS, Rule, totals
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, recommend
from evroute.planning.searches.label_loops import BEFORE_START, TOLERANCE_S
from evroute.planning.searches.search_problem import SearchProblem, gap_text, rounded_up
from evroute.planning.searches.tradeoff import supported

MULTIPLES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Deviations of every arm that candidates add to its energy."""
EFFORT = 10_000
"""Number of labels after which the enumeration stops."""
MOST_ROUTES = 100
"""Number of enumerated routes whose risk is computed."""
MOST_ADVISED = 8
"""Number of candidates, those of least risk, for which a sufficient charge is computed."""


@dataclass(frozen=True, slots=True)
class RiskSearch:
    """Searches for one request within a limit of risk.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start and reserve.
    most
        Greatest probability of ever falling below the reserve, in (0, 0.5].
    risk_of
        Function that returns the risk of a route with a battery.
    least_of
        Function that returns a lower bound of that risk in less time.
    std_wh
        (a,) deviation of the energy of one passage of each arm, Wh.
    """

    problem: SearchProblem
    battery: Battery
    most: float
    risk_of: Callable[[Route, Battery], float]
    least_of: Callable[[Route, Battery], float]
    std_wh: FloatArray

    def best(
        self, worth: tuple[float, float], cost: FloatArray, limit: float = np.inf
    ) -> tuple[Route, float]:
        """Return the route of least cost of energy and an additive cost, and its gap.

        Parameters
        ----------
        worth
            Cost of one Wh and of one unit of ``cost``, >= 0.
        cost
            (a,) additive cost of each arm: time or length.
        limit
            Greatest sum of ``cost``.

        Returns
        -------
        route, gap
            No route that keeps the risk and the limit costs less than the cost of the route minus
            the gap; 0 where that is exact.

        Raises
        ------
        NotEnoughChargeError
            If no route was found that keeps the risk.
        """
        known = self.candidates(cost)
        best, gap = self.best_of(worth, cost, limit, known)
        if best is None:
            raise self._error(known, "was found that keeps" if gap else "keeps")
        return best, gap

    def best_of(
        self,
        worth: tuple[float, float],
        cost: FloatArray,
        limit: float,
        known: list[Route],
        *,
        most_wh: float = np.inf,
    ) -> tuple[Route | None, float]:
        """Return the result of `best` from known candidates, or None if no route was found.

        Parameters
        ----------
        worth, cost, limit
            As in `best`.
        known
            From `candidates`.
        most_wh
            Greatest energy of the route, Wh.
        """
        legs = self.problem.legs
        per_wh, per_cost = worth

        def price(route: Route) -> float:
            return per_wh * self.problem.taken_wh(route, self.battery) + per_cost * legs.total(
                cost, route
            )

        def cheap(route: Route) -> bool:
            return self.problem.taken_wh(route, self.battery) <= most_wh

        allowed = [each for each in known if legs.total(cost, each) <= limit + TOLERANCE_S]
        allowed = [each for each in allowed if cheap(each)]
        best = next((each for each in sorted(allowed, key=price) if self.keeps(each)), None)
        least = np.inf if best is None else price(best)
        for judged, (bound, route) in enumerate(
            self._in_order(worth, cost, (limit + TOLERANCE_S, least)), start=1
        ):
            if route is not None and cheap(route) and self.keeps(route):
                return route, 0.0
            if route is None or judged == MOST_ROUTES:
                return best, least - bound
        return best, 0.0

    def started(self, percent: float) -> "RiskSearch":
        """Return the searches of the request with another charge at the start, %.

        It is the charge before the warm-up, which leaves at least the reserve.
        """
        battery = self.battery
        left_wh = battery.capacity_wh * percent / 100 - battery.warm_up_wh
        parked_wh = None if battery.parked_wh is None else battery.capacity_wh * percent / 100
        started = replace(battery, start_wh=max(left_wh, battery.reserve_wh), parked_wh=parked_wh)
        return replace(self, battery=started)

    def keeps(self, route: Route) -> bool:
        """Return True if the risk of a route is at most the limit."""
        given = route, self.battery
        return self.least_of(*given) <= self.most and self.risk_of(*given) <= self.most

    def candidates(self, cost: FloatArray) -> list[Route]:
        """Return routes on convex hulls of an additive cost (a,) and raised energies."""
        weights = self.problem.weights()
        found = [supported(self.problem.legs, weights + k * self.std_wh, cost) for k in MULTIPLES]
        return list(dict.fromkeys(route for routes in found for route in routes))

    def _in_order(
        self, worth: tuple[float, float], cost: FloatArray, limits: tuple[float, float]
    ) -> Iterator[tuple[float, Route | None]]:
        """Yield cost and route of all routes without a loop, cheapest first.

        None in place of a route where the effort ended. The limits are those of the additive cost,
        inclusive, and of the worth, exclusive. Routes that miss the reserve by expected energies
        have a risk of a half or more and are left out.
        """
        legs, battery = self.problem.legs, self.battery
        search, graph = legs.search, legs.search.line_graph
        per_wh, per_cost = worth
        last, least = limits
        n, arrival = graph.n_edges, legs.n_states
        indptr, indices = graph.indptr.tolist(), graph.indices.tolist()
        entering, drive = search.entering.tolist(), self.problem.charge.driven(battery)
        rest_wh, rest = (each.tolist() for each in self.problem.label_search.bounds(cost))
        costs = cost.tolist()
        states: list[int] = []
        before: list[int] = []
        queue: list[tuple[float, int, float, float, int]] = []

        def reach(state: int, arm: int, charge_wh: float, clock: float) -> None:
            (left_wh, low_wh), spent = drive(charge_wh, arm), clock + costs[arm]
            place = min(state, arrival)
            total = spent + rest[place]
            key = per_wh * (battery.start_wh - left_wh + rest_wh[place]) + per_cost * total
            enough = min(low_wh, left_wh - rest_wh[place]) >= battery.reserve_wh - TOLERANCE_WH
            if enough and total <= last and key < least - TOLERANCE_WH * max(worth):
                heapq.heappush(queue, (key, state, left_wh, spent, len(states) - 1))

        own = legs.own_turns()
        for state, arm in own[BEFORE_START]:
            reach(state, arm, battery.start_wh, 0.0)
        while queue:
            key, state, left_wh, spent, label = heapq.heappop(queue)
            driven, previous = [state], label
            while label >= 0:
                driven.append(states[label])
                label = before[label]
            if state in driven[1:]:
                continue
            if state >= arrival:
                yield key, legs.driven(tuple(each % n for each in driven[::-1]))
                continue
            if len(states) == EFFORT:
                yield key, None
            states.append(state)
            before.append(previous)
            leg, edge = divmod(state, n)
            for turn in range(indptr[edge], indptr[edge + 1]):
                goes_on = indices[turn] in legs.stops[leg]
                into = n * (leg + goes_on) + indices[turn]
                reach(into, entering[turn], left_wh, spent)
            for into, arm in own.get(state, ()):
                reach(into, arm, left_wh, spent)

    def _error(self, known: list[Route], keeps: str) -> NotEnoughChargeError:
        """Return the error with the least risk found and the least charge that suffices."""
        battery = self.battery
        known = sorted(known, key=lambda route: self.risk_of(route, battery))[:MOST_ADVISED]
        first, cost = ceil(battery.percent(battery.asked_wh) - 1e-9), self.problem.time_s

        least = first + bisect_left(
            range(first, 101),
            True,
            key=lambda percent: any(map(self.started(percent).keeps, known)),
        )
        gap = 0.0
        while least > first:
            found, gap = self.started(least - 1).best_of((1.0, 0.0), cost, np.inf, known)
            if found is None:
                break
            least -= 1
        about = "about " if gap else ""
        advice = f"start with at least {about}{least} %" if least <= 100 else "charge on the way"
        return NotEnoughChargeError(
            f"no route {keeps} {battery.percent(battery.reserve_wh):.4g} % with a risk of at most "
            f"{100 * self.most:.4g} % when starting with {battery.percent(battery.asked_wh):.4g} "
            f"%: the least risk found is {100 * self.risk_of(known[0], battery):.2g} %; {advice}",
            least if least <= 100 else None,
        )


def choose_safe_rows(search: RiskSearch, request: PlanRequest) -> Rows:
    """Return the rows of a plan whose routes keep a limit of risk; alternatives are left out.

    Parameters
    ----------
    search
        The request and its limit of risk.
    request
        The wishes of the plan.

    Raises
    ------
    NotEnoughChargeError
        If no route was found that keeps the risk; the message states a sufficient charge.
    """
    problem, extra = search.problem, request.max_extra_time
    fastest, slow_s = search.best((0.0, 1.0), problem.time_s)
    shortest, long_m = search.best((0.0, 1.0), problem.length_m)
    fastest_s = problem.taken_s(fastest)
    limit_s = np.inf if extra is None else (1 + extra) * fastest_s
    least, gap_wh = search.best((1.0, 0.0), problem.time_s, limit_s)
    proof = _proof(gap_wh) + _caveat("fastest", slow_s, "s", "faster")
    proof += _caveat("shortest", long_m, "m", "shorter")
    routes = {"energy": least, "time": fastest, "distance": shortest}
    rows = Rows(routes, {"energy": proof}, "time")
    usual_s = (1 + request.detour_extra_time) * fastest_s
    if extra is None and problem.taken_s(least) > usual_s:
        rows.routes["energy-limited"], gap_wh = search.best((1.0, 0.0), problem.time_s, usual_s)
        rows.proofs["energy-limited"] = _proof(gap_wh)
    if request.worth is not None:
        rows.recommended = "cost"
        rows.routes["cost"], gap = search.best(request.worth, problem.time_s, limit_s)
        rows.proofs["cost"] = (
            f"within {rounded_up(gap, 1000):.3f} of the least cost with this risk"
            if gap
            else "exact: no route with this risk costs less"
        )
    elif not request.charge:
        recommend(rows, *_safe_detour(search, Rule.of(request), fastest))
    return rows


def _safe_detour(search: RiskSearch, rule: Rule, fastest: Route) -> tuple[Route, str]:
    """Return the recommended route of those that keep the risk, and its certificate."""
    problem, battery = search.problem, search.battery
    first = totals(problem, fastest, battery)
    most = rule.limits(first, problem.positive_wh(fastest))
    known = search.candidates(problem.time_s)
    found, gap_wh = search.best_of(
        (1.0, rule.per_s), problem.time_s, most.time_s, known, most_wh=most.energy_wh
    )
    if found is None or rule.cost(totals(problem, found, battery)) >= rule.cost(first):
        return fastest, NONE_PAYS if found or not gap_wh else "no detour with this risk was found"
    if gap_wh:
        return found, f"within {rounded_up(gap_wh, 10):.1f} Wh of what a detour can pay"
    return (
        found,
        f"exact: no detour with this risk pays more, at {rule.wh_per_minute:g} Wh a minute",
    )


def _caveat(name: str, gap: float, unit: str, more: str) -> str:
    """Return how far a row may be from its optimum; empty if it is exact."""
    if not gap:
        return ""
    return f"; the {name} route with this risk may be {rounded_up(gap, 1):.0f} {unit} {more}"


def _proof(gap_wh: float) -> str:
    if gap_wh:
        return f"{gap_text(gap_wh)} with this risk"
    return "exact: no route with this risk takes less"
