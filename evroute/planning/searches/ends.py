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


def read_as(weights: FloatArray) -> FloatArray:
    """Return numbers, or a view of them, that are not writeable, the only kind that is compiled."""
    if weights.flags.c_contiguous and not weights.flags.writeable and weights.dtype == np.float64:
        return weights
    view = np.ascontiguousarray(weights, np.float64).view()
    view.flags.writeable = False
    return view
