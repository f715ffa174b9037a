"""The same runs on every engine give the same bytes; lost workers and executors lose no run."""

import json
import os
import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from multiprocessing import active_children, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.door.opened import DoorNames
from evroute.errors import EvrouteError
from evroute.experiments import execution
from evroute.experiments.blocks import work
from evroute.experiments.blocks.tasks import in_order
from evroute.experiments.blocks.work import request_blocks
from evroute.experiments.execution import RunInputs, RunWork
from evroute.experiments.experiment import Experiment, grid, simulate
from evroute.experiments.parallel import dask_cluster, engine, pool
from evroute.experiments.parallel.dask_cluster import cluster
from evroute.experiments.parallel.engine import Engine
from evroute.experiments.parallel.tasks import Input, Task, digest_of_file, machine
from evroute.experiments.runs import RunFolder
from evroute.network import store
from evroute.planning.planner import Planner

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def experiment(seeds: int = 3, network: str = "denver", horizon: int = 2) -> Experiment:
    return grid(
        networks=[network],
        trips=["A" if network == "denver" else "in to out"],
        methods=["recommended"],
        models=["independent", "exact"],
        indices=["ts"],
        options={},
        horizon=horizon,
        seeds=seeds,
        world=["free-flow"],
    )


def content(folder: RunFolder) -> dict[str, bytes]:
    """Return the files of results; timings differ between machines."""
    kinds = ("rounds.parquet", "parts/*", "routes/*", "beliefs/*", "diagnostics/*")
    paths = sorted(path for kind in kinds for path in folder.path.glob(kind))
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Results of 60 runs, one after the other in this process."""
    found = content(simulate(experiment(20), tmp_path_factory.mktemp("alone") / "runs"))
    assert len(found) >= 181
    return found


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Results of 12 runs, one after the other in this process."""
    return content(simulate(experiment(4), tmp_path_factory.mktemp("few") / "runs"))


def by_processes(wanted: Experiment, out: Path, scheduler: Any) -> RunFolder:
    return simulate(wanted, out, jobs=2)


def by_threads(wanted: Experiment, out: Path, scheduler: Any) -> RunFolder:
    with ThreadPoolExecutor(4) as executor:
        folder = simulate(wanted, out, executor=executor, ahead=6)
        assert executor.submit(int, "3").result() == 3  # it was not shut down
    return folder


def by_dask(wanted: Experiment, out: Path, scheduler: Any) -> RunFolder:
    with cluster(scheduler.scheduler_address) as dask:
        return simulate(wanted, out, executor=dask)


@pytest.mark.parametrize("play", [by_processes, by_threads, by_dask])
def test_every_engine_gives_the_same_bytes(
    play: Callable[..., RunFolder], alone: dict[str, bytes], scheduler: Any, tmp_path: Path
) -> None:
    folder = play(experiment(20), tmp_path / "runs", scheduler)
    assert folder.failures() == {}
    assert content(folder) == alone
    assert not list((folder.path / "failures").glob("*"))


class Kills:
    """A report of progress that kills a process once some numbers of rounds are done."""

    def __init__(self, moments: set[int], victims: Callable[[], list[int]]) -> None:
        self.left = set(moments)
        self._victims = victims
        self._rng = np.random.default_rng(5)

    def __call__(self, done: int, total: int) -> None:
        due = {moment for moment in self.left if done >= moment}
        found = self._victims() if due else []
        if found:
            self.left.difference_update(due)
            os.kill(int(self._rng.choice(found)), signal.SIGKILL)


