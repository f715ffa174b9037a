"""Batches and matrices in blocks: the bytes of one process, on every engine and after losses."""

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.door.opened import DoorNames
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, LimitError
from evroute.experiments.blocks import work
from evroute.experiments.blocks.tables import answers_by, write_matrix_by
from evroute.experiments.blocks.tasks import BlockWork, DoorInputs, in_order
from evroute.experiments.blocks.work import (
    ANSWERS,
    PAIRS,
    ROWS,
    PairBlock,
    request_blocks,
    table_blocks,
)
from evroute.experiments.parallel import engine as engines
from evroute.experiments.parallel import pool
from evroute.experiments.parallel.dask_cluster import cluster
from evroute.experiments.parallel.engine import Engine
from evroute.experiments.parallel.tasks import Task, machine
from evroute.learning.learn import learn
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.planning import answer_table, matrix_dataset
from evroute.planning.answers import answer_all, answer_energies, columns_of
from evroute.planning.dispatch.stops import read_stops
from evroute.planning.matrix import energy_matrix
from evroute.planning.matrix_dataset import blocks
from evroute.planning.requests import read_requests
from evroute.resources import data_path

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
DENVER = DoorNames("denver", physics="driving")
PLACES = 18
RUNNER = CliRunner()
Rows = list[dict[str, str | None]]


def requests(network: RoadNetwork, count: int) -> Rows:
    """Rows of a batch; one in eleven has an unknown place."""
    rng = np.random.default_rng(1)
    inside = sorted(set(network.strongest_component().edge_id))
    rows: Rows = []
    for number in range(count):
        first, last = rng.choice(inside, 2, replace=False).tolist()
        rows.append({"id": f"r{number}", "from": first, "to": last if number % 11 else "nowhere"})
    return rows


def tables(network: RoadNetwork, folder: Path) -> tuple[str, str]:
    """Tables of origins and destinations."""
    rng = np.random.default_rng(2)
    inside = sorted(set(network.strongest_component().edge_id))
    paths = folder / "origins.csv", folder / "destinations.csv"
    for path in paths:
        with path.open("w", newline="", encoding="utf-8") as handle:
            places = rng.choice(inside, PLACES, replace=False).tolist()
            csv.writer(handle).writerows([["id", "place"], *enumerate(places)])
    return str(paths[0]), str(paths[1])


def by_processes(door: DoorNames, found: Any, scheduler: Any) -> list[Mapping[str, bytes]]:
    return list(in_order(door, found, 2))


def by_threads(door: DoorNames, found: Any, scheduler: Any) -> list[Mapping[str, bytes]]:
    with ThreadPoolExecutor(4) as executor:
        files = list(in_order(door, found, Engine(executor, ahead=3)))
        assert executor.submit(int, "3").result() == 3  # it was not shut down
    return files


def by_dask(door: DoorNames, found: Any, scheduler: Any) -> list[Mapping[str, bytes]]:
    with cluster(scheduler.scheduler_address) as engine:
        return list(in_order(door, found, engine))


