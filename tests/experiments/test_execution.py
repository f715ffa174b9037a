"""Carrying out many runs: one that fails, two writers, a disk that is full."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.experiments import execution
from evroute.experiments.experiment import grid, simulate
from evroute.experiments.runs import RunFolder


def experiment(seeds: int = 3):
    fields = {
        "models": ["independent"],
        "indices": ["ts"],
        "options": {},
        "horizon": 2,
        "seeds": seeds,
    }
    return grid(networks=["denver"], trips=["A"], world=["free-flow"], **fields)


def test_a_run_that_fails_is_recorded_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = execution.play

    def sometimes(run, folder, on_round) -> None:
        if run.seed == 1:
            raise EvrouteError("no way through")
        if run.seed == 2:
            raise ZeroDivisionError("a bug")
        original(run, folder, on_round)

    monkeypatch.setattr(execution, "play", sometimes)
    folder = simulate(experiment(4), tmp_path / "runs")
    assert [name[-2:] for name in folder.finished_runs()] == ["s0", "s3"]
    assert {name[-2:]: error.splitlines()[-1] for name, error in folder.failures().items()} == {
        "s1": "no way through",
        "s2": "ZeroDivisionError: a bug",
    }
    assert folder.rounds().num_rows == 4
    monkeypatch.undo()
    assert simulate(experiment(4), tmp_path / "runs").failures() == {}


def test_the_command_line_tells_failures_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(run, folder, on_round) -> None:
        raise EvrouteError("no way through")

    monkeypatch.setattr(execution, "play", never)
    options = [
        "--network",
        "denver",
        "--model",
        "independent",
        "--horizon",
        "2",
        "--seeds",
        "2",
        "--quiet",
    ]
    done = CliRunner().invoke(app, ["simulate", *options, "--out", str(tmp_path / "runs")])
    assert done.exit_code == 1
    assert "no way through" in done.stderr
    assert "2 runs failed" in done.stderr


def test_a_full_disk_stops_everything_and_the_same_command_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = execution.play

    def full(run, folder, on_round) -> None:
        if run.seed == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(run, folder, on_round)

    monkeypatch.setattr(execution, "play", full)
    with pytest.raises(OSError, match="No space left"):
        simulate(experiment(), tmp_path / "runs")
    assert len(RunFolder(tmp_path / "runs").finished_runs()) == 1
    monkeypatch.undo()
    assert len(simulate(experiment(), tmp_path / "runs").finished_runs()) == 3


def test_a_second_writer_of_a_folder_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs")
    simulate(experiment(1), folder.path)
    code = (
        "import sys\nfrom pathlib import Path\nfrom evroute.experiments.runs import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).locked():\n    print('held', flush=True)\n    "
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(EvrouteError, match="another process is writing"):
            simulate(experiment(1), folder.path)
        holder.kill()
    simulate(experiment(1), folder.path)  # the lock fell with its holder
