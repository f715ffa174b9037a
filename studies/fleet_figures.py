"""Figures of the belief of a fleet (docs/figures/fleets.md).

python studies/fleet_figures.py 10           ten worlds of 20 cars and 5,000 trips
python studies/fleet_figures.py 10 changes   the same; the first car takes 15 % more from its trip
                                             100 on, and the last begins after 4,000 trips
python studies/fleet_figures.py 10 known     the first, with the belief that knows all factors
python studies/fleet_figures.py time 200     CPU time a trip of 20 cars and of 200, 50 trips each

World i has seed i and the network Denver. Its type differs from the vehicle file: rolling
resistance and drag by log-normal factors with deviations of 15 and 10 %. Each car takes a share
u ~ N(0, 0.08²) more of the energy that it dissipates. 5,000 trips on the fastest routes between
random pairs, at least 1 km apart, are driven over a year by random cars, with noise, weather and
roads of `evroute.worlds.year`. Beside the belief of the fleet:

one belief    the belief of all trips as if of one car
ratio         the same times a ratio of each car, the mean of measured over expected shrunken by ten
              trips of ratio 1
known         the belief of all trips as if each car took as much as its type, times the true factor

All beliefs are by the driver's physics alone, ``physics="driving"``, which takes half of the time.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.world import load_world
from evroute.worlds.year import YearWorld

try:
    from studies.season_figures import random_route
except ImportError:
    from season_figures import random_route

CARS, TRIPS = 20, 5_000
STD, MORE, FLAT_AT = 0.08, 0.15, 100
SHRUNKEN = 10.0
LATE = slice(150, 250)
JUDGED = slice(50, 250)
NEW_AFTER = 4_000


def made_trips(
    seed: int, setting: Setting, cars: int, trips: int, study: str
) -> Iterator[tuple[MeasuredTrip, float]]:
    """Yield the trips of one world in order, and the true share that the car takes more."""
    rng = np.random.default_rng(SeedSequence((39, seed)))
    rolling, drag = np.exp([0.15, 0.1] * rng.standard_normal(2))
    share = STD * rng.standard_normal(cars)
    options = {
        "kind": "year",
        "rolling_factor": float(rolling),
        "drag_factor": float(drag),
        "trips_a_year": trips,
        "first_day": 182,
    }
    ends = tuple(rng.choice(setting.network.n_edges, 2, replace=False).tolist())
    world = load_world(options).build(setting, Repeated(*ends), SeedSequence(seed))
    assert isinstance(world, YearWorld)
    driven_by = np.zeros(cars, dtype=int)
    for t in range(1, trips + 1):
        late = study == "changes" and t <= NEW_AFTER
        car = int(rng.integers(cars - late))
        route = random_route(setting, rng)
        start = world.start(t)
        driven = world.drive(world.observe(t), route)
        more = share[car]
        if study == "changes" and car == 0 and driven_by[0] >= FLAT_AT:
            more = (1.0 + more) * (1.0 + MORE) - 1.0
        driven_by[car] += 1
        own_wh = driven.energy_wh - setting.potential_wh[route.rows]
        trip = MeasuredTrip(
            str(t),
            route.rows,
            driven.energy_wh + more * own_wh,
            driven.travel_s,
            departed_s=start.departed_s,
            temperature_c=start.temperature_c,
            parked_minutes=start.parked_s / 60.0,
            car=f"van-{car:03d}",
        )
        yield trip, float(more)


def as_type(trip: MeasuredTrip, more: float, setting: Setting) -> MeasuredTrip:
    """Return a trip with the energy of its type, without a name of its car."""
    own_wh = (trip.energy_wh - setting.potential_wh[trip.edge]) / (1.0 + more)
    return replace(trip, energy_wh=own_wh + setting.potential_wh[trip.edge], car="")


def played(seed: int, study: str) -> pd.DataFrame:
    """Return a row for each trip of a world, as it was expected before it was learned."""
    setting = Setting(load_network("denver"), load_vehicle())
    fleet, one, known = (TripEnergies(setting, physics="driving") for _ in range(3))
    rows, ratios = [], {}
    for trip, more in made_trips(seed, setting, CARS, TRIPS, study):
        measured_wh = float(trip.energy_wh.sum())
        row = fleet.expected(trip)
        fleet.learn(trip)
        unnamed, typed = replace(trip, car=""), as_type(trip, more, setting)
        of_one, of_known = one.expected(unnamed), np.nan
        one.learn(unnamed)
        if study == "known":
            of_known = known.expected(typed)["predicted_wh"]
            known.learn(typed)
        past = ratios.setdefault(trip.car, [])
        ratio = (sum(past) + SHRUNKEN) / (len(past) + SHRUNKEN)
        past.append(measured_wh / of_one["predicted_wh"])
        climb_wh = float(setting.potential_wh[trip.edge].sum())
        rows.append(
            {
                "seed": seed,
                "car": trip.car,
                "number": len(past) - 1,
                "measured": measured_wh,
                "fleet": row["predicted_wh"],
                "one": of_one["predicted_wh"],
                "ratio": ratio * of_one["predicted_wh"],
                "known": (of_known - climb_wh) * (1.0 + more) + climb_wh,
                "held": row["low90_wh"] <= measured_wh <= row["high90_wh"],
                "held_one": of_one["low90_wh"] <= measured_wh <= of_one["high90_wh"],
                "roads": fleet.changed_after,
                "loosened": fleet.belief.cars.by_car[trip.car].loosened,
            }
        )
    return pd.DataFrame(rows)


def errors(name: str, rows: pd.DataFrame) -> None:
    """Print the errors of some trips."""
    total_wh = rows["measured"].abs().sum()
    shown = ", ".join(
        f"{of} {(rows[of] - rows['measured']).abs().sum() / total_wh:.2%}"
        for of in ("fleet", "ratio", "one", "known")
        if rows[of].notna().all()
    )
    print(f"  {name:28} {len(rows):6} trips: {shown}; held {rows['held'].mean():.1%} of 90 %")


def between(rows: pd.DataFrame, trips: slice) -> pd.DataFrame:
    """Return the trips of each car from one of its numbers up to another."""
    return rows[(rows["number"] >= trips.start) & (rows["number"] < trips.stop)]


def main(worlds: int, study: str) -> None:
    """Print the table of a study."""
    parts = []
    for seed in range(worlds):
        start_s = process_time()
        parts.append(played(seed, study))
        print(f"world {seed}: {process_time() - start_s:.0f} s of CPU", flush=True)
        report(parts[-1], study)
    rows = pd.concat(parts, ignore_index=True)
    print(f"fleet, {worlds} worlds{', ' + study if study else ''}")
    report(rows, study)


def report(rows: pd.DataFrame, study: str) -> None:
    """Print the figures of the trips of some worlds."""
    errors("trips 150 to 250 of a car", between(rows, LATE))
    errors("first ten of a car", between(rows, slice(0, 10)))
    if study == "changes":
        last = rows[rows["car"] == f"van-{CARS - 1:03d}"]
        errors("first ten of a new car", between(last, slice(0, 10)))
    by_car = between(rows, JUDGED).groupby(["seed", "car"])[["held", "held_one"]].mean()
    for name in by_car:
        good = by_car[name].between(0.84, 0.96).groupby("seed").sum()
        print(
            f"  {name}: cars within 84 to 96 %, by world {good.tolist()}, from "
            f"{by_car[name].min():.0%} to {by_car[name].max():.0%}"
        )
    if study == "changes":
        flat = rows[rows["car"] == "van-000"]
        first = flat[flat["loosened"] > 0].groupby("seed")["number"].min()
        print(f"  the flat car is loosened after {(first - FLAT_AT).to_dict()} trips, by world")
        errors("flat car, 20 to 60 after", between(flat, slice(FLAT_AT + 20, FLAT_AT + 60)))
    others = rows.groupby(["seed", "car"])["loosened"].max().groupby("seed").sum()
    print(f"  loosened: {others.to_dict()}; roads: {rows.groupby('seed')['roads'].max().to_dict()}")


def timed(most: int) -> None:
    """Print the CPU time a trip by the number of cars, with 50 trips each."""
    setting = Setting(load_network("denver"), load_vehicle())
    for cars in (20, most):
        trips = [trip for trip, _ in made_trips(0, setting, cars, 50 * cars, "")]
        fleet, start_s = TripEnergies(setting, physics="driving"), process_time()
        for trip in trips:
            fleet.expected(trip)
            fleet.learn(trip)
        took_s = process_time() - start_s
        own = {
            k: v.nbytes
            for k, v in fleet.state().items()
            if "trips/car_" in k or "trips/error_" in k
        }
        own |= {k: v.nbytes for k, v in fleet.state().items() if k.startswith("cars/")}
        print(
            f"{cars} cars, {len(trips)} trips: {1e3 * took_s / len(trips):.2f} ms a trip, "
            f"{sum(own.values()) / cars:.0f} B a car beside rows",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1] == "time":
        timed(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
