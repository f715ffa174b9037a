"""Estimates: what would run, how long and on how much disk, without a trace in the run folder."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.experiments.estimate import estimate
from evroute.experiments.experiment import grid, simulate

RUNNER = CliRunner()
HORIZON = 50


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))


def denver(**fields):
    chosen = {
        "trips": ["A"],
        "models": ["independent"],
        "indices": ["greedy", "random"],
        "options": {},
        "seeds": 3,
    }
    return grid(**({"networks": ["denver"], "horizon": HORIZON} | chosen | fields))


def test_an_estimate_counts_the_grid_and_writes_nothing_in_the_run_folder(tmp_path) -> None:
    out = tmp_path / "runs"
    told = estimate(denver(trips=["A", "B"]), out)
    assert (told.runs, told.finished, told.rounds, told.kinds) == (12, 0, 12 * HORIZON, 2)
    assert not out.exists()
    assert told.wall_s == told.cpu_s > 0


def test_the_estimated_disk_space_equals_the_space_of_the_runs(tmp_path) -> None:
    out = tmp_path / "runs"
    told = estimate(denver(), out)
    simulate(denver(), out)
    taken = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert told.disk_bytes == pytest.approx(taken, rel=0.3)


def test_finished_runs_are_not_counted(tmp_path) -> None:
    out = tmp_path / "runs"
    simulate(denver(), out)
    told = estimate(denver(), out)
    assert (told.finished, told.rounds, told.cpu_s, told.disk_bytes) == (6, 0, 0.0, 0)


def test_more_processes_than_runs_are_no_faster_than_the_longest_run(tmp_path) -> None:
    told = estimate(denver(seeds=1, indices=["random"]), tmp_path / "runs", jobs=8)
    assert told.wall_s >= told.cpu_s


def test_an_unknown_trip_is_refused(tmp_path) -> None:
    with pytest.raises(EvrouteError, match="Z"):
        estimate(denver(trips=["Z"]), tmp_path / "runs")


def test_an_option_out_of_its_range_is_refused(tmp_path) -> None:
    with pytest.raises(EvrouteError, match=r"option q_bar is 0\.0. It must be greater than 0"):
        estimate(denver(models=["bkb"], indices=["ts"], options={"q_bar": 0.0}), tmp_path / "runs")


def test_a_dry_run_prints_the_estimate_and_writes_nothing(tmp_path) -> None:
    out = tmp_path / "runs"
    wanted = [
        "simulate",
        "--network",
        "denver",
        "--index",
        "random",
        "--horizon",
        "5",
        "--seeds",
        "2",
    ]
    wanted += ["--model", "independent", "--out", str(out), "--quiet"]
    foretold = RUNNER.invoke(app, [*wanted, "--dry-run"])
    assert foretold.exit_code == 0, foretold.output
    assert foretold.output.startswith("2 runs: ")
    assert "10 rounds to play" in foretold.output
    assert not out.exists()
