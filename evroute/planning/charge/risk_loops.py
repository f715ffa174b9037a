"""Loops of the searches by risk: routes in the order of their cost, and cheapest routes.

They are compiled by numba where the search is compiled (`compiled.run`). numba does not look at
other files: change this one with `label_loops`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from evroute.arrays import FloatArray
from evroute.planning.charge.warming import Warming, drawn, warm_up_left, warmed
from evroute.planning.searches.label_loops import (
    BEFORE_START,
    Charges,
    Costs,
    Limits,
    Steps,
    Ways,
    drive,
    faded,
)


class Number(NamedTuple):
    """The number of routes that are wanted."""

    routes: int


class Weighed(NamedTuple):
    """Two additive costs of a arms with their factors, and lower bounds from s states.

    Parameters
    ----------
    first, second
        (a,) costs of each arm, >= 0.
    rest_first, rest_second
        (s + 1,) lower bounds of their sums to the destination, or 0 on arrival. None falls over an
        arm by more than its cost.
    by_first, by_second
        Their factors, >= 0, one of them > 0.
    """

    first: FloatArray
    second: FloatArray
    rest_first: FloatArray
    rest_second: FloatArray
    by_first: float
    by_second: float


def settle_in_order(
    ways: Ways,
    steps: Steps,
    charges: Charges,
    costs: Costs,
    limits: Limits,
    warming: Warming,
    number: Number,
) -> tuple[list[int], list[int], float]:
    """Settle routes without a loop in the order of their worth. No label is cut by another one.

    Parameters
    ----------
    ways, steps, charges, costs, limits, warming
        Network, request, battery and warm-up.
    number
        Routes after which the search ends.

    Returns
    -------
    states, last
        States of the routes backwards, one after the other, and the number of states up to the end
        of each route.
    bound
        Worth that the search reached: no further route costs less. Infinite if there is none.
    """
    # worth, state, charge, cost, label before, time
    queue = [(0.0, BEFORE_START, charges.first_wh, 0.0, -1, 0.0)]
    states, parents = [-1], [-1]  # of each label; label 0 is before the start
    states.pop()
    parents.pop()
    routes, last = [-1], [-1]
    routes.pop()
    last.pop()
    while len(queue) > 0:
        worth, state, charge_wh, clock, previous, driven_s = heapq.heappop(queue)
        if len(last) == number.routes:
            return routes, last, worth
        if _visited(states, parents, state, previous):
            continue
        label = len(states)
        states.append(state)
        parents.append(previous)
        if state >= ways.n_states:
            while label > 0:
                routes.append(states[label])
                label = parents[label]
            last.append(len(routes))
            continue
        if label >= limits.effort:
            return routes, last, worth
        node = state % ways.n_edges
        low, high = (0, 0) if state < 0 else (ways.first[node], ways.first[node + 1])
        for turn in range(low, high + len(ways.own_arm)):
            if turn < high:
                arm = ways.arm[turn]
                into = state - node + ways.entered[turn]
                into += ways.n_edges * ways.ends[into]
            elif ways.own_before[turn - high] == state:
                arm = ways.own_arm[turn - high]
                into = ways.own_into[turn - high]
            else:
                continue
            place = min(into, ways.n_states)
            spent = clock + costs.cost[arm]
            total = spent + costs.rest[place]
            after_s, drawn_wh = drawn(warming, driven_s, arm)
            rest_wh = costs.rest_wh[place] + warm_up_left(warming, after_s, place)
            left_wh, low_wh = drive(steps, charges, charge_wh, arm, drawn_wh)
            total_wh = charges.first_wh - left_wh + rest_wh
            worth = limits.per_wh * total_wh + limits.per_cost * total
            # enough on the arm, and enough on arrival even if nothing were lost on the way
            lowest_wh = min(low_wh, left_wh - rest_wh)
            within = total <= limits.most and worth < limits.better_than
            if lowest_wh >= charges.least_wh and within:
                heapq.heappush(queue, (worth, into, left_wh, spent, label, after_s))
    return routes, last, math.inf


def _visited(states: list[int], parents: list[int], state: int, label: int) -> bool:
    """Return True if a state is one of those up to a label."""
    while label >= 0:
        if states[label] == state:
            return True
        label = parents[label]
    return False


def settle_cheapest(ways: Ways, weighed: Weighed) -> list[int]:
    """Settle states in the order of the least sum of costs by their factors (A*).

    Parameters
    ----------
    ways, weighed
        Network, request and costs.

    Returns
    -------
    states
        States of the cheapest route backwards, or none if there is no route.
    """
    best = np.empty(ways.n_states + 1)
    best[:] = math.inf
    # order, cost, state, label before
    queue: list[Any] = [(0.0, 0.0, BEFORE_START, -1)]
    states, parents = [-1], [-1]
    states.pop()
    parents.pop()
    while len(queue) > 0:
        _, cost, state, previous = heapq.heappop(queue)
        if state >= 0 and cost > best[min(state, ways.n_states)]:
            continue
        label = len(states)
        states.append(state)
        parents.append(previous)
        if state >= ways.n_states:
            break
        node = state % ways.n_edges
        low, high = (0, 0) if state < 0 else (ways.first[node], ways.first[node + 1])
        for turn in range(low, high + len(ways.own_arm)):
            if turn < high:
                arm = ways.arm[turn]
                into = state - node + ways.entered[turn]
                into += ways.n_edges * ways.ends[into]
            elif ways.own_before[turn - high] == state:
                arm = ways.own_arm[turn - high]
                into = ways.own_into[turn - high]
            else:
                continue
            place = min(into, ways.n_states)
            first, second = weighed.first[arm], weighed.second[arm]
            total = cost + _sum(weighed.by_first, first, weighed.by_second, second)
            if total < best[place]:
                first, second = weighed.rest_first[place], weighed.rest_second[place]
                order = total + _sum(weighed.by_first, first, weighed.by_second, second)
                if order < math.inf:
                    best[place] = total
                    heapq.heappush(queue, (order, total, into, label))
    path = states[:0]
    if len(states) > 0 and states[len(states) - 1] >= ways.n_states:
        label = len(states) - 1
        while label > 0:
            path.append(states[label])
            label = parents[label]
    return path


def _sum(by_first: float, first: float, by_second: float, second: float) -> float:
    """Return the sum of two costs by their factors. By the factor 0 not even infinity counts."""
    total = 0.0
    if by_first > 0.0:
        total += by_first * first
    if by_second > 0.0:
        total += by_second * second
    return total


PIECES = (drive, faded, warmed, drawn, warm_up_left, _visited, _sum)
"""Functions that the loops call, compiled with them."""
