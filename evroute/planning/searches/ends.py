"""Ends of routes: several edges, with a cost of each."""

from typing import NamedTuple

from evroute.arrays import FloatArray, IntArray


class Ends(NamedTuple):
    """Different edges at which routes begin or end, with costs that are added to the routes'.

    Parameters
    ----------
    edge
        (k,) network rows.
    cost
        (k,) cost of each, not negative; +inf for an end that is closed.
    """

    edge: IntArray
    cost: FloatArray
