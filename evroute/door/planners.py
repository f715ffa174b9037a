"""Planners of calls from Python. Calls with equal physics, or with one belief, share a planner."""

from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning import planner as planning
from evroute.planning.forecasts.learned import LearnedEnergies, PhysicsBelief, vehicle_of

MOST_OF_BELIEFS = 2
"""Number of planners of beliefs that are kept."""


class Planner(planning.Planner):
    """Plans on one network with one vehicle, with intervals before the first trip.

    Parameters
    ----------
    network
        Roads, with the profile of the belief if there is one.
    vehicle
        A vehicle, its name, or a TOML file, or None for the belief's, or `defaults.VEHICLE`.
    belief
        Learned energies of the car to plan on, or physics if None.
    conditions
        Conditions of the day.
    physics
        For plans without a belief, as in `planning.planner.Planner`.
    uncertainty
        Belief of the same physics whose forecasts serve plans without a belief, or None for
        `physics_belief`.
    single
        Whether only one plan is made.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle | str | Path | None = None,
        belief: LearnedEnergies | None = None,
        *,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        physics: str | None = None,
        uncertainty: LearnedEnergies | PhysicsBelief | None = None,
        single: bool = False,
    ) -> None:
        super().__init__(
            network,
            vehicle,
            belief,
            conditions=conditions,
            physics=physics,
            uncertainty=uncertainty or physics_belief,
            single=single,
        )


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
        uncertainty=uncertainty,
    )


@lru_cache(maxsize=4)
def _shared(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, physics: str | None
) -> Planner:
    """Return the planner that all requests on equal physics share."""
    return Planner(network, vehicle, conditions=conditions, physics=physics)


@lru_cache(maxsize=MOST_OF_BELIEFS)
def _of_belief(
    network: RoadNetwork,
    vehicle: Vehicle | str | None,
    conditions: DrivingConditions,
    belief: LearnedEnergies,
    physics: str | None,
) -> Planner:
    """Return the planner that all requests on one belief share. It follows what that learns."""
    return Planner(network, vehicle, belief, conditions=conditions, physics=physics)
