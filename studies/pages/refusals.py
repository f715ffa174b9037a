"""Tables *refusals* and *same-percent* of the page on charge: what is advised, and its price.

Random pairs of junctions (seed 53) in three cities at -10, 5 and 20 °C, with and without twelve
made-up stations and ``--charge``, for the car of 38 kWh and the same car with 4 kWh: whole per
cents of the greater battery are coarser than most trips. The start is 10 % and a little, in tenths,
the reserve 10 %. In Denver a third of the refusals is by a belief of the car of the example log.
Each step of a refusal is planned, and so is the advised start less a whole per cent, which must be
refused. The advice of the mean is that of the same request with ``risk=mean``, or its plan where
the mean has one. CPU time is that of the refusal alone, in a process that has planned before.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import evroute
from evroute.door.planners import Planner
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError, NotEnoughChargeError
from evroute.learning.belief import load_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Socket, Station
from evroute.network.sources.chargers import with_stations
from evroute.planning.battery import Battery
from evroute.planning.dispatch.needs import needed
from evroute.planning.plan import Plan
from evroute.planning.reach import charge_needed, reach
from evroute.resources import data_path
from studies.pages.tables import CITIES, store

TEMPERATURES_C, SEED, NUMBER = (-10.0, 5.0, 20.0), 53, 200
CAR, SMALL_KWH, STATIONS = "nissan-leaf-40", 4.0, 12
DRAWS, DESTINATIONS = 100, 10
COLUMNS = [
    *("refusals", "number", "with a step", "chance after: least", "median"),
    *("a per cent less is refused", "chance after the mean's advice: median"),
    *("price, % of charge: median", "mean", "min: median", "95 %"),
    *("CPU of a refusal, s: median", "its 95 %"),
]


def with_made_up_stations(roads: RoadNetwork) -> RoadNetwork:
    """Return a city with stations at random junctions."""
    lon, lat = roads.junction_lon_lat
    sockets = Socket("ac", 22.0), Socket("chademo", 50.0)
    at = np.random.default_rng(SEED).choice(roads.n_junctions, STATIONS, replace=False)
    listed = [
        Station(f"station {k}", float(lon[row]), float(lat[row]), sockets)
        for k, row in enumerate(at.tolist())
    ]
    return with_stations(roads, listed, "made up")[0]


def planners(city: str, folder: Path) -> Iterator[tuple[str, float, bool, Planner]]:
    """Yield bases, temperatures, whether with stations, and planners."""
    roads, car = load_network(city), load_vehicle(CAR)
    bases: dict[str, tuple[Any, Any]] = {
        "38 kWh": (car, None),
        "4 kWh": (replace(car, battery_kwh=SMALL_KWH), None),
    }
    if city == "denver":
        evroute.learn(data_path("examples", "edges.csv"), folder / "belief")
        bases["belief"] = None, load_belief(folder / "belief")
    for charge, (basis, given) in product((False, True), bases.items()):
        network = with_made_up_stations(roads) if charge else roads
        for warm_c in TEMPERATURES_C:
            day = DrivingConditions(temperature_c=warm_c, parked_minutes=600.0)
            yield basis, warm_c, charge, Planner(network, *given, conditions=day)


def refusals(planner: Planner, number: int, *, charge: bool, seed: int) -> Iterator[dict[str, Any]]:
    """Yield rows of refused requests."""
    rng, (lon, lat) = np.random.default_rng((SEED, seed)), planner.network.junction_lon_lat
    found = 0
    while found < number:
        ends = [f"{lat[row]:.6f},{lon[row]:.6f}" for row in rng.integers(len(lon), size=2)]
        more = float(rng.exponential(0.3 if planner.vehicle.battery_kwh > 10 else 3.0))
        asked = {"soc": round(10 + more, 1), "reserve": 10, "charge": charge}
        begun = time.process_time()
        try:
            planner.plan(*ends, **asked)
        except NotEnoughChargeError as error:
            took_s = time.process_time() - begun
            found += 1
            yield {"start_percent": asked["soc"], "refusal_s": took_s} | after(
                planner, ends, asked, error
            )
        except EvrouteError:
            continue


def after(
    planner: Planner, ends: list[str], asked: dict[str, Any], error: NotEnoughChargeError
) -> dict[str, Any]:
    """Return what the steps of a refusal lead to, and those of the mean."""
    plans = [(step, planner.plan(*ends, **{**asked, **step})) for step in error.steps]
    row: dict[str, Any] = {
        "steps": len(plans),
        "least_chance": min((plan.chance or 0.0 for _, plan in plans), default=0.0),
    }
    step, plan = plans[0] if plans else ({}, None)
    if plan is None or "soc" not in step or "reserve" in step:
        return row
    percent = float(step["soc"])
    row |= {"percent": percent, "minutes": minutes(plan), "chance": plan.chance}
    if percent - 1 > asked["soc"]:
        row["less_is_refused"] = not planned(planner, ends, {**asked, **step, "soc": percent - 1})
    usual = {**asked, "risk": "mean"}
    try:
        mean = planner.plan(*ends, **usual)
        mean_percent = asked["soc"]
    except NotEnoughChargeError as short:
        if not short.steps or "reserve" in short.steps[0] or "soc" not in short.steps[0]:
            return row
        mean = planner.plan(*ends, **{**usual, **short.steps[0]})
        mean_percent = float(short.steps[0]["soc"])
    return row | {
        "mean_percent": mean_percent,
        "mean_minutes": minutes(mean),
        "mean_chance": mean.chance,
    }


def minutes(plan: Plan) -> float:
    """Return the minutes of the recommended row, stops included."""
    return plan.recommended_route.time_s / 60


def planned(planner: Planner, ends: list[str], asked: dict[str, Any]) -> bool:
    """Return whether a request has a plan."""
    try:
        planner.plan(*ends, **asked)
    except NoRouteError:
        return False
    return True


def of_city(city: str, number: int) -> pd.DataFrame:
    """Return a row for each of a number of refusals in a city."""
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        cells = list(planners(city, Path(folder)))
        for seed, (basis, warm_c, charge, planner) in enumerate(cells):
            planner.plan(planner.network.edge_id[0], planner.network.edge_id[9])
            given = refusals(planner, -(-number // len(cells)), charge=charge, seed=seed)
            names = {"basis": basis, "temperature_c": warm_c, "stations": charge}
            rows += [names | row for row in given]
    return pd.DataFrame(rows)


def summary(city: str, rows: pd.DataFrame) -> Iterator[list[str]]:
    """Yield the rows of the table on a city, without and with stations."""
    for charge, some in rows.groupby("stations"):
        less = some.less_is_refused.dropna()
        price = (some.percent - some.mean_percent).dropna()
        late = (some.minutes - some.mean_minutes).dropna()
        stepped = some[some.steps > 0]
        yield [
            f"{city.title()}, {'with' if charge else 'without'} stations",
            *(f"{len(some)}", f"{len(stepped)}"),
            *(f"{stepped.least_chance.min():.1%}", f"{some.chance.median():.1%}"),
            f"{int(less.astype(bool).sum())} of {len(less)}",
            f"{some.mean_chance.median():.0%}",
            *(f"{price.median():.1f}", f"{price.mean():.1f}"),
            *(f"{late.median():.1f}", f"{late.quantile(0.95):.1f}"),
            *(f"{some.refusal_s.median():.2f}", f"{some.refusal_s.quantile(0.95):.2f}"),
        ]


def same_percent() -> None:
    """Write how often `needed` at 90 % and ranges to and from have the per cent of the advice."""
    rows = []
    for city in CITIES:
        car = replace(load_vehicle(CAR), battery_kwh=SMALL_KWH)
        planner, rng = Planner(load_network(city), car), np.random.default_rng(61)
        ids, reserve = planner.network.edge_id, Battery.of_percent(SMALL_KWH, 10.0, 10.0)
        agrees = {"needed": 0, "range --to": 0, "edge": 0}
        for destination in rng.choice(len(ids), DESTINATIONS, replace=False).tolist():
            to_there = charge_needed(planner, destination, reserve, risk=0.1)
            draws = refused(planner, destination, DRAWS // DESTINATIONS, rng)
            for origin, percent in draws:
                asked = ids[origin], ids[destination]
                found = needed(planner, asked, 10.0, 0.9)["needed_percent"]
                agrees["needed"] += found == percent
                agrees["range --to"] += to_there[origin] == percent
                within = [
                    reach(planner, origin, reserve.started(each), risk=0.1).within[destination]
                    for each in (percent, percent - 1)
                ]
                agrees["edge"] += within == [True, False]
        rows.append([city, *(f"{each} of {DRAWS}" for each in agrees.values())])
    command = "python -m studies.pages --run same-percent"
    columns = ["city", *(f"{name} agrees" for name in agrees)]
    store("same-percent", columns, rows, command=command, networks=CITIES)


def refused(
    planner: Planner, destination: int, number: int, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Yield random origins from which a trip is refused, and the least start that is advised."""
    found = 0
    while found < number:
        origin = int(rng.integers(planner.network.n_edges))
        soc = round(10 + float(rng.exponential(3.0)), 1)
        try:
            planner.plan(origin, destination, soc=soc, reserve=10)
        except NotEnoughChargeError as error:
            if error.start_percent is not None:
                found += 1
                yield origin, error.start_percent
        except EvrouteError:
            continue


