"""Plans with charging stops that keep a limit of risk.

The stops of the plan by expected energies charge more until they keep it. Where that does not mend
it, a leg is too long for any charge, and another plan is sought: one for energies that are raised
by a multiple of their deviations. The least multiple whose plan keeps the limit is bisected, for
plans by small ones are too risky and there are none by great ones.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from evroute.arms import Route
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop, Visit, stops_at
from evroute.planning.charge.stops import LeastTime, shown
from evroute.planning.searches.search_problem import SearchProblem

Stops = tuple[ChargingStop, ...]
Shown = tuple[Route, Stops]
RiskOf = Callable[[Route, Stops], float]
Raised = Callable[[float], SearchProblem]
STEP, STEPS = 1 / 16, 64
"""Step and number of the multiples of deviations among which a plan is sought."""


@dataclass(eq=False)
class StopsWithin:
    """Plans of one request with stops that keep a limit of risk.

    Parameters
    ----------
    plans
        Plans of least time of the request.
    battery
        Charge at the start, and the reserve.
    most
        Greatest risk.
    risk_of
        Function that returns the risk of a route with stops.
    raised
        Function that returns the request with the energy of every arm raised by a multiple of its
        deviation.

    Attributes
    ----------
    safest
        The least risk of the plans that were judged, with its plan. None before the first one.
    """

    plans: LeastTime
    battery: Battery
    most: float
    risk_of: RiskOf
    raised: Raised
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
        plan = self.plans.plan(self.battery)
        if plan is None:
            return None
        usual = shown(self.plans.problem, self.battery, plan, self.plans.wishes)
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
        found: list[Shown] = []

        def is_enough(step: int) -> bool:
            plan = self.plans.plan_of(self.raised(step * STEP), self.battery)
            kept = plan and self.charging_more(plan.route, plan.visits)
            if kept:
                found.append(kept)
            return plan is None or bool(kept)

        bisect_left(range(1, STEPS), True, key=is_enough)
        return min(found, key=self.taken_s, default=None)

    def charging_more(self, route: Route, visits: tuple[Visit, ...]) -> Shown | None:
        """Return a plan with as many more per cents charged at each stop as the limit needs.

        None if even the greatest charges are too risky.

        Parameters
        ----------
        route, visits
            The plan.
        """

        def charged(more: int) -> Shown:
            given = self.plans.problem, self.battery, route, visits
            return stops_at(*given, self.plans.wishes, more=more)

        if not self.keeps(charged(100)):
            return None
        more = bisect_left(range(100), True, key=lambda more: self.keeps(charged(more)))
        return charged(more)

    def taken_s(self, plan: Shown) -> float:
        """Return the time of a route with its stops, s."""
        return self.plans.problem.taken_s(plan[0]) + sum(stop.time_s for stop in plan[1])
