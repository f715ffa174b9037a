"""Counts and locks that all workers of a service share, so that limits hold over them together.

Each worker has a slot of shared memory, which it alone writes. It enters a request into its slot
before it adds all slots, and takes it back if they are over a limit. So two workers never both pass
a limit, without a lock that a killed worker would keep. The slot of a dead worker is taken over.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ctypes import c_int64
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

FIELDS = 3
"""Numbers of a slot: process, bytes of bodies, and requests."""
SPARE = 8
"""Slots for workers that take the place of others."""
POLL_S = 0.01


class Slots:
    """Shared memory of some workers, and a folder for their locks and metrics.

    It is made before the workers and handed to them.

    Parameters
    ----------
    workers
        Number of workers.
    folder
        An empty folder that is theirs.
    """

    def __init__(self, workers: int, folder: Path) -> None:
        self.numbers: Any = RawArray(c_int64, FIELDS * (workers + SPARE))
        self.folder = folder

    @property
    def taken(self) -> int:
        """Number of slots that workers have taken."""
        return taken(self.numbers)

    def take(self) -> tuple[int, FileLock]:
        """Take a slot of no worker, or of a dead one. Return its position and its lock."""
        for first in range(0, len(self.numbers), FIELDS):
            lock = FileLock(self.folder / f"slot-{first}.lock")
            with suppress(Timeout):
                lock.acquire(blocking=False)
                self.numbers[first : first + FIELDS] = [os.getpid(), 0, 0]
                return first, lock
        raise RuntimeError(f"all {len(self.numbers) // FIELDS} slots of workers are taken")


class Shared:
    """Bytes and requests that one worker holds, in the table of all workers.

    Parameters
    ----------
    slots
        Shared memory of all workers, or None for a service of one process.
    """

    def __init__(self, slots: Slots | None = None) -> None:
        self._numbers: Any = [os.getpid(), 0, 0] if slots is None else slots.numbers
        self._first = 0
        if slots is not None:
            self._first, self._lock = slots.take()  # held until the process ends
        self._one = asyncio.Lock()
        self._of_all = None if slots is None else FileLock(slots.folder / "large.lock")

    @property
    def held_bytes(self) -> int:
        """Bytes of the bodies that all workers hold."""
        return sum(self._numbers[1::FIELDS])

    @property
    def waiting(self) -> int:
        """Number of requests that all workers answer, or that wait for them."""
        return sum(self._numbers[2::FIELDS])

    @property
    def workers(self) -> int:
        """Number of workers."""
        return taken(self._numbers)

    def hold(self, n_bytes: int, most: int) -> bool:
        """Hold some bytes, and return True. Hold nothing and return False if there are too many.

        Parameters
        ----------
        n_bytes
            Number of bytes, negative to give them back.
        most
            Greatest number of all workers together.
        """
        return self._added(1, n_bytes, most)

    def begin(self, most: int) -> bool:
        """Begin a request, and return True. False if ``most`` requests are in work already."""
        return self._added(2, 1, most)

    def end(self) -> None:
        """End a request."""
        self._numbers[self._first + 2] -= 1

    def _added(self, field: int, number: int, most: int) -> bool:
        self._numbers[self._first + field] += number
        if number <= 0 or sum(self._numbers[field::FIELDS]) <= most:
            return True
        self._numbers[self._first + field] -= number
        return False

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until no other large body is answered by any worker, and keep others waiting."""
        async with self._one:
            while self._of_all is not None:
                try:
                    self._of_all.acquire(blocking=False)
                    break
                except Timeout:
                    await asyncio.sleep(POLL_S)
            try:
                yield
            finally:
                if self._of_all is not None:
                    self._of_all.release()


def taken(numbers: Any) -> int:
    """Return how many slots have a process."""
    return sum(process > 0 for process in numbers[::FIELDS])
