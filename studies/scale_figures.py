"""``python studies/scale_figures.py``: gain of two processes, cost of a task.

Prints the tables of docs/figures/scale.md: what a round is made of on Monaco; 20 runs of 100 trips
on Monaco in one process and in two; then ``--tasks`` runs of two trips on Denver, so short that
little but overhead is left. CPU seconds are those of every process that took part. Needs
EVROUTE_DATA_DIR and, for all but the first table, a machine at rest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

SPEED_UP = [
    "--network",
    "monaco",
    "--model",
    "exact",
    "--index",
    "ts",
    "--horizon",
    "100",
    "--seeds",
    "20",
]
SHORT = [
    "--network",
    "denver",
    "--model",
    "independent",
    "--index",
    "random",
    "--index",
    "greedy",
    "--index",
    "ts",
]
SHORT += [
    "--index",
    "bayes-ucb",
    "--world",
    "free-flow",
    "--trip",
    "A",
    "--trip",
    "B",
    "--horizon",
    "2",
]
QUIET = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


PARTS = ("world", "posterior", "index", "search", "forecast", "update", "judge", "log", "rest")
ROUNDS = 200


class Shares:
    """CPU seconds spent in calls by label, each without those of the calls within it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, label: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that adds its CPU time to a label, without timed calls inside it."""

        def run(*args: Any, **named: Any) -> Any:
            self._inner.append(0.0)
            started = time.process_time()
            try:
                return call(*args, **named)
            finally:
                took_s = time.process_time() - started
                self.seconds[label] += took_s - self._inner.pop()
                self._inner[-1] += took_s

        return run

    def attach(self, owner: object, method: str, label: str) -> None:
        """Replace a method by its timed form."""
        setattr(owner, method, self.timed(label, getattr(owner, method)))


def parts_of_a_round(method: str, place: Path) -> dict[str, float]:
    """Play a run on Monaco, trip A; return CPU milliseconds of a round by part (``log``: files)."""
    from evroute.experiments import play
    from evroute.experiments.experiment import grid
    from evroute.experiments.runs import RunFolder
    from evroute.learning.base import Belief

    wanted = grid(
        networks=["monaco"], trips=["A"], methods=[method], options={}, horizon=ROUNDS, seeds=2
    )
    first, second = wanted.runs()
    play.play(first, RunFolder(place), lambda t: None)  # what is made once is made
    shares, loop, save, write = Shares(), play.run_loop, Belief.save, RunFolder.write

    def watched(agent: Any, world: Any, judge: Any, **named: Any) -> Any:
        calls = [(world, "observe", "world"), (world, "drive", "world"), (judge, "score", "judge")]
        calls += [
            (agent, "ask", "index"),
            (agent, "predict", "forecast"),
            (agent, "tell", "update"),
        ]
        calls += [(agent.model, "posterior", "posterior"), (agent.space, "route", "search")]
        for owner, name, label in calls:
            shares.attach(owner, name, label)
        return shares.timed("rest", loop)(agent, world, judge, **named)

    try:
        play.run_loop = watched
        Belief.save = shares.timed("log", save)  # type: ignore[method-assign]
        RunFolder.write = shares.timed("log", write)  # type: ignore[method-assign]
        play.play(second, RunFolder(place), lambda t: None)
    finally:
        play.run_loop, Belief.save, RunFolder.write = loop, save, write  # type: ignore[method-assign]
    return {part: 1000 * shares.seconds[part] / ROUNDS for part in PARTS}


def simulated(arguments: list[str], out: Path, *options: str) -> tuple[float, float]:
    """Run ``evroute simulate``; return wall and CPU seconds, those of child processes included."""
    before, started = os.times(), time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "evroute",
        "simulate",
        *arguments,
        "--quiet",
        "--out",
        str(out),
        *options,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=QUIET)
    wall_s, after = time.perf_counter() - started, os.times()
    cpu_s = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return wall_s, cpu_s


def same(one: Path, other: Path) -> str:
    """Return whether two run folders have equal rounds, as words."""
    equal = (one / "rounds.parquet").read_bytes() == (other / "rounds.parquet").read_bytes()
    return "the same rounds.parquet" if equal else "ANOTHER rounds.parquet"


def main() -> None:
    """Print the gain of two processes and the cost of a task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000, help="a multiple of 8")
    tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory() as room:
        place = Path(room)
        print(
            "| method | "
            + " | ".join(PARTS)
            + " | ms per round |\n"
            + "| --- " * (len(PARTS) + 2)
            + "|"
        )
        for method in ("gp-ts", "recommended"):
            told = parts_of_a_round(method, place / method)
            all_ms = sum(told.values())
            shares = " | ".join(f"{ms / all_ms:.0%}" for ms in told.values())
            print(f"| {method} | {shares} | {all_ms:.1f} |", flush=True)
        print()
        simulated([*SPEED_UP[:-1], "1"], place / "warm")  # what is made once is made
        print(f"load before: {os.getloadavg()[0]:.1f}\n")
        print("| processes | s | CPU s |\n| --- | --- | --- |")
        walls = []
        for jobs in (1, 2):
            wall_s, used_s = simulated(SPEED_UP, place / f"jobs{jobs}", "--jobs", str(jobs))
            walls.append(wall_s)
            print(f"| {jobs} | {wall_s:.1f} | {used_s:.1f} |", flush=True)
        print(f"\nspeed-up {walls[0] / walls[1]:.2f}; {same(place / 'jobs1', place / 'jobs2')}")
        print(f"load after: {os.getloadavg()[0]:.1f}\n")

        short = [*SHORT, "--seeds", str(tasks // 8)]
        few = [*SHORT, "--seeds", "1"]
        ms = 1000 / (tasks - 8)  # 8 runs are taken off: start and imports are no overhead of tasks
        print("| ms per task | wall | CPU |\n| --- | --- | --- |")
        for jobs in (1, 2):
            start, took = (
                simulated(each, place / f"{name}{jobs}", "--jobs", str(jobs))
                for name, each in (("few", few), ("short", short))
            )
            wall_ms, cpu_ms = ((b - a) * ms for a, b in zip(start, took, strict=True))
            print(
                f"| {jobs} process{'es' * (jobs > 1)} | {wall_ms:.1f} | {cpu_ms:.1f} |",
                flush=True,
            )
        print(f"\n{tasks} tasks; load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
