"""The loops of the label searches: plain Python, or compiled by numba (extra ``fast``).

`settle_two_costs` serves `labels`, `settle_stops` serves `charge.stops`. Both drive an arm by
`_drive`. numba compiles a cached function anew if the file that defines it changes; it does not
look at other files. So every function, named tuple and constant of a compiled loop is in this file.
The pieces that run at every turn take few arrays: numba counts the references to each of them.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray

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


class Steps(NamedTuple):
    """The charge functions of a arms: first steps, (a + 1,), and energies, (r,) Wh."""

    start: IntArray
    step_wh: FloatArray


class Charges(NamedTuple):
    """A battery as numbers.

    Parameters
    ----------
    first_wh, capacity_wh
        Charge at the start and usable capacity, Wh; the capacity may be infinite.
    least_wh, reserve_wh
        Least charge allowed and the reserve, Wh; the first is lower by a rounding.
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
        (s + 1,) lower bounds of the energy, Wh, and of the cost to the destination; 0 on arrival.
    """

    cost: FloatArray
    rest_wh: FloatArray
    rest: FloatArray


class Limits(NamedTuple):
    """The worth and the limits of a search by energy and an additive cost.

    Parameters
    ----------
    most, better_than, most_wh
        Greatest cost, greatest worth, which is exclusive, and greatest energy, Wh.
    per_wh, per_cost, effort
        Worth of one Wh and of one unit of the cost, >= 0, one of them > 0; most labels settled.
    """

    most: float
    better_than: float
    most_wh: float
    per_wh: float
    per_cost: float
    effort: int


class Sockets(NamedTuple):
    """The c chargers at n edges, and lower bounds from s states.

    Parameters
    ----------
    first, charger
        (n + 1,) first entry of each edge, and the charger of each entry.
    table_s
        (c, 101) time of each charger from empty to each whole per cent, s.
    rest_both_s
        (s + 1,) least sum of time and of energy by ``per_wh`` of the pace, s; 0 on arrival.
    """

    first: IntArray
    charger: IntArray
    table_s: FloatArray
    rest_both_s: FloatArray


class Pace(NamedTuple):
    """Numbers of a search with charging stops.

    Parameters
    ----------
    per_wh, setup_s
        Least time to charge one Wh anywhere, and the time of a stop beside charging, s.
    step, effort
        Stops end at multiples of this charge, %; the number of labels at which the search ends.
    """

    per_wh: float
    setup_s: float
    step: int
    effort: int


class Label(NamedTuple):
    """A settled label of a search with stops, with the bound of its time on arrival, s.

    The number is -1 for no label, the state before the start, the charger for driving.
    """

    number: int
    state: int
    charger: int
    charge_wh: float
    clock_s: float
    bound_s: float


def settle_two_costs(
    ways: Ways, steps: Steps, charges: Charges, costs: Costs, limits: Limits
) -> tuple[list[int], bool]:
    """Settle labels in the order of one cost; a later label of a state must be better in the other.

    The order is that of the energy unless it costs nothing. Each found route lowers the limit of
    the worth.

    Parameters
    ----------
    ways, steps, charges, costs, limits
        Network, request and battery.

    Returns
    -------
    states
        States of the best route backwards; none if no route is better.
    proven
        Whether no better route exists.
    """
    # order, second cost, charge, cost, state, label before
    queue = [(0.0, 0.0, charges.first_wh, 0.0, BEFORE_START, -1)]
    states, parents = [-1], [-1]  # of each label; label 0 is before the start
    states.pop()
    parents.pop()
    best = np.empty(ways.n_states + 2)  # second cost of settled states, arrival, and the start
    best[:] = math.inf
    found, least = 0, limits.better_than
    proven = False
    while len(queue) > 0 and len(states) <= limits.effort and not proven:
        _, other, charge_wh, clock, state, previous = heapq.heappop(queue)
        place = min(state, ways.n_states)
        if other >= best[place]:
            continue
        best[place] = other
        label = len(states)
        states.append(state)
        parents.append(previous)
        if place == ways.n_states:
            total = limits.per_wh * (charges.first_wh - charge_wh) + limits.per_cost * clock
            if total < least:
                found = label
                least = total
            proven = limits.per_wh * limits.per_cost == 0.0
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
            left_wh, low_wh = _drive(steps, charges, charge_wh, arm)
            place = min(into, ways.n_states)
            spent = clock + costs.cost[arm]
            total_wh = charges.first_wh - left_wh + costs.rest_wh[place]
            total = spent + costs.rest[place]
            # enough on the arm, and enough on arrival even if nothing were lost on the way
            lowest_wh = min(low_wh, left_wh - costs.rest_wh[place])
            if lowest_wh >= charges.least_wh and _within(limits, total_wh, total, least):
                order, second = (total_wh, spent) if limits.per_wh > 0.0 else (total, -left_wh)
                heapq.heappush(queue, (order, second, left_wh, spent, into, label))
    return _route(states, parents, found), proven or len(queue) == 0


def _within(limits: Limits, total_wh: float, total: float, least: float) -> bool:
    """Return True if an energy, Wh, and a cost are within both limits."""
    worth = limits.per_wh * total_wh + limits.per_cost * total
    return total <= limits.most and total_wh <= limits.most_wh and worth < least


def _route(states: list[int], parents: list[int], label: int) -> list[int]:
    """Return the states of the route to a label backwards; label 0 has none."""
    path = states[:0]
    while label > 0:
        path.append(states[label])
        label = parents[label]
    return path


def settle_stops(
    ways: Ways, steps: Steps, charges: Charges, times: Costs, sockets: Sockets, pace: Pace
) -> tuple[list[tuple[int, int, float, float]], float]:
    """Settle labels of (time, charge) in the order of a lower bound of the time on arrival.

    A label is a state with the charge after driving its edge, or after charging there.

    Parameters
    ----------
    ways, steps, charges, times, sockets, pace
        Network, request, battery, travel times, s, and chargers.

    Returns
    -------
    labels
        State, charger, time and charge of the labels of the best plan backwards.
    bound_s
        The bound that the search reached, s; infinite if there is no plan.
    """
    # bound, minus charge, time, state, label before, charger
    queue = [(0.0, -charges.first_wh, 0.0, BEFORE_START, -1, -1)]
    # state, label before, charger, time, charge, older label of the state; label 0 is before
    labels = [(-1, -1, -1, 0.0, 0.0, -1)]
    labels.pop()
    newest = np.empty(ways.n_states + 2, np.int64)  # last label of states, arrival, and the start
    newest[:] = -1
    label = _next(queue, labels, newest, pace.effort, 0.0)
    while label.number >= 0 and label.state < ways.n_states:
        state = label.state
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
            left_wh, low_wh = _drive(steps, charges, label.charge_wh, arm)
            place = min(into, ways.n_states)
            spent_s = label.clock_s + times.cost[arm]
            bounds = (times.rest_wh[place], times.rest[place], sockets.rest_both_s[place])
            bound_s = _bound_s(pace, spent_s, left_wh - charges.reserve_wh, bounds)
            if low_wh >= charges.least_wh and bound_s < math.inf:
                heapq.heappush(queue, (bound_s, -left_wh, spent_s, into, label.number, -1))
        if label.charger < 0 and state >= 0 and sockets.first[last] < sockets.first[last + 1]:
            _charge(queue, charges, times, sockets, pace, label, last)
        label = _next(queue, labels, newest, pace.effort, label.bound_s)
    return _plan(labels, label.number), label.bound_s


def _next(
    queue: list[Any], labels: list[Any], newest: IntArray, effort: int, bound_s: float
) -> Label:
    """Settle and return the next label that no other one of its state dominates."""
    while len(queue) > 0 and len(labels) <= effort:
        bound_s, minus_wh, clock_s, state, before, charger = heapq.heappop(queue)
        place = min(state, len(newest) - 2)
        other = newest[place]
        while other >= 0 and not (
            labels[other][3] <= clock_s + TOLERANCE_S
            and labels[other][4] >= -minus_wh - ROUNDING_WH
        ):
            other = labels[other][5]
        if other < 0:
            label = Label(len(labels), state, charger, -minus_wh, clock_s, bound_s)
            labels.append((state, before, charger, clock_s, -minus_wh, newest[place]))
            newest[place] = label.number
            return label
    return Label(-1, -1, -1, 0.0, 0.0, math.inf if len(queue) == 0 else bound_s)


def _bound_s(
    pace: Pace, spent_s: float, spare_wh: float, bounds: tuple[float, float, float]
) -> float:
    """Return a lower bound of the time on arrival with a charge above the reserve, Wh, s."""
    rest_wh, rest_s, both_s = bounds
    bound_s = spent_s + max(rest_s, both_s - pace.per_wh * spare_wh)
    return bound_s + pace.setup_s if spare_wh < rest_wh - ROUNDING_WH else bound_s


def _charge(
    queue: list[Any],
    charges: Charges,
    times: Costs,
    sockets: Sockets,
    pace: Pace,
    label: Label,
    edge: int,
) -> None:
    """Put all charges that the chargers of an edge lead to into the queue."""
    state = label.state
    bounds = (times.rest_wh[state], times.rest[state], sockets.rest_both_s[state])
    percent = 100.0 * label.charge_wh / charges.capacity_wh
    whole = min(int(percent), 99)
    for place in range(sockets.first[edge], sockets.first[edge + 1]):
        charger = sockets.charger[place]
        table_s = sockets.table_s[charger]
        slope_s = table_s[whole + 1] - table_s[whole]
        begun_s = label.clock_s + pace.setup_s - table_s[whole] - (percent - whole) * slope_s
        for to in range(pace.step * (int(percent / pace.step) + 1), 101, pace.step):
            to_wh = charges.capacity_wh * (to / 100)
            full_s = begun_s + table_s[to]
            bound_s = _bound_s(pace, full_s, to_wh - charges.reserve_wh, bounds)
            if bound_s < math.inf:
                heapq.heappush(queue, (bound_s, -to_wh, full_s, state, label.number, charger))


def _plan(labels: list[Any], label: int) -> list[tuple[int, int, float, float]]:
    """Return state, charger, time and charge of the labels up to one, backwards."""
    path = [(0, 0, 0.0, 0.0) for _ in range(0)]
    while label > 0:
        state, label, charger, clock_s, charge_wh, _ = labels[label]
        path.append((state, charger, clock_s, charge_wh))
    return path


def _drive(steps: Steps, charges: Charges, charge_wh: float, arm: int) -> tuple[float, float]:
    """Return the charge after an arm and the lowest on it after its beginning, Wh."""
    left_wh = charge_wh
    low_wh = math.inf
    for step in range(steps.start[arm], steps.start[arm + 1]):
        before_wh = left_wh
        left_wh -= steps.step_wh[step]
        if left_wh > charges.lossless_wh:
            left_wh = min(_faded(charges, before_wh, left_wh), charges.capacity_wh)
        low_wh = min(low_wh, left_wh)
    return left_wh, low_wh


def _faded(charges: Charges, before_wh: float, left_wh: float) -> float:
    """Return the charge after a step with the loss near a full battery, Wh (`Battery.after`)."""
    if charges.fade > 0.0 and left_wh > before_wh:
        full_wh = max(before_wh, charges.lossless_wh)
        taken = max(1.0 - charges.fade * (full_wh - charges.lossless_wh), 0.0)
        left_wh = full_wh - taken / charges.fade * math.expm1(-charges.fade * (left_wh - full_wh))
    return left_wh


PIECES = (_within, _route, _next, _bound_s, _charge, _plan, _drive, _faded)
"""Functions that the loops call, compiled with them."""
