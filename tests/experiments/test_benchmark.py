"""The benchmark: order of time, paired intervals, data sets, and the command."""

import csv
import gzip
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.experiments.benchmark.data import load_data
from evroute.experiments.benchmark.entries import Evroute, Regression, trip_before
from evroute.experiments.benchmark.measures import MEASURES, Expected, paired
from evroute.experiments.benchmark.run import benchmark, expectations
from evroute.learning.baseline import FEWEST_TRIPS, online_regression

RUNNER = CliRunner()
ERROR, HELD, SCORE, FIRST_TEN, RISK = MEASURES


class Seen:
    """Expects 150 Wh per km, and notes what it was given."""

    last: "Seen"

    def __init__(self, setting) -> None:
        self.before, self.log = [], []
        type(self).last = self

    def expect(self, trip):
        self.before.append(trip)
        self.log.append(("expect", trip.number))
        return 150.0 * trip.km, 100.0 * trip.km, 200.0 * trip.km

    def learn(self, trip) -> None:
        self.log.append(("learn", trip.number))
        assert np.isfinite(trip.energy_wh)


class Spoiling(Seen):
    """Writes into each array that it is given."""

    def learn(self, trip) -> None:
        for each in (trip.route, self.before[-1].route):
            each.energy_wh[:] = 1e6
            each.travel_s[:] = 1e6
            each.edge[:] = 0


class Remembering(Seen):
    """Keeps the energies of all trips for its second run."""

    known: dict[tuple[int, float], float] = {}  # noqa: RUF012 - the fault that is looked for

    def expect(self, trip):
        energy_wh = self.known.get((trip.number, trip.km), 150.0 * trip.km)
        return energy_wh, 0.0, 2.0 * abs(energy_wh)

    def learn(self, trip) -> None:
        self.known[trip.number, trip.km] = trip.energy_wh


class Wrong(Seen):
    """Returns an interval upside down."""

    def expect(self, trip):
        return 1.0, 2.0, 1.0


@pytest.fixture(scope="module")
def year():
    return load_data()[0]


def test_an_entry_sees_each_trip_without_its_energy_and_in_order(year) -> None:
    expectations(year, "seen", Seen)
    n = len(year.trips)
    order = [(step, k) for k in range(1, n + 1) for step in ("expect", "learn")]
    assert Seen.last.log == order
    assert [trip.departed_s for trip in year.trips] == sorted(t.departed_s for t in year.trips)
    for trip in Seen.last.before:  # after all trips were learned
        assert np.isnan(trip.energy_wh)
        assert np.isnan(trip.travel_s)
        assert np.isnan(trip.route.energy_wh).all()
        assert np.isnan(trip.route.travel_s).all()


def test_an_entry_that_writes_into_its_trips_changes_no_other(year) -> None:
    energies = [trip.energy_wh.copy() for trip in year.trips]
    edges = [trip.edge.copy() for trip in year.trips]
    spoiled, plain = (expectations(year, "own", each) for each in (Spoiling, Seen))
    assert np.array_equal(spoiled.expected_wh, plain.expected_wh)
    for trip, energy_wh, edge in zip(year.trips, energies, edges, strict=True):
        assert np.array_equal(trip.energy_wh, energy_wh)
        assert np.array_equal(trip.edge, edge)


def test_an_entry_that_keeps_the_future_from_another_run_is_refused() -> None:
    with pytest.raises(EvrouteError, match="differently in a second run"):
        benchmark(entries=[Remembering], first=20)


def test_evroute_expects_no_trip_by_the_energies_that_follow(year) -> None:
    """A run on the first 30 trips alone has the same expectations."""
    long, short = (
        expectations(replace(year, trips=year.trips[:n]), "evroute", Evroute) for n in (60, 30)
    )
    assert np.array_equal(long.expected_wh[:30], short.expected_wh)
    assert np.array_equal(long.high_wh[:30], short.high_wh)


def test_the_regression_is_that_of_reports(year) -> None:
    found = expectations(year, "regression", Regression)
    trips = [trip_before(year.setting, trip, 1) for trip in year.trips]
    columns = [
        np.array([getattr(trip, name) for trip in trips]) for name in ("km", "climb_m", "descent_m")
    ]
    expected = online_regression(*columns, found.measured_wh)
    assert found.expected_wh[FEWEST_TRIPS:] == pytest.approx(expected[FEWEST_TRIPS:], rel=1e-6)


def test_measures_by_hand() -> None:
    measured = np.array([100.0] * 3 + [100.0, 200.0, 300.0, 400.0])
    found = Expected(measured, measured + 10.0, measured - 20.0, measured + 20.0)
    found.expected_wh[3] = 50.0
    found.high_wh[3], found.low_wh[3] = 90.0, 40.0  # 10 Wh above: 50 + 200
    late = ERROR.trips(7)
    assert late.tolist() == [3, 4, 5, 6]
    assert ERROR.value(found, late) == pytest.approx((50 + 10 + 10 + 10) / 1000)
    assert HELD.value(found, late) == 0.75
    assert RISK.value(found, late) == 0.25
    assert SCORE.value(found, late) == pytest.approx((250 + 3 * 40) / 4)
    assert FIRST_TEN.value(found, FIRST_TEN.trips(7)) == pytest.approx((3 * 10 + 80) / 1300)


