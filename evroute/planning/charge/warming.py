"""The warm-up in the loops of searches. numba looks at one file: change the loops with this one."""

from typing import NamedTuple

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
    """Return the energy of the warm-up after driving for a time, s, Wh (`heating.WarmUp`)."""
    return warming.wh_per_s * min(driven_s, warming.whole_s)


def drawn(warming: Warming, driven_s: float, arm: int) -> tuple[float, float]:
    """Return the time driven after an arm, s, and the energy of the warm-up on it, Wh.

    Both are 0 without a warm-up.
    """
    if warming.whole_wh == 0.0:
        return 0.0, 0.0
    after_s = driven_s + warming.time_s[arm]
    return after_s, warmed(warming, after_s) - warmed(warming, driven_s)


def warm_up_left(warming: Warming, driven_s: float, place: int) -> float:
    """Return a lower bound of the energy of the warm-up that is left at a state, Wh."""
    if warming.whole_wh == 0.0:
        return 0.0
    return warmed(warming, driven_s + warming.rest_s[place]) - warmed(warming, driven_s)


def is_covered(
    warming: Warming,
    held: list[tuple[int, float, float, float]],
    known: tuple[int, float, float, float],
    place: int,
    free: bool,
) -> bool:
    """Return True if a label after a cold start is never better than a settled one of its state.

    With as much charge before the warm-up, in no more time, a settled label is as good, unless it
    loses regeneration before it is warm: the other one then has less left to warm up. So the charge
    counts up to where no regeneration is lost, but for labels with as much of the warm-up behind.

    Parameters
    ----------
    warming
        The warm-up.
    held
        The settled labels: the one before of the same state, charge before the warm-up, Wh, cost,
        and time driven, s.
    known, place
        The label in the same way, and its state.
    free
        Whether the cost does not matter.
    """
    number, unwarmed_wh, clock, driven_s = known
    warm_wh = warmed(warming, driven_s)
    while number >= 0:
        number, other_wh, other_clock, other_s = held[number]
        other_warm_wh = warmed(warming, other_s)
        if free or other_clock <= clock:
            if other_warm_wh == warm_wh and other_wh >= unwarmed_wh:
                return True
            most_wh = min(other_wh - other_warm_wh, warming.room_wh[place])
            if other_s <= driven_s and unwarmed_wh - other_warm_wh <= most_wh:
                return True
    return False
