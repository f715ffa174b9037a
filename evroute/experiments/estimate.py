"""Estimated time and disk of an experiment, from a few rounds of each kind of its runs.

Time and disk of a run are taken as linear in its rounds, except the time of exact models whose
contexts vary (`exact_time`). Other models whose rounds slow down as they learn take longer.
"""

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.experiments.exact_time import exact_time_s
from evroute.experiments.execution import attempt
from evroute.experiments.experiment import Experiment, manifest
from evroute.experiments.runs import Run, RunFolder

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
    kinds
        Combinations played for the estimate.
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
    """Estimate time and disk of an experiment by playing a few rounds of each combination.

    A combination is a network, method, world, search, prior and lengthscale. Nothing is written
    in ``out``. Its finished runs are not counted.

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
    # every process prepares the network before its first run
    prepared = {(run.network, run.prior): run for run in reversed(left)}
    preparing_s = sum(_played(run, 1)[0] for run in prepared.values())
    for same in kinds.values():
        first = same[0]
        start, slope, error = _calibrated(first)
        if error:
            failures[first.name] = error
            continue
        exact_s = exact_time_s(first)
        for run in same:
            run_s, run_bytes = start + slope * run.horizon
            seconds.append(max(float(run_s), exact_s))
            disk += float(run_bytes)
    at_once = max(1, min(jobs, os.cpu_count() or 1, len(left)))
    return Estimate(
        runs=len(runs),
        finished=len(runs) - len(left),
        rounds=sum(run.horizon for run in left),
        kinds=len(kinds),
        cpu_s=sum(seconds),
        wall_s=preparing_s + max(sum(seconds) / at_once, *seconds, 0.0),
        disk_bytes=round(disk),
        failures=failures,
    )


def _calibrated(run: Run) -> tuple[FloatArray, FloatArray, str]:
    """Return start and slope, (2,) each, of seconds and bytes by round of a run, and its error.

    The error is empty if the run succeeds.
    """
    few, some = min(FEW_ROUNDS, run.horizon), min(SOME_ROUNDS, run.horizon)
    *used, error = _played(run, some)
    most = np.array(used)
    if error or few == some:
        return most, np.zeros(2), error
    *used, error = _played(run, few)
    slope = np.maximum(most - used, 0.0) / (some - few)
    return most - slope * some, slope, error


def _played(run: Run, rounds: int) -> tuple[float, float, str]:
    with tempfile.TemporaryDirectory(prefix="evroute-estimate-") as place:
        folder = RunFolder(Path(place))
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
