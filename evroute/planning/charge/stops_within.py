"""Plans with charging stops that keep a limit of risk: stops of the fastest plan charge more."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from evroute.arms import Route
from evroute.planning.battery import Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes, Visit, stops_at
from evroute.planning.charge.stop_bounds import EnergiesLeft
from evroute.planning.charge.stops import best_plan, shown
from evroute.planning.searches.search_problem import SearchProblem

Stops = tuple[ChargingStop, ...]
Within = Callable[[Route, Stops], bool]
HALVINGS = 8
"""Of the range of reserves in which a limit of risk is searched for."""


def stops_within(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    wishes: StopWishes,
    within: Within,
) -> tuple[Route, Stops, str] | None:
    """Return route, stops and proof of the fastest plan found that keeps a limit of risk.

    It is the fastest of all if that keeps it. If not, its stops charge more. Where that does not
    mend it, the first leg is too risky: the reserve of the search is bisected, for a small one is
    too risky and a great one cannot be kept. None if no plan was found.

    Parameters
    ----------
    problem, battery, chargers, wishes
        As in `charging_stops`.
    within
        Function that returns whether a route with stops keeps the limit of risk, if there is one.
    """
    aim, left = Aim.least_time(problem, chargers, wishes), EnergiesLeft(problem)
    plan = best_plan(problem, battery, chargers, aim, wishes, left=left)
    fastest = None if plan is None else shown(problem, battery, plan, wishes)
    if fastest is None or within(*fastest[:2]):
        return fastest

    @cache
    def raised_of(route: Route, visits: tuple[Visit, ...]) -> tuple[Route, Stops] | None:
        return _raised(problem, battery, wishes, (route, visits), within)

    found = None
    low_wh, high_wh = battery.reserve_wh, battery.start_wh
    least_wh = low_wh
    tried = plan
    for halving in range(HALVINGS):
        if halving:
            given = problem, replace(battery, reserve_wh=least_wh), chargers, aim, wishes
            tried = best_plan(*given, left=left)
        raised = tried and raised_of(tried.route, tried.visits)
        if tried and raised:
            found = raised
        if tried and not raised:
            low_wh = least_wh
        else:
            high_wh = least_wh
        least_wh = (low_wh + high_wh) / 2
    if found is None:
        return None
    after_s, before_s = (
        problem.taken_s(route) + sum(stop.time_s for stop in stops)
        for route, stops in (found, fastest[:2])
    )
    best = (
        "best with this risk"
        if fastest[2].startswith("exact")
        else f"plan without the limit of risk, {fastest[2]}"
    )
    return *found, f"at most {(after_s - before_s) / 60:.1f} min longer than the {best}"


def _raised(
    problem: SearchProblem,
    battery: Battery,
    wishes: StopWishes,
    plan: tuple[Route, tuple[Visit, ...]],
    within: Within,
) -> tuple[Route, Stops] | None:
    """Return the route and stops of a plan with as many more per cents charged as the risk needs.

    None if full charges are too risky.
    """

    def charged(more: int) -> tuple[Route, Stops]:
        return stops_at(problem, battery, *plan, wishes, more=more)

    if not within(*charged(100)):
        return None
    return charged(bisect_left(range(100), True, key=lambda more: within(*charged(more))))