def test_the_paired_interval_is_that_of_all_draws_of_blocks() -> None:
    """Five trips count, in blocks of two around the end: 125 equally likely draws of starts."""
    rng = np.random.default_rng(3)
    measured = rng.uniform(100.0, 300.0, 8)
    one, two = (
        Expected(measured, measured + off, measured - 1.0, measured + 1.0)
        for off in rng.normal(0.0, 30.0, (2, 8))
    )
    values = []
    for starts in np.ndindex(5, 5, 5):
        rows = [3 + (start + step) % 5 for start in starts for step in (0, 1)][:5]
        off = [
            sum(abs(each.expected_wh[k] - measured[k]) for k in rows)
            / sum(measured[k] for k in rows)
            for each in (one, two)
        ]
        values.append(off[0] - off[1])
    difference, low, high = paired(ERROR, one, two)
    late = slice(3, None)
    sums = [np.abs(each.expected_wh - measured)[late].sum() for each in (one, two)]
    assert difference == pytest.approx((sums[0] - sums[1]) / measured[late].sum())
    spread = np.ptp(values)
    assert low == pytest.approx(np.quantile(values, 0.05), abs=0.05 * spread)
    assert high == pytest.approx(np.quantile(values, 0.95), abs=0.05 * spread)
    assert paired(ERROR, one, one) == (0.0, 0.0, 0.0)


def test_two_runs_of_the_made_years_write_equal_bytes(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        arguments = ["benchmark", "--first", "40", "--json", "--out", str(tmp_path / name)]
        done = RUNNER.invoke(app, [*arguments, "--quiet"])
        assert done.exit_code == 0, done.output
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    found = json.loads(done.stdout)
    assert [each["name"] for each in found["data"]] == ["made-1", "made-2"]
    assert all(len(digest) == 64 for each in found["data"] for digest in each["sha256"].values())
    assert len(found["rows"]) == 2 * 3 * 5


def test_an_entry_of_a_module_takes_part(tmp_path: Path) -> None:
    (tmp_path / "my_entry_of_benchmark.py").write_text(
        "class Half:\n"
        "    def __init__(self, setting): pass\n"
        "    def expect(self, trip): return trip.physics_wh / 2, 0, trip.physics_wh\n"
        "    def learn(self, trip): pass\n"
    )
    command = [sys.executable, "-m", "evroute", "benchmark", "--first", "20", "--quiet"]
    command += ["--entry", "my_entry_of_benchmark:Half"]
    # in a process of its own, since a process keeps its plug-ins for its workers
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Half" in done.stdout
    assert "SHA-256" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--entry", "none"], "There are regression, physics, lightgbm, evroute"),
        (["--data", "nowhere"], "nowhere has no data set"),
        (["--first", "5"], "at least 11"),
    ],
)
def test_wrong_options_are_one_line(arguments: list[str], words: str) -> None:
    done = RUNNER.invoke(app, ["benchmark", "--quiet", *arguments])
    assert isinstance(done.exception, EvrouteError)
    assert words in str(done.exception)
    assert "\n" not in str(done.exception)


def test_an_interval_upside_down_is_refused() -> None:
    with pytest.raises(EvrouteError, match=r"trip 1 of 'made-1'.*low <= high"):
        benchmark(entries=[Wrong], first=20)


@pytest.mark.parametrize(
    "text",
    [
        "day, km\n20230101, 5\n",
        "datetime, distance, total_consumed\n20230101, inf, 5\n",
        "datetime, distance, total_consumed\n20230101, 5, nan\n",
        "datetime, distance, total_consumed\nyesterday, 5, 900\n",
        "datetime, distance, total_consumed\n",
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "ioniq5").mkdir()
    (tmp_path / "ioniq5/daily.csv").write_text(text)
    with pytest.raises(EvrouteError, match=r"daily\.csv is not the file of 'ioniq5'"):
        benchmark(tmp_path)


def test_the_last_row_of_a_day_counts(tmp_path: Path) -> None:
    """Rows with a time are running totals."""
    (tmp_path / "ioniq5").mkdir()
    rows = ["datetime, distance, distance_unit, total_consumed"]
    rows += ["20230101, 2.0, km, 500", "20230102 10:00, 1.0, km, 300"]
    rows += ["20230102 12:00, 3.5, km, 700", "20230103, 0.0, km, 90"]
    (tmp_path / "ioniq5/daily.csv").write_text("\n".join(rows))
    (days,) = load_data(tmp_path)
    assert [trip.energy_wh.sum() for trip in days.trips] == pytest.approx([500.0, 700.0])
    km = [trip_before(days.setting, trip, 1).km for trip in days.trips]
    assert km == pytest.approx([2.0, 3.5])


@pytest.mark.data
def test_measured_data_are_read_as_they_were_counted() -> None:
    folder = Path(os.environ.get("EVROUTE_DATA_DIR", ""))
    if not (folder / "drives").is_dir():
        pytest.skip("EVROUTE_DATA_DIR does not name a folder with drives/")
    found = {each.name: each for each in load_data(folder)}
    assert list(found) == ["twizy", "bus", "ioniq5"]
    assert [len(each.trips) for each in found.values()] == [31, 95, 36]
    with gzip.open(folder / "drives/twizy_edges.csv.gz", "rt") as handle:
        twizy_wh = sum(float(row["energy_wh"]) for row in csv.DictReader(handle))
    read_wh = sum(trip.energy_wh.sum() for trip in found["twizy"].trips)
    assert read_wh == pytest.approx(twizy_wh, rel=1e-9)
    km = sum(trip_before(found["ioniq5"].setting, day, 1).km for day in found["ioniq5"].trips)
    assert km == pytest.approx(1_698.0, rel=0.15)  # of 36 days, by the page of the data
