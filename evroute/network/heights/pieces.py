"""Pieces: edges cut into pieces of equal length and of one slope each.

The optional table ``profile`` of a network has columns ``start``, (n + 1,), and ``height_m``,
float32: edge e has the inner heights ``height_m[start[e]:start[e + 1]]``, which cut it into pieces
of equal length. An edge without inner heights is one piece.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded, freeze
from evroute.checked import digest_of
from evroute.errors import require


@dataclass(frozen=True, eq=False)
class Pieces:
    """The q pieces of n edges, edge by edge in driving order.

    Parameters
    ----------
    start
        (n + 1,) edge e owns the pieces ``start[e]`` to ``start[e + 1]``, at least one.
    length_m, climb_m
        (q,) length as driven, and height at the end minus height at the beginning, m.

    Raises
    ------
    ValueError
        If an edge has no piece, a number is not finite, or a piece is steeper than its length
        allows.
    """

    start: IntArray
    length_m: FloatArray
    climb_m: FloatArray

    def __post_init__(self) -> None:
        q = (len(self.length_m),)
        freeze(
            self,
            start=(self.start, np.int64, (len(self.start),)),
            length_m=(self.length_m, np.float64, q),
            climb_m=(self.climb_m, np.float64, q),
        )
        require(
            (np.diff(self.start) >= 1).all() and (np.abs(self.climb_m) <= self.length_m).all(),
            "a piece is missing, not finite, or steeper than its length allows",
            ValueError,
        )

    @classmethod
    def from_table(
        cls,
        table: Mapping[str, Any],
        length_m: FloatArray,
        tail_m: FloatArray,
        head_m: FloatArray,
    ) -> "Pieces":
        """Return the pieces of the n edges of a network.

        Parameters
        ----------
        table
            The table ``profile``.
        length_m
            (n,) lengths of the edges, m.
        tail_m, head_m
            (n,) heights of their first and last junction, m.

        Raises
        ------
        ValueError
            If the table does not fit the edges, or as above.
        """
        inner, height_m = np.diff(table["start"]), table["height_m"]
        require(
            len(inner) == len(length_m) and inner.min() >= 0 and inner.sum() == len(height_m),
            "its offsets do not fit the edges",
            ValueError,
        )
        start = np.concatenate([[0], np.cumsum(inner + 1)])
        low_m, high_m = np.empty((2, start[-1]))
        first, last = np.zeros((2, start[-1]), dtype=bool)
        first[start[:-1]] = last[start[1:] - 1] = True
        low_m[first], low_m[~first] = tail_m, height_m
        high_m[last], high_m[~last] = head_m, height_m
        return cls(start, np.repeat(length_m / (inner + 1), inner + 1), high_m - low_m)

    def of(self, edge: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of the pieces of edges (k,), and the position of their edge in (k,)."""
        return expanded(self.start, edge)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the pieces. Beliefs store it."""
        return digest_of({"start": self.start, "climb_m": self.climb_m})


def summed(values: FloatArray, place: IntArray, k: int) -> FloatArray:
    """Return the sums of the values of pieces over their edges, (k,).

    Parameters
    ----------
    values
        (q,) value of each piece.
    place
        (q,) position of its edge among the k edges, rising. See `Pieces.of`.
    k
        Number of edges.
    """
    return np.add.reduceat(values, np.searchsorted(place, np.arange(k)))
