"""Routes whose probability of ever falling below the reserve is at most a limit.

The risk of a route depends on the joint distribution of its edges, so no prefix dominates another
by mean and variance. The cheapest of all routes is the best if it keeps the risk. If not, routes
are enumerated in the order of their cost, none cut, until one keeps the risk: it is the best. Where
the effort ends first, candidates are the routes on convex hulls of the cost and the energy plus
multiples of the deviations of the arms. The best candidate is returned with its gap to the cheapest
route that is not enumerated.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import NotEnoughChargeError
from evroute.planning.battery import TOLERANCE_WH, Battery, whole_percent
from evroute.planning.charge.risk_bounds import RiskBounds
from evroute.planning.charge.shortage import STEP_WH, grown, least_growth_wh
from evroute.planning.recommendation import NONE_PAYS, Rule, totals
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, add_alternatives, recommend
from evroute.planning.searches.search_problem import SearchProblem, gap_text, rounded_up
from evroute.planning.searches.settle import TOLERANCE_S

EFFORT = 10_000
"""Number of labels after which the enumeration stops."""
NUMBERS = (4, 100)
"""Numbers of enumerated routes whose risk is computed. The enumeration begins anew for each."""
MUCH, LONG_M = 1.5, 5000.0
"""Advised charge over that by expected energies from which the doubt is named, and length, m."""


@dataclass(frozen=True, slots=True)
class RiskWords:
    """Words on a risk.

    Parameters
    ----------
    cases
        Of which a share keeps the reserve.
    doubt
        Sentence on the causes of the doubt, and the trips that halve it. "" for none.
    """

    cases: str
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class RiskSearch:
    """Searches for one request within a limit of risk.

    Parameters
    ----------
    bounds
        The request, its numbers and its bounds.
    battery
        Charge at the start and reserve.
    most
        Greatest probability of ever falling below the reserve, in (0, 0.5].
    risk_of
        Function that returns the risk of a route with a battery.
    least_of
        Function that returns lower bounds of the risks of routes in less time.
    words_of
        Function that returns the words on the risk of a route.
    """

    bounds: RiskBounds
    battery: Battery
    most: float
    risk_of: Callable[[Route, Battery], float]
    least_of: Callable[[Sequence[Route], Battery], Sequence[float]]
    words_of: Callable[[Route, Battery], RiskWords] = lambda _route, _battery: RiskWords("trips")

    @property
    def problem(self) -> SearchProblem:
        """The request and its numbers."""
        return self.bounds.problem

    def fastest(self) -> tuple[Route | None, float]:
        """Return the fastest route and by how much another one may be faster, s, or None.

        Where the search by time ends early, the route is that of a search by energy, which finds
        routes that keep a small risk before.
        """
        time_s = self.problem.time_s
        found, gap_s = self.best_of((0.0, 1.0), time_s)
        if found is None and gap_s:
            found = self.best_of((1.0, 0.0), time_s)[0]
            gap_s = np.inf if found is None else self._above(found, (0.0, 1.0), time_s)
        return found, gap_s

    def best_or(
        self, known: Route, worth: tuple[float, float], cost: FloatArray, limit: float = np.inf
    ) -> tuple[Route, float]:
        """Return the result of `best_of`, or a known route that keeps the risk if none was found.

        Parameters
        ----------
        known
            The route.
        worth, cost, limit
            As in `best_of`.
        """
        best, gap = self.best_of(worth, cost, limit)
        return (known, self._above(known, worth, cost)) if best is None else (best, gap)

    def _above(self, route: Route, worth: tuple[float, float], cost: FloatArray) -> float:
        """Return by how much a route costs more than the cheapest one without limits."""
        bound = self.bounds.cheapest(worth, cost)
        return self._price(route, worth, cost) - self._price(bound, worth, cost)

    def best_of(
        self, worth: tuple[float, float], cost: FloatArray, limit: float = np.inf
    ) -> tuple[Route | None, float]:
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
            the gap, or 0 where that is exact. None if no route was found.
        """
        bounds, battery = self.bounds, self.battery
        problem = bounds.problem

        def first_that_suits(routes: Iterable[Route]) -> Route | None:
            if limit < np.inf:
                most = limit + TOLERANCE_S
                routes = (each for each in routes if problem.legs.total(cost, each) <= most)
            return self.first_kept(routes)

        cheapest = bounds.cheapest(worth, cost)
        lossless = not worth[0] or not bounds.loses(battery, cheapest)
        if lossless and first_that_suits([cheapest]) is not None:
            return cheapest, 0.0
        given = battery, worth, cost, limit
        judged, bound = 0, 0.0
        for number in NUMBERS:
            routes, bound = bounds.in_order(*given, (EFFORT, number))
            best = first_that_suits(routes[judged:])
            if best is not None or bound == np.inf:
                return best, 0.0
            judged = len(routes)
        return self._best_candidate(worth, cost, first_that_suits, bound)

    def _best_candidate(
        self,
        worth: tuple[float, float],
        cost: FloatArray,
        first_that_suits: Callable[[Iterable[Route]], Route | None],
        bound: float,
    ) -> tuple[Route | None, float]:
        """Return the cheapest candidate that suits, and how far it is above a bound."""
        candidates = self.bounds.candidates(cost)
        prices = {each: self._price(each, worth, cost) for each in candidates}
        best = first_that_suits(sorted(candidates, key=prices.__getitem__))
        if best is None:
            return None, np.inf
        gap = prices[best] - bound
        return best, gap if gap > TOLERANCE_WH * max(worth) else 0.0

    def _price(self, route: Route, worth: tuple[float, float], cost: FloatArray) -> float:
        taken_wh = self.problem.taken_wh(route, self.battery) if worth[0] else 0.0
        return worth[0] * taken_wh + worth[1] * self.problem.legs.total(cost, route)

    def started(self, percent: float) -> "RiskSearch":
        """Return the searches of the request with another charge at the start, %."""
        return replace(self, battery=self.battery.started(percent))

    def first_kept(self, routes: Iterable[Route]) -> Route | None:
        """Return the first of some routes whose risk is at most the limit, or None."""
        every = list(routes)
        bounded = zip(every, self.least_of(every, self.battery), strict=True)
        promising = (route for route, least in bounded if least <= self.most)
        kept = (route for route in promising if self.risk_of(route, self.battery) <= self.most)
        return next(kept, None)

    def keeps(self, route: Route) -> bool:
        """Return True if the risk of a route is at most the limit."""
        return self.first_kept([route]) is not None

    def refusal(self, keeps: str = "keeps", missing_wh: float = 0.0) -> NotEnoughChargeError:
        """Return the error with the least risk of the routes looked at, and a charge that suffices.

        These are the route of least energy and the fastest one.

        Parameters
        ----------
        keeps
            Verb of the message.
        missing_wh
            Energy by which a full battery is too small by expected energies, Wh.
        """
        battery, problem = self.battery, self.problem
        known = sorted(self.bounds.ends(), key=lambda route: self.risk_of(route, battery))
        words = self.words_of(known[0], battery)
        first = ceil(battery.percent(battery.start_wh) - 1e-9)

        least = first + bisect_left(
            range(first, 101),
            True,
            key=lambda percent: self.started(percent).first_kept(known) is not None,
        )
        while least > first and self.started(least - 1).fastest()[0] is not None:
            least -= 1
        average = None
        advice = "Charge on the way"
        if least > 100 and np.isfinite(missing_wh := self._missing_wh(missing_wh)):
            advice = (
                f"A full battery needs {missing_wh / 1000:.2f} kWh more than its "
                f"{battery.capacity_wh / 1000:.4g} kWh. Charge on the way, or take a vehicle with "
                "a larger battery"
            )
        elif least <= 100:
            advice = f"Start with at least {least} %"
            average = self.average_percent(least)
            if average is not None:
                advice += f" (on average {average} % is enough)"
                asked, usual = (
                    each - battery.percent(battery.reserve_wh) for each in (least, average)
                )
                long = problem.legs.total(problem.length_m, known[0]) >= LONG_M
                advice += words.doubt if long and asked > MUCH * usual else ""
        return NotEnoughChargeError(
            f"no route {keeps} {battery.percent(battery.reserve_wh):.4g} % in "
            f"{100 * (1 - self.most):.6g} % of {words.cases} when starting with "
            f"{battery.percent(battery.start_wh):.4g} %: the best of the routes looked at "
            f"keeps it in {100 * (1 - self.risk_of(known[0], battery)):.2g} %. {advice}",
            least if least <= 100 else None,
            average_percent=average,
        )

    def _missing_wh(self, least_wh: float) -> float:
        """Return by how much a battery is larger that keeps the risk when full, Wh.

        Infinite if none does on the route of least energy or the fastest one.

        Parameters
        ----------
        least_wh
            Energy below which none does, Wh.
        """
        full = replace(self.battery, start_wh=self.battery.capacity_wh)

        def kept(battery: Battery) -> bool:
            return any(self.risk_of(route, battery) <= self.most for route in self.bounds.ends())

        found_wh = least_growth_wh(full, kept, least_wh)
        while STEP_WH < found_wh < np.inf:
            less = replace(self, battery=grown(full, found_wh - STEP_WH))
            if less.fastest()[0] is None:
                break
            found_wh -= STEP_WH
        return found_wh

    def average_percent(self, percent: int) -> int | None:
        """Return the least charge at the start by expected energies, %, or None if it is no less.

        Parameters
        ----------
        percent
            Charge at the start that keeps the risk, %.
        """
        need_wh = self.problem.shortage.least_start_wh(self.battery)
        usual = whole_percent(self.battery, need_wh) if np.isfinite(need_wh) else percent
        return usual if usual < percent else None


