"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from evroute.arms import Route
from evroute.energy.charging import charging_s
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes
from evroute.planning.charge.refusals import at_quantile, with_advice
from evroute.planning.charge.risk import choose_safe_rows
from evroute.planning.charge.station_needs import StationNeeds, to_a_station
from evroute.planning.charge.stop_rows import StopRows
from evroute.planning.fields import CHARGER
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, choose_rows
from evroute.planning.searches.search_problem import SearchProblem


def chargers_for(network: RoadNetwork, vehicle: Vehicle) -> tuple[Charger, ...]:
    """Return the sockets of a network that fit a car."""
    return tuple(
        Charger(
            station.name,
            edges_at(network, station),
            each.kind,
            each.kw,
            time_s,
            each.assumed,
            each.price_kwh,
            each.price_minute,
            station.id,
            station.network,
        )
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


def wanted(chargers: Sequence[Charger], request: PlanRequest) -> tuple[Charger, ...]:
    """Return the sockets that a request does not leave out.

    Parameters
    ----------
    chargers
        Sockets that fit the car.
    request
        The wishes of the plan.

    Raises
    ------
    UnknownNameError
        If no station has a name, network or id to avoid; the message has similar ones.
    EvrouteError
        If no socket is left.
    """
    avoided = {row for text in request.avoid_stations for row in _called(text, chargers)}
    left = tuple(
        each
        for row, each in enumerate(chargers)
        if each.kw >= request.least_kw and row not in avoided
    )
    if chargers and not left:
        most_kw = max(each.kw for each in chargers)
        raise EvrouteError(
            f"no charging station is left: the greatest power that fits the car is {most_kw:g} kW; "
            "choose a lower least_kw, or avoid fewer stations"
        )
    return left


def _called(text: str, chargers: Sequence[Charger]) -> list[int]:
    """Return the rows of the chargers with an id, or else with a part of a name or a network.

    Raises
    ------
    UnknownNameError
        If there are none; the message has similar texts.
    """
    part = text.casefold()
    rows = [row for row, each in enumerate(chargers) if part in _ids(each)]
    if not rows:
        rows = [
            row
            for row, each in enumerate(chargers)
            if part in each.station.casefold() or part in each.network.casefold()
        ]
    if not rows:
        named = [name for each in chargers for name in (each.station, each.network, *_ids(each))]
        names = {name.casefold(): name for name in named if name}
        near = [names[name] for name in get_close_matches(part, names)]
        similar = f"; similar: {'; '.join(near)}" if near else ""
        raise UnknownNameError(
            f"no station that fits the car has the name, network or id '{text}'{similar}"
        )
    return rows


def _ids(charger: Charger) -> list[str]:
    """Return the ids of the station of a charger, in small letters."""
    return [each.strip() for each in charger.station_id.casefold().split(",")]


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
    risk, wishes = request.risk, StopWishes.of(request)
    chargers = wanted(chargers, request)

    def within(battery: Battery, route: Route, stops: tuple[ChargingStop, ...]) -> bool:
        if forecasts is None or risk is None:
            return True
        return forecasts.of_route(route, battery, stops)[1].never_below_reserve >= 1.0 - risk

    safe, at_risk = None, problem
    if forecasts is not None and risk is not None:
        safe = forecasts.search(problem, battery, risk)
        at_risk = at_quantile(problem, (risk, safe.std_wh))
    if request.arrive == CHARGER:
        wishes = replace(wishes, arrive_percent=to_a_station(at_risk, battery, chargers))
    stop_rows = StopRows(problem, battery, chargers, wishes)

    def stopping() -> Rows | None:
        if safe is None:
            return stop_rows.choose(fastest)
        return stop_rows.choose_within(fastest, safe, partial(within, battery))

    def stops_from(percent: int) -> tuple[ChargingStop, ...] | None:
        assert safe is not None, "starts are tried under a limit of risk"
        begun = safe.started(percent)
        rows = replace(stop_rows, battery=begun.battery)
        return rows.stops_within(fastest, begun, partial(within, begun.battery))

    if request.charge and (rows := stopping()) is not None:
        if request.worth is not None:
            stop_rows.add_least_money(rows, request.worth)
        return rows
    try:
        if wishes.arrive_percent > battery.percent(battery.reserve_wh):
            raise NotEnoughChargeError(
                f"no plan arrives with {wishes.arrive_percent:.4g} % when starting with "
                f"{battery.percent(battery.asked_wh):.4g} %"
            )
        if safe is None:
            return choose_rows(problem, fastest, request, battery)
        return choose_safe_rows(safe, request)
    except NotEnoughChargeError as error:
        if not chargers:
            raise
        rows = None if request.charge else stopping()
        stops = () if rows is None else rows.stops.get(rows.recommended, ())
        needs = StationNeeds.of(at_risk, battery, chargers, wishes)
        tried = None if safe is None else stops_from
        charging = request.charge
        raise with_advice(error, stops, needs, battery, charging=charging, tried=tried) from None
