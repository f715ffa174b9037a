"""The loop of the search with charging stops: plain Python, or compiled by numba (extra ``fast``).

A label is a `Segment`: the charges that a route may have left since its last stop, and the cost of
each. So the charge to leave the last stop with stays open until the next stop, or the arrival,
decides it. numba does not look at other files: change this one with `segments` and with the named
tuples of `label_loops`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from evroute.arrays import IntArray
from evroute.planning.charge.warming import Warming, drawn, warmed
from evroute.planning.searches.label_loops import Charges, Costs, Steps, Ways
from evroute.planning.searches.segments import (
    NEAR_WH,
    Bounds,
    Pace,
    Segment,
    Sockets,
    at_leaving,
    bound_of,
    cost_of,
    dominated,
    driven,
    faded,
    left_by_stops,
    lossy,
    next_corner,
    rest_at,
)

BEFORE = -1
"""State before the first edge, and the charger before the first stop."""


class Label(NamedTuple):
    """A settled label: its number, -1 for none, its state, whether it ends a stop, and its time."""

    number: int
    state: int
    stopped: int
    bound: float
    held: Segment
    driven_s: float


def settle_stops(
    ways: Ways,
    steps: Steps,
    charges: Charges,
    costs: Costs,
    warming: Warming,
    sockets: Sockets,
    pace: Pace,
) -> tuple[list[tuple[int, int, int, float, float]], float]:
    """Settle labels in the order of a lower bound of the cost on arrival.

    Parameters
    ----------
    ways, steps, charges, costs, warming, sockets, pace
        Network, request, battery, costs of driving, warm-up, and chargers.

    Returns
    -------
    labels
        State, whether it ends a stop, charger, energy since the last stop, Wh, and least charge,
        Wh, of the labels of the best plan backwards.
    bound
        The bound that the search reached, or infinite if there is no plan.
    """
    # bound, minus charge, base, net, low, high, state, label before, charger, whether it stopped,
    # and the time driven
    full_wh = charges.first_wh
    queue = [(0.0, 0.0, 0.0, 0.0, full_wh, full_wh, BEFORE, -1, BEFORE, 0, 0.0)]
    # state, label before, whether it stopped, older label of the state, the segment, and the time
    labels = [(-1, -1, 0, -1, -1, 0.0, 0.0, 0.0, 0.0, 0.0)]
    labels.pop()
    newest = np.empty(ways.n_states + 2, np.int64)  # last label of states, arrival, and the start
    newest[:] = -1
    label = _next(queue, labels, newest, charges, costs, warming, sockets, pace)
    while label.number >= 0 and label.state < ways.n_states:
        state = label.state
        last = state % ways.n_edges
        low, high, n_own = _turns(ways, label)
        for turn in range(low, high + n_own):
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
            bounds = rest_at(costs, sockets, place)
            if bounds[2] == math.inf:
                continue
            after_s, drawn_wh = drawn(warming, label.driven_s, arm)
            names = (into, label.number, ways.n_states, after_s)
            left = driven(steps, charges, label.held, arm, costs.cost[arm], drawn_wh)
            _push(queue, charges, sockets, pace, left, bounds, names)
            first, beyond = lossy(charges, label.held, left)
            for percent in range(first, beyond):
                held = at_leaving(label.held, percent * charges.capacity_wh / 100.0)
                left = driven(steps, charges, held, arm, costs.cost[arm], drawn_wh)
                _push(queue, charges, sockets, pace, left, bounds, names)
        if label.stopped == 0 and state >= 0 and sockets.first[last] < sockets.first[last + 1]:
            bounds = rest_at(costs, sockets, state)
            for entry in range(sockets.first[last], sockets.first[last + 1]):
                charger = sockets.charger[entry]
                _stop(queue, charges, sockets, pace, label, bounds, charger)
        label = _next(queue, labels, newest, charges, costs, warming, sockets, pace)
    return _plan(labels, label.number), label.bound


def _turns(ways: Ways, label: Label) -> tuple[int, int, int]:
    """Return the first turn of a label, that after its last one, and the number of own turns.

    A car goes on from a halt only after a stop.
    """
    n_own = len(ways.own_arm)
    if label.state < 0:
        return 0, 0, n_own
    last = label.state % ways.n_edges
    if last >= ways.halts and label.stopped == 0:
        return 0, 0, 0
    return ways.first[last], ways.first[last + 1], n_own


def _push(
    queue: list[Any],
    charges: Charges,
    sockets: Sockets,
    pace: Pace,
    left: Segment,
    bounds: Bounds,
    names: tuple[int, int, int, float],
) -> None:
    """Put a driven segment into the queue. On arrival with the charge that costs least.

    The names are its state, the label before, the first state of arrival, and the time driven.
    """
    into, before, arrival, driven_s = names
    low_wh = left.low_wh
    if into < arrival:
        bound = bound_of(charges, sockets, pace, left, bounds)
        if left.high_wh < charges.least_wh or bound == math.inf:
            return
        high_wh = left.high_wh
    else:
        low_wh = max(low_wh, pace.arrive_wh)
        if left.high_wh < low_wh - NEAR_WH:
            return
        low_wh = _arrival_wh(charges, sockets, pace, left, min(low_wh, left.high_wh))
        high_wh = low_wh
        spent = cost_of(sockets, charges.capacity_wh, left, low_wh)
        bound = spent + max(pace.credit * (pace.credit_wh - low_wh), pace.least_credit)
    net_wh, charger = left.net_wh, left.charger
    heapq.heappush(
        queue,
        (bound, -low_wh, left.base, net_wh, low_wh, high_wh, into, before, charger, 0, driven_s),
    )


def _arrival_wh(
    charges: Charges, sockets: Sockets, pace: Pace, left: Segment, low_wh: float
) -> float:
    """Return the charge on arrival of least cost, Wh: a corner of cost and credit."""
    best_wh = low_wh
    if pace.credit == 0.0 or left.charger < 0:
        return best_wh
    least = math.inf
    unit_wh = charges.capacity_wh / 100.0
    at_wh = low_wh
    while True:
        spent = cost_of(sockets, charges.capacity_wh, left, at_wh)
        spent += max(pace.credit * (pace.credit_wh - at_wh), pace.least_credit)
        if spent < least - pace.near:
            least = spent
            best_wh = at_wh
        if at_wh >= left.high_wh:
            return best_wh
        corner_wh = next_corner(sockets, left, at_wh, unit_wh)
        if at_wh < pace.credit_wh:
            corner_wh = min(corner_wh, pace.credit_wh)
        at_wh = min(corner_wh, left.high_wh)


def _stop(
    queue: list[Any],
    charges: Charges,
    sockets: Sockets,
    pace: Pace,
    label: Label,
    bounds: Bounds,
    charger: int,
) -> None:
    """Put the stops at a charger into the queue, one for each charge on arrival that may be best.

    More charge bought before and less here costs more or less by the charge on arrival, linearly
    between corners. So the best charge on arrival for each charge on leaving is a valley of that
    cost, or no stop is better. Of two valleys the later one counts only if it is deeper.
    """
    held = label.held
    unit_wh = charges.capacity_wh / 100.0
    at_wh = max(held.low_wh, pace.low_wh)
    end_wh = min(held.high_wh, pace.high_wh)
    deepest = math.inf
    valley = Segment(charger, math.inf, 0.0, 0.0, 0.0)
    before = math.inf
    before_wh = at_wh
    while at_wh <= end_wh:
        here = Segment(charger, 0.0, 0.0, at_wh, pace.high_wh)
        change = cost_of(sockets, charges.capacity_wh, held, at_wh)
        change -= cost_of(sockets, charges.capacity_wh, here, at_wh)
        if change >= before and before < deepest - pace.near:
            _push_stop(queue, charges, sockets, pace, valley, before_wh, (bounds, label))
            deepest = before
            valley = Segment(charger, before + pace.setup, 0.0, before_wh, pace.high_wh)
        before = change
        before_wh = at_wh
        if at_wh == end_wh:
            break
        corner_wh = next_corner(sockets, here, at_wh, unit_wh)
        corner_wh = min(corner_wh, next_corner(sockets, held, at_wh, unit_wh))
        at_wh = min(corner_wh, end_wh)
    if before < deepest - pace.near:
        _push_stop(queue, charges, sockets, pace, valley, before_wh, (bounds, label))
        valley = Segment(charger, before + pace.setup, 0.0, before_wh, pace.high_wh)
    _push_stop(queue, charges, sockets, pace, valley, pace.high_wh, (bounds, label))


def _push_stop(
    queue: list[Any],
    charges: Charges,
    sockets: Sockets,
    pace: Pace,
    valley: Segment,
    until_wh: float,
    names: tuple[Bounds, Label],
) -> None:
    """Put a stop into the queue that leaves with at most a charge, if there is one."""
    bounds, label = names
    if valley.base == math.inf or valley.low_wh >= until_wh:
        return
    stop = Segment(valley.charger, valley.base, 0.0, valley.low_wh, until_wh)
    bound = bound_of(charges, sockets, pace, stop, bounds)
    if bound < math.inf:
        state, before = label.state, label.number
        base, low_wh, charger = stop.base, stop.low_wh, stop.charger
        heapq.heappush(
            queue,
            (
                bound,
                -low_wh,
                base,
                0.0,
                low_wh,
                until_wh,
                state,
                before,
                charger,
                1,
                label.driven_s,
            ),
        )


def _next(
    queue: list[Any],
    labels: list[Any],
    newest: IntArray,
    charges: Charges,
    costs: Costs,
    warming: Warming,
    sockets: Sockets,
    pace: Pace,
) -> Label:
    """Settle and return the next label that no other one of its state dominates.

    The low charges of a label that are dominated are left out. If its bound then is no longer the
    least, it goes back into the queue.
    """
    arrival = len(newest) - 2
    while len(queue) > 0 and len(labels) <= pace.effort:
        entry = heapq.heappop(queue)
        bound, minus_wh, base, net_wh, low_wh, high_wh, state, before, charger, stopped = entry[:10]
        driven_s = entry[10]
        place = min(state, arrival)
        held = Segment(charger, base, net_wh, low_wh, high_wh)
        other = newest[place] if place != arrival else -1
        while other >= 0 and low_wh < math.inf:
            given = (held, charges.capacity_wh, driven_s, place)
            until_wh = _covered(sockets, pace, warming, labels[other], given)
            if until_wh >= high_wh - NEAR_WH:
                low_wh = math.inf
            elif until_wh > low_wh and stopped == 0:
                low_wh = until_wh
                held = Segment(charger, base, net_wh, low_wh, high_wh)
            other = labels[other][3]
        if low_wh > -minus_wh and low_wh < math.inf:
            bounds = rest_at(costs, sockets, state)
            bound = bound_of(charges, sockets, pace, held, bounds)
            if len(queue) > 0 and bound > queue[0][0]:
                again = (bound, -low_wh, base, net_wh, low_wh, high_wh)
                _push_again(queue, again, (state, before, charger, driven_s))
                low_wh = math.inf
        if low_wh < math.inf:
            label = Label(len(labels), state, stopped, bound, held, driven_s)
            older = newest[place]
            labels.append(
                (state, before, stopped, older, charger, base, net_wh, low_wh, high_wh, driven_s)
            )
            newest[place] = label.number
            return label
    none = Segment(BEFORE, 0.0, 0.0, 0.0, 0.0)
    return Label(-1, -1, 0, math.inf if len(queue) == 0 else queue[0][0], none, 0.0)


def _covered(
    sockets: Sockets,
    pace: Pace,
    warming: Warming,
    settled: Any,
    given: tuple[Segment, float, float, int],
) -> float:
    """Return up to which charge of a segment a settled label is as good, as `dominated` does, Wh.

    Given are the segment, the capacity, Wh, the time, s, and the state. A settled label that drove
    for longer is not compared.
    """
    held, capacity_wh, driven_s, place = given
    above_wh = warmed(warming, driven_s) - warmed(warming, settled[9])
    if above_wh < 0.0:
        return -math.inf
    most_wh = warming.room_wh[place] if above_wh > 0.0 else math.inf
    return dominated(sockets, pace, settled, (held, capacity_wh, above_wh, most_wh))


def _push_again(
    queue: list[Any],
    entry: tuple[float, float, float, float, float, float],
    names: tuple[int, int, int, float],
) -> None:
    """Put a driven label back into the queue."""
    bound, minus_wh, base, net_wh, low_wh, high_wh = entry
    state, before, charger, driven_s = names
    heapq.heappush(
        queue, (bound, minus_wh, base, net_wh, low_wh, high_wh, state, before, charger, 0, driven_s)
    )


def _plan(labels: list[Any], label: int) -> list[tuple[int, int, int, float, float]]:
    """Return the labels up to one, backwards."""
    path = [(0, 0, 0, 0.0, 0.0) for _ in range(0)]
    while label > 0:
        settled = labels[label]
        path.append((settled[0], settled[2], settled[4], settled[6], settled[7]))
        label = settled[1]
    return path


PIECES = (
    _turns,
    warmed,
    drawn,
    _covered,
    lossy,
    at_leaving,
    faded,
    driven,
    cost_of,
    next_corner,
    rest_at,
    _arrival_wh,
    left_by_stops,
    bound_of,
    _push,
    _push_stop,
    _stop,
    dominated,
    _push_again,
    _next,
    _plan,
)
"""Functions that the loop calls, compiled with it."""
