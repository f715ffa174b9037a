"""Charging stops: by hand, and against every plan of random small hilly networks."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import charging_checks as checks
import charging_orders as orders
import numpy as np
import pytest
from charging_positions import draw as between_positions
from charging_requests import Request, draw_country, draw_network, wished

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.bisection import least_that_succeeds
from evroute.energy.heating import WarmUp
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.aims import Aim
from evroute.planning.charge.chargers import SETUP_S, Charger, StopWishes
from evroute.planning.charge.refusals import whole_percent, with_advice
from evroute.planning.charge.station_needs import StationNeeds, to_a_station
from evroute.planning.charge.stations import wanted
from evroute.planning.charge.stops import LeastTime, best_plan, charging_stops
from evroute.planning.charge.stops_within import StopsWithin
from evroute.planning.request import PlanRequest
from evroute.planning.searches.search_problem import SearchProblem
from evroute.testing.on_average import PlannerOnAverage as Planner

N_CASES, N_COMPILED = 330, 40
STOPS = 4
"""Greatest number of stops of the plans by brute force; more would not be faster here."""
FRVCPY = Path(__file__).with_name("frvcpy_times.json")
TWIZY = Path(__file__).parents[2] / "data/benchmark/twizy.toml"
Problems = Callable[..., SearchProblem]


def draw_charger(rng: np.random.Generator, edge: int, capacity_wh: float) -> Charger:
    """Return a socket with a power that may rise and fall with the charge."""
    kw = rng.uniform(0.3, 3.0, 100) if rng.random() < 0.5 else np.full(100, rng.uniform(0.3, 3.0))
    time_s = np.concatenate([[0.0], np.cumsum(3.6 * capacity_wh / 100 / kw)])
    return Charger(f"station {edge}", (edge,), "ac", 1.0, time_s)


def brute_force(
    network: RoadNetwork,
    energy_wh: FloatArray,
    ends: tuple[int, int],
    battery: Battery,
    chargers: list[Charger],
    step: int,
) -> list[float]:
    """Return the least time with at most 0, 1, ... `STOPS` stops, s: all routes, all charges.

    Charges on leaving are the multiples of ``step`` per cent.
    """
    origin, destination = ends
    levels = np.arange(0, 101, step)
    places = {each.nodes[0]: each for each in chargers}
    following: dict[int, list[int]] = {e: [] for e in range(network.n_edges)}
    for a, b in network.turns.tolist():
        following[a].append(b)

    def drive(edge: int, charge_wh: FloatArray) -> FloatArray:
        charge_wh = np.minimum(battery.capacity_wh, charge_wh - energy_wh[edge])
        return np.where(charge_wh >= battery.reserve_wh - 1e-9, charge_wh, np.nan)

    def legs(start: int, time_s: float, charge_wh: FloatArray) -> None:
        """Store times and charges at the end of all routes from the end of an edge on."""
        stack = [([start], time_s, charge_wh)]
        while stack:
            route, time_s, charge_wh = stack.pop()
            if route[-1] == destination or route[-1] in places:
                ways.setdefault((start, route[-1]), []).append((time_s, charge_wh))
            if route[-1] == destination or np.isnan(charge_wh).all():
                continue
            stack += [
                ([*route, e], time_s + float(network.time_s[e]), drive(e, charge_wh))
                for e in following[route[-1]]
                if e not in route
            ]

    ways: dict[tuple[int, int], list[tuple[float, FloatArray]]] = {}
    legs(origin, float(network.time_s[origin]), drive(origin, np.array([battery.start_wh])))
    for place in places:
        legs(place, 0.0, battery.capacity_wh * (levels / 100))

    def arrive(at_s: dict[int, FloatArray], end: int) -> tuple[FloatArray, FloatArray]:
        """Return times and charges, flat, of all ways to a place by the times of leaving others."""
        found = [
            (at_s[start] + time_s, left_wh)
            for start in at_s
            for time_s, left_wh in ways.get((start, end), [])
            if start != end
        ]
        time_s, left_wh = (
            np.array(found).reshape(-1, 2, len(next(iter(at_s.values())))).swapaxes(0, 1)
        )
        kept = np.isfinite(left_wh) & np.isfinite(time_s)
        return time_s[kept], left_wh[kept]

    at_s, best = {origin: np.zeros(1)}, []
    for _ in range(STOPS + 1):
        best.append(min([*best[-1:], *arrive(at_s, destination)[0].tolist()], default=np.inf))
        leaving_s = {}
        for place, charger in places.items():
            time_s, left_wh = arrive(at_s, place)
            percent = 100 * left_wh / battery.capacity_wh
            since_s = np.interp(percent, np.arange(101), charger.time_s)
            total_s = (time_s + SETUP_S - since_s)[:, None] + charger.time_s[levels]
            total_s[levels <= percent[:, None]] = np.inf
            leaving_s[place] = total_s.min(axis=0, initial=np.inf)
        at_s = leaving_s
    return best


def followed_s(
    network: RoadNetwork,
    energy_wh: FloatArray,
    battery: Battery,
    chargers: list[Charger],
    plan: tuple,
) -> float:
    """Drive a plan edge by edge, and return its time, s; the reserve is kept."""
    route, stops, _ = plan
    turns = set(map(tuple, network.turns.tolist()))
    assert all(pair in turns for pair in pairwise(route.edges))
    charge_wh, clock_s = battery.start_wh, 0.0
    for position, edge in enumerate(route.edges, start=1):
        charge_wh = min(battery.capacity_wh, charge_wh - energy_wh[edge])
        assert charge_wh >= battery.reserve_wh - 1e-9
        clock_s += float(network.time_s[edge])
        for stop in stops:
            if stop.after_edges == position:
                percent = battery.percent(charge_wh)
                assert stop.arrive_percent == pytest.approx(percent)
                charger = next(each for each in chargers if each.station == stop.station)
                assert charger.nodes == (edge,)
                time_s = np.interp([percent, stop.to_percent], np.arange(101), charger.time_s)
                clock_s += SETUP_S + float(time_s[1] - time_s[0])
                charge_wh = battery.capacity_wh * (stop.to_percent / 100)
    return clock_s


@pytest.mark.parametrize(("step", "n_cases"), [(10, N_CASES), (1, 60)])
def test_no_plan_of_random_networks_is_earlier_by_more_than_the_stated_rounding(
    hilly: Callable[[int], RoadNetwork], problem_of: Problems, step: int, n_cases: int
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(n_cases):
        network, rng = hilly(seed), np.random.default_rng(seed)
        energy_wh = fit(network, load_vehicle("reference")).mean_wh
        origin, destination, *places = (
            int(e) for e in rng.choice(network.n_edges, 7, replace=False)
        )
        capacity_wh = rng.uniform(200, 600)
        reserve_wh = capacity_wh * rng.uniform(0, 0.1)
        battery = Battery(capacity_wh, rng.uniform(0.2, 1) * capacity_wh, reserve_wh)
        chargers = [draw_charger(rng, place, capacity_wh) for place in places]
        problem = problem_of(network, energy_wh, origin, destination)
        if problem.legs.search.compiled and seed >= N_COMPILED:
            break
        best_s = brute_force(network, energy_wh, (origin, destination), battery, chargers, step)[-1]
        open_plan = best_plan(
            problem, battery, chargers, Aim.least_time(problem, chargers, StopWishes())
        )
        shown = charging_stops(problem, battery, chargers)
        seen["compared"] += 1
        if open_plan is None or shown is None:
            assert best_s == np.inf
            assert open_plan is shown is None
            continue
        slowest_s = max(np.diff(each.time_s).max() for each in chargers)
        n_stops = len(open_plan.visits)
        assert open_plan.cost - 1e-6 <= best_s <= open_plan.cost + n_stops * step * slowest_s + 1e-6
        time_s = followed_s(network, energy_wh, battery, chargers, shown)
        assert open_plan.cost - 1e-6 <= time_s <= open_plan.cost + n_stops * slowest_s + 1e-6
        if stated := re.search(r"whole per cents \((\d+) s\)", shown[2]):
            assert float(stated[1]) == pytest.approx(time_s - open_plan.cost, abs=0.5 + 1e-6)
        seen[f"{n_stops} stops"] += 1
        for stop in shown[1][:1]:
            full = [(stop.after_edges, 100.0)]
            lost_wh = problem.charge.take(shown[0].rows).along(battery, full).lost_wh
            seen["a full battery would lose regeneration"] += lost_wh > 1
    if step == 10 and seen["compared"] > N_COMPILED:
        assert seen["compared"] >= 300
        assert min(seen[f"{n} stops"] for n in range(3)) >= 5, seen
        assert seen["a full battery would lose regeneration"] >= 5, seen


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("draw", [draw_network, draw_country])
def test_plans_that_may_always_stop_equal_an_independent_search(
    draw: Callable[[int], Request], compiled: bool
) -> None:
    if compiled:
        pytest.importorskip("numba")
    seen = Counter(checks.check(draw(seed), compiled=compiled, step=1.0) for seed in range(30))
    assert seen["stops"] >= 3, seen
    if draw is draw_country:
        # a slower route needs no stop
        assert seen["stops, also without"] >= 2, seen
    else:
        assert seen["no stop"] >= 3, seen


@pytest.mark.parametrize(("draw", "n_cases"), [(draw_network, 30), (draw_country, 4)])
def test_least_energy_with_stops_equals_an_independent_search(
    draw: Callable[[int], Request], n_cases: int
) -> None:
    seen = Counter(
        checks.check_energy(draw(seed), compiled=False, step=1.0) for seed in range(n_cases)
    )
    assert seen["stops"] >= 3, seen


@pytest.mark.parametrize("draw", [draw_network, draw_country])
def test_wishes_for_the_stops_are_kept_at_least_time(
    draw: Callable[[int], Request],
) -> None:
    seen = Counter(
        checks.check(wished(draw(seed), seed), compiled=False, step=1.0) for seed in range(30)
    )
    assert seen["stops"] >= 3, seen


@pytest.mark.parametrize("draw", [draw_network, draw_country])
def test_least_money_with_stops_equals_an_independent_search(
    draw: Callable[[int], Request],
) -> None:
    seen = Counter(checks.check_money(draw(seed), compiled=False, step=1.0) for seed in range(30))
    assert seen["stops"] >= 3, seen


def test_fixed_orders_of_stations_equal_mixed_integer_programs() -> None:
    seen = Counter(orders.check_line(seed) for seed in range(30))
    assert min(seen[f"{n} stops"] for n in (1, 2)) >= 3, seen


def test_fixed_routes_equal_frvcpy() -> None:
    """The file is written by ``charging_orders``; frvcpy is installed with it only."""
    times_s = json.loads(FRVCPY.read_text())
    seen = Counter(
        orders.check_route(seed, np.inf if least_s is None else least_s)
        for seed, least_s in enumerate(times_s)
    )
    assert len(times_s) == 60
    assert min(seen[f"{n} stops"] for n in (1, 2, 3)) >= 3, seen
    assert not [kind for kind in seen if "earlier" in kind], seen


def test_steps_of_a_tenth_come_as_near_as_they_should() -> None:
    seen = Counter(checks.check(draw_network(seed), compiled=False, step=0.1) for seed in range(30))
    assert seen["stops"] >= 3, seen


def line_of_stations(make_network: Callable[..., RoadNetwork], n_edges: int) -> RoadNetwork:
    edges = [(f"e{k}", k, k + 1) for k in range(n_edges)]
    return make_network(edges, [(1000.0 * k, 0.0, 0.0) for k in range(n_edges + 1)])


def test_charging_twice_is_best_where_the_power_falls(
    make_network: Callable[..., RoadNetwork], problem_of: Problems
) -> None:
    network = line_of_stations(make_network, 3)  # 100 s each
    problem = problem_of(network, np.array([100.0, 400.0, 400.0]), 0, 2)
    quick_below_40 = np.concatenate([np.arange(40.0), 40 + 100 * np.arange(61.0)])
    both = [Charger(f"S{k}", (k,), "ccs", 50, quick_below_40) for k in (0, 1)]
    found = charging_stops(problem, Battery(1000, 100, 0), both)
    assert found is not None
    assert [(s.station, s.arrive_percent, s.to_percent) for s in found[1]] == [
        ("S0", 0, 40),
        ("S1", 0, 40),
    ]
    assert [s.time_s for s in found[1]] == pytest.approx([SETUP_S + 40] * 2)
    assert [s.arrive_s for s in found[1]] == pytest.approx([100, 100 + SETUP_S + 40 + 100])
    # once, to 80 %: 40 s and 40 per cents of 100 s each
    once = charging_stops(problem, Battery(1000, 100, 0), both[:1])
    assert once is not None
    assert [s.time_s for s in once[1]] == pytest.approx([SETUP_S + 40 + 4000])


@pytest.mark.parametrize(("s_per_wh", "way"), [(0.4, "fast"), (0.6, "slow")])
def test_the_leg_of_least_energy_may_be_too_slow(
    make_network: Callable[..., RoadNetwork], problem_of: Problems, s_per_wh: float, way: str
) -> None:
    positions = [(0.0, 0, 0), (1000.0, 0, 0), (2000.0, 500, 0), (2000.0, -500, 0), (3000.0, 0, 0)]
    ends = [("in", 0, 1), ("f", 1, 2), ("fast", 2, 4), ("s", 1, 3), ("slow", 3, 4), ("out", 4, 0)]
    network = make_network(ends, positions, length_m=[10, 500, 500, 1000, 1000, 10])
    problem = problem_of(network, np.array([10.0, 150, 150, 50, 50, 10]), 0, 5)
    charger = Charger("S", (0,), "ac", 3.6, 10 * s_per_wh * np.arange(101.0))  # 10 Wh are 1 %
    found = charging_stops(problem, Battery(1000, 10, 0), [charger])
    assert found is not None
    # 100 s and 310 Wh against 200 s and 110 Wh
    assert network.edge_id[found[0].edges[2]] == way
    assert [stop.to_percent for stop in found[1]] == [31 if way == "fast" else 11]


def test_where_the_effort_runs_out_a_plan_and_its_gap_are_returned(
    make_network: Callable[..., RoadNetwork], problem_of: Problems
) -> None:
    network = line_of_stations(make_network, 3)
    problem = problem_of(network, np.array([100.0, 401.0, 401.0]), 0, 2)
    table_s = np.concatenate([10 * np.arange(41.0), 400 + 15 * np.arange(1.0, 61)])
    chargers = [Charger(f"S{k}", (k,), "ac", 3.6, table_s) for k in (0, 1)]
    battery = Battery(1000, 100, 0)
    exact = charging_stops(problem, battery, chargers)
    early = charging_stops(problem, battery, chargers, effort=0)
    assert exact is not None
    # 80.2 % are enough
    assert [stop.to_percent for stop in exact[1]] == [81]
    assert exact[2].endswith("but for rounding charges up to whole per cents (12 s)")
    assert early is not None
    gap_min = re.fullmatch(r"the search ended early: at most ([\d.]+) min longer .*", early[2])
    assert gap_min is not None
    best_s, early_s = (
        problem.taken_s(plan[0]) + sum(stop.time_s for stop in plan[1]) for plan in (exact, early)
    )
    assert early_s <= best_s + 60 * float(gap_min[1])


@pytest.fixture(scope="module")
def planner() -> Planner:
    """The quadricycle of 6.1 kWh in Denver with six sockets, placed by seed."""
    denver, rng = load_network("denver"), np.random.default_rng(24)
    edges = rng.choice(denver.n_edges, 6, replace=False)
    lon, lat = (each[denver.head[edges]] for each in denver.junction_lon_lat)
    table = {
        "name": tuple(f"post {k}" for k in range(6)),
        "lon": lon,
        "lat": lat,
        "socket": ("ac",) * 6,
        "kw": np.full(6, 22.0),
        "assumed": ("socket", "power", "socket and power", "", "socket", ""),
    }
    return Planner(denver.with_tables({"chargers": table}), load_vehicle(str(TWIZY)), physics="eq8")


def test_the_advice_leads_to_the_destination(planner: Planner) -> None:
    rng, seen = np.random.default_rng(5), Counter[str]()
    for _ in range(30):
        ends = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        battery = Battery.of_percent(6.1, rng.uniform(2.01, 4), 2)
        try:
            planner.plan(*ends, battery=battery)
        except NotEnoughChargeError as error:
            advice = re.search(r", or charge at (post \d) to (\d+) %", str(error))
            if advice is None:
                seen["no stop yet"] += _less_fails_and_as_much_succeeds(planner, error, ends)
                continue
            plan = planner.plan(*ends, battery=battery, charge=True)
            route = plan.recommended_route
            (stop, *_) = route.stops
            assert (stop.station, stop.to_percent) == (advice[1], int(advice[2]))
            row = next(r for r in planner.chargers if r.station == stop.station)
            assert stop.assumed == row.assumed
            # an AC socket of 22 kW gives the car its 3.6 kW
            assert stop.wall_wh == pytest.approx((stop.time_s - SETUP_S) * 3600 / 3600)
            assert plan.verdict.startswith(f"Charge at {advice[1]} to {advice[2]} %")
            assert route.charge is not None
            assert route.charge.low_wh.min() >= battery.reserve_wh - 1e-9
            charge_wh, stops = battery.start_wh, {each.after_edges: each for each in route.stops}
            for position, edge_wh in enumerate(route.edge_wh.tolist(), start=1):
                charge_wh -= edge_wh
                if position in stops:
                    charge_wh = 61 * stops[position].to_percent
                assert charge_wh >= battery.reserve_wh - 1e-9
            seen["mended"] += 1
    assert min(seen["mended"], seen["no stop yet"]) >= 3, seen


def _less_fails_and_as_much_succeeds(
    planner: Planner, error: NotEnoughChargeError, ends: list[int]
) -> bool:
    """Follow the advice to start with more and then to charge; False without such an advice."""
    form = r"or with at least (\d+) % and charging at (post \d) \(--charge\)"
    advice = re.search(form, str(error))
    if advice is None:
        return False
    percent = int(advice[1])
    plan = planner.plan(*ends, battery=Battery.of_percent(6.1, percent, 2), charge=True)
    assert plan.recommended_route.stops
    less = Battery.of_percent(6.1, max(percent - 1, 2), 2)
    with pytest.raises(NotEnoughChargeError) as short:
        planner.plan(*ends, battery=less, charge=True)
    words = f"start with at least {percent} %, then charge at {advice[2]}"
    assert words in str(short.value)
    assert short.value.start_percent == percent
    return True


@pytest.mark.parametrize("draw", [draw_network, draw_country, between_positions])
def test_the_least_start_with_stations_suffices_and_one_point_less_does_not(
    draw: Callable[[int], Request],
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(15 if draw is draw_country else 60):
        request = draw(seed)
        low = replace(request.battery, start_wh=request.battery.reserve_wh)
        problem = request.problem(compiled=False)
        chargers = request.sockets or request.chargers
        needs = StationNeeds.of(problem, low, chargers, request.wishes)
        need = needs.least_start(low)
        if need.charge_wh == np.inf:
            full = replace(request, battery=replace(low, start_wh=low.capacity_wh))
            assert checks.independent(full, 1.0) == np.inf
            seen["even a full battery fails"] += 1
            continue
        percent = whole_percent(low, need.charge_wh)
        for start, enough in ((percent, True), (percent - 1, False)):
            start_wh = low.capacity_wh * start / 100
            if start_wh < low.reserve_wh:
                continue
            tried = replace(low, start_wh=start_wh)
            assert (charging_stops(problem, tried, chargers) is not None) == enough, seed
            if enough and need.station:
                reached = needs.charges(tried)
                assert need.station in {needs.station_at(state) for state in reached}
        seen["a station" if need.station else "no station"] += 1
    assert seen["a station"] >= 3, seen
    if draw is not draw_country:
        assert min(seen.values()) >= 3, seen


def test_compiled_needs_and_charges_equal_plain_python() -> None:
    pytest.importorskip("numba")
    reached = 0
    for seed in range(12):
        request = wished(draw_network(seed), seed)
        battery = replace(request.battery, full_percent=80.0, fade=0.05)
        found = []
        for compiled in (False, True):
            problem = request.problem(compiled=compiled)
            needs = StationNeeds.of(problem, battery, request.chargers, request.wishes)
            shortage = problem.shortage
            least = needs.needs(battery)
            charges = needs.charges(battery)
            numbers = least.need_wh, least.station, shortage.least_starts_wh(battery)
            found.append((numbers, charges, needs.gap(battery), needs.least_start(battery)))
        for plain, fast in zip(*(numbers for numbers, *_ in found), strict=True):
            np.testing.assert_array_equal(plain, fast)
        assert found[0][1:] == found[1][1:]
        reached += len(found[0][1])
    assert reached >= 10


def test_a_gap_that_is_too_long_has_its_ends_and_its_energy(
    make_network: Callable[..., RoadNetwork], problem_of: Problems
) -> None:
    network = line_of_stations(make_network, 6)
    energy_wh = np.array([100.0, 300, 700, 512, 100, 100])
    problem = problem_of(network, energy_wh, 0, 5)
    chargers = [Charger(f"S{k}", (k,), "ac", 3.6, 10 * np.arange(101.0)) for k in (1, 3)]
    battery = Battery(1000, 600, 100)
    needs = StationNeeds.of(problem, battery, chargers, StopWishes())
    # from S1 with 1,000 Wh over 1,212 Wh with 100 Wh left
    assert needs.gap(battery) == (pytest.approx(312), "S1", "S3")
    error = with_advice(NotEnoughChargeError("x"), (), needs, battery, charging=True)
    assert str(error).endswith(
        "from S1 to the next station S3 takes 312 Wh more than a full charge"
    )
    # 700 Wh to the end of the first edge, 512 Wh to S3
    near = StationNeeds.of(problem_of(network, energy_wh, 2, 5), battery, chargers, StopWishes())
    assert near.gap(battery) == (pytest.approx(312), "", "S3")
    wishes = StopWishes(to_percent=80, arrive_percent=85)
    energy_wh = np.array([100.0, 300, 200, 212, 100, 100])
    last = StationNeeds.of(problem_of(network, energy_wh, 0, 5), battery, chargers, wishes)
    # from S3 with 800 Wh over 200 Wh, with 850 Wh left
    assert last.gap(battery) == (pytest.approx(250), "S3", "")


def test_after_a_cold_start_a_full_charge_has_less_for_the_gap(
    make_network: Callable[..., RoadNetwork], problem_of: Problems
) -> None:
    network = line_of_stations(make_network, 4)
    problem = problem_of(network, np.array([100.0, 300, 500, 100]), 0, 3)
    charger = Charger("S2", (2,), "ac", 3.6, 10 * np.arange(101.0))
    problem = replace(problem, warm_up=WarmUp(0.1, 40.0))
    battery = Battery(1000, 540, 100)
    needs = StationNeeds.of(problem, battery, [charger], StopWishes())
    # 900 Wh to S2 with 100 Wh left, of 960 Wh
    assert needs.gap(battery) == (pytest.approx(40), "", "S2")
    error = with_advice(NotEnoughChargeError("x"), (), needs, battery, charging=True)
    assert str(error).endswith(
        "from the start to the next station S2 takes 40 Wh more than a full charge leaves after "
        "the warm-up"
    )


@pytest.mark.parametrize("guess", [1, 7, 40, 41, 42, 100, 150])
@pytest.mark.parametrize("least", [7, 8, 41, 100, 101])
def test_the_least_per_cent_is_found_from_any_guess(guess: int, least: int) -> None:
    asked: list[int] = []

    def succeeds(percent: int) -> bool:
        asked.append(percent)
        return percent >= least

    assert least_that_succeeds(succeeds, 7, 100, guess) == (least if least <= 100 else None)
    assert len(asked) == len(set(asked)) <= 14
    assert all(7 <= percent <= 100 for percent in asked)


def test_where_charging_is_asked_for_the_fastest_is_recommended(planner: Planner) -> None:
    rng, seen = np.random.default_rng(8), Counter[str]()
    for _ in range(20):
        ends = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        battery = Battery.of_percent(6.1, rng.uniform(2.2, 9), 2)
        try:
            plan = planner.plan(*ends, battery=battery, charge=True)
        except NotEnoughChargeError:
            continue
        assert plan.recommended == "time"
        seen["stops" if plan.recommended_route.stops else "no stop"] += 1
    assert min(seen["stops"], seen["no stop"]) >= 2, seen


def test_plans_within_a_limit_are_at_most_their_gap_from_the_best(
    hilly: Callable[[int], RoadNetwork], problem_of: Problems
) -> None:
    """The limit here: a greater reserve, so that all plans within it can be listed."""
    seen: Counter[str] = Counter()
    for seed in range(30):
        network, rng = hilly(seed), np.random.default_rng(seed)
        energy_wh = fit(network, load_vehicle("reference")).mean_wh
        ends = tuple(int(e) for e in rng.choice(network.n_edges, 2, replace=False))
        others = np.setdiff1d(np.arange(network.n_edges), ends)
        capacity_wh = rng.uniform(200, 600)
        start_wh, reserve_wh = capacity_wh * rng.uniform([0.3, 0.05], [1.0, 0.3])
        safe = Battery(capacity_wh, start_wh, reserve_wh)
        battery = replace(safe, reserve_wh=0.0)
        places = rng.choice(others, 5, replace=False).tolist()
        chargers = [draw_charger(rng, place, capacity_wh) for place in places]
        problem = problem_of(network, energy_wh, *ends)

        def risk_of(route: Route, stops: tuple, safe=safe, problem=problem) -> float:
            pairs = [(stop.after_edges, stop.to_percent) for stop in stops]
            trace = problem.charge.take(route.rows).along(safe, pairs)
            return float(trace.low_wh.min() < safe.reserve_wh - 1e-9)

        def raised(deviations: float, problem=problem) -> SearchProblem:
            more_wh = deviations * 0.1 * np.abs(problem.energy_wh)
            return replace(problem, charge=problem.charge.beginning(more_wh))

        plans = LeastTime(problem, chargers, StopWishes())
        search = StopsWithin(plans, battery, 0.1, risk_of, raised)
        found = search.fastest()
        best_s = brute_force(network, energy_wh, ends, safe, chargers, 1)[-1]
        if found is None:
            seen["none found", "none" if best_s == np.inf else "some"] += 1
            continue
        time_s = followed_s(network, energy_wh, safe, chargers, found)
        gap = re.search(r"at most (.*) min longer", found[2])
        assert best_s - 1e-6 <= time_s
        assert time_s <= best_s + (60 * (float(gap[1]) + 0.05) if gap else 1e-6)
        seen["later" if gap else "fastest"] += 1
    assert seen["none found", "some"] <= 1, seen
    assert min(seen["later"], seen["fastest"]) >= 2, seen


def test_a_limit_of_risk_charges_just_enough(planner: Planner) -> None:
    prior, battery = (
        physics_belief(planner.network, planner.vehicle, "eq8"),
        Battery(6100, 335.5, 122),
    )
    risky = Planner(planner.network, planner.vehicle, uncertainty=prior, physics="eq8")
    found = risky.plan(21, 99, battery=battery, charge=True, risk=0.05)
    route, (stop,) = found.recommended_route.route, found.recommended_route.stops
    first, rest = (Route(route.edges[: stop.after_edges]), Route(route.edges[stop.after_edges :]))
    charged = replace(battery, start_wh=61.0 * stop.to_percent)
    risks = [
        1 - risky.forecasts.of_route(*leg)[1].never_below_reserve
        for leg in ((first, battery), (rest, charged))
    ]
    forecast = found.recommended_route.charge_forecast
    risk = 1 - forecast.never_below_reserve
    # the car and the day of both legs are the same, and a leg alone has the noise of a whole trip
    assert 0.8 * max(risks) <= risk < sum(risks)
    assert len(forecast.band_percent) == len(route.edges) + 1
    assert risk <= 0.05
    less = replace(stop, to_percent=stop.to_percent - 1)
    assert risky.forecasts.of_route(route, battery, [less])[1].never_below_reserve < 0.95
    assert found.unlimited.stops != (stop,)
    assert "min" in found.safety
    with pytest.raises(NotEnoughChargeError, match=rf"or charge at .* to {stop.to_percent} %"):
        risky.plan(21, 99, battery=battery, risk=0.05)
    with pytest.raises(NotEnoughChargeError, match="no plan with charging stops was found"):
        risky.plan(21, 99, battery=battery, charge=True, risk=1e-5)
    # below the expected energy too, the advised start is that of the limit of risk
    advised, empty = [], replace(battery, start_wh=130)
    for charge in (False, True):
        with pytest.raises(NotEnoughChargeError) as short:
            risky.plan(21, 99, battery=empty, charge=charge, risk=1e-5)
        advised.append(short.value.start_percent)
    assert f"start with at least {advised[1]} %, then charge at " in str(short.value)
    assert f"without a stop at least {advised[0]} %" in str(short.value)
    assert advised[1] < advised[0]


def test_an_id_leaves_out_one_station_and_a_network_all_of_its_own(planner: Planner) -> None:
    curve_s = planner.chargers[0].time_s

    def made(name: str, number: str, network: str) -> Charger:
        return Charger(name, (1,), "ac", 22.0, curve_s, station_id=number, network=network)

    chargers = (
        made("Post 7", "12, 31", "Chargy"),
        made("Post 8", "17", "Chargy, Grid"),
        made("Square 12", "way/5", ""),
    )

    def left(*texts: str) -> list[str]:
        request = PlanRequest(trip="A", soc=5, charge=True, avoid_stations=texts)
        return [each.station for each in wanted(chargers, request)]

    assert left("12") == left("31") == ["Post 8", "Square 12"]
    assert left("2") == ["Post 7", "Post 8"]
    assert left("chargy") == ["Square 12"]
    assert left("GRID", "WAY/5") == ["Post 7"]
    with pytest.raises(
        UnknownNameError, match=r"the name, network or id 'Charly'. Similar: Chargy"
    ):
        left("Charly")


def test_stations_are_left_out_by_name_and_power(planner: Planner) -> None:
    battery = Battery.of_percent(6.1, 4.5, 2)
    wishes: dict[str, Any] = {"battery": battery, "charge": True}
    (stop,) = planner.plan(21, 99, **wishes).recommended_route.stops
    for avoid in ([stop.station], [stop.station.upper()]):
        with_others = planner.plan(21, 99, **wishes, avoid_stations=avoid)
        assert stop.station not in {each.station for each in with_others.recommended_route.stops}
    with pytest.raises(EvrouteError, match=r"no charging station is left: the greatest .* 22 kW"):
        planner.plan(21, 99, **wishes, avoid_stations=["post"])
    with pytest.raises(EvrouteError, match=r"no charging station is left"):
        planner.plan(21, 99, **wishes, least_kw=50)
    with pytest.raises(
        UnknownNameError, match=r"no station that fits .* network or id 'pst 1'. Similar: p"
    ):
        planner.plan(21, 99, **wishes, avoid_stations=["pst 1"])
    quick = planner.plan(21, 99, **wishes, stop_minutes=1).recommended_route
    assert quick.time_s == pytest.approx(planner.plan(21, 99, **wishes).routes["time"].time_s - 240)


def test_enough_at_the_end_to_reach_a_station(
    make_network: Callable[..., RoadNetwork], problem_of: Problems, planner: Planner
) -> None:
    problem = problem_of(
        line_of_stations(make_network, 6), np.array([10.0, 20, 30, 100, 200, 40]), 0, 2
    )
    chargers = [Charger("S4", (4,), "ac", 3.6, 10 * np.arange(101.0))]
    # 300 Wh from the end of the third edge, and the reserve
    assert to_a_station(problem, Battery(1000, 900, 50), chargers) == pytest.approx(35)
    with pytest.raises(EvrouteError, match="no charging station is within reach of the dest"):
        to_a_station(problem, Battery(300, 300, 50), chargers)
    battery = Battery.of_percent(6.1, 9, 2)
    plans = [
        planner.plan(21, 99, battery=battery, charge=True, arrive=arrive).recommended_route
        for arrive in (None, 8, "charger")
    ]
    left = [battery.percent(float(plan.charge.charge_wh[-1])) for plan in plans]
    assert left[0] < 8 <= left[1]
    assert left[2] > 2
    with pytest.raises(NotEnoughChargeError, match="no plan arrives with 100 %"):
        planner.plan(21, 99, battery=battery, charge=True, arrive=100)


def test_an_end_charge_above_the_charge_after_stops_names_the_least_start(
    planner: Planner,
) -> None:
    def plan(percent: float) -> None:
        battery = Battery.of_percent(6.1, percent, 2)
        planner.plan(21, 99, battery=battery, charge=True, arrive=60, stop_to=50)

    with pytest.raises(NotEnoughChargeError, match=r"arrives with 60 % .* 9 %: start") as refused:
        plan(9)
    least = refused.value.start_percent
    assert f"start with at least {least} %. Charging on the way does not" in str(refused.value)
    assert least > 60
    plan(least)
    with pytest.raises(NotEnoughChargeError, match=f"at least {least} %"):
        plan(least - 1)


def test_the_price_of_a_plan_is_own_energy_and_prices_of_stations(planner: Planner) -> None:
    battery = Battery.of_percent(6.1, 4, 2)
    plan = planner.plan(21, 99, battery=battery, charge=True, price=0.4, time_value=9)
    assert plan.recommended == "cost"
    costs = {name: plan.cost(name) for name in plan.routes}
    assert min(costs.values()) == pytest.approx(costs["cost"])
    route = plan.routes["time"]
    charge_wh = route.charge.charge_wh
    own_wh = max(float(charge_wh[0] - charge_wh[-1]), 0)
    paid = sum(0.4 * stop.wall_wh / 1000 for stop in route.stops)
    expected = 0.4 * own_wh / 1000 + paid + 9 * route.time_s / 3600
    assert costs["time"] == pytest.approx(expected)
    assert paid == pytest.approx(sum(stop.paid for stop in route.stops))


def test_no_row_costs_less_than_the_row_of_least_cost(planner: Planner) -> None:
    rng, stopping = np.random.default_rng(3), 0
    for _ in range(12):
        ends = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        plan = planner.plan(
            *ends,
            battery=Battery.of_percent(6.1, 9, 2),
            charge=True,
            arrive=float(rng.choice([10, 25, 50])),
            price=0.4,
            time_value=float(rng.choice([5, 12, 30])),
        )
        stopping += bool(plan.routes["cost"].stops)
        costs = {name: plan.cost(name) for name in plan.routes}
        assert min(costs.values()) == pytest.approx(costs["cost"], rel=1e-12), costs
    assert stopping >= 6


def test_bad_requests_have_one_line(planner: Planner) -> None:
    battery, network = Battery.of_percent(6.1, 4, 2), planner.network
    with pytest.raises(EvrouteError, match="Add them with 'evroute network chargers denver FILE'"):
        Planner(load_network("denver"), planner.vehicle, physics="eq8").plan(
            3, 9, battery=battery, charge=True
        )
    with pytest.raises(EvrouteError, match=r"no charging power. Choose another"):
        Planner(network, replace(load_vehicle("reference"), ac_kw=None), physics="eq8").plan(
            3, 9, battery=battery, charge=True
        )
    ccs = replace(planner.vehicle, ac_kw=None, dc_kw=50)
    with pytest.raises(EvrouteError, match=r"no compatible plug: the 6 .* have ac. .* has ccs"):
        Planner(network, ccs, physics="eq8").plan(3, 9, battery=battery, charge=True)
    with pytest.raises(EvrouteError, match="needs the charge at the start"):
        planner.plan(3, 9, charge=True)
    with pytest.raises(EvrouteError, match="takes neither extra time nor"):
        planner.plan(3, 9, battery=battery, charge=True, max_extra_time=0.1)
