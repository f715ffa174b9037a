"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evroute.arms import Route
from evroute.energy.charging import charging_s, wall_wh
from evroute.energy.vehicle import Vehicle
from evroute.errors import NotEnoughChargeError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_tree import charge_tree
from evroute.planning.charge.risk import choose_safe_rows
from evroute.planning.charge.shortage import Shortage
from evroute.planning.charge.stops import SETUP_S, Charger, ChargingStop, charging_stops
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, choose_rows
from evroute.planning.searches.legs import Legs, Start
from evroute.planning.searches.search_problem import SearchProblem

Stops = tuple[ChargingStop, ...]
HALVINGS = 8
"""Of the range of reserves in which a limit of risk is searched for."""


def chargers_for(network: RoadNetwork, vehicle: Vehicle) -> tuple[Charger, ...]:
    """Return the sockets of a network that fit a car."""
    return tuple(
        Charger(station.name, edges_at(network, station), each.kind, each.kw, time_s, each.assumed)
        for station in stations(network)
        for each in station.sockets
        if (time_s := charging_s(vehicle, each.kind, each.kw)) is not None
    )


def why_no_charging(network: RoadNetwork, vehicle: Vehicle, chargers: Sequence[Charger]) -> str:
    """Return why a car can charge at no station of a network, as one sentence; "" if it can.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    chargers
        From `chargers_for`.
    """
    if chargers:
        return ""
    found = stations(network)
    if not found:
        return (
            f"network '{network.name}' has no charging stations; add them with 'evroute network "
            f"chargers {network.name} FILE'"
        )
    if not vehicle.ac_kw and not vehicle.dc_kw:
        return (
            f"vehicle '{vehicle.name}' has no charging power; choose another one of 'evroute "
            "vehicle list', or set ac_kw or dc_kw in a vehicle file"
        )
    kinds = sorted({socket.kind for station in found for socket in station.sockets})
    plugs = {"ac": vehicle.ac_kw, vehicle.dc_plug: vehicle.dc_kw}
    return (
        f"no compatible plug: the {len(found)} charging stations of network '{network.name}' have "
        f"{', '.join(kinds)}; vehicle '{vehicle.name}' has "
        f"{' and '.join(plug for plug, kw in plugs.items() if kw)}"
    )


def rows_of_plan(
    problem: SearchProblem,
    fastest: Route,
    request: PlanRequest,
    battery: Battery | None,
    chargers: Sequence[Charger],
    forecasts: DayForecasts | None,
) -> Rows:
    """Return the rows of a plan, or the row with stops if it may charge and has to.

    Parameters
    ----------
    problem
        The request and its numbers.
    fastest
        The fastest route without a battery.
    request
        The wishes of the plan.
    battery
        Charge at the start and reserve; None for no bounds.
    chargers
        Sockets that fit the car.
    forecasts
        Forecasts that a limit of risk needs; None without a limit.

    Raises
    ------
    NotEnoughChargeError
        If the destination cannot be reached with this charge and risk; the message has the advice.
    """
    risk = request.risk
    if battery is None:
        return choose_rows(problem, fastest, request, None)

    def within(route: Route, stops: Stops) -> bool:
        if forecasts is None or risk is None:
            return True
        return forecasts.of_route(route, battery, stops)[1].never_below_reserve >= 1.0 - risk

    found, needs_stops = None, request.charge and problem.label_search.most_charge(battery) is None
    if needs_stops:
        found = stops_within(problem, battery, chargers, within)
    if not found:
        try:
            return (
                choose_rows(problem, fastest, request, battery)
                if forecasts is None or risk is None
                else choose_safe_rows(forecasts.search(problem, battery, risk), request)
            )
        except NotEnoughChargeError as error:
            if not chargers:
                raise
            if not needs_stops:
                found = stops_within(problem, battery, chargers, within)
            if not (found and request.charge):
                raise with_advice(error, problem, battery, chargers, found) from None
    return Rows({"time": found[0]}, {"time": found[2]}, "time", found[1])


def stops_within(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    within: Callable[[Route, Stops], bool],
) -> tuple[Route, Stops, str] | None:
    """Return route, stops and proof of the fastest plan found that keeps a limit of risk.

    It is the fastest of all if that keeps it. If not, its stops charge more. Where that does not
    mend it, the first leg is too risky: the reserve of the search is bisected, for a small one is
    too risky and a great one cannot be kept. None if no plan was found.

    Parameters
    ----------
    problem, battery, chargers
        As in `charging_stops`.
    within
        Function that returns whether a route with stops keeps the limit of risk, if there is one.
    """
    fastest = charging_stops(problem, battery, chargers)
    if fastest is None or within(*fastest[:2]):
        return fastest
    found, (low_wh, high_wh) = None, (battery.reserve_wh, battery.start_wh)
    least_wh = low_wh
    for _ in range(HALVINGS):
        tried = charging_stops(problem, replace(battery, reserve_wh=least_wh), chargers)
        stops = tried and _raised(problem, battery, chargers, tried[:2], within)
        if tried and stops:
            found = tried[0], stops
        if tried and not stops:
            low_wh = least_wh
        else:
            high_wh = least_wh
        least_wh = (low_wh + high_wh) / 2
    if found is None:
        return None
    after_s, before_s = (
        problem.taken_s(route) + sum(stop.time_s for stop in stops)
        for route, stops in (found, fastest[:2])
    )
    best = (
        "best with this risk"
        if fastest[2].startswith("exact")
        else f"plan without the limit of risk, {fastest[2]}"
    )
    return *found, f"at most {(after_s - before_s) / 60:.1f} min longer than the {best}"


