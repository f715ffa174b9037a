"""Charging stops: where to stop and how much to charge, for the least travel time.

Labels (time, charge) per state of the legs, in the order of a lower bound of the time on arrival
(A*). A stop is at the end of an edge with a socket, takes `SETUP_S` and the time of the charging
function, and ends at a whole per cent of charge. More charge is never worse later, so a label is
cut only if another one of its state has no more time and no less charge. The first label that
arrives is the best plan that charges to whole per cents; of equally fast ones that with the most
charge on arrival.

The bound of a label with charge s is the travel time left, or that of the route for which time and
energy at the power of the best socket cost least in sum, less the time to charge s - reserve at
that power; one set-up is added where s - reserve is less than the least energy left. Driving takes
at least the expected energy, and charging at least energy by power, so the bound never falls along
a plan.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.battery import Battery
from evroute.planning.searches.labels import compiled
from evroute.planning.searches.search_problem import SearchProblem

SETUP_S = 300.0
"""Time of a stop beside charging: parking, plugging in, paying."""
STEPS = (1, 5, 20)
"""Multiples of charge in %; the coarser ones where the effort runs out."""
GREATEST_EFFORT = 2_000_000
"""Number of labels after which a search stops."""


@dataclass(frozen=True, slots=True, eq=False)
class Charger:
    """A socket that fits the car.

    Parameters
    ----------
    station
        Name of the station.
    edges
        Edges at whose end the car can stop there.
    socket, kw
        Kind of the socket, and its power, kW.
    time_s
        (101,) time from empty to each whole per cent of charge, s (`energy.charging`).
    """

    station: str
    edges: tuple[int, ...]
    socket: str
    kw: float
    time_s: FloatArray


@dataclass(frozen=True, slots=True)
class ChargingStop:
    """One stop of a plan.

    Parameters
    ----------
    station, socket, kw
        Name of the station, kind of the socket, and its power, kW.
    after_edges
        Number of edges of the route driven before the stop.
    arrive_s
        Time of arrival after departure, s.
    arrive_percent, to_percent
        Charge on arrival and on leaving, %.
    time_s
        Time of the stop, `SETUP_S` included, s.
    energy_wh
        Energy charged, Wh.
    """

    station: str
    socket: str
    kw: float
    after_edges: int
    arrive_s: float
    arrive_percent: float
    to_percent: int
    time_s: float
    energy_wh: float

    @property
    def advice(self) -> str:
        """The stop in words: where, and how much."""
        return f"charge at {self.station} to {self.to_percent} %"


def charging_stops(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    *,
    effort: int = GREATEST_EFFORT,
) -> tuple[Route, tuple[ChargingStop, ...], str] | None:
    """Return the fastest route with charging stops, its stops, and how far it is certified.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start, and the reserve that is kept everywhere.
    chargers
        Sockets that fit the car.
    effort
        Labels after which a search gives way to one with coarser steps of charge (`STEPS`).

    Returns
    -------
    found
        None if no plan keeps the reserve.
    """
    proof, exact_s = "exact: no plan that charges to whole per cents arrives earlier", None
    for step in STEPS:
        labels, bound_s = _settled(
            problem, battery, chargers, step, effort if step < STEPS[-1] else 2**62
        )
        if labels or bound_s == np.inf:
            break
        exact_s = exact_s or bound_s
    if not labels:
        return None
    if exact_s is not None:
        late_min = max(labels[-1][2] - exact_s, 0.0) / 60
        proof = f"charged in steps of {step} %: at most {late_min:.1f} min longer than the best"
    return *_followed(problem, battery, chargers, labels), proof


def _followed(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    labels: list[tuple[int, int, float, float]],
) -> tuple[Route, tuple[ChargingStop, ...]]:
    """Return route and stops of labels: state, charger (-1 for driving), time, s, charge, Wh."""
    n, edges, stops = problem.legs.search.line_graph.n_edges, [], []
    before_s, before_wh = 0.0, battery.start_wh
    for state, row, clock_s, charge_wh in labels:
        if row < 0:
            edges.append(state % n)
        else:
            used, percents = chargers[row], (battery.percent(w) for w in (before_wh, charge_wh))
            stops.append(
                ChargingStop(
                    *(used.station, used.socket, used.kw, len(edges), before_s),
                    *(next(percents), round(next(percents))),
                    *(clock_s - before_s, charge_wh - before_wh),
                )
            )
        before_s, before_wh = clock_s, charge_wh
    return Route(tuple(edges)), tuple(stops)


def _settled(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    step: int,
    effort: int,
) -> tuple[list[tuple[int, int, float, float]], float]:
    """Return the labels of the best plan, and the bound of the time at which the search stopped."""
    legs, functions = problem.legs, problem.charge
    search, stops = legs.search, legs.stops
    after_wh, rise_wh = problem.head_wh[search.starts], problem.head_wh - problem.tail_wh
    graph, start = search.line_graph, search.starts.start + stops[0]
    pairs = sorted((edge, row) for row, each in enumerate(chargers) for edge in each.edges)
    edges, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    table_s = np.array([each.time_s for each in chargers]).reshape(-1, 101)
    # s per Wh at the greatest power anywhere
    per_wh = float(np.diff(table_s).min()) / (battery.capacity_wh / 100)
    rest_wh, rest_s = problem.label_search.bounds(problem.time_s, whole=True)
    both = problem.time_s + per_wh * np.maximum(functions.energy_wh - rise_wh, 0.0)
    climb_wh = np.tile(after_wh[stops[-1]] - after_wh, len(stops) - 1)
    fade = battery.fade / (10.0 * battery.capacity_wh / 100.0)
    charges = battery.start_wh, battery.capacity_wh, battery.lossless_wh, battery.reserve_wh
    numbers = tuple(map(float, (*charges, fade, per_wh, SETUP_S)))
    arrays = [
        *(graph.indptr, graph.indices, search.entering, np.array(stops[1:])),
        *(functions.start, functions.step_wh, problem.time_s, rest_wh, rest_s),
        legs.rest(both, whole=True) + per_wh * climb_wh,
        *(np.searchsorted(edges, np.arange(graph.n_edges + 1)), rows, table_s),
    ]
    settle, ready = compiled(search, _settle, arrays)
    labels, bound_s = settle(*ready, stops[0], start, numbers, step, effort)
    return labels[::-1], bound_s


def _settle(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    entering,
    stops,
    steps,
    step_wh,
    time_s,
    rest_wh,
    rest_s,
    rest_both,
    first_charger,
    charger,
    table_s,
    origin,
    start,
    numbers,
    step,
    effort,
):
    """Settle labels of (time, charge); return the best plan's backwards, and the bound reached.

    Plain Python that numba compiles. A label is a state with the charge after driving its edge, or
    after charging there by the charger of a row; -1 for driving.
    """
    first_wh, capacity_wh, lossless_wh, reserve_wh, fade, per_wh, setup_s = numbers
    n, legs = len(indptr) - 1, len(stops)
    final = n * (legs - 1) + stops[legs - 1]
    labels = [(-1, -1, -1, 0.0, first_wh, -1)]  # state, parent, charger, time, charge, older one
    newest = [-1] * (n * legs)  # the last label of each state
    queue = [(0.0, 0.0, 0.0, 0, 0, 0)]
    queue.pop()
    label, leg, edge, used, bound_s, charge_wh, clock_s = 0, 0, 0, -1, 0.0, first_wh, 0.0
    while True:
        moves = [(0.0, 0.0, 0, 0)]  # charge, time, state, charger
        moves.pop()
        low, high, following, arm = 0, 1, origin, start
        if label > 0:
            low, high = indptr[edge], indptr[edge + 1]
        for turn in range(low, high):
            if label > 0:
                following, arm = indices[turn], entering[turn]
            left_wh, low_wh = charge_wh, math.inf
            for each in range(steps[arm], steps[arm + 1]):
                before_wh, left_wh = left_wh, left_wh - step_wh[each]
                if left_wh > lossless_wh:
                    if fade > 0.0 and left_wh > before_wh:
                        full_wh = max(before_wh, lossless_wh)
                        taken = max(1.0 - fade * (full_wh - lossless_wh), 0.0)
                        left_wh = full_wh - taken / fade * math.expm1(-fade * (left_wh - full_wh))
                    left_wh = min(left_wh, capacity_wh)
                low_wh = min(low_wh, left_wh)
            into = leg + 1 if leg < legs - 1 and following == stops[leg] else leg
            if low_wh >= reserve_wh - 1e-9:
                moves.append((left_wh, clock_s + time_s[arm], n * into + following, -1))
        if label > 0 and used < 0:
            percent = 100.0 * charge_wh / capacity_wh
            whole = min(int(percent), 99)
            for place in range(first_charger[edge], first_charger[edge + 1]):
                row = charger[place]
                slope_s = table_s[row][whole + 1] - table_s[row][whole]
                begun_s = clock_s + setup_s - table_s[row][whole] - (percent - whole) * slope_s
                for to in range(step * (int(percent / step) + 1), 101, step):
                    full_s = begun_s + table_s[row][to]
                    moves.append((capacity_wh * (to / 100), full_s, n * leg + edge, row))
        for left_wh, spent_s, state, row in moves:
            spare_wh = left_wh - reserve_wh
            if rest_s[state] < math.inf:
                bound = spent_s + max(rest_s[state], rest_both[state] - per_wh * spare_wh)
                if spare_wh < rest_wh[state] - 1e-9:
                    bound += setup_s
                heapq.heappush(queue, (bound, -left_wh, spent_s, state, label, row))
        other = 0
        while other >= 0 and len(queue) > 0 and len(labels) <= effort:
            bound_s, minus_wh, clock_s, state, parent, used = heapq.heappop(queue)
            charge_wh, other = -minus_wh, newest[state]
            while other >= 0 and not (
                labels[other][3] <= clock_s + 1e-9 and labels[other][4] >= charge_wh - 1e-9
            ):
                other = labels[other][5]
        if other >= 0:
            break
        label, leg = len(labels), state // n
        labels.append((state, parent, used, clock_s, charge_wh, newest[state]))
        newest[state], edge = label, state - n * leg
        if state == final:
            break
    path = [(0, 0, 0.0, 0.0)]
    path.pop()
    while other < 0 and label > 0:
        state, parent, used, clock_s, charge_wh, _ = labels[label]
        path.append((state, used, clock_s, charge_wh))
        label = parent
    return path, math.inf if other >= 0 and len(queue) == 0 else bound_s
