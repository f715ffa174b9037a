"""Files of an earlier version are read with the same numbers, or refused with a way to renew them.

A refusal skips the test and shows its line, so that the summary of pytest lists the files that are
no longer read.
"""

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pyarrow.parquet as pq
import pytest

import evroute

HERE = Path(__file__).parent
NETWORK = HERE / "denver.npz"
DIGEST = "0879f4ecc03891d46a0982e90b38ffd4c08d43490574218153b23f8acceffdda"
EDGES_RUN = "denver-A-exact-ts-potential-rectified-s0"
TURNS_RUN = "denver-A-exact-turns-speeds-ts-guarded-potential-rectified-s0"
RUNS = "evroute simulate"
LEARNED = "evroute learn"


def output_or_refusal(maker: str, *arguments: str | Path) -> str:
    """Return the standard output of a command; skip if it refuses in one line with ``maker``."""
    command = [sys.executable, "-m", "evroute", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert maker in line, f"the refusal names no '{maker}': {line}"
    pytest.skip(f"refused: {line}")


def test_the_network_is_read() -> None:
    network = evroute.load_network(NETWORK)
    assert network.n_edges == 1330
    assert len(network.turns) == 3060
    assert network.digest == DIGEST


@pytest.mark.parametrize(
    ("maker", "belief", "energy_wh", "interval_90_wh"),
    [
        (LEARNED, ["learned"], 295.58580129966225, [287.4594303990908, 303.7121722002337]),
        (RUNS, ["run", EDGES_RUN], 276.72756969351434, [257.84955574753894, 295.60558363948974]),
        (RUNS, ["run", TURNS_RUN], 296.32220944794835, [245.86639511713997, 346.77802377875673]),
    ],
    ids=["learned on edges", "simulated on edges", "simulated on turns"],
)
def test_a_belief_plans_the_same_energies(
    maker: str, belief: list[str], energy_wh: float, interval_90_wh: list[float]
) -> None:
    folder, *run = belief
    chosen = ["--belief", HERE / folder, *(["--run", *run] if run else [])]
    plan = json.loads(
        output_or_refusal(maker, "route", "--network", NETWORK, "--trip", "B", "--json", *chosen)
    )
    route = plan["routes"]["energy"]
    assert route["energy_wh"] == pytest.approx(energy_wh, rel=1e-9)
    assert route["forecast"]["interval_90_wh"] == pytest.approx(interval_90_wh, rel=1e-9)


def test_a_learned_folder_is_continued_and_knows_its_trips(tmp_path: Path) -> None:
    folder = copytree(HERE / "learned", tmp_path / "learned")
    before = pq.read_table(folder / "trips.parquet").to_pydict()
    table = HERE / "trips.csv"
    output_or_refusal(LEARNED, "learn", table, "--network", NETWORK, "--out", folder, "--quiet")
    after = pq.read_table(folder / "trips.parquet").to_pydict()
    assert after["trip"] == before["trip"] == ["A", "B"]
    assert after["predicted_wh"] == before["predicted_wh"]


@pytest.mark.slow
def test_a_report_shows_the_mean_regrets_of_a_run_folder(tmp_path: Path) -> None:
    output_or_refusal(RUNS, "report", HERE / "run", "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    rounds = pq.read_table(HERE / "run" / "rounds.parquet").to_pandas()
    for _, runs in rounds.groupby("method"):
        mean_wh = runs.groupby("seed")["regret_wh"].sum().mean()
        assert (f">{mean_wh:.0f}<" if mean_wh >= 100 else f">{mean_wh:.3g}<") in page
