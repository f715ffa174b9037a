"""What searches run on, and the routes that batteries and time limits leave."""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.battery import TOLERANCE_WH, Battery, BatterySearch, follow
from evroute.planning.search import Search
from evroute.planning.tradeoff import LabelSearch, hull

NO_GAP_WH = 1e-6


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """What searches run on: the nodes of `Steps`, or as many layers of them as the request has legs; (N * legs,)."""

    search: Search
    battery_search: BatterySearch
    label_search: LabelSearch
    time_s: FloatArray
    length_m: FloatArray
    mean_wh: FloatArray
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    @property
    def searchable_wh(self) -> FloatArray:
        """A learned mean may fall below the potential, where no search is exact: it is held there."""
        held: FloatArray = np.maximum(self.mean_wh, self.potential_wh)
        return held


def keeping_reserve(
    ground: SearchProblem, battery: Battery, cost: FloatArray, best: Route, drivable: Route
) -> tuple[Route, bool]:
    """Return the route of least ``cost`` that keeps the reserve, and whether it is that one.

    best: the one without a battery.  drivable: one that keeps the reserve; it stands where the
    effort runs out.
    """
    if keeps(ground, battery, best):
        return best, True
    ends = best.edges[0], best.edges[-1]
    found, _ = ground.label_search.least_cost(battery, ground.searchable_wh, cost, *ends)
    return found or drivable, found is not None


def within(
    ground: SearchProblem, limit_s: float, battery: Battery | None, fastest: Route
) -> tuple[Route, str]:
    """Return the least-energy route within a time limit that ``fastest`` keeps, and how sure that is."""
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
        f"on the convex hull of time and energy: another route could take up to {gap_wh:.0f} Wh less",
    )


def keeps(ground: SearchProblem, battery: Battery, route: Route) -> bool:
    """Return whether the charge never falls below the reserve on a route."""
    charge_wh = follow(battery, ground.searchable_wh[route.rows]).charge_wh
    return bool(charge_wh.min() >= battery.reserve_wh - TOLERANCE_WH)
