"""Loops of the searches by risk: routes in the order of their cost, and cheapest routes.

They are compiled by numba where the search is compiled (`compiled.run`). numba does not look at
other files: change this one with `label_loops`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from evroute.arrays import FloatArray
from evroute.planning.searches.settle import BEFORE_START, Ways


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
