"""Work of the service: it plans on cached planners, and learns trips into beliefs by name."""

import tempfile
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.folder import Folder
from evroute.learning.belief import load_belief
from evroute.learning.findings import findings
from evroute.learning.learn import learn
from evroute.learning.parts import read_parts
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network, network_version
from evroute.planning.answers import document
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.service.requests import PlanRequest, Trips
from evroute.tables import read_columns, write_columns
from evroute.text import counted

PLANNERS, NETWORKS = 8, 4
"""Number of planners and networks kept in memory."""


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
        self._planner = lru_cache(PLANNERS)(self._new_planner)
        self._network = lru_cache(NETWORKS)(lambda name, version: load_network(name))

    def plan(self, request: PlanRequest) -> dict[str, Any]:
        """Return the document of a plan, as ``evroute route --json`` prints it.

        Raises
        ------
        EvrouteError
            If the request cannot be met.
        """
        with self._planning:
            planner = self._planner(
                request.network,
                network_version(request.network),
                request.vehicle,
                request.conditions,
                request.belief,
                self._belief_version(request.belief),
            )
            plan = planner.plan(
                request.origin,
                request.destination,
                via=request.via,
                battery=Battery.requested(
                    planner.vehicle.battery_kwh, request.soc, request.reserve
                ),
                max_extra_time=request.max_extra_time,
                alternatives=request.alternatives,
                depart=request.depart,
                price=request.price,
                time_value=request.time_value,
                risk=request.risk,
                charge=request.charge,
            )
            return document(plan)

    def plans(self, requests: Sequence[PlanRequest | str]) -> list[dict[str, Any]]:
        """Return the documents of plans in their order; one that cannot be met has an ``error``.

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
                answers.append({"error": str(error)})
        return answers

    def learn(self, trips: Trips) -> dict[str, Any]:
        """Learn trips; they are on the disk when this returns.

        Raises
        ------
        ConflictingTripsError
            If a trip's id stands for other measurements; the trips of new ids are learned.
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
        """Return the subject of a belief and what it found, in sentences.

        Raises
        ------
        UnknownNameError
            If there is no belief of this name.
        """
        folder = self._folder(name)
        with self._learning:
            belief = load_belief(folder)
            recorded = read_parts(folder, belief.network)
            trips = read_columns(folder / "trips.parquet")
        return {
            "name": name,
            "network": belief.network.name,
            "vehicle": belief.vehicle.name,
            "trips": belief.trips,
            "note": belief.note,
            "findings": list(findings(trips, recorded.values(), belief)),
        }

    def _new_planner(
        self,
        network: str,
        version: tuple[object, ...],
        vehicle: str | None,
        day: DrivingConditions,
        belief: str | None,
        belief_version: int,
    ) -> Planner:
        del belief_version  # of the key alone
        roads = self._network(network, version)
        learned = None if belief is None else load_belief(self._folder(belief), network=roads)
        return Planner(roads, vehicle, learned, conditions=day, uncertainty=physics_belief)

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
