"""The charge that one trip or all trips of a day need, as answers of the service."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.planning.battery import Battery
from evroute.planning.dispatch.day_need import DayNeed
from evroute.planning.forecasts.learned import note_of
from evroute.planning.places import Places, places_of
from evroute.planning.planner import Planner
from evroute.planning.reach import start_needed
from evroute.service.requests import NeededDay, NeededRequest


def needed(planner: Planner, request: NeededRequest) -> dict[str, Any]:
    """Return the charge that a trip needs to keep a reserve with a probability.

    Parameters
    ----------
    planner
        Planner of the request, at its departure.
    request
        The trip.

    Raises
    ------
    EvrouteError
        If there is no way, or a full battery does not suffice.
    """
    capacity_kwh = planner.vehicle.battery_kwh
    ends = request.origin, request.destination
    places = places_of(planner.network, None, ends)
    least = Battery.of_percent(capacity_kwh, request.reserve, request.reserve)
    needed_percent = _least_percent(planner, ends, least, 1.0 - request.p)
    return {
        "network": planner.network.name,
        "vehicle": planner.vehicle.name,
        **_ends(planner, places),
        "reserve_percent": request.reserve,
        "p": request.p,
        "needed_percent": needed_percent,
        "needed_wh": 10.0 * capacity_kwh * needed_percent,
        "expected_percent": start_needed(planner, places, least),
        "note": note_of(planner.belief),
    }


def needed_of_day(planners: Sequence[Planner], request: NeededDay) -> dict[str, Any]:
    """Return the charge that all trips of a day need together (`DayNeed`).

    Parameters
    ----------
    planners
        Planner at the departure of each trip.
    request
        The trips.

    Raises
    ------
    EvrouteError
        If there is no way, or a full battery does not suffice.
    """
    network, vehicle = planners[0].network, planners[0].vehicle
    places = []
    for number, trip in enumerate(request.trips):
        try:
            places.append(places_of(network, None, (trip.origin, trip.destination)))
        except EvrouteError as error:
            raise EvrouteError(f"trips.{number}: {error}") from None
    need = DayNeed(list(zip(planners, places, strict=True))).need(request.reserve, request.p)
    trips = [
        _ends(planners[0], each) | {"energy_wh": energy_wh}
        for each, energy_wh in zip(places, need.trip_wh, strict=True)
    ]
    return {
        "network": network.name,
        "vehicle": vehicle.name,
        "trips": trips,
        "reserve_percent": request.reserve,
        "p": request.p,
        "needed_percent": need.percent,
        "needed_wh": 10.0 * vehicle.battery_kwh * need.percent,
        "expected_percent": need.expected_percent,
        "mean_wh": need.mean_wh,
        "sd_wh": need.std_wh,
        "note": note_of(planners[0].belief),
    }


def _ends(planner: Planner, places: Places) -> dict[str, str]:
    """Return ids and names of the first and the last place of a trip."""
    ids = planner.network.edge_id
    return {
        "origin": ids[places.starts[0].edge],
        "destination": ids[places.ends[0].edge],
        "origin_name": places.titles[0],
        "destination_name": places.titles[1],
    }


def _least_percent(planner: Planner, ends: tuple[str, str], battery: Battery, risk: float) -> int:
    """Return the least whole per cent at the start with a route that keeps a risk."""
    try:
        planner.plan(*ends, battery=battery, risk=risk)
    except NotEnoughChargeError as error:
        if error.start_percent is None:
            raise
        return error.start_percent
    return ceil(battery.percent(battery.start_wh) - 1e-9)
