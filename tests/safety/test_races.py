"""Two calls of ``evroute learn`` on one folder at once lose no trip.

As a command, with the number of races and a seed: ``python tests/safety/test_races.py 20 1``.
"""

import csv
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest

from evroute.learning.records.parts import read_parts
from evroute.methods.setting import load_setting

RACES, SEED = 5, 1
TRIPS = 8
"""In the table of each call."""
APART_S = 0.4
"""Greatest time between the starts of the two calls, s."""
COMMAND = [sys.executable, "-m", "evroute", "learn"]


def write_table(path: Path, tag: str, trips: int, rng: np.random.Generator) -> None:
    """Write trips of eq. 8 times 1.1 between random places."""
    setting = load_setting("denver", "reference")
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh"])
        for trip in range(trips):
            origin, destination = rng.choice(setting.network.n_edges, 2, replace=False)
            route = setting.search.route(setting.network.time_s, int(origin), int(destination))
            for edge in route.edges:
                energy_wh = 1.1 * setting.prior.mean_wh[edge]
                rows.writerow([f"{tag}{trip}", setting.network.edge_id[edge], energy_wh])


def race(place: Path, seed: int) -> tuple[list[int], int, int]:
    """Return the exit statuses of two calls at once, the trips in their folder, and those due."""
    rng, out = np.random.default_rng(seed), place / "out"
    for tag, trips in (("first", 1), ("a", TRIPS), ("b", TRIPS)):
        write_table(place / f"{tag}.csv", tag, trips, rng)
    if rng.random() < 0.5:  # else the two make the folder
        subprocess.run(
            [*COMMAND, place / "first.csv", "--out", out, "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    before = 1 if out.exists() else 0
    with ExitStack() as ending:
        calls = []
        for tag in "ab":
            command = [*COMMAND, str(place / f"{tag}.csv"), "--out", str(out), "--quiet"]
            call = ending.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            ending.callback(call.kill)
            calls.append(call)
            time.sleep(rng.uniform(0, APART_S))
        statuses = [call.wait() for call in calls]
    setting = load_setting("denver", "reference")
    recorded = read_parts(out, setting.network)
    learned = pq.read_table(out / "trips.parquet")["trip"].to_pylist()
    assert sorted(learned) == sorted(recorded)
    return statuses, len(set(learned)), before + TRIPS * statuses.count(0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + RACES))
def test_two_calls_at_once_lose_no_trip(tmp_path: Path, seed: int) -> None:
    statuses, held, promised = race(tmp_path, seed)
    assert statuses == [0, 0]
    assert held == promised


def main(races: int = 20, seed: int = SEED) -> None:
    lost = 0
    for number in range(races):
        with TemporaryDirectory() as place:
            statuses, held, promised = race(Path(place), seed + number)
        lost += promised - held
        print(f"race {number + 1}: exit statuses {statuses}, {held} of {promised} trips held")
    print(f"{races} races, {lost} trips lost")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(*map(int, sys.argv[1:]))
