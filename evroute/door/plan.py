"""`plan`: one trip between two places, or a named one, by one call."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.errors import require
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.forecasts.learned import LearnedEnergies, vehicle_of
from evroute.planning.places import stops
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.planning.weights import DEFAULT_SEARCH


def plan(
    network: RoadNetwork | str | Path,
    *,
    origin: str | None = None,
    destination: str | None = None,
    via: Sequence[str] = (),
    trip: str | None = None,
    waypoints: Sequence[str] = (),
    vehicle: Vehicle | str | Path | None = None,
    search: str = DEFAULT_SEARCH,
    soc_percent: float | None = None,
    reserve_percent: float = 0.0,
    max_extra_time: float | None = None,
    alternatives: int = 0,
    conditions: DrivingConditions = EQ8_CONDITIONS,
    belief: LearnedEnergies | None = None,
    physics: str | None = None,
    depart: str | None = None,
    price: float | None = None,
    time_value: float | None = None,
    risk: float | None = None,
    charge: bool = False,
    uncertainty: LearnedEnergies | None = None,
) -> Plan:
    """Plan one trip between two places, or a named one.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    origin, destination, via
        Places to drive from, to and, in this order, over: names, ``"lat,lon"`` or edge ids.
    trip, waypoints
        In place of these a named trip of the network, or all places in driving order.
    vehicle
        A vehicle, its name, or a TOML file; None for that of the belief, or `defaults.VEHICLE`.
    soc_percent, reserve_percent
        Charge at the start, and the charge never to fall below, in percent of the usable battery.
    search, max_extra_time, alternatives, depart, price, time_value, risk, charge
        As in `Planner.plan`.
    conditions
        Temperature, wind, payload and speeds of the day.
    belief
        Learned energies to plan on (`load_belief`), about this network and vehicle; physics if
        None.
    physics
        For plans without a belief, as in `Planner`.
    uncertainty
        Belief of the same physics for the limit of risk; `physics_belief` if None.

    Raises
    ------
    EvrouteError
        If the request cannot be met; see `Planner.plan` and `places.stops`.
    """
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    ends = [place for place in (origin, *via, destination) if place is not None]
    require(
        not ends or (origin is not None and destination is not None and not waypoints),
        "give origin and destination with via between, or waypoints alone",
    )
    first, *between, last = stops(roads, trip, ends or waypoints)
    require(
        not isinstance(belief, (str, Path)),
        f"belief is the path {str(belief)!r}; give evroute.load_belief(FOLDER)",
    )
    car = vehicle_of(vehicle, belief)
    if belief is None and uncertainty is None:
        planner = _physics_planner(roads, car, conditions, physics)
    else:
        planner = Planner(
            roads, car, belief, conditions=conditions, physics=physics, uncertainty=uncertainty
        )
    return planner.plan(
        first,
        last,
        search=search,
        battery=Battery.requested(car.battery_kwh, soc_percent, reserve_percent),
        max_extra_time=max_extra_time,
        via=between,
        alternatives=alternatives,
        depart=depart,
        price=price,
        time_value=time_value,
        risk=risk,
        charge=charge,
    )


@lru_cache(maxsize=4)
def _physics_planner(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, physics: str | None
) -> Planner:
    """Return the planner that all plans on equal physics share."""
    return Planner(
        network, vehicle, conditions=conditions, physics=physics, uncertainty=physics_belief
    )
