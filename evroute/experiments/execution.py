"""Execution of runs, each with one BLAS thread, in one process or several, with the same result.

Worker processes start afresh ("spawn"), so that they inherit no lock or thread of the caller.
They stop at the next round after an interrupt of the caller, and at once if it is killed.
Unfinished runs leave no files that count.
"""

import os
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import count, islice
from multiprocessing import get_context, parent_process
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from signal import SIG_IGN, SIGINT, signal
from threading import Thread

from threadpoolctl import threadpool_limits

from evroute import plugins
from evroute.errors import EvrouteError
from evroute.experiments.play import play
from evroute.experiments.runs import Run, RunFolder
from evroute.methods.parts import model_options
from evroute.methods.setting import load_setting

POLL_S = 0.1
AHEAD = 4
"""Runs submitted per process."""


def execute(
    runs: Sequence[Run], folder: RunFolder, *, jobs: int, on_progress: Callable[[int], None]
) -> None:
    """Execute runs in up to ``jobs`` processes.

    A run that fails is recorded in the folder, and the others go on.

    Parameters
    ----------
    runs
        Runs to play.
    folder
        Run folder that receives the files.
    jobs
        Largest number of processes.
    on_progress
        Called with the number of rounds done so far.

    Raises
    ------
    EvrouteError
        If a process died; the runs finished so far are kept.
    OSError
        If the folder cannot be written, as on a full disk; the runs finished so far are kept.
    """
    if min(jobs, len(runs)) <= 1:
        rounds_done = count(1)
        for run in runs:
            attempt(run, folder, lambda t: on_progress(next(rounds_done)))
        return
    with threadpool_limits(1):
        for run in runs:
            _make_shared(run)
    context = get_context("spawn")
    rounds, stop = context.Value("q", 0), context.Event()
    given_to_all = rounds, stop, plugins.used()
    with ProcessPoolExecutor(min(jobs, len(runs)), context, _start_worker, given_to_all) as pool:
        waiting = iter(runs)
        pending: set[Future[None]] = set()
        try:
            while True:
                # few at once: waiting looks at every submitted run
                given = islice(waiting, AHEAD * jobs - len(pending))
                pending |= {pool.submit(_play_in_worker, run, folder) for run in given}
                if not pending:
                    break
                finished, pending = wait(pending, POLL_S, FIRST_COMPLETED)
                on_progress(rounds.value)
                for future in finished:
                    future.result()
        except BrokenProcessPool:
            raise EvrouteError(
                "a worker process died (out of memory?); the runs finished so far are kept: run "
                "again to continue"
            ) from None
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def attempt(run: Run, folder: RunFolder, on_round: Callable[[int], None]) -> None:
    """Play a run or record its failure; errors that concern all runs, as a full disk, are raised.

    Parameters
    ----------
    run
        Run to play.
    folder
        Run folder that receives its files.
    on_round
        Called with the number of each finished round.
    """
    try:
        play(run, folder, on_round)
    except (_StoppedError, OSError, MemoryError):
        raise
    except EvrouteError as error:
        folder.write_failure(run.name, str(error))
    except Exception:  # an error in one run must not lose the others
        folder.write_failure(run.name, traceback.format_exc())


def _make_shared(run: Run) -> None:
    """Build the cached arrays of model and world once, so that workers memory-map them."""
    setting = load_setting(run.network, run.vehicle, run.prior)
    model_options(run.method.model).cache(setting)
    if run.world.kind == "sampled-gp":
        _ = setting.prior_factor


class _StoppedError(Exception):
    """The caller stopped the run."""


_shared: "tuple[Synchronized[int], Event]"


def _start_worker(rounds: "Synchronized[int]", stop: Event, named: Sequence[str]) -> None:
    global _shared
    _shared = rounds, stop
    for name in named:
        plugins.use(name)
    signal(SIGINT, SIG_IGN)  # an interrupt reaches the caller, which sets `stop`
    Thread(target=_leave_with_caller, daemon=True).start()


def _leave_with_caller() -> None:
    """End this worker when the caller was killed."""
    caller = parent_process()
    if caller is not None:
        caller.join()
        os._exit(1)


def _play_in_worker(run: Run, folder: RunFolder) -> None:
    rounds, stop = _shared

    def on_round(t: int) -> None:
        if stop.is_set():
            raise _StoppedError
        with rounds.get_lock():
            rounds.value += 1

    attempt(run, folder, on_round)
