"""Large batches: least energies alone, the same as in full answers, in a stream of
constant memory.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.network.catalog import load_network

RUNNER = CliRunner()
PEAK = """
import resource, sys
from evroute.cli import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def table(path: Path, rows: int, origins: int) -> str:
    network, rng = load_network("denver"), np.random.default_rng(0)
    joined = set(network.strongest_component().edge_id)
    inside = [each for each in network.edge_id if each in joined]
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "from", "to"])
        for number in range(rows):
            a, b = inside[number % origins], inside[rng.integers(origins, len(inside))]
            writer.writerow([number, a, b])
    return str(path)


def answers(*arguments: str) -> list[dict]:
    return [
        json.loads(line) for line in RUNNER.invoke(app, ["route", *arguments]).stdout.splitlines()
    ]


def test_least_energies_alone_equal_the_full_answers(tmp_path) -> None:
    asked = ["--network", "denver", "--batch", table(tmp_path / "trips.csv", 30, 7)]
    full, light = answers(*asked), answers(*asked, "--only", "energy")
    assert [each["id"] for each in light] == [each["id"] for each in full]
    for ours, whole in zip(light, full, strict=True):
        assert ours["energy_wh"] == pytest.approx(whole["routes"]["energy"]["energy_wh"])


def test_a_parquet_table_is_refused_in_one_line(tmp_path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "trip": ["A", "B"]}), tmp_path / "trips.parquet")
    done = RUNNER.invoke(app, ["route", "--batch", str(tmp_path / "trips.parquet")])
    assert "trips.parquet is not a CSV table in UTF-8" in str(done.exception)


def test_a_row_that_cannot_be_met_has_an_error_in_its_place(tmp_path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("id,trip\na,A\nb,nowhere\nc,B\n")
    told = answers("--network", "denver", "--batch", str(path), "--only", "energy")
    assert ["error" in each for each in told] == [False, True, False]


@pytest.mark.slow
def test_ten_times_the_rows_take_no_more_memory(tmp_path) -> None:
    peaks_kb = []
    for rows in (2000, 20_000):
        asked = ["route", "--network", "denver", "--only", "energy", "--batch"]
        asked.append(table(tmp_path / f"{rows}.csv", rows, 50))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *asked], capture_output=True, text=True, check=True
        )
        assert done.stdout.count("\n") == rows
        peaks_kb.append(int(done.stderr.split()[-1]))
    assert peaks_kb[1] - peaks_kb[0] < 4000


def test_a_risk_of_a_row_bounds_its_routes(tmp_path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(
        "id,trip,soc,reserve,risk,charge\na,C,8,5,5%,no\nb,C,7.5,5,,\nc,C,7.5,5,80%,\nd,C,,,5%,\n"
        "e,C,7.5,5,,yes\nf,C,7.5,5,,maybe\n"
    )
    asked = "--network", "denver", "--batch", str(path)
    safe, plain, high, unbounded, charging, unclear = answers(*asked)
    assert "has no charging stations" in charging["error"]
    assert "charge is 'maybe'. It must be one of yes, true, no, false" in unclear["error"]
    assert safe["risk"] == 0.05
    assert all(each["forecast"]["never_below_reserve"] >= 0.95 for each in safe["routes"].values())
    assert "of cars like yours" in safe["safety"]
    assert safe["chance"] >= 0.95
    assert plain["risk"] == 0.1
    assert "at most 50 %" in high["error"]
    assert "charge at the start" in unbounded["error"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_answers_become_a_table_with_a_summary(tmp_path: Path, suffix: str) -> None:
    path, out = tmp_path / "trips.csv", tmp_path / f"plans{suffix}"
    path.write_text("id;trip;driver;soc;temperature\na;A;Ann;40;-2,5\nb;nowhere;Bo;;\nc;B;Cy;40;\n")
    done = RUNNER.invoke(app, ["route", "--batch", str(path), "--out", str(out)])
    assert done.exit_code == 1
    first, _, last = (json.loads(line) for line in done.stdout.splitlines())
    chosen = [each["routes"][each["recommended"]] for each in (first, last)]
    if suffix == ".csv":
        with out.open(newline="") as handle:
            rows = [
                {name: value or None for name, value in row.items()}
                for row in csv.DictReader(handle)
            ]
    else:
        rows = pq.read_table(out).to_pylist()
        types = {field.name: field.type for field in pq.read_schema(out)}
        assert types["energy_cost"] == types["low90_wh"] == pa.float64(), "also without any value"
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["error"] is None for row in rows] == [True, False, True]
    assert float(rows[0]["energy_wh"]) == pytest.approx(chosen[0]["energy_wh"])
    assert float(rows[2]["arrival_soc_percent"]) == pytest.approx(chosen[1]["arrival_soc_percent"])
    notes = done.stderr.splitlines()
    assert notes[0].endswith("not read: driver")
    kwh = sum(route["energy_wh"] for route in chosen) / 1000
    assert f"2 of 3 planned: {kwh:.1f} kWh" in notes[-1]
    assert notes[-1].endswith("1 failed")
    path.write_text("id,trip,soc,temperature\na,A,40,-2.5\n")
    assert answers("--batch", str(path)) == [first]


def test_a_table_of_another_kind_is_refused_before_any_plan(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("trip\nA\n")
    done = RUNNER.invoke(app, ["route", "--batch", str(path), "--out", "plans.xlsx"])
    assert "must end in .csv or .parquet" in str(done.exception)
    assert done.stdout == ""


def test_least_energies_alone_take_no_charge(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("trip\nA\n")
    done = RUNNER.invoke(app, ["route", "--batch", str(path), "--only", "energy", "--soc", "50"])
    assert (
        "--only energy plans for one car and day, without wishes of single plans. Leave out --soc"
        in (str(done.exception))
    )
    assert done.stdout == ""