def times() -> None:
    """Write the CPU time of plans with the promise and of plans on the mean, asked in turns."""
    rows = []
    for city in CITIES:
        roads, small = load_network(city), replace(load_vehicle(CAR), battery_kwh=SMALL_KWH)
        cells = {
            "38 kWh": (Planner(roads, CAR), False),
            "4 kWh": (Planner(roads, small), False),
            "4 kWh, stations": (Planner(with_made_up_stations(roads), small), True),
        }
        for name, (planner, charge) in cells.items():
            taken = np.array(list(in_turns(planner, charge=charge))).T
            ratio, risky_s, mean_s = taken[1] / taken[0], taken[1], taken[0]
            acts = taken[2] > 0
            rows.append(
                [
                    f"{city.title()}, {name}",
                    *(f"{len(ratio)}", f"{acts.mean():.0%}"),
                    *(f"{1000 * np.median(each):.1f}" for each in (mean_s, risky_s)),
                    f"{1000 * np.quantile(risky_s, 0.95):.0f}",
                    *(f"{np.median(ratio):.2f}", f"{risky_s.sum() / mean_s.sum():.2f}"),
                    f"{np.median(ratio[acts]):.2f}" if acts.any() else "",
                ]
            )
    columns = ["plans", "number", "the promise acts", "by the mean, ms", "with the promise, ms"]
    columns += ["its 95 %", "ratio: median", "of the sums", "where the promise acts"]
    command = "python -m studies.pages --run promise-times"
    store("promise-times", columns, rows, command=command, networks=CITIES)


