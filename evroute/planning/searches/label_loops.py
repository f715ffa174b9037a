"""The loop of the label searches: plain Python, or compiled by numba (extra ``fast``).

numba compiles a cached function anew if the file that defines it changes. It does not look at other
files. So every function and constant of the loop is in this file. The pieces that run at every turn
take few arrays: numba counts the references to each of them. The search with charging stops has a
loop of its own (`stop_loops`).
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.charge.warming import Warming, drawn, is_covered, warm_up_left, warmed

TOLERANCE_S = 1e-9
ROUNDING_WH = 1e-9
BEFORE_START = -1
"""State before the first edge."""


class Ways(NamedTuple):
    """The turns between n edges, and the legs of a request.

    A state ``k * n + e`` is edge e in leg k, `BEFORE_START` or, from ``n_states`` on, arrival
    (`legs.Legs`).

    Parameters
    ----------
    first
        (n + 1,) first turn out of each edge.
    entered, arm
        (m,) edge that each turn enters, and its arm.
    ends
        (n_states,) 1 where the end of an edge ends its leg, else 0.
    own_before, own_into, own_arm
        States before and after the turns that only the request has, and their arms.
    n_edges, n_states, halts
        Numbers of edges, with the nodes of halts behind them, of states before arrival, and of
        edges before the first node at which a car only stops.
    """

    first: NDArray[np.integer[Any]]
    entered: NDArray[np.integer[Any]]
    arm: IntArray
    ends: NDArray[np.int8]
    own_before: IntArray
    own_into: IntArray
    own_arm: IntArray
    n_edges: int
    n_states: int
    halts: int


class Steps(NamedTuple):
    """The charge functions of a arms: first steps, (a + 1,), and energies, (r,) Wh."""

    start: IntArray
    step_wh: FloatArray


class Charges(NamedTuple):
    """A battery as numbers.

    Parameters
    ----------
    first_wh, capacity_wh
        Charge at the start and usable capacity, Wh. The capacity may be infinite.
    least_wh, reserve_wh
        Least charge allowed and the reserve, Wh. The first is lower by a rounding.
    lossless_wh, fade
        Charge up to which no regeneration is lost, Wh, and the share of it lost per Wh above.
    """

    first_wh: float
    capacity_wh: float
    least_wh: float
    reserve_wh: float
    lossless_wh: float
    fade: float


class Costs(NamedTuple):
    """The additive cost of a arms, and lower bounds from s states.

    Parameters
    ----------
    cost
        (a,) cost of each arm.
    rest_wh, rest
        (s + 1,) lower bounds of the energy, Wh, and of the cost to the destination. 0 on arrival.
    """

    cost: FloatArray
    rest_wh: FloatArray
    rest: FloatArray


class Limits(NamedTuple):
    """The worth and the limits of a search by energy and an additive cost.

    Parameters
    ----------
    most, better_than
        Greatest cost, and greatest worth, which is exclusive.
    per_wh, per_cost, effort
        Worth of one Wh and of one unit of the cost, >= 0, one of them > 0. Most labels settled.
    """

    most: float
    better_than: float
    per_wh: float
    per_cost: float
    effort: int


def settle_two_costs(
    ways: Ways, steps: Steps, charges: Charges, costs: Costs, limits: Limits, warming: Warming
) -> tuple[list[int], bool]:
    """Settle labels in the order of one cost. A later label of a state must be better in the other.

    Labels are ordered by energy unless it costs nothing. Each found route lowers the limit of
    the worth. After a cold start the energy before the warm-up is one cost, and the time driven is
    another one (`is_covered`).

    Parameters
    ----------
    ways, steps, charges, costs, limits, warming
        Network, request, battery and warm-up.

    Returns
    -------
    states
        States of the best route backwards, or none if no route is better.
    proven
        Whether no better route exists.
    """
    # order, second cost, charge, cost, state, label before, time
    queue = [(0.0, 0.0, charges.first_wh, 0.0, BEFORE_START, -1, 0.0)]
    states, parents = [-1], [-1]  # of each label; label 0 is before the start
    states.pop()
    parents.pop()
    best = np.empty(ways.n_states + 2)  # second cost of settled states, arrival, and the start
    best[:] = math.inf
    found, least = 0, limits.better_than
    cold = warming.whole_wh > 0.0
    free = _is_free(limits)
    # of each label: the one before of its state, charge before the warm-up, cost and time
    held = [(-1, 0.0, 0.0, 0.0)]
    held.pop()
    newest = np.empty(len(best), np.int64)
    newest[:] = -1
    proven = False
    while len(queue) > 0 and len(states) <= limits.effort and not proven:
        order, other, charge_wh, clock, state, previous, driven_s = heapq.heappop(queue)
        place = min(state, ways.n_states)
        known = (newest[place], charge_wh + warmed(warming, driven_s), clock, driven_s)
        later = other >= best[place]  # labels come in the order of the other cost
        if _is_cut(limits, costs, warming, held, known, (place, order, least, later, free)):
            continue
        if cold:
            newest[place] = len(held)
            held.append(known)
        best[place] = min(best[place], other)
        label = len(states)
        states.append(state)
        parents.append(previous)
        if place == ways.n_states:
            total = limits.per_wh * (charges.first_wh - charge_wh) + limits.per_cost * clock
            if total < least:
                found = label
                least = total
            proven = _first_is_best(limits, warming)
            continue
        last = state % ways.n_edges
        low, high = (0, 0) if state < 0 else (ways.first[last], ways.first[last + 1])
        for turn in range(low, high + len(ways.own_arm)):
            if turn < high:
                arm = ways.arm[turn]
                into = state - last + ways.entered[turn]
                into += ways.n_edges * ways.ends[into]
            elif ways.own_before[turn - high] == state:
                arm = ways.own_arm[turn - high]
                into = ways.own_into[turn - high]
            else:
                continue
            place = min(into, ways.n_states)
            spent = clock + costs.cost[arm]
            after_s, drawn_wh = drawn(warming, driven_s, arm)
            rest_wh = costs.rest_wh[place] + warm_up_left(warming, after_s, place)
            left_wh, low_wh = drive(steps, charges, charge_wh, arm, drawn_wh)
            total_wh = charges.first_wh - left_wh + rest_wh
            total = spent + costs.rest[place]
            # enough on the arm, and enough on arrival even if nothing were lost on the way
            lowest_wh = min(low_wh, left_wh - rest_wh)
            if lowest_wh >= charges.least_wh and _within(limits, total_wh, total, least):
                unwarmed_wh = left_wh + warmed(warming, after_s)
                total_wh = charges.first_wh - unwarmed_wh + costs.rest_wh[place]
                keys = (total_wh, unwarmed_wh, total, spent)
                order, second = _order(limits, warming, free, keys)
                heapq.heappush(queue, (order, second, left_wh, spent, into, label, after_s))
    return _route(states, parents, found), proven or len(queue) == 0


def _is_free(limits: Limits) -> bool:
    """Return True if the additive cost does not matter."""
    return limits.per_cost == 0.0 and limits.most == math.inf


def _first_is_best(limits: Limits, warming: Warming) -> bool:
    """Return True if the first label that arrives is the best."""
    return limits.per_wh * limits.per_cost == 0.0 and warming.whole_wh == 0.0


def _order(
    limits: Limits, warming: Warming, free: bool, keys: tuple[float, float, float, float]
) -> tuple[float, float]:
    """Return order and second cost of a label, by energies before the warm-up.

    The keys are lower bound of the energy on arrival, charge, lower bound of the cost on arrival,
    and cost. ``free`` as in `is_covered`.
    """
    total_wh, unwarmed_wh, total, spent = keys
    if limits.per_wh == 0.0:
        return total, -unwarmed_wh
    if free and warming.whole_wh > 0.0:
        return total_wh, min(spent, warming.whole_s)
    return total_wh, spent


def _is_cut(
    limits: Limits,
    costs: Costs,
    warming: Warming,
    held: list[tuple[int, float, float, float]],
    known: tuple[int, float, float, float],
    given: tuple[int, float, float, bool, bool],
) -> bool:
    """Return True if no route of a label is better than known ones.

    Given are its state, its order, the least worth so far, whether a settled label of its state has
    no less of its other cost, and whether the additive cost does not matter.
    """
    place, order, least, later, free = given
    if warming.whole_wh == 0.0:
        return later
    if known[3] > 0.0 and _bound(limits, costs, warming, place, order, known) >= least:
        return True
    if warming.alone and known[1] <= warming.room_wh[place]:
        return later
    return is_covered(warming, held, known, place, free)


def _bound(
    limits: Limits,
    costs: Costs,
    warming: Warming,
    place: int,
    order: float,
    known: tuple[int, float, float, float],
) -> float:
    """Return a lower bound of the worth of all routes of a label after a cold start."""
    if limits.per_wh == 0.0:
        return limits.per_cost * order
    total_wh = order + warmed(warming, known[3] + warming.rest_s[place])
    return limits.per_wh * total_wh + limits.per_cost * (known[2] + costs.rest[place])


def _within(limits: Limits, total_wh: float, total: float, least: float) -> bool:
    """Return True if a cost and its worth with an energy, Wh, are within both limits."""
    worth = limits.per_wh * total_wh + limits.per_cost * total
    return total <= limits.most and worth < least


def _route(states: list[int], parents: list[int], label: int) -> list[int]:
    """Return the states of the route to a label backwards. Label 0 has none."""
    path = states[:0]
    while label > 0:
        path.append(states[label])
        label = parents[label]
    return path


def drive(
    steps: Steps, charges: Charges, charge_wh: float, arm: int, drawn_wh: float
) -> tuple[float, float]:
    """Return the charge after an arm and the lowest on it after its beginning, Wh.

    Parameters
    ----------
    steps, charges
        Charge functions of the arms, and the battery.
    charge_wh
        Charge before the arm, Wh.
    arm
        Row of the arm.
    drawn_wh
        Energy of the warm-up on it, Wh, which joins its first step.
    """
    left_wh = charge_wh
    low_wh = math.inf
    for step in range(steps.start[arm], steps.start[arm + 1]):
        before_wh = left_wh
        left_wh -= steps.step_wh[step] + drawn_wh
        drawn_wh = 0.0
        if left_wh > charges.lossless_wh:
            left_wh = min(faded(charges, before_wh, left_wh), charges.capacity_wh)
        low_wh = min(low_wh, left_wh)
    return left_wh, low_wh


def faded(charges: Charges, before_wh: float, left_wh: float) -> float:
    """Return the charge after a step with the loss near a full battery, Wh (`Battery.after`).

    Parameters
    ----------
    charges
        The battery.
    before_wh, left_wh
        Charge before the step, and after it without the loss, Wh.
    """
    if charges.fade > 0.0 and left_wh > before_wh:
        full_wh = max(before_wh, charges.lossless_wh)
        taken = max(1.0 - charges.fade * (full_wh - charges.lossless_wh), 0.0)
        left_wh = full_wh - taken / charges.fade * math.expm1(-charges.fade * (left_wh - full_wh))
    return left_wh


PIECES = (
    _within,
    _route,
    _is_free,
    _first_is_best,
    _order,
    _is_cut,
    _bound,
    is_covered,
    warmed,
    drawn,
    warm_up_left,
    drive,
    faded,
)
"""Functions that the loop calls, compiled with it."""
