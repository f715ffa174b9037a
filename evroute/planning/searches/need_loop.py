"""The loop of needed charges, backwards, and of charges left, forwards, where stations may be used.

It is compiled by numba where the search is compiled (`compiled.run`). numba does not look at other
files: change this one with `charge_steps`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.charge_steps import NEAR_WH, Charges, Steps, before_arm, drive


class Turns(NamedTuple):
    """The turns between n nodes in the legs of a request, in the direction of a search.

    Parameters
    ----------
    ahead
        1 for charges left, forwards from the starts. 0 for needed charges, backwards from the ends.
    first, beyond, arm
        (n + 1,) first turn out of each node, and the node behind each turn and its arm. Backwards,
        first turn into each node, and the node before.
    ends
        (s,) 1 where the end of a node ends its leg, else 0.
    after_wh
        (n,) potential after each node, Wh.
    root, root_wh, root_station
        (k,) states at which the search begins, the charge there, Wh, and the number of its station,
        -1 for none.
    until, most_wh
        States after which the search ends once it has settled all and the order of the next state,
        a needed charge plus potential, is above a bound, Wh. Where it is infinite, all are settled.
    since_wh
        (s,) lower bounds of the energy above the potential from these states to each, or 0, Wh.
    """

    ahead: int
    first: NDArray[np.integer[Any]]
    beyond: NDArray[np.integer[Any]]
    arm: IntArray
    ends: NDArray[np.int8]
    after_wh: FloatArray
    root: IntArray
    root_wh: FloatArray
    root_station: IntArray
    until: IntArray
    most_wh: float
    since_wh: FloatArray


class Stations(NamedTuple):
    """Stations at n nodes.

    Parameters
    ----------
    station
        (n,) number of the station at each node, -1 for none.
    known
        (s,) number of the station that ends routes at each state, -1 for none.
    used
        (s,) 1 where no station is used.
    least_wh, most_wh
        Least charge on arrival at a station, and greatest charge on leaving it, Wh.
    first_halt
        First node at which a car only stops.
    """

    station: IntArray
    known: IntArray
    used: NDArray[np.int8]
    least_wh: float
    most_wh: float
    first_halt: int


class Held(NamedTuple):
    """A charge at a state, and the station at which the rest is charged, -1 for none."""

    order_wh: float
    state: int
    charge_wh: float
    station: int


def settle_charges(
    turns: Turns, steps: Steps, charges: Charges, stations: Stations
) -> tuple[FloatArray, IntArray]:
    """Settle states in the order of a charge plus the potential (A*): needs rise, charges fall.

    A station at which the rest is charged lowers a need, and fills a battery that reaches it. So
    its state is entered again, once.

    Parameters
    ----------
    turns, steps, charges, stations
        Network and direction, battery, and stations.

    Returns
    -------
    charge_wh
        (s,) least charge needed after each state, or most charge left, Wh. Infinite where none is
        held, or minus infinity where none is reached.
    station
        (s,) number of the first station at which the rest is charged, -1 for none.
    """
    n_states = len(turns.ends)
    n = len(turns.first) - 1
    sign = 1.0 - 2.0 * turns.ahead  # of an order that rises
    found_wh = np.empty(n_states)
    found_wh[:] = sign * math.inf
    station = np.empty(n_states, np.int64)
    station[:] = -1
    used = stations.used.copy()
    queue = [Held(0.0, 0, 0.0, 0) for _ in range(0)]
    for k in range(len(turns.root)):
        _enter(queue, turns, charges, turns.root[k], turns.root_wh[k], turns.root_station[k])
    missing = len(turns.until)
    while len(queue) > 0:
        held = heapq.heappop(queue)
        if missing == 0 and held.order_wh > turns.most_wh:
            break
        state, node = held.state, held.state % n
        charge_wh, named = held.charge_wh, held.station
        if turns.ahead == 0 and node >= stations.first_halt:
            charge_wh, named = _arriving(stations, held, node)
        if sign * charge_wh >= sign * found_wh[state] - NEAR_WH:
            continue
        if math.isinf(found_wh[state]) and charge_wh <= stations.most_wh + NEAR_WH:
            missing -= _count(turns.until, state)
        found_wh[state] = charge_wh
        station[state] = named
        at = stations.station[node]
        if at >= 0 and used[state] == 0 and _charges(turns, stations, charge_wh):
            used[state] = 1
            _enter(queue, turns, charges, state, _beyond_wh(turns, stations), at)
        if _goes_on(turns, stations, state, node, charge_wh):
            for turn in range(turns.first[node], turns.first[node + 1]):
                _turn(queue, turns, steps, charges, (state, charge_wh, named), turn)
    return found_wh, station


def _count(numbers: IntArray, number: int) -> int:
    """Return how many times a number is among some numbers."""
    found = 0
    for k in range(len(numbers)):
        found += numbers[k] == number
    return found


def _beyond_wh(turns: Turns, stations: Stations) -> float:
    """Return the charge beyond a station that is used, in the direction of the search, Wh."""
    return stations.most_wh if turns.ahead == 1 else stations.least_wh


def _enter(
    queue: list[Any], turns: Turns, charges: Charges, state: int, charge_wh: float, station: int
) -> None:
    """Put a state into the queue unless the battery does not hold the charge."""
    since_wh = turns.since_wh[state]
    if charge_wh <= charges.capacity_wh + NEAR_WH and since_wh < math.inf:
        order_wh = charge_wh + turns.after_wh[state % (len(turns.first) - 1)]
        if turns.ahead == 1:
            order_wh = -order_wh
        heapq.heappush(queue, Held(order_wh + since_wh, state, charge_wh, station))


def _turn(
    queue: list[Any],
    turns: Turns,
    steps: Steps,
    charges: Charges,
    settled: tuple[int, float, int],
    turn: int,
) -> None:
    """Put the states behind a turn into the queue. Backwards, one may end the leg before."""
    state, charge_wh, station = settled
    n = len(turns.first) - 1
    beyond = state - state % n + turns.beyond[turn]
    if turns.ahead == 1:
        left_wh, low_wh = drive(steps, charges, charge_wh, turns.arm[turn], 0.0)
        beyond += n * turns.ends[beyond]
        if low_wh >= charges.least_wh and beyond < len(turns.ends):
            _enter(queue, turns, charges, beyond, left_wh, station)
        return
    before_wh = before_arm(steps, charges, charge_wh, turns.arm[turn])
    if state >= n and turns.ends[state - n] == 1:
        _enter(queue, turns, charges, beyond - n, before_wh, station)
    _enter(queue, turns, charges, beyond, before_wh, station)


def _charges(turns: Turns, stations: Stations, charge_wh: float) -> bool:
    """Return True if a car charges at a station that it reaches, or that gives what it needs."""
    if turns.ahead == 1:
        return stations.least_wh - NEAR_WH <= charge_wh < stations.most_wh
    return stations.least_wh < charge_wh <= stations.most_wh + NEAR_WH


def _goes_on(turns: Turns, stations: Stations, state: int, node: int, charge_wh: float) -> bool:
    """Return True unless a state is at a halt whose station is not used."""
    if node < stations.first_halt:
        return True
    if turns.ahead == 1:
        return charge_wh >= stations.most_wh - NEAR_WH
    return stations.used[state] == 0 or stations.known[state] >= 0


def _arriving(stations: Stations, held: Held, node: int) -> tuple[float, int]:
    """Return the charge needed on arrival at a halt, Wh, and the station that gives the rest."""
    if stations.known[held.state] >= 0:
        return stations.least_wh, stations.known[held.state]
    if stations.used[held.state] == 1:
        return held.charge_wh, held.station
    if held.charge_wh > stations.most_wh + NEAR_WH:
        return math.inf, held.station
    charged = held.charge_wh > stations.least_wh
    return stations.least_wh, stations.station[node] if charged else held.station


class Begins(NamedTuple):
    """Beginnings of routes: (k,) arms of starts, and least charges after them, Wh."""

    arm: IntArray
    end_wh: FloatArray


def needs_before(steps: Steps, charges: Charges, begins: Begins) -> FloatArray:
    """Return the least charge before each start, (k,) Wh. Infinite for none.

    Parameters
    ----------
    steps, charges, begins
        Charge functions of the arms, the battery, and the starts.
    """
    need_wh = np.empty(len(begins.arm))
    need_wh[:] = math.inf
    for k in range(len(begins.arm)):
        if begins.end_wh[k] < math.inf:
            need_wh[k] = before_arm(steps, charges, begins.end_wh[k], begins.arm[k])
    return need_wh
