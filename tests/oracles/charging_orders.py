"""Plans with stops in a fixed order against mixed-integer programs and frvcpy.

    python tests/oracles/charging_orders.py 300            # and frvcpy where it is installed
    python tests/oracles/charging_orders.py 60 times.json  # stores the times of frvcpy

`scipy.optimize.milp` takes any curve and recuperation. frvcpy (Kullman et al. 2021, extra
``benchmarks``) solves a fixed route with detours to stations, for concave curves without
recuperation, a reserve or a time beside charging: its labels are those of Froger et al. (2019).
"""

import json
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from charging_checks import NEAR, planned
from charging_requests import Request
from scipy.optimize import Bounds, LinearConstraint, milp

from evroute.arrays import FloatArray
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, StopWishes
from evroute.planning.charge.stops import StopPlan

CUSTOMERS, STATIONS = 2, 6
SHARES = np.array([1.0, 0.9, 0.7, 0.45, 0.25])
"""Power by fifths of the charge, as a share of the greatest: concave, and faster everywhere."""
LEVELS = np.arange(6) / 5
LINK_S = 1.0
"""Time of the edge at each place."""


def draw_line(seed: int) -> Request:
    """Return a request along one road with stations in a fixed order, curves of five pieces."""
    rng = np.random.default_rng(seed)
    n = 9
    capacity_wh = 1000.0
    energy_wh = rng.uniform(-60, 420, n)
    chargers = []
    for edge in np.sort(rng.choice(np.arange(1, n - 1), 4, replace=False)).tolist():
        kw = rng.uniform(0.5, 4.0, 5)
        time_s = np.concatenate([[0.0], np.cumsum(3.6 * 200 / kw)])
        table_s = np.interp(np.arange(101), 20 * np.arange(6), time_s)
        chargers.append(Charger(f"S{edge}", (edge,), "ccs", 4.0, table_s))
    reserve_wh = rng.uniform(0, 100)
    return Request(
        rng.uniform(60, 600, n),
        energy_wh,
        np.array(
            [
                np.append(0, np.cumsum(np.minimum(energy_wh, 0)))[:-1],
                np.cumsum(np.minimum(energy_wh, 0)),
            ]
        ),
        [[k + 1] if k + 1 < n else [] for k in range(n)],
        (0, n - 1),
        Battery(capacity_wh, rng.uniform(200, 1000), reserve_wh),
        chargers,
        StopWishes(setup_s=rng.uniform(0, 600)),
    )


def by_program(request: Request) -> float:
    """Return the least time along the road of `draw_line` by a mixed-integer program, s.

    Charges on arrival and on leaving are convex combinations of the ends of one piece of the curve,
    chosen by binaries; a further binary is 1 where the car stops.
    """
    battery, n = request.battery, len(request.time_s)
    at = {each.nodes[0]: each for each in request.chargers}
    cost: list[float] = []
    integral: list[int] = []
    low: list[float] = []
    high: list[float] = []
    rows: list[tuple[dict[int, float], float, float]] = []

    def variable(price: float, least: float, most: float, *, whole: bool = False) -> int:
        cost.append(price)
        integral.append(int(whole))
        low.append(least)
        high.append(most)
        return len(cost) - 1

    def on_curve(charge: int, table_s: FloatArray, sign: float) -> None:
        """Add the time of a charge on a curve with a sign to the cost."""
        ends_wh = battery.capacity_wh * np.arange(6) / 5
        weights = [variable(sign * table_s[20 * k], 0, 1) for k in range(6)]
        pieces = [variable(0, 0, 1, whole=True) for _ in range(5)]
        rows.append((dict.fromkeys(weights, 1.0), 1, 1))
        rows.append((dict.fromkeys(pieces, 1.0), 1, 1))
        sums = dict(zip(weights, ends_wh.tolist(), strict=True))
        rows.append((sums | {charge: -1.0}, 0, 0))
        for k, weight in enumerate(weights):
            beside = dict.fromkeys(pieces[max(k - 1, 0) : k + 1], -1.0)
            rows.append(({weight: 1.0} | beside, -np.inf, 0))

    held = variable(0, battery.start_wh, battery.start_wh)
    for edge in range(n):
        left = variable(0, battery.reserve_wh, battery.capacity_wh)
        rows.append(({left: 1.0, held: -1.0}, -np.inf, -request.energy_wh[edge]))
        held = left
        if edge in at:
            to = variable(0, 0, battery.capacity_wh)
            stops = variable(request.wishes.setup_s, 0, 1, whole=True)
            on_curve(left, at[edge].time_s, -1.0)
            on_curve(to, at[edge].time_s, 1.0)
            rows.append(({to: 1.0, left: -1.0}, 0, np.inf))
            rows.append(({to: 1.0, left: -1.0, stops: -battery.capacity_wh}, -np.inf, 0))
            held = to
    matrix = np.zeros((len(rows), len(cost)))
    for row, (entries, _, _) in enumerate(rows):
        matrix[row, list(entries)] = list(entries.values())
    limits = LinearConstraint(matrix, [row[1] for row in rows], [row[2] for row in rows])
    solved = milp(
        cost,
        integrality=integral,
        bounds=Bounds(low, high),
        constraints=limits,
        options={"mip_rel_gap": 1e-9},
    )
    return float(solved.fun + request.time_s.sum()) if solved.success else np.inf


def check_line(seed: int) -> str:
    """Compare a fixed order of stations with the mixed-integer program."""
    request = draw_line(seed)
    found, least_s = planned(request, compiled=False), by_program(request)
    if found is None:
        assert least_s == np.inf
        return "none"
    assert abs(found.cost - least_s) < 1e-3, (seed, found.cost, least_s)
    return f"{len(found.visits)} stops"


