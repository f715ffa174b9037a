"""Range: the roads within reach of a charge, and the least charge that leads to a place.

One search from the origin finds the route to every road that arrives with the most charge. It is
exact as the searches of single plans are (`labels`). Forecasts follow the tree of these routes.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Annotated, ClassVar

import numpy as np

from evroute.arms import Route
from evroute.arrays import BoolArray, FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.errors import require
from evroute.network.geo import gpd
from evroute.network.heights.stretches import Stretches
from evroute.network.places.positions import Position, point, positions, whole_edges
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.charge.charge_tree import ChargeTree, charge_tree, way
from evroute.planning.charge.ways_to import ways_to
from evroute.planning.fields import (
    CAR,
    DEPART,
    DESTINATION,
    ORIGIN,
    PROMISE,
    RESERVE,
    RISK,
    SOC,
    Request,
    Risk,
    VehicleField,
    day_of,
)
from evroute.planning.forecasts.day_forecasts import NO_BELIEF
from evroute.planning.forecasts.first_passage import ERROR
from evroute.planning.forecasts.forecast import EnergyForecast
from evroute.planning.forecasts.learned import note_of
from evroute.planning.forecasts.route_risks import RouteRisks
from evroute.planning.places import Places
from evroute.planning.planner import Planner
from evroute.planning.searches.between import problem_between
from evroute.planning.searches.search_problem import SearchProblem
from evroute.threads import one_thread

RESERVE_OF_RANGE = replace(RESERVE, help="Lowest allowed charge, %.")
RISK_OF_RANGE = replace(
    RISK,
    help="Greatest probability of ever falling below the reserve, or 'mean' to go by expected "
    "energies.",
)
LEVELS = (0.5, 0.9, 0.99)
"""Probabilities with which the shown arrival charges are exceeded."""
TOGETHER = 256
"""Number of routes whose risks are bounded at once."""
TIE_WH_PER_S = 1e-9
"""Weight of time beside energy, which decides between ways of equal energy."""


class RangeRequest(Request):
    """A charge whose range is wanted.

    The options of ``evroute range`` and the body of the service are made of its fields.
    """

    subject: ClassVar[str] = "a range"

    origin: Annotated[str, ORIGIN]
    soc: Annotated[float, SOC]
    reserve: Annotated[float, RESERVE_OF_RANGE] = 0.0
    risk: Annotated[Risk, RISK_OF_RANGE] = PROMISE
    vehicle: VehicleField = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    conditions: DrivingConditions = DrivingConditions()

    @property
    def most_risk(self) -> float | None:
        """Greatest probability of ever falling below the reserve, or None for no limit."""
        return self.risk if isinstance(self.risk, float) else None


class NeedRequest(Request):
    """A place, and the charge to arrive with. Wanted is the charge that every road needs."""

    subject: ClassVar[str] = "a charge to a place"

    destination: Annotated[str, DESTINATION]
    reserve: Annotated[float, RESERVE_OF_RANGE] = 0.0
    risk: Annotated[Risk, RISK_OF_RANGE] = PROMISE
    vehicle: VehicleField = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    conditions: DrivingConditions = DrivingConditions()

    @property
    def most_risk(self) -> float | None:
        """Greatest probability of ever falling below the reserve, or None for no limit."""
        return self.risk if isinstance(self.risk, float) else None


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The roads within reach of one charge.

    Parameters
    ----------
    network
        The roads.
    origins
        Positions at which trips may begin: in both directions of a street, or on the edges that
        leave a junction.
    battery
        Charge at the start and reserve.
    risk
        Greatest probability of ever falling below the reserve, or None to go by expected energies.
    within
        (n,) whether a road is within reach.
    charge_percent
        Charge at the end of each road that is exceeded with a probability, (n,) % by probability.
        NaN where no route keeps the reserve by expected energies. 0.5 alone without a belief.
    note
        Origin of the belief's numbers in words, also where they are of other roads. Empty without.
    """

    network: RoadNetwork = field(repr=False)
    origins: tuple[Position, ...]
    battery: Battery
    risk: float | None
    within: BoolArray
    charge_percent: Mapping[float, FloatArray]
    note: str = ""

    def __repr__(self) -> str:
        """Return the charge and the roads within reach in one line."""
        percent = self.battery.percent(self.battery.start_wh)
        return (
            f"Reach(from {percent:.4g} %: {self.within.sum():,} of {self.network.n_edges:,} roads, "
            f"{self.length_m / 1000:.1f} km)"
        )

    @property
    def length_m(self) -> float:
        """Length of the roads within reach, m."""
        return float(self.network.length_m[self.within].sum())

    @property
    def extent_m(self) -> float:
        """Greatest distance as the crow flies from the origin to a road within reach, m."""
        network = self.network
        heads, start = network.head[self.within], point(network, self.origins[0])
        apart_m = np.hypot(network.x_m[heads] - start.x, network.y_m[heads] - start.y)
        return float(apart_m.max(initial=0.0))

    def to_geodataframe(self) -> "gpd.GeoDataFrame":
        """Return the roads within reach as lines in WGS 84, with their columns and charges.

        Column ``charge_percent_50`` is the charge at the end that is exceeded with 50 %, and so on.
        """
        charges = {f"charge_percent_{100 * p:.0f}": at for p, at in self.charge_percent.items()}
        return self.network.edges.assign(**charges)[self.within]


