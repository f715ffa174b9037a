"""Effects of the conditions of the day and of a vehicle's numbers on the energy of a route."""

from dataclasses import asdict, replace
from typing import Any

from evroute.arms import Route
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import edge_parts
from evroute.energy.vehicle import Vehicle
from evroute.network.road_network import RoadNetwork


def energy_by_condition(
    network: RoadNetwork,
    vehicle: Vehicle,
    conditions: DrivingConditions,
    route: Route,
    *,
    time_s: float | None = None,
) -> dict[str, float]:
    """Return the energy that each condition other than eq. 8's adds to a route, Wh.

    The bearing of the wind is changed together with its speed. The effects do not sum to the total,
    because conditions interact.

    Parameters
    ----------
    network, vehicle
        Roads, and the vehicle that drives them.
    conditions
        Conditions of the day. Each is left out in turn while the others stay.
    route
        A route on the network.
    time_s
        Its travel time on the day, for heating and cooling, s. The network's if None.
    """
    neutral: dict[str, dict[str, Any]] = {
        "temperature_c": {"temperature_c": None},
        "wind_mps": {"wind_mps": 0.0},
        "speed_factor": {"speed_factor": 1.0},
        "payload_kg": {"payload_kg": 0.0},
    }
    total_wh = _energy_wh(network, vehicle, conditions, route)
    effects_wh = {
        name: total_wh - _energy_wh(network, vehicle, replace(conditions, **without), route)
        for name, without in neutral.items()
        if getattr(conditions, name) != without[name]
    }
    if "temperature_c" in effects_wh and time_s is not None:
        slower_s = time_s - network.time_s[route.rows].sum() / conditions.speed_factor
        effects_wh["temperature_c"] += float(
            (conditions.load(vehicle).auxiliary_w - vehicle.auxiliary_w) * slower_s / J_PER_WH
        )
    return effects_wh


def energy_by_change(
    network: RoadNetwork,
    vehicle: Vehicle,
    usual: Vehicle,
    conditions: DrivingConditions,
    route: Route,
) -> dict[str, float]:
    """Return the energy that each changed number of a vehicle adds to a route, Wh.

    Parameters
    ----------
    network
        Roads.
    vehicle, usual
        A vehicle, and the one that it is compared with, number by number.
    conditions
        Conditions of the day.
    route
        A route on the network.
    """
    total_wh, before = _energy_wh(network, vehicle, conditions, route), asdict(usual)
    return {
        name: total_wh
        - _energy_wh(network, replace(vehicle, **{name: before[name]}), conditions, route)
        for name, value in asdict(vehicle).items()
        if value != before[name]
    }


def _energy_wh(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, route: Route
) -> float:
    return float(edge_parts(network, vehicle, conditions, route.rows).total_wh.sum())
