"""The figures of docs/figures/far.md: what a task moves and costs, and engines in turns.

    python studies/cluster_figures.py bytes           # what a task sends and brings back
    python studies/cluster_figures.py engines RUNS TURNS  # two Dask workers and --jobs 2, in turns
    python studies/cluster_figures.py short RUNS TURNS    # --jobs 2 and 1 on short runs, in turns
    python studies/cluster_figures.py commands RUNS TURNS  # the same, as commands with their start

Wall seconds mean little on a busy machine: CPU seconds of all processes stand beside them.
"""

import csv
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from evroute.door.opened import DoorNames
from evroute.experiments.blocks.tasks import BlockTask, DoorInputs, answer_block
from evroute.experiments.blocks.work import Block, PairBlock, table_blocks
from evroute.experiments.cluster import cluster
from evroute.experiments.experiment import Experiment, grid, simulate
from evroute.experiments.tasks import Inputs, Outcome, Task, machine, play_task
from evroute.network.catalog import load_network
from evroute.planning.answers import columns_of
from evroute.planning.matrix_dataset import blocks
from evroute.planning.requests import read_requests

PLACES = 1000
REPEATS = 20


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall and CPU seconds of a call, those of ended processes included."""

    wall_s: float
    cpu_s: float


def spent(call: Callable[[], object]) -> Spent:
    """Return the time of a call."""
    before, started = os.times(), perf_counter()
    call()
    after = os.times()
    cpu_s = sum(after[:4]) - sum(before[:4])
    return Spent(perf_counter() - started, cpu_s)


def runs(count: int, horizon: int, method: str) -> Experiment:
    """Return an experiment on Denver with one run a seed."""
    return grid(
        networks=["denver"],
        trips=["A"],
        methods=[method],
        models=[],
        indices=[],
        options={},
        horizon=horizon,
        seeds=count,
        world=["congestion"],
    )


def moved() -> None:
    """Print the bytes of tasks and of their answers, and the caller's time for a task."""
    long = next(runs(1, 100, "recommended").runs())
    inputs, here = Inputs(near=False), machine()
    show("a run of 100 trips", Task(long, inputs.of(long), here), play_task, inputs.paths)
    started = perf_counter()
    for _ in range(REPEATS):
        pickle.dumps(Task(long, inputs.of(long), here))
    print(f"making and packing a task: {1000 * (perf_counter() - started) / REPEATS:.2f} ms")
    with TemporaryDirectory() as place:
        folder, door = Path(place), DoorNames("denver")
        network, rng = load_network("denver"), np.random.default_rng(0)
        inside = sorted(set(network.strongest_component().edge_id))
        paths = [str(folder / name) for name in ("origins.csv", "destinations.csv")]
        for path in paths:
            with Path(path).open("w", newline="", encoding="utf-8") as handle:
                rows = enumerate(rng.choice(inside, PLACES).tolist())
                csv.writer(handle).writerows([["id", "place"], *rows])
        pairs = PairBlock(paths[0], paths[1], next(blocks(PLACES, PLACES)), "energy")
        ends = (rng.choice(inside, 2, replace=False).tolist() for _ in range(1000))
        batch = folder / "batch.csv"
        with batch.open("w", newline="", encoding="utf-8") as handle:
            rows = ([k, *each] for k, each in enumerate(ends))
            csv.writer(handle).writerows([["id", "from", "to"], *rows])
        found: dict[str, Block] = {
            f"{len(pairs.block) * PLACES} pairs": pairs,
            "50 plans": first_block(batch, None),
            "1,000 least energies": first_block(batch, "energy"),
        }
        known = DoorInputs(door, near=False)
        for name, block in found.items():
            task = BlockTask(door, block, known.of(block), here)
            show(name, task, answer_block, known.paths)


def first_block(batch: Path, only: str | None) -> Block:
    """Return the first block of a table."""
    with read_requests(batch, *columns_of(only)) as table:
        return next(table_blocks(table, {}, only))


def show(
    name: str,
    task: Task | BlockTask,
    answer: Callable[..., Outcome],
    paths: Mapping[str, Path],
) -> None:
    """Print the bytes that a task sends and brings back, and its CPU time."""
    first = answer(task)
    if first.missing:
        first = answer(task.with_bytes(first.missing, paths))
    time = spent(lambda: answer(task))
    back = sum(map(len, first.files.values()))
    print(f"{name}: {len(pickle.dumps(task)):,} B sent, {back:,} B back, {time.cpu_s:.2f} s of CPU")


def in_turns(ways: Mapping[str, Callable[[Path], object]], turns: int) -> dict[str, list[Spent]]:
    """Return the times of each way, played in turns."""
    found: dict[str, list[Spent]] = {name: [] for name in ways}
    for turn in range(turns):
        for name, way in ways.items():
            with TemporaryDirectory() as place:
                time = spent(lambda way=way, place=place: way(Path(place, "runs")))
            found[name].append(time)
            load = os.getloadavg()[0]
            print(f"{turn} {name}: {time.wall_s:.1f} s, {time.cpu_s:.1f} s of CPU, load {load:.1f}")
    return found


def ratio(
    found: dict[str, list[Spent]],
    one: str,
    other: str,
    kinds: tuple[str, ...] = ("wall_s", "cpu_s"),
) -> None:
    """Print the median ratio of two ways over the turns."""
    for kind in kinds:
        pairs = zip(found[one], found[other], strict=True)
        ratios = [getattr(a, kind) / getattr(b, kind) for a, b in pairs]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{one} / {other}, {kind}: {median(ratios):.2f} ({spread})")


def engines(count: int, turns: int) -> None:
    """Compare two Dask workers with two processes on runs of seconds."""
    wanted = runs(count, 400, "recommended")
    with cluster("local:2") as engine:
        ways = {
            "dask": lambda out: simulate(wanted, out, executor=engine),
            "jobs 2": lambda out: simulate(wanted, out, jobs=2),
        }
        # its workers go on: their CPU time is not known here
        ratio(in_turns(ways, turns), "dask", "jobs 2", ("wall_s",))


def short(count: int, turns: int) -> None:
    """Compare two processes with one on short runs."""
    wanted = runs(count, 20, "bi-ts")
    ways = {
        "jobs 1": lambda out: simulate(wanted, out),
        "jobs 2": lambda out: simulate(wanted, out, jobs=2),
    }
    ratio(in_turns(ways, turns), "jobs 1", "jobs 2")


def commands(count: int, turns: int) -> None:
    """Compare two processes with one on short runs, as commands with the program's start."""
    asked = "simulate --network denver --method bi-ts --world congestion --horizon 20 --quiet"

    def way(jobs: int) -> Callable[[Path], object]:
        given = [*asked.split(), "--seeds", str(count), "--jobs", str(jobs), "--out"]
        start = [sys.executable, "-m", "evroute", *given]
        return lambda out: run([*start, str(out)], check=True, stdout=DEVNULL)

    ratio(in_turns({"jobs 1": way(1), "jobs 2": way(2)}, turns), "jobs 1", "jobs 2")


if __name__ == "__main__":
    if sys.argv[1] == "bytes":
        moved()
    else:
        {"engines": engines, "short": short, "commands": commands}[sys.argv[1]](
            *map(int, sys.argv[2:4])
        )
