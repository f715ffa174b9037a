"""Which arms are the inducing points of a sparse model, and in which slots of its variational distribution."""

from typing import Literal

import numpy as np

from evroute.arrays import IntArray

Slots = Literal["follow", "padded", "literal"]
"""How arms take the M slots: ``follow`` has no more than were driven; ``padded`` fills the rest up with edges never
driven, which costs time and changes nothing; ``literal`` does that too, and sorts all anew after
every trip."""


def kept_slots(held: IntArray, visits: IntArray, most: int) -> IntArray:
    """Return the arm of each slot: those that hold one keep it unless ``most`` others were visited more often.

    Newcomers take what is left, in order of their first visit.
    """
    newer = np.ones(len(visits), dtype=np.bool_)
    newer[held] = False
    chosen = np.lexsort((newer, -visits))[:most]
    entering = np.sort(chosen[newer[chosen]])
    leaving = np.flatnonzero(~np.isin(held, chosen))
    kept = held.copy()
    kept[leaving] = entering[: len(leaving)]
    return np.concatenate([kept, entering[len(leaving) :]])
