"""``evroute report`` and ``evroute app`` as a user meets them."""

import subprocess
import sys
from pathlib import Path

import pytest

from evroute.experiments.experiment import Experiment, simulate


def evroute(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evroute", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_simulation_becomes_a_page_with_figures_beside_it(tmp_path: Path) -> None:
    experiment = Experiment(
        trips={"denver": ["A"]},
        methods=[{"model": "independent", "index": "ts"}],
        horizon=3,
        seeds=2,
    )
    simulate(experiment, tmp_path / "runs")
    done = evroute(
        "report", str(tmp_path / "runs"), "--out", str(tmp_path / "out" / "learned.html")
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "learned.html",
        "learned-saved-by-world.png",
        "learned-forecast-error.png",
        "learned-cumulative-regret.png",
        "learned-saving.png",
        "learned-duration.png",
        "learned-explored-denver-A-potential-rectified.png",
    }


@pytest.mark.slow
def test_learned_trips_become_a_page_with_their_findings(tmp_path: Path) -> None:
    table = Path(__file__).parents[2] / "data" / "examples" / "points.csv"
    own = tmp_path / "own"
    assert evroute("learn", str(table), "--out", str(own)).returncode == 0
    done = evroute("report", str(own), "--network", "denver")
    assert done.returncode == 0, done.stderr
    findings = done.stdout.splitlines()
    assert findings[0].startswith("forecast error before learning the trip: ")
    assert findings[1].startswith("90 % intervals held ")
    assert findings[2].startswith("After 1 trip, the standard deviation of ")
    assert findings[3].startswith("Learned energy differs from physics by ")
    assert {path.name for path in own.glob("report*")} == {
        "report.html",
        "report-energies.png",
        "report-intervals.png",
        "report-coefficients.png",
    }
    assert "<title>Trips learned: own</title>" in (own / "report.html").read_text("utf-8")


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_without_runs_is_refused_in_one_line_with_status_2(
    folder: str, tmp_path: Path
) -> None:
    done = evroute("report", str(tmp_path / folder))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "not a folder of runs" in done.stderr


def test_port_0_is_refused() -> None:
    assert evroute("app", "--port", "0").returncode == 2
