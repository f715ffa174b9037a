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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.charging import wall_wh
from evroute.planning.battery import Battery
from evroute.planning.searches.compiled import read_only, run
from evroute.planning.searches.label_loops import (
    PIECES,
    Costs,
    Pace,
    Sockets,
    Steps,
    settle_stops,
)
from evroute.planning.searches.labels import charges_of
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
    assumed
        Values of the socket that its source does not state, in words; "" if it states all.
    """

    station: str
    edges: tuple[int, ...]
    socket: str
    kw: float
    time_s: FloatArray
    assumed: str = ""


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
    wall_wh
        Energy taken from the wall for it, Wh: the one that is paid for.
    assumed
        Values of the socket that its source does not state, in words; "" if it states all.
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
    wall_wh: float
    assumed: str = ""

    @property
    def advice(self) -> str:
        """The stop in words: where, how much, and the values of the socket that are assumed."""
        assumed = f" ({self.assumed} assumed)" if self.assumed else ""
        return f"charge at {self.station} to {self.to_percent} %{assumed}"

    @property
    def plug(self) -> str:
        """The socket in words: kind and power, and the values that are assumed."""
        assumed = f", {self.assumed} assumed" if self.assumed else ""
        return f"{self.socket}, {self.kw:g} kW{assumed}"


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
    n_edges = problem.legs.search.line_graph.n_edges
    edges: list[int] = []
    stops: list[ChargingStop] = []
    before_s, before_wh = 0.0, battery.start_wh
    for state, row, clock_s, charge_wh in labels:
        if row < 0:
            edges.append(state % n_edges)
        else:
            used = chargers[row]
            stops.append(
                ChargingStop(
                    station=used.station,
                    socket=used.socket,
                    kw=used.kw,
                    after_edges=len(edges),
                    arrive_s=before_s,
                    arrive_percent=battery.percent(before_wh),
                    to_percent=round(battery.percent(charge_wh)),
                    time_s=clock_s - before_s,
                    energy_wh=charge_wh - before_wh,
                    wall_wh=wall_wh(
                        used.socket, charge_wh - before_wh, clock_s - before_s - SETUP_S
                    ),
                    assumed=used.assumed,
                )
            )
        before_s, before_wh = clock_s, charge_wh
    return problem.legs.driven(tuple(edges)), tuple(stops)


def _settled(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    step: int,
    effort: int,
) -> tuple[list[tuple[int, int, float, float]], float]:
    """Return the labels of the best plan, and the bound of the time at which the search stopped."""
    legs, n_edges = problem.legs, problem.legs.search.line_graph.n_edges
    entries = sorted((edge, row) for row, each in enumerate(chargers) for edge in each.edges)
    edges, rows = np.array(entries, dtype=np.int64).reshape(-1, 2).T
    table_s = np.array([each.time_s for each in chargers]).reshape(-1, 101)
    # s per Wh at the greatest power anywhere
    per_wh = float(np.diff(table_s).min()) / (battery.capacity_wh / 100)
    rest_wh, rest_s = problem.label_search.bounds(problem.time_s, whole=True)
    labels, bound_s = run(
        legs.search,
        settle_stops,
        PIECES,
        legs.ways(),
        Steps(read_only(problem.charge.start), read_only(problem.charge.step_wh)),
        charges_of(battery, battery.reserve_wh),
        Costs(read_only(problem.time_s), read_only(rest_wh), read_only(rest_s)),
        Sockets(
            read_only(np.searchsorted(edges, np.arange(n_edges + 1))),
            read_only(rows),
            read_only(table_s),
            read_only(_rest_both_s(problem, per_wh)),
        ),
        Pace(per_wh, SETUP_S, step, effort),
    )
    return labels[::-1], bound_s


def _rest_both_s(problem: SearchProblem, per_wh: float) -> FloatArray:
    """Return the least sum of time and energy by ``per_wh`` s/Wh from every state, s."""
    legs, rise_wh = problem.legs, problem.head_wh - problem.tail_wh
    both_s = problem.time_s + per_wh * np.maximum(problem.energy_wh - rise_wh, 0.0)
    return legs.rest(both_s, whole=True) + per_wh * legs.climbs_wh(problem.head_wh)
