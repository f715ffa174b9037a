"""Processes of this machine that work for one caller and end with it.

On Linux they are forked from a caller without other threads: they have its modules, networks and
compiled functions, and begin within milliseconds. Elsewhere they start afresh ("spawn"), so that
they inherit no lock of a thread. They stop at the next round or row after an interrupt of the
caller, and at once if it is killed. What they share with it has no lock, which a killed process
would keep. Their temporary files, and files of runs until the caller takes them, lie in a folder
that the caller deletes.
"""

import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic
from typing import Any

from evroute.errors import require

GRACE_S = 1.0
"""Time in which a worker ends its round or row after an interrupt."""
WATCH_S = 0.2
"""Time between two looks of a worker at its caller."""
WORK = ".evroute-work-"
"""Prefix of the name of the folder with the files of the workers."""
_NO_FORK = "torch"
"""A package whose threads do not outlive a fork."""


def forks() -> bool:
    """Return whether processes are forked: on Linux, from a caller without other threads."""
    alone = threading.active_count() == 1 and _NO_FORK not in sys.modules
    return sys.platform == "linux" and alone


@dataclass(frozen=True, slots=True)
class Shared:
    """Numbers that a caller and its workers share.

    rounds: rounds or rows of each worker.  started: 1 once a worker began.  stop: 1 once the work
    is to end.  place: folder of their files.
    """

    rounds: Any
    started: Any
    stop: Any
    place: str


@dataclass(frozen=True, slots=True)
class Pool:
    """An executor of processes, and the numbers that they share with the caller."""

    executor: ProcessPoolExecutor
    shared: Shared

    @property
    def rounds(self) -> int:
        """Number of rounds or rows that the processes did."""
        return sum(self.shared.rounds)

    def check_started(self) -> None:
        """Check that a process began to work.

        Raises
        ------
        EvrouteError
            If none did.
        """
        require(
            self.shared.started.value,
            "no process of --jobs can start (out of memory?). A script has to call evroute "
            "under: if __name__ == '__main__':",
        )


@contextmanager
def processes(jobs: int, beside: Path | None = None) -> Iterator[Pool]:
    """Yield a pool of processes. Stop them at the end.

    Parameters
    ----------
    jobs
        Number of processes.
    beside
        Folder in which the folder of their files lies, so that files can be moved from one to the
        other. No other caller may use it. None for the usual place of temporary files.
    """
    for left in beside.glob(f"{WORK}*") if beside else ():  # of a caller that was killed
        shutil.rmtree(left, ignore_errors=True)
    context = get_context("fork" if forks() else "spawn")
    with tempfile.TemporaryDirectory(prefix=WORK, dir=beside, ignore_cleanup_errors=True) as place:
        rounds, started = context.RawArray("q", jobs), context.RawValue("b", 0)
        shared = Shared(rounds, started, context.RawValue("b", 0), place)
        executor = ProcessPoolExecutor(jobs, context, start_worker, (shared,))
        try:
            with interrupts_later(), warnings.catch_warnings(), suppress(BrokenExecutor):
                # Python warns of threads, and those of BLAS and Arrow outlive a fork
                warnings.simplefilter("ignore", DeprecationWarning)
                for _ in range(jobs):
                    executor.submit(os.getpid)
            yield Pool(executor, shared)
        finally:
            shared.stop.value = 1
            executor.shutdown(cancel_futures=True)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Put off interrupts. Processes and threads that start meanwhile never see one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: Shared


def start_worker(shared: Shared) -> None:
    """Begin a worker: it shares counts with the caller, and ends with it."""
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it reaches the caller, which sets `stop`
    tempfile.tempdir = shared.place
    shared.started.value = 1
    threading.Thread(target=_leave_with_caller, daemon=True).start()


def _leave_with_caller() -> None:
    """End this worker when the caller was killed, or some time after it wants to stop."""
    caller = parent_process()
    if caller is None:
        return
    until_s = float("inf")
    while monotonic() < until_s:
        if wait([caller.sentinel], WATCH_S):
            break
        if _shared.stop.value:
            until_s = min(until_s, monotonic() + GRACE_S)
    os._exit(1)


def place() -> Path:
    """Return the folder of the files of the workers, in a worker."""
    return Path(_shared.place)


def step() -> None:
    """Count a round or row of a worker, unless it is to stop.

    Raises
    ------
    StoppedError
        If the caller was interrupted.
    """
    if _shared.stop.value:
        raise StoppedError
    rounds = _shared.rounds
    rounds[int(current_process().name.rpartition("-")[2]) % len(rounds)] += 1


class StoppedError(Exception):
    """The caller stopped the work."""
