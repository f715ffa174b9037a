"""Estimated time and disk of an experiment, from a few rounds of each kind of its runs.

Time and disk of a run are taken as linear in its rounds. Models whose rounds slow down as they
learn more edges take longer.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from evroute.experiments.execution import attempt
from evroute.experiments.experiment import Experiment, manifest
from evroute.experiments.runs import Run, RunFolder
from evroute.methods.prior import Prior

FEW_ROUNDS, SOME_ROUNDS = 10, 40


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated size and cost of an experiment.

    Parameters
    ----------
    runs
        Runs of the grid.
    finished
        Runs already in the folder.
    rounds
        Rounds left to play.
    networks, trips, methods, worlds
        Sizes of the grid.
    kinds
        Combinations played for the estimate.
    jobs
        Processes.
    cpu_s
        Time of all runs left, s.
    wall_s
        Time with ``jobs`` processes, s.
    disk_bytes
        Disk space of the runs left, bytes.
    failures
        Errors of the kinds that failed, by run name; they count as nothing.
    """

    runs: int
    finished: int
    rounds: int
    networks: int
    trips: int
    methods: int
    worlds: int
    kinds: int
    jobs: int
    cpu_s: float
    wall_s: float
    disk_bytes: int
    failures: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    start: float
    slope: float

    def at(self, rounds: int) -> float:
        return self.start + self.slope * rounds


def estimate(experiment: Experiment, out: Path, *, jobs: int = 1) -> Estimate:
    """Estimate time and disk of an experiment by playing a few rounds of each combination.

    A combination is a network, method, world, search, prior and lengthscale. Nothing is written
    in ``out``; its finished runs are not counted.

    Parameters
    ----------
    experiment
        The grid of runs.
    out
        Run folder of the experiment.
    jobs
        Processes, at least 1.

    Raises
    ------
    ValueError
        If ``jobs`` is not positive.
    EvrouteError
        If a network, trip or vehicle is unknown, or an option of a method out of its range.
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; it must be at least 1")
    manifest(experiment)  # checks that networks, trips and vehicles exist
    folder, runs = RunFolder(out), list(experiment.runs())
    left = [run for run in runs if not folder.is_finished(run)]
    kinds: dict[tuple[object, ...], list[Run]] = {}
    for run in left:
        kind = run.network, run.method.name, run.world.label, run.search, run.prior
        kinds.setdefault(kind, []).append(run)
    seconds, disk, failures = [0.0], 0.0, {}
    preparing_s = 0.0
    prepared: set[tuple[str, Prior]] = set()
    for same in kinds.values():
        first = same[0]
        if (key := (first.network, first.prior)) not in prepared:
            prepared.add(key)  # every process prepares the network before its first run
            preparing_s += _played(first, 1)[0]
        time_line, disk_line, error = _calibrated(first)
        if error:
            failures[first.name] = error
            continue
        seconds += [time_line.at(run.horizon) for run in same]
        disk += sum(disk_line.at(run.horizon) for run in same)
    at_once = max(1, min(jobs, os.cpu_count() or 1, len(left)))
    return Estimate(
        runs=len(runs),
        finished=len(runs) - len(left),
        rounds=sum(run.horizon for run in left),
        networks=len(experiment.trips),
        trips=sum(map(len, experiment.trips.values())),
        methods=len(experiment.methods),
        worlds=len(experiment.world),
        kinds=len(kinds),
        jobs=jobs,
        cpu_s=sum(seconds),
        wall_s=preparing_s + max(sum(seconds) / at_once, *seconds, 0.0),
        disk_bytes=round(disk),
        failures=failures,
    )


def _calibrated(run: Run) -> tuple[_Line, _Line, str]:
    """Return seconds and bytes of a run as lines in its rounds, and its error or ""."""
    few, some = min(FEW_ROUNDS, run.horizon), min(SOME_ROUNDS, run.horizon)
    some_s, some_bytes, error = _played(run, some)
    if error or few == some:
        return _Line(some_s, 0.0), _Line(some_bytes, 0.0), error
    few_s, few_bytes, error = _played(run, few)
    lines = []
    for less, more in ((few_s, some_s), (few_bytes, some_bytes)):
        slope = max(more - less, 0.0) / (some - few)
        lines.append(_Line(more - slope * some, slope))
    return lines[0], lines[1], error


def _played(run: Run, rounds: int) -> tuple[float, float, str]:
    with _temporary_folder() as folder:
        started = perf_counter()
        short = replace(run, horizon=rounds)
        attempt(short, folder, lambda t: None)
        took_s = perf_counter() - started
        size = sum(path.stat().st_size for path in folder.path.rglob("*") if path.is_file())
        merged = sum(
            path.stat().st_size
            for kind in ("parts", "timings")
            for path in (folder.path / kind).glob("*")
        )
        return took_s, float(size + merged), folder.failures().get(short.name, "")


@contextmanager
def _temporary_folder() -> Iterator[RunFolder]:
    with tempfile.TemporaryDirectory(prefix="evroute-estimate-") as place:
        yield RunFolder(Path(place))