def choose_safe_rows(search: RiskSearch, request: PlanRequest) -> Rows:
    """Return the rows of a plan whose routes keep a limit of risk, but for alternatives.

    Parameters
    ----------
    search
        The request and its limit of risk.
    request
        The wishes of the plan.

    Raises
    ------
    NotEnoughChargeError
        If no route was found that keeps the risk. The message states a sufficient charge.
    """
    problem, extra = search.problem, request.max_extra_time
    fastest, slow_s = search.fastest()
    if fastest is None:
        raise search.refusal("was found that keeps" if slow_s else "keeps")
    shortest, long_m = search.best_or(fastest, (0.0, 1.0), problem.length_m)
    fastest_s = problem.taken_s(fastest)
    limit_s = np.inf if extra is None else (1 + extra) * fastest_s
    least, gap_wh = search.best_or(fastest, (1.0, 0.0), problem.time_s, limit_s)
    proof = _proof(gap_wh) + _caveat("fastest", slow_s, "s", "faster")
    proof += _caveat("shortest", long_m, "m", "shorter")
    routes = {"energy": least, "time": fastest, "distance": shortest}
    rows = Rows(routes, {"energy": proof}, "time")
    usual_s = (1 + request.detour_extra_time) * fastest_s
    if extra is None and problem.taken_s(least) > usual_s:
        limited = search.best_or(fastest, (1.0, 0.0), problem.time_s, usual_s)
        rows.routes["energy-limited"], gap_wh = limited
        rows.proofs["energy-limited"] = _proof(gap_wh)
    if request.worth is not None:
        rows.recommended = "cost"
        given = request.worth, problem.time_s, limit_s
        rows.routes["cost"], gap = search.best_or(fastest, *given)
        rows.proofs["cost"] = (
            f"within {rounded_up(gap, 1000):.3f} of the least cost with this risk"
            if gap
            else "exact: no route with this risk costs less"
        )
    elif not request.charge:
        recommend(rows, *_safe_detour(search, Rule.of(request), fastest))
    if request.alternatives:
        add_alternatives(rows, problem, search.battery, request.alternatives)
    return rows


