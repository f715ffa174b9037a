"""Blocks on processes of this machine or by any executor, with the answers in the order of blocks.

Few blocks are in flight, so that the memory in use does not depend on their number. Processes that
die are started again, and what was in flight is repeated one block at a time.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from itertools import chain, islice

from evroute import plugins
from evroute.door.opened import DoorNames
from evroute.errors import EvrouteError
from evroute.experiments.blocks.tasks import BlockTask, DoorInputs, answer_block, open_door
from evroute.experiments.blocks.work import Block
from evroute.experiments.engines import (
    AHEAD,
    POLL_S,
    Engine,
    as_one_line,
    check_same,
)
from evroute.experiments.processes import check_stop, forks, processes
from evroute.experiments.tasks import Outcome, machine

Files = Mapping[str, bytes]
REPEATS = 5
"""Times that a block is repeated alone: one that fails ends the command, unlike a run."""


def in_order(door: DoorNames, blocks: Iterator[Block], engine: Engine | int) -> Iterator[Files]:
    """Yield the files of each block, in the order of the blocks.

    Parameters
    ----------
    door
        Names of the roads, and of belief or physics.
    blocks
        The blocks, which are taken as they are wanted.
    engine
        An executor, or a number of processes of this machine.

    Raises
    ------
    EvrouteError
        If a block is refused, a worker's versions or BLAS differ, the executor is lost, or a block
        ends its process again and again.
    """
    if isinstance(engine, Engine):
        return _by(engine, door, blocks)
    return _here(engine, door, blocks)


def _by(engine: Engine, door: DoorNames, blocks: Iterator[Block]) -> Iterator[Files]:
    """Yield the files of blocks by an executor."""
    inputs = DoorInputs(door, near=False)
    here = {} if engine.mixed else machine()
    used = tuple(plugins.used())
    tasks = (BlockTask(door, each, inputs.of(each), here, plugins=used) for each in blocks)
    window = _Window(engine.executor, answer_block, inputs)
    try:
        with as_one_line("Nothing is written. Repeat the command"):
            yield from window.answers(tasks, engine.ahead, engine.check)
    finally:
        window.cancel()


def _here(jobs: int, door: DoorNames, blocks: Iterator[Block]) -> Iterator[Files]:
    """Yield the files of blocks in processes of this machine."""
    inputs = DoorInputs(door, near=True)
    used = tuple(plugins.used())
    tasks: Iterator[BlockTask]
    tasks = (BlockTask(door, each, inputs.of(each), plugins=used) for each in blocks)
    first = next(tasks, None)
    if first is None:
        return
    if forks():
        open_door(first)  # forked processes have it then
    tasks = chain([first], tasks)
    while True:
        with processes(jobs) as pool:
            window = _Window(pool.executor, _answer_in_worker, inputs)
            try:
                yield from window.answers(tasks, AHEAD * jobs)
                return
            except BrokenExecutor:
                lost = window.in_flight
        yield from _alone(lost, inputs)


def _alone(lost: Sequence[BlockTask], inputs: DoorInputs) -> Iterator[Files]:
    """Yield the files of blocks that were in flight when a process died, one block at a time."""
    left, died = deque(lost), 0
    while left:
        with processes(1) as pool:
            window = _Window(pool.executor, _answer_in_worker, inputs)
            try:
                for files in window.answers(iter(tuple(left)), 1):
                    left.popleft()
                    died = 0
                    yield files
            except BrokenExecutor:
                pool.check_started()
                died += 1
        if died == REPEATS:
            words = f"the process of {left[0].block.words} died {REPEATS + 1} times"
            raise EvrouteError(
                f"{words}, the last {REPEATS} alone (out of memory?). Give fewer --jobs"
            )


def _answer_in_worker(task: BlockTask) -> Outcome:
    return answer_block(task, check_stop)


@dataclass(slots=True)
class _Place:
    """A task that is in flight, and its future."""

    task: BlockTask
    future: Future[Outcome]


class _Window:
    """Tasks in flight, in the order of their blocks."""

    def __init__(
        self,
        executor: Executor,
        function: Callable[[BlockTask], Outcome],
        inputs: DoorInputs,
    ) -> None:
        self._executor = executor
        self._function = function
        self._inputs = inputs
        self._places: deque[_Place] = deque()
        self._refused: list[BlockTask] = []

    @property
    def in_flight(self) -> list[BlockTask]:
        """Tasks that were taken and whose files were not yielded."""
        return [*(place.task for place in self._places), *self._refused]

    def answers(
        self,
        tasks: Iterator[BlockTask],
        ahead: int,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[Files]:
        """Yield the files of tasks.

        Parameters
        ----------
        tasks
            The tasks. Those not submitted stay in it.
        ahead
            Largest number of tasks submitted at a time.
        check
            Called at least every `POLL_S`.
        """
        while True:
            for task in islice(tasks, ahead - len(self._places)):
                self._places.append(_Place(task, self._submitted(task)))
            if not self._places:
                return
            open_ = [place.future for place in self._places if not place.future.done()]
            if not self._places[0].future.done():
                wait(open_, POLL_S, FIRST_COMPLETED)
            check()
            for place in self._places:
                self._send_again(place)
            while self._places and self._places[0].future.done():
                files = self._places[0].future.result().files
                self._places.popleft()
                yield files

    def cancel(self) -> None:
        """Cancel the tasks that have not begun."""
        for place in self._places:
            place.future.cancel()

    def _submitted(self, task: BlockTask) -> Future[Outcome]:
        try:
            return self._executor.submit(self._function, task)
        except BrokenExecutor:
            if all(task is not place.task for place in self._places):
                self._refused.append(task)
            raise

    def _send_again(self, place: _Place) -> None:
        """Submit a task again with the files that its worker lacks."""
        if place.future.done():
            outcome = place.future.result()
            check_same(place.task.machine, outcome.refused)
            if outcome.missing:
                sent = place.task.with_bytes(outcome.missing, self._inputs.paths)
                place.future = self._submitted(sent)
