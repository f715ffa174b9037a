"""Rows of a plan that may charge on the way: each is the best with any number of stops.

Rows are ``time``; ``time-without-stop``, the fastest route without a stop, where ``time`` stops and
there is one; and ``energy``, least energy driven. A fastest route that keeps the reserve as it is
needs no search. With a limit of risk the recommended row keeps it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evroute.arms import Route
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import ChargingStop, stops_at
from evroute.planning.charge.risk import RiskSearch
from evroute.planning.charge.stop_bounds import needs_stop
from evroute.planning.charge.stops import LeastTime, StopPlan, best_plan, charging_stops
from evroute.planning.charge.stops_within import Shown, StopsWithin
from evroute.planning.rows import Rows
from evroute.planning.searches.search_problem import SearchProblem, rounded_up

Found = tuple[Route, tuple[ChargingStop, ...], str]
NO_SEARCH = "exact: the fastest of all routes keeps the reserve"


@dataclass(frozen=True, slots=True)
class StopRows:
    """Rows of one request that may charge on the way.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Its charge.
    plans
        Plans of least time of the request where routes may stop at chargers.
    """

    problem: SearchProblem
    battery: Battery
    plans: LeastTime

    def suffices(self, route: Route) -> bool:
        """Return True if a route without stops keeps the reserve, and the charge at the end."""
        trace = self.problem.follow(self.battery, route)
        end_wh = self.battery.capacity_wh * (self.plans.wishes.arrive_percent / 100)
        return (
            float(trace.low_wh.min()) >= self.battery.reserve_wh - TOLERANCE_WH
            and float(trace.charge_wh[-1]) >= end_wh - TOLERANCE_WH
        )

    def choose(self) -> Rows | None:
        """Return the rows by expected energies, or None if no plan keeps the reserve."""
        fastest = self.problem.fastest
        rows, least = Rows({}, {}, "time"), None
        if self.suffices(fastest):
            rows.add("time", (fastest, (), NO_SEARCH))
        else:
            plan, rest_wh = self.plans.plan(self.battery), self.plans.left.rest_wh
            if plan is None:
                return None
            least = self._least_energy()
            # rounded up, another plan may arrive earlier
            self._add_fastest(rows, plan, (self._shown(plan), least[:2]))
            without = None
            arrive_wh = self.plans.wishes.arrive_wh(self.battery)
            if rows.stops and not needs_stop(self.plans.problem, self.battery, rest_wh, arrive_wh):
                without = charging_stops(self.problem, self.battery, (), self.plans.wishes)
            if without:
                rows.add("time-without-stop", without)
        rows.add("energy", self._least_energy() if least is None else least)
        return rows

    def stops_from(self) -> tuple[ChargingStop, ...] | None:
        """Return the stops of the fastest plan, maybe none. None if no plan keeps the reserve."""
        if self.suffices(self.problem.fastest):
            return ()
        plan = self.plans.plan(self.battery)
        return None if plan is None else self._shown(plan)[1]

    def _add_fastest(self, rows: Rows, plan: StopPlan, shown: Sequence[Shown]) -> None:
        """Add the fastest of some plans, of which one is a plan of least time."""
        route, stops = min(shown, key=self.taken_s)
        proof = plan.of_least_time(self.taken_s((route, stops)), stops=bool(stops))
        rows.add("time", (route, stops, proof))

    def _shown(self, plan: StopPlan) -> Shown:
        """Return a route and its stops, their charges rounded up."""
        args = self.plans.problem, self.battery, plan.route, plan.visits
        return stops_at(*args, self.plans.wishes)

    def add_least_money(self, rows: Rows, worth: tuple[float, float]) -> None:
        """Add and recommend the row of least money (`Aim.least_money`), with its certificate.

        Parameters
        ----------
        rows
            The rows so far. Rounded up to whole per cents, one of them may cost less.
        worth
            Own price of one Wh, and value of one second, money.
        """
        plan = self._least_dear(worth)
        plans = [self._shown(plan), *(rows.shown(name) for name in rows.routes)]
        route, stops = min(plans, key=lambda shown: self.money(shown, worth))
        gap = rounded_up(plan.cost - plan.bound, 1000)
        proof = f"within {gap:.3f} of the least cost with any stops"
        if plan.exact:
            proof = "exact: no plan with any stops costs less"
            proof += ", but for rounding charges up to whole per cents" if plan.visits else ""
        rows.add("cost", (route, stops, proof))
        rows.recommended = "cost"

    def _least_dear(self, worth: tuple[float, float]) -> StopPlan:
        """Return the plan of least money."""
        plans = self.plans
        given = plans.problem, self.battery, plans.chargers
        plan = best_plan(*given, Aim.least_money(*given, plans.wishes, worth), plans.wishes)
        assert plan is not None, "a plan of least time is a plan"
        return plan

    def money(self, shown: Shown, worth: tuple[float, float]) -> float:
        """Return the cost of a route with its stops, money, by the rule of `Aim.least_money`.

        Parameters
        ----------
        shown
            The route and its stops.
        worth
            Own price of one Wh, and value of one second, money.
        """
        route, stops = shown
        charged = [(stop.after_edges, stop.to_percent) for stop in stops]
        charge_wh = self.plans.problem.follow(self.battery, route, charged).charge_wh
        own_wh = max(float(charge_wh[0] - charge_wh[-1]), 0.0)
        paid = sum(stop.paid or 0.0 for stop in stops)
        return worth[0] * own_wh + worth[1] * self.taken_s(shown) + paid

    def keep_risk(
        self, rows: Rows, search: RiskSearch, safe: StopsWithin, worth: tuple[float, float] | None
    ) -> Rows | None:
        """Return rows whose recommended one keeps a limit of risk, or None if no plan was found.

        Rows that keep it stay as they are. If not, the row ``time`` is the fastest plan that does,
        and so is ``cost`` the least dear one. The row ``energy`` stays in any case.

        Parameters
        ----------
        rows
            The rows by expected energies.
        search
            Searches for routes without stops within the limit.
        safe
            Searches for plans with stops within the limit.
        worth
            As in `add_least_money`, or None without a value of time.
        """
        usual = rows.shown(rows.recommended)
        if safe.keeps(usual):
            rows.unlimited = usual
            return rows
        kept = self._fastest_within(search, safe)
        if kept is None:
            return None
        if "energy" in rows.routes:
            kept.add("energy", (*rows.shown("energy"), rows.proofs["energy"]))
        if worth is not None:
            self._add_safe_money(kept, rows, safe, worth)
        kept.unlimited = usual
        return kept

    def _fastest_within(self, search: RiskSearch, safe: StopsWithin) -> Rows | None:
        """Return the row of the fastest plan that keeps a limit of risk, and of one without stops.

        None if no plan was found.
        """
        without, stopping = self._safe_without(search), safe.fastest()
        plans = [plan for plan in (without, stopping) if plan is not None]
        if not plans:
            return None
        rows = Rows({}, {}, "time")
        rows.add("time", min(plans, key=lambda plan: self.taken_s(plan[:2])))
        if without and rows.stops:
            rows.add("time-without-stop", without)
        return rows

    def _add_safe_money(
        self, kept: Rows, usual: Rows, safe: StopsWithin, worth: tuple[float, float]
    ) -> None:
        """Add and recommend the least dear plan found that keeps a limit of risk.

        The stops of the plan of least money charge more until they keep it.
        """
        plans = [shown for name in kept.routes if safe.keeps(shown := kept.shown(name))]
        dear = self._least_dear(worth)
        if more := safe.charging_more(dear.route, dear.visits):
            plans.append(more)
        route, stops = min(plans, key=lambda plan: self.money(plan, worth))
        least = self.money(usual.shown("cost"), worth)
        gap = rounded_up(self.money((route, stops), worth) - least, 1000)
        proof = f"within {gap:.3f} of the least cost without the limit of risk"
        kept.add("cost", (route, stops, proof))
        kept.recommended = "cost"

    def within_from(self, search: RiskSearch, safe: StopsWithin) -> tuple[ChargingStop, ...] | None:
        """Return the stops of a plan that keeps a limit of risk, maybe none. None without a plan.

        Parameters
        ----------
        search, safe
            As in `keep_risk`.
        """
        fastest = self.problem.fastest
        if self.suffices(fastest) and safe.keeps((fastest, ())):
            return ()
        found = safe.fastest() or self._safe_without(search)
        return None if found is None else found[1]

    def taken_s(self, shown: Shown) -> float:
        """Return the time of a route with its stops, s."""
        return self.plans.problem.taken_s(shown[0]) + sum(stop.time_s for stop in shown[1])

    def _safe_without(self, search: RiskSearch) -> Found | None:
        """Return the fastest route found without a stop that keeps the risk, if there is one."""
        route, gap_s = search.fastest()
        if route is None or not self.suffices(route):
            return None
        late = f"at most {gap_s / 60:.1f} min longer than the best" if gap_s else "exact"
        return route, (), f"{late}: of the routes without a stop that keep the risk"

    def _least_energy(self) -> Found:
        """Return the plan of least energy driven, and how far it is certified."""
        problem, battery = self.problem, self.battery
        least = problem.cheapest((1.0, 0.0))
        if self.suffices(least) and problem.follow(battery, least).lost_wh <= TOLERANCE_WH:
            return least, (), "exact: no route takes less energy"
        given = self.plans.problem, battery, self.plans.chargers
        aim = Aim.least_energy(*given, self.plans.wishes)
        plan = best_plan(*given, aim, self.plans.wishes, left=self.plans.left)
        assert plan is not None, "a plan of least time is a plan"
        if plan.exact:
            return *self._shown(plan), "exact: no plan with any stops takes less energy"
        gap_wh = plan.cost - plan.bound
        return *self._shown(plan), f"within {gap_wh:.1f} Wh of the least energy with any stops"