def _safe_detour(search: RiskSearch, rule: Rule, fastest: Route) -> tuple[Route, str]:
    """Return the recommended route of those that keep the risk, and its certificate."""
    problem, battery = search.problem, search.battery
    first = totals(problem, fastest, battery)
    found, gap_wh = search.best_of((1.0, rule.per_s), problem.time_s, rule.most_s(first))
    if found is None:
        return fastest, "no detour with this risk was found" if gap_wh else NONE_PAYS
    if not rule.pays(totals(problem, found, battery), first, problem.positive_wh(fastest)):
        return fastest, NONE_PAYS
    if gap_wh:
        return found, f"within {rounded_up(gap_wh, 10):.1f} Wh of what a detour can pay"
    return (
        found,
        f"exact: no detour with this risk pays more, at {rule.wh_per_minute:g} Wh a minute",
    )


def _caveat(name: str, gap: float, unit: str, more: str) -> str:
    """Return how far a row may be from its optimum, or empty if it is exact."""
    if not gap:
        return ""
    return f". The {name} route with this risk may be {rounded_up(gap, 1):.0f} {unit} {more}"


def _proof(gap_wh: float) -> str:
    if gap_wh:
        return f"{gap_text(gap_wh)} with this risk"
    return "exact: no route with this risk takes less"
