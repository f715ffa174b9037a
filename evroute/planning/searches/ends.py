"""Ends of routes: several edges, each with a cost."""

from typing import NamedTuple, Self

import numpy as np

from evroute.arrays import FloatArray, IntArray


class Ends(NamedTuple):
    """Different edges at which routes begin or end, with costs that are added to the routes'.

    Parameters
    ----------
    edge
        (k,) network rows.
    cost
        (k,) cost of each edge, not negative. +inf for an end that is closed.
    """

    edge: IntArray
    cost: FloatArray

    def checked(self) -> Self:
        """Return the ends as compiled code takes them.

        Raises
        ------
        ValueError
            If there is not one cost for each edge.
        """
        if len(self.edge) != len(self.cost):
            raise ValueError(f"{len(self.edge)} ends have {len(self.cost)} costs")
        return self._replace(
            edge=np.asarray(self.edge, np.int64), cost=np.asarray(self.cost, np.float64)
        )


def owned(weights: FloatArray) -> FloatArray:
    """Return writable numbers, the only kind that is compiled."""
    kept = weights.flags.c_contiguous and weights.flags.writeable and weights.dtype == np.float64
    return weights if kept else np.array(weights, np.float64, order="C")
