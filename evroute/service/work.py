"""Work of the service: it plans on cached planners, and learns trips into beliefs by name."""

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from evroute.arrays import BoolArray
from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError, require
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.belief import load_belief
from evroute.learning.findings import findings
from evroute.learning.learn import learn
from evroute.learning.physics_belief import physics_belief
from evroute.learning.records.history import read_history
from evroute.network.catalog import load_network, network_version
from evroute.network.places.positions import positions
from evroute.network.places.suggestions import suggest
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import document
from evroute.planning.battery import Battery
from evroute.planning.fields import day_of
from evroute.planning.forecasts.learned import note_of
from evroute.planning.matrix import Stop, matrix_rows
from evroute.planning.places import places_of
from evroute.planning.planner import Planner
from evroute.planning.reach import reach_asked, start_needed
from evroute.service.formats import EnergyMatrix
from evroute.service.problems import brief
from evroute.service.requests import (
    MatrixBody,
    NeededRequest,
    PlacesRequest,
    PlanBody,
    RangeBody,
    Trips,
)
from evroute.tables import read_columns, write_columns
from evroute.text import counted

NETWORKS, BELIEFS = 4, 8
"""Number of networks and beliefs kept in memory, which take seconds to read."""
PLANNERS = 8
"""Number of planners kept for usual conditions, and as many for others. They take milliseconds."""
USUAL = DrivingConditions()

PAUSE_S = 1e-4
"""Pause of long work between two steps, in which another request takes its turn."""

S = TypeVar("S")
Version = tuple[object, ...]


class OnRoads(Protocol):
    """The part of a request that a planner depends on, and the departure."""

    @property
    def network(self) -> str:
        """Name of the network."""

    @property
    def vehicle(self) -> str | None:
        """Name of the vehicle, or None for that of the belief, or the usual one."""

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


class ConflictingTripsError(EvrouteError):
    """Trips whose ids stand for other measurements already."""


