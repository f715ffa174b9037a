"""SearchNodes: the nodes of planning searches, by which one search serves every arm space."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze

Rows = TypeVar("Rows", int, IntArray)
"""One row or many."""


@dataclass(frozen=True, eq=False)
class SearchNodes:
    """The N nodes of a search: first the arms of a space, then nodes that cost nothing.

    Parameters
    ----------
    edge
        (N,) network row of the edge of each node.
    tail_wh, head_wh
        (N,) potential before and after each node, Wh; the energy of an arm by physics is never
        below its rise.
    n_arms
        Number of nodes that are arms.
    """

    edge: IntArray
    tail_wh: FloatArray
    head_wh: FloatArray
    n_arms: int

    def __post_init__(self) -> None:
        shape = (len(self.edge),)
        freeze(
            self,
            edge=(self.edge, np.int64, shape),
            tail_wh=(self.tail_wh, np.float64, shape),
            head_wh=(self.head_wh, np.float64, shape),
        )

    def of_arms(self, values: FloatArray, rest: float = 0.0) -> FloatArray:
        """Return values of the arms, (n_arms,), on all nodes, (N,), with ``rest`` on the others."""
        return np.concatenate([values, np.full(len(self.edge) - self.n_arms, rest)])

    def of_edges(self, values: FloatArray) -> FloatArray:
        """Return values of edges, (n,), on the nodes that are arms, 0 on the others, (N,)."""
        return self.of_arms(values[self.edge[: self.n_arms]])
