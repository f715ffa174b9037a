"""SearchProblem: graph and costs of a search; routes within a battery or a time limit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.arm_space import SearchSpace
from evroute.planning.battery import TOLERANCE_WH, Battery, BatterySearch, follow
from evroute.planning.search import Search
from evroute.planning.tradeoff import LabelSearch, hull, supported

NO_GAP_WH = 1e-6


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """The nodes of an arm space, in a layer for each leg of the request, with their costs.

    Parameters
    ----------
    search, battery_search, label_search
        Searches over the nodes.
    time_s, length_m, mean_wh, noise_std_wh, potential_wh
        (N * legs,) cost of each node: time, s; length, m; mean and noise of the energy, Wh; rise of
        the potential, Wh.
    """

    search: Search
    battery_search: BatterySearch
    label_search: LabelSearch
    time_s: FloatArray
    length_m: FloatArray
    mean_wh: FloatArray
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    @classmethod
    def of_space(
        cls,
        space: SearchSpace,
        via: Sequence[int],
        *,
        time_s: FloatArray,
        mean_wh: FloatArray,
        noise_std_wh: FloatArray,
    ) -> "SearchProblem":
        """Build the search problem of a space.

        Parameters
        ----------
        space
            An arm space of a arms on n edges.
        via
            Network rows of edges to drive on the way, in this order.
        time_s
            (n,) travel time of each edge, s.
        mean_wh, noise_std_wh
            (a,) mean and noise deviation of each arm, Wh.
        """
        nodes, legs = space.nodes, len(via) + 1
        heights_wh = np.tile(nodes.tail_wh, legs), np.tile(nodes.head_wh, legs)
        search = Search(space.line_graph(via))
        return cls(
            search=search,
            battery_search=BatterySearch(search, *heights_wh),
            label_search=LabelSearch(search, *heights_wh),
            time_s=np.tile(nodes.of_edges(time_s), legs),
            length_m=np.tile(nodes.of_edges(space.edges.network.length_m), legs),
            mean_wh=np.tile(nodes.of_arms(mean_wh), legs),
            noise_std_wh=np.tile(nodes.of_arms(noise_std_wh, rest=1.0), legs),
            potential_wh=np.tile(nodes.head_wh - nodes.tail_wh, legs),
        )

    @property
    def searchable_wh(self) -> FloatArray:
        """Mean energies, Wh; those below the potential, where no search is exact, raised to it."""
        held: FloatArray = np.maximum(self.mean_wh, self.potential_wh)
        return held


def keeping_reserve(
    ground: SearchProblem, battery: Battery, cost: FloatArray, best: Route, drivable: Route
) -> tuple[Route, bool]:
    """Return a route of least cost that keeps the reserve, and whether that is certain.

    Parameters
    ----------
    ground
        The search problem.
    battery
        Start charge and reserve.
    cost
        (N * legs,) cost of each node, such as its time.
    best
        The route of least cost without a battery.
    drivable
        Any route that keeps the reserve, returned if the search reaches its limit of effort.
    """
    if keeps(ground, battery, best):
        return best, True
    ends = best.edges[0], best.edges[-1]
    found, _ = ground.label_search.least_cost(battery, ground.searchable_wh, cost, *ends)
    return found or drivable, found is not None


def within(
    ground: SearchProblem, limit_s: float, battery: Battery | None, fastest: Route
) -> tuple[Route, str]:
    """Return the least-energy route within a time limit, and a sentence on how certain that is.

    Parameters
    ----------
    ground
        The search problem.
    limit_s
        Greatest travel time, s.
    battery
        Start charge and reserve, if they are bounded.
    fastest
        The fastest route, which keeps the limit.
    """
    time_s, energy_wh, height_wh = ground.time_s, ground.searchable_wh, ground.potential_wh
    ends = fastest.edges[0], fastest.edges[-1]
    on_hull = hull(ground.search, energy_wh - height_wh, time_s, limit_s, *ends)
    known = on_hull.route if battery is None or keeps(ground, battery, on_hull.route) else fastest
    known_wh = float(energy_wh[known.rows].sum())
    if battery is not None:
        known_wh += follow(battery, energy_wh[known.rows]).lost_wh
    gap_wh = known_wh - on_hull.bound - float(height_wh[known.rows].sum())
    if gap_wh < NO_GAP_WH:
        return known, "exact: on the convex hull of time and energy"
    better, complete = ground.label_search.least_energy(
        battery, energy_wh, time_s, limit_s, *ends, better_than_wh=known_wh
    )
    if complete:
        return (
            better or known,
            "exact: what the convex hull of time and energy leaves open was searched",
        )
    return (
        known,
        "on the convex hull of time and energy: "
        f"another route could take up to {gap_wh:.0f} Wh less",
    )


def alternative_routes(
    ground: SearchProblem, battery: Battery | None, least: Route, fastest: Route, most: int
) -> list[Route]:
    """Return routes between the fastest and that of least energy, the fastest of them first.

    They lie on the convex hull of time and energy, evenly spread, and keep the reserve.

    Parameters
    ----------
    ground
        The search problem.
    battery
        Start charge and reserve, if they are bounded.
    least, fastest
        The routes of least energy and time, which are left out.
    most
        Greatest number of routes.
    """
    ends = fastest.edges[0], fastest.edges[-1]
    cost = ground.searchable_wh - ground.potential_wh
    between = [
        each
        for each in supported(ground.search, cost, ground.time_s, *ends)
        if (battery is None or keeps(ground, battery, each)) and each not in (least, fastest)
    ]
    if not between:
        return []
    chosen = np.unique(np.linspace(0, len(between) - 1, most).round().astype(int)).tolist()
    return [between[i] for i in chosen]


def keeps(ground: SearchProblem, battery: Battery, route: Route) -> bool:
    """Return whether the charge stays at the reserve or above on a route."""
    charge_wh = follow(battery, ground.searchable_wh[route.rows]).charge_wh
    return bool(charge_wh.min() >= battery.reserve_wh - TOLERANCE_WH)
