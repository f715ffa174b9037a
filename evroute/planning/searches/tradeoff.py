"""Least energy among the routes that are fast enough: a constrained shortest path, solved exactly.

First the hull: ``energy + lambda * time`` stays non-negative under the potential, so each lambda is
one ordinary search, and the Lagrangian dual converges to the best lambda (LARAC; Jüttner,
Szviatovszki, Mécs & Rajkó 2001). Its routes lie on the convex hull of (time, energy), and its dual
value is a lower bound of every fast-enough route. A label search (`labels`) closes the remaining
gap. With a battery the bounds still hold, since a bounded battery only adds cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.planning.battery import Battery
from evroute.planning.searches.labels import GREATEST_EFFORT
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.search_problem import NO_GAP_WH, SearchProblem, gap_text, rounded_up
from evroute.planning.searches.settle import TOLERANCE_S

MOST_ROUTES = 16


@dataclass(frozen=True, slots=True)
class Hull:
    """The best route on the convex hull within a time limit, and a bound of any other.

    bound: no route within the limit costs less than this in the searched weights, Wh.
    """

    route: Route
    bound: float


class Point(NamedTuple):
    """The time, s, and the weight, Wh above the potential, of a route."""

    time_s: float
    weight: float
    route: Route


def hull(
    legs: Legs,
    weights: FloatArray,
    time_s: FloatArray,
    limit_s: float,
    ends: tuple[Route, Route],
) -> Hull:
    """Return the cheapest route on the convex hull that takes at most ``limit_s``.

    Parameters
    ----------
    legs
        The legs of the request.
    weights, time_s
        (a,) non-negative weight, Wh above the potential, and travel time, s, of each arm.
    limit_s
        Longest travel time, s.
    ends
        The route of least weight, and the fastest.

    Raises
    ------
    NoRouteError
        If the fastest route takes longer than the limit.
    """

    def point(route: Route) -> Point:
        return Point(legs.total(time_s, route), legs.total(weights, route), route)

    cheap, fast = map(point, ends)
    if cheap.time_s <= limit_s + TOLERANCE_S:
        return Hull(cheap.route, cheap.weight)
    if not fast.time_s <= limit_s + TOLERANCE_S:
        raise NoRouteError(
            f"the fastest route takes {fast.time_s / 60:.1f} min, more than the "
            f"{limit_s / 60:.1f} min wanted"
        )
    while True:
        slope = max(0.0, (fast.weight - cheap.weight) / (cheap.time_s - fast.time_s))
        found = point(legs.route(weights + slope * time_s))
        level = found.weight + slope * found.time_s
        if level >= fast.weight + slope * fast.time_s - 1e-9 * max(1.0, abs(level)):
            return Hull(fast.route, level - slope * limit_s)
        if found.time_s <= limit_s + TOLERANCE_S:
            fast = found
        else:
            cheap = found


def supported(
    legs: Legs,
    weights: FloatArray,
    time_s: FloatArray,
    *,
    limit_s: float = np.inf,
) -> list[Route]:
    """Return at most ``MOST_ROUTES`` routes on the convex hull of (time, weight), fastest first.

    Between two neighbours the hull is searched in the direction perpendicular to their connection,
    the longest first.

    Parameters
    ----------
    legs
        The legs of the request.
    weights, time_s
        (a,) non-negative weight, Wh above the potential, and travel time, s, of each arm.
    limit_s
        The hull is not searched beyond this travel time, s.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached.
    """

    def point(per_weight: float, per_s: float) -> Point:
        if per_weight and per_s:
            route = legs.route(weights + per_s * time_s)
        else:
            route = legs.route(weights if per_weight else time_s)
        return Point(legs.total(time_s, route), legs.total(weights, route), route)

    least, fastest = point(1.0, 0.0), point(0.0, 1.0)
    found, gaps = [fastest, least], [(fastest, least)]
    while gaps and len(found) < MOST_ROUTES:
        longest = max(range(len(gaps)), key=lambda i: gaps[i][1].time_s - gaps[i][0].time_s)
        left, right = gaps.pop(longest)
        apart_s = right.time_s - left.time_s
        if apart_s <= TOLERANCE_S or left.weight <= right.weight or left.time_s > limit_s:
            continue
        slope = (left.weight - right.weight) / apart_s
        middle = point(1.0, slope)
        level = left.weight + slope * left.time_s
        if middle.weight + slope * middle.time_s < level - 1e-9 * max(1.0, abs(level)):
            found.append(middle)
            gaps += [(left, middle), (middle, right)]
    return list(dict.fromkeys(route for *_, route in sorted(found, key=lambda each: each[:2])))


def cheapest_within(
    problem: SearchProblem,
    worth: tuple[float, float],
    limit_s: float,
    battery: Battery | None,
    known: Sequence[Route],
    *,
    effort: int = GREATEST_EFFORT,
) -> tuple[Route, str]:
    """Return the cheapest route within a time limit, and how far it is certified.

    Parameters
    ----------
    problem
        The request and its numbers.
    worth
        Cost of one Wh, > 0, and of one second, >= 0. ``(1, 0)`` for least energy.
    limit_s
        Greatest travel time, s. May be infinite.
    battery
        Charge that bounds the route, or None.
    known
        Routes that keep the limit and the reserve, at least one.
    effort
        Labels looked at before the cheapest route found is returned with its gap.
    """
    per_wh, per_s = worth

    def cost(route: Route) -> float:
        return per_wh * problem.taken_wh(route, battery) + per_s * problem.taken_s(route)

    def labels(best: Route) -> tuple[Route | None, bool]:
        return problem.label_search.cheapest(
            battery,
            problem.time_s,
            limit_s,
            worth=worth,
            better_than=cost(best),
            effort=effort,
        )

    best, complete = min(known, key=cost), False
    if not per_s:  # the first label that arrives is the best
        better, complete = labels(best)
        if complete:
            return better or best, "exact: no route within the time takes less energy"
    bound = np.inf
    for line, cheap in zip(problem.lines, problem.cheapest_by_line(worth), strict=True):
        weights = problem.along_line(worth, line)
        on_hull = hull(problem.legs, weights, problem.time_s, limit_s, (cheap, problem.fastest))
        rise_wh = problem.legs.total(problem.head_wh - problem.tail_wh, on_hull.route)
        bound = min(bound, on_hull.bound + per_wh * (rise_wh + line[1]))
        if battery is None or problem.keeps(battery, on_hull.route):
            best = min(on_hull.route, best, key=cost)
    if cost(best) - bound < NO_GAP_WH * per_wh:
        return best, "exact: on the convex hull of time and energy"
    if per_s:
        better, complete = labels(best)
        best = better or best
    if complete:
        return (
            best,
            "exact: found by a search between the routes of the convex hull of time and energy",
        )
    gap = cost(best) - bound
    stated = gap_text(gap) if not per_s else f"within {rounded_up(gap, 1000):.3f} of the least cost"
    return best, f"on the convex hull of time and energy: {stated}"


def between(
    problem: SearchProblem,
    battery: Battery | None,
    fastest: Route,
    least: Route,
    number: int,
) -> list[Route]:
    """Return at most ``number`` routes between two, none of them dominated, the fastest first.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge that bounds the routes, or None.
    fastest, least
        The fastest route, and the route of least energy within the limits of the request.
    number
        Routes wanted. Evenly chosen from those on the convex hull of time and energy.
    """
    limit_s = problem.taken_s(least)
    on_hull = supported(problem.legs, problem.weights(), problem.time_s, limit_s=limit_s)
    kept: list[Route] = []
    best_wh, floor_wh = (problem.taken_wh(route, battery) for route in (fastest, least))
    for route in on_hull:
        taken_wh = problem.taken_wh(route, battery)
        slow = problem.taken_s(route) > limit_s - TOLERANCE_S
        quick = problem.taken_s(route) < problem.taken_s(fastest) + TOLERANCE_S
        if slow or quick or not floor_wh + NO_GAP_WH < taken_wh < best_wh - NO_GAP_WH:
            continue
        if battery is None or problem.keeps(battery, route):
            kept.append(route)
            best_wh = taken_wh
    chosen = np.unique(np.linspace(0, len(kept) - 1, number).round().astype(int))
    return [kept[i] for i in chosen.tolist()] if kept else []
