"""Least energy among the routes that are fast enough: a constrained shortest path, solved exactly.

First the hull: ``energy + lambda * time`` stays non-negative under the potential, so each lambda is
one ordinary search, and the Lagrangian dual converges to the best lambda (LARAC; Jüttner,
Szviatovszki, Mécs & Rajkó 2001). Its routes lie on the convex hull of (time, energy), and its dual
value is a lower bound of every fast-enough route. A label search closes the remaining gap: labels
of (cost, time) per edge, pruned by lower bounds from two searches from the destination. With a
battery the label carries the charge instead, and the bounds still hold, since a bounded battery
only adds cost.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.search import Search

GREATEST_EFFORT = 200_000
"""Number of labels after which the label search stops and the hull's route is returned."""
TOLERANCE_S = 1e-9
MOST_ROUTES = 16


@dataclass(frozen=True, slots=True)
class Hull:
    """The best route on the convex hull within a time limit, and a bound of any other.

    bound: no route within the limit costs less than this in the searched weights, Wh.
    """

    route: Route
    bound: float


def hull(
    search: Search,
    weights: FloatArray,
    time_s: FloatArray,
    limit_s: float,
    origin: int,
    destination: int,
) -> Hull:
    """Return the cheapest route on the convex hull that takes at most ``limit_s``.

    Parameters
    ----------
    search
        A search over N nodes.
    weights, time_s
        (N,) non-negative weight, Wh above the potential, and travel time, s, of every node.
    limit_s
        Longest travel time, s.
    origin, destination
        First and last node.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached, or the fastest route takes longer than the limit.
    """

    def best(slope_whps: float) -> tuple[Route, float, float]:
        route = search.route(weights + slope_whps * time_s, origin, destination)
        return route, float(weights[route.rows].sum()), float(time_s[route.rows].sum())

    cheap, cheap_wh, cheap_s = best(0.0)
    if cheap_s <= limit_s + TOLERANCE_S:
        return Hull(cheap, cheap_wh)
    fast = search.route(time_s, origin, destination)
    fast_wh, fast_s = float(weights[fast.rows].sum()), float(time_s[fast.rows].sum())
    if fast_s > limit_s + TOLERANCE_S:
        raise NoRouteError(
            f"the fastest route takes {fast_s / 60:.1f} min, more than the {limit_s / 60:.1f} min "
            "wanted"
        )
    while True:
        slope = max(0.0, (fast_wh - cheap_wh) / (cheap_s - fast_s))
        route, route_wh, route_s = best(slope)
        level = route_wh + slope * route_s
        if level >= fast_wh + slope * fast_s - 1e-9 * max(1.0, abs(level)):
            return Hull(fast, level - slope * limit_s)
        if route_s <= limit_s + TOLERANCE_S:
            fast, fast_wh, fast_s = route, route_wh, route_s
        else:
            cheap_wh, cheap_s = route_wh, route_s


def supported(
    search: Search,
    weights: FloatArray,
    time_s: FloatArray,
    origin: int,
    destination: int,
    *,
    limit_s: float = np.inf,
) -> list[Route]:
    """Return at most ``MOST_ROUTES`` routes on the convex hull of (time, weight), fastest first.

    Between two neighbours the hull is searched in the direction perpendicular to their connection,
    the longest first.

    Parameters
    ----------
    search
        A search over N nodes.
    weights, time_s
        (N,) non-negative weight, Wh above the potential, and travel time, s, of every node.
    origin, destination
        First and last node.
    limit_s
        The hull is not searched beyond this travel time, s.

    Raises
    ------
    NoRouteError
        If the destination cannot be reached.
    """

    def point(route: Route) -> tuple[float, float, Route]:
        return float(time_s[route.rows].sum()), float(weights[route.rows].sum()), route

    cheapest = point(search.route(weights, origin, destination))
    fastest = point(search.route(time_s, origin, destination))
    found, gaps = [fastest, cheapest], [(fastest, cheapest)]
    while gaps and len(found) < MOST_ROUTES:
        left, right = gaps.pop(max(range(len(gaps)), key=lambda i: gaps[i][1][0] - gaps[i][0][0]))
        if right[0] - left[0] <= TOLERANCE_S or left[1] <= right[1] or left[0] > limit_s:
            continue
        slope = (left[1] - right[1]) / (right[0] - left[0])
        middle = point(search.route(weights + slope * time_s, origin, destination))
        level = left[1] + slope * left[0]
        if middle[1] + slope * middle[0] < level - 1e-9 * max(1.0, abs(level)):
            found.append(middle)
            gaps += [(left, middle), (middle, right)]
    return list(dict.fromkeys(route for *_, route in sorted(found, key=lambda each: each[:2])))


