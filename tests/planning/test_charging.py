"""Charging stops: by hand, and against every plan of random small hilly networks."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning import charging
from evroute.planning.battery import Battery
from evroute.planning.charging import SETUP_S, Charger, charging_stops
from evroute.planning.search_problem import SearchProblem

N_CASES = 330
STOPS = 4
"""Greatest number of stops of the plans by brute force; more would not be faster here."""
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
    places = {each.edges[0]: each for each in chargers}
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
                assert charger.edges == (edge,)
                time_s = np.interp([percent, stop.to_percent], np.arange(101), charger.time_s)
                clock_s += SETUP_S + float(time_s[1] - time_s[0])
                charge_wh = battery.capacity_wh * (stop.to_percent / 100)
    return clock_s


@pytest.mark.parametrize(("step", "n_cases"), [(10, N_CASES), (1, 12)])
def test_plans_equal_all_plans_on_random_networks(
    hilly: Callable[[int], RoadNetwork],
    problem_of: Problems,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    n_cases: int,
) -> None:
    monkeypatch.setattr(charging, "STEPS", (step,))
    seen: Counter[str] = Counter()
    for seed in range(n_cases):
        network, rng = hilly(seed), np.random.default_rng(seed)
        energy_wh = fit(network, load_vehicle()).mean_wh
        origin, destination, *places = (
            int(e) for e in rng.choice(network.n_edges, 7, replace=False)
        )
        capacity_wh = rng.uniform(200, 600)
        reserve_wh = capacity_wh * rng.uniform(0, 0.1)
        battery = Battery(capacity_wh, rng.uniform(0.2, 1) * capacity_wh, reserve_wh)
        chargers = [draw_charger(rng, place, capacity_wh) for place in places]
        problem = problem_of(network, energy_wh, origin, destination)
        ends = origin, destination
        best = brute_force(network, energy_wh, ends, battery, chargers, step)
        found = charging_stops(problem, battery, chargers)
        seen["compared"] += 1
        if found is None:
            assert best[-1] == np.inf
            continue
        time_s = followed_s(network, energy_wh, battery, chargers, found)
        assert time_s == pytest.approx(best[-1], abs=1e-6), seed
        seen[f"{len(found[1])} stops"] += 1
        assert best[len(found[1])] == pytest.approx(best[-1], abs=1e-6)
    if step == 10:
        assert seen["compared"] >= 300
        assert min(seen[f"{n} stops"] for n in range(3)) >= 5, seen
