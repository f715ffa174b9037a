"""SearchNodes: the nodes of planning searches, common to all arm spaces."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze

Rows = TypeVar("Rows", int, IntArray)
"""One row or many."""
ROUNDING_WH = 1e-9
"""Differences of energies that are rounding."""
MAX_PASSES = 200
"""Relaxations of the potential; more are needed only where closed walks gain energy."""


@dataclass(frozen=True, eq=False)
class SearchNodes:
    """The N nodes of a search: first the arms of a space, then nodes without cost.

    Parameters
    ----------
    edge
        (N,) network row of the edge of each node.
    tail, head
        (N,) states before and after each node: junctions, or ends of edges. The head of a node is
        the tail of the nodes that follow it.
    state_wh
        (s,) potential of the states, Wh; the energy of an arm by physics is never below its rise.
    n_arms
        Number of nodes that are arms.
    """

    edge: IntArray
    tail: IntArray
    head: IntArray
    state_wh: FloatArray
    n_arms: int

    def __post_init__(self) -> None:
        shape = (len(self.edge),)
        freeze(
            self,
            edge=(self.edge, np.int64, shape),
            tail=(self.tail, np.int64, shape),
            head=(self.head, np.int64, shape),
            state_wh=(self.state_wh, np.float64, (len(self.state_wh),)),
        )

    @property
    def tail_wh(self) -> FloatArray:
        """(N,) potential before each node, Wh."""
        before: FloatArray = self.state_wh[self.tail]
        return before

    @property
    def head_wh(self) -> FloatArray:
        """(N,) potential after each node, Wh."""
        after: FloatArray = self.state_wh[self.head]
        return after

    def under(self, energy_wh: FloatArray) -> "SearchNodes":
        """Return the nodes with the potential of a belief: no arm takes less than its rise.

        The potential of physics is lowered along the arms until it fits, as in Johnson's algorithm
        (Johnson 1977, *Efficient algorithms for shortest paths in sparse networks*). It exists
        unless a closed walk gains energy; after `MAX_PASSES` relaxations the rest is left over.

        Parameters
        ----------
        energy_wh
            (n_arms,) energies of the arms, Wh.
        """
        tail, head = self.tail[: self.n_arms], self.head[: self.n_arms]
        state_wh = self.state_wh.copy()
        for _ in range(MAX_PASSES):
            lowered_wh = state_wh.copy()
            np.minimum.at(lowered_wh, head, state_wh[tail] + energy_wh)
            lowered = lowered_wh < state_wh - ROUNDING_WH
            if not lowered.any():
                break
            state_wh[lowered] = lowered_wh[lowered]
        return replace(self, state_wh=state_wh)

    def of_arms(self, values: FloatArray, rest: float = 0.0) -> FloatArray:
        """Return values of the arms, (n_arms,), on all nodes, (N,), with ``rest`` on the others."""
        return np.concatenate([values, np.full(len(self.edge) - self.n_arms, rest)])

    def of_edges(self, values: FloatArray) -> FloatArray:
        """Return values of edges, (n,), on the nodes that are arms, 0 on the others, (N,)."""
        return self.of_arms(values[self.edge[: self.n_arms]])