class LabelSearch:
    """Exact searches with two costs: the energy from a battery, and an additive one (time, length).

    Parameters
    ----------
    search
        A search over the n edges.
    tail_wh, head_wh
        (n,) potential ``m g z`` at the start and at the end of every edge, Wh.
    """

    def __init__(self, search: Search, tail_wh: FloatArray, head_wh: FloatArray) -> None:
        self._search = search
        self._start: list[int] = search.line_graph.indptr.tolist()
        self._successors: list[int] = search.line_graph.indices.tolist()
        self._potential_wh = head_wh - tail_wh
        self._head_wh = head_wh

    def cheapest(
        self,
        battery: Battery | None,
        energy_wh: FloatArray,
        time_s: FloatArray,
        limit_s: float,
        origin: int,
        destination: int,
        *,
        worth: tuple[float, float] = (1.0, 0.0),
        better_than: float = np.inf,
        effort: int | None = None,
    ) -> tuple[Route | None, bool]:
        """Return the route of least cost of energy and time within a time limit.

        Parameters
        ----------
        battery
            Bounds of the charge; None for an unbounded battery.
        energy_wh, time_s
            (n,) of every edge; no energy below the potential ``head_wh - tail_wh``.
        limit_s
            Longest travel time, s.
        origin, destination
            First and last edge.
        worth
            Cost of one Wh, > 0, and of one second, >= 0.
        better_than
            Cost of a known route; only better ones are returned.
        effort
            Number of labels after which the search stops; None for `GREATEST_EFFORT`.

        Returns
        -------
        route
            The best route found; None if none is better than the known one.
        complete
            True if no better one exists; False if the search stopped before that was proven.
        """
        limits = limit_s + TOLERANCE_S, better_than - TOLERANCE_WH * worth[0]
        return self._walk(battery, energy_wh, time_s, limits, (origin, destination), worth, effort)

    def least_cost(
        self,
        battery: Battery,
        energy_wh: FloatArray,
        cost: FloatArray,
        origin: int,
        destination: int,
    ) -> tuple[Route | None, bool]:
        """Return the route of least ``cost``, time or length, that keeps the reserve.

        Parameters
        ----------
        battery
            Bounds of the charge.
        energy_wh, cost
            (n,) energy, Wh, and additive cost of every edge; no energy below the potential
            ``head_wh - tail_wh``.
        origin, destination
            First and last edge.

        Returns
        -------
        route, complete
            As in `cheapest`.
        """
        return self._walk(
            battery, energy_wh, cost, (np.inf, np.inf), (origin, destination), (0.0, 1.0), None
        )

    def _walk(
        self,
        battery: Battery | None,
        energy_wh: FloatArray,
        cost: FloatArray,
        limits: tuple[float, float],
        ends: tuple[int, int],
        worth: tuple[float, float],
        effort: int | None,
    ) -> tuple[Route | None, bool]:
        """Settle labels (charge, clock) in the order of one of them.

        A later label of an edge must be better in the other. The order is that of the clock if
        energy
        costs nothing, else that of the energy. limits: of the clock, which sums ``cost``,
        inclusive;
        and of the worth, exclusive, which each found route lowers.
        """
        origin, destination = ends
        per_wh, per_clock = worth
        shifted = energy_wh - self._potential_wh
        # the least that remains after an edge: energy with the climb still to come, and cost
        climb_wh = self._head_wh[destination] - self._head_wh
        rest_wh = (self._search.rest(shifted, destination) + climb_wh).tolist()
        rest = self._search.rest(cost, destination).tolist()
        energy, costs = energy_wh.tolist(), cost.tolist()
        capacity, reserve = (
            (battery.capacity_wh, battery.reserve_wh) if battery else (np.inf, -np.inf)
        )
        first = battery.start_wh if battery else 0.0
        last, least = limits
        most = GREATEST_EFFORT if effort is None else min(effort, GREATEST_EFFORT)
        best: dict[int, float] = {}
        labels: list[tuple[int, int]] = []  # edge, previous label
        queue: list[tuple[float, float, float, float, int, int]] = []
        found: Route | None = None

        def reach(edge: int, previous: int, charge_wh: float, clock: float) -> None:
            charge_wh = min(capacity, charge_wh - energy[edge])
            clock += costs[edge]
            total_wh, total = first - charge_wh + rest_wh[edge], clock + rest[edge]
            # enough now, and enough on arrival even if nothing were lost on the way
            enough = min(charge_wh, charge_wh - rest_wh[edge]) >= reserve - TOLERANCE_WH
            if enough and total <= last and per_wh * total_wh + per_clock * total < least:
                order = (total_wh, clock) if per_wh else (total, -charge_wh)
                heapq.heappush(queue, (*order, charge_wh, clock, edge, previous))

        reach(origin, -1, first, 0.0)
        while queue and len(labels) < most:
            _, other, charge_wh, clock, edge, previous = heapq.heappop(queue)
            if other >= best.get(edge, np.inf):
                continue
            best[edge] = other
            labels.append((edge, previous))
            if edge == destination:
                total = per_wh * (first - charge_wh) + per_clock * clock
                if total < least:
                    found, least = self._path(labels), total
                if not (per_wh and per_clock):
                    return found, True
                continue
            for following in self._successors[self._start[edge] : self._start[edge + 1]]:
                reach(following, len(labels) - 1, charge_wh, clock)
        return found, not queue

    @staticmethod
    def _path(labels: list[tuple[int, int]]) -> Route:
        edges = []
        label = len(labels) - 1
        while label >= 0:
            edge, label = labels[label]
            edges.append(edge)
        return Route(tuple(reversed(edges)))
