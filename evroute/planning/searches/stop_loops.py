"""The loop of the search with charging stops: plain Python, or compiled by numba (extra ``fast``).

A label is a `Segment`: the charges that a route may have left since its last stop, and the cost of
each. So the charge to leave the last stop with stays open until the next stop, or the arrival,
decides it. numba does not look at other files: change this one with `segments`, `charge_steps` and
`warming`, and with the turns of `settle`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from evroute.arrays import IntArray
from evroute.planning.charge.warming import Warming, drawn, warmed
from evroute.planning.searches.charge_steps import Charges, Steps
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
    lossy,
    next_corner,
    rest_at,
)
from evroute.planning.searches.settle import BEFORE_START, Costs, Ways, turned, turns_of

NO_CHARGER = -1
"""Charger before the first stop."""


class Label(NamedTuple):
    """A segment of charges at a state.

    Parameters
    ----------
    bound, minus_wh
        Key by which labels are settled: lower bound of the cost on arrival, and the least charge
        with which it was found, negative, Wh.
    base, net_wh, low_wh, high_wh, charger
        The segment (`Segment`).
    state, before
        The state, and the number of the settled label before, -1 for none.
    stopped
        1 where the label ends a stop, else 0.
    driven_s
        Time driven after a cold start, s. 0 without.
    """

    bound: float
    minus_wh: float
    base: float
    net_wh: float
    low_wh: float
    high_wh: float
    state: int
    before: int
    charger: int
    stopped: int
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
    queue = [_label((0.0, BEFORE_START, -1, 0, 0.0), _first(charges))]
    labels = [queue[0] for _ in range(0)]
    older = [0 for _ in range(0)]  # of each settled label, the one before of its state
    newest = np.empty(ways.n_states + 2, np.int64)  # last label of states, arrival, and the start
    newest[:] = -1
    number = _next(queue, (labels, older, newest), charges, costs, warming, sockets, pace)
    while number >= 0 and labels[number].state < ways.n_states:
        label = labels[number]
        state, held = label.state, segment_of(label)
        low, high, n_own = _turns(ways, label)
        for turn in range(low, high + n_own):
            arm, into = turned(ways, state, turn, high)
            if arm < 0:
                continue
            bounds = rest_at(costs, sockets, min(into, ways.n_states))
            if bounds[2] == math.inf:
                continue
            after_s, drawn_wh = drawn(warming, label.driven_s, arm)
            names = (into, number, ways.n_states, after_s)
            left = driven(steps, charges, held, arm, costs.cost[arm], drawn_wh)
            _push(queue, charges, sockets, pace, left, bounds, names)
            first, beyond = lossy(charges, held, left)
            for percent in range(first, beyond):
                leaving = at_leaving(held, percent * charges.capacity_wh / 100.0)
                left = driven(steps, charges, leaving, arm, costs.cost[arm], drawn_wh)
                _push(queue, charges, sockets, pace, left, bounds, names)
        if label.stopped == 0 and state >= 0:
            node = state % ways.n_edges
            for entry in range(sockets.first[node], sockets.first[node + 1]):
                bounds = rest_at(costs, sockets, state)
                names = (state, number, sockets.charger[entry], label.driven_s)
                _stop(queue, charges, sockets, pace, held, bounds, names)
        number = _next(queue, (labels, older, newest), charges, costs, warming, sockets, pace)
    bound = math.inf
    if number >= 0:
        bound = labels[number].bound
    elif len(queue) > 0:
        bound = queue[0].bound
    return _plan(labels, number), bound


def _first(charges: Charges) -> Segment:
    """Return the charge at the start."""
    return Segment(NO_CHARGER, 0.0, 0.0, charges.first_wh, charges.first_wh)


def _label(names: tuple[float, int, int, int, float], held: Segment) -> Label:
    """Return the label of a segment.

    The names are its bound, its state, the label before, whether it ends a stop, and the time
    driven.
    """
    bound, state, before, stopped, driven_s = names
    return Label(
        bound,
        -held.low_wh,
        held.base,
        held.net_wh,
        held.low_wh,
        held.high_wh,
        state,
        before,
        held.charger,
        stopped,
        driven_s,
    )


def segment_of(label: Label) -> Segment:
    """Return the segment of a label.

    Parameters
    ----------
    label
        The label.
    """
    return Segment(label.charger, label.base, label.net_wh, label.low_wh, label.high_wh)


def _turns(ways: Ways, label: Label) -> tuple[int, int, int]:
    """Return the first turn of a label, that after its last one, and the number of own turns.

    A car goes on from a halt only after a stop.
    """
    if label.state >= 0 and label.state % ways.n_edges >= ways.halts and label.stopped == 0:
        return 0, 0, 0
    first, beyond = turns_of(ways, label.state)
    return first, beyond, len(ways.own_arm)


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
    arrived = Segment(left.charger, left.base, left.net_wh, low_wh, high_wh)
    heapq.heappush(queue, _label((bound, into, before, 0, driven_s), arrived))


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
    held: Segment,
    bounds: Bounds,
    names: tuple[int, int, int, float],
) -> None:
    """Put the stops at a charger into the queue, one for each charge on arrival that may be best.

    More charge bought before and less here costs more or less by the charge on arrival, linearly
    between corners. So the best charge on arrival for each charge on leaving is a valley of that
    cost, or no stop is better. Of two valleys the later one counts only if it is deeper. The names
    are the state, the label before, the charger, and the time driven.
    """
    charger = names[2]
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
            _push_stop(queue, charges, sockets, pace, valley, before_wh, (bounds, names))
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
        _push_stop(queue, charges, sockets, pace, valley, before_wh, (bounds, names))
        valley = Segment(charger, before + pace.setup, 0.0, before_wh, pace.high_wh)
    _push_stop(queue, charges, sockets, pace, valley, pace.high_wh, (bounds, names))


def _push_stop(
    queue: list[Any],
    charges: Charges,
    sockets: Sockets,
    pace: Pace,
    valley: Segment,
    until_wh: float,
    known: tuple[Bounds, tuple[int, int, int, float]],
) -> None:
    """Put a stop into the queue that leaves with at most a charge, if there is one."""
    bounds, (state, before, _, driven_s) = known
    if valley.base == math.inf or valley.low_wh >= until_wh:
        return
    stop = Segment(valley.charger, valley.base, 0.0, valley.low_wh, until_wh)
    bound = bound_of(charges, sockets, pace, stop, bounds)
    if bound < math.inf:
        heapq.heappush(queue, _label((bound, state, before, 1, driven_s), stop))


def _next(
    queue: list[Any],
    settled: tuple[list[Any], list[int], IntArray],
    charges: Charges,
    costs: Costs,
    warming: Warming,
    sockets: Sockets,
    pace: Pace,
) -> int:
    """Settle the next label that no other one of its state dominates. Return its number, or -1.

    Settled are labels, for each the one before of its state, and the last one of each state. The
    low charges of a label that are dominated are left out. If its bound then is no longer the
    least, it goes back into the queue.
    """
    labels, older, newest = settled
    arrival = len(newest) - 2
    while len(queue) > 0 and len(labels) <= pace.effort:
        label = heapq.heappop(queue)
        bound, low_wh, held = label.bound, label.low_wh, segment_of(label)
        place = min(label.state, arrival)
        other = newest[place] if place != arrival else -1
        while other >= 0 and low_wh < math.inf:
            given = (held, charges.capacity_wh, label.driven_s, place)
            until_wh = _covered(sockets, pace, warming, labels[other], given)
            if until_wh >= label.high_wh - NEAR_WH:
                low_wh = math.inf
            elif until_wh > low_wh and label.stopped == 0:
                low_wh = until_wh
                held = Segment(label.charger, label.base, label.net_wh, low_wh, label.high_wh)
            other = older[other]
        names = (label.state, label.before, label.stopped, label.driven_s)
        if low_wh > -label.minus_wh and low_wh < math.inf:
            bound = bound_of(charges, sockets, pace, held, rest_at(costs, sockets, label.state))
            if len(queue) > 0 and bound > queue[0].bound:
                heapq.heappush(queue, _label((bound, *names), held))
                low_wh = math.inf
        if low_wh < math.inf:
            number = len(labels)
            labels.append(_label((bound, *names), held))
            older.append(newest[place])
            newest[place] = number
            return number
    return -1


def _covered(
    sockets: Sockets,
    pace: Pace,
    warming: Warming,
    settled: Label,
    given: tuple[Segment, float, float, int],
) -> float:
    """Return up to which charge of a segment a settled label is as good, as `dominated` does, Wh.

    Given are the segment, the capacity, Wh, the time, s, and the state. A settled label that drove
    for longer is not compared.
    """
    held, capacity_wh, driven_s, place = given
    above_wh = warmed(warming, driven_s) - warmed(warming, settled.driven_s)
    if above_wh < 0.0:
        return -math.inf
    most_wh = warming.room_wh[place] if above_wh > 0.0 else math.inf
    return dominated(sockets, pace, segment_of(settled), (held, capacity_wh, above_wh, most_wh))


def _plan(labels: list[Any], number: int) -> list[tuple[int, int, int, float, float]]:
    """Return the labels up to one, backwards."""
    path = [(0, 0, 0, 0.0, 0.0) for _ in range(0)]
    while number > 0:
        label = labels[number]
        path.append((label.state, label.stopped, label.charger, label.net_wh, label.low_wh))
        number = label.before
    return path
