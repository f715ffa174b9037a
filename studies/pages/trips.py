"""Tables of *real trips*: each trip is expected from the trips before it alone.

``EVROUTE_DATA_DIR`` names the folder with ``drives/`` and ``ioniq5/``. `small` has ten first trips
of a Twizy and of a made year.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from evroute.arrays import FloatArray, IntArray
from evroute.experiments.benchmark.data import load_data
from evroute.experiments.benchmark.measures import Expected
from evroute.experiments.benchmark.run import benchmark as compared
from evroute.learning.baseline import FEWEST_TRIPS, online_regression
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records.history import measured_row
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from studies.pages.tables import store

RESAMPLES = 2000
LOGS = {"twizy": "Twizy, 31 pieces", "bus": "bus, 95 pieces", "ioniq5": "Ioniq 5, 36 days"}
ENTRIES = {"regression": "regression", "evroute": "evroute", "lightgbm": "LightGBM"}
ENTRIES |= {"physics": "eq. 8"}


def data_folder() -> Path:
    """Return the folder of the user's data."""
    return Path(os.environ["EVROUTE_DATA_DIR"])


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Expected):
    """Trips in order, with the expectations of two baselines, Wh."""

    regression_wh: FloatArray
    eq8_wh: FloatArray

    def rows(self, of: slice = slice(None)) -> IntArray:
        """Return the rows of some trips."""
        return np.arange(len(self.measured_wh))[of]

    def error_of(self, expected_wh: FloatArray) -> str:
        """Return the error of other expectations of the later trips."""
        late = self.rows(slice(FEWEST_TRIPS, None))
        return f"{100 * float(replace(self, expected_wh=expected_wh).error(late)):.1f} %"

    def over_regression(self, trips: IntArray) -> float:
        """Return the error of some trips over that of the regression."""
        theirs = replace(self, expected_wh=self.regression_wh)
        return float(self.error(trips) / theirs.error(trips))


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
    return Outcome(measured_wh, *np.array(rows).T, regression_wh, eq8_wh)


def level(setting: Setting) -> Setting:
    """Return a setting without heights."""
    network = setting.network
    flat = replace(network, elevation_m=np.zeros(len(network.elevation_m)))
    return Setting(flat, setting.vehicle)


def cells(outcome: Outcome) -> list[str]:
    """Return the cells of one log."""
    rng, trips = np.random.default_rng(0), outcome.rows()
    late = trips[FEWEST_TRIPS:]
    ratios = [outcome.over_regression(rng.choice(late, len(late))) for _ in range(RESAMPLES)]
    low, high = np.quantile(ratios, [0.05, 0.95])
    width_wh = float((outcome.high_wh - outcome.low_wh).mean())
    return [
        outcome.error_of(outcome.expected_wh),
        outcome.error_of(outcome.regression_wh),
        outcome.error_of(outcome.eq8_wh),
        f"{outcome.over_regression(late):.2f} ({low:.2f} to {high:.2f})",
        f"{float(outcome.held(trips)) * len(trips):.0f} of {len(trips)}",
        f"{width_wh / np.abs(outcome.measured_wh).mean():.2f}",
        f"{float(outcome.score_wh(trips)):,.0f}",
    ]


MEASURES = ["error from trip 4 on", "regression", "eq. 8 with the vehicle file"]
MEASURES += ["error over the regression's", "90 % intervals held"]
MEASURES += ["mean width, share of the mean energy", "interval score, Wh"]


def real_trips() -> None:
    """Write the errors of the default belief on the drives of a Twizy and of a bus."""
    twizy, bus = load_data(data_folder(), ["twizy", "bus"])
    logs = {"Twizy, 31 pieces of 17 drives": drive(twizy.setting, list(twizy.trips))}
    logs["heights removed"] = drive(level(twizy.setting), list(twizy.trips))
    logs["bus, 95 pieces of 5 km"] = drive(bus.setting, list(bus.trips))
    logs["Twizy, stops and turns"] = drive(twizy.setting, list(twizy.trips), "driving")
    columns = zip(*(cells(outcome) for outcome in logs.values()), strict=True)
    rows = [[name, *row] for name, row in zip(MEASURES, columns, strict=True)]
    command = "python -m studies.pages --run real-trips"
    store("real-trips", ["measure", *logs], rows, command=command)


