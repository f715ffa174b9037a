"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from collections.abc import Sequence

from evroute.arms import Route
from evroute.energy.charging import charging_s
from evroute.energy.vehicle import Vehicle
from evroute.errors import NotEnoughChargeError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes
from evroute.planning.charge.refusals import needs_at_risk, with_advice
from evroute.planning.charge.risk import choose_safe_rows
from evroute.planning.charge.station_needs import StationNeeds
from evroute.planning.charge.stop_rows import StopRows
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, choose_rows
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
        stops = () if rows is None else rows.stops.get(rows.recommended, ())
        needs, about = StationNeeds.of(problem, battery, chargers, wishes), ""
        if safe is not None and risk is not None:
            needs = needs_at_risk(problem, battery, chargers, wishes, (risk, safe.std_wh))
            about = "about "
        charging = request.charge
        raise with_advice(error, stops, needs, battery, charging=charging, about=about) from None
