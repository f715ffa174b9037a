"""Reduced energies: non-negative, whole, and equal to the signed ones over closed tours."""

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning import matrix_dataset
from evroute.planning.dispatch.reduced import NO_WAY, potentials_wh, reduced_energies


def hilly(n: int, seed: int) -> np.ndarray:
    """Return energies between places on hills: a loss by distance, and the change of height."""
    rng = np.random.default_rng(seed)
    at, height_wh = rng.uniform(0, 100, (n, 2)), rng.uniform(-400, 400, n)
    loss_wh = np.linalg.norm(at[:, np.newaxis] - at, axis=2)
    return loss_wh + height_wh - height_wh[:, np.newaxis]


@pytest.mark.parametrize("seed", range(5))
def test_closed_tours_keep_their_energy_and_no_pair_is_negative(seed: int) -> None:
    energy_wh = hilly(40, seed)
    assert energy_wh.min() < -100
    reduced = reduced_energies(energy_wh)
    assert reduced.min() >= 0
    rng = np.random.default_rng(seed)
    for _ in range(100):
        tour = rng.permutation(40)[: rng.integers(2, 21)].tolist()
        pairs = list(pairwise([*tour, tour[0]]))
        signed_wh = sum(energy_wh[pair] for pair in pairs)
        whole_wh = sum(reduced[pair] for pair in pairs) / 10
        assert abs(whole_wh - signed_wh) <= 1.0


def test_the_best_tour_is_the_same_by_signed_and_by_reduced_energies() -> None:
    from itertools import permutations

    energy_wh = np.round(hilly(7, 9), 1)
    reduced = reduced_energies(energy_wh)
    tours = [(0, *each, 0) for each in permutations(range(1, 7))]
    by_signed, by_reduced = (
        min(tours, key=lambda tour, costs=costs: sum(costs[pair] for pair in pairwise(tour)))
        for costs in (energy_wh, reduced)
    )
    assert by_signed == by_reduced


def test_missing_ways_and_tours_that_return_energy() -> None:
    found = reduced_energies(np.array([[0.0, np.nan], [5.0, 0.0]]))
    assert found.tolist() == [[0, NO_WAY], [50, 0]]
    with pytest.raises(EvrouteError, match="a closed tour over the places returns energy"):
        reduced_energies(np.array([[0.0, -5.0], [4.0, 0.0]]))
    with pytest.raises(EvrouteError, match="need a square matrix"):
        reduced_energies(np.zeros((2, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_potentials_equal_floyd_and_warshall_in_any_blocks(seed: int) -> None:
    energy_wh = hilly(30, seed) + np.random.default_rng(seed).exponential(30.0, (30, 30))
    closed_wh = np.where(np.eye(30, dtype=bool), 0.0, energy_wh)
    for through in range(30):
        closed_wh = np.minimum(closed_wh, closed_wh[:, [through]] + closed_wh[through])
    for step in (30, 7, 1):
        found = potentials_wh(lambda step=step: np.split(energy_wh, range(step, 30, step)), 30)
        np.testing.assert_allclose(found, closed_wh.min(axis=0), atol=1e-6)


def rows_of(path: Path, *arguments: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(app, ["route", "--matrix", *arguments, "--out", str(path)])
    assert done.exit_code == 0, done.output
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_table_has_reduced_energies_beside_the_signed(tmp_path: Path) -> None:
    places = ["Walnut Street & 33rd Street", "39.741000,-104.980000", "Broadway & 20th Street"]
    stops = tmp_path / "stops.csv"
    stops.write_text("id,place\n" + "".join(f'{k},"{each}"\n' for k, each in enumerate(places)))
    rows = rows_of(tmp_path / "matrix.csv", str(stops), str(stops), "--reduced")
    plain = rows_of(tmp_path / "plain.csv", str(stops), str(stops))
    assert [{k: v for k, v in row.items() if k != "reduced_dwh"} for row in rows] == plain
    cells = {(int(row["from"]), int(row["to"])): row for row in rows}
    for tour in ([0, 1, 2, 0], [0, 2, 1, 0], [1, 2, 1]):
        signed_wh = sum(float(cells[pair]["energy_wh"]) for pair in pairwise(tour))
        whole = [int(cells[pair]["reduced_dwh"]) for pair in pairwise(tour)]
        assert min(whole) >= 0
        assert sum(whole) / 10 == pytest.approx(signed_wh, abs=0.15)


@pytest.mark.parametrize("jobs", [[], ["--jobs", "2"]])
@pytest.mark.parametrize("name", ["pairs", "pairs.parquet"])
def test_folders_and_processes_have_reduced_energies_beside_the_signed(
    denver: RoadNetwork,
    name: str,
    jobs: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matrix_dataset, "LEAST_PAIRS", 20)
    lon, lat = denver.junction_lon_lat
    at = np.random.default_rng(4).choice(denver.n_junctions, 8, replace=False)
    stops = tmp_path / "stops.csv"
    stops.write_text("place\n" + "".join(f'"{lat[k]:.6f},{lon[k]:.6f}"\n' for k in at))
    words = ["route", "--matrix", str(stops), str(stops), "--reduced", *jobs]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / name)])
    assert done.exit_code == 0, done.output
    table = pd.read_parquet(tmp_path / name)
    if name == "pairs":
        assert len(list((tmp_path / name).iterdir())) == 3
    signed_wh = table["energy_wh"].to_numpy(np.float64).reshape(8, 8)
    whole = table["reduced_dwh"].to_numpy().reshape(8, 8)
    assert whole.min() >= 0
    rng = np.random.default_rng(5)
    for _ in range(50):
        tour = rng.permutation(8).tolist()
        pairs = list(pairwise([*tour, tour[0]]))
        gap_wh = sum(whole[pair] for pair in pairs) / 10 - sum(signed_wh[pair] for pair in pairs)
        assert abs(gap_wh) <= 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["others.csv", "--reduced"], "same places as origins and destinations"),
        (["others.csv", "--reduced", "--out", "folder"], "same places as origins"),
        (["others.csv", "--reduced", "--jobs", "2"], "same places as origins"),
    ],
)
def test_wrong_tables_of_reduced_energies(
    options: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stops.csv").write_text("place\nWalnut Street & 33rd Street\nBroadway & 20th Street\n")
    Path("others.csv").write_text("place\nBroadway & 20th Street\nWalnut Street & 33rd Street\n")
    out = [] if "--out" in options else ["--out", "m.csv"]
    done = CliRunner().invoke(app, ["route", "--matrix", "stops.csv", *options, *out])
    assert isinstance(done.exception, EvrouteError), done.output
    assert words in str(done.exception)
    assert not Path("m.csv").exists()
    assert not Path("folder").exists()


def test_reduced_goes_with_a_matrix() -> None:
    done = CliRunner().invoke(app, ["route", "--trip", "A", "--reduced"])
    assert "--by, --sd and --reduced go with --matrix" in str(done.exception)