@one_thread
def reach(
    planner: Planner, origin: int | str, battery: Battery, *, risk: float | None = None
) -> Reach:
    """Return the roads within reach of a charge.

    Parameters
    ----------
    planner
        Network, vehicle and belief.
    origin
        Place to drive from: a name, ``"lat,lon"``, an id or a row.
    battery
        Charge at the start and reserve.
    risk
        Greatest probability of ever falling below the reserve, in (0, 0.5]; None to go by expected
        energies. It is the time of the route that arrives with the most charge.

    Raises
    ------
    EvrouteError
        If a risk is given without a belief.
    """
    _check_risk(planner, risk)
    planner.follow()
    origins = _positions(planner.network, origin, leaving=True)
    problem = problem_between(planner.numbers, planner.search, origins, (), ())
    battery = planner.fading(battery)
    tree, n = charge_tree(problem, battery), planner.network.n_edges
    stood_wh = _stood_wh(battery, tree.end_wh, planner.numbers.halt_wh[tree.edges])

    def most(values: FloatArray) -> FloatArray:
        """Return the greatest of some values (k,) for each road, (n,). NaN out of reach."""
        of_roads = np.full(n, np.nan)
        np.fmax.at(of_roads, tree.edges, values)
        return of_roads

    charge_percent = {LEVELS[0]: most(stood_wh / battery.capacity_wh * 100)}
    within = np.isfinite(charge_percent[LEVELS[0]])
    if len(tree.edges) and (risk or planner.learned or planner.uncertainty):
        std_wh = _std_wh(planner, tree, battery.start_wh - stood_wh)
        first = planner.forecasts.of_route(tree.route(0), battery)[0]
        for level in LEVELS[1:]:
            deviates = (first.interval_wh(2 * level - 1)[1] - first.mean_wh) / first.std_wh
            charge_percent[level] = most((stood_wh - deviates * std_wh) / battery.capacity_wh * 100)
        if risk is not None:
            kept = _kept(planner, tree, battery, std_wh, first, risk)
            within = most(kept.astype(np.float64)) > 0.0
    note = note_of(planner.belief)
    return Reach(planner.network, origins, battery, risk, within, charge_percent, note)


def _stood_wh(battery: Battery, end_wh: FloatArray, halt_wh: FloatArray) -> FloatArray:
    """Return charges (k,) Wh after standstills that take energies (k,) Wh, at most 0."""
    stood_wh = end_wh - halt_wh
    for row in np.flatnonzero(stood_wh > battery.lossless_wh).tolist():
        stood_wh[row] = battery.after(float(end_wh[row]), float(halt_wh[row]))
    return stood_wh


def _std_wh(planner: Planner, tree: ChargeTree, used_wh: FloatArray) -> FloatArray:
    """Return the deviation of the charge at the end of each edge of a tree, (k,) Wh.

    The size of the battery moves the charge used, (k,) Wh, as in forecasts of single trips.
    """
    arms, begun = tree.arms.copy(), tree.before < 0
    arms[begun] = planner.search.starts.start + tree.edges[begun]
    from_m, to_m = np.zeros(len(begun)), planner.network.length_m[tree.edges]
    from_m[begun] = [tree.from_m[edge] for edge in tree.edges[begun].tolist()]
    driven = Stretches(tree.edges, from_m, to_m, np.full(len(begun), planner.space.halts))
    del from_m, to_m
    day = planner.forecasts.day
    energy_wh = day.reached_std_wh(arms, tree.before, tree.begin_wh, driven)
    return np.hypot(energy_wh, day.battery_share * used_wh)


