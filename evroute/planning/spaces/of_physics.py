"""Arm spaces by physics: those that plans and beliefs on one network share, by the physics' name.

A space of a region takes seconds to compute, and depends on no trip. A belief adds its potential
(`EdgeSpace.with_potential`).
"""

from dataclasses import replace
from functools import lru_cache

from evroute.arrays import FloatArray
from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import speed_factors
from evroute.energy.vehicle import Vehicle
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace

MOST_SHARED = 4
"""Number of spaces of edges, and of turns, that are kept."""


def space_of_physics(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, physics: str
) -> tuple[SearchSpace, FloatArray]:
    """Return the arms, and the usual travel time of each edge (n,) s.

    Parameters
    ----------
    network, vehicle, conditions
        Roads, car, and conditions of the day.
    physics
        ``driving``, turns at the speeds of drivers, or ``eq8``, edges at the speeds of the map.
    """
    driving = physics == defaults.PHYSICS
    usual_s = network.time_s / speed_factors(network) if driving else network.time_s
    if conditions == of_any_date(conditions):
        shared = shared_turns if driving else shared_edges
        return shared(network, vehicle, conditions), usual_s
    edges = EdgeSpace(network, vehicle, conditions=conditions)
    if not driving:
        return edges, usual_s
    return TurnSpace(edges, TurnTable.from_network(network), free_flow=True), usual_s


def of_any_date(conditions: DrivingConditions) -> DrivingConditions:
    """Return conditions without date and departure, on which energies by physics do not depend."""
    return replace(conditions, date=None, departed_s=None)


@lru_cache(maxsize=MOST_SHARED)
def shared_edges(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions
) -> EdgeSpace:
    """Return the space of edges that beliefs and plans of a vehicle share.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    conditions
        Conditions of any date (`of_any_date`).
    """
    return EdgeSpace(network, vehicle, conditions=conditions)


@lru_cache(maxsize=MOST_SHARED)
def shared_turns(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions
) -> TurnSpace:
    """Return the space of turns by the driver's physics that beliefs and plans of a vehicle share.

    Parameters
    ----------
    network, vehicle, conditions
        As in `shared_edges`.
    """
    edges = shared_edges(network, vehicle, conditions)
    return TurnSpace(edges, TurnTable.from_network(network), free_flow=True)
