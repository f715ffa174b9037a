"""Tables of a car of a fleet at the command line, and cars that no door knows."""

import csv
import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.errors import UnknownNameError

NAMES = ("Walnut Street & 33rd Street", "Broadway & 20th Street")
CARS = ("van-1", "van-3")


@pytest.fixture
def tables(tmp_path):
    """Return the paths of a batch, of origins and of destinations: one trip."""
    with (tmp_path / "batch.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "from", "to"], ["a", *NAMES]])
    for name, place in zip(("o", "d"), NAMES, strict=True):
        (tmp_path / f"{name}.csv").write_text(f"id,place\n{name},{place}\n")
    return [str(tmp_path / f"{name}.csv") for name in ("batch", "o", "d")]


def least_wh(belief, car):
    return evroute.plan("denver", *NAMES, belief=belief, car=car).routes["energy"].energy_wh


@pytest.mark.parametrize("car", CARS)
def test_a_batch_of_energies_alone_is_of_the_car(folder, belief, tables, car) -> None:
    command = ["route", "--batch", tables[0], "--only", "energy"]
    done = CliRunner().invoke(cli, [*command, "--belief", str(folder), "--car", car])
    assert done.exit_code == 0, done.output
    (answer,) = (json.loads(line) for line in done.stdout.splitlines())
    assert answer["energy_wh"] == pytest.approx(least_wh(belief, car), rel=1e-6)


@pytest.mark.parametrize("car", CARS)
def test_a_matrix_is_of_the_car(folder, belief, tables, tmp_path, car) -> None:
    out = tmp_path / "m.parquet"
    command = ["route", "--matrix", *tables[1:], "--out", str(out)]
    done = CliRunner().invoke(cli, [*command, "--belief", str(folder), "--car", car])
    assert done.exit_code == 0, done.output
    (row,) = pq.read_table(out).to_pylist()
    assert row["energy_wh"] == pytest.approx(least_wh(belief, car), rel=1e-6)


@pytest.mark.parametrize(
    "door",
    [
        ["--from", NAMES[0], "--to", NAMES[1]],
        ["--from", NAMES[0], "--to", NAMES[1], "--depart", "08:00", "--json"],
        ["--batch", "batch", "--only", "energy"],
        ["--matrix", "o", "d", "--out", "m.parquet"],
        ["range"],
    ],
    ids=lambda door: door[0],
)
def test_an_unknown_car_is_refused_in_one_line_at_every_command(
    folder, tables, tmp_path, door
) -> None:
    paths = dict(zip(("batch", "o", "d"), tables, strict=True))
    named = [
        paths.get(word, word.replace("m.parquet", str(tmp_path / "m.parquet"))) for word in door
    ]
    command = ["route", *named]
    if door == ["range"]:
        command = ["range", "--from", NAMES[0], "--soc", "5"]
    done = CliRunner().invoke(cli, [*command, "--belief", str(folder), "--car", "van-9"])
    assert isinstance(done.exception, UnknownNameError)
    assert "is the belief of a fleet without car 'van-9'. It knows van-" in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "m.parquet").exists()


def test_an_unknown_car_has_the_forecast_of_the_population(folder, belief) -> None:
    """Its expectation lies between the cars, and its interval is wider than that of each."""
    asked = ["route", "--from", NAMES[0], "--to", NAMES[1], "--belief", str(folder), "--json"]
    of = {}
    for car in (None, "van-1", "van-2", "van-3"):
        done = CliRunner().invoke(cli, [*asked, *(["--car", car] if car else [])])
        assert done.exit_code == 0, done.output
        of[car] = json.loads(done.stdout)["routes"]["energy"]
    wide = of.pop(None)
    assert wide["forecast"]["sd_wh"] > 1.05 * max(each["forecast"]["sd_wh"] for each in of.values())
    assert of["van-1"]["energy_wh"] < wide["energy_wh"] < of["van-3"]["energy_wh"]
    assert wide["energy_wh"] == least_wh(belief, None)


def test_a_batch_of_a_fleet_has_the_same_bytes_in_any_order_and_by_any_engine(
    folder, leaf_setting, tmp_path
) -> None:
    """An answer is a function of its row and the belief, not of the rows before it."""
    rng, ids = np.random.default_rng(3), leaf_setting.network.edge_id
    cars, days = ["van-1", "van-2", "van-3", ""], ["", "08:15", "17:30"]
    ends = [[ids[row] for row in rng.choice(len(ids), 2, replace=False)] for _ in range(24)]
    wishes = [[("", "40")[k % 2], ("", "-5", "25")[k % 3], days[k % 3]] for k in range(24)]
    rows = [[str(k), *ends[k], cars[k % 4], *wishes[k]] for k in range(24)]
    head = ["id", "from", "to", "car", "soc", "temperature", "depart"]

    def lines(rows: list[list[str]], *words: str) -> dict[str, str]:
        with (tmp_path / "q.csv").open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        command = ["route", "--batch", str(tmp_path / "q.csv"), "--belief", str(folder), *words]
        done = subprocess.run(
            [sys.executable, "-m", "evroute", *command], capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        return {json.loads(line)["id"]: line for line in done.stdout.splitlines()}

    one = lines(rows)
    assert len(one) == 24
    assert sum('"error"' not in line for line in one.values()) > 20
    assert lines(rows[::-1]) == one
    assert lines([rows[k] for k in rng.permutation(24)], "--jobs", "2") == one