class Work:
    """Plans and beliefs of one service.

    A planner reuses its memory from plan to plan, so that one plan is made at a time.

    Parameters
    ----------
    beliefs
        Folder with a folder for each belief, by name.
    most_s
        Seconds after which no further request of many is begun.
    """

    def __init__(self, beliefs: Path, most_s: float) -> None:
        self.beliefs = beliefs
        self.most_s = most_s
        self._planning = threading.Lock()
        self._learning = threading.Lock()
        self._usual_planner = lru_cache(PLANNERS)(self._new_planner)
        self._other_planner = lru_cache(PLANNERS)(self._new_planner)
        self._network = lru_cache(NETWORKS)(lambda name, version: load_network(name))
        self._belief = lru_cache(BELIEFS)(self._load_belief)

    def plan(self, request: PlanBody) -> dict[str, Any]:
        """Return the document of a plan, as ``evroute route --json`` prints it.

        Raises
        ------
        EvrouteError
            If the request cannot be met.
        """
        with self._planning:
            return document(self._planner_of_day(request).plan(request))

    def plans(self, requests: Sequence[PlanBody | str]) -> list[dict[str, Any]]:
        """Return the documents of plans in their order. One that cannot be met has an ``error``.

        A text among the requests is the problem of an invalid one.
        """
        end, answers = time.monotonic() + self.most_s, []
        for request in requests:
            try:
                require(
                    time.monotonic() <= end,
                    f"not planned within {self.most_s:g} s; send fewer requests at once",
                )
                answers.append(
                    {"error": request} if isinstance(request, str) else self.plan(request)
                )
            except EvrouteError as error:
                answers.append({"error": brief(str(error))})
        return answers

    def range(self, request: RangeBody) -> dict[str, Any]:
        """Return the roads within reach of a charge (`planning.reach`).

        Raises
        ------
        EvrouteError
            If the request cannot be met.
        """
        with self._planning:
            planner = self._planner_of_day(request)
            found = reach_asked(planner, request)
        network, ids = planner.network, planner.network.edge_id
        return {
            "network": network.name,
            "vehicle": planner.vehicle.name,
            "origin": ids[found.origins[0].edge],
            "start_soc_percent": request.soc,
            "reserve_percent": request.reserve,
            "risk": request.risk,
            **_totals(network, found.within),
            "of_roads": network.n_edges,
            "extent_m": found.extent_m,
            "levels": [
                {"probability": level} | _totals(network, percent >= request.reserve)
                for level, percent in found.charge_percent.items()
            ],
            "edges": [ids[row] for row in np.flatnonzero(found.within)] if request.edges else None,
            "note": found.note,
        }

    def matrix(self, request: MatrixBody) -> EnergyMatrix:
        """Return the least energies between places. Other requests go on between two origins.

        Raises
        ------
        EvrouteError
            If the request cannot be met, or not in time.
        """
        end = time.monotonic() + self.most_s
        with self._planning:
            planner = self._planner(request)
        origins, destinations = (
            list(self._by_turns(_stops(planner.network, side, places), end))
            for side, places in (
                ("origins", request.origins),
                ("destinations", request.destinations),
            )
        )
        steps = matrix_rows(planner, origins, destinations, request.by)
        rows = list(self._by_turns(steps, end))
        return EnergyMatrix(
            planner.network.name,
            planner.vehicle.name,
            origins,
            destinations,
            np.moveaxis(np.stack(rows), 2, 0),
        )

    def places(self, request: PlacesRequest) -> list[dict[str, str]]:
        """Return the places that a text may mean, the likeliest first.

        Raises
        ------
        UnknownNameError
            If there is no such network.
        """
        roads = self._network(request.network, network_version(request.network))
        return [asdict(each) for each in suggest(roads, request.text, most=request.most)]

    def needed(self, request: NeededRequest) -> dict[str, Any]:
        """Return the charge that a trip needs to keep a reserve with a probability.

        Raises
        ------
        EvrouteError
            If there is no way, or a full battery does not suffice.
        """
        with self._planning:
            planner = self._planner(request)
            network, capacity_kwh = planner.network, planner.vehicle.battery_kwh
            ends = request.origin, request.destination
            places = places_of(network, None, ends)
            least = Battery.of_percent(capacity_kwh, request.reserve, request.reserve)
            needed_percent = _least_percent(planner, ends, least, 1.0 - request.p)
            expected_percent = start_needed(planner, places, least)
        return {
            "network": network.name,
            "vehicle": planner.vehicle.name,
            "origin": network.edge_id[places.starts[0].edge],
            "destination": network.edge_id[places.ends[0].edge],
            "origin_name": places.titles[0],
            "destination_name": places.titles[1],
            "reserve_percent": request.reserve,
            "p": request.p,
            "needed_percent": needed_percent,
            "needed_wh": 10.0 * capacity_kwh * needed_percent,
            "expected_percent": expected_percent,
            "note": note_of(planner.belief),
        }

    def learn(self, trips: Trips) -> dict[str, Any]:
        """Learn trips. They are on the disk when this returns.

        Raises
        ------
        ConflictingTripsError
            If a trip's id stands for other measurements. The trips of new ids are learned.
        EvrouteError
            If no trip can be used, or the belief is about another network or vehicle.
        """
        rows = [row for trip in trips.trips for row in trip.rows()]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        with self._learning, tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "trips.parquet"
            write_columns(table, columns)
            try:
                learned = learn(
                    table,
                    self.beliefs / trips.belief,
                    network=trips.network,
                    vehicle=trips.vehicle,
                )
            except EvrouteError as error:
                if str(table) not in str(error):
                    raise
                raise EvrouteError(str(error).replace(f"trip table {table}", "trips")) from None
        if learned.conflicts:
            raise ConflictingTripsError(
                f"{counted(len(learned.conflicts), 'trip')} ('{learned.conflicts[0]}' first) stand "
                "as recorded before; send other measurements with a new id"
            )
        return {"new": learned.new, "known": learned.known, "skipped": learned.skipped}

    def belief(self, name: str) -> dict[str, Any]:
        """Return the subject of a belief and its findings, in sentences.

        Raises
        ------
        UnknownNameError
            If there is no belief of this name.
        """
        folder = self._folder(name)
        with self._learning:
            belief = load_belief(folder)
            learned = read_history(folder, belief.setting).learned
            trips = read_columns(folder / "trips.parquet")
        return {
            "name": name,
            "network": belief.network.name,
            "vehicle": belief.vehicle.name,
            "trips": belief.trips,
            "note": belief.note,
            "findings": list(findings(trips, learned, belief)),
        }

    def _by_turns(self, steps: Iterator[S], end: float) -> Iterator[S]:
        """Yield steps of long work, each made while no plan is; EvrouteError after an end, s."""
        while True:
            require(
                time.monotonic() <= end,
                f"not answered within {self.most_s:g} s; send fewer places at once",
            )
            with self._planning:
                step = next(steps, None)
            if step is None:
                return
            time.sleep(PAUSE_S)
            yield step

    def _planner(self, request: OnRoads) -> Planner:
        """Return the planner of a request, at its departure."""
        day = day_of(request.conditions, request.depart)
        return self._planner_of_day(request).of_car(request.car).leaving(day.departed_s)

    def _planner_of_day(self, request: OnRoads) -> Planner:
        """Return the planner of a request, at no departure.

        No request makes others read their network or belief again, except by naming more of them
        than are kept. Requests under other conditions have planners of their own, so that those of
        usual conditions stay.
        """
        day = replace(request.conditions, departed_s=None)
        planner_of = self._usual_planner if day == USUAL else self._other_planner
        return planner_of(
            request.network,
            network_version(request.network),
            request.vehicle,
            day,
            request.belief,
            self._belief_version(request.belief),
        )

    def _new_planner(
        self,
        network: str,
        version: Version,
        vehicle: str | None,
        day: DrivingConditions,
        belief: str | None,
        belief_version: int,
    ) -> Planner:
        roads = self._network(network, version)
        learned = None if belief is None else self._belief(network, version, belief, belief_version)
        return Planner(roads, vehicle, learned, conditions=day, uncertainty=physics_belief)

    def _load_belief(
        self, network: str, version: Version, belief: str, belief_version: int
    ) -> Belief:
        del belief_version  # of the key alone
        return load_belief(self._folder(belief), network=self._network(network, version))

    def _folder(self, name: str) -> Path:
        folder = self.beliefs / name
        require(
            Folder(folder).has_manifest,
            f"there is no belief '{name}'; POST /v1/trips makes one",
            UnknownNameError,
        )
        return folder

    def _belief_version(self, name: str | None) -> int:
        """Return a number that changes whenever trips are learned."""
        if name is None:
            return 0
        files = (self._folder(name) / "beliefs").glob("*.npz")
        return max((path.stat().st_mtime_ns for path in files), default=0)


def _stops(network: RoadNetwork, side: str, places: Sequence[str]) -> Iterator[Stop]:
    """Yield the stops of a side of a matrix; EvrouteError with the position of a wrong place."""
    for position, place in enumerate(places):
        try:
            yield Stop(place, place, positions(network, place, leaving=side == "origins"))
        except EvrouteError as error:
            raise EvrouteError(f"{side}.{position}: {error}") from None


def _totals(network: RoadNetwork, within: BoolArray) -> dict[str, Any]:
    """Return number and length of some roads."""
    return {"roads": int(within.sum()), "length_m": float(network.length_m[within].sum())}


def _least_percent(planner: Planner, ends: tuple[str, str], battery: Battery, risk: float) -> int:
    """Return the least whole per cent at the start with a route that keeps a risk."""
    try:
        planner.plan(*ends, battery=battery, risk=risk)
    except NotEnoughChargeError as error:
        if error.start_percent is None:
            raise
        return error.start_percent
    return ceil(battery.percent(battery.start_wh) - 1e-9)
