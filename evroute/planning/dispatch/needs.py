"""The charge that one trip or all trips of a day need, as answers of command line and service."""

from collections.abc import Sequence
from math import ceil
from typing import Annotated, ClassVar

from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.planning.battery import Battery
from evroute.planning.dispatch.day_need import DayNeed
from evroute.planning.documents import Ends, Needed, NeededOfDay, NeedOfTrip
from evroute.planning.fields import CAR, DEPART, DESTINATION, ORIGIN, Request, VehicleField
from evroute.planning.forecasts.learned import note_of
from evroute.planning.places import Places, places_of
from evroute.planning.planner import Planner
from evroute.planning.reach import RESERVE_OF_RANGE, start_needed
from evroute.threads import one_thread
from evroute.validation.forms import Number

KEPT = Number("Probability with which the reserve is kept.", least=0.5, below=1)


class ChargeRequest(Request):
    """A trip whose charge is wanted, or the reserve and the day of trips of a table."""

    subject: ClassVar[str] = "a charge that is needed"

    origin: Annotated[str | None, ORIGIN] = None
    destination: Annotated[str | None, DESTINATION] = None
    p: Annotated[float, KEPT] = 0.95
    reserve: Annotated[float, RESERVE_OF_RANGE] = 0.0
    vehicle: VehicleField = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    conditions: DrivingConditions = DrivingConditions()


@one_thread
def needed(planner: Planner, ends: tuple[str, str], reserve: float, p: float) -> Needed:
    """Return the charge that a trip needs to keep a reserve with a probability.

    Parameters
    ----------
    planner
        Planner of the trip, at its departure.
    ends
        Places that it leads from and to.
    reserve
        Least charge, %.
    p
        Probability with which it is kept.

    Raises
    ------
    EvrouteError
        If there is no way, or a full battery does not suffice.
    """
    capacity_kwh = planner.vehicle.battery_kwh
    places = places_of(planner.network, None, ends)
    least = Battery.of_percent(capacity_kwh, reserve, reserve)
    needed_percent = _least_percent(planner, ends, least, 1.0 - p)
    return {
        "network": planner.network.name,
        "vehicle": planner.vehicle.name,
        **_ends(planner, places),
        "reserve_percent": reserve,
        "p": p,
        "needed_percent": needed_percent,
        "needed_wh": 10.0 * capacity_kwh * needed_percent,
        "expected_percent": start_needed(planner, places, least),
        "note": note_of(planner.belief),
    }


@one_thread
def needed_of_day(
    planners: Sequence[Planner], trips: Sequence[tuple[str, str]], reserve: float, p: float
) -> NeededOfDay:
    """Return the charge that all trips of a day need together (`DayNeed`).

    Parameters
    ----------
    planners
        Planner at the departure of each trip.
    trips
        Places that each trip leads from and to, in driving order.
    reserve, p
        As in `needed`.

    Raises
    ------
    EvrouteError
        If there is no way, or a full battery does not suffice.
    """
    network, vehicle = planners[0].network, planners[0].vehicle
    places = []
    for number, ends in enumerate(trips):
        try:
            places.append(places_of(network, None, ends))
        except EvrouteError as error:
            raise EvrouteError(f"trips.{number}: {error}") from None
    need = DayNeed(list(zip(planners, places, strict=True))).need(reserve, p)
    described: list[NeedOfTrip] = [
        {**_ends(planners[0], each), "energy_wh": energy_wh}
        for each, energy_wh in zip(places, need.trip_wh, strict=True)
    ]
    return {
        "network": network.name,
        "vehicle": vehicle.name,
        "trips": described,
        "reserve_percent": reserve,
        "p": p,
        "needed_percent": need.percent,
        "needed_wh": 10.0 * vehicle.battery_kwh * need.percent,
        "expected_percent": need.expected_percent,
        "mean_wh": need.mean_wh,
        "sd_wh": need.std_wh,
        "note": note_of(planners[0].belief),
    }


def _ends(planner: Planner, places: Places) -> Ends:
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
