"""Rows of a plan: their routes, each with a statement of its certificate.

Rows are ``energy``, ``time`` and ``distance``; ``energy-limited``, least energy within the extra
time of a detour, where ``energy`` takes longer and the request has no limit of its own; ``cost``,
least money for energy and time, where the time has a value; ``recommended``, where the recommended
route is none of these (`recommendation`); and alternatives.
"""

from dataclasses import dataclass, field

import numpy as np

from evroute.arms import Route
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.recommendation import FEW_LABELS, Rule, detour, totals
from evroute.planning.request import PlanRequest
from evroute.planning.searches.search_problem import SearchProblem, gap_text
from evroute.planning.searches.tradeoff import between, cheapest_within
from evroute.planning.weights import DEFAULT_SEARCH


@dataclass(slots=True)
class Rows:
    """Routes by the names of their rows.

    Parameters
    ----------
    routes
        Routes by row.
    proofs
        How far each optimum is certified, by row.
    recommended
        The recommended row.
    stops
        Stops to charge, by row. Rows without stops are left out.
    unlimited
        Route and stops that would be recommended without the limit of risk, or None without one.
    arrive_wh
        Least charge at the end, Wh.
    """

    routes: dict[str, Route]
    proofs: dict[str, str]
    recommended: str
    stops: dict[str, tuple[ChargingStop, ...]] = field(default_factory=dict)
    unlimited: tuple[Route, tuple[ChargingStop, ...]] | None = None
    arrive_wh: float = 0.0

    def shown(self, name: str) -> tuple[Route, tuple[ChargingStop, ...]]:
        """Return the route and the stops of a row."""
        return self.routes[name], self.stops.get(name, ())

    def add(self, name: str, found: tuple[Route, tuple[ChargingStop, ...], str]) -> None:
        """Add a row of a route with stops and its certificate."""
        self.routes[name], stops, self.proofs[name] = found
        if stops:
            self.stops[name] = stops


@dataclass(slots=True)
class _Choice:
    """The routes of a plan as they are found, within a battery.

    Parameters
    ----------
    problem, request, battery
        The request, its numbers and its charge.
    rows
        The rows found so far.
    """

    problem: SearchProblem
    request: PlanRequest
    battery: Battery | None
    rows: Rows

    def within(self, limit_s: float, *, effort: int | None = None) -> tuple[Route, str]:
        """Return the route of least energy within a time limit, and its certificate."""
        known = [self.rows.routes["time"]]
        given = {} if effort is None else {"effort": effort}
        return cheapest_within(self.problem, (1.0, 0.0), limit_s, self.battery, known, **given)

    def add(self, name: str, found: tuple[Route, str]) -> None:
        """Add a row with its certificate."""
        self.rows.routes[name], self.rows.proofs[name] = found

    def add_least_cost(self, worth: tuple[float, float], limit_s: float) -> None:
        """Add and recommend the row of least money for energy and time.

        Parameters
        ----------
        worth
            Price of one Wh and of one second, money.
        limit_s
            Longest travel time, s.
        """
        known = [route for name, route in self.rows.routes.items() if name != "distance"]
        given = self.problem, worth, limit_s, self.battery, known
        self.add("cost", cheapest_within(*given))
        self.rows.recommended = "cost"

    def recommend(self) -> None:
        """Recommend the detour that pays, or the fastest route."""
        request, routes = self.request, self.rows.routes
        rule, fastest = Rule.of(request), routes["time"]
        if request.search != DEFAULT_SEARCH:
            pays = rule.best(
                totals(self.problem, fastest, None),
                self.problem.positive_wh(fastest),
                [totals(self.problem, routes["energy"], None)],
            )
            self.rows.recommended = "time" if pays is None else "energy"
            return
        known = [routes[name] for name in ("energy", "energy-limited") if name in routes]
        recommend(self.rows, *detour(self.problem, rule, fastest, self.battery, known))


