"""Runs on a Dask cluster: the files of a local run, and no finished run lost after a kill."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evroute.errors import EvrouteError
from evroute.experiments.experiment import grid, simulate
from evroute.experiments.runs import RunFolder

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
TABLES = ("parts", "routes", "beliefs")
PATIENCE_S = 60


def experiment():
    return grid(
        networks=["denver"],
        trips=["A"],
        models=["independent"],
        indices=["ts", "greedy"],
        options={},
        world=["free-flow"],
        horizon=20,
        seeds=10,
    )


class Cluster:
    """A scheduler and workers as processes of their own, to be killed."""

    def __init__(self, place: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.port = str(port)
        self.address = f"tcp://127.0.0.1:{port}"
        self.place = place
        self.environment = {**os.environ, "EVROUTE_CACHE_DIR": str(place / "cache-of-workers")}
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def scheduler(self) -> "subprocess.Popen[bytes]":
        return self.processes[0]

    @property
    def workers(self) -> "list[subprocess.Popen[bytes]]":
        return self.processes[1:]

    def mend(self) -> None:
        """Start what is not there, or was killed."""
        if not self.processes or self.scheduler.poll() is not None:
            self.stop()
            options = ["--host", "127.0.0.1", "--port", self.port, "--no-dashboard"]
            self.processes = [self._start("distributed.cli.dask_scheduler", *options)]
        alive = [worker for worker in self.workers if worker.poll() is None]
        self.processes[1:] = [*alive, *(self.add_worker() for _ in range(2 - len(alive)))]
        wait_for_workers(self.address, 2)

    def add_worker(self) -> "subprocess.Popen[bytes]":
        options = [
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
            "--local-directory",
            str(self.place),
        ]
        return self._start(
            "distributed.cli.dask_worker", self.address, *options, "--death-timeout", "20"
        )

    def _start(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", module, *arguments]
        with (self.place / f"log-{time.monotonic_ns()}").open("wb") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, cwd=self.place
            )

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def cluster(machines: Cluster) -> Cluster:
    machines.mend()
    return machines


def wait_for_workers(address: str, n: int) -> None:
    from distributed import Client

    with Client(address, timeout=PATIENCE_S) as client:
        client.wait_for_workers(n, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("home") / "runs"
    simulate(experiment(), out)
    return out


def same(one: Path, other: Path) -> bool:
    files = {path.relative_to(one) for table in TABLES for path in (one / table).iterdir()}
    there = {path.relative_to(other) for table in TABLES for path in (other / table).iterdir()}
    equal = all((one / name).read_bytes() == (other / name).read_bytes() for name in files)
    return (
        files == there
        and equal
        and (one / "rounds.parquet").read_bytes() == (other / "rounds.parquet").read_bytes()
    )


def test_a_cluster_gives_the_same_files_as_home(
    cluster: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    told = []
    simulate(
        experiment(),
        tmp_path / "runs",
        scheduler=cluster.address,
        on_progress=lambda *now: told.append(now),
    )
    assert same(undisturbed, tmp_path / "runs")
    assert told[-1] == (400, 400)


def test_a_killed_worker_costs_no_run(cluster: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    def kill(done: int, total: int) -> None:
        if done >= 40:
            victim.send_signal(signal.SIGKILL)

    victim = cluster.workers[0]
    simulate(experiment(), tmp_path / "runs", scheduler=cluster.address, on_progress=kill)
    assert victim.wait(PATIENCE_S) == -signal.SIGKILL
    assert same(undisturbed, tmp_path / "runs")


def test_a_killed_scheduler_is_told_and_what_came_back_is_kept(
    cluster: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    def kill(done: int, total: int) -> None:
        if done >= 60:
            cluster.scheduler.send_signal(signal.SIGKILL)
            cluster.scheduler.wait()

    out = tmp_path / "runs"
    with pytest.raises(EvrouteError, match="lost the Dask cluster"):
        simulate(experiment(), out, scheduler=cluster.address, on_progress=kill)
    kept = RunFolder(out).finished_runs()
    assert 3 <= len(kept) < 20
    stamps = {name: (out / "parts" / f"{name}.parquet").stat().st_mtime_ns for name in kept}
    simulate(experiment(), out)
    assert same(undisturbed, out)
    assert {name: (out / "parts" / f"{name}.parquet").stat().st_mtime_ns for name in kept} == stamps


def test_a_killed_caller_continues(cluster: Cluster, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    options = [
        "--network",
        "denver",
        "--model",
        "independent",
        "--index",
        "ts",
        "--index",
        "greedy",
        "--quiet",
    ]
    options += ["--world", "free-flow", "--horizon", "20", "--seeds", "10", "--out", str(out)]
    command = [
        sys.executable,
        "-m",
        "evroute",
        "simulate",
        *options,
        "--scheduler",
        cluster.address,
    ]
    with subprocess.Popen(command) as caller:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and not list((out / "parts").glob("[!.]*.parquet")):
            time.sleep(0.01)
        caller.send_signal(signal.SIGKILL)
    assert 0 < len(RunFolder(out).finished_runs()) < 20
    simulate(experiment(), out, scheduler=cluster.address)
    assert same(undisturbed, out)


@pytest.mark.parametrize("listens", [False, True], ids=["nobody", "one who is silent"])
def test_no_answer_is_one_line(
    listens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evroute.experiments.cluster.TIMEOUT_S", 0.5)
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        if listens:
            there.listen()
        address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        with pytest.raises(EvrouteError, match=f"no Dask scheduler answers at {address} within"):
            simulate(experiment(), tmp_path / "runs", scheduler=address)


def test_workers_of_another_version_are_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evroute.experiments.cluster.__version__", "9.9")
    with pytest.raises(EvrouteError, match=r"has evroute .* \(here 9\.9\)"):
        simulate(experiment(), tmp_path / "runs", scheduler=cluster.address)
