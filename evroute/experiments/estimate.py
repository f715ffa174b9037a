"""What an experiment would take: runs, time and disk space, by playing a few rounds."""

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from evroute.errors import require
from evroute.experiments.execution import attempt
from evroute.experiments.experiment import Experiment, manifest
from evroute.experiments.runs import Run, RunFolder

ROUNDS = 40
"""Rounds of each kind of run that are played. Time and disk are taken as linear in them."""


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
    kinds
        Combinations of network, method, world, search and prior, each played for the estimate.
    cpu_s
        Time of all runs left, s.
    wall_s
        Time with ``jobs`` processes, s.
    disk_bytes
        Disk space of the runs left, bytes.
    failures
        Errors of the kinds that failed, by run name. They count as nothing.
    """

    runs: int
    finished: int
    rounds: int
    kinds: int
    cpu_s: float
    wall_s: float
    disk_bytes: int
    failures: dict[str, str]


def estimate(experiment: Experiment, out: Path, *, jobs: int = 1) -> Estimate:
    """Estimate time and disk of an experiment by playing a few rounds of each kind of run.

    Nothing is written in ``out``. Its finished runs are not counted.

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
    require(jobs >= 1, f"jobs is {jobs}. It must be at least 1", ValueError)
    manifest(experiment)  # checks that networks, trips and vehicles exist
    folder, runs = RunFolder(out), list(experiment.runs())
    left = [run for run in runs if not folder.is_finished(run)]
    kinds: dict[tuple[object, ...], list[Run]] = {}
    for run in left:
        kind = run.network, run.method.name, run.world.label, run.search, run.prior
        kinds.setdefault(kind, []).append(run)
    seconds, disk = [0.0], 0.0
    failures: dict[str, str] = {}
    for same in kinds.values():
        first = replace(same[0], horizon=min(ROUNDS, same[0].horizon))
        took_s, size, error = _played(first)
        if error:
            failures[first.name] = error
            continue
        longer = [run.horizon / first.horizon for run in same]
        seconds += [took_s * each for each in longer]
        disk += size * sum(longer)
    at_once = max(1, min(jobs, os.cpu_count() or 1, len(left)))
    return Estimate(
        runs=len(runs),
        finished=len(runs) - len(left),
        rounds=sum(run.horizon for run in left),
        kinds=len(kinds),
        cpu_s=sum(seconds),
        wall_s=max(sum(seconds) / at_once, *seconds),
        disk_bytes=round(disk),
        failures=failures,
    )


def _played(run: Run) -> tuple[float, float, str]:
    """Return seconds and bytes of a run, tables united with others included, and its error."""
    with tempfile.TemporaryDirectory(prefix="evroute-estimate-") as place:
        folder = RunFolder(Path(place))
        started = perf_counter()
        attempt(run, folder, lambda t: None)
        took_s = perf_counter() - started
        sizes = {path: path.stat().st_size for path in folder.path.rglob("*") if path.is_file()}
        united = [size for path, size in sizes.items() if path.parent.name in ("parts", "timings")]
        return took_s, float(sum(sizes.values()) + sum(united)), folder.failures().get(run.name, "")
