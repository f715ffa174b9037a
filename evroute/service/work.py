"""Work of the service: it plans on cached planners, and learns trips into beliefs by name."""

import gc
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from evroute.arrays import BoolArray
from evroute.door.warm import warm
from evroute.errors import EvrouteError, NotEnoughChargeError, require
from evroute.files import inside
from evroute.folder import Folder
from evroute.learning.belief import belief_of, stored_belief
from evroute.learning.findings import findings
from evroute.learning.fleet.type_folders import TABLE
from evroute.learning.learn import learn
from evroute.learning.one_call import WAIT_S
from evroute.learning.records.history import read_history
from evroute.network.places.positions import positions
from evroute.network.places.suggestions import suggest
from evroute.network.road_network import RoadNetwork
from evroute.planning import documents
from evroute.planning.answers import document
from evroute.planning.dispatch.needs import needed, needed_of_day
from evroute.planning.dispatch.reduced import check_same, reduced_energies
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import Pairs
from evroute.planning.reach import reach_asked
from evroute.planning.track import Track
from evroute.service import answers
from evroute.service.formats import EnergyMatrix
from evroute.service.planners import Planners
from evroute.service.problems import brief
from evroute.service.requests import (
    Drive,
    MatrixBody,
    NeededDay,
    NeededRequest,
    PlacesRequest,
    PlanBody,
    RangeBody,
    Trips,
)
from evroute.tables import read_columns, write_columns
from evroute.text import counted

PAUSE_S = 1e-4
"""Pause of long work between two steps, in which another request takes its turn."""

