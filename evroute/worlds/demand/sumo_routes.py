"""SUMO route files as trips: the first and last edge of a vehicle's route, or a trip's from and to.

The planner chooses the edges between. SUMO's vehicle types are ignored. See
https://sumo.dlr.de/docs/Definition_of_Vehicles,_Vehicle_Types,_and_Routes.html.
"""

import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from gzip import BadGzipFile
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO
from xml.parsers.expat import ExpatError

from evroute import limits
from evroute.errors import EvrouteError
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.worlds.demand.trips import Trip

SIXTY = 60
NO_TIME = "departures that are no time, such as 'triggered'"


def read_routes(path: Path, setting: Setting) -> tuple[list[Trip], dict[str, int]]:
    """Return the trips of a route file (``.xml``, ``.xml.gz``), and others counted by reason.

    A route with an edge or a turn that the network does not have is skipped.

    Raises
    ------
    EvrouteError
        If the file is not XML, too large or nested too deep.
    """
    network = setting.network
    reading = _Reading(path, network, {(int(a), int(b)) for a, b in network.turns})
    try:
        limits.check_xml(path)
        with limits.unpacked(path) as file:
            for element in _children(file, path):
                reading.add(element)
    except (ET.ParseError, ExpatError, EOFError, BadGzipFile, zlib.error, ValueError) as error:
        raise EvrouteError(f"route file {path} is unreadable: {error}") from None
    return reading.trips, reading.skipped


def _children(file: BinaryIO, path: Path) -> Iterator[ET.Element]:
    """Yield each child of the root of a file when it is complete. Then it takes no more memory."""
    most = limits.limit("elements")
    depth = events = 0
    for event, element in ET.iterparse(file, ("start", "end")):
        depth += 1 if event == "start" else -1
        events += 1
        if events == 1:
            root = element
        if events > most:
            limits.check("elements", events, f"a trip of {path} has {{}} elements or more")
        if event == "end" and depth == 1:
            yield element
            root.clear()
            events = 1


@dataclass(slots=True)
class _Reading:
    """The trips of a file as its elements arrive. ``named``: edges of routes with an id."""

    path: Path
    network: RoadNetwork
    turns: set[tuple[int, int]]
    trips: list[Trip] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    most: int = field(default_factory=lambda: limits.limit("trips"))

    def add(self, element: ET.Element) -> None:
        """Read a route with an id, a vehicle or a trip. Ignore other elements."""
        if element.tag == "route" and "id" in element.attrib:
            self.named[element.attrib["id"]] = element.get("edges", "")
        elif element.tag in {"vehicle", "trip"}:
            self._add_trip(element)

    def _add_trip(self, element: ET.Element) -> None:
        count = 1 + len(self.trips) + sum(self.skipped.values())
        if count > self.most:
            limits.check("trips", count, f"route file {self.path} has {{}} trips or more")
        ids = self._edge_ids(element)
        departed_s = _seconds(element.get("depart", "0"))
        if departed_s is None:
            self._skip(NO_TIME)
        elif reason := _wrong(ids, self.network, self.turns if element.tag == "vehicle" else None):
            self._skip(reason)
        else:
            ends = self.network.row_of[ids[0]], self.network.row_of[ids[-1]]
            self.trips.append(Trip(*ends, departed_s=departed_s, trip_id=element.get("id", "")))

    def _edge_ids(self, element: ET.Element) -> list[str]:
        """Return the edges of a vehicle's route, or the two ends of a trip."""
        inner = element.find("route")
        if inner is None:
            edges = self.named.get(element.get("route", ""), "")
        else:
            edges = inner.get("edges", "")
        return edges.split() or [element.get("from", ""), element.get("to", "")]

    def _skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def _wrong(ids: list[str], network: RoadNetwork, turns: set[tuple[int, int]] | None) -> str:
    """Return the reason why a trip cannot be driven, empty if it can.

    ``turns`` are the turns of the network if the whole route is given.
    """
    if any(each not in network.row_of for each in ids):
        return "on edges that the network does not have"
    if ids[0] == ids[-1]:
        return "origin and destination are the same edge"
    rows = [network.row_of[each] for each in ids]
    if turns is not None and any(pair not in turns for pair in pairwise(rows)):
        return "on turns that the network does not have"
    return ""


def _seconds(depart: str) -> float | None:
    """Return seconds from a number or H:M:S, as SUMO writes them, or None for other texts."""
    try:
        total = 0.0
        for part in depart.split(":"):
            total = total * SIXTY + float(part)
    except ValueError:
        return None
    return total if total >= 0 else None
