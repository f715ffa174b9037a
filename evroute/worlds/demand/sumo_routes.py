"""SUMO route files as trips: the first and last edge of a vehicle's route, or a trip's from and to.

The planner chooses the edges between. SUMO's vehicle types are ignored. See
https://sumo.dlr.de/docs/Definition_of_Vehicles,_Vehicle_Types,_and_Routes.html.
"""

import gzip
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

from evroute.errors import EvrouteError
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.worlds.demand.trips import Trip

SIXTY = 60


def read_routes(path: Path, setting: Setting) -> tuple[list[Trip], dict[str, int]]:
    """Return the trips of a route file (``.xml``, ``.xml.gz``), and others counted by reason.

    A route with an edge or a turn that the network does not have is skipped.

    Raises
    ------
    EvrouteError
        If the file is not XML.
    """
    network = setting.network
    turns = {(int(a), int(b)) for a, b in network.turns}
    trips: list[Trip] = []
    skipped: dict[str, int] = {}
    named: dict[str, str] = {}
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    depth = 0
    try:
        with opened(path, "rb") as file:
            for event, element in ET.iterparse(file, ("start", "end")):
                depth += 1 if event == "start" else -1
                if event == "start" or depth != 1:
                    continue
                if element.tag == "route" and "id" in element.attrib:
                    named[element.attrib["id"]] = element.get("edges", "")
                elif element.tag in {"vehicle", "trip"}:
                    inner = element.find("route")
                    edges = (
                        named.get(element.get("route", ""), "")
                        if inner is None
                        else inner.get("edges", "")
                    )
                    ids = edges.split() or [element.get("from", ""), element.get("to", "")]
                    departed_s = _seconds(element.get("depart", "0"))
                    reason = _wrong(ids, network, turns if element.tag == "vehicle" else None)
                    if departed_s is None:
                        reason = "departures that are no time, such as 'triggered'"
                    if reason or departed_s is None:
                        skipped[reason] = skipped.get(reason, 0) + 1
                    else:
                        ends = network.row_of[ids[0]], network.row_of[ids[-1]]
                        trips.append(
                            Trip(*ends, departed_s=departed_s, trip_id=element.get("id", ""))
                        )
                element.clear()
    except (ET.ParseError, EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise EvrouteError(f"route file {path} is unreadable: {error}") from None
    return trips, skipped


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
    """Return seconds from a number or H:M:S, as SUMO writes them; None for other texts."""
    try:
        total = 0.0
        for part in depart.split(":"):
            total = total * SIXTY + float(part)
    except ValueError:
        return None
    return total if total >= 0 else None
