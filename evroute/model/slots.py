"""Inducing points of a sparse model: choice of arms and assignment to variational slots."""

from typing import Literal

import numpy as np

from evroute.arrays import IntArray

Slots = Literal["follow", "padded", "literal"]
"""Assignment of arms to the M slots.

``follow`` has no more slots than driven arms. ``padded`` fills the others with edges never
driven, which costs time and changes nothing. ``literal`` does so too, sorts all slots
anew after every trip, and puts trained contexts back.
"""


def kept_slots(held: IntArray, visits: IntArray, most: int) -> IntArray:
    """Return the arm of each slot: the ``most`` most visited arms, which keep the slots they hold.

    New arms take the free slots in order of their first visit; at equal visits an arm that holds
    a slot has priority.

    Parameters
    ----------
    held
        (m,) arm of each slot so far.
    visits
        (A,) visits of each arm.
    most
        Largest number of slots.
    """
    newer = np.ones(len(visits), dtype=np.bool_)
    newer[held] = False
    chosen = np.lexsort((newer, -visits))[:most]
    entering = np.sort(chosen[newer[chosen]])
    leaving = np.flatnonzero(~np.isin(held, chosen))
    kept = held.copy()
    kept[leaving] = entering[: len(leaving)]
    return np.concatenate([kept, entering[len(leaving) :]])