ENGINES = (by_processes, by_threads, by_dask)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_in_blocks_has_the_lines_of_one_process(
    engine: Callable[..., list[Mapping[str, bytes]]],
    denver: RoadNetwork,
    scheduler: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Least energies by their rows in a table, plans by rows of their own."""
    monkeypatch.setattr(work, "PLANS", 7)
    monkeypatch.setattr(work, "ENERGIES", 7)
    rows, usual = requests(denver, 30), {"soc": "50", "reserve": "5"}
    door = DENVER.open()
    planner = door.planner(None, DrivingConditions())
    expected = {
        None: list(answer_all(iter(rows), door.planner, usual)),
        "energy": list(answer_energies(iter(rows), planner, block=7)),
    }
    batch = tmp_path / "batch.csv"
    pd.DataFrame(rows).to_csv(batch, index=False)
    for only, answers in expected.items():
        if only:
            with read_requests(batch, *columns_of(only)) as table:
                files = engine(DENVER, table_blocks(table, {}, only), scheduler)
        else:
            files = engine(DENVER, request_blocks(iter(rows), usual, only), scheduler)
        assert len(files) == 5
        lines = b"".join(each[ANSWERS] for each in files).decode().splitlines()
        assert lines == [json.dumps(each, ensure_ascii=False) for each in answers]
        parts = [pa.ipc.open_stream(each[ROWS]).read_all() for each in files]
        whole = pa.concat_tables(parts)
        assert whole["id"].to_pylist() == [each["id"] for each in answers]
        assert [e is None for e in whole["error"].to_pylist()] == [
            "error" not in a for a in answers
        ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("seed", range(4))
def test_blocks_find_their_rows_in_any_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str, seed: int
) -> None:
    """Line ends in quotes, empty lines, too many cells, a byte order mark, signs of four bytes."""
    monkeypatch.setattr(work, "PLANS", 4)
    rng, path = np.random.default_rng(seed), tmp_path / "batch.csv"
    signs = [*"a1é東🚗,;.\t", "\n", "\r\n", '"', " "]
    text = io.StringIO(newline="")
    written = csv.writer(text, delimiter=separator, lineterminator=("\n", "\r\n")[seed % 2])
    written.writerow(["id", "from", "not\nread", "to", "soc"])
    for _ in range(int(rng.integers(1, 40))):
        cells = ["".join(rng.choice(signs, rng.integers(0, 5))) for _ in range(4)]
        written.writerow(
            [*cells, "7,5" if separator != "," else "7.5", *["more"][rng.integers(2) :]]
        )
        if rng.random() < 0.2:
            text.write("\n")
    path.write_bytes(b"\xef\xbb\xbf" * (seed // 2) + text.getvalue().encode())
    with read_requests(path, *columns_of(None)) as table:
        rows = list(table.rows)
        assert table.end() == path.stat().st_size
    assert {"id", "from", "to", "soc"} == set(rows[0]) - {None, "not\nread"}
    with read_requests(path, *columns_of(None)) as table:
        found = [block.rows.read(None) for block in table_blocks(table, {}, None)]
    assert [row for part in found for row in part] == rows
    assert [len(part) for part in found[:-1]] == [4] * (len(found) - 1)


def test_a_thousand_requests_take_less_than_two_kilobytes(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe or a large table is sent with its rows; a table that changes is refused."""
    batch, rows = tmp_path / "batch.csv", requests(denver, 1500)
    pd.DataFrame(rows).to_csv(batch, index=False)
    inputs = DoorInputs(DENVER, near=False)
    with read_requests(batch, *columns_of("energy")) as table:
        first, second = table_blocks(table, {}, "energy")
    task = Task(BlockWork(DENVER, first), inputs.of(first), machine())
    assert len(pickle.dumps(task)) < 2048
    monkeypatch.setattr(work, "WHOLE_BYTES", 1000)
    with read_requests(batch, *columns_of("energy")) as table:
        sent = list(table_blocks(table, {}, "energy"))
    assert [each.rows.read("energy") for each in sent] == [rows[:1000], rows[1000:]]
    assert [each.paths for each in (first, *sent)] == [(str(batch),), (), ()]
    batch.write_text("id,from,to\n", encoding="utf-8")
    table_of_task = inputs.of(second)[-1]
    with pytest.raises(EvrouteError, match=r"batch\.csv has changed since the command began"):
        task.with_bytes((table_of_task.digest,), inputs.paths)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_blocks_of_a_matrix_join_to_the_matrix_computed_at_once(
    engine: Callable[..., list[Mapping[str, bytes]]],
    denver: RoadNetwork,
    scheduler: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matrix_dataset, "BLOCK_PAIRS", 4 * PLACES)
    first, second = tables(denver, tmp_path)
    door = DENVER.open()
    origins = read_stops(Path(first), denver, leaving=True)
    destinations = read_stops(Path(second), denver, leaving=False)
    whole = energy_matrix(door.planner(None, DrivingConditions()), origins, destinations, "time")
    for packed in (True, False):
        parts = [
            PairBlock(first, second, each, "time", packed=packed) for each in blocks(PLACES, PLACES)
        ]
        assert len(parts) == 5
        files = [each[PAIRS] for each in engine(DENVER, iter(parts), scheduler)]
        if packed:
            table = pa.concat_tables([pq.read_table(pa.BufferReader(each)) for each in files])
            for column, values in zip(("energy_wh", "time_s", "length_m"), whole, strict=True):
                assert table[column].to_pylist() == values.ravel().astype(np.float32).tolist()
        else:
            arrays = [np.load(pa.BufferReader(each)) for each in files]
            np.testing.assert_array_equal(np.concatenate(arrays, axis=1), whole)


@pytest.mark.parametrize("with_belief", [True, False])
def test_a_worker_asks_once_for_the_files_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_belief: bool
) -> None:
    """The network with a belief, or with a vehicle that a row names."""
    learned, car = tmp_path / "learned", tmp_path / "car.toml"
    row: dict[str, str | None] = {"trip": "A"}
    if with_belief:
        learn(data_path("examples", "edges.csv"), learned)
    else:
        car.write_bytes(data_path("vehicles", "volvo-c40.toml").read_bytes())
        row["vehicle"] = str(car)
    door = DoorNames("denver", belief=learned if with_belief else None)
    (block,) = request_blocks(iter([row]), {}, None)
    inputs = DoorInputs(door, near=False)
    task = Task(BlockWork(door, block), inputs.of(block))
    assert len(pickle.dumps(task)) < 2048
    (expected,) = in_order(door, iter([block]), 2)
    answer = json.loads(expected[ANSWERS])
    assert "error" not in answer
    if not with_belief:
        assert answer["vehicle"] == load_vehicle("volvo-c40").name
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "elsewhere"))
    asked = task.do()
    assert len(asked.missing) == 2
    assert not asked.files
    assert task.with_bytes(asked.missing, inputs.paths).do().files == expected
    for path in [car, *learned.glob("beliefs/*")]:
        path.unlink(missing_ok=True)
    assert task.do().files == expected


