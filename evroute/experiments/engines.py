"""Engines, which play the runs of an experiment: processes of this machine, or any executor.

An engine is Python's ``concurrent.futures.Executor``. Processes of this machine are built anew when
one dies. The runs that were in flight are then repeated one at a time, since one of them may be the
cause. An executor that was handed in is used as it is, and never shut down.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from evroute import plugins
from evroute.errors import EvrouteError
from evroute.experiments.execution import execute_alone, make_shared
from evroute.experiments.processes import Pool, count_round, forks, place, processes
from evroute.experiments.runs import Run, RunFolder
from evroute.experiments.tasks import (
    Inputs,
    Outcome,
    Task,
    machine,
    play_task,
    write_files,
)
from evroute.files import TEMPORARY, sweep

POLL_S = 0.1
AHEAD = 4
"""Runs submitted per process."""
REPEATS = 2
"""Number of times that a run is repeated alone after a process died."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor that was handed in.

    Parameters
    ----------
    executor
        Any executor. It stays open.
    ahead
        Largest number of runs submitted at a time.
    mixed
        Accept workers whose versions and BLAS are not the caller's.
    check
        Called while runs are awaited. Raises an error if the executor is lost.
    """

    executor: Executor
    ahead: int = 16
    mixed: bool = False
    check: Callable[[], None] = lambda: None


def execute(
    runs: Sequence[Run],
    folder: RunFolder,
    engine: Engine | int,
    on_progress: Callable[[int], None],
) -> None:
    """Play runs by an executor, or in some processes of this machine.

    A run that fails is recorded in the folder, and the others go on.

    Parameters
    ----------
    runs
        Runs to play.
    folder
        Run folder that receives the files.
    engine
        The executor, or a number of processes.
    on_progress
        Called with the number of rounds done so far.

    Raises
    ------
    EvrouteError, OSError
        As `execute_by`.
    """
    if isinstance(engine, Engine):
        execute_by(engine, runs, folder, on_progress)
    elif min(engine, len(runs)) > 1:
        make_shared(runs)
        execute_here(runs, folder, jobs=engine, on_progress=on_progress)
    else:
        execute_alone(runs, folder, on_progress)


def execute_by(
    engine: Engine, runs: Sequence[Run], folder: RunFolder, on_progress: Callable[[int], None]
) -> None:
    """Play runs by an executor.

    Parameters
    ----------
    engine
        The executor.
    runs, folder, on_progress
        As in `execute`. The caller alone writes the folder.

    Raises
    ------
    EvrouteError
        If a worker's versions or BLAS differ, or the executor is lost. Finished runs are kept.
    OSError
        If the folder cannot be written.
    """
    done = 0

    def finished(run: Run) -> None:
        nonlocal done
        done += run.horizon
        on_progress(done)

    here = {} if engine.mixed else machine()
    flow = _Flow(engine.executor, folder, Inputs(near=False), play_task, here)
    try:
        with as_one_line("The runs finished so far are kept: the same command continues"):
            for run in flow.play(iter(runs), engine.ahead, engine.check):
                finished(run)
    finally:
        flow.cancel()


@contextmanager
def as_one_line(kept: str) -> Iterator[None]:
    """Raise errors of an executor as one line.

    Parameters
    ----------
    kept
        End of the line on a lost executor.

    Raises
    ------
    EvrouteError
        If a worker cannot import what it needs, or the executor is lost.
    """
    try:
        yield
    except (EvrouteError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise EvrouteError(
            f"a worker cannot import what runs need ({error}). Install the same evroute, and parts "
            "of your own, on the workers"
        ) from error
    except Exception as error:  # of the executor: runs answer their own errors
        lines = str(error).splitlines() or [""]
        raise EvrouteError(
            f"the executor is lost ({type(error).__name__}: {lines[0][:160]}). {kept}"
        ) from error


def check_same(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Refuse a worker whose versions or BLAS differ from the caller's.

    Parameters
    ----------
    here, there
        `machine` of the caller and of the worker. The worker's is empty if it is equal.

    Raises
    ------
    EvrouteError
        If it differs. The message names what differs.
    """
    if there:
        other = [
            f"{name} {there.get(name)} there, {each} here"
            for name, each in here.items()
            if each and there.get(name) != each
        ]
        raise EvrouteError(
            f"a worker would give other last digits ({'; '.join(other)}). Install the same "
            "versions there, or accept it with --mixed"
        )


