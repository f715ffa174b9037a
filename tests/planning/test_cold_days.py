"""A cold day against every route of small networks: the warm-up is drawn along the minutes driven.

The oracle enumerates routes and follows the charge edge by edge, with the warm-up as ``min(a t,
b)``.
"""

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from charging_requests import Request

from evroute.energy.heating import WarmUp
from evroute.errors import NotEnoughChargeError
from evroute.planning.battery import Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.charge_tree import charge_tree
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.charge.stops import best_plan, charging_stops
from evroute.planning.request import PlanRequest
from evroute.planning.rows import choose_rows
from evroute.planning.searches.search_problem import SearchProblem

NEAR_WH = 1e-6


def simple_routes(request: Request, at: int, end: int) -> Iterator[tuple[int, ...]]:
    """Yield all routes over edges from one to another one that drive no edge twice."""
    waiting = [(at,)]
    while waiting:
        route = waiting.pop()
        if route[-1] == end:
            yield route
            continue
        waiting += [(*route, into) for into in request.following[route[-1]] if into not in route]


@dataclass(frozen=True)
class Driven:
    """A route with its numbers: energy without losses, Wh, time, s, and charges, Wh."""

    route: tuple[int, ...]
    energy_wh: float
    time_s: float
    low_wh: float
    end_wh: float


def drive(request: Request, warm_up: WarmUp, battery: Battery, route: tuple[int, ...]) -> Driven:
    """Follow a route edge by edge."""
    charge_wh, driven_s, energy_wh, low_wh = battery.start_wh, 0.0, 0.0, battery.start_wh
    rate, whole = warm_up.wh_per_s, warm_up.whole_wh
    for edge in route:
        after_s = driven_s + float(request.time_s[edge])
        taken_wh = float(request.energy_wh[edge])
        taken_wh += min(rate * after_s, whole) - min(rate * driven_s, whole)
        charge_wh = min(charge_wh - taken_wh, battery.capacity_wh)
        driven_s, energy_wh, low_wh = after_s, energy_wh + taken_wh, min(low_wh, charge_wh)
    return Driven(route, energy_wh, driven_s, low_wh, charge_wh)


def draw_roads(seed: int) -> Request:
    """Return a request on six junctions with slopes, where no car turns around."""
    rng = np.random.default_rng((49, seed))
    n, height_m = 6, rng.uniform(0.0, 60.0, 6)
    streets = {(k, k + 1) for k in range(n - 1)}
    streets |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(4)}
    ways = [*sorted(streets), *((b, a) for a, b in sorted(streets))]
    tail, head = np.array(ways).T
    length_m = rng.uniform(200.0, 1000.0, len(ways))
    capacity_wh = float(rng.uniform(400.0, 1500.0))
    height_wh = 5.2 * height_m
    energy_wh = 0.15 * length_m * rng.uniform(0.7, 1.5, len(ways))
    first, last = rng.choice(len(ways), 2, replace=False).tolist()
    at = rng.choice(len(ways), 3, replace=False).tolist()
    return Request(
        length_m / rng.uniform(5.0, 25.0, len(ways)),
        energy_wh + height_wh[head] - height_wh[tail],
        np.array([height_wh[tail], height_wh[head]]),
        [
            [k for k in range(len(ways)) if tail[k] == head[e] and head[k] != tail[e]]
            for e in range(len(ways))
        ],
        (first, last),
        Battery(capacity_wh, float(capacity_wh * rng.uniform(0.2, 1.0)), 0.05 * capacity_wh),
        [
            Charger(f"S{k}", (k,), "ac", 1.0, np.arange(101.0) * rng.uniform(1.0, 6.0))
            for k in at
            if k not in (first, last)
        ],
    )


def drawn(seed: int, compiled: bool) -> tuple[Request, WarmUp, SearchProblem]:
    """Return a request, a warm-up of some minutes, and its search problem."""
    request, rng = draw_roads(seed), np.random.default_rng((50, seed))
    warm_up = WarmUp(float(rng.uniform(0.1, 1.5)), float(rng.uniform(20.0, 200.0)))
    return request, warm_up, replace(request.problem(compiled=compiled), warm_up=warm_up)


def of_energy(driven: Driven, battery: Battery | None) -> float:
    return driven.energy_wh if battery is None else battery.start_wh - driven.end_wh


