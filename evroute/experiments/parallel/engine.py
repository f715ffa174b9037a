"""The engine: work by processes of this machine or by any executor.

Few tasks are in flight, so that the memory in use does not depend on their number. Answers come in
the order of the tasks or as they end. Processes of this machine are built anew when one dies. What
was in flight is then repeated one task at a time, since one of them may be the cause. An executor
that was handed in is used as it is, and never shut down.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Generic, TypeVar

from evroute import plugins
from evroute.errors import EvrouteError
from evroute.experiments.parallel.pool import Pool, forks, place, processes, step
from evroute.experiments.parallel.tasks import Input, Outcome, Task, Work, check_same, machine

POLL_S = 0.1
AHEAD = 4
"""Tasks submitted per process."""
W = TypeVar("W", bound=Work)
Answer = tuple[W, Outcome]


@dataclass(frozen=True, slots=True)
class Engine:
    """An executor that was handed in.

    Parameters
    ----------
    executor
        Any executor. It stays open.
    ahead
        Largest number of tasks submitted at a time.
    mixed
        Accept workers whose versions and BLAS are not the caller's.
    check
        Called while tasks are awaited. Raises an error if the executor is lost.
    """

    executor: Executor
    ahead: int = 16
    mixed: bool = False
    check: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Rules(Generic[W]):
    """What an engine has to know of a kind of work.

    Parameters
    ----------
    inputs
        Returns the files of a piece of work.
    paths
        Paths of the files by digest. It may grow.
    died
        Called with work whose process died, and with how often it did so alone. Returns an answer
        if the work is given up, None if it is to be repeated, or raises an error.
    kept
        End of the message on a lost executor.
    in_order
        Whether answers come in the order of the work, and not as they end.
    beside
        Folder in which workers of this machine leave files. None to send bytes.
    watch
        Called with the processes of this machine while tasks are awaited.
    """

    inputs: Callable[[W], tuple[Input, ...]]
    paths: Mapping[str, Path]
    died: Callable[[W, int], Outcome | None]
    kept: str
    in_order: bool
    beside: Path | None = None
    watch: Callable[[Pool], None] = lambda pool: None


def answers(work: Iterator[W], engine: Engine | int, rules: Rules[W]) -> Iterator[Answer[W]]:
    """Yield each piece of work with its answer.

    Parameters
    ----------
    work
        The work, which is taken as it is wanted.
    engine
        An executor, or a number of processes of this machine.
    rules
        Its rules.

    Raises
    ------
    EvrouteError
        If work is refused, a worker's versions or BLAS differ, the executor is lost, or
        ``rules.died`` gives up.
    """
    if isinstance(engine, Engine):
        return _by(engine, work, rules)
    return _here(engine, work, rules)


def _by(engine: Engine, work: Iterator[W], rules: Rules[W]) -> Iterator[Answer[W]]:
    here = {} if engine.mixed else machine()
    flow = _Flow(engine.executor, rules, Task.do, here)
    try:
        with _as_one_line(rules.kept):
            yield from flow.answers(work, engine.ahead, engine.check)
    finally:
        flow.cancel()


def _here(jobs: int, work: Iterator[W], rules: Rules[W]) -> Iterator[Answer[W]]:
    first = next(work, None)
    if first is None:
        return
    if forks():
        Task(first, rules.inputs(first), plugins=tuple(plugins.used())).load()
    work = chain([first], work)
    while True:
        with processes(jobs, rules.beside) as pool:
            flow = _Flow(pool.executor, rules, _in_worker(rules), {})
            try:
                yield from flow.answers(work, AHEAD * jobs, partial(rules.watch, pool))
                return
            except BrokenExecutor:
                lost = flow.in_flight
        yield from _alone(lost, rules)


def _alone(lost: Sequence[W], rules: Rules[W]) -> Iterator[Answer[W]]:
    """Yield work that was in flight when a process died, one piece at a time."""
    left, died = dict(enumerate(lost)), Counter[int]()
    while left:
        with processes(1, rules.beside) as pool:
            flow = _Flow(pool.executor, rules, _in_worker(rules), {})
            try:
                for answer in flow.answers(iter(list(left.values())), 1):
                    left.pop(min(left))
                    yield answer
            except BrokenExecutor:
                pool.check_started()
                first = min(left)
                died[first] += 1
                given_up = rules.died(left[first], died[first])
                if given_up is not None:
                    yield left.pop(first), given_up


def _in_worker(rules: Rules[W]) -> Callable[[Task], Outcome]:
    return _bytes_in_worker if rules.beside is None else _files_in_worker


def _bytes_in_worker(task: Task) -> Outcome:
    return task.do(step)


def _files_in_worker(task: Task) -> Outcome:
    return task.do(step, place())


@dataclass(slots=True, eq=False)
class _Flight(Generic[W]):
    """Work in flight: its task, and its answer once it came."""

    work: W
    task: Task
    future: Future[Outcome]
    outcome: Outcome | None = None


class _Flow(Generic[W]):
    """Submits tasks and sends files that a worker lacks."""

    def __init__(
        self,
        executor: Executor,
        rules: Rules[W],
        function: Callable[[Task], Outcome],
        here: Mapping[str, str],
    ) -> None:
        self._executor = executor
        self._rules = rules
        self._function = function
        self._here = here
        self._flights: list[_Flight[W]] = []
        self._refused: list[W] = []

    @property
    def in_flight(self) -> list[W]:
        """Work that was taken and whose answer was not yielded."""
        return [*(flight.work for flight in self._flights), *self._refused]

    def answers(
        self, work: Iterator[W], ahead: int, check: Callable[[], None] = lambda: None
    ) -> Iterator[Answer[W]]:
        """Yield work with its answers.

        Parameters
        ----------
        work
            The work. What is not submitted stays in it.
        ahead
            Largest number of tasks submitted at a time.
        check
            Called at least every `POLL_S`.
        """
        while True:
            # few at once: waiting looks at every submitted task
            for each in islice(work, ahead - len(self._flights)):
                self._begin(each)
            if not self._flights:
                return
            wait([f.future for f in self._flights if f.outcome is None], POLL_S, FIRST_COMPLETED)
            check()
            broken = self._take()
            while (ready := self._ready()) is not None:
                self._flights.remove(ready)
                assert ready.outcome is not None
                yield ready.work, ready.outcome
            if broken is not None:
                raise broken

    def cancel(self) -> None:
        """Cancel the tasks that have not begun."""
        for flight in self._flights:
            flight.future.cancel()

    def _begin(self, work: W) -> None:
        used = tuple(plugins.used())
        task = Task(work, self._rules.inputs(work), self._here, plugins=used)
        try:
            future = self._executor.submit(self._function, task)
        except BrokenExecutor:
            self._refused.append(work)  # it was taken from the waiting ones
            raise
        self._flights.append(_Flight(work, task, future))

    def _take(self) -> BrokenExecutor | None:
        """Take the answers that came, and send files. Return the error of a broken executor."""
        broken = None
        for flight in self._flights:
            if flight.outcome is not None or not flight.future.done():
                continue
            try:
                outcome = flight.future.result()
                check_same(self._here, outcome.refused)
                if outcome.missing:
                    sent = flight.task.with_bytes(outcome.missing, self._rules.paths)
                    flight.future = self._executor.submit(self._function, sent)
                else:
                    flight.outcome = outcome
            except BrokenExecutor as error:
                broken = error
        return broken

    def _ready(self) -> _Flight[W] | None:
        """Return the next work to yield."""
        flights = self._flights[:1] if self._rules.in_order else self._flights
        return next((flight for flight in flights if flight.outcome is not None), None)


@contextmanager
def _as_one_line(kept: str) -> Iterator[None]:
    """Raise errors of an executor as one line that ends with ``kept``."""
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
