"""Loops that settle the least charges that lead on, backwards, and the most charges, forwards.

Stations may be used on the way. They are compiled by numba where the search is compiled
(`compiled.run`). numba does not look at other files: change this one with `label_loops`.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.label_loops import BEFORE_START, Charges, Steps, Ways, drive, faded

NEAR_WH = 1e-9


class Back(NamedTuple):
    """The turns into n nodes in the legs of a request, and where routes end.

    Parameters
    ----------
    first, before, arm
        (n + 1,) first turn into each node, and the node before each turn and its arm.
    ends
        (s,) 1 where the end of a node ends its leg, else 0.
    after_wh
        (n,) potential after each node, Wh.
    root, root_wh, root_station
        (k,) states at which routes end, the charge needed there, Wh, and the number of its station,
        -1 for none.
    until, most_wh
        States after which the search ends once it has settled all and the order of the next state,
        a needed charge plus potential, is above a bound, Wh. Where it is infinite, all are settled.
    since_wh
        (s,) lower bounds of the energy above the potential from these states to each, or 0, Wh.
    """

    first: NDArray[np.integer[Any]]
    before: NDArray[np.integer[Any]]
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


def settle_needs(
    back: Back, steps: Steps, charges: Charges, stations: Stations
) -> tuple[FloatArray, IntArray]:
    """Settle states in rising order of the needed charge plus the potential (A*).

    A station at which the rest is charged lowers a need, so its state is entered again, once.

    Parameters
    ----------
    back, steps, charges, stations
        Network, battery and stations.

    Returns
    -------
    need_wh
        (s,) least charge after each state, Wh. Infinite where none is held.
    station
        (s,) number of the first station at which the rest is charged, -1 for none.
    """
    n_states = len(back.ends)
    n = len(back.first) - 1
    found_wh = np.empty(n_states)
    found_wh[:] = math.inf
    name = np.empty(n_states, np.int64)
    name[:] = -1
    used = stations.used.copy()
    # needed charge and potential, state, needed charge, station
    queue = [(0.0, 0, 0.0, 0)]
    queue.pop()
    for k in range(len(back.root)):
        _need(queue, back, charges, back.root[k], back.root_wh[k], back.root_station[k])
    missing = len(back.until)
    while len(queue) > 0:
        order_wh, state, need_wh, named = heapq.heappop(queue)
        if missing == 0 and order_wh > back.most_wh:
            break
        node = state % n
        if node >= stations.first_halt:
            need_wh, named = _arriving(stations, state, node, need_wh, named)
        if need_wh >= found_wh[state] - NEAR_WH:
            continue
        if found_wh[state] == math.inf and need_wh <= stations.most_wh + NEAR_WH:
            for k in range(len(back.until)):
                missing -= back.until[k] == state
        found_wh[state] = need_wh
        name[state] = named
        if not _goes_on(stations, state, node):
            continue
        at = stations.station[node]
        if at >= 0 and used[state] == 0 and _charges(stations, need_wh):
            used[state] = 1
            _need(queue, back, charges, state, stations.least_wh, at)
        _turns_back(queue, back, steps, charges, (state, need_wh, named))
    return found_wh, name


def _goes_on(stations: Stations, state: int, node: int) -> bool:
    """Return True unless a state is at a halt whose station is not used."""
    if node < stations.first_halt:
        return True
    return stations.used[state] == 0 or stations.known[state] >= 0


def _charges(stations: Stations, need_wh: float) -> bool:
    """Return True if a needed charge can be charged at a station."""
    return stations.least_wh < need_wh <= stations.most_wh + NEAR_WH


def _turns_back(
    queue: list[Any], back: Back, steps: Steps, charges: Charges, settled: tuple[int, float, int]
) -> None:
    """Put the states before a settled one into the queue, with the charges needed there."""
    state, need_wh, named = settled
    n = len(back.first) - 1
    node = state % n
    begins = state >= n and back.ends[state - n] == 1
    for turn in range(back.first[node], back.first[node + 1]):
        before_wh = before_arm(steps, charges, need_wh, back.arm[turn])
        previous = state - node + back.before[turn]
        if begins:
            _need(queue, back, charges, previous - n, before_wh, named)
        _need(queue, back, charges, previous, before_wh, named)


def _need(
    queue: list[Any], back: Back, charges: Charges, state: int, need_wh: float, named: int
) -> None:
    """Put a state into the queue unless the battery does not hold the charge."""
    since_wh = back.since_wh[state]
    if need_wh <= charges.capacity_wh + NEAR_WH and since_wh < math.inf:
        node = state % (len(back.first) - 1)
        heapq.heappush(queue, (need_wh + back.after_wh[node] + since_wh, state, need_wh, named))


def _arriving(
    stations: Stations, state: int, node: int, need_wh: float, named: int
) -> tuple[float, int]:
    """Return the charge needed on arrival at a halt, Wh, and the station that gives the rest."""
    if stations.known[state] >= 0:
        return stations.least_wh, stations.known[state]
    if stations.used[state] == 1:
        return need_wh, named
    if need_wh > stations.most_wh + NEAR_WH:
        return math.inf, named
    return stations.least_wh, stations.station[node] if need_wh > stations.least_wh else named


def before_arm(steps: Steps, charges: Charges, end_wh: float, arm: int) -> float:
    """Return the least charge before an arm that keeps the reserve on it, Wh. Infinite for none.

    Parameters
    ----------
    steps, charges
        Charge functions of the arms, and the battery.
    end_wh
        Least charge after the arm, Wh.
    arm
        Row of the arm.
    """
    need_wh = end_wh
    for step in range(steps.start[arm + 1] - 1, steps.start[arm] - 1, -1):
        need_wh = max(charges.reserve_wh, before_step(charges, need_wh, steps.step_wh[step]))
        if need_wh > charges.capacity_wh + NEAR_WH:
            return math.inf
    return need_wh


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


def before_step(charges: Charges, charge_wh: float, energy_wh: float) -> float:
    """Return the least charge before a step that leaves a charge, Wh (`Battery.before`).

    Parameters
    ----------
    charges
        The battery.
    charge_wh, energy_wh
        Charge after the step, and its energy where nothing is lost, Wh.
    """
    above_wh = charge_wh - charges.lossless_wh
    if energy_wh >= 0.0 or above_wh <= 0.0 or charges.fade == 0.0:
        return charge_wh + energy_wh
    lost = charges.fade * above_wh
    if lost >= 1.0:
        return charge_wh
    # energy of the descent from the threshold on
    faded_wh = -math.log1p(-lost) / charges.fade
    if faded_wh <= -energy_wh:
        return charges.lossless_wh + energy_wh + faded_wh
    return charge_wh - (1.0 - lost) / charges.fade * math.expm1(-charges.fade * energy_wh)


def settle_most(
    ways: Ways, back: Back, steps: Steps, charges: Charges, stations: Stations
) -> FloatArray:
    """Settle states in falling order of the charge left plus the potential.

    A station that is reached fills the battery, so its state is entered again, once.

    Parameters
    ----------
    ways, back, steps, charges, stations
        Network, battery and stations.

    Returns
    -------
    most_wh
        (s,) most charge after each state, Wh. Minus infinity where it is not reached.
    """
    most_wh = np.empty(ways.n_states)
    most_wh[:] = -math.inf
    used = stations.used.copy()
    queue = [(0.0, 0, 0.0)]
    queue.pop()
    for k in range(len(ways.own_arm)):
        if ways.own_before[k] == BEFORE_START:
            arm = ways.own_arm[k]
            _most(queue, ways, back, steps, charges, (ways.own_into[k], arm, charges.first_wh))
    while len(queue) > 0:
        _, state, left_wh = heapq.heappop(queue)
        if left_wh <= most_wh[state] + NEAR_WH:
            continue
        most_wh[state] = left_wh
        node = state % ways.n_edges
        full_wh = stations.most_wh
        stops = stations.station[node] >= 0 and used[state] == 0 and left_wh < full_wh
        if stops and left_wh >= stations.least_wh - NEAR_WH:
            used[state] = 1
            heapq.heappush(queue, (-(full_wh + back.after_wh[node]), state, full_wh))
        if node >= stations.first_halt and left_wh < full_wh - NEAR_WH:
            continue
        for turn in range(ways.first[node], ways.first[node + 1]):
            into = state - node + ways.entered[turn]
            into += ways.n_edges * ways.ends[into]
            _most(queue, ways, back, steps, charges, (into, ways.arm[turn], left_wh))
    return most_wh


def _most(
    queue: list[Any],
    ways: Ways,
    back: Back,
    steps: Steps,
    charges: Charges,
    driven: tuple[int, int, float],
) -> None:
    """Put the state behind an arm into the queue, unless the charge falls below the reserve."""
    into, arm, charge_wh = driven
    if into >= ways.n_states:
        return
    left_wh, low_wh = drive(steps, charges, charge_wh, arm, 0.0)
    if low_wh >= charges.least_wh:
        order = -(left_wh + back.after_wh[into % ways.n_edges])
        heapq.heappush(queue, (order, into, left_wh))


PIECES = (
    drive,
    faded,
    before_step,
    before_arm,
    _need,
    _arriving,
    _goes_on,
    _charges,
    _turns_back,
    _most,
)
"""Functions that the loops call, compiled with them."""