def cost(driven: Driven, worth: tuple[float, float], battery: Battery | None) -> float:
    return worth[0] * of_energy(driven, battery) + worth[1] * driven.time_s


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("bounded", [False, True])
def test_each_row_of_a_plan_is_the_best_of_all_routes(bounded: bool, compiled: bool) -> None:
    """Least energy, with a limit of time, least cost, fastest and shortest."""
    found = 0
    for seed in range(60):
        request, warm_up, problem = drawn(seed, compiled)
        rng = np.random.default_rng(seed)
        battery = None
        routes = list(simple_routes(request, *request.ends))
        if bounded:
            battery = replace(request.battery, start_wh=request.battery.capacity_wh)
            if seed % 3:
                battery = replace(battery, start_wh=battery.capacity_wh * rng.uniform(0.4, 0.95))
        if not routes:
            continue
        each = [drive(request, warm_up, battery or Battery(1e9, 5e8, 0.0), r) for r in routes]
        kept = [d for d in each if battery is None or d.low_wh >= battery.reserve_wh]
        wishes = {"max_extra_time": "0.3", "price": "0.3", "time_value": "4"}
        for texts in ({}, wishes):
            asked = PlanRequest.without_places(texts)
            try:
                rows = choose_rows(problem, asked, battery)
            except NotEnoughChargeError:
                assert not kept
                continue
            found += 1
            fastest_s = min(d.time_s for d in kept)
            limit_s = np.inf if not texts else 1.3 * fastest_s + 1e-9
            allowed = [d for d in kept if d.time_s <= limit_s]
            shown = {
                name: drive(request, warm_up, battery or Battery(1e9, 5e8, 0.0), route.edges)
                for name, route in rows.routes.items()
            }
            assert battery is None or all(
                d.low_wh >= battery.reserve_wh - NEAR_WH for d in shown.values()
            )
            least_wh = min(of_energy(d, battery) for d in allowed)
            assert rows.proofs["energy"].startswith("exact")
            assert of_energy(shown["energy"], battery) == pytest.approx(least_wh, abs=NEAR_WH)
            assert shown["time"].time_s == pytest.approx(fastest_s)
            if "energy-limited" in rows.routes and rows.proofs["energy-limited"][:5] == "exact":
                soon = [d for d in kept if d.time_s <= 1.15 * fastest_s + 1e-9]
                assert of_energy(shown["energy-limited"], battery) == pytest.approx(
                    min(of_energy(d, battery) for d in soon), abs=NEAR_WH
                )
            if texts and rows.proofs["cost"].startswith("exact"):
                costs = [cost(d, asked.worth, battery) for d in allowed]
                least = cost(shown["cost"], asked.worth, battery)
                assert least == pytest.approx(min(costs), abs=1e-9)
    assert found > 40


@pytest.mark.parametrize("compiled", [True, False])
def test_the_least_start_is_the_least_of_all_routes(compiled: bool) -> None:
    for seed in range(60):
        request, warm_up, problem = drawn(seed, compiled)
        battery = request.battery
        routes = list(simple_routes(request, *request.ends))
        need_wh = problem.shortage.least_start_wh(battery)

        less_wh = min(max(need_wh - 1e-4, battery.reserve_wh), battery.capacity_wh)
        enough, less = (
            max(
                (drive(request, warm_up, replace(battery, start_wh=wh), r).low_wh for r in routes),
                default=-np.inf,
            )
            for wh in (min(need_wh, battery.capacity_wh), less_wh)
        )
        assert (enough >= battery.reserve_wh - 1e-9) == (need_wh < np.inf)
        if battery.reserve_wh + 1e-4 <= need_wh < np.inf:
            assert less < battery.reserve_wh


def test_the_example_of_three_legs() -> None:
    """2 min and +900 Wh, 2 and -700, 40 and +500: 1,260 Wh are needed at 27.3 Wh a minute."""
    pytest.importorskip("numba")
    request = draw_roads(0)
    time_s, energy_wh = np.array([120.0, 120, 2400]), np.array([900.0, -700, 500])
    height_wh = np.array([[0.0, 900, 200], [900.0, 200, 700]])
    line = replace(
        request,
        time_s=time_s,
        energy_wh=energy_wh,
        height_wh=height_wh,
        following=[[1], [2], []],
        ends=(0, 2),
        chargers=[],
    )
    warm_up = WarmUp(27.5 / 60, 560.0)
    problem = replace(line.problem(compiled=True), warm_up=warm_up)
    assert problem.shortage.least_start_wh(Battery(9000.0, 0.0, 0.0)) == pytest.approx(1260.0)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_range_has_the_roads_of_all_routes(compiled: bool) -> None:
    for seed in range(30):
        request, warm_up, problem = drawn(seed, compiled)
        battery = replace(request.battery, start_wh=0.7 * request.battery.capacity_wh)
        origin = request.ends[0]
        legs = problem.legs
        away = replace(problem, legs=replace(legs, stops=()))
        tree = charge_tree(away, battery)
        arrived = {}
        for edge, end_wh in zip(tree.edges.tolist(), tree.end_wh.tolist(), strict=True):
            arrived[edge] = max(end_wh, arrived.get(edge, -np.inf))
        for edge in range(len(request.time_s)):
            each = [
                drive(request, warm_up, battery, r) for r in simple_routes(request, origin, edge)
            ]
            kept = [d.end_wh for d in each if d.low_wh >= battery.reserve_wh]
            if kept:
                assert arrived[edge] == pytest.approx(max(kept), abs=NEAR_WH)
            else:
                assert edge not in arrived