def _raised(
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    plan: tuple[Route, Stops],
    within: Callable[[Route, Stops], bool],
) -> Stops | None:
    """Return the stops of a plan with as many more per cents charged as the risk needs.

    None if full charges are too risky.
    """
    route, stops = plan
    arms = problem.legs.arms_of_route(route)
    driven_s = np.append(0.0, np.cumsum(problem.time_s[arms]))
    table_s = {(each.station, each.socket, each.kw): each.time_s for each in chargers}

    def charged(more: int) -> Stops:
        percents = [min(stop.to_percent + more, 100) for stop in stops]
        pairs = [(stop.after_edges, to) for stop, to in zip(stops, percents, strict=True)]
        left_wh = problem.charge.follow_stops(battery, arms, pairs).charge_wh
        changed: list[ChargingStop] = []
        for stop, (after, to) in zip(stops, pairs, strict=True):
            arrive_percent = battery.percent(float(left_wh[after]))
            time_s = table_s[stop.station, stop.socket, stop.kw]
            energy_wh = battery.capacity_wh * to / 100 - float(left_wh[after])
            spent_s = SETUP_S + time_s[to] - np.interp(arrive_percent, np.arange(101), time_s)
            changed.append(
                replace(
                    stop,
                    arrive_s=float(driven_s[after]) + sum(each.time_s for each in changed),
                    arrive_percent=arrive_percent,
                    to_percent=to,
                    time_s=float(spent_s),
                    energy_wh=energy_wh,
                    wall_wh=wall_wh(stop.socket, energy_wh, float(spent_s) - SETUP_S),
                )
            )
        return tuple(changed)

    more = bisect_left(range(101), True, key=lambda more: within(route, charged(more)))
    return charged(more) if more <= 100 else None


def with_advice(
    error: NotEnoughChargeError,
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    found: tuple[Route, Stops, str] | None,
) -> NotEnoughChargeError:
    """Return an error with the stops that mend it, or the leg that fails also with stops.

    Parameters
    ----------
    error
        Error of the plan without stops.
    problem, battery, chargers
        As in `charging_stops`.
    found
        Plan with stops; None if there is none.
    """
    reason = str(error)
    if found:
        advice = f"or {', then '.join(stop.advice for stop in found[1])} (--charge)"
    elif charging_stops(problem, battery, chargers):
        advice = "no plan with charging stops was found that keeps the limit of risk"
    else:
        advice = failing_leg(problem, battery, chargers)
        reason = reason.replace("charge on the way, or take", "take")
    return NotEnoughChargeError(f"{reason}; {advice}", error.start_percent)


def failing_leg(problem: SearchProblem, battery: Battery, chargers: Sequence[Charger]) -> str:
    """Return which leg fails where no plan with stops keeps the reserve, and the energy it lacks.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start, and reserve.
    chargers
        Sockets that fit the car.
    """
    legs, capacity_wh = problem.legs, battery.capacity_wh
    reached = dict.fromkeys(legs.starts, ("the start", battery.start_wh))
    searched = set[tuple[Start, float]]()
    while new := {(start, held) for start, (_, held) in reached.items()} - searched:
        searched.add(begin := min(new))
        leg = replace(problem, legs=Legs(legs.search, begin[:1], (), legs.whole_arms))
        within = set(charge_tree(leg, replace(battery, start_wh=begin[1])).edges.tolist())
        for each in chargers:
            if not within.isdisjoint(each.edges):
                starts = (Start(edge, legs.search.starts.start + edge) for edge in each.edges)
                reached |= dict.fromkeys(starts, (each.station, capacity_wh))
    if len(legs.stops) > 1:
        return "charging on the way does not help"
    shortage = Shortage(legs, problem.head_wh, problem.charge)
    unbounded = replace(battery, capacity_wh=np.inf, fade=0.0)
    need_wh = dict(zip(reached, shortage.least_from_wh(unbounded, tuple(reached)), strict=True))
    start = min(reached, key=lambda start: need_wh[start] - reached[start][1])
    station, held_wh = reached[start]
    return (
        f"charging on the way does not help: the last leg, from {station} with "
        f"{battery.percent(held_wh):.4g} %, needs {(need_wh[start] - held_wh) / 1000:.2f} kWh more"
    )