def test_a_network_that_was_built_again_is_the_new_one_for_long_lived_workers(
    hill: RoadNetwork, tmp_path: Path
) -> None:
    path, metres = tmp_path / "hill.npz", []
    with ThreadPoolExecutor(1) as worker:
        for network in (hill, replace(hill, length_m=1.5 * hill.length_m)):
            store.save(network, path)
            found = request_blocks(iter([{"from": "in", "to": "out"}]), {}, "energy")
            (files,) = in_order(DoorNames(str(path)), found, Engine(worker))
            metres.append(json.loads(files[ANSWERS])["length_m"])
    assert metres[1] == pytest.approx(1.5 * metres[0])


def dies_once(block: work.RequestBlock, opened: Any, check: Any) -> dict[str, bytes]:
    """Return the number of a block's first row; the process dies of the second block at first."""
    died = Path(os.environ["EVROUTE_TEST_DIED"])
    if block.first == 8 and ("EVROUTE_TEST_ALWAYS" in os.environ or not died.exists()):
        died.touch()
        os._exit(9)
    return {ANSWERS: b"%d" % block.first}


@pytest.mark.parametrize("always", [False, True])
def test_a_lost_process_loses_no_answer_and_a_deadly_block_ends_in_one_line(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    monkeypatch.setattr(work, "ENERGIES", 7)
    monkeypatch.setattr(work.RequestBlock, "files", dies_once)
    for module in (engines, pool):
        monkeypatch.setattr(module, "forks", lambda: True)  # workers have the deadly block
    monkeypatch.setenv("EVROUTE_TEST_DIED", str(tmp_path / "died"))
    if always:
        monkeypatch.setenv("EVROUTE_TEST_ALWAYS", "1")
    door = DoorNames("denver")
    found = in_order(door, request_blocks(iter(requests(denver, 40)), {}, "energy"), 2)
    if always:
        with pytest.raises(EvrouteError, match="requests from row 8 on died 6 times") as refused:
            list(found)
        assert "\n" not in str(refused.value)
        return
    assert [int(each[ANSWERS]) for each in found] == [1, 8, 15, 22, 29, 36]
    assert (tmp_path / "died").exists()


def test_workers_with_other_digits_and_lost_executors_end_in_one_line(
    denver: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "machine", lambda: {"BLAS": "another"})
    with ThreadPoolExecutor(1) as executor:
        found = request_blocks(iter(requests(denver, 2)), {}, "energy")
        with pytest.raises(EvrouteError, match=r"another here.*accept it with --mixed"):
            list(in_order(DENVER, found, Engine(executor)))
        found = request_blocks(iter(requests(denver, 2)), {}, "energy")
        assert len(list(in_order(DENVER, found, Engine(executor, mixed=True)))) == 1
    found = request_blocks(iter(requests(denver, 2)), {}, "energy")
    with pytest.raises(EvrouteError, match=r"the executor is lost .*Repeat the command"):
        list(in_order(DENVER, found, Engine(executor, mixed=True)))  # it was shut down


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--trip", "A", "--jobs", "2"], "--jobs and --cluster go with --batch or --matrix"),
        (["--trip", "A", "--cluster", "local:1"], "--jobs and --cluster go with --batch"),
        (["--batch", "b.csv", "--mixed"], "--mixed goes with --cluster"),
        (["--batch", "b.csv", "--cluster", "local:1", "--jobs", "2"], "goes without --jobs"),
        (["--batch", "b.csv", "--cluster", "local:x"], "is not like local:2"),
    ],
)
def test_a_bad_engine_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.csv").write_text("trip\nA\n")
    done = RUNNER.invoke(app, ["route", *words])
    assert isinstance(done.exception, EvrouteError)
    assert why in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.slow
