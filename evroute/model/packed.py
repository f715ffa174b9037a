"""Packed: the lower triangle of a symmetric matrix, column after column, half as large."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray

_BLOCK = 128


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A symmetric matrix (D, D) of which each pair of rows has one number.

    Parameters
    ----------
    size
        Number D of rows.
    numbers
        (D (D + 1) / 2,) columns from the diagonal down, one after the other.
    """

    size: int
    numbers: FloatArray

    @classmethod
    def of(cls, square: FloatArray, size: int) -> "Packed":
        """Return the first ``size`` columns of the lower triangle of an array, copied."""
        columns = [square[row:size, row] for row in range(size)]
        return cls(size, np.concatenate([np.empty(0), *columns]))

    def columns(self) -> list[FloatArray]:
        """Return the columns from the diagonal down, D views."""
        return np.split(self.numbers, np.cumsum(np.arange(self.size, 1, -1)))[: self.size]

    def at(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return entries whose row is no less than their column."""
        return self.numbers[column * (2 * self.size - column - 1) // 2 + row]

    def after(self, left: FloatArray) -> FloatArray:
        """Return the product of ``left`` (q, D) and the matrix, (q, D), by blocks of columns."""
        diagonal, columns = np.arange(self.size), self.columns()
        product: FloatArray = -left * self.at(diagonal, diagonal)
        for start in range(0, self.size, _BLOCK):
            some = columns[start : start + _BLOCK]
            block, part = slice(start, start + _BLOCK), np.zeros((len(some), self.size - start))
            for place, column in enumerate(some):
                part[place, place:] = column
            product[:, block] += left[:, start:] @ part.T
            product[:, start:] += left[:, block] @ part
        return product
