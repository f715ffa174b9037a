"""At a risk a request with a plan on the mean is refused only if no charges keep the risk.

All routes of small networks are listed here. Each charges as much as it may at every station, since
more charge is never riskier. The search is not complete for all networks: of 800 refused requests
drawn like these, 3 had a plan that kept the risk by at most 0.8 points.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from charging_requests import Request, draw_network

from evroute.arms import Route
from evroute.arrays import BoolArray, FloatArray
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import ChargingStop, StopWishes
from evroute.planning.charge.stops import LeastTime, best_plan
from evroute.planning.charge.stops_within import StopsWithin
from evroute.planning.searches.search_problem import SearchProblem

MOST, DRAWS, N_REFUSED = 0.1, 400, 100


class Trips:
    """Random energies of the edges of a request, the same for every route."""

    def __init__(self, request: Request, rng: np.random.Generator) -> None:
        self.request = request
        self.std_wh = np.abs(request.energy_wh) * rng.uniform(0.02, 0.9, len(request.energy_wh))
        car, own = rng.standard_normal((DRAWS, 1)), rng.standard_normal((DRAWS, len(self.std_wh)))
        self.energy_wh = request.energy_wh + self.std_wh * (0.5 * car + 0.866 * own)

    def after(
        self, left: tuple[FloatArray, BoolArray], edge: int, percent: float | None
    ) -> tuple[FloatArray, BoolArray]:
        """Return the charge of each trip after an edge and a stop, and whether it was enough."""
        battery = self.request.battery
        charge_wh = np.minimum(left[0] - self.energy_wh[:, edge], battery.capacity_wh)
        kept = left[1] & (charge_wh >= battery.reserve_wh - 1e-9)
        if percent is not None:
            charge_wh = np.maximum(charge_wh, battery.capacity_wh * percent / 100)
        return charge_wh, kept

    @property
    def start(self) -> tuple[FloatArray, BoolArray]:
        """The charge of each trip at the start."""
        return np.full(DRAWS, self.request.battery.start_wh), np.ones(DRAWS, dtype=np.bool_)

    def risk_of(self, route: Route, stops: tuple[ChargingStop, ...]) -> float:
        """Return the share of the trips that fall below the reserve."""
        to = {stop.after_edges: float(stop.to_percent) for stop in stops}
        left = self.start
        for driven, edge in enumerate(route.edges, start=1):
            left = self.after(left, edge, to.get(driven))
        return 1.0 - float(left[1].mean())

    def least_risk(self, to_percent: float) -> float:
        """Return the least risk of all routes that charge to a per cent at each station, or 1.

        A route whose beginning is far too risky is not followed.
        """
        request = self.request
        stations = {node: to_percent for each in request.chargers for node in each.nodes}
        least, first = 1.0, request.ends[0]
        stack = [((first,), self.after(self.start, first, stations.get(first)))]
        while stack:
            route, left = stack.pop()
            if left[1].mean() < 1 - 1.5 * MOST:
                continue
            if route[-1] == request.ends[1]:
                least = min(least, 1.0 - float(left[1].mean()))
                continue
            for edge in request.following[route[-1]]:
                if edge not in route:
                    after = self.after(left, edge, stations.get(edge))
                    stack.append(((*route, edge), after))
        return least


def test_a_request_is_refused_at_a_risk_only_if_no_charges_keep_it() -> None:
    seen: Counter[str] = Counter()
    for seed in range(2000):
        if seen["refused"] == N_REFUSED:
            break
        request, rng = draw_network(seed), np.random.default_rng(seed)
        battery = request.battery
        start_wh = max(battery.reserve_wh, battery.capacity_wh * rng.uniform(0.1, 0.6))
        request = replace(request, battery=replace(battery, start_wh=start_wh))
        problem, trips = request.problem(compiled=True), Trips(request, rng)
        wishes = StopWishes(60.0, 0.0, float(rng.integers(60, 101)))
        given = problem, request.battery, request.chargers
        aim = Aim.least_time(problem, request.chargers, wishes)
        if best_plan(*given, aim, wishes) is None:
            continue

        def raised(
            deviations: float, problem: SearchProblem = problem, trips: Trips = trips
        ) -> SearchProblem:
            return replace(problem, charge=problem.charge.beginning(deviations * trips.std_wh))

        plans = LeastTime(problem, request.chargers, wishes)
        within = StopsWithin(plans, request.battery, MOST, trips.risk_of, raised)
        found = within.fastest()
        if found is None:
            seen["refused"] += 1
            assert trips.least_risk(wishes.to_percent) > MOST, seed
        else:
            seen["kept"] += 1
            assert trips.risk_of(*found[:2]) <= MOST, seed
    assert seen["refused"] == N_REFUSED, seen
    assert seen["kept"] >= 30, seen
