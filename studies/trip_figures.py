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

from evroute.arrays import FloatArray
from evroute.energy.defaults import KINDS_OF_PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.baseline import FEWEST_TRIPS, online_regression
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import read_measured
from evroute.learning.records.history import measured_row
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting, load_setting
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources import graphml

DRIVES = Path(os.environ.get("EVROUTE_DATA_DIR", "")) / "drives"
VEHICLES = Path(__file__).parent / "vehicles"
RESAMPLES = 2000


@dataclass
class Outcome:
    """Trips in order: energies, expectations and 90 % intervals, and those of baselines, Wh."""

    measured_wh: FloatArray
    expected_wh: FloatArray
    low_wh: FloatArray
    high_wh: FloatArray
    regression_wh: FloatArray
    eq8_wh: FloatArray
    last: TripEnergies

    def error(self, expected_wh: FloatArray, of: slice = slice(None)) -> float:
        """Return the sum of absolute errors, as a share of the measured energy."""
        off_wh = np.abs(expected_wh - self.measured_wh)[of]
        return float(off_wh.sum() / np.abs(self.measured_wh[of]).sum())

    @property
    def score_wh(self) -> FloatArray:
        """Interval scores at 90 %, width plus 20 times the distance of a miss, (n,) Wh."""
        below_wh, above_wh = self.low_wh - self.measured_wh, self.measured_wh - self.high_wh
        missed_wh = np.maximum(below_wh, 0.0) + np.maximum(above_wh, 0.0)
        return self.high_wh - self.low_wh + 20.0 * missed_wh

    @property
    def held(self) -> FloatArray:
        """Whether each measured energy lies in its interval, (n,)."""
        return (self.low_wh <= self.measured_wh) & (self.measured_wh <= self.high_wh)


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
        f"  error from trip {FEWEST_TRIPS + 1} on: {outcome.error(outcome.expected_wh, late):.1%}"
    )
    print(f"  regression on km, climb, descent: {outcome.error(outcome.regression_wh, late):.1%}")
    print(f"  eq. 8: {outcome.error(outcome.eq8_wh, late):.1%}")
    every = np.arange(n)[late]
    print(f"  error over the regression's: {ratio(every):.2f} {resampled(outcome, late, ratio)}")
    coverage = resampled(outcome, slice(None), lambda rows: float(outcome.held[rows].mean()))
    print(f"  90 % intervals held: {outcome.held.sum()} of {n} {coverage}")
    print(f"  mean width: {width_wh:.0f} Wh, {width_wh / np.abs(outcome.measured_wh).mean():.2f}")
    print(f"  interval score: {outcome.score_wh.mean():.0f} Wh")
    print(f"  last restart by the change test: trip {outcome.last.changed_after or 'none'}")
    belief = outcome.last.belief
    print(
        f"  {belief.noise}, roads {belief.noise.road_wh:.0f} Wh, heights {belief.field_std:.0f} Wh"
    )


def rabat(folder: Path) -> RoadNetwork:
    """Return the network of the drives of the Twizy."""
    path = folder / "rabat.graphml"
    path.write_bytes(gzip.decompress((DRIVES / "rabat.graphml.gz").read_bytes()))
    return graphml.read(path, "rabat")


def twizy() -> None:
    """31 pieces of 17 drives by edges, with and without the heights of the map."""
    vehicle = load_vehicle(VEHICLES / "twizy.toml")
    with TemporaryDirectory() as folder:
        network = rabat(Path(folder))
        setting = Setting(network, vehicle)
        table = Path(folder) / "trips.csv"
        table.write_bytes(gzip.decompress((DRIVES / "twizy_edges.csv.gz").read_bytes()))
        trips = read_measured(table, setting, {"twizy"}).trips
    level = replace(network, elevation_m=np.zeros(len(network.elevation_m)))
    for physics in KINDS_OF_PHYSICS:
        report(f"Twizy, {physics}", drive(setting, trips, physics))
        outcome = drive(Setting(level, vehicle), trips, physics)
        report(f"Twizy, heights removed, {physics}", outcome)


def altitudes() -> None:
    """Print the errors on traces of the Twizy by points, with heights of the map and with none."""
    vehicle = load_vehicle(VEHICLES / "twizy.toml")
    with TemporaryDirectory() as folder:
        network = rabat(Path(folder))
        table = Path(folder) / "trips.csv"
        table.write_bytes(gzip.decompress((DRIVES / "twizy.csv.gz").read_bytes()))
        level = replace(network, elevation_m=np.zeros(len(network.elevation_m)))
        for name, roads in (
            ("of the map", network),
            ("removed", level),
        ):
            setting = Setting(roads, vehicle)
            trips = read_measured(table, setting, {"twizy"}).trips
            for physics in KINDS_OF_PHYSICS:
                outcome = drive(setting, trips, physics)
                report(f"Twizy by points, heights {name}, {physics}", outcome)


