"""Figures of the belief of a fleet (docs/figures/fleets.md).

python studies/fleet_figures.py 10           ten worlds of 20 cars and 5,000 trips
python studies/fleet_figures.py 10 changes   the same; the first car takes 15 % more from its trip
                                             100 on, and the last begins after 4,000 trips
python studies/fleet_figures.py 10 known     the first, with the belief that knows all factors
python studies/fleet_figures.py 3 changes short  1,600 trips, and all of the above at a third
python studies/fleet_figures.py 3:5 changes  worlds 3 and 4 alone
python studies/fleet_figures.py time 200     CPU time a trip of 20 cars and of 200, 50 trips each
python studies/fleet_figures.py cars 1000    coefficients alone, without roads: 3,000
                                             trips of 20 cars and of 1,000

World i has seed i and the network Denver. Its type differs from the vehicle file: rolling
resistance and drag by log-normal factors with deviations of 15 and 10 %. Each car takes a share
u ~ N(0, 0.08²) more of the energy that it dissipates. 5,000 trips on the fastest routes between
random pairs, at least 1 km apart, are driven over a year by random cars, with noise, weather and
roads of `evroute.worlds.year`. Beside the belief of the fleet:

one belief    the belief of all trips as if of one car
ratio         the same times a ratio of each car, the mean of measured over expected shrunken by ten
              trips of ratio 1
known         the belief of all trips as if each car took as much as its type, times the true factor
floor         the true expected energy of the route, by the car and the roads of the world: the rest
              is noise

All beliefs are by the driver's physics alone, ``physics="driving"``, which takes half of the time.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import KM, MINUTES, coefficient_prior, with_level
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.physics import Physics
from evroute.worlds.world import load_world
from evroute.worlds.year import YearWorld

try:
    from studies.season_figures import random_route
except ImportError:
    from season_figures import random_route

CARS = 20
STD, MORE = 0.08, 0.15
SHRUNKEN = 10.0
TIMED_TRIPS = 3_000


@dataclass(frozen=True, slots=True)
class Length:
    """Number of trips of a world, and the numbers of a car's trips that count for the tables."""

    trips: int
    late: slice
    judged: slice
    flat_at: int
    new_after: int


LENGTHS = {
    "": Length(5_000, slice(150, 250), slice(50, 250), 100, 4_000),
    "short": Length(1_600, slice(40, 80), slice(15, 80), 35, 1_200),
}


def made_trips(
    seed: int, setting: Setting, cars: int, length: Length, study: str
) -> Iterator[tuple[MeasuredTrip, float, float, float]]:
    """Yield the trips of one world in order, each with three true numbers.

    They are the share that the car takes more, the expected energy of the route, Wh, and the part
    of it by which its type heats and cools, Wh.
    """
    rng = np.random.default_rng(SeedSequence((39, seed)))
    factors = np.exp([0.15, 0.1] * rng.standard_normal(2))
    share = STD * rng.standard_normal(cars)
    ends = tuple(rng.choice(setting.network.n_edges, 2, replace=False).tolist())
    options = {
        "kind": "year",
        "rolling_factor": float(factors[0]),
        "drag_factor": float(factors[1]),
        "trips_a_year": length.trips,
        "first_day": 182,
    }
    world = load_world(options).build(setting, Repeated(*ends), SeedSequence(seed))
    driven_by = np.zeros(cars, dtype=int)
    for t in range(1, length.trips + 1):
        late = study == "changes" and t <= length.new_after
        car = int(rng.integers(cars - late))
        route, name = random_route(setting, rng), f"van-{car:03d}"
        assert isinstance(world, YearWorld)
        start = world.start(t)
        request = world.observe(t)
        driven, true_wh = world.drive(request, route), world.route_wh(request, route)
        more = share[car]
        if study == "changes" and car == 0 and driven_by[0] >= length.flat_at:
            more = (1.0 + more) * (1.0 + MORE) - 1.0
        driven_by[car] += 1
        climb_wh = setting.potential_wh[route.rows]
        own_wh = driven.energy_wh - climb_wh
        trip = MeasuredTrip(
            str(t),
            route.rows,
            driven.energy_wh + more * own_wh,
            driven.travel_s,
            departed_s=start.departed_s,
            temperature_c=start.temperature_c,
            parked_minutes=start.parked_s / 60.0,
            car=name,
        )
        total_wh = float(climb_wh.sum())
        own_wh = (1.0 + float(more)) * (true_wh - total_wh)
        heating_wh = true_wh - Physics.route_wh(world, request, route)
        yield trip, float(more), total_wh + own_wh, heating_wh


def as_type(trip: MeasuredTrip, more: float, setting: Setting) -> MeasuredTrip:
    """Return a trip with the energy of its type, without a name of its car."""
    own_wh = (trip.energy_wh - setting.potential_wh[trip.edge]) / (1.0 + more)
    return replace(trip, energy_wh=own_wh + setting.potential_wh[trip.edge], car="")


