"""The warm-up in the loops of searches. numba looks at one file: change the loops with this one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from evroute.arrays import FloatArray


class Warming(NamedTuple):
    """The warm-up: a rate over the time driven until it is whole. It joins the first step of arms.

    Parameters
    ----------
    wh_per_s, whole_wh, whole_s
        Rate, Wh/s, whole energy, Wh, and the time driven until then, s. All 0 for none.
    time_s
        (a,) travel time of each arm, s.
    rest_s
        (s + 1,) lower bounds of the travel time from each state, s, or 0 on arrival.
    room_wh
        (s + 1,) charge with which no way from a state loses regeneration, Wh.
    alone
        Whether the time is the cost of the search, or nothing is.
    """

    wh_per_s: float
    whole_wh: float
    whole_s: float
    time_s: FloatArray
    rest_s: FloatArray
    room_wh: FloatArray
    alone: bool


def warmed(warming: Warming, driven_s: float) -> float:
    """Return the energy of the warm-up after driving for a time, Wh (`heating.WarmUp`).

    Parameters
    ----------
    warming, driven_s
        The warm-up, and the time driven, s.
    """
    return warming.wh_per_s * min(driven_s, warming.whole_s)


def drawn(warming: Warming, driven_s: float, arm: int) -> tuple[float, float]:
    """Return the time driven after an arm, s, and the energy of the warm-up on it, Wh.

    Both are 0 without a warm-up.

    Parameters
    ----------
    warming, driven_s, arm
        The warm-up, the time driven before the arm, s, and its row.
    """
    if warming.whole_wh == 0.0:
        return 0.0, 0.0
    after_s = driven_s + warming.time_s[arm]
    return after_s, warmed(warming, after_s) - warmed(warming, driven_s)


def warm_up_left(warming: Warming, driven_s: float, place: int) -> float:
    """Return a lower bound of the energy of the warm-up that is left at a state, Wh.

    Parameters
    ----------
    warming, driven_s, place
        The warm-up, the time driven, s, and the state.
    """
    if warming.whole_wh == 0.0:
        return 0.0
    return warmed(warming, driven_s + warming.rest_s[place]) - warmed(warming, driven_s)


def is_covered(
    warming: Warming,
    settled: Sequence[Any],
    older: Sequence[int],
    label: Any,
    known: tuple[int, int, bool],
) -> bool:
    """Return True if a label after a cold start is never better than a settled one of its state.

    With as much charge before the warm-up, in no more time, a settled label is as good, unless it
    loses regeneration before it is warm: the other one then has less left to warm up. So the charge
    counts up to where no regeneration is lost, but for labels with as much of the warm-up behind.

    Parameters
    ----------
    warming
        The warm-up.
    settled, older
        The settled labels, with charge left, Wh, cost and time driven, s, and for each the number
        of the one before of the same state, or -1.
    label
        The label, likewise.
    known
        Number of the last settled label of its state, the state, and whether the cost does not
        matter.
    """
    number, place, free = known
    warm_wh = warmed(warming, label.driven_s)
    unwarmed_wh = label.charge_wh + warm_wh
    while number >= 0:
        other = settled[number]
        number = older[number]
        if free or other.cost <= label.cost:
            other_warm_wh = warmed(warming, other.driven_s)
            if other_warm_wh == warm_wh and other.charge_wh + other_warm_wh >= unwarmed_wh:
                return True
            most_wh = min(other.charge_wh, warming.room_wh[place])
            if other.driven_s <= label.driven_s and unwarmed_wh - other_warm_wh <= most_wh:
                return True
    return False
