"""Planners that plan before the first trip, too, and those that a process keeps."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from pathlib import Path

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.newest import Newest
from evroute.planning import planner as planning
from evroute.planning.forecasts.learned import LearnedEnergies, PhysicsBelief, vehicle_of


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


class Planners:
    """Planners that a process keeps: of each key the newest, of the keys that were asked last.

    Parameters
    ----------
    most
        Number of keys.
    """

    def __init__(self, most: int) -> None:
        self._newest = lru_cache(most)(lambda key: Newest[Planner]())

    def of(self, key: Hashable, make: Callable[[], Planner], version: Hashable = None) -> Planner:
        """Return the planner of a key.

        Parameters
        ----------
        key
            The network, the vehicle, the day, and the belief or the physics, or their names.
        make
            Function that returns the planner.
        version
            Changes whenever what the names stand for does. A planner follows what its belief
            learns by itself.
        """
        return self._newest(key).of(version, make)


_OF_PHYSICS, _OF_BELIEFS = Planners(4), Planners(2)


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

    def make() -> Planner:
        return Planner(
            roads,
            vehicle,
            belief,
            conditions=conditions,
            physics=physics,
            uncertainty=uncertainty,
        )

    if uncertainty is not None or (belief is not None and isinstance(vehicle, Path)):
        return make()
    if belief is None:
        return _OF_PHYSICS.of((roads, vehicle_of(vehicle), conditions, physics), make)
    return _OF_BELIEFS.of((roads, vehicle, conditions, belief, physics), make)
