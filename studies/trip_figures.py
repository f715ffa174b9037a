"""Figures of the belief of whole trips on real and made trips (docs/figures/real-trips.md).

python studies/trip_figures.py twizy altitudes bus starts factors cost

EVROUTE_DATA_DIR must name the folder with ``drives/``. Expectations are made in order of departure,
each from earlier trips alone.
"""

import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from evroute.arrays import FloatArray, IntArray
from evroute.energy.defaults import KINDS_OF_PHYSICS
from evroute.errors import NoRouteError
from evroute.experiments.benchmark.data import load_data
from evroute.experiments.benchmark.measures import Expected
from evroute.learning.baseline import FEWEST_TRIPS, online_regression
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import read_measured
from evroute.learning.records.history import measured_row
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting, load_setting

FOLDER = Path(os.environ.get("EVROUTE_DATA_DIR", ""))
RESAMPLES = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Expected):
    """Trips in order, with the expectations of two baselines, Wh, and the last belief."""

    regression_wh: FloatArray
    eq8_wh: FloatArray
    last: TripEnergies

    def error_of(self, expected_wh: FloatArray, of: slice = slice(None)) -> float:
        """Return the error of other expectations of some trips."""
        return float(replace(self, expected_wh=expected_wh).error(self.rows(of)))

    def rows(self, of: slice = slice(None)) -> IntArray:
        """Return the rows of some trips."""
        return np.arange(len(self.measured_wh))[of]


def drive(setting: Setting, trips: list[MeasuredTrip], physics: str = "eq8") -> Outcome:
    """Learn trips in order of departure, as `evroute learn` does."""
    trips = sorted(trips, key=lambda trip: trip.departed_s or 0.0)
    rows: list[list[float]] = []
    energies = TripEnergies(setting, physics=physics)
    for trip in trips:
        expected = energies.expected(trip)
        rows.append([expected[name] for name in ("predicted_wh", "low90_wh", "high90_wh")])
        energies.learn(trip)
    numbers = pd.DataFrame([measured_row(setting, trip) for trip in trips])
    names = ["length_m", "climb_m", "descent_m", "energy_wh", "eq8_wh"]
    length_m, climb_m, descent_m, measured_wh, eq8_wh = numbers[names].to_numpy().T
    regression_wh = online_regression(length_m / 1000, climb_m, descent_m, measured_wh)
    return Outcome(measured_wh, *np.array(rows).T, regression_wh, eq8_wh, energies)


def resampled(outcome: Outcome, of: slice, value: Callable[[FloatArray], float]) -> str:
    """Return the 5th and 95th percentile of a value over resampled trips."""
    rng = np.random.default_rng(0)
    trips = np.arange(len(outcome.measured_wh))[of]
    values = [value(rng.choice(trips, len(trips))) for _ in range(RESAMPLES)]
    low, high = np.quantile(values, [0.05, 0.95])
    return f"({low:.2f} to {high:.2f})"


def report(name: str, outcome: Outcome) -> None:
    """Print the table of one log."""
    late, n = slice(FEWEST_TRIPS, None), len(outcome.measured_wh)

    def ratio(rows: FloatArray) -> float:
        ours, theirs = (
            np.abs(each - outcome.measured_wh)[rows].sum()
            for each in (outcome.expected_wh, outcome.regression_wh)
        )
        return float(ours / theirs)

    width_wh = float((outcome.high_wh - outcome.low_wh).mean())
    print(f"\n{name}: {n} trips, {np.abs(outcome.measured_wh).sum() / 1000:.1f} kWh")
    print(
        f"  error from trip {FEWEST_TRIPS + 1} on: "
        f"{outcome.error_of(outcome.expected_wh, late):.1%}"
    )
    print(
        f"  regression on km, climb, descent: {outcome.error_of(outcome.regression_wh, late):.1%}"
    )
    print(f"  eq. 8: {outcome.error_of(outcome.eq8_wh, late):.1%}")
    every = outcome.rows()
    print(
        f"  error over the regression's: {ratio(every[late]):.2f} {resampled(outcome, late, ratio)}"
    )
    coverage = resampled(outcome, slice(None), lambda rows: float(outcome.held(rows)))
    print(f"  90 % intervals held: {outcome.held(every) * n:.0f} of {n} {coverage}")
    print(f"  mean width: {width_wh:.0f} Wh, {width_wh / np.abs(outcome.measured_wh).mean():.2f}")
    print(f"  interval score: {outcome.score_wh(every):.0f} Wh")
    print(f"  last restart by the change test: trip {outcome.last.changed_after or 'none'}")
    belief = outcome.last.belief
    print(
        f"  {belief.noise}, roads {belief.noise.road_wh:.0f} Wh, heights {belief.field_std:.0f} Wh"
    )


def twizy() -> None:
    """31 pieces of 17 drives by edges, with and without the heights of the map."""
    (pieces,) = load_data(FOLDER, ["twizy"])
    setting, trips = pieces.setting, list(pieces.trips)
    for physics in KINDS_OF_PHYSICS:
        report(f"Twizy, {physics}", drive(setting, trips, physics))
        outcome = drive(level(setting), trips, physics)
        report(f"Twizy, heights removed, {physics}", outcome)


def level(setting: Setting) -> Setting:
    """Return a setting without heights."""
    network = setting.network
    flat = replace(network, elevation_m=np.zeros(len(network.elevation_m)))
    return Setting(flat, setting.vehicle)