@pytest.mark.parametrize("start", ["Fork", "Spawn"])
def test_killed_processes_lose_no_run(
    few: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    for module in (engine, pool):
        monkeypatch.setattr(module, "forks", lambda: start == "Fork")

    def workers() -> list[int]:
        return [child.pid for child in active_children() if child.pid and start in child.name]

    report = Kills({3}, workers)
    folder = simulate(experiment(4), tmp_path / "runs", jobs=2, on_progress=report)
    assert not report.left
    assert folder.failures() == {}
    assert content(folder) == few


def test_killed_dask_workers_lose_no_run(
    few: dict[str, bytes], scheduler: Any, tmp_path: Path
) -> None:
    from distributed import Client

    with Client(scheduler.scheduler_address, set_as_default=False) as client:

        def workers() -> list[int]:
            return list(client.run(os.getpid).values())

        report = Kills({4}, workers)
        with cluster(scheduler.scheduler_address) as dask:
            folder = simulate(experiment(4), tmp_path / "runs", executor=dask, on_progress=report)
    assert not report.left
    assert folder.failures() == {}
    assert content(folder) == few


def test_workers_that_dask_forgot_are_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after kills while they start."""
    begin, made = dask_cluster.Check.__init__, list[Any]()

    def recorded(check: Any, client: Any, address: str, place: Any, count: int) -> None:
        made.append(place)
        begin(check, client, address, place, count)

    monkeypatch.setattr(dask_cluster.Check, "__init__", recorded)
    with cluster("local:1") as dask:
        (place,) = made
        while not place.workers:
            time.sleep(0.05)
        (nanny,) = place.workers.values()
        place.sync(nanny.close)
        place.workers.clear()
        while place.scheduler.workers:
            time.sleep(0.05)
        while not place.scheduler.workers:  # a check refuses to wait for ever
            dask.check()
            time.sleep(0.05)


play = execution.play


def deadly(run: Any, folder: RunFolder, on_round: Callable[[int], None]) -> None:
    """Play a run; the process of a worker dies of one of them."""
    if run.seed == 1 and parent_process() is not None:
        os._exit(9)
    play(run, folder, on_round)


def test_a_run_that_kills_its_process_is_recorded_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "play", deadly)
    for module in (engine, pool):
        monkeypatch.setattr(module, "forks", lambda: True)  # workers have the deadly run
    wanted = grid(
        networks=["denver"],
        trips=["A"],
        models=["independent"],
        indices=["ts"],
        options={},
        horizon=2,
        seeds=3,
    )
    folder = simulate(wanted, tmp_path / "runs", jobs=2)
    assert [name[-2:] for name in folder.finished_runs()] == ["s0", "s2"]
    ((name, error),) = folder.failures().items()
    assert name.endswith("s1")
    assert error == "its process died 3 times, the last 2 alone (out of memory?)"
    monkeypatch.undo()
    assert len(simulate(wanted, tmp_path / "runs").finished_runs()) == 3


class Breaks(ProcessPoolExecutor):
    """Processes that are found to be dead when the fourth task is submitted."""

    submitted = 0

    def submit(self, /, *args: Any, **kwargs: Any) -> Future[Any]:
        Breaks.submitted += 1
        if Breaks.submitted == 4:
            raise BrokenExecutor
        return super().submit(*args, **kwargs)


def test_a_run_that_is_taken_when_the_pool_breaks_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two tasks start the processes, and the fourth is the second run."""
    monkeypatch.setattr(pool, "ProcessPoolExecutor", Breaks)
    monkeypatch.setattr(pool, "forks", lambda: True)
    folder = simulate(experiment(1), tmp_path / "runs", jobs=2)
    assert len(folder.finished_runs()) == 3
    Breaks.submitted = 0
    rows = [{"trip": "A", "soc": str(charge)} for charge in range(50, 90)]
    found = request_blocks(iter(rows), {}, None)
    monkeypatch.setattr(work, "PLANS", 10)
    lines = b"".join(each[work.ANSWERS] for each in in_order(DoorNames("denver"), found, 2))
    assert [json.loads(line)["id"] for line in lines.splitlines()] == [
        str(number) for number in range(1, 41)
    ]


def test_processes_that_cannot_start_end_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "start_worker", lambda shared: os._exit(9))
    monkeypatch.setattr(pool, "forks", lambda: True)
    with pytest.raises(EvrouteError, match="no process of --jobs can start"):
        simulate(experiment(1), tmp_path / "runs", jobs=2)


def test_a_worker_that_lacks_the_network_asks_for_it_once(
    hill: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(hill, tmp_path / "hill.npz")
    run = next(experiment(1, str(tmp_path / "hill.npz")).runs())
    inputs = RunInputs(near=False)
    task = Task(RunWork(run), inputs.of(run))
    (network,) = task.inputs
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "elsewhere"))
    asked = task.do()
    assert (asked.missing, asked.files) == ((network.digest,), {})
    played = task.with_bytes(asked.missing, inputs.paths).do()
    assert list(played.files)[-1] == f"parts/{run.name}.parquet"
    (tmp_path / "hill.npz").unlink()
    again = task.do()
    part = f"parts/{run.name}.parquet"
    assert again.files[part] == played.files[part]
    assert len(pickle.dumps(task)) < 2048