def execute_here(
    runs: Sequence[Run], folder: RunFolder, *, jobs: int, on_progress: Callable[[int], None]
) -> None:
    """Play runs in processes of this machine.

    Parameters
    ----------
    runs, folder, on_progress
        As in `execute`.
    jobs
        Largest number of processes.

    Raises
    ------
    OSError
        If the folder cannot be written. Finished runs are kept.
    """
    waiting, inputs = iter(runs), Inputs(near=True)
    sweep(folder.path.glob(f"*/{TEMPORARY}"))
    if forks():
        _load_for(runs[0], inputs)
    done = 0
    lost: list[Run] = []
    while True:
        with processes(min(jobs, len(runs)), folder.path) as pool:
            flow = _Flow(pool.executor, folder, inputs, _play_in_worker, {})
            check = partial(_report, on_progress, done, pool)
            try:
                for run in flow.play(waiting, AHEAD * jobs, check):
                    done += run.horizon
                return
            except BrokenExecutor:
                lost = flow.in_flight
        for run in _alone(lost, folder, inputs):
            done += run.horizon
            on_progress(done)


def _load_for(run: Run, inputs: Inputs) -> None:
    """Load what a run needs, by its first round. Forked processes have it then."""
    play_task(Task(replace(run, horizon=1), inputs.of(run)))


def _report(on_progress: Callable[[int], None], before: int, pool: Pool) -> None:
    """Report the rounds done before a pool was built, and those that it played."""
    on_progress(before + pool.rounds)


def _alone(lost: Sequence[Run], folder: RunFolder, inputs: Inputs) -> Iterator[Run]:
    """Play runs one at a time that were in flight when a process died. Yield each in the end.

    A run whose process dies again and again is recorded as failed.
    """
    left, died = {run.name: run for run in lost}, Counter[str]()
    while left:
        with processes(1, folder.path) as pool:
            flow = _Flow(pool.executor, folder, inputs, _play_in_worker, {})
            try:
                for run in flow.play(iter(list(left.values())), 1):
                    yield left.pop(run.name)
            except BrokenExecutor:
                pool.check_started()
                run = flow.in_flight[0]
                died[run.name] += 1
                if died[run.name] == REPEATS:
                    words = f"its process died {REPEATS + 1} times, the last {REPEATS} alone"
                    folder.write_failure(run.name, f"{words} (out of memory?)")
                    yield left.pop(run.name)


class _Flow:
    """Submits tasks, sends files that a worker lacks, and writes the files of runs."""

    def __init__(
        self,
        executor: Executor,
        folder: RunFolder,
        inputs: Inputs,
        function: Callable[[Task], Outcome],
        here: dict[str, str],
    ) -> None:
        self._executor = executor
        self._folder = folder
        self._inputs = inputs
        self._function = function
        self._here = here
        self._pending: dict[Future[Outcome], Task] = {}
        self._refused: list[Task] = []

    @property
    def in_flight(self) -> list[Run]:
        """Runs that were submitted and are not written."""
        return [task.run for task in (*self._pending.values(), *self._refused)]

    def play(
        self, waiting: Iterator[Run], ahead: int, check: Callable[[], None] = lambda: None
    ) -> Iterator[Run]:
        """Yield the runs whose files are written.

        Parameters
        ----------
        waiting
            Runs to play. Those not submitted stay in it.
        ahead
            Largest number of runs submitted at a time.
        check
            Called at least every `POLL_S`.
        """
        while True:
            # few at once: waiting looks at every submitted run
            self._submit(islice(waiting, ahead - len(self._pending)))
            if not self._pending:
                return
            finished, _ = wait(self._pending, POLL_S, FIRST_COMPLETED)
            check()
            for future in finished:
                outcome = future.result()
                task = self._pending.pop(future)
                if self._taken(task, outcome):
                    yield task.run

    def cancel(self) -> None:
        """Cancel the runs that have not begun."""
        for future in self._pending:
            future.cancel()

    def _submit(self, runs: Iterable[Run]) -> None:
        for run in runs:
            inputs = self._inputs.of(run)
            self._send(Task(run, inputs, self._here, plugins=tuple(plugins.used())))

    def _send(self, task: Task) -> None:
        try:
            self._pending[self._executor.submit(self._function, task)] = task
        except BrokenExecutor:
            self._refused.append(task)  # it was taken from the waiting ones
            raise

    def _taken(self, task: Task, outcome: Outcome) -> bool:
        """Write the files of a run, or send it again with files. Return whether it is written."""
        check_same(self._here, outcome.refused)
        if outcome.missing:
            self._send(task.with_bytes(outcome.missing, self._inputs.paths))
            return False
        write_files(self._folder.path, outcome)
        return True


def _play_in_worker(task: Task) -> Outcome:
    return play_task(task, count_round, place())