def bus() -> None:
    """Print the errors on an electric bus by OSM ways, in trips of about 5 km without heights."""
    vehicle = load_vehicle(VEHICLES / "bus.toml")
    rows = pd.read_csv(DRIVES / "bus-samples.csv.gz").sort_values("TimeStamp_Begin")
    cell = 50.0
    x_m = (rows.filter(like="Longitude").to_numpy() + 85.3) * 111_320 * np.cos(np.radians(35.03))
    y_m = (rows.filter(like="Latitude").to_numpy() - 35.0) * 110_950
    cells = [tuple(each) for each in np.floor(np.stack([x_m, y_m], 2) / cell).reshape(-1, 2)]
    junction = {each: k for k, each in enumerate(dict.fromkeys(cells))}
    ends = np.array([junction[each] for each in cells]).reshape(-1, 2)
    rows = rows.assign(tail=ends[:, 0], head=ends[:, 1])
    rows = rows[(rows["tail"] != rows["head"]) & (rows["Distance"] > 10)]
    edges = rows.groupby(["tail", "head", "OSM_Feature"], sort=False)
    rows = rows.assign(edge=edges.ngroup())
    first = edges.agg(length=("Distance", "median")).reset_index()
    places = (np.array(list(junction)) + 0.5) * cell
    network = level_network(first, places)
    gap_s = rows["TimeStamp_Begin"].diff() / 1000
    km = (rows["Distance"].cumsum() / 1000).to_numpy()
    began = np.cumsum((gap_s > 1800).to_numpy())
    piece = began * 1000 + (km // 5).astype(int)
    wh_per_percent = vehicle.battery_kwh * 10
    trips = [
        MeasuredTrip(
            str(name),
            part["edge"].to_numpy(),
            part["Energy_Consumed"].to_numpy() * wh_per_percent,
            part["TimeNeeded_in_Seconds"].to_numpy(dtype=float),
            soc_percent=float(part["Energy_at_Begining"].iloc[0]),
        )
        for name, part in rows.groupby(piece, sort=False)
        if part["Distance"].sum() > 1000
    ]
    report("Bus", drive(Setting(network, vehicle), trips))


def level_network(edges: pd.DataFrame, places: FloatArray) -> RoadNetwork:
    """Return a network of these edges with 40 km/h on all; no turn of it is used."""
    n = len(edges)
    tail, head = edges["tail"].to_numpy(), edges["head"].to_numpy()
    return RoadNetwork(
        name="bus",
        edge_id=tuple(str(k) for k in range(n)),
        tail=tail,
        head=head,
        length_m=edges["length"].to_numpy(dtype=float),
        speed_mps=np.full(n, 40 / 3.6),
        structure=np.zeros(n, dtype=int),
        street=("",) * n,
        road_class=("",) * n,
        turns=np.empty((0, 2), dtype=int),
        junction_id=tuple(str(k) for k in range(len(places))),
        x_m=places[:, 0],
        y_m=places[:, 1],
        elevation_m=np.zeros(len(places)),
        shape_start=2 * np.arange(n + 1),
        shape_x_m=np.column_stack([places[tail, 0], places[head, 0]]).ravel(),
        shape_y_m=np.column_stack([places[tail, 1], places[head, 1]]).ravel(),
        crs="EPSG:32616",
        source=Source(kind="drives"),
    )


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
        ours = np.mean([each.error(each.expected_wh, of) for each in outcomes])
        eq8 = np.mean([each.error(each.eq8_wh, of) for each in outcomes])
        baseline = [each.error(each.regression_wh, of) for each in outcomes]
        theirs = f"{np.mean(baseline):.1%}" if low >= FEWEST_TRIPS else "-"
        held = np.mean([each.held[of].mean() for each in outcomes])
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
        held = [each.held.mean() for each in outcomes]
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
    level = replace(setting.network, elevation_m=np.zeros(len(setting.network.elevation_m)))
    print("\n350 trips on Monaco")
    for name, each in (("heights", setting), ("no heights", Setting(level, setting.vehicle))):
        began, cpu = time.perf_counter(), time.process_time()
        outcome = drive(each, trips)
        spent = time.perf_counter() - began, time.process_time() - cpu
        columns = len(outcome.last.belief.column)
        print(
            f"  {name}: {spent[0]:.2f} s ({spent[1]:.2f} s of CPU), {columns} columns, error "
            f"{outcome.error(outcome.expected_wh, slice(30, None)):.1%}, regression "
            f"{outcome.error(outcome.regression_wh, slice(30, None)):.1%}"
        )


def chosen(names: list[str]) -> Iterator[Callable[[], None]]:
    """Yield the named parts, or all parts."""
    parts = {each.__name__: each for each in (twizy, altitudes, bus, starts, factors, cost)}
    yield from (parts[name] for name in names or parts)


if __name__ == "__main__":
    for part in chosen(sys.argv[1:]):
        part()