def reach_asked(planner: Planner, request: RangeRequest) -> Reach:
    """Return the roads within reach of a request, as `reach` does, on its day.

    Parameters
    ----------
    planner
        Network, belief, and the vehicle of the request.
    request
        The charge and where it starts.
    """
    on_day = planner.of_car(request.car).under(day_of(request.conditions, request.depart))
    capacity_kwh = on_day.vehicle.battery_kwh
    battery = Battery.of_percent(capacity_kwh, request.soc, request.reserve)
    return reach(on_day, request.origin, battery, risk=request.most_risk)


def need_asked(planner: Planner, request: NeedRequest) -> FloatArray:
    """Return the charge of every road that a request needs, as `charge_needed` does, (n,) %.

    Parameters
    ----------
    planner
        Network, belief, and the vehicle of the request.
    request
        The place and the charge to arrive with.
    """
    on_day = planner.of_car(request.car).under(day_of(request.conditions, request.depart))
    capacity_kwh = on_day.vehicle.battery_kwh
    battery = Battery.of_percent(capacity_kwh, request.reserve, request.reserve)
    return charge_needed(on_day, request.destination, battery, risk=request.most_risk)


def _kept(
    planner: Planner,
    tree: ChargeTree,
    battery: Battery,
    std_wh: FloatArray,
    first: EnergyForecast,
    risk: float,
) -> BoolArray:
    """Return whether the first-passage risk of each route of a tree is at most a risk, (k,).

    It never falls along a route, and lies between the risk at the worst point and its bound along
    the trip (`EnergyForecast.ever_beyond`). Routes between these are judged by closer bounds, many
    at once, and those that stay open are bisected.
    """
    least = ((tree.low_wh - battery.reserve_wh) / std_wh).tolist()
    for position, previous in enumerate(tree.before.tolist()):
        if previous >= 0 and least[previous] < least[position]:
            least[position] = least[previous]
    worst, risks = np.array(least), planner.forecasts.risks()
    kept = worst >= _least(worst, lambda z: first.ever_beyond(z) <= risk)
    open_ = (worst >= _least(worst, lambda z: first.beyond(z) <= risk)) & ~kept
    safe = _bounded(tree, open_, risks, battery, risk)

    def keeps(position: int) -> bool:
        return bool(safe[position]) or risks.risk_of(tree.route(position), battery) <= risk

    for position in np.flatnonzero(open_)[::-1].tolist():
        if not open_[position]:  # and so are all before it
            continue
        route = way(tree.before, position)
        unknown = route[open_[route]]
        if (kept[route] | open_[route]).all():
            begins = bisect_left(unknown, True, key=lambda each: not keeps(each))
            kept[unknown[:begins]] = True
        open_[unknown] = False
    return kept


def _bounded(
    tree: ChargeTree, open_: BoolArray, risks: RouteRisks, battery: Battery, risk: float
) -> BoolArray:
    """Return which open routes of a tree keep a risk by upper bounds of their risks, (k,).

    The routes that a route begins with have at most its risk, but for the error of risks.
    """
    safe, ends = np.zeros(len(open_), dtype=np.bool_), open_.copy()
    if not risks.bounded:
        return safe
    ends[tree.before[open_ & (tree.before >= 0)]] = False
    for some in (ends, open_):  # the ends of routes first, since they judge others
        positions = np.flatnonzero(some & ~safe)
        for begin in range(0, len(positions), TOGETHER):
            batch = positions[begin : begin + TOGETHER]
            routes = [tree.route(position) for position in batch.tolist()]
            bounds = np.array(risks.bounds_of(routes, battery)[1])
            safe[batch] |= bounds <= risk
            for position in batch[bounds <= risk - ERROR].tolist():
                safe[way(tree.before, position)] = True
    return safe & open_


def _least(values: FloatArray, holds: Callable[[float], bool]) -> float:
    """Return the least of some values that holds, as do all greater ones, or infinity."""
    ordered = np.unique(values).tolist()
    first = bisect_left(ordered, True, key=holds)
    return ordered[first] if first < len(ordered) else np.inf


