"""Planners of calls from Python. Calls with equal physics, or with one belief, share a planner."""

from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import LearnedEnergies, vehicle_of
from evroute.planning.planner import Planner

MOST_OF_BELIEFS = 2
"""Number of planners of beliefs that are kept."""


def planner_for(
    network: RoadNetwork | str | Path,
    vehicle: Vehicle | str | Path | None,
    conditions: DrivingConditions,
    *,
    belief: LearnedEnergies | None,
    physics: str | None,
    uncertainty: LearnedEnergies | None,
) -> Planner:
    """Return the planner of a request. Requests on equal physics or on one belief share one.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    vehicle
        A vehicle, its name or file, or None for the belief's, or the default.
    conditions
        Conditions of the day.
    belief, physics, uncertainty
        As in `evroute.plan`.
    """
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    if belief is not None and uncertainty is None and not isinstance(vehicle, Path):
        return _of_belief(roads, vehicle, conditions, cast(Any, belief), physics)
    if belief is None and uncertainty is None:
        return _shared(roads, vehicle_of(vehicle), conditions, physics)
    return Planner(
        roads,
        vehicle,
        belief,
        conditions=conditions,
        physics=physics,
        uncertainty=uncertainty or physics_belief,
    )


@lru_cache(maxsize=4)
def _shared(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, physics: str | None
) -> Planner:
    """Return the planner that all requests on equal physics share."""
    return Planner(
        network, vehicle, conditions=conditions, physics=physics, uncertainty=physics_belief
    )


@lru_cache(maxsize=MOST_OF_BELIEFS)
def _of_belief(
    network: RoadNetwork,
    vehicle: Vehicle | str | None,
    conditions: DrivingConditions,
    belief: LearnedEnergies,
    physics: str | None,
) -> Planner:
    """Return the planner that all requests on one belief share. It follows what that learns."""
    return Planner(
        network,
        vehicle,
        belief,
        conditions=conditions,
        physics=physics,
        uncertainty=physics_belief,
    )