def recommend(rows: Rows, route: Route, proof: str) -> None:
    """Recommend the row of a route, or a row of its own.

    Parameters
    ----------
    rows
        The rows found so far.
    route, proof
        The recommended route and its certificate.
    """
    named = (
        name for name in ("energy", "energy-limited", "time") if rows.routes.get(name) == route
    )
    rows.recommended = next(named, "recommended")
    rows.routes[rows.recommended] = route
    rows.proofs.setdefault(rows.recommended, proof)


def choose_rows(problem: SearchProblem, request: PlanRequest, battery: Battery | None) -> Rows:
    """Return the rows of a plan.

    Parameters
    ----------
    problem
        The request and its numbers.
    request
        The wishes of the plan.
    battery
        Charge at the start and reserve. Each route is the best of those that keep the reserve. None
        for no bounds.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached with this charge.
    """
    fastest, extra = problem.fastest, request.max_extra_time
    if request.search == DEFAULT_SEARCH:
        cheapest = problem.cheapest((1.0, 0.0))
    else:
        cheapest = problem.legs.route(problem.weights(request.search))
    least, proof = least_energy(problem, cheapest, battery, request.search)
    shortest = problem.least(problem.length_m)
    caveat = ""
    if battery is not None:
        fastest, found = problem.keeping_reserve(battery, problem.time_s, fastest, least)
        shortest, also = problem.keeping_reserve(battery, problem.length_m, shortest, least)
        if not (found and also):
            caveat = (
                ". The fastest or shortest that keeps the reserve was not found. "
                "This route replaces it"
            )
    routes = {"energy": least, "time": fastest, "distance": shortest}
    rows = Rows(routes, {"energy": proof}, "time")
    choice = _Choice(problem, request, battery, rows)
    fastest_s = problem.taken_s(fastest)
    limit_s = np.inf if extra is None else (1 + extra) * fastest_s
    usual_s = (1 + request.detour_extra_time) * fastest_s
    if problem.taken_s(least) > limit_s:
        choice.add("energy", choice.within(limit_s))
    elif extra is None and request.search == DEFAULT_SEARCH and problem.taken_s(least) > usual_s:
        choice.add("energy-limited", choice.within(usual_s, effort=FEW_LABELS))
    rows.proofs["energy"] += caveat
    if (worth := request.worth) is not None:
        choice.add_least_cost(worth, limit_s)
    elif not request.charge:
        choice.recommend()
    if request.alternatives:
        add_alternatives(rows, problem, battery, request.alternatives)
    return rows


def add_alternatives(
    rows: Rows, problem: SearchProblem, battery: Battery | None, number: int
) -> None:
    """Add routes between the fastest and the least energy as rows.

    Parameters
    ----------
    rows
        The rows found so far.
    problem, battery
        The request, its numbers and its charge.
    number
        Greatest number of alternatives.
    """
    ends = rows.routes["time"], rows.routes["energy"]
    chosen = between(problem, battery, *ends, number)
    rows.routes |= {f"alternative-{rank}": route for rank, route in enumerate(chosen, start=1)}


def least_energy(
    problem: SearchProblem, found: Route, battery: Battery | None, rule: str
) -> tuple[Route, str]:
    """Return the route of least energy and a statement of how far it is certified.

    Parameters
    ----------
    problem
        The request and its numbers.
    found
        The route of least weight by the rule, without a battery.
    battery
        Charge that bounds the route, or None.
    rule
        Weight rule. ``potential`` with a battery.
    """
    if battery is not None:
        trace = problem.follow(battery, found)
        # a route that neither loses energy nor needs the reserve is best with any battery
        if trace.lost_wh > TOLERANCE_WH or not problem.keeps(battery, found):
            least_wh = problem.taken_wh(found, None)
            found, proven = problem.fullest(battery, found)
            if not proven:
                return found, gap_text(problem.taken_wh(found, battery) - least_wh)
        return found, "exact: no route that keeps the reserve arrives with more charge"
    if rule == DEFAULT_SEARCH:
        return found, "exact: no route takes less"
    best = problem.cheapest((1.0, 0.0))
    gap_wh = problem.taken_wh(found, None) - problem.taken_wh(best, None)
    return found, f"rule '{rule}' discards energy: {gap_text(gap_wh)}"
