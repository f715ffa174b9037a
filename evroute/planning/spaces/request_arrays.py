"""Arrays over the arms that all requests share, with the arrays of one request behind them.

A region has a million arms, and a request ten of its own. The shared values are written once into
buffers with room behind them, and a request writes its own there. Buffers serve the next request
once nothing refers to the arrays of this one. All that wait in a process have at most `MOST_BYTES`.
"""

import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = 256
"""Places behind the shared values of a buffer."""
MOST_FREE = 2
"""Sets of buffers that wait for a request."""
MOST_COMBINED = 12
"""Combinations that a set of buffers keeps."""
MOST_BYTES = 2**30
"""Bytes of the buffers of a process that wait for requests."""

Array = NDArray[Any]
Buffers = dict[Any, tuple[int, Array]]
"""Number of shared values, and the buffer, by name. The least recently used is the first."""


class SharedArrays:
    """Buffers for one request after the other. Thread-safe."""

    def __init__(self) -> None:
        self._waiting = _Waiting()

    def of_request(self) -> "RequestArrays":
        """Return the arrays of a request, whose buffers no other request uses."""
        try:
            buffers = self._waiting.sets.pop()[1]
        except IndexError:
            buffers = {}
        loan = _Loan(buffers)
        weakref.finalize(loan, _give_back, self._waiting, buffers).atexit = False
        return RequestArrays(loan)


class RequestArrays:
    """The arrays of one request.

    Parameters
    ----------
    loan
        Its buffers.
    """

    def __init__(self, loan: "_Loan") -> None:
        self._loan = loan
        self._named: dict[Any, Array] = {}

    def joined(self, name: Any, shared: Callable[[], Array], own: Array) -> Array:
        """Return shared values, (a,), and behind them this request's, (c,), read-only.

        Parameters
        ----------
        name
            Name of the values.
        shared
            Function that returns the shared ones, which are the same for all requests.
        own
            This request's values.
        """
        buffers = self._loan.buffers
        known = name in buffers
        n, buffer = buffers.pop(name, (0, own[:0]))
        if len(buffer) < n + len(own) or not known:
            values = shared()
            n, buffer = len(values), np.empty(len(values) + ROOM + 2 * len(own), values.dtype)
            buffer[:n] = values
        buffers[name] = n, buffer  # as the last
        buffer[n : n + len(own)] = own
        lent = self._named[name] = np.asarray(_Lent(buffer[: n + len(own)], self._loan))
        lent.flags.writeable = False
        return lent

    def combined(
        self, of: Callable[..., Array], *arrays: Array, by: tuple[float, ...] = ()
    ) -> Array:
        """Return values that a function makes of arrays, element by element.

        Their shared part is computed once if the arrays are of this request.

        Parameters
        ----------
        of
            Function of the arrays and then of the numbers, which writes into the array ``out`` if
            that is given.
        *arrays
            Arrays of arms.
        by
            Numbers.
        """
        names = [name for each in arrays for name, known in self._named.items() if known is each]
        key, buffers = (of, by, *names), self._loan.buffers
        kept = sum(isinstance(name, tuple) for name in buffers)
        if len(names) < len(arrays) or (key not in buffers and kept == MOST_COMBINED):
            return of(*arrays, *by)
        n = buffers[names[0]][0]
        shared, own = [each[:n] for each in arrays], of(*(each[n:] for each in arrays), *by)
        if key not in buffers:
            buffer = np.empty(n + ROOM + 2 * len(own), own.dtype)
            of(*shared, *by, out=buffer[:n])
            buffers[key] = n, buffer
        return self.joined(key, lambda: of(*shared, *by), own)

    def once(self, name: Any, of: Callable[[], Array], *arrays: Array) -> Array:
        """Return values that do not depend on the request, read-only.

        They are computed once if the arrays that they depend on are of this request.

        Parameters
        ----------
        name
            Name of the values.
        of
            Function that computes them.
        *arrays
            Arrays of arms, whose own values do not matter.
        """
        known = (any(lent is each for lent in self._named.values()) for each in arrays)
        if not all(known):
            return of()
        return self.joined(name, of, np.empty(0))


class _Loan:
    """Buffers in use. They are given back once nothing refers to the loan."""

    def __init__(self, buffers: Buffers) -> None:
        self.buffers = buffers


class _Lent:
    """Part of a buffer, as the owner of an array: all views of the array refer to the loan."""

    def __init__(self, part: Array, loan: _Loan) -> None:
        self.__array_interface__ = part.__array_interface__
        self._kept = part, loan


class _Waiting:
    """Sets of buffers that wait for a request, each with the number of its return."""

    def __init__(self) -> None:
        self.sets: list[tuple[int, Buffers]] = []
        number = id(self)
        _WAITING[number] = weakref.ref(self, lambda _: _WAITING.pop(number, None))


_WAITING: dict[int, weakref.ref[_Waiting]] = {}
_RETURNS = count()


def _give_back(waiting: _Waiting, buffers: Buffers) -> None:
    """Keep buffers for the next request, unless as many sets wait already."""
    if len(waiting.sets) < MOST_FREE:
        waiting.sets.append((next(_RETURNS), buffers))
        _drop_beyond(MOST_BYTES)


def _drop_beyond(most_bytes: int) -> None:
    """Drop the least recently used buffers that wait, until at most some bytes wait.

    It runs where a request ends, maybe in the middle of another one, so it waits for no lock: a set
    is changed only after it was taken from its list, which one thread alone succeeds in.
    """
    every = [waiting for each in list(_WAITING.values()) if (waiting := each()) is not None]
    sets = [(each, waiting.sets) for waiting in every for each in list(waiting.sets)]
    beyond = sum(_bytes_of(each[1]) for each, _ in sets) - most_bytes
    for each, free in sorted(sets, key=lambda pair: pair[0][0]):
        if beyond <= 0:
            return
        try:
            free.remove(each)
        except ValueError:  # a request has it
            continue
        _, buffers = each
        for name in list(buffers):
            if beyond > 0:
                beyond -= buffers.pop(name)[1].nbytes
        if buffers:
            free.append(each)


def _bytes_of(buffers: Buffers) -> int:
    return sum(buffer.nbytes for _, buffer in list(buffers.values()))
