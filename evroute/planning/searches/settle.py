"""The label loop of all searches without charging stops: plain Python, or compiled by numba.

A label is a way from the start to a state with the charge that is left. Searches for the best
route, for routes in the order of their worth, and for all roads within reach are this loop with
other costs and limits. numba compiles a cached loop anew if the file that defines it changes. It
does not look at other files: change this one with `charge_steps` and `warming`. The search with
charging stops has labels and a loop of its own (`stop_loops`).
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.charge.warming import Warming, drawn, is_covered, warm_up_left, warmed
from evroute.planning.searches.charge_steps import Charges, Steps, drive

TOLERANCE_S = 1e-9
BEFORE_START = -1
"""State before the first edge."""
PARETO, ALL = 0, 1
"""Labels of a state that are kept: those that no other one dominates, or all without a loop."""


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
    """What a search by energy and an additive cost looks for, and when it ends.

    Parameters
    ----------
    most, better_than
        Greatest cost, and greatest worth, which is exclusive.
    per_wh, per_cost
        Worth of one Wh and of one unit of the cost, >= 0, one of them > 0.
    keep
        `PARETO` for the best route, `ALL` for routes in the order of their worth.
    routes
        Number of routes found after which the search ends.
    effort
        Most labels settled.
    """

    most: float
    better_than: float
    per_wh: float
    per_cost: float
    keep: int
    routes: int
    effort: int


class Label(NamedTuple):
    """A way from the start to a state.

    Parameters
    ----------
    order, other
        Key by which labels are settled, and the cost in which a later one has to be better.
    charge_wh, cost
        Charge left, Wh, and the additive cost.
    state, before
        The state, and the number of the settled label before, -1 for none.
    driven_s
        Time driven after a cold start, s. 0 without.
    arm, low_wh
        The arm into the state, and the lowest charge on it after its beginning, Wh.
    """

    order: float
    other: float
    charge_wh: float
    cost: float
    state: int
    before: int
    driven_s: float
    arm: int
    low_wh: float


class Settled(NamedTuple):
    """The k settled labels. The first one is before the start.

    Parameters
    ----------
    state, before, arm, charge_wh, low_wh
        (k,) as in `Label`.
    arrived
        (r,) numbers of the labels that arrived, each better than those before or, with `ALL`, in
        the order of their worth.
    bound
        Order that the search reached. Infinite if no better or further route exists.
    """

    state: IntArray
    before: IntArray
    arm: IntArray
    charge_wh: FloatArray
    low_wh: FloatArray
    arrived: IntArray
    bound: float


def settle(
    ways: Ways, steps: Steps, charges: Charges, costs: Costs, limits: Limits, warming: Warming
) -> Settled:
    """Settle labels in the order of a lower bound on arrival.

    Labels are ordered by energy unless it costs nothing, or with `ALL` by worth. With `PARETO` a
    later label of a state must be better in the other cost, and each found route lowers the limit
    of the worth. After a cold start the energy before the warm-up is one cost, and the time driven
    is another one (`is_covered`). Where no route arrives, all states within reach are settled.

    Parameters
    ----------
    ways, steps, charges, costs, limits, warming
        Network and request, battery, costs, and warm-up.
    """
    queue = [Label(0.0, 0.0, charges.first_wh, 0.0, BEFORE_START, -1, 0.0, -1, 0.0)]
    settled, older, arrived = _no_labels()
    newest = np.empty(ways.n_states + 2, np.int64)  # last label of states, arrival, and the start
    best = np.empty(ways.n_states + 2)  # least other cost of settled labels, likewise
    newest[:] = -1
    best[:] = math.inf
    least, bound = limits.better_than, math.inf
    pareto = limits.keep == PARETO
    first_is_best = pareto and limits.per_wh * limits.per_cost == 0.0 and warming.whole_wh == 0.0
    while len(queue) > 0:
        label = heapq.heappop(queue)
        place = min(label.state, ways.n_states)
        if len(arrived) == limits.routes:
            bound = label.order
            break
        known = (place, newest[place], least, label.other >= best[place])
        if _is_cut(limits, costs, warming, settled, older, label, known):
            continue
        number = len(settled)
        if number > limits.effort and place != ways.n_states:
            bound = label.order
            break
        settled.append(label)
        older.append(newest[place])
        newest[place] = number
        best[place] = min(best[place], label.other)
        if place == ways.n_states:
            drawn_wh = charges.first_wh - label.charge_wh
            worth = limits.per_wh * drawn_wh + limits.per_cost * label.cost
            if worth < least:
                arrived.append(number)
                least = worth if pareto else least
            if first_is_best:
                break
            continue
        low, high = turns_of(ways, label.state)
        for turn in range(low, high + len(ways.own_arm)):
            arm, into = turned(ways, label.state, turn, high)
            if arm >= 0:
                place = min(into, ways.n_states)
                spent = label.cost + costs.cost[arm]
                after_s, drawn_wh = drawn(warming, label.driven_s, arm)
                left_wh, low_wh = drive(steps, charges, label.charge_wh, arm, drawn_wh)
                rest = (
                    costs.rest_wh[place],
                    warm_up_left(warming, after_s, place),
                    costs.rest[place],
                )
                after = (left_wh, low_wh, spent, after_s)
                order, other = _order(
                    charges, limits, warming, after, rest, (least, best[place]), into
                )
                if order < math.inf:
                    found = (order, other, left_wh, spent, into, number, after_s, arm, low_wh)
                    heapq.heappush(queue, Label(*found))
    return _found(settled, arrived, bound)


def _no_labels() -> tuple[list[Label], list[int], list[int]]:
    """Return empty lists: settled labels, for each the one before of its state, and arrived."""
    labels = [Label(0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 0, 0.0) for _ in range(0)]
    return labels, [0 for _ in range(0)], [0 for _ in range(0)]


def turns_of(ways: Ways, state: int) -> tuple[int, int]:
    """Return the first turn out of the edge of a state, and that after its last one.

    Parameters
    ----------
    ways, state
        The turns, and a state before arrival.
    """
    if state < 0:
        return 0, 0
    node = state % ways.n_edges
    return ways.first[node], ways.first[node + 1]


def turned(ways: Ways, state: int, turn: int, beyond: int) -> tuple[int, int]:
    """Return the arm of a turn out of a state, and the state after it. -1 if it is of another one.

    Parameters
    ----------
    ways, state
        The turns, and a state before arrival.
    turn, beyond
        Number of the turn, and from which one on they are those that only the request has.
    """
    if turn < beyond:
        into = state - state % ways.n_edges + ways.entered[turn]
        return ways.arm[turn], into + ways.n_edges * ways.ends[into]
    if ways.own_before[turn - beyond] == state:
        return ways.own_arm[turn - beyond], ways.own_into[turn - beyond]
    return -1, 0


def _order(
    charges: Charges,
    limits: Limits,
    warming: Warming,
    after: tuple[float, float, float, float],
    rest: tuple[float, float, float],
    known: tuple[float, float],
    state: int,
) -> tuple[float, float]:
    """Return order and other cost of a label at a state. Both are infinite if it is not wanted.

    The order is by energies before the warm-up.

    Parameters
    ----------
    charges, limits, warming
        As in `settle`.
    after
        Charge after an arm and lowest charge on it, Wh, cost, and time driven, s.
    rest
        Lower bounds of the energy without the warm-up, of the warm-up, Wh, and of the cost.
    known
        Worth from which on routes are not wanted, and least other cost of settled labels there.
    state
        The state.
    """
    left_wh, low_wh, spent, driven_s = after
    rest_wh, warm_wh, rest_cost = rest
    least, best = known
    total = spent + rest_cost
    worth = (
        limits.per_wh * (charges.first_wh - left_wh + (rest_wh + warm_wh)) + limits.per_cost * total
    )
    # enough on the arm, and enough on arrival even if nothing were lost on the way
    lowest_wh = min(low_wh, left_wh - (rest_wh + warm_wh))
    if not (lowest_wh >= charges.least_wh and total <= limits.most and worth < least):
        return math.inf, math.inf  # also where a worth of 0 meets an infinite bound: not a number
    if limits.keep == ALL:
        return worth, float(state)
    unwarmed_wh = left_wh + warmed(warming, driven_s)
    order, other = charges.first_wh - unwarmed_wh + rest_wh, spent
    if limits.per_wh == 0.0:
        order, other = total, -unwarmed_wh
    elif warming.whole_wh > 0.0 and _is_free(limits):
        other = min(spent, warming.whole_s)
    if warming.whole_wh == 0.0 and other >= best:
        return math.inf, math.inf
    return order, other


def _is_free(limits: Limits) -> bool:
    """Return True if the additive cost does not matter."""
    return limits.per_cost == 0.0 and limits.most == math.inf


def _is_cut(
    limits: Limits,
    costs: Costs,
    warming: Warming,
    settled: list[Label],
    older: list[int],
    label: Label,
    known: tuple[int, int, float, bool],
) -> bool:
    """Return True if no route of a label is wanted, since known ones are no worse.

    Known are its place, the number of the last settled label there, the least worth so far, and
    whether a settled label there has no more of its other cost.
    """
    place, newest, least, later = known
    if limits.keep == ALL:
        return _visited(settled, label)
    if warming.whole_wh == 0.0:
        return later
    if label.driven_s > 0.0 and _bound(limits, costs, warming, label, place) >= least:
        return True
    if (
        warming.alone
        and label.charge_wh + warmed(warming, label.driven_s) <= warming.room_wh[place]
    ):
        return later
    return is_covered(warming, settled, older, label, (newest, place, _is_free(limits)))


def _bound(limits: Limits, costs: Costs, warming: Warming, label: Label, place: int) -> float:
    """Return a lower bound of the worth of all routes of a label after a cold start."""
    if limits.per_wh == 0.0:
        return limits.per_cost * label.order
    total_wh = label.order + warmed(warming, label.driven_s + warming.rest_s[place])
    return limits.per_wh * total_wh + limits.per_cost * (label.cost + costs.rest[place])


def _visited(settled: list[Label], label: Label) -> bool:
    """Return True if the way to a label passes its state before."""
    before = label.before
    while before >= 0:
        if settled[before].state == label.state:
            return True
        before = settled[before].before
    return False


def _found(settled: list[Label], arrived: list[int], bound: float) -> Settled:
    """Return settled labels as arrays."""
    state = np.empty(len(settled), np.int64)
    before = np.empty(len(settled), np.int64)
    arm = np.empty(len(settled), np.int64)
    charge_wh = np.empty(len(settled))
    low_wh = np.empty(len(settled))
    for k in range(len(settled)):
        state[k] = settled[k].state
        before[k] = settled[k].before
        arm[k] = settled[k].arm
        charge_wh[k] = settled[k].charge_wh
        low_wh[k] = settled[k].low_wh
    number = np.empty(len(arrived), np.int64)
    for k in range(len(arrived)):
        number[k] = arrived[k]
    return Settled(state, before, arm, charge_wh, low_wh, number, bound)