def benchmark() -> None:
    """Write the benchmark on the logs of three cars."""
    found = compared(data_folder(), tuple(ENTRIES)).rows
    rows = []
    for log, title in LOGS.items():
        of = [row for row in found if row.data == log]
        for measure in dict.fromkeys(row.measure for row in of):
            by = {row.entry: row for row in of if row.measure == measure}
            share = by["regression"].unit == "share"
            scale, digits = (100, 1) if share else (1, 0)
            line = [f"{title}: {measure}, {'%' if share else 'Wh'}"]
            for entry in ENTRIES:
                row = by[entry]
                low, high = (f"{scale * end:,.{digits}f}" for end in (row.low, row.high))
                beyond = "" if entry == "regression" else f" ({low} to {high})"
                line.append(f"{scale * row.value:,.{digits}f}{beyond}")
            rows.append(line)
    command = "python -m studies.pages --run benchmark"
    store("benchmark", ["log: measure", *ENTRIES.values()], rows, command=command)


def fresh_starts() -> None:
    """Write how often a trip takes more than the promise allows, on beliefs that begin anew."""
    rows, groups = list[list[str]](), dict[str, list[tuple[int, float, float]]]()
    for log, data in zip(FRESH, load_data(data_folder(), list(FRESH)), strict=True):
        for first in range(0, len(data.trips), FRESH[log]):
            for name, *row in fresh(data.setting, data.trips, first):
                groups.setdefault(f"{LOGS[log]}: {name}", []).append((*row,))
                of_both = row[0] + 1000 * len(log), *row[1:]  # blocks of two logs differ
                for each in ("all trips", f"both: {name}"):
                    groups.setdefault(each, []).append(of_both)
    for name, found in sorted(groups.items()):
        blocks, fell, announced = np.array(found).T
        each = np.unique(blocks)
        totals = np.array([[np.sum(n[blocks == b]) for b in each] for n in (fell, announced)])
        draws = np.random.default_rng(0).integers(len(each), size=(RESAMPLES, len(each)))
        drawn = totals[0][draws].sum(axis=1) / totals[1][draws].sum(axis=1)
        low, high = np.quantile(drawn, [0.05, 0.95])
        cells = [f"{len(found)}", f"{announced.sum():.1f}", f"{fell.sum():.0f}"]
        ratio = f"{fell.sum() / announced.sum():.2f} ({low:.2f} to {high:.2f})"
        rows.append([name, *cells, f"{100 * fell.mean():.1f} %", ratio])
    columns = ("trips of a belief", "trips", "announced", "fell below", "share", "over announced")
    store("fresh-starts", columns, rows, command="python -m studies.pages --run fresh-starts")


def fresh(
    setting: Setting, trips: Sequence[MeasuredTrip], first: int
) -> Iterator[tuple[str, int, float, float]]:
    """Yield the later trips of a belief that begins with one of them.

    A row has the trips of the belief in words, the block of trips in time, whether the trip took
    more than the promise allows, and the share that is announced.
    """
    belief = TripEnergies(setting)
    for learned, trip in enumerate(trips[first : first + FRESH_TRIPS]):
        energy = belief.expect(trip).energy
        most = energy.spread.at_risk(PROMISED)
        fell = float(trip.energy_wh.sum()) > energy.mean_wh + most * energy.sd_wh
        name = next(f"{low} to {high}" for low, high in FRESH_BINS if low <= learned <= high)
        yield f"{name} trips learned", (first + learned) // BLOCK, float(fell), PROMISED
        belief.learn(trip)


FRESH = {"twizy": 3, "bus": 6}
"""Logs of single trips, and the trips between two starts."""
FRESH_TRIPS, PROMISED, BLOCK = 20, 0.1, 5
FRESH_BINS = ((0, 2), (3, 9), (10, 19))


def small(names: tuple[str, ...]) -> list[list[str]]:
    """Return the first five trips of a made year, and of the Twizy where its log is there."""
    rows = []
    logs = [(None, "made-1", "driving")]
    logs += [(data_folder(), "twizy", "eq8")] if "monaco" in names else []
    for folder, log, physics in logs:
        (data,) = load_data(folder, [log])
        outcome = drive(data.setting, list(data.trips[:5]), physics)
        numbers = zip(
            outcome.measured_wh, outcome.expected_wh, outcome.low_wh, outcome.high_wh, strict=True
        )
        for k, row in enumerate(numbers, start=1):
            rows.append([f"{log}, trip {k}", *(f"{wh:.1f}" for wh in row)])
    return rows


SMALL = ["log, trip", "measured, Wh", "expected, Wh", "low, Wh", "high, Wh"]
RUNS = {"real-trips": real_trips, "benchmark": benchmark, "fresh-starts": fresh_starts}
