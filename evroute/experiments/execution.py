"""Carrying out runs: each alone with one BLAS thread, in this process or in several, with the same result.

Worker processes are started afresh ("spawn"), so that no lock or thread of the caller is inherited.
They stop at the next round once the caller is interrupted, and at once if it is killed; unfinished
runs leave no files that count.
"""

import os
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from inspect import signature
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from signal import SIG_IGN, SIGINT, signal
from threading import Thread

from threadpoolctl import threadpool_limits

from evroute.errors import EvrouteError
from evroute.experiments.play import play
from evroute.experiments.runs import Run, RunFolder
from evroute.methods.parts import MODELS, named
from evroute.methods.setting import load_setting

POLL_S = 0.1
AHEAD = 4
"""Runs given out for each process."""


def execute(
    runs: Sequence[Run], folder: RunFolder, *, jobs: int, on_progress: Callable[[int], None]
) -> None:
    """Carry out runs in up to ``jobs`` processes; ``on_progress`` hears the number of rounds done so far.

    A run that fails is recorded in the folder, and the others go on.

    Raises
    ------
    EvrouteError
        If a process died; the runs finished so far are kept.
    OSError
        If the folder cannot be written, as on a full disk; likewise.
    """
    if min(jobs, len(runs)) <= 1:
        done = _Counter(on_progress)
        for run in runs:
            attempt(run, folder, done.add)
        return
    with threadpool_limits(1):
        for run in runs:
            _make_shared(run)
    context = get_context("spawn")
    rounds, stop = context.Value("q", 0), context.Event()
    with ProcessPoolExecutor(min(jobs, len(runs)), context, _start_worker, (rounds, stop)) as pool:
        waiting = iter(runs)
        pending: set[Future[None]] = set()
        try:
            while True:
                # no more at once than processes need: waiting looks at every run that was given out
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
    """Play a run, or record why it failed; what concerns all runs, such as a full disk, is raised."""
    try:
        play(run, folder, on_round)
    except (_StoppedError, OSError, MemoryError):
        raise
    except EvrouteError as error:
        folder.write_failure(run.name, str(error))
    except Exception:  # whatever is wrong with one run is no reason to lose the others
        folder.write_failure(run.name, traceback.format_exc())


def _make_shared(run: Run) -> None:
    """Make once what every process then maps: of networks too large for it no factor of the prior is asked for."""
    setting = load_setting(run.network, run.vehicle, run.prior, run.lengthscale)
    asked = signature(named(MODELS, "model", run.method.model)).parameters
    if "sparse_kernel" in asked:
        _ = setting.sparse_kernel
    if "prior_factor" in asked or run.world.kind == "sampled-gp":
        _ = setting.prior_factor


class _Counter:
    def __init__(self, on_progress: Callable[[int], None]) -> None:
        self.on_progress = on_progress
        self.rounds = 0

    def add(self, t: int) -> None:
        self.rounds += 1
        self.on_progress(self.rounds)


class _StoppedError(Exception):
    """The caller wants no more rounds."""


_shared: "tuple[Synchronized[int], Event]"


def _start_worker(rounds: "Synchronized[int]", stop: Event) -> None:
    global _shared
    _shared = rounds, stop
    signal(SIGINT, SIG_IGN)  # an interrupt reaches the caller, who tells through `stop`
    Thread(target=_leave_with_caller, daemon=True).start()


def _leave_with_caller() -> None:
    """End this worker when the caller was killed: it would go on with runs that nobody waits for."""
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