def altitudes() -> None:
    """Print the errors on traces of the Twizy by points, with heights of the map and with none."""
    (pieces,) = load_data(FOLDER, ["twizy"])
    with TemporaryDirectory() as folder:
        table = Path(folder) / "trips.csv"
        table.write_bytes(gzip.decompress((FOLDER / "drives/twizy.csv.gz").read_bytes()))
        for name, setting in (("of the map", pieces.setting), ("removed", level(pieces.setting))):
            trips = read_measured(table, setting, {"twizy"}).trips
            for physics in KINDS_OF_PHYSICS:
                outcome = drive(setting, trips, physics)
                report(f"Twizy by points, heights {name}, {physics}", outcome)


def bus() -> None:
    """Print the errors on an electric bus by OSM ways, in trips of about 5 km without heights."""
    (pieces,) = load_data(FOLDER, ["bus"])
    report("Bus", drive(pieces.setting, list(pieces.trips)))


def made_trips(setting: Setting, seed: int, n: int, factor_std: float) -> list[MeasuredTrip]:
    """Return made trips of a car that is not the one of the vehicle file, each with its own factor.

    Rolling 1.3, climbs 1.1, recuperation 0.9 and auxiliary power 3 times those of the file; pace
    1.5 times that of the map, log-normal 0.2; noise of 30 Wh and 30 Wh per root of a km.
    """
    rng, network = np.random.default_rng(seed), setting.network
    prior = TripEnergies(setting, physics="eq8").belief.prior.mean
    factors = np.array([1.3, 1.1, 0.9, 3.0, 1.0])
    truth = prior[: len(factors)] * factors
    trips: list[MeasuredTrip] = []
    while len(trips) < n:
        ends = rng.choice(network.n_edges, 2, replace=False).tolist()
        try:
            edge = setting.search.route(network.time_s, *ends).rows
        except NoRouteError:
            continue
        climb_m, km = network.climb_m[edge], network.length_m[edge] / 1000
        if km.sum() < 1.0:
            continue
        travel_s = 1.5 * network.time_s[edge] * np.exp(0.2 * rng.standard_normal())
        area = 0.6 * setting.vehicle.drag * setting.vehicle.front_m2
        drag_wh = area * network.length_m[edge] ** 3 / travel_s**2 / 3600
        up_m, down_m = np.maximum(climb_m, 0), np.minimum(climb_m, 0)
        terms = np.column_stack([km, up_m, down_m, travel_s / 60, drag_wh])
        wh = terms @ truth * (1 + factor_std * rng.standard_normal())
        noise_wh = rng.normal(0, np.sqrt(30**2 + 30**2 * km.sum()))
        trips.append(MeasuredTrip(str(len(trips)), edge, wh + noise_wh / len(edge), travel_s))
    return trips


def starts() -> None:
    """Cold starts: errors of the trips after 0, 3, 10 and 30 trips, 20 made worlds."""
    print("\ncold start on made trips of Monaco, 10 % trip factors, 20 worlds")
    setting = load_setting("monaco", "renault-zoe")
    outcomes = [drive(setting, made_trips(setting, seed, 60, 0.1)) for seed in range(20)]
    for low, high in ((0, 3), (3, 10), (10, 30), (30, 60)):
        of = slice(low, high)
        ours = np.mean([each.error_of(each.expected_wh, of) for each in outcomes])
        eq8 = np.mean([each.error_of(each.eq8_wh, of) for each in outcomes])
        baseline = [each.error_of(each.regression_wh, of) for each in outcomes]
        theirs = f"{np.mean(baseline):.1%}" if low >= FEWEST_TRIPS else "-"
        held = np.mean([each.held(each.rows(of)) for each in outcomes])
        print(
            f"  trips {low + 1} to {high}: {ours:.1%}, regression {theirs}, eq. 8 {eq8:.1%}, "
            f"90 % hold {held:.0%}"
        )


def factors() -> None:
    """Intervals of the first 30 trips by trip factor, 20 made worlds."""
    print("\nfirst 30 trips on Monaco by trip factor, 20 worlds")
    setting = load_setting("monaco", "renault-zoe")
    for factor in (0.0, 0.1, 0.2):
        outcomes = [drive(setting, made_trips(setting, seed, 30, factor)) for seed in range(20)]
        held = [each.held(each.rows()) for each in outcomes]
        width = np.mean(
            [
                (each.high_wh - each.low_wh).mean() / np.abs(each.measured_wh).mean()
                for each in outcomes
            ]
        )
        print(
            f"  {factor:.0%}: 90 % intervals hold {np.mean(held):.0%} "
            f"(worlds {np.min(held):.0%} to {np.max(held):.0%}), width {width:.2f} of the energy"
        )


def cost() -> None:
    """Seconds to learn 350 trips, with and without heights."""
    setting = load_setting("monaco", "renault-zoe")
    trips = made_trips(setting, 0, 350, 0.1)
    print("\n350 trips on Monaco")
    for name, each in (("heights", setting), ("no heights", level(setting))):
        began, cpu = time.perf_counter(), time.process_time()
        outcome = drive(each, trips)
        spent = time.perf_counter() - began, time.process_time() - cpu
        columns = len(outcome.last.belief.column)
        print(
            f"  {name}: {spent[0]:.2f} s ({spent[1]:.2f} s of CPU), {columns} columns, error "
            f"{outcome.error_of(outcome.expected_wh, slice(30, None)):.1%}, regression "
            f"{outcome.error_of(outcome.regression_wh, slice(30, None)):.1%}"
        )


def chosen(names: list[str]) -> Iterator[Callable[[], None]]:
    """Yield the named parts, or all parts."""
    parts = {each.__name__: each for each in (twizy, altitudes, bus, starts, factors, cost)}
    yield from (parts[name] for name in names or parts)


if __name__ == "__main__":
    for part in chosen(sys.argv[1:]):
        part()
