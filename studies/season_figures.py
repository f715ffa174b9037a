"""Figures of the belief of whole trips over the seasons (docs/figures/seasons.md).

python studies/season_figures.py 30          thirty worlds
python studies/season_figures.py 30 gap      the same, with 200 to 400 days between two trips
python studies/season_figures.py 30 unknown  the same, without temperatures
python studies/season_figures.py 30 driving  one physics alone; also eq8
python studies/season_figures.py 30 steady   without a level that drifts
python studies/season_figures.py time        CPU time of learning 350 trips

World i has seed i, the network Denver for even i and Luxembourg for odd i, and begins in July for
i = 0, 1 modulo 4, in January otherwise. Its car differs from the vehicle file: rolling resistance
and drag by log-normal factors with deviations of 15 and 10 %, and 0 to 150 kg more. It drives 400
trips of random pairs on the fastest routes over a year. The belief expects each trip from the trips
before it, learns its total energy, and knows temperature and stand, no power.
"""

import sys
from collections.abc import Iterator
from dataclasses import fields
from time import process_time

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from evroute.arms import Route
from evroute.energy.defaults import KINDS_OF_PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.base import Belief
from evroute.learning.findings import online_regression
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips import terms
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.report.charts.interval_scores import interval_score
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.world import load_world
from evroute.worlds.year import YearWorld

TRIPS = 400
NETWORKS = ("denver", "luxembourg")
COLD_C = 5.0
FIRST = 10
GAP_AFTER, GAP_DAYS = 300, (200.0, 400.0)
RISKS = (0.2, 0.1, 0.05, 0.02)
DAY_S = 86_400.0
TIMED = (0, 2, 12)
FIRST_STD = terms.PRIOR_STD
HAS_STAND = "parked_minutes" in {field.name for field in fields(MeasuredTrip)}


def made_trips(seed: int, setting: Setting) -> Iterator[MeasuredTrip]:
    """Yield the trips of one world in order."""
    rng = np.random.default_rng(SeedSequence((35, seed)))
    rolling, drag = np.exp([0.15, 0.1] * rng.standard_normal(2))
    options = {
        "kind": "year",
        "rolling_factor": float(rolling),
        "drag_factor": float(drag),
        "payload_kg": float(rng.uniform(0.0, 150.0)),
        "trips_a_year": TRIPS,
        "first_day": 182 if seed % 4 < 2 else 1,
    }
    ends = tuple(rng.choice(setting.network.n_edges, 2, replace=False).tolist())
    world = load_world(options).build(setting, Repeated(*ends), SeedSequence(seed))
    assert isinstance(world, YearWorld)
    for t in range(1, TRIPS + 1):
        route = random_route(setting, rng)
        start = world.start(t)
        driven = world.drive(world.observe(t), route)
        stand = {"parked_minutes": start.parked_s / 60.0} if HAS_STAND else {}
        yield MeasuredTrip(
            str(t),
            route.rows,
            driven.energy_wh,
            driven.travel_s,
            departed_s=start.departed_s,
            temperature_c=start.temperature_c,
            **stand,
        )


def random_route(setting: Setting, rng: np.random.Generator) -> Route:
    """Return the fastest route between random edges at least 1 km apart."""
    network = setting.network
    while True:
        ends = rng.choice(network.n_edges, 2, replace=False).tolist()
        try:
            route = setting.search.route(network.time_s, *ends)
        except NoRouteError:
            continue
        if network.length_m[route.rows].sum() > 1_000.0:
            return route


def believing(setting: Setting, study: str) -> Belief:
    """Return the belief of a study before any trip."""
    if study == "steady":
        std = (1e-9 if k == terms.LEVEL else x for k, x in enumerate(FIRST_STD))
        terms.PRIOR_STD = tuple(std)
    return TripEnergies(setting, physics=study if study in KINDS_OF_PHYSICS else None)


def changed(trip: MeasuredTrip, number: int, study: str, gap_days: float) -> MeasuredTrip:
    """Return a trip as a study changes it."""
    values = {field.name: getattr(trip, field.name) for field in fields(trip)}
    if study == "gap" and number >= GAP_AFTER:
        values["departed_s"] += gap_days * DAY_S
    if study == "unknown":
        values["temperature_c"] = np.nan
    return MeasuredTrip(**values)