def draw_route(seed: int) -> tuple[Request, dict]:
    """Return a request over places in a fixed order, and the same one as frvcpy takes it.

    Straight ways lead from each place to each other one. A place is an edge of its own, which takes
    `LINK_S` and no energy; stations are at their end.
    """
    rng = np.random.default_rng(seed)
    n = 2 + CUSTOMERS + STATIONS
    at_km = rng.uniform(0, 100, (n, 2))
    apart_km = np.hypot(*(at_km[:, None] - at_km[None]).transpose(2, 0, 1))
    time_s, energy_wh = 60 * apart_km, 160 * apart_km
    capacity_wh = rng.uniform(14e3, 24e3)
    curves = 3.6 * (capacity_wh / 5) / (rng.choice([11.0, 22, 50, 120], STATIONS)[:, None] * SHARES)
    reached_s = np.cumsum(np.column_stack([np.zeros(STATIONS), curves]), axis=1)
    stations = range(2 + CUSTOMERS, n)
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    ways = {pair: n + k for k, pair in enumerate(pairs)}
    following = [[ways[a, b] for b in range(n) if b != a] for a in range(n)]
    following += [[b] for _, b in pairs]
    tail, head = np.array(pairs).T
    chargers = [
        Charger(f"S{k}", (k,), "ccs", 50.0, np.interp(np.arange(101), 20 * np.arange(6), each_s))
        for k, each_s in zip(stations, reached_s, strict=True)
    ]
    start_wh = rng.uniform(0.4, 1.0) * capacity_wh
    request = Request(
        np.concatenate([np.full(n, LINK_S), time_s[tail, head]]),
        np.concatenate([np.zeros(n), energy_wh[tail, head]]),
        np.zeros((2, n + len(pairs))),
        following,
        tuple(range(2 + CUSTOMERS)),
        Battery(capacity_wh, start_wh, 0.0),
        chargers,
        StopWishes(
            setup_s=0.0,
            # frvcpy arrives everywhere with enough to reach a station
            arrive_percent=100 * energy_wh[1 + CUSTOMERS, stations].min() / capacity_wh,
        ),
    )
    linked_s = time_s + LINK_S * (1 - np.eye(n))
    instance = {
        "energy_matrix": energy_wh.tolist(),
        "time_matrix": linked_s.tolist(),
        "max_q": capacity_wh,
        "breakpoints_by_type": [
            {"cs_type": k, "time": each_s.tolist(), "charge": (capacity_wh * LEVELS).tolist()}
            for k, each_s in zip(stations, reached_s, strict=True)
        ],
        "css": [{"node_id": k, "cs_type": k} for k in stations],
    }
    return request, instance


def by_frvcpy(request: Request, instance: dict) -> float:
    """Return the least time of a fixed route by frvcpy, s; inf if there is no plan."""
    from frvcpy.solver import Solver

    route = list(range(2 + CUSTOMERS))
    least_s, _ = Solver(instance, route, request.battery.start_wh, multi_insert=True).solve()
    return float(least_s) + LINK_S  # our route begins with the first place's own edge


def followed_s(request: Request, plan: StopPlan) -> float:
    """Return the time of a plan by following it edge by edge, s; it must keep the reserve."""
    battery, charge_wh = request.battery, request.battery.start_wh
    stops = {visit.after_edges: visit for visit in plan.visits}
    time_s, percents = 0.0, np.arange(101)
    for after, edge in enumerate(plan.route.edges, start=1):
        charge_wh = min(charge_wh - request.energy_wh[edge], battery.capacity_wh)
        assert charge_wh >= battery.reserve_wh - NEAR
        time_s += request.time_s[edge]
        if visit := stops.get(after):
            assert edge in visit.charger.nodes
            ends = [battery.percent(charge_wh), visit.to_percent]
            assert ends[0] <= ends[1] + NEAR
            begun_s, left_s = np.interp(ends, percents, visit.charger.time_s)
            time_s += request.wishes.setup_s + left_s - begun_s
            charge_wh = battery.capacity_wh * visit.to_percent / 100
    assert battery.percent(charge_wh) >= request.wishes.arrive_percent - NEAR
    return time_s


def check_route(seed: int, least_s: float) -> str:
    """Compare a fixed route with its time by frvcpy, s; inf stands for no plan.

    frvcpy bounds the charges at places, so it passes some stations without charging there: its
    plan may be later, never earlier.
    """
    request = draw_route(seed)[0]
    found = planned(request, compiled=False)
    if found is None:
        assert least_s == np.inf, (seed, least_s)
        return "none"
    assert found.exact
    assert abs(followed_s(request, found) - found.cost) < 1e-3, seed
    assert found.cost <= least_s + 1e-3, (seed, found.cost, least_s)
    earlier = ", earlier" if found.cost < least_s - 1e-3 else ""
    return f"{len(found.visits)} stops{earlier}"


def main(number: int, stored: str | None = None) -> None:
    """Compare fixed orders and print their kinds; store the times of frvcpy in a file if given."""
    begun = time.process_time()
    lines = Counter(check_line(seed) for seed in range(number))
    print(f"mixed-integer programs: {dict(lines)}, {time.process_time() - begun:.0f} s of CPU")
    if find_spec("frvcpy") is None:
        print("frvcpy is not installed: pip install frvcpy")
        return
    begun = time.process_time()
    times_s = [by_frvcpy(*draw_route(seed)) for seed in range(number)]
    took_s = time.process_time() - begun
    routes = Counter(check_route(seed, least_s) for seed, least_s in enumerate(times_s))
    print(f"frvcpy: {dict(routes)}, {took_s:.1f} s of CPU by it")
    if stored:
        rows = [None if least_s == np.inf else round(least_s, 6) for least_s in times_s]
        Path(stored).write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
