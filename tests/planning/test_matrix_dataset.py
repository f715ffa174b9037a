"""Matrices in blocks equal the whole, in the memory of a block, for other programs to read."""

import tracemalloc
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.network.places.positions import whole_edges
from evroute.network.road_network import RoadNetwork
from evroute.planning import matrix_dataset
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import VALUES, Written, energy_matrix
from evroute.planning.matrix_dataset import write_dataset
from evroute.planning.planner import Planner


def stops(network: RoadNetwork, count: int, *, leaving: bool) -> list[Stop]:
    rows = np.linspace(0, network.n_edges - 1, count).astype(int).tolist()
    return [
        Stop(f"{'from' if leaving else 'to'} {k}", network.edge_id[row], places)
        for k, row in enumerate(rows)
        for places in [whole_edges(network, (row,), leaving=leaving)]
    ]


def test_blocks_are_the_whole_matrix_for_pandas_and_duckdb(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_dataset, "BLOCK_PAIRS", 70)
    planner = Planner(denver, "reference", physics="driving")
    ends = stops(denver, 17, leaving=True), stops(denver, 23, leaving=False)
    seen: list[int] = []
    out = tmp_path / "deep" / "pairs"
    written = write_dataset(out, planner, *ends, on_block=seen.append)
    assert seen == [69, 138, 207, 276, 345, 391]
    assert len(list(out.iterdir())) == 6
    whole = energy_matrix(planner, *ends)
    assert written == Written(391, int(np.isnan(whole[0]).sum()))
    table = pd.read_parquet(out)
    assert table["from"].tolist() == [a.id for a in ends[0] for _ in ends[1]]
    assert table["to"].tolist() == [b.id for _ in ends[0] for b in ends[1]]
    for column, values in zip(VALUES, whole, strict=True):
        assert table[column].dtype == np.float32
        np.testing.assert_array_equal(table[column], values.ravel().astype(np.float32))
    found = duckdb.sql(f"select sum(energy_wh), count(*) from '{out}/*.parquet'").fetchall()
    assert found[0] == (pytest.approx(np.nansum(whole[0])), 391)


def test_memory_does_not_grow_with_the_origins(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_dataset, "BLOCK_PAIRS", 4000)
    planner = Planner(denver, "reference", physics="driving")
    ends = stops(denver, 240, leaving=True), stops(denver, 400, leaving=False)

    def peak(count: int) -> int:
        write_dataset(tmp_path / f"warm {count}", planner, ends[0][:10], ends[1])
        tracemalloc.start()
        write_dataset(tmp_path / f"{count}", planner, ends[0][:count], ends[1])
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    few, many = peak(20), peak(240)
    assert many < few + 400_000  # the whole matrix takes 24 B x 96,000 pairs = 2.3 MB
    size = sum(path.stat().st_size for path in (tmp_path / "240").iterdir())
    assert size / (240 * 400) <= 8 + 2 * 4


def test_a_folder_with_contents_is_kept(denver: RoadNetwork, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "mine.txt").write_text("kept")
    planner = Planner(denver, "reference")
    ends = stops(denver, 2, leaving=True), stops(denver, 2, leaving=False)
    with pytest.raises(EvrouteError, match=r"pairs is not empty. Name a new folder"):
        write_dataset(tmp_path / "pairs", planner, *ends)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]


def test_a_failure_leaves_no_folder(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(pairs: int) -> None:
        raise OSError(28, "No space left on device")

    ends = stops(denver, 2, leaving=True), stops(denver, 2, leaving=False)
    with pytest.raises(OSError, match="No space left"):
        write_dataset(tmp_path / "pairs", Planner(denver, "reference"), *ends, on_block=full)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_folder(tmp_path: Path) -> None:
    table = tmp_path / "places.csv"
    table.write_text('place\n"39.7624,-104.9733"\n"39.745,-104.995"\n')
    words = ["route", "--network", "denver", "--matrix", str(table), str(table), "--out"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "pairs")])
    assert done.exit_code == 0, done.output
    one = CliRunner().invoke(app, [*words, str(tmp_path / "pairs.parquet")])
    assert one.exit_code == 0, one.output
    many, whole = (pd.read_parquet(tmp_path / name) for name in ("pairs", "pairs.parquet"))
    assert len(many) == 4
    np.testing.assert_allclose(many["energy_wh"], whole["energy_wh"], rtol=1e-6)
    again = CliRunner().invoke(app, [*words, str(tmp_path / "pairs")])
    assert "is not empty" in str(again.exception)