def played(seed: int, study: str) -> pd.DataFrame:
    """Return a row for each trip of a world, as it was expected before it was learned."""
    setting = Setting(load_network(NETWORKS[seed % 2]), load_vehicle())
    network, belief, rows = setting.network, believing(setting, study), []
    gap_days = float(np.random.default_rng(SeedSequence((36, seed))).uniform(*GAP_DAYS))
    for number, trip in enumerate(made_trips(seed, setting)):
        driven = changed(trip, number, study, gap_days)
        expected, energy = belief.expected(driven), belief.expect(driven).energy
        before = belief.changed_after
        taken_wh = float(trip.energy_wh.sum())
        fell = {
            f"fell{risk}": taken_wh > energy.mean_wh + energy.spread.at_risk(risk) * energy.sd_wh
            for risk in RISKS
        }
        belief.learn(driven)
        climb_m = network.climb_m[trip.edge]
        rows.append(
            {
                "seed": seed,
                "number": number,
                "temperature_c": trip.temperature_c,
                "measured": trip.energy_wh.sum(),
                "km": network.length_m[trip.edge].sum() / 1000.0,
                "climb_m": np.maximum(climb_m, 0.0).sum(),
                "descent_m": np.maximum(-climb_m, 0.0).sum(),
                "alarm": belief.changed_after != before,
                **fell,
                **{name: expected[name] for name in COLUMNS},
            }
        )
    frame = pd.DataFrame(rows)
    numbers = (frame[name].to_numpy() for name in ("km", "climb_m", "descent_m", "measured"))
    return frame.assign(regression=online_regression(*numbers))


COLUMNS = ("predicted_wh", "low50_wh", "high50_wh", "low90_wh", "high90_wh")


def figures(name: str, rows: pd.DataFrame) -> None:
    """Print the figures of some trips."""
    measured, low, high = (rows[each].to_numpy() for each in ("measured", "low90_wh", "high90_wh"))
    total_wh = np.abs(measured).sum()
    half = rows["measured"].between(rows["low50_wh"], rows["high50_wh"]).mean()
    print(
        f"  {name:28} {len(rows):5} trips: error "
        f"{np.abs(rows['predicted_wh'] - measured).sum() / total_wh:6.1%}, regression "
        f"{np.abs(rows['regression'] - measured).sum() / total_wh:6.1%}; held "
        f"{np.mean((low <= measured) & (measured <= high)):6.1%} of 90 %, {half:6.1%} of 50 %; "
        f"score {interval_score(low, high, measured).mean():6.0f} Wh, width "
        f"{(high - low).mean():6.0f} Wh"
    )


def main(worlds: int, study: str) -> None:
    """Print the table of a study."""
    rows = pd.concat([played(seed, study) for seed in range(worlds)], ignore_index=True)
    late = rows[rows["number"] >= FIRST]
    cold = rows[rows["temperature_c"] < COLD_C]
    first_cold = cold.groupby("seed").head(FIRST)
    print(f"year, {worlds} worlds{', ' + study if study else ''}")
    figures("trips 1 to 10", rows[rows["number"] < FIRST])
    figures("trips 11 to 60", late[late["number"] < 60])
    figures("trips from 11", late)
    figures(f"first ten below {COLD_C:.0f} °C", first_cold)
    figures(f"all below {COLD_C:.0f} °C", cold)
    figures("above 20 °C", late[late["temperature_c"] > 20.0])
    if study == "gap":
        after = rows["number"].between(GAP_AFTER, GAP_AFTER + 19)
        figures("20 trips after the gap", rows[after])
    for name, some in (("all", rows), ("from 11", late)):
        fell = ", ".join(f"{risk:.0%}: {some[f'fell{risk}'].mean():.1%}" for risk in RISKS)
        print(f"  more energy than at a risk, {name}: {fell}")
    print(f"  alarms: {rows['alarm'].sum()} in {len(rows)} trips")
    print("  alarms by world:", rows.groupby("seed")["alarm"].sum().to_dict())


def timed() -> None:
    """Print the CPU time of learning 350 trips of three worlds on Denver."""
    setting = Setting(load_network(NETWORKS[0]), load_vehicle())
    for seed in TIMED:
        trips = list(made_trips(seed, setting))[:350]
        for study in KINDS_OF_PHYSICS:
            belief, start_s = believing(setting, study), process_time()
            for trip in trips:
                belief.expected(trip)
                belief.learn(trip)
            print(f"world {seed}, {study:8} {process_time() - start_s:.2f} s")


if __name__ == "__main__":
    if sys.argv[1] == "time":
        timed()
    else:
        main(int(sys.argv[1]), "".join(sys.argv[2:3]))