def least_time_s(request: Request, warm_up: WarmUp) -> float:
    """Return the least time with stops that end at multiples of 10 %, s; infinite if none.

    A label is cut only by one that came no later, has as much charge and drove as long.
    """
    battery, wishes, unit_wh = request.battery, StopWishes(), request.battery.capacity_wh / 100
    kept: dict[int, list[tuple[float, float]]] = {}
    queue = [(0.0, -1, battery.start_wh, 0.0, 0)]
    while queue:
        time_s, edge, charge_wh, driven_s, stopped = heapq.heappop(queue)
        if edge == request.ends[1]:
            return time_s
        if any(wh >= charge_wh and s >= driven_s for wh, s in kept.get(edge, ())):
            continue
        kept.setdefault(edge, []).append((charge_wh, driven_s))
        for into in (request.ends[0],) if edge < 0 else request.following[edge]:
            after_s = driven_s + float(request.time_s[into])
            drawn_wh = float(warm_up.after(after_s) - warm_up.after(driven_s))
            left_wh = min(
                charge_wh - float(request.energy_wh[into]) - drawn_wh, battery.capacity_wh
            )
            if left_wh >= battery.reserve_wh:
                at_s = time_s + float(request.time_s[into])
                heapq.heappush(queue, (at_s, into, left_wh, after_s, 0))
        for each in request.chargers:
            if edge in each.nodes and not stopped:
                percent = charge_wh / unit_wh
                begun_s = time_s + wishes.setup_s - np.interp(percent, range(101), each.time_s)
                for to in range(10 * int(percent / 10) + 10, 101, 10):
                    until_s = float(begun_s + each.time_s[to])
                    heapq.heappush(queue, (until_s, edge, to * unit_wh, driven_s, 1))
    return np.inf


@pytest.mark.parametrize("compiled", [True, False])
def test_plans_with_stops_are_as_fast_as_any_and_keep_the_reserve(compiled: bool) -> None:
    seen = Counter[int]()
    for seed in range(36):
        request, warm_up, problem = drawn(seed, compiled)
        battery = request.battery
        start_wh = min(battery.start_wh, 0.3 * battery.capacity_wh)
        request = replace(request, battery=replace(battery, start_wh=start_wh))
        battery, wishes = request.battery, StopWishes()
        least_s = least_time_s(request, warm_up)
        aim = Aim.least_time(problem, request.chargers, wishes)
        plan = best_plan(problem, battery, request.chargers, aim, wishes)
        if plan is None:
            assert least_s == np.inf
            continue
        assert plan.exact
        assert plan.cost <= least_s + 1e-6
        route, stops, proof = charging_stops(problem, battery, request.chargers, wishes)
        seen[len(stops)] += 1
        charge_wh, driven_s, time_s = battery.start_wh, 0.0, 0.0
        to = {stop.after_edges: stop for stop in stops}
        for after, edge in enumerate(route.edges, start=1):
            drawn_wh = warm_up.after(driven_s + request.time_s[edge]) - warm_up.after(driven_s)
            charge_wh = min(charge_wh - request.energy_wh[edge] - drawn_wh, battery.capacity_wh)
            driven_s += request.time_s[edge]
            assert charge_wh >= battery.reserve_wh - NEAR_WH
            if after in to:
                assert to[after].arrive_percent == pytest.approx(battery.percent(charge_wh))
                charge_wh = battery.capacity_wh * to[after].to_percent / 100
                time_s += to[after].time_s
        assert proof.startswith("exact")
        assert time_s + driven_s <= plan.cost + 6.0 * len(stops) + 1e-6
    assert seen[1] > 3, seen
