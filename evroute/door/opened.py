"""Roads with a belief or physics, by their names: what all plans of one command share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from evroute.door.planners import Planner, Planners
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import LearnedEnergies

MOST_PLANNERS = 16
"""Number of planners kept, by vehicle and conditions."""


@dataclass(frozen=True, slots=True)
class DoorNames:
    """Names of the roads, and of the belief or the physics.

    Parameters
    ----------
    network
        A network's name, or the path of a stored one.
    terrain
        Slopes: ``profile`` or ``edge``, or None for the network's or the belief's own.
    belief
        Folder of a belief, or None for physics.
    run
        Run of that folder, if it has several.
    physics
        Physics without a belief, or None for the usual one.
    """

    network: str
    terrain: str | None = None
    belief: Path | None = None
    run: str | None = None
    physics: str | None = None

    def of_car(self, car: str | None, vehicle: str | None) -> "DoorNames":
        """Return the names with the folder of one type, where the belief is the folder of a fleet.

        Parameters
        ----------
        car
            Name of a car of the fleet, or None.
        vehicle
            Type of a car without trips, or its file, or None.

        Raises
        ------
        EvrouteError
            If the fleet does not have the car or the type, or has several types and none is named.
        """
        if self.belief is None:
            return self
        from evroute.learning.fleet.type_folders import folder_of

        return replace(self, belief=folder_of(self.belief, car, vehicle))

    def open(self) -> "Door":
        """Read the roads, and the belief if there is one.

        Raises
        ------
        EvrouteError
            If one of them does not exist or cannot be read.
        """
        roads = on_terrain(load_network(self.network), self.terrain)
        if self.belief is None:
            return Door(roads, None, self.physics)
        from evroute.learning.belief import load_belief  # half of the start of a plan without one

        threadpool_limits(1)  # threads of small products wait for each other
        learned = load_belief(self.belief, self.run, network=roads)
        return Door(learned.network, learned, self.physics)


@dataclass(frozen=True, slots=True, eq=False)
class Door:
    """Roads, and the belief or the physics of all plans of one call."""

    roads: RoadNetwork
    learned: LearnedEnergies | None
    physics: str | None

    def planner(
        self,
        vehicle: str | Vehicle | None,
        conditions: DrivingConditions,
        *,
        single: bool = False,
    ) -> Planner:
        """Return the planner of a vehicle on a day.

        Parameters
        ----------
        vehicle
            The vehicle, or None for the belief's, or the usual one.
        conditions
            Conditions of the day.
        single
            Whether it answers one request, as in `Planner`.
        """
        return Planner(
            self.roads,
            vehicle,
            self.learned,
            conditions=conditions,
            physics=self.physics,
            single=single,
        )

    def planners(self) -> Callable[[str | Vehicle | None, DrivingConditions], Planner]:
        """Return a function with the arguments of `planner` that keeps the last planners."""
        kept = Planners(MOST_PLANNERS)

        def planner_of(vehicle: str | Vehicle | None, conditions: DrivingConditions) -> Planner:
            return kept.of((vehicle, conditions), lambda: self.planner(vehicle, conditions))

        return planner_of
