"""Runs that outgrow things: a disk that fills, and tables that others read without this code."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evroute.experiments.experiment import grid, simulate

ARGUMENTS = (
    "simulate",
    "--network",
    "denver",
    "--model",
    "independent",
    "--index",
    "random",
    "--quiet",
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk, as root makes: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.slow
def test_a_full_disk_prints_one_line_and_once_there_is_room_the_runs_go_on(
    small_disk, tmp_path
) -> None:
    def run(out: Path) -> subprocess.CompletedProcess[str]:
        asked = [
            sys.executable,
            "-m",
            "evroute",
            *ARGUMENTS,
            "--horizon",
            "20",
            "--seeds",
            "8",
            "--out",
            str(out),
        ]
        return subprocess.run(asked, capture_output=True, text=True)

    stopped = run(small_disk / "runs")
    assert stopped.returncode == 2
    assert len(stopped.stderr.splitlines()) == 1
    assert "No space left on device" in stopped.stderr
    finished = len(list((small_disk / "runs" / "parts").glob("[!.]*.parquet")))
    assert 0 < finished < 8
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    assert run(small_disk / "runs").returncode == 0
    assert run(tmp_path / "undisturbed").returncode == 0
    files = [place / "rounds.parquet" for place in (small_disk / "runs", tmp_path / "undisturbed")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fields = {
        "models": ["independent"],
        "indices": ["random", "greedy"],
        "options": {},
        "horizon": 5,
        "seeds": 2,
    }
    return simulate(
        grid(networks=["denver"], trips=["A"], **fields), tmp_path_factory.mktemp("large") / "runs"
    ).path


def test_pandas_reads_the_rounds_without_this_code(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rounds = pandas.read_parquet(folder / "rounds.parquet")
    assert len(rounds) == 2 * 2 * 5
    last = rounds.groupby("run").regret_wh.sum()
    assert last.to_dict() == pytest.approx(
        rounds[rounds.t == 5].set_index("run").cumulative_regret_wh.to_dict()
    )


def test_duckdb_reads_rounds_and_the_routes_of_all_runs_without_this_code(folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    saved = duckdb.sql(
        "select method, count(distinct run), avg(true_wh - eq8_wh) "
        f"from '{folder}/rounds.parquet' where t > 3 group by method order by method"
    ).fetchall()
    assert [(method, runs) for method, runs, _ in saved] == [("BI-greedy", 2), ("BI-random", 2)]
    measured = duckdb.sql(
        "select run, t, sum(observed_wh), max(r.energy_wh) "
        f"from '{folder}/routes/*.parquet' join '{folder}/rounds.parquet' r using (run, t) group "
        "by run, t"
    ).fetchall()
    assert len(measured) == 2 * 2 * 5
    for _, _, of_edges_wh, of_trip_wh in measured:
        assert of_edges_wh == pytest.approx(of_trip_wh)
