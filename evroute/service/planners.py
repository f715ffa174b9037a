"""Planners of the service: networks, beliefs and planners that are kept in memory by name."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from evroute.door import planners as door
from evroute.energy.driving import DrivingConditions
from evroute.errors import UnknownNameError, require
from evroute.files import inside
from evroute.folder import Folder
from evroute.learning.fleet.type_folders import folder_of
from evroute.learning.followed import FollowedBelief
from evroute.network.catalog import load_network, network_version
from evroute.network.road_network import RoadNetwork
from evroute.planning.fields import day_of
from evroute.planning.planner import Planner

NETWORKS, BELIEFS = 4, 8
"""Number of networks and beliefs kept in memory, which take seconds to read."""
PLANNERS = 8
"""Number of planners kept for usual conditions, and as many for others. They take milliseconds."""
USUAL = DrivingConditions()

Version = tuple[object, ...]


class OnRoads(Protocol):
    """The part of a request that a planner depends on, and the departure."""

    @property
    def network(self) -> str:
        """Name of the network."""

    @property
    def vehicle(self) -> str | None:
        """Name of the vehicle, or None for the belief's, or the usual one."""

    @property
    def conditions(self) -> DrivingConditions:
        """Conditions of the day."""

    @property
    def belief(self) -> str | None:
        """Name of the belief, or None for physics."""

    @property
    def depart(self) -> str | None:
        """Departure, HH:MM."""

    @property
    def car(self) -> str | None:
        """Name of a car of the belief's fleet, or None."""


class Planners:
    """Planners by the names of requests. One of them answers one request at a time.

    Parameters
    ----------
    beliefs
        Folder with a folder for each belief, by name.
    """

    def __init__(self, beliefs: Path) -> None:
        self.beliefs = beliefs
        self._usual, self._other = door.Planners(PLANNERS), door.Planners(PLANNERS)
        self._network = lru_cache(NETWORKS)(lambda name, version: load_network(name))
        self._belief = lru_cache(BELIEFS)(self._followed)

    def network(self, name: str) -> RoadNetwork:
        """Return a network. UnknownNameError if there is none of the name."""
        return self._network(name, network_version(name))

    def of_request(self, request: OnRoads) -> Planner:
        """Return the planner of a request, at its departure."""
        day = day_of(request.conditions, request.depart)
        return self.of_day(request).of_car(request.car).leaving(day.departed_s)

    def of_day(self, request: OnRoads) -> Planner:
        """Return the planner of a request, at no departure.

        No request makes others read their network or belief again, except by naming more of them
        than are kept. Requests under other conditions have planners of their own, so that planners
        for usual conditions stay.
        """
        day = replace(request.conditions, departed_s=None)
        planners = self._usual if day == USUAL else self._other
        folder = None
        if request.belief is not None:
            folder = self.folder(request.belief, request.car, request.vehicle)
        key = request.network, request.vehicle, day, folder
        version = network_version(request.network)
        roads, learned = self._network(request.network, version), None
        if folder is not None:
            followed = self._belief(request.network, version, folder)
            learned = followed.at(_belief_version(folder))

        def make() -> door.Planner:
            return door.Planner(roads, request.vehicle, learned, conditions=day)

        return planners.of(key, make, (version, learned))

    def _followed(self, network: str, version: Version, folder: Path) -> FollowedBelief:
        return FollowedBelief(folder, self._network(network, version))

    def folder(self, name: str, car: str | None = None, vehicle: str | None = None) -> Path:
        """Return the folder of a belief, of a fleet that of the type of the car or the vehicle.

        Parameters
        ----------
        name
            Name of the belief.
        car, vehicle
            Car and vehicle of a request, or None.

        Raises
        ------
        UnknownNameError
            If there is none of the name, or the fleet has no such car or type.
        EvrouteError
            If the fleet has several types and neither is named.
        """
        folder = folder_of(inside(self.beliefs, name), car, vehicle)
        require(
            Folder(folder).has_manifest,
            f"there is no belief '{name}'. POST /v1/trips makes one",
            UnknownNameError,
        )
        return folder


def _belief_version(folder: Path) -> Version:
    """Return a value that changes whenever trips are learned, by this process or another.

    A belief that is written takes the place of the file before, with an inode of its own.
    """
    found = (each.stat() for each in (folder / "beliefs").glob("*.npz"))
    return tuple(sorted((each.st_mtime_ns, each.st_ino) for each in found))
