"""Newest: a value that is made anew for each version of its source, one at a time."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Newest(Generic[T]):
    """The value of the version that was asked for last. Thread-safe.

    The value of an earlier version is dropped before the next one is made, so that memory holds one
    of them.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[Hashable, T] | None = None

    def of(self, version: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a version.

        Parameters
        ----------
        version
            Changes whenever the source does.
        make
            Function that returns the value.
        """
        with self._lock:
            if self._known is None or self._known[0] != version:
                self._known = None
                self._known = version, make()
            return self._known[1]