@one_thread
def charge_needed(
    planner: Planner, destination: int | str, battery: Battery, *, risk: float | None = None
) -> FloatArray:
    """Return the least charge at the start of every road that leads to a destination, (n,) %.

    Infinite where no route exists or a full battery does not suffice. The charge of ``battery`` at
    the start does not matter. By expected energies after a cold start the charge suffices, but may
    not be the least (`Shortage.least_starts_wh`).

    Parameters
    ----------
    planner
        Network, vehicle and belief.
    destination
        Place to drive to: a name, ``"lat,lon"``, an id or a row.
    battery
        Capacity and reserve.
    risk
        Greatest probability of ever falling below the reserve, in (0, 0.5]. Charges are then whole
        per cents, each the least for the route of least energy or the fastest one. None to go by
        expected energies.

    Raises
    ------
    EvrouteError
        If a risk is given without a belief.
    """
    _check_risk(planner, risk)
    planner.follow()
    ends = _positions(planner.network, destination, leaving=False)
    begins = tuple(Position(each.edge, 0.0) for each in ends)
    problem = problem_between(planner.numbers, planner.search, begins, (), ends)
    battery = planner.fading(battery)
    if risk is not None:
        return _least_percents(planner, problem, battery, risk)
    need_wh = problem.shortage.least_starts_wh(battery)
    need_wh[need_wh > battery.capacity_wh] = np.inf
    return need_wh / battery.capacity_wh * 100


def _least_percents(
    planner: Planner, problem: SearchProblem, battery: Battery, risk: float
) -> FloatArray:
    """Return the least whole per cents from which roads keep a risk, (n,). Infinite for none.

    Judged are the ways that a plan at a risk looks at first: of least energy, along each line of
    the warm-up, and the fastest one.

    Parameters
    ----------
    planner, problem, battery, risk
        The request and its risk.
    """
    warm_wh = replace(problem.shortage, warming=None).least_starts_wh(battery)  # at most the need
    least = np.full(len(warm_wh), np.inf)
    roads = np.flatnonzero(np.isfinite(warm_wh)).tolist()
    weights = [problem.weighed(line[0] + TIE_WH_PER_S) for line in problem.warm_up.lines]
    judged: set[Route] = set()
    for costs in (*weights, problem.with_ties(problem.time_s)):
        ways = ways_to(problem, costs)
        routes = {road: route for road in roads if (route := ways.route(road)) not in judged}
        judged.update(routes.values())
        for percent in range(ceil(battery.percent(battery.reserve_wh) - 1e-9), 101):
            # a charge that suffices by another way is no less for this one
            routes = {road: route for road, route in routes.items() if percent < least[road]}
            started = battery.started(percent)
            asked = [road for road in routes if warm_wh[road] <= started.start_wh + TOLERANCE_WH]
            for begin in range(0, len(asked), TOGETHER):
                some = asked[begin : begin + TOGETHER]
                kept = _keep(planner, [routes[road] for road in some], started, risk)
                least[np.array(some)[kept]] = percent
    return least


def _keep(planner: Planner, routes: Sequence[Route], battery: Battery, risk: float) -> BoolArray:
    """Return which of some routes keep a risk, (r,): by bounds, and one by one between them."""
    risks = planner.forecasts.risks()
    least, most = map(np.array, risks.bounds_of(routes, battery))
    kept: BoolArray = most <= risk
    for k in np.flatnonzero((least <= risk) & ~kept).tolist():
        kept[k] = risks.risk_of(routes[k], battery) <= risk
    return kept


def _check_risk(planner: Planner, risk: float | None) -> None:
    """Refuse a risk out of range or without a belief."""
    if risk is None:
        return
    require(0 < risk <= 0.5, f"risk is {100 * risk:.6g} %. It must be above 0 % and at most 50 %")
    require(planner.learned or planner.uncertainty, NO_BELIEF)


def start_needed(planner: Planner, places: Places, battery: Battery) -> float:
    """Return the least charge at the start of a trip, %. Infinite if no battery suffices.

    Parameters
    ----------
    planner
        Network, vehicle and belief.
    places
        The places of the trip.
    battery
        As in `charge_needed`.

    Raises
    ------
    NoRouteError
        If no open way leads to the destination.
    """
    problem = planner.follow().between(places)
    need_wh = problem.shortage.least_start_wh(planner.fading(battery))
    return battery.percent(need_wh) if need_wh <= battery.capacity_wh else np.inf


def _positions(network: RoadNetwork, place: int | str, *, leaving: bool) -> tuple[Position, ...]:
    """Return the positions at which trips from or to a place begin or end."""
    if isinstance(place, str):
        return positions(network, place, leaving=leaving)
    return whole_edges(network, (place,), leaving=leaving)
