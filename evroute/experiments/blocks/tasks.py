"""Tasks of blocks: a block with the digests of its files, answered on a door that stays open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from evroute.door.opened import Door, DoorNames
from evroute.experiments.blocks.work import Block, Opened
from evroute.experiments.tasks import Input, Inputs, Outcome, bytes_of, in_place
from evroute.folder import Folder
from evroute.given import copy_of
from evroute.network.catalog import stored_path

SENT = "sent-learned"
"""Run of a belief that was sent. Its folder is named by its digest."""
_BELIEF = "belief"
Digests = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BlockTask:
    """A block to answer.

    Parameters
    ----------
    door
        Names of the roads, and of belief or physics.
    block
        The block.
    inputs
        The files of the roads and of the belief or physics.
    machine, sent, plugins
        As in `evroute.experiments.tasks.Task`.
    """

    door: DoorNames
    block: Block
    inputs: tuple[Input, ...]
    machine: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, bytes] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def with_bytes(self, digests: tuple[str, ...], paths: Mapping[str, Path]) -> "BlockTask":
        """Return the task with the bytes of some files, whose paths are by digest."""
        return replace(self, sent=bytes_of(digests, paths))


def answer_block(task: BlockTask, check: Callable[[], None] = lambda: None) -> Outcome:
    """Answer the block of a task and return its files.

    Parameters
    ----------
    task
        The task.
    check
        Called between two rows. Raises an error if the work is to stop.

    Raises
    ------
    EvrouteError
        If the door or the block is refused, as a network that is damaged.
    """

    def work() -> Outcome:
        with threadpool_limits(1):
            return Outcome(task.block.files(_opened(task.door, _digests_of(task)), check))

    return in_place(task, work)


def open_door(task: BlockTask) -> None:
    """Open the door of a task, which stays open for the tasks of this process.

    Raises
    ------
    EvrouteError
        If the door is refused.
    """

    def work() -> Outcome:
        _opened(task.door, _digests_of(task))
        return Outcome()

    in_place(task, work)


def _digests_of(task: BlockTask) -> Digests:
    """Return the files of a task by name and digest."""
    return tuple((each.name, each.digest) for each in task.inputs)


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


class DoorInputs:
    """Files of a door and its blocks, found once.

    Parameters
    ----------
    door
        Names of the roads, and of belief or physics.
    near
        Workers are on this machine and read the files themselves.
    """

    def __init__(self, door: DoorNames, *, near: bool) -> None:
        self._found = Inputs(near=near)
        self._own: dict[str, Input] = {}
        self._door = [self._found.of_file(door.network, stored_path(door.network))]
        if door.belief is not None:
            folder = Folder(door.belief)
            path = folder.belief_path(door.run or folder.beliefs()[0])
            sent = f"/beliefs/{SENT}.npz"
            self._door.append(self._found.of_file(_BELIEF, path, suffix=sent))

    @property
    def paths(self) -> Mapping[str, Path]:
        """Paths of the files by digest."""
        return self._found.paths

    def of(self, block: Block) -> tuple[Input, ...]:
        """Return the files of a block and of the door."""
        for path in block.paths:
            if path not in self._own:  # a file that changes later is refused
                self._own[path] = self._found.of_file(path, Path(path))
        return (*self._door, *(self._own[path] for path in block.paths))
