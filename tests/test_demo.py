"""``make demo`` once it is installed: its trip has a price, its end is computed from its run."""

import subprocess
import sys
from pathlib import Path

import pytest

from evroute.door.plan import plan
from evroute.experiments.runs import RunFolder
from evroute.report.abstract import abstract
from evroute.report.results import read_rounds

ROOT = Path(__file__).parents[1]


def test_the_trip_of_the_demo_climbs_and_the_fastest_route_takes_more() -> None:
    planned = plan(
        "denver",
        trip="C",
        soc_percent=8,
        reserve_percent=5.0,
    )
    least, fastest = planned.routes["energy"], planned.routes["time"]
    assert least.ascent_m - least.descent_m > 20
    assert fastest.energy_wh > 1.1 * least.energy_wh
    # of the car's 38 kWh
    arrival_percent = [8 - each.energy_wh / 380 for each in (least, fastest)]
    assert 5 < arrival_percent[1] < arrival_percent[0] < 7
    assert planned.chance > 0.9


@pytest.mark.slow
def test_the_demo_ends_in_the_abstract_of_its_run_and_names_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    command = ["make", "demo", f"BIN={Path(sys.executable).parent}", f"DEMO={folder}"]
    # the packages are those of the tests: as if `make setup` had run
    command += ["--old-file", ".venv/.with-report", "--no-print-directory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentence, written, last = done.stdout.splitlines()[-3:]
    (finding,) = abstract(read_rounds(RunFolder(folder / "run")))
    assert sentence == finding.text
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\n> {sentence}\n" in readme, "README shows the sentence of another run"
    assert written.startswith(f"{folder}/report.html and ")
    for name in ("route.html", "report.html"):
        assert f"{folder}/{name}" in last
        assert "<html" in (folder / name).read_text(encoding="utf-8")
    assert "Walnut Street" in done.stdout
    assert "ascent m" in done.stdout
