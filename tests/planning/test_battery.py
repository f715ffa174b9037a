"""The bounded battery: by hand, and against every route of random small hilly networks."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow
from evroute.planning.charge.shortage import Shortage
from evroute.planning.searches.search_problem import SearchProblem

N_NETWORKS = 500
Problems = Callable[..., SearchProblem]
Routes = Callable[[RoadNetwork, int, int], Iterator[list[int]]]


def shortage(problem: SearchProblem) -> Shortage:
    return problem.shortage


def physics(network: RoadNetwork) -> FloatArray:
    return fit(network, load_vehicle("reference")).mean_wh


def arrival(energy_wh: FloatArray, route: list[int], battery: Battery) -> float:
    """Return the charge at the end, or -inf where it falls below the reserve on the way."""
    charge = battery.start_wh
    for edge in route:
        charge = min(battery.capacity_wh, charge - energy_wh[edge])
        if charge < battery.reserve_wh:
            return -np.inf
    return charge


def least_start(
    energy_wh: FloatArray, route: list[int], capacity_wh: float, reserve_wh: float
) -> float:
    """Return the least charge to drive a route with, by working back from its end."""
    need = reserve_wh
    for edge in reversed(route):
        if need > capacity_wh:
            return np.inf
        need = max(reserve_wh, need + energy_wh[edge])
    return need if need <= capacity_wh else np.inf


def draw_battery(rng: np.random.Generator) -> Battery:
    capacity = rng.uniform(250, 1200)
    reserve = capacity * rng.uniform(0, 0.1)
    start = capacity if rng.random() < 0.7 else rng.uniform(reserve, capacity)
    return Battery(capacity, start, reserve)


def test_it_follows_a_charge_by_hand() -> None:
    # 95 of 100: +10 makes 105, so 5 are lost; -60, +20, -30
    trace = follow(Battery(100, 95, 0), np.array([-10.0, 60.0, -20.0, 30.0]))
    assert trace.charge_wh.tolist() == [95, 100, 40, 60, 30]
    assert trace.lost_wh == 5
    assert trace.lowest == 4


def test_a_charge_is_followed_below_empty_to_tell_by_how_much() -> None:
    trace = follow(Battery(100, 20, 5), np.array([50.0, -80.0, 10.0]))
    assert trace.charge_wh.tolist() == [20, -30, 50, 40]
    assert trace.lowest == 1


@pytest.mark.parametrize(
    ("start", "reserve"), [(101, 0), (-1, 0), (10, 20), (np.nan, 0), (50, -1), (50, np.nan)]
)
def test_a_battery_that_cannot_be_is_refused(start: float, reserve: float) -> None:
    with pytest.raises(EvrouteError, match="reserve"):
        Battery.of_percent(50, start, reserve)


def test_the_searches_equal_every_route_of_random_hilly_networks(
    hilly: Callable[[int], RoadNetwork], every_route: Routes, problem_of: Problems
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(N_NETWORKS):
        network = hilly(seed)
        rng = np.random.default_rng(seed)
        energy_wh = physics(network)
        origin, destination = (int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        problem = problem_of(network, energy_wh, origin, destination)
        routes = list(every_route(network, origin, destination))
        if not routes:
            continue
        battery = draw_battery(rng)
        arrivals = [arrival(energy_wh, route, battery) for route in routes]
        best_wh = max(arrivals)
        if np.isfinite(best_wh):
            found = problem.most_charge(battery)
            assert arrival(energy_wh, list(found.edges), battery) == pytest.approx(
                best_wh, abs=1e-9
            )
            seen["full"] += follow(battery, energy_wh[found.rows]).lost_wh > 0
            unbounded = min(routes, key=lambda route: energy_wh[route].sum())
            seen["detour"] += arrival(energy_wh, unbounded, battery) < best_wh - 1e-9
        else:
            with pytest.raises(NoRouteError):
                problem.most_charge(battery)
            seen["none"] += 1
        need_wh = min(
            least_start(energy_wh, r, battery.capacity_wh, battery.reserve_wh) for r in routes
        )
        computed = shortage(problem).least_start_wh(battery)
        assert computed == pytest.approx(need_wh, abs=1e-9)
        least = problem.legs.route(problem.weights())
        spared = shortage(problem).least_start_wh(battery, least)
        assert spared == pytest.approx(need_wh, abs=1e-9)
        trace = follow(battery, energy_wh[least.rows])
        if trace.charge_wh[-1] < battery.reserve_wh and not trace.lost_wh:
            with pytest.raises(NoRouteError):
                problem.most_charge(battery, least)
            seen["refused by the least energy"] += 1
        seen["compared"] += 1
    assert seen["compared"] >= 200
    assert min(seen["full"], seen["detour"], seen["none"]) >= 5, seen
    assert seen["refused by the least energy"] >= 5, seen


def test_the_least_start_charge_is_enough_and_a_little_less_is_not(
    hilly: Callable[[int], RoadNetwork], problem_of: Problems
) -> None:
    tried = 0
    for seed in range(40):
        network = hilly(seed)
        problem = problem_of(network, physics(network), 0, network.n_edges - 1)
        need_wh = shortage(problem).least_start_wh(Battery(400.0, 400.0, 20.0))
        if not 21 < need_wh < 400:
            continue
        problem.most_charge(Battery(400.0, need_wh, 20.0))
        with pytest.raises(NoRouteError, match=r"needs 0\.01 kWh more"):
            problem.most_charge(Battery(400.0, need_wh - 0.01, 20.0))
        tried += 1
    assert tried >= 10


def test_a_full_battery_that_is_too_small_says_by_how_much(
    hill: RoadNetwork, problem_of: Problems
) -> None:
    energy_wh = physics(hill)
    need_wh = energy_wh[[hill.row_of[name] for name in ("in", "east", "west", "out")]].sum()
    battery = Battery(need_wh - 150, need_wh - 150, 0.0)
    with pytest.raises(NoRouteError, match=r"even a full battery .* needs 0.15 kWh more"):
        problem_of(hill, energy_wh, hill.row_of["in"], hill.row_of["out"]).most_charge(battery)


def test_following_the_advice_succeeds_and_a_little_less_does_not(
    hilly: Callable[[int], RoadNetwork], problem_of: Problems
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(N_NETWORKS):
        network = hilly(seed)
        rng = np.random.default_rng(1000 + seed)
        problem = problem_of(network, physics(network), 0, network.n_edges - 1)
        kwh, reserve = rng.uniform(0.02, 0.6), int(rng.integers(0, 30))
        soc = int(rng.choice([reserve, reserve + 1, rng.integers(reserve, 101), 100]))

        def advice(
            kwh: float,
            soc: float,
            problem: SearchProblem = problem,
            reserve: int = reserve,
        ) -> str:
            """Return the reason why there is no route, or nothing."""
            try:
                problem.most_charge(Battery.of_percent(kwh, soc, reserve))
            except NoRouteError as error:
                return str(error)
            return ""

        if advised := re.search(r"at least (\d+) %", message := advice(kwh, soc)):
            assert not advice(kwh, int(advised[1]))
            assert advice(kwh, int(advised[1]) - 1)
            seen["charge"] += 1
        elif advised := re.search(r"needs ([\d.]+) kWh more .* starting with 100 %", message):
            assert not advice(kwh + float(advised[1]), 100)
            assert float(advised[1]) <= 0.01 or advice(kwh + float(advised[1]) - 0.01, 100)
            seen["capacity"] += 1
        else:
            assert not message or "no open way" in message
    assert min(seen["charge"], seen["capacity"]) >= 50, seen


def test_no_battery_keeps_a_reserve_of_all_its_charge(
    hill: RoadNetwork, problem_of: Problems
) -> None:
    battery = Battery.of_percent(1.0, 100, 100)
    problem = problem_of(hill, physics(hill), hill.row_of["in"], hill.row_of["out"])
    with pytest.raises(NoRouteError, match="a reserve of 100 % leaves no charge"):
        problem.most_charge(battery)


def test_with_a_vast_half_full_battery_it_is_the_unbounded_optimum(
    hilly: Callable[[int], RoadNetwork], every_route: Routes, problem_of: Problems
) -> None:
    battery = Battery(1e6, 5e5, 0.0)
    for seed in range(30):
        network = hilly(seed)
        energy_wh = physics(network)
        routes = list(every_route(network, 0, network.n_edges - 1))
        if routes:
            route = problem_of(network, energy_wh, 0, network.n_edges - 1).most_charge(battery)
            assert energy_wh[route.rows].sum() == pytest.approx(
                min(energy_wh[r].sum() for r in routes), abs=1e-9
            )
