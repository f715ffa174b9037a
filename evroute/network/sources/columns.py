"""Columns of a network from the edges of a reader: rows of junctions, lengths, and shapes."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evroute.arrays import FloatArray, IntArray

J = TypeVar("J")
SHORTEST_EDGE_M = 0.1
"""Length of edges without any length of their own, the shortest that SUMO's netconvert writes."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places of v junctions: x_m, y_m and z_m, each (v,), m."""

    x_m: FloatArray
    y_m: FloatArray
    z_m: FloatArray


def junction_rows(ends: Sequence[tuple[J, J]]) -> tuple[tuple[J, ...], IntArray, IntArray]:
    """Return the v junctions of n edges, and the rows of tails and heads among them, (n,) each.

    Junctions are in the order in which the edges name them.
    """
    junctions = tuple(dict.fromkeys(junction for pair in ends for junction in pair))
    row = {junction: k for k, junction in enumerate(junctions)}
    rows = np.array([(row[tail], row[head]) for tail, head in ends], dtype=np.int64)
    return junctions, rows[:, 0], rows[:, 1]


def shape_starts(shapes: Sequence[Sized]) -> IntArray:
    """Return the first point of each of n shapes among all points, and the end, (n + 1,)."""
    return np.concatenate([[0], np.cumsum([len(shape) for shape in shapes])])


def edge_lengths(
    own_m: FloatArray, tail: IntArray, head: IntArray, places: Places, *, straight: bool = True
) -> tuple[FloatArray, list[str]]:
    """Return the lengths of n edges, (n,) m, and a note on edges that had none.

    A length is at least the climb.

    Parameters
    ----------
    own_m
        (n,) lengths in the source, m.
    tail, head
        (n,) rows of the junctions.
    places
        Places of the junctions.
    straight
        Whether a length is at least the planar distance between the two junctions, too.
    """
    across_m = straight * np.hypot(
        places.x_m[head] - places.x_m[tail], places.y_m[head] - places.y_m[tail]
    )
    climb_m = np.abs(places.z_m[head] - places.z_m[tail])
    length_m = np.maximum(own_m, np.maximum(across_m, climb_m))
    bare = length_m == 0
    notes = []
    if bare.any():
        notes.append(f"{bare.sum()} edges without any length were given {SHORTEST_EDGE_M} m")
    return np.where(bare, SHORTEST_EDGE_M, length_m), notes