def played(seed: int, study: str, length: Length) -> pd.DataFrame:
    """Return a row for each trip of a world, as it was expected before it was learned."""
    setting = Setting(load_network("denver"), load_vehicle())
    fleet, one, known = (TripEnergies(setting, physics="driving") for _ in range(3))
    rows, ratios = [], {}
    for trip, more, true_wh, _ in made_trips(seed, setting, CARS, length, study):
        measured_wh = float(trip.energy_wh.sum())
        row = fleet.expected(trip)
        fleet.learn(trip)
        of_known, unnamed = np.nan, replace(trip, car="")
        of_one = one.expected(unnamed)
        one.learn(unnamed)
        if study == "known":
            typed = as_type(trip, more, setting)
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
                "floor": true_wh,
                "held": row["low90_wh"] <= measured_wh <= row["high90_wh"],
                "held_one": of_one["low90_wh"] <= measured_wh <= of_one["high90_wh"],
                "roads": fleet.changed_after,
                "loosened": fleet.belief.cars.times[trip.car].loosened,
            }
        )
    return pd.DataFrame(rows)


def errors(name: str, rows: pd.DataFrame) -> None:
    """Print the errors of some trips."""
    total_wh = rows["measured"].abs().sum()
    shown = ", ".join(
        f"{of} {(rows[of] - rows['measured']).abs().sum() / total_wh:.2%}"
        for of in ("fleet", "ratio", "one", "known", "floor")
        if rows[of].notna().all()
    )
    print(f"  {name:28} {len(rows):6} trips: {shown}; held {rows['held'].mean():.1%} of 90 %")


def between(rows: pd.DataFrame, trips: slice) -> pd.DataFrame:
    """Return the trips of each car from one of its numbers up to another."""
    return rows[(rows["number"] >= trips.start) & (rows["number"] < trips.stop)]


def main(seeds: range, study: str, length: Length) -> None:
    """Print the table of a study."""
    parts = []
    for seed in seeds:
        start_s = process_time()
        parts.append(played(seed, study, length))
        print(f"world {seed}: {process_time() - start_s:.0f} s of CPU", flush=True)
        report(parts[-1], study, length)
    rows = pd.concat(parts, ignore_index=True)
    print(f"fleet, {len(seeds)} worlds{', ' + study if study else ''}")
    report(rows, study, length)


def report(rows: pd.DataFrame, study: str, length: Length) -> None:
    """Print the figures of the trips of some worlds."""
    late = f"trips {length.late.start} to {length.late.stop} of"
    errors(f"{late} a car", between(rows, length.late))
    errors("first ten of a car", between(rows, slice(0, 10)))
    if study == "changes":
        last = rows[rows["car"] == f"van-{CARS - 1:03d}"]
        errors("first ten of a new car", between(last, slice(0, 10)))
    by_car = between(rows, length.judged).groupby(["seed", "car"])[["held", "held_one"]].mean()
    for name in by_car:
        good = by_car[name].between(0.84, 0.96).groupby("seed").sum()
        print(
            f"  {name}: cars within 84 to 96 %, by world {good.tolist()}, from "
            f"{by_car[name].min():.0%} to {by_car[name].max():.0%}"
        )
    if study == "changes":
        flat = rows[rows["car"] == "van-000"]
        first = flat[flat["loosened"] > 0].groupby("seed")["number"].min()
        print(
            f"  the flat car is loosened after {(first - length.flat_at).to_dict()} trips, by world"
        )
        after = slice(length.flat_at + 20, length.flat_at + 60)
        errors("flat car, 20 to 60 after", between(flat, after))
    others = rows.groupby(["seed", "car"])["loosened"].max().groupby("seed").sum()
    print(f"  loosened: {others.to_dict()}; roads: {rows.groupby('seed')['roads'].max().to_dict()}")


def timed(most: int) -> None:
    """Print the CPU time a trip by the number of cars, with 50 trips each."""
    setting = Setting(load_network("denver"), load_vehicle())
    for cars in (20, most):
        trips = [
            trip
            for trip, *_ in made_trips(0, setting, cars, replace(LENGTHS[""], trips=50 * cars), "")
        ]
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


def timed_cars(most: int) -> None:
    """Print the CPU time a trip of coefficients and cars alone, by the number of cars."""
    prior = coefficient_prior(load_vehicle())
    for cars in (20, most):
        rng, belief = np.random.default_rng(1), TripBelief(prior)
        km = rng.lognormal(1.8, 0.4, TIMED_TRIPS)
        rows = np.zeros((TIMED_TRIPS, len(prior.mean)))
        rows[:, KM], rows[:, MINUTES] = km, 2.0 * km
        rows = with_level(rows, prior)
        factor = 1.0 + STD * rng.standard_normal(cars)
        start_s = process_time()
        for k, row in enumerate(rows):
            car = f"van-{k % cars:04d}"
            energy_wh = factor[k % cars] * rng.normal(1.0, 0.06) * float(row @ prior.mean)
            belief.of_car(car).expect(row)
            belief.learn(row, energy_wh, car=car)
        took_ms = 1e3 * (process_time() - start_s) / TIMED_TRIPS
        print(f"{cars} cars, {TIMED_TRIPS} trips: {took_ms:.2f} ms a trip", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "cars":
        timed_cars(int(sys.argv[2]))
    elif sys.argv[1] == "time":
        timed(int(sys.argv[2]))
    else:
        first, _, last = sys.argv[1].rpartition(":")
        words = sys.argv[2:]
        study = next((word for word in words if word != "short"), "")
        main(
            range(int(first or 0), int(last)),
            study,
            LENGTHS["short" if "short" in words else ""],
        )