def test_the_command_has_the_same_files_on_every_engine(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tables(denver, tmp_path)
    batch = tmp_path / "batch.csv"
    pd.DataFrame(requests(denver, 120)).to_csv(batch, index=False)
    contents = []
    for number, words in enumerate(([], ["--jobs", "2"], ["--cluster", "local:1"])):
        out = tmp_path / str(number)
        asked = ["route", "--matrix", first, second, "--out", str(out / "pairs"), *words]
        assert RUNNER.invoke(app, asked).exit_code == 0
        asked = ["route", "--batch", str(batch), "--soc", "50", "--out", str(out / "plans"), *words]
        done = RUNNER.invoke(app, asked)
        assert done.exit_code == 1  # some places are unknown
        files = [path.read_bytes() for path in sorted(out.rglob("*.parquet"))]
        contents.append((done.stdout, done.stderr, files))
    assert contents[0] == contents[1] == contents[2]
    assert len(contents[0][2]) == 2


def test_a_batch_streams_to_a_folder_that_other_programs_read(
    denver: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_table, "ROWS", 40)
    monkeypatch.setattr(answer_table, "PENDING", 20)
    monkeypatch.setenv("EVROUTE_MAX_ROWS", "50")
    batch, out = tmp_path / "batch.csv", tmp_path / "plans"
    pd.DataFrame(requests(denver, 90)).to_csv(batch, index=False)
    asked = ["route", "--batch", str(batch), "--only", "energy", "--out"]
    lines = RUNNER.invoke(app, [*asked, str(out)]).stdout.splitlines()
    assert sorted(path.name for path in out.iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
    ]
    answers, table = [json.loads(line) for line in lines], pd.read_parquet(out)
    assert table["id"].tolist() == [each["id"] for each in answers]
    assert table["energy_wh"].dtype == np.float32
    expected = [np.float32(each.get("energy_wh", np.nan)) for each in answers]
    np.testing.assert_array_equal(table["energy_wh"], expected)
    found = duckdb.sql(f"select count(*), count(error) from '{out}/*.parquet'").fetchall()
    assert found == [(90, sum("error" in each for each in answers))]
    again = RUNNER.invoke(app, [*asked, str(out)])
    assert "is not empty" in str(again.exception)
    done = RUNNER.invoke(app, [*asked, str(tmp_path / "one.parquet")])
    assert isinstance(done.exception, LimitError)
    assert "Name a folder" in str(done.exception)
    assert not (tmp_path / "one.parquet").exists()


def test_any_executor_answers_from_python(denver: RoadNetwork, tmp_path: Path) -> None:
    rows = requests(denver, 12)
    first, second = map(Path, tables(denver, tmp_path))
    door = DENVER.open()
    with ThreadPoolExecutor(2) as executor:
        answers = list(answers_by(executor, DENVER, iter(rows), {"soc": "50"}))
        out = tmp_path / "pairs.parquet"
        written = write_matrix_by(executor, DENVER, (first, second), out, usual={"payload": "300"})
    alone = answer_all(iter(rows), door.planner, {"soc": "50"})
    assert json.loads(json.dumps(answers)) == json.loads(json.dumps(list(alone)))
    origins = read_stops(first, denver, leaving=True)
    destinations = read_stops(second, denver, leaving=False)
    loaded = door.planner(None, DrivingConditions(payload_kg=300))
    whole = energy_matrix(loaded, origins, destinations)
    assert (written.pairs, written.missing) == (whole[0].size, np.isnan(whole[0]).sum())
    assert pq.read_table(out)["energy_wh"].to_pylist() == whole[0].ravel().tolist()


def test_a_pair_takes_eight_bytes_and_four_for_each_further_column(
    denver: RoadNetwork, tmp_path: Path
) -> None:
    inside = np.array(sorted(set(denver.strongest_component().edge_id)))
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        places = np.random.default_rng(0).permutation(inside)[:300]
        pd.DataFrame({"place": places}).to_csv(path, index=False)
    out = tmp_path / "pairs"
    done = RUNNER.invoke(app, ["route", "--matrix", *map(str, paths), "--out", str(out)])
    assert done.exit_code == 0, done.output
    size = sum(path.stat().st_size for path in out.iterdir())
    assert size / 300**2 <= 8 + 4 + 4


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_batch_prints_one_line_and_leaves_no_file(
    denver: RoadNetwork, tmp_path: Path
) -> None:
    batch, out = tmp_path / "batch.csv", tmp_path / "plans"
    pd.DataFrame(requests(denver, 20_000)).to_csv(batch, index=False)
    words = ["route", "--network", "denver", "--batch", str(batch), "--jobs", "2", "--out"]
    with subprocess.Popen(
        [sys.executable, "-m", "evroute", *words, str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"{"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers too
        _, error = process.communicate()
    assert process.returncode == 130
    assert error == b"evroute: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["batch.csv"]