S = TypeVar("S")
Version = tuple[object, ...]


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
        self.planners = Planners(beliefs)

    def load(self) -> None:
        """Load the compiled code of all requests, and the roads of those that name none.

        What cannot be loaded is left to requests, whose answers say why.
        """
        with suppress(EvrouteError):
            roads = self.planners.network(PlanBody.model_fields["network"].default)
            warm(roads)
            ends = roads.edge_id[0], roads.edge_id[roads.n_edges // 2]
            self.plan(PlanBody(origin=ends[0], destination=ends[1], soc=80.0, reserve=10.0))

    def plan(self, request: PlanBody) -> documents.Plan:
        """Return the document of a plan, as ``evroute route --json`` prints it.

        Raises
        ------
        EvrouteError
            If the request cannot be met.
        """
        with self._planning:
            return document(self.planners.of_day(request).plan(request))

    def driven(self, drive: Drive) -> documents.Ahead:
        """Return what is left of a trip, by the drive so far (`planning.ahead`).

        Raises
        ------
        EvrouteError
            If the request cannot be met, or the drive is elsewhere.
        """
        track = Track.of_fixes(fix.model_dump() for fix in drive.driven)
        with self._planning:
            plan = self.planners.of_day(drive.request).plan(drive.request)
            return plan.after(track).document()

    def plans(self, requests: Sequence[PlanBody | str]) -> answers.Plans:
        """Return the documents of plans in their order. One that cannot be met has an ``error``.

        A text among the requests is the problem of an invalid one.
        """
        end = time.monotonic() + self.most_s
        found: list[documents.Plan | documents.Unplanned] = []
        for request in requests:
            try:
                require(
                    time.monotonic() <= end,
                    f"not planned within {self.most_s:g} s. Send fewer requests at once",
                )
                found.append({"error": request} if isinstance(request, str) else self.plan(request))
            except NotEnoughChargeError as error:
                steps = [dict(step) for step in error.steps]
                found.append({"error": brief(str(error)), "steps": steps})
            except EvrouteError as error:
                found.append({"error": brief(str(error))})
        return {"plans": found}

    def range(self, request: RangeBody) -> answers.Range:
        """Return the roads within reach of a charge (`planning.reach`).

        Raises
        ------
        EvrouteError
            If the request cannot be met.
        """
        with self._planning:
            planner = self.planners.of_day(request)
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
                {"probability": level, **_totals(network, percent >= request.reserve)}
                for level, percent in found.charge_percent.items()
            ],
            "edges": [ids[row] for row in np.flatnonzero(found.within)] if request.edges else None,
            "note": found.note,
        }

    def matrix(self, request: MatrixBody) -> EnergyMatrix:
        """Return the energies between places. Other requests go on between two origins.

        Raises
        ------
        EvrouteError
            If the request cannot be met, or not in time.
        """
        end = time.monotonic() + self.most_s
        with self._planning:
            planner = self.planners.of_request(request)
        origins, destinations = (
            list(self._by_turns(_stops(planner.network, side, places), end))
            for side, places in (
                ("origins", request.origins),
                ("destinations", request.destinations),
            )
        )
        if request.reduced:
            check_same(origins, destinations)
        with self._planning:
            pairs = Pairs(planner, destinations, request.cells)
        rows = list(self._by_turns(pairs.rows(origins), end))
        values = np.moveaxis(np.stack(rows), 2, 0)
        return EnergyMatrix(
            planner.network.name,
            planner.vehicle.name,
            origins,
            destinations,
            values,
            pairs.cells.columns,
            reduced_energies(values[0]) if request.reduced else None,
            planner.heating.warm_up.whole_wh if request.reduced else None,
        )

    def places(self, request: PlacesRequest) -> answers.Places:
        """Return the places that a text may mean, the likeliest first.

        Raises
        ------
        UnknownNameError
            If there is no such network.
        """
        roads = self.planners.network(request.network)
        found: list[Any] = [
            asdict(each) for each in suggest(roads, request.text, most=request.most)
        ]
        return {"places": found}

    def needed(self, request: NeededRequest) -> documents.Needed:
        """Return the charge that a trip needs (`dispatch.needs`).

        Raises
        ------
        EvrouteError
            If there is no way, or a full battery does not suffice.
        """
        with self._planning:
            planner = self.planners.of_request(request)
            ends = request.origin, request.destination
            return needed(planner, ends, request.reserve, request.p)

    def needed_of_day(self, request: NeededDay) -> documents.NeededOfDay:
        """Return the charge that all trips of a day need together (`dispatch.needs`).

        Raises
        ------
        EvrouteError
            If there is no way, or a full battery does not suffice.
        """
        with self._planning:
            planner = self.planners.of_request(request)
            planners = [planner.leaving(each.departed_s) for each in request.trips]
            ends = [(each.origin, each.destination) for each in request.trips]
            return needed_of_day(planners, ends, request.reserve, request.p)

    def learn(self, trips: Trips) -> answers.LearnedTrips:
        """Learn trips. They are on the disk when this returns.

        Raises
        ------
        ConflictingTripsError
            If a trip's id stands for other measurements. The trips of new ids are learned.
        EvrouteError
            If no trip can be used, or the belief is about another network or vehicle.
        """
        out = inside(self.beliefs, trips.belief)
        with self._learning, tempfile.TemporaryDirectory() as folder:
            table, cars = Path(folder) / "trips.parquet", Path(folder) / "cars.parquet"
            _write_rows(table, [row for trip in trips.trips for row in trip.rows()])
            _write_rows(cars, [each.model_dump() for each in trips.cars])
            try:
                learned = learn(
                    table,
                    out,
                    network=self.planners.network(trips.network),
                    vehicle=trips.vehicle,
                    cars=cars if trips.cars else None,
                )
            except EvrouteError as error:
                text = str(error).replace(f"trip table {table}", "trips")
                for path in (f"table of cars {cars}", str(cars), str(inside(out, TABLE))):
                    text = text.replace(path, "cars")
                raise type(error)(text) from None
            gc.collect()  # beliefs refer to themselves, and hold the roads of a region
        if learned.conflicts:
            raise ConflictingTripsError(
                f"{counted(len(learned.conflicts), 'trip')} ('{learned.conflicts[0]}' first) stand "
                "as recorded before. Send other measurements with a new id"
            )
        return {"new": learned.new, "known": learned.known, "skipped": learned.skipped}

    def belief(self, name: str, car: str | None = None) -> answers.Belief:
        """Return the subject of a belief and its findings, in sentences.

        Parameters
        ----------
        name
            Name of the belief.
        car
            Car of a fleet, whose type is meant. None for the only type.

        Raises
        ------
        UnknownNameError
            If there is no belief of this name, or it does not know the car.
        """
        folder = self.planners.folder(name, car)
        with self._learning, Folder(folder).locked(WAIT_S):  # another worker may learn
            stored = stored_belief(folder)
            belief = belief_of(stored, self.planners.network(stored.about.network))
            if car is not None and folder == inside(self.beliefs, name):
                belief.of_car(car)
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
        """Yield steps of long work, each made while no plan is. EvrouteError after an end, s."""
        while True:
            require(
                time.monotonic() <= end,
                f"not answered within {self.most_s:g} s. Send fewer places at once",
            )
            with self._planning:
                step = next(steps, None)
            if step is None:
                return
            time.sleep(PAUSE_S)
            yield step


def _write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as a Parquet table, None where a row lacks a column. Nothing if there are none."""
    names = dict.fromkeys(name for row in rows for name in row)
    if rows:
        write_columns(path, {name: [row.get(name) for row in rows] for name in names})


def _stops(network: RoadNetwork, side: str, places: Sequence[str]) -> Iterator[Stop]:
    """Yield the stops of a side of a matrix. EvrouteError with the position of a wrong place."""
    for position, place in enumerate(places):
        try:
            yield Stop(place, place, positions(network, place, leaving=side == "origins"))
        except EvrouteError as error:
            raise EvrouteError(f"{side}.{position}: {error}") from None


def _totals(network: RoadNetwork, within: BoolArray) -> answers.Roads:
    """Return number and length of some roads."""
    return {"roads": int(within.sum()), "length_m": float(network.length_m[within].sum())}
