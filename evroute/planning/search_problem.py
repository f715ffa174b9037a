"""SearchProblem: graph and costs of a search; routes within a battery or a time limit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.arm_space import SearchSpace
from evroute.planning.battery import TOLERANCE_WH, Battery, BatterySearch, follow
from evroute.planning.search import Search
from evroute.planning.search_nodes import SearchNodes
from evroute.planning.tradeoff import TOLERANCE_S, LabelSearch, hull, supported
from evroute.planning.weights import DEFAULT_SEARCH, WEIGHT_RULES

NO_GAP_WH = 1e-6


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """Searches, and the numbers of each node of `SearchNodes`, or of a layer of them for each leg.

    Parameters
    ----------
    search, battery_search, label_search
        Searches over the N nodes, their layers included.
    time_s, length_m
        (N,) travel time and length of each node.
    energy_wh
        (N,) expected energy, not below ``potential_wh``; the same numbers are shown.
    noise_std_wh
        (N,) standard deviation of one measurement, for the weight rules.
    potential_wh
        (N,) rise of the potential over each node.
    """

    search: Search
    battery_search: BatterySearch
    label_search: LabelSearch
    time_s: FloatArray
    length_m: FloatArray
    energy_wh: FloatArray
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    @classmethod
    def of_space(
        cls,
        space: SearchSpace,
        nodes: SearchNodes,
        via: Sequence[int],
        *,
        time_s: FloatArray,
        energy_wh: FloatArray,
        noise_std_wh: FloatArray,
    ) -> "SearchProblem":
        """Build the search problem of a space.

        Parameters
        ----------
        space
            An arm space of a arms on n edges.
        nodes
            Its nodes, with the potential of these energies.
        via
            Network rows of edges to drive on the way, in this order.
        time_s
            (n,) travel time of each edge, s.
        energy_wh, noise_std_wh
            (a,) expected energy, not below the potential, and noise deviation of each arm, Wh.
        """
        legs = len(via) + 1
        heights_wh = np.tile(nodes.tail_wh, legs), np.tile(nodes.head_wh, legs)
        search = Search(space.line_graph(via))
        return cls(
            search=search,
            battery_search=BatterySearch(search, *heights_wh),
            label_search=LabelSearch(search, *heights_wh),
            time_s=np.tile(nodes.of_edges(time_s), legs),
            length_m=np.tile(nodes.of_edges(space.edges.network.length_m), legs),
            energy_wh=np.tile(nodes.of_arms(energy_wh), legs),
            noise_std_wh=np.tile(nodes.of_arms(noise_std_wh, rest=1.0), legs),
            potential_wh=np.tile(nodes.head_wh - nodes.tail_wh, legs),
        )

    def weights(self, rule: str = DEFAULT_SEARCH) -> FloatArray:
        """Return the weights (N,) of the nodes by a weight rule, Wh."""
        return WEIGHT_RULES[rule](self.energy_wh, self.noise_std_wh, self.potential_wh)

    def taken_s(self, route: Route) -> float:
        """Return the travel time of a walk, s."""
        return float(self.time_s[route.rows].sum())

    def taken_wh(self, route: Route, battery: Battery | None) -> float:
        """Return the energy of a walk from the battery, lost regeneration included, Wh."""
        energy_wh = self.energy_wh[route.rows]
        lost_wh = follow(battery, energy_wh).lost_wh if battery else 0.0
        return float(energy_wh.sum()) + lost_wh


def least_energy(
    problem: SearchProblem, ends: tuple[int, int], battery: Battery | None, rule: str
) -> tuple[Route, str]:
    """Return the route of least energy and a statement of how far it is certified.

    Parameters
    ----------
    problem
        Searches and their numbers.
    ends
        First and last node.
    battery
        Charge that bounds the route, or None.
    rule
        Weight rule; ``potential`` with a battery.
    """
    if battery is not None:
        found = problem.battery_search.route(battery, problem.energy_wh, *ends)
        return found, "exact: no route that keeps the reserve arrives with more charge"
    found = problem.search.route(problem.weights(rule), *ends)
    if rule == DEFAULT_SEARCH:
        return found, "exact: no route takes less"
    least = problem.search.route(problem.weights(), *ends)
    gap_wh = problem.taken_wh(found, None) - problem.taken_wh(least, None)
    return found, f"rule '{rule}' discards energy: {_gap(gap_wh)}"


def keeping_reserve(
    problem: SearchProblem, battery: Battery, cost: FloatArray, best: Route, drivable: Route
) -> tuple[Route, bool]:
    """Return the route of least ``cost`` that keeps the reserve, and whether it was found.

    Parameters
    ----------
    problem, battery
        Searches, and the charge that bounds the route.
    cost
        (N,) cost of each node, s or m.
    best
        The route of least cost without a battery.
    drivable
        A route that keeps the reserve; it is returned where the effort runs out.
    """
    if keeps(problem, battery, best):
        return best, True
    ends = best.edges[0], best.edges[-1]
    found, _ = problem.label_search.least_cost(battery, problem.energy_wh, cost, *ends)
    return found or drivable, found is not None


def cheapest_within(
    problem: SearchProblem,
    worth: tuple[float, float],
    limit_s: float,
    battery: Battery | None,
    known: Sequence[Route],
    *,
    effort: int | None = None,
) -> tuple[Route, str]:
    """Return the cheapest route within a time limit, and how far it is certified.

    Parameters
    ----------
    problem
        Searches and their numbers.
    worth
        Cost of one Wh, > 0, and of one second, >= 0; ``(1, 0)`` for least energy.
    limit_s
        Greatest travel time, s; may be infinite.
    battery
        Charge that bounds the route, or None.
    known
        Routes that keep the limit and the reserve, at least one.
    effort
        Labels looked at before the cheapest route found is returned with its gap; None for
        `tradeoff.GREATEST_EFFORT`.
    """
    per_wh, per_s = worth
    ends = known[0].edges[0], known[0].edges[-1]
    weights = per_wh * problem.weights() + per_s * problem.time_s
    on_hull = hull(problem.search, weights, problem.time_s, limit_s, *ends)
    bound = on_hull.bound + per_wh * float(problem.potential_wh[on_hull.route.rows].sum())

    def cost(route: Route) -> float:
        return per_wh * problem.taken_wh(route, battery) + per_s * problem.taken_s(route)

    usable = battery is None or keeps(problem, battery, on_hull.route)
    best = min([on_hull.route, *known] if usable else known, key=cost)
    gap = cost(best) - bound
    if gap < NO_GAP_WH * per_wh:
        return best, "exact: on the convex hull of time and energy"
    better, complete = problem.label_search.cheapest(
        battery,
        problem.energy_wh,
        problem.time_s,
        limit_s,
        *ends,
        worth=worth,
        better_than=cost(best),
        effort=effort,
    )
    best = better or best
    if complete:
        return best, "exact: what the convex hull of time and energy leaves open was searched"
    gap = cost(best) - bound
    stated = _gap(gap) if not per_s else f"within {_ceil(gap, 1000):.3f} of the least cost"
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
        Searches and their numbers.
    battery
        Charge that bounds the routes, or None.
    fastest, least
        The fastest route, and that of least energy within the limits of the request.
    number
        Routes wanted; evenly chosen from those on the convex hull of time and energy.
    """
    limit_s, ends = problem.taken_s(least), (fastest.edges[0], fastest.edges[-1])
    on_hull = supported(problem.search, problem.weights(), problem.time_s, *ends, limit_s=limit_s)
    kept: list[Route] = []
    best_wh, floor_wh = (problem.taken_wh(route, battery) for route in (fastest, least))
    for route in on_hull:
        taken_wh = problem.taken_wh(route, battery)
        slow = problem.taken_s(route) > limit_s - TOLERANCE_S
        quick = problem.taken_s(route) < problem.taken_s(fastest) + TOLERANCE_S
        if slow or quick or not floor_wh + NO_GAP_WH < taken_wh < best_wh - NO_GAP_WH:
            continue
        if battery is None or keeps(problem, battery, route):
            kept.append(route)
            best_wh = taken_wh
    chosen = np.unique(np.linspace(0, len(kept) - 1, number).round().astype(int))
    return [kept[i] for i in chosen.tolist()] if kept else []


def keeps(problem: SearchProblem, battery: Battery, route: Route) -> bool:
    """Return True if the charge never falls below the reserve on a route.

    Parameters
    ----------
    problem
        Searches and their numbers.
    battery
        Bounds of the charge.
    route
        A walk over nodes.
    """
    charge_wh = follow(battery, problem.energy_wh[route.rows]).charge_wh
    return bool(charge_wh.min() >= battery.reserve_wh - TOLERANCE_WH)


def _gap(gap_wh: float) -> str:
    """Return an upper bound on an excess in words."""
    return f"within {_ceil(gap_wh, 10):.1f} Wh of the least"


def _ceil(gap: float, parts: int) -> float:
    """Return a gap rounded up to the next of ``parts`` parts of one, at least 0."""
    return float(np.ceil(parts * max(gap, 0.0)) / parts)
