"""Blocks as work of the engine: answered on a door that stays open, in the order of the blocks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from evroute.door.opened import Door, DoorNames
from evroute.errors import EvrouteError
from evroute.experiments.blocks.work import Block, Opened
from evroute.experiments.parallel.engine import Engine, Rules, answers
from evroute.experiments.parallel.tasks import Input, Inputs, Outcome
from evroute.folder import Folder
from evroute.given import copy_of
from evroute.network.catalog import stored_path

Files = Mapping[str, bytes]
REPEATS = 5
"""Times that a block is repeated alone: one that fails ends the command, unlike a run."""
SENT = "sent-learned"
"""Run of a belief that was sent. Its folder is named by its digest."""
_BELIEF = "belief"
Digests = tuple[tuple[str, str], ...]


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
    files = DoorInputs(door, near=not isinstance(engine, Engine))

    def died(work: BlockWork, times: int) -> None:
        if times == REPEATS:
            words = f"the process of {work.block.words} died {REPEATS + 1} times"
            raise EvrouteError(
                f"{words}, the last {REPEATS} alone (out of memory?). Give fewer --jobs"
            )

    rules = Rules(
        inputs=lambda work: files.of(work.block),
        paths=files.paths,
        died=died,
        kept="Nothing is written. Repeat the command",
        in_order=True,
    )
    work = (BlockWork(door, block) for block in blocks)
    for _, outcome in answers(work, engine, rules):
        yield outcome.files


@dataclass(frozen=True, slots=True)
class BlockWork:
    """A block to answer.

    Parameters
    ----------
    door
        Names of the roads, and of belief or physics.
    block
        The block.
    """

    door: DoorNames
    block: Block

    def load(self, inputs: tuple[Input, ...]) -> None:
        """Open the door, which stays open for the blocks of this process.

        Raises
        ------
        EvrouteError
            If the door is refused, as a network that is damaged.
        """
        self._opened(inputs)

    def do(
        self, inputs: tuple[Input, ...], step: Callable[[], None], place: Path | None
    ) -> Outcome:
        """Answer the block and return its files.

        Parameters
        ----------
        inputs, step, place
            As in `Work.do`.

        Raises
        ------
        EvrouteError
            If the door or the block is refused.
        """
        with threadpool_limits(1):
            return Outcome(self.block.files(self._opened(inputs), step))

    def _opened(self, inputs: tuple[Input, ...]) -> Opened:
        return _opened(self.door, tuple((each.name, each.digest) for each in inputs))


@lru_cache(maxsize=4)
def _opened(names: DoorNames, digests: Digests) -> Opened:
    """Return an open door for blocks with the same files, by their names and digests."""
    of_door = tuple(each for each in digests if each[0] in (names.network, _BELIEF))
    return Opened(_door(names, of_door))


@lru_cache(maxsize=2)
def _door(names: DoorNames, digests: Digests) -> Door:
    belief = copy_of(_BELIEF)
    if belief is not None and belief.stem == SENT:
        names = replace(names, belief=belief.parents[1], run=SENT)
    return names.open()


class DoorInputs(Inputs):
    """Files of a door and its blocks, found once.

    Parameters
    ----------
    door
        Names of the roads, and of belief or physics.
    near
        Workers are on this machine and read the files themselves.
    """

    def __init__(self, door: DoorNames, *, near: bool) -> None:
        super().__init__(near=near)
        self._own: dict[str, Input] = {}
        self._door = [self.of_file(door.network, stored_path(door.network))]
        if door.belief is not None:
            folder = Folder(door.belief)
            path = folder.belief_path(door.run or folder.beliefs()[0])
            sent = f"/beliefs/{SENT}.npz"
            self._door.append(self.of_file(_BELIEF, path, suffix=sent))

    def of(self, block: Block) -> tuple[Input, ...]:
        """Return the files of a block and of the door."""
        for path in block.paths:
            if path not in self._own:  # a file that changes later is refused
                self._own[path] = self.of_file(path, Path(path))
        return (*self._door, *(self._own[path] for path in block.paths))