def test_a_network_that_was_built_again_is_the_new_one_for_long_lived_workers(
    hill: Any, tmp_path: Path
) -> None:
    """Two commands, one worker."""
    path = tmp_path / "hill.npz"
    eq8_wh = []
    with ThreadPoolExecutor(1) as worker:
        for network in (hill, replace(hill, length_m=1.5 * hill.length_m)):
            store.save(network, path)
            run = next(experiment(1, str(path)).runs())
            task = Task(RunWork(run), (Input(str(path), digest_of_file(path), ".npz"),))
            sent = task.with_bytes((task.inputs[0].digest,), {task.inputs[0].digest: path})
            files = worker.submit(sent.do).result().files
            part = pq.read_table(pa.BufferReader(files[f"parts/{run.name}.parquet"]))
            eq8_wh.append(part["eq8_wh"][0].as_py())
            by_hand = Planner(network, "reference", physics="eq8").plan("in", "out")
            assert eq8_wh[-1] == pytest.approx(by_hand.routes["energy"].energy_wh)
    assert eq8_wh[1] > 1.3 * eq8_wh[0]


def test_workers_with_other_digits_are_refused_unless_they_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = machine()
    monkeypatch.setattr(engine, "machine", lambda: here | {"BLAS": "openblas 0.3 Prescott"})
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(EvrouteError, match=r"BLAS .* there, openblas 0\.3 Prescott here") as no:
            simulate(experiment(1), tmp_path / "runs", executor=executor)
        assert "\n" not in str(no.value)
        assert RunFolder(tmp_path / "runs").finished_runs() == []
        folder = simulate(experiment(1), tmp_path / "mixed", executor=Engine(executor, mixed=True))
    assert len(folder.finished_runs()) == 3
    assert folder.manifest()["mixed"] is True


class Broken(Executor):
    """Plays some runs, and is lost then."""

    def __init__(self, runs: int) -> None:
        self._left = runs

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        outcome = function(*args, **kwargs) if self._left > 0 else None
        if outcome is None:
            future.set_exception(KeyError("comm closed"))
        else:
            self._left -= bool(outcome.files)
            future.set_result(outcome)
        return future


def test_a_lost_executor_keeps_finished_runs_and_the_same_command_continues(
    tmp_path: Path,
) -> None:
    with pytest.raises(EvrouteError, match=r"the executor is lost \(KeyError: 'comm closed'\)"):
        simulate(experiment(2), tmp_path / "runs", executor=Broken(4), ahead=2)
    kept = RunFolder(tmp_path / "runs").finished_runs()
    assert 2 <= len(kept) <= 4
    folder = simulate(experiment(2), tmp_path / "runs", executor=Broken(99))
    assert len(folder.finished_runs()) == 6


def test_an_interrupt_returns_within_two_seconds_and_cancels_waiting_tasks(
    tmp_path: Path,
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor:
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            simulate(experiment(20), tmp_path / "runs", executor=executor, on_progress=interrupt)
        assert time.monotonic() - began < 20  # with the first run itself
    assert 1 <= len(RunFolder(tmp_path / "runs").finished_runs()) < 10


def test_a_lost_scheduler_ends_in_one_line(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:

        def lost() -> None:
            raise EvrouteError("the Dask scheduler at tcp://x is lost")

        with pytest.raises(EvrouteError, match="scheduler at tcp://x is lost"):
            simulate(experiment(1), tmp_path / "runs", executor=Engine(executor, check=lost))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--mixed"], "--mixed goes with --cluster"),
        (["--cluster", "local:2", "--jobs", "2"], "--cluster goes without --jobs"),
        (["--cluster", "local:two"], "is not like local:2"),
        (["--cluster", "nowhere"], "there is no Dask scheduler at nowhere"),
    ],
)
def test_a_bad_cluster_is_refused_in_one_line(tmp_path: Path, words: list[str], why: str) -> None:
    options = ["--network", "denver", "--horizon", "2", "--seeds", "2", "--quiet"]
    done = CliRunner().invoke(app, ["simulate", *options, *words, "--out", str(tmp_path / "r")])
    assert isinstance(done.exception, EvrouteError)
    assert why in str(done.exception)
    assert "\n" not in str(done.exception)


def test_the_command_plays_on_a_cluster(
    few: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, ended = dask_cluster.end_cluster, list[Any]()

    def recorded(made: Any, others: Any) -> None:
        ended.append(made)
        end(made, others)

    monkeypatch.setattr(dask_cluster, "end_cluster", recorded)
    table = tmp_path / "runs.toml"
    table.write_text(
        'horizon = 2\nseeds = 4\nworld = "free-flow"\n'
        'methods = ["recommended", {model = "independent", index = "ts"}, '
        '{model = "exact", index = "ts"}]\n[trips]\ndenver = ["A"]\n',
        encoding="utf-8",
    )
    out = tmp_path / "runs"
    words = ["simulate", str(table), "--cluster", "local:1", "--out", str(out), "--quiet"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert content(RunFolder(out)) == few
    # if it does not close in time, the end of the program does not wait for it again
    assert [made.shutdown_on_close for made in ended] == [False]
