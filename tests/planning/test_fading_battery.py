"""Regeneration that fades near a full battery: by hand, and against every route."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow, greatest_start_wh
from evroute.planning.charge.shortage import Shortage
from evroute.planning.searches.search_problem import SearchProblem

N_NETWORKS = 300
Routes = Callable[[RoadNetwork, int, int], Iterator[list[int]]]


def after_in_small_steps(battery: Battery, charge_wh: float, energy_wh: float) -> float:
    """Return the charge after an edge whose descent is cut into 20,000 steps."""
    if energy_wh >= 0:
        return charge_wh - energy_wh
    step_wh = -energy_wh / 20_000
    for _ in range(20_000):
        above = max(charge_wh / battery.capacity_wh * 100 - battery.full_percent, 0.0)
        charge_wh += step_wh * max(1.0 - battery.fade * above / 10.0, 0.0)
    return min(charge_wh, battery.capacity_wh)


def arrival(energy_wh: FloatArray, route: list[int], battery: Battery) -> float:
    """Return the charge at the end, or -inf where it falls below the reserve on the way."""
    charge_wh = battery.start_wh
    for edge in route:
        charge_wh = battery.after(charge_wh, energy_wh[edge])
        if charge_wh < battery.reserve_wh:
            return -np.inf
    return charge_wh


def least_start(energy_wh: FloatArray, route: list[int], battery: Battery) -> float:
    """Return the least start charge of a route, by bisection of its arrivals."""

    def suffices(start_wh: float) -> bool:
        started = Battery(
            battery.capacity_wh,
            max(start_wh, battery.reserve_wh),
            battery.reserve_wh,
            battery.full_percent,
            battery.fade,
        )
        return arrival(energy_wh, route, started) > -np.inf

    low_wh, high_wh = battery.reserve_wh, battery.capacity_wh
    if suffices(low_wh):
        return low_wh
    if not suffices(high_wh):
        return np.inf
    for _ in range(60):
        middle_wh = (low_wh + high_wh) / 2
        low_wh, high_wh = (low_wh, middle_wh) if suffices(middle_wh) else (middle_wh, high_wh)
    return high_wh


def draw_battery(rng: np.random.Generator) -> Battery:
    capacity_wh = rng.uniform(250, 1200)
    reserve_wh = capacity_wh * rng.uniform(0, 0.1)
    start_wh = capacity_wh * rng.choice([1.0, 0.95, rng.uniform(0.1, 1.0)])
    return Battery(capacity_wh, start_wh, reserve_wh, rng.uniform(40, 90), rng.uniform(0.3, 3.0))


def test_a_charge_is_followed_by_hand() -> None:
    # 172 Wh per per cent: 1,500 Wh of descent lead from 92 to 94.654 %, however it is cut
    battery = Battery(17_200.0, 0.92 * 17_200.0, 0.0, 85.0, 0.82)
    for parts in (1, 3, 50):
        trace = follow(battery, np.full(parts, -1500.0 / parts))
        assert battery.percent(trace.charge_wh[-1]) == pytest.approx(94.654, abs=0.001)
        assert trace.lost_wh == pytest.approx(1500.0 - 172.0 * 2.654, abs=0.1)
    usual = Battery(17_200.0, 0.92 * 17_200.0, 0.0)
    assert follow(usual, np.array([-1000.0])).lost_wh == 0.0
    # no charge is lost up to 85 %: 2 Wh less than that for a descent of 2 Wh after 1 Wh up
    assert greatest_start_wh(battery, np.array([1.0, -2.0])) == pytest.approx(14_620.0 - 1.0)


def test_an_edge_equals_many_small_steps() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        battery = draw_battery(rng)
        energy_wh = rng.normal(-100.0, 100.0)
        expected_wh = after_in_small_steps(battery, battery.start_wh, energy_wh)
        assert battery.after(battery.start_wh, energy_wh) == pytest.approx(expected_wh, abs=0.1)


def test_the_searches_equal_every_route_of_random_hilly_networks(
    hilly: Callable[[int], RoadNetwork],
    every_route: Routes,
    problem_of: Callable[..., SearchProblem],
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(N_NETWORKS):
        network = hilly(seed)
        rng = np.random.default_rng(seed)
        energy_wh = fit(network, load_vehicle("reference")).mean_wh
        origin, destination = (int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        routes = list(every_route(network, origin, destination))
        if not routes:
            continue
        battery, problem = draw_battery(rng), problem_of(network, energy_wh, origin, destination)
        arrivals = {tuple(route): arrival(energy_wh, route, battery) for route in routes}
        best_wh = max(arrivals.values())
        if np.isfinite(best_wh):
            found = problem.most_charge(battery)
            assert arrivals[found.edges] == pytest.approx(best_wh, abs=1e-7)
            usual = Battery(battery.capacity_wh, battery.start_wh, battery.reserve_wh)
            without = problem.most_charge(usual)
            seen["another"] += arrivals[without.edges] < best_wh - 1e-6
            seen["lost"] += follow(battery, energy_wh[found.rows]).lost_wh > 1.0
            # and the shortest of those that keep the reserve
            kept = [network.length_m[list(r)].sum() for r in arrivals if arrivals[r] > -np.inf]
            labels = problem.label_search
            shortest, complete = labels.cheapest(battery, network.length_m, worth=(0.0, 1.0))
            assert complete
            assert network.length_m[shortest.rows].sum() == pytest.approx(min(kept))
        else:
            with pytest.raises(NoRouteError):
                problem.most_charge(battery)
            seen["none"] += 1
        need_wh = min(least_start(energy_wh, route, battery) for route in routes)
        unguided = Shortage(problem.legs, problem.head_wh, problem.charge)
        for shortage in (problem.shortage, unguided):
            assert shortage.least_start_wh(battery) == pytest.approx(need_wh, abs=1e-6)
        least = problem.legs.route(problem.weights())
        spared = problem.shortage.least_start_wh(battery, least)
        assert spared == pytest.approx(need_wh, abs=1e-6)
        seen["compared"] += 1
    assert seen["compared"] >= 150
    assert min(seen["lost"], seen["none"]) >= 5, seen
    assert seen["another"] >= 1, seen
