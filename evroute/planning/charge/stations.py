"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evroute.arms import Route
from evroute.energy.charging import charging_s
from evroute.energy.vehicle import Vehicle
from evroute.errors import NotEnoughChargeError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_tree import charge_tree
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes
from evroute.planning.charge.risk import choose_safe_rows
from evroute.planning.charge.shortage import Shortage
from evroute.planning.charge.stop_rows import StopRows
from evroute.planning.charge.stops import charging_stops
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, choose_rows
from evroute.planning.searches.legs import Legs, Start
from evroute.planning.searches.search_problem import SearchProblem


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
    if battery is None:
        return choose_rows(problem, fastest, request, None)
    risk, wishes = request.risk, StopWishes()

    def within(route: Route, stops: tuple[ChargingStop, ...]) -> bool:
        if forecasts is None or risk is None:
            return True
        return forecasts.of_route(route, battery, stops)[1].never_below_reserve >= 1.0 - risk

    safe = None
    if forecasts is not None and risk is not None:
        safe = forecasts.search(problem, battery, risk)
    stop_rows = StopRows(problem, battery, chargers, wishes)

    def stopping() -> Rows | None:
        if safe is None:
            return stop_rows.choose(fastest)
        return stop_rows.choose_within(fastest, safe, within)

    if request.charge and (rows := stopping()) is not None:
        return rows
    try:
        if safe is None:
            return choose_rows(problem, fastest, request, battery)
        return choose_safe_rows(safe, request)
    except NotEnoughChargeError as error:
        if not chargers:
            raise
        rows = None if request.charge else stopping()
        stops = () if rows is None else rows.stops[rows.recommended]
        raise with_advice(error, problem, battery, chargers, stops) from None


def with_advice(
    error: NotEnoughChargeError,
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
    stops: tuple[ChargingStop, ...],
) -> NotEnoughChargeError:
    """Return an error with the stops that mend it, or the leg that fails also with stops.

    Parameters
    ----------
    error
        Error of the plan without stops.
    problem, battery, chargers
        As in `charging_stops`.
    stops
        Stops of a plan; empty if there is none.
    """
    reason = str(error)
    if stops:
        advice = f"or {', then '.join(stop.advice for stop in stops)} (--charge)"
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
