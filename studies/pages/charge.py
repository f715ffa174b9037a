"""Tables of *charge*: detours that pay, ranges against plans.

`small` has the charge on arrival of ten plans, which `make test` plans again.
"""

from time import process_time

import numpy as np

import evroute
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.reach import charge_needed, reach
from studies.pages import refusals
from studies.pages.tables import CITIES, store

LEAST_WH, WH_PER_MINUTE = 20.0, 100.0
ORIGINS, TARGETS, RISK, REPEATS = 5, 500, 0.05, 5


def detours() -> None:
    """Write how often a detour is recommended, and what it saves: 1,000 pairs of each network.

    Raises
    ------
    ArithmeticError
        If a recommended detour does not pay by the rule.
    """
    rows = []
    for name in CITIES:
        network = load_network(name)
        planner, rng, kept, saved_wh, rates, plans = (
            Planner(network),
            np.random.default_rng(33),
            0,
            [],
            [],
            0,
        )
        while plans < 1000:
            ends = [str(network.edge_id[row]) for row in rng.integers(network.n_edges, size=2)]
            try:
                plan = planner.plan(*ends)
            except NoRouteError:
                continue
            plans += 1
            best, fastest = plan.recommended_route, plan.fastest
            if best is fastest:
                kept += 1
                continue
            saved = fastest.energy_wh - best.energy_wh
            extra_s = best.time_s - fastest.time_s
            if saved < max(LEAST_WH, WH_PER_MINUTE * extra_s / 60):
                raise ArithmeticError(f"{plan!r} saves {saved} Wh for {extra_s} s")
            saved_wh.append(saved)
            if extra_s > 0:
                rates.append(60 * saved / extra_s)
        row = [name.title(), f"{kept / plans:.1%}".replace("%", " %"), f"{np.median(saved_wh):.0f}"]
        rows.append([*row, f"{np.median(rates):.0f}", f"{min(rates):.0f}"])
    columns = ["network", "fastest recommended", "saving of the others, median, Wh"]
    columns += ["Wh a minute, median", "least"]
    command = "python -m studies.pages --run detours"
    store("detours", columns, rows, command=command, networks=CITIES)


def ranges() -> None:
    """Write the greatest difference between ranges and single plans, and the times of ranges."""
    network, car = load_network("luxembourg"), load_vehicle("reference")
    planner = Planner(network, car, uncertainty=physics_belief(network, car, "eq8"), physics="eq8")
    battery = Battery.of_percent(car.battery_kwh, 4.0, 1.0)
    rng = np.random.default_rng(0)
    off, risks, refused = [], 0, 0
    for origin in rng.choice(network.n_edges, ORIGINS, replace=False).tolist():
        found, risky = reach(planner, origin, battery), reach(planner, origin, battery, risk=RISK)
        others = np.setdiff1d(np.arange(network.n_edges), [origin])
        for target in rng.choice(others, TARGETS // ORIGINS, replace=False).tolist():
            try:
                best = planner.plan(origin, target, battery=battery, risk="mean").routes["energy"]
            except NoRouteError:
                refused += not found.within[target]
                continue
            percent = battery.percent(float(best.charge.charge_wh[-1]))
            off.append(abs(found.charge_percent[0.5][target] - percent))
            charge = planner.forecasts.of_route(best.route, battery)[1]
            risks += (charge.never_below_reserve >= 1 - RISK) != risky.within[target]
    rows = [
        ["targets within reach", f"{len(off)}"],
        ["out of reach in the range, and refused by the plan", f"{refused}"],
        ["greatest difference of the charge on arrival, %", f"{max(off):.0e}"],
        ["within reach at a risk of 5 % in one and not in the other", f"{risks}"],
    ]
    for title, call in (
        ("range, s", lambda: reach(planner, origin, battery)),
        ("range at a risk of 5 %, s", lambda: reach(planner, origin, battery, risk=RISK)),
        ("least charge from every road, s", lambda: charge_needed(planner, origin, battery)),
    ):
        taken_s = []
        for _ in range(REPEATS):
            start = process_time()
            call()
            taken_s.append(process_time() - start)
        rows.append([title, f"{np.median(taken_s):.2f}"])
    columns = ["500 random targets on Luxembourg", "answer"]
    command = "python -m studies.pages --run ranges"
    store("ranges", columns, rows, command=command, networks=("luxembourg",))


def small(names: tuple[str, ...]) -> list[list[str]]:
    """Return ten plans in Denver that start with 20 % of charge."""
    network, rng, rows = load_network("denver"), np.random.default_rng(5), []
    while len(rows) < 10:
        ends = [str(network.edge_id[row]) for row in rng.integers(network.n_edges, size=2)]
        try:
            plan = evroute.plan(network, origin=ends[0], destination=ends[1], soc=20, reserve=5)
        except NoRouteError:
            continue
        best = plan.recommended_route
        low, high = best.charge_forecast.arrival_interval_percent
        arrival = plan.battery.percent(float(best.charge.charge_wh[-1]))
        numbers = (best.energy_wh, arrival, low, high)
        rows.append([f"pair {len(rows) + 1}", *(f"{number:.2f}" for number in numbers)])
    return rows


SMALL = ["20 % of charge", "energy, Wh", "charge on arrival, %", "low, %", "high, %"]
RUNS = {"detours": detours, "ranges": ranges, "refusals": refusals.table} | {
    "same-percent": refusals.same_percent,
    "promise-times": refusals.times,
}