def in_turns(planner: Planner, *, charge: bool) -> Iterator[tuple[float, float, bool]]:
    """Yield CPU seconds by the mean and with the promise, and whether this changes the plan."""
    rng, (lon, lat) = np.random.default_rng((SEED, 3)), planner.network.junction_lon_lat
    found = -4  # the first ones load code
    while found < DRAWS:
        ends = [f"{lat[row]:.6f},{lon[row]:.6f}" for row in rng.integers(len(lon), size=2)]
        asked = {"soc": round(float(rng.uniform(11, 60)), 1), "reserve": 10, "charge": charge}
        plans, taken_s = {}, {}
        try:
            for risk in ("mean", 0.1) if found % 2 else (0.1, "mean"):
                begun = time.process_time()
                plans[risk] = planner.plan(*ends, **asked, risk=risk)
                assert plans[risk].chance is not None, "the forecast is part of the plan"
                taken_s[risk] = time.process_time() - begun
        except EvrouteError:
            continue
        found += 1
        if found > 0:
            best = [plan.recommended_route for plan in plans.values()]
            acts = best[0].route != best[1].route or best[0].stops != best[1].stops
            yield taken_s["mean"], taken_s[0.1], acts


def table() -> None:
    """Write the table."""
    rows = [row for city in CITIES for row in summary(city, of_city(city, NUMBER))]
    command = "python -m studies.pages --run refusals"
    store("refusals", COLUMNS, rows, command=command, networks=CITIES)
