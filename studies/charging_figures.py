"""Charging plans against simpler rules, on random requests that fall short of charge.

    python studies/charging_figures.py luxembourg STATIONS.json CAR 200

Draws ends and start charges by `SEED` until that many requests fall short without a stop, at a
reserve of 5 %. Rules: the plan; the nearest station (least time) with just enough charge; and the
nearest station to 80 %. Then others start with more
charge and have a limit of risk. Times are CPU seconds.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NotEnoughChargeError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.places.positions import whole_edges
from evroute.network.sources.chargers import add_chargers
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import SETUP_S, Charger
from evroute.planning.charge.stops import charging_stops
from evroute.planning.places import Places
from evroute.planning.planner import Planner
from evroute.planning.searches.search_problem import SearchProblem

SEED = 20261122
RISKS, SAFE_PERCENT = (0.05, 0.01), (10.0, 20.0)
"""Limits of risk, and start charges that may keep them on the first leg."""
START_PERCENT, RESERVE_PERCENT = (6.0, 10.0), 5.0


def places(planner: Planner, origin: int, destination: int) -> Places:
    """Return the places of a trip over whole edges."""
    ends = [((origin,), True), ((destination,), False)]
    starts, stops = (whole_edges(planner.network, row, leaving=leaving) for row, leaving in ends)
    return Places(starts, (), stops, ("origin", "destination"))


def at_stations(
    planner: Planner, trip: Places, chargers: Sequence[Charger]
) -> tuple[SearchProblem, list[Charger]]:
    """Return the searches of a trip that may stop at some sockets, and these at their nodes."""
    problem = planner.halting(trip, (), tuple({each.halt: None for each in chargers}))
    return problem, [each.at_nodes(problem.legs.halts) for each in chargers]


def nearest(planner: Planner, trip: Places, battery: Battery) -> list[Charger]:
    """Return the sockets of the station that is reached first within the charge."""
    reached = []
    for charger in planner.chargers:
        problem = planner.between(replace(trip, ends=charger.halt.arrivals))
        route = problem.legs.route(problem.time_s)
        if problem.keeps(battery, route):
            reached.append((problem.taken_s(route), charger.station))
    return [c for c in planner.chargers if reached and c.station == min(reached)[1]]


def to_80_s(planner: Planner, trip: Places, battery: Battery, sockets: list[Charger]) -> float:
    """Return the time by the nearest station, charged to 80 % at its best socket, s."""
    best = np.inf
    for charger in sockets:
        first = planner.between(replace(trip, ends=charger.halt.arrivals))
        last = planner.between(replace(trip, starts=charger.halt.departures))
        way, rest = first.legs.route(first.time_s), last.legs.route(last.time_s)
        arrive = battery.percent(float(first.follow(battery, way).charge_wh[-1]))
        charged = replace(battery, start_wh=0.8 * battery.capacity_wh)
        if not first.keeps(battery, way) or arrive >= 80 or not last.keeps(charged, rest):
            continue
        since_s, until_s = np.interp([arrive, 80], np.arange(101), charger.time_s)
        drive_s = first.taken_s(way) + last.taken_s(rest)
        best = min(best, drive_s + SETUP_S + until_s - since_s)
    return best


def main(name: str, stations: str, car: str, wanted: int) -> None:
    """Print the plans with stations between random pairs."""
    network, counts = add_chargers(load_network(name), Path(stations))
    vehicle = load_vehicle(car)
    print(dict(counts))
    begun = time.process_time()
    prior = physics_belief(network, vehicle, "driving")
    planner = Planner(network, vehicle, physics="driving", uncertainty=prior)
    print(f"{len(planner.chargers)} sockets fit; planner {time.process_time() - begun:.2f} s")
    rng, rows, seen = np.random.default_rng(SEED), [], Counter[str]()
    while len(rows) + seen["refused"] < wanted:
        origin, destination = rng.choice(network.n_edges, 2, replace=False).tolist()
        battery = planner.fading(
            Battery.of_percent(vehicle.battery_kwh, rng.uniform(*START_PERCENT), RESERVE_PERCENT)
        )
        begun = time.process_time()
        try:
            plan = planner.plan(origin, destination, battery=battery, charge=True, risk="mean")
        except NotEnoughChargeError:
            seen["refused"] += 1
            continue
        took_s = time.process_time() - begun
        route = plan.recommended_route
        if not route.stops:
            seen["no stop needed"] += 1
            continue
        seen[f"{len(route.stops)} stops"] += 1
        seen[plan.proof.split(":")[0]] += 1
        trip = places(planner, origin, destination)
        problem, chargers = at_stations(planner, trip, planner.chargers)
        begun = time.process_time()
        charging_stops(problem, battery, chargers)
        search_s = time.process_time() - begun
        sockets = nearest(planner, trip, battery)
        problem, near = at_stations(planner, trip, sockets)
        enough = charging_stops(problem, battery, near) if sockets else None
        enough_s = np.inf
        if enough is not None:
            enough_s = problem.taken_s(enough[0]) + sum(stop.time_s for stop in enough[1])
        full_s = to_80_s(planner, trip, battery, sockets)
        rows.append((route.time_s, enough_s, full_s, took_s, search_s))
    print(dict(seen))
    plan_s, enough_s, full_s, took_s, search_s = np.array(rows).T
    print("| rule | arrives | median min | median extra | 90 % | worst |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rule, each_s in (("plan", plan_s), ("nearest, enough", enough_s), ("to 80 %", full_s)):
        kept = np.isfinite(each_s)
        extra = (each_s - plan_s)[kept] / 60
        most = np.quantile(extra, [0.5, 0.9, 1.0])
        print(
            f"| {rule} | {kept.sum()} of {len(kept)} | {np.median(each_s[kept]) / 60:.1f} | "
            + " | ".join(f"{minutes:.1f}" for minutes in most)
            + " |"
        )
    for title, each_s in (("plan", took_s), ("search of stops", search_s)):
        median, high, worst = np.quantile(each_s[4:], [0.5, 0.9, 1.0])
        print(f"{title}: first {each_s[0]:.3f} s, then {median:.3f}, {high:.3f}, {worst:.3f} s")
    for risk in RISKS:
        within_risk(planner, wanted, risk)


def within_risk(planner: Planner, wanted: int, risk: float) -> None:
    """Print the price and the gaps of a limit of risk on requests with more charge, by `SEED`."""
    rng, rows, seen = np.random.default_rng(SEED), [], Counter[str]()
    kwh = planner.vehicle.battery_kwh
    for _ in range(wanted):
        origin, destination = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        battery = Battery.of_percent(kwh, rng.uniform(*SAFE_PERCENT), RESERVE_PERCENT)
        begun = time.process_time()
        try:
            plan = planner.plan(origin, destination, battery=battery, charge=True, risk=risk)
        except NotEnoughChargeError:
            seen["refused"] += 1
            continue
        took_s, best, usual = time.process_time() - begun, plan.recommended_route, plan.unlimited
        seen[f"{len(usual.stops)} stops without the limit, {len(best.stops)} with it"] += 1
        if not best.stops:
            continue
        gap = re.search(r"at most (.*) min longer", plan.proof)
        risks = [1.0 - each.charge_forecast.never_below_reserve for each in (usual, best)]
        extra_min = (best.time_s - usual.time_s) / 60
        rows.append((*risks, extra_min, float(gap[1]) if gap else 0.0, took_s))
    print(f"risk {risk:.0%}: {dict(seen)}; with stops: median, 90 %, worst")
    titles = "risk without the limit", "risk", "extra min", "gap min", "CPU s"
    for title, values in zip(titles, np.array(rows).T, strict=True):
        print(title, " ".join(f"{each:.3f}" for each in np.quantile(values, [0.5, 0.9, 1.0])))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
