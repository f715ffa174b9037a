"""Names of places for drivers: streets and junctions of a network."""

import re
from functools import lru_cache

import numpy as np

from evroute.errors import EvrouteError
from evroute.network.locate import locate
from evroute.network.road_network import RoadNetwork

_LAT_LON = re.compile(r"\s*[+-]?\d+(\.\d*)?\s*,\s*[+-]?\d+(\.\d*)?\s*")
UNNAMED = "a road without a name"


@lru_cache(maxsize=4)
def place_names(roads: RoadNetwork) -> dict[str, str]:
    """Return the junctions of two named streets, each with an edge id, by name."""
    streets: dict[int, dict[str, None]] = {}
    for edge, street in enumerate(roads.street):
        if street:
            for junction in (int(roads.tail[edge]), int(roads.head[edge])):
                streets.setdefault(junction, {})[street] = None
    leaving = dict(zip(roads.tail.tolist(), roads.edge_id, strict=True))
    names = {
        " & ".join(sorted(crossing)): leaving[junction]
        for junction, crossing in streets.items()
        if len(crossing) > 1 and junction in leaving
    }
    return dict(sorted(names.items()))


def place_label(roads: RoadNetwork, place: str) -> str:
    """Return the name of an edge id or "LAT,LON" for a driver."""
    if place in place_names(roads) or not place:
        return place
    try:
        edge = locate(roads, place)[0]
    except EvrouteError:
        return place
    here = roads.street[edge]
    for junction in (int(roads.tail[edge]), int(roads.head[edge])):
        meeting = np.flatnonzero((roads.tail == junction) | (roads.head == junction))
        others = sorted({roads.street[row] for row in meeting} - {here, ""})
        if here and others:
            return f"{here} & {others[0]}"
    return here or UNNAMED


def find_place(roads: RoadNetwork, text: str) -> str:
    """Return the edge id or "LAT,LON" of a driver's text.

    Raises
    ------
    EvrouteError
        If it is none and no name.
    """
    place = place_names(roads).get(text, text)
    if place not in roads.row_of and not _LAT_LON.fullmatch(place):
        raise EvrouteError(f"no place is called '{text}'; choose one of the list or click the map")
    return place


def place_point(roads: RoadNetwork, place: str, share: float = 0.5) -> tuple[float, float]:
    """Return latitude and longitude of a place: those of its text, or a point of its edge.

    Parameters
    ----------
    roads
        The network.
    place
        Name, edge id or "LAT,LON".
    share
        Point of an edge, as a share of its shape: 0 is its start, 1 its end.

    Raises
    ------
    EvrouteError
        If it is not on the network.
    """
    place = find_place(roads, place)
    edge = locate(roads, place)[0]
    if place not in roads.row_of:
        lat, _, lon = place.partition(",")
        return float(lat), float(lon)
    lon_deg, lat_deg = roads.lon_lat
    first, end = roads.shape_start[edge : edge + 2].tolist()
    row = first + round(share * (end - 1 - first))
    return float(lat_deg[row]), float(lon_deg[row])
