"""Plans with charging stops that keep a limit of risk.

The stops of the plan by expected energies charge more until they keep it. Where that does not mend
it, a leg is too long for any charge, and another plan is sought: one for energies that are raised
by a multiple of their deviations. The least multiple whose plan keeps the limit is bisected, for
plans by small ones are too risky and there are none by great ones.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evroute.arms import Route
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes, Visit, stops_at
from evroute.planning.charge.stops import LeastTime, shown
from evroute.planning.searches.search_problem import SearchProblem

Stops = tuple[ChargingStop, ...]
Shown = tuple[Route, Stops]
RiskOf = Callable[[Route, Stops], float]
Raised = Callable[[float], SearchProblem]
HALVINGS = 6
"""Of the range of multiples of deviations in which a plan is sought."""
MOST_DEVIATIONS = 4.0
"""End of that range."""


@dataclass(eq=False)
class StopsWithin:
    """Plans of one request with stops that keep a limit of risk.

    Parameters
    ----------
    problem, battery, chargers, wishes
        As in `charging_stops`.
    most
        Greatest risk.
    risk_of
        Function that returns the risk of a route with stops.
    raised
        Function that returns the request with the energy of every arm raised by a multiple of its
        deviation.
    plans
        Plans of least time of the request that other searches share, or None.

    Attributes
    ----------
    safest
        The least risk of the plans that were judged, with its plan. None before the first one.
    """

    problem: SearchProblem
    battery: Battery
    chargers: Sequence[Charger]
    wishes: StopWishes
    most: float
    risk_of: RiskOf
    raised: Raised
    plans: LeastTime | None = None
    safest: tuple[float, Shown] | None = field(default=None, init=False)

    def keeps(self, plan: Shown) -> bool:
        """Return True if a route with stops keeps the limit."""
        risk = self.risk_of(*plan)
        if self.safest is None or risk < self.safest[0]:
            self.safest = risk, plan
        return risk <= self.most

    def fastest(self) -> tuple[Route, Stops, str] | None:
        """Return route, stops and proof of the fastest plan found that keeps the limit.

        It is the fastest of all if that keeps it. None if no plan was found.
        """
        plan = self._plans.plan(self.battery)
        if plan is None:
            return None
        usual = shown(self.problem, self.battery, plan, self.wishes)
        if self.keeps(usual[:2]):
            return usual
        found = self.charging_more(plan.route, plan.visits) or self._of_raised()
        if found is None:
            return None
        longer_s = self.taken_s(found) - self.taken_s(usual[:2])
        best = (
            "best with this risk"
            if usual[2].startswith("exact")
            else f"plan without the limit of risk, {usual[2]}"
        )
        return *found, f"at most {longer_s / 60:.1f} min longer than the {best}"

    def _of_raised(self) -> Shown | None:
        """Return the fastest plan found by raised energies that keeps the limit, or None."""
        found, low, high = None, 0.0, MOST_DEVIATIONS
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            plan = self._plans.plan_of(self.raised(middle), self.battery)
            kept = plan and self.charging_more(plan.route, plan.visits)
            if kept and (found is None or self.taken_s(kept) < self.taken_s(found)):
                found = kept
            if plan is None or kept:
                high = middle
            else:
                low = middle
        return found

    def charging_more(self, route: Route, visits: tuple[Visit, ...]) -> Shown | None:
        """Return a plan with as many more per cents charged at each stop as the limit needs.

        None if even the greatest charges are too risky.

        Parameters
        ----------
        route, visits
            The plan.
        """

        def charged(more: int) -> Shown:
            given = self.problem, self.battery, route, visits
            return stops_at(*given, self.wishes, more=more)

        if not self.keeps(charged(100)):
            return None
        more = bisect_left(range(100), True, key=lambda more: self.keeps(charged(more)))
        return charged(more)

    def taken_s(self, plan: Shown) -> float:
        """Return the time of a route with its stops, s."""
        return self.problem.taken_s(plan[0]) + sum(stop.time_s for stop in plan[1])

    @cached_property
    def _plans(self) -> LeastTime:
        return self.plans or LeastTime(self.problem, self.chargers, self.wishes)
