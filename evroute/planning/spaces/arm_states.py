"""ArmStates: the potential before and after each arm, common to all arm spaces."""

from dataclasses import dataclass, replace

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze

ROUNDING_WH = 1e-9
"""Differences of energies that are rounding."""
MAX_PASSES = 200
"""Relaxations of the potential. More are needed only where closed walks gain energy."""


@dataclass(frozen=True, eq=False)
class ArmStates:
    """The states before and after each of a arms, and their potential.

    Parameters
    ----------
    edge
        (a,) network row of the edge of each arm.
    tail, head
        (a,) states before and after each arm: junctions, or ends of edges. The head of an arm is
        the tail of the arms that follow it.
    state_wh
        (s,) potential of the states, Wh. The energy of an arm by physics is never below its rise.
    """

    edge: IntArray
    tail: IntArray
    head: IntArray
    state_wh: FloatArray

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
        """(a,) potential before each arm, Wh."""
        return self.state_wh[self.tail]

    @property
    def head_wh(self) -> FloatArray:
        """(a,) potential after each arm, Wh."""
        return self.state_wh[self.head]

    def under(self, energy_wh: FloatArray) -> "ArmStates":
        """Return the states with the potential of a belief: no arm takes less than its rise.

        The potential of physics is lowered along the arms until it fits, as in Johnson's algorithm
        (Johnson 1977, *Efficient algorithms for shortest paths in sparse networks*). It exists
        unless a closed walk gains energy. After `MAX_PASSES` relaxations the rest is left over.

        Parameters
        ----------
        energy_wh
            (a,) energies of the arms, Wh.
        """
        reached_wh = self.tail_wh + energy_wh
        lower = np.flatnonzero(reached_wh < self.head_wh - ROUNDING_WH)
        if not len(lower):
            return self
        reached_wh, state_wh = reached_wh[lower], self.state_wh.copy()
        for _ in range(MAX_PASSES):
            np.minimum.at(state_wh, self.head[lower], reached_wh)
            lowered = np.zeros(len(state_wh), dtype=np.bool_)
            lowered[self.head[lower]] = True
            after = np.flatnonzero(lowered[self.tail])
            reached_wh = state_wh[self.tail[after]] + energy_wh[after]
            below = reached_wh < state_wh[self.head[after]] - ROUNDING_WH
            lower, reached_wh = after[below], reached_wh[below]
            if not len(lower):
                break
        return replace(self, state_wh=state_wh)
