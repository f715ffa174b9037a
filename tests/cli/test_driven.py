"""``evroute route --driven``: what is left of a plan, by a file of the drive so far."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app

ROUTE = ["route", "--trip", "C", "--soc", "40", "--reserve", "5"]
FACTOR = 1.5
"""The made drive takes this times the expected energy."""


@pytest.fixture(scope="module")
def rows() -> list[str]:
    """Return rows of a drive over the junctions of the recommended route."""
    best = evroute.plan("denver", trip="C", soc=40, reserve=5).recommended_route
    roads = evroute.load_network("denver")
    lon, lat = roads.junction_lon_lat
    kwh = evroute.load_vehicle("nissan-leaf-40").battery_kwh
    percent = 40 - FACTOR * np.cumsum(best.edge_wh) / (10 * kwh)
    return [
        f"2026-11-24T08:{number:02d}:00Z,{lat[roads.head[edge]]},{lon[roads.head[edge]]},{left:.2f}"
        for number, (edge, left) in enumerate(zip(best.route.edges, percent, strict=True))
    ]


def written(path: Path, rows: list[str], head: str = "time,lat,lon,soc_percent") -> Path:
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_prints_what_is_left_and_the_same_as_json(tmp_path: Path, rows: list[str]) -> None:
    path = written(tmp_path / "drive.csv", rows[:15])
    done = CliRunner().invoke(app, [*ROUTE, "--driven", str(path)])
    assert done.exit_code == 0, done.output
    assert "km driven" in done.output
    assert "You get there" in done.output
    as_json = CliRunner().invoke(app, [*ROUTE, "--driven", str(path), "--json"])
    left = json.loads(as_json.output)
    assert left["sentences"] == done.output.splitlines()
    assert left["used_wh"] == pytest.approx(FACTOR * left["expected_wh"], rel=0.03)
    assert list(tmp_path.iterdir()) == [path]


def test_a_track_without_a_meter_tells_the_minutes(tmp_path: Path, rows: list[str]) -> None:
    path = written(tmp_path / "drive.csv", rows[:15])
    bare = [row.rpartition(",")[0] for row in rows[:15]]
    other = written(tmp_path / "bare.csv", bare, "time,lat,lon")
    read, unread = (
        json.loads(CliRunner().invoke(app, [*ROUTE, "--driven", str(each), "--json"]).output)
        for each in (path, other)
    )
    assert unread["left_s"] == pytest.approx(read["left_s"])
    assert unread["used_wh"] is None
    assert unread["charge"] is None


@pytest.mark.parametrize(
    ("rows", "head", "words"),
    [
        (["1,2"], "time,energy_wh", "lat"),
        (["2026-11-24T08:00:00Z,0,10,50"], "time,lat,lon,soc_percent", "planned route"),
        (["2026-11-24T08:00:00Z,,,50"], "time,lat,lon,soc_percent", "no row with a time"),
    ],
)
def test_a_file_that_is_no_drive_of_the_route_is_refused_in_one_line(
    tmp_path: Path, rows: list[str], head: str, words: str
) -> None:
    path = written(tmp_path / "drive.csv", rows, head)
    done = CliRunner().invoke(app, [*ROUTE, "--driven", str(path)])
    assert done.exit_code != 0
    assert words in str(done.exception)


def test_a_growing_file_is_followed_until_it_is_interrupted(
    tmp_path: Path, rows: list[str]
) -> None:
    path = written(tmp_path / "drive.csv", rows[:8])
    command = [sys.executable, "-m", "evroute", *ROUTE, "--driven", str(path), "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        stop = threading.Timer(600, program.kill)
        stop.start()
        first = json.loads(program.stdout.readline())
        written(path, rows[:20])
        second = json.loads(program.stdout.readline())
        program.send_signal(signal.SIGINT)
        program.wait()
        stop.cancel()
    assert second["driven_m"] > first["driven_m"]
    assert program.returncode == 130
