"""Array aliases, and a helper for read-only array attributes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def freeze(owner: object, **columns: tuple[Any, Any, tuple[int, ...]]) -> None:
    """Set read-only array attributes on a frozen dataclass, checked for dtype and shape.

    Parameters
    ----------
    owner
        The instance inside its ``__post_init__``.
    columns
        ``name=(value, dtype, shape)``.

    Raises
    ------
    ValueError
        If a value does not have the shape.
    """
    for name, (value, dtype, shape) in columns.items():
        array = np.asarray(value, dtype=dtype, order="C")
        if array.shape != shape:
            raise ValueError(
                f"{type(owner).__name__}.{name} has shape {array.shape}, expected {shape}"
            )
        if array.flags.writeable:
            array = array.copy()
            array.setflags(write=False)
        object.__setattr__(owner, name, array)


def by_row(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the sums of the rows of a matrix (k, c) times a vector (c,), (k,).

    Each sum depends on its own row alone. The last digits of a product of matrices depend on the
    number of rows.
    """
    return np.asarray(np.multiply(matrix, vector, order="C").sum(axis=-1))


def expanded(start: IntArray, owners: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows that owners (k,) have, in their order, and the position of each row's owner.

    Owner i has the rows ``start[i]`` to ``start[i + 1]``.
    """
    count = start[owners + 1] - start[owners]
    place = np.repeat(np.arange(len(owners)), count)
    return np.arange(len(place)) + (start[owners] - np.cumsum(count) + count)[place], place


def distinct(rows: IntArray, n: int) -> IntArray:
    """Return the distinct ones of rows (k,) of n, rising. Few are sorted, many are counted."""
    return np.unique(rows) if len(rows) < n else np.flatnonzero(np.bincount(rows, minlength=n))


def flat(**parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of all parts by names ``part/name``."""
    return {f"{part}/{name}": a for part, arrays in parts.items() for name, a in arrays.items()}


def part_of(arrays: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the arrays of one part of `flat` by their names within it."""
    return {name[len(part) + 1 :]: a for name, a in arrays.items() if name.startswith(f"{part}/")}


def spread(size: int, n: int) -> IntArray:
    """Return at most n rows of ``size``, evenly spread, (k,)."""
    return np.unique(np.linspace(0, size - 1, min(n, size)).astype(np.int64))
