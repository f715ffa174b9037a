"""The arms of a plan without a belief, and their usual travel times, by the name of the physics."""

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
    edges = EdgeSpace(network, vehicle, conditions=conditions)
    if physics != defaults.PHYSICS:
        return edges, network.time_s
    turns = TurnSpace(edges, TurnTable.from_network(network), free_flow=True)
    return turns, network.time_s / speed_factors(network)
