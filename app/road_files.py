"""Files of a network for its map: three classes of roads, names of streets and of places."""

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.places import names
from evroute.network.road_network import RoadNetwork
from evroute.report.lines import LonLat, thin_points

NAME_EVERY_M = 600.0
STRAIGHT = 0.9
"""Least ratio of the distance of its ends to the length of a road that bears a name."""
MAIN, COLLECTING, OTHER = range(3)
RANKS = {"motorway": MAIN, "trunk": MAIN, "primary": MAIN}
RANKS |= {"secondary": COLLECTING, "tertiary": COLLECTING}
"""Ranks of roads by class. Further classes are `OTHER`."""
MAIN_MPS, COLLECTING_MPS = 65.0 / 3.6, 45.0 / 3.6
"""Least speeds of a main and of a collecting road where no class is known."""
AT_ONCE = 10_000
"""Lines that are written together."""
StreetName = tuple[str, float, float, float, float, int]
LatLon = tuple[float, float]


class RoadFiles:
    """The files of a network, JSON, each written when it is first asked for.

    Parameters
    ----------
    roads
        The network.
    """

    def __init__(self, roads: RoadNetwork) -> None:
        self.of = roads
        self._lock = Lock()

    def file(self, name: str) -> bytes:
        """Return the file ``roads`` or ``names``. A second caller waits for the first."""
        with self._lock:
            content: bytes = getattr(self, name)
        return content

    @cached_property
    def roads(self) -> bytes:
        """Lines of the roads by rank, each a list of latitudes and longitudes."""
        return b"[" + b",".join(map(lines_json, *zip(*lines_by_rank(self.of), strict=True))) + b"]"

    @cached_property
    def names(self) -> bytes:
        """JSON with the street names (``streets``) and the names of places (``places``)."""
        return json_of({"streets": street_names(self.of), "places": place_names(self.of)})


def json_of(lines: Any) -> bytes:
    """Return the contents of a file."""
    return json.dumps(lines, separators=(",", ":"), ensure_ascii=False).encode()


def lines_json(places: FloatArray, start: IntArray) -> bytes:
    """Return lines as a file, each a list of latitudes and longitudes.

    They are written in parts, so that few points of a large network exist as objects at a time.

    Parameters
    ----------
    places
        (q, 2) longitudes and latitudes of the points of all m lines.
    start
        (m + 1,) line i has the points ``start[i]`` to ``start[i + 1]``.
    """
    parts = []
    for first in range(0, len(start) - 1, AT_ONCE):
        ends = start[first : first + AT_ONCE + 1]
        points = places[ends[0] : ends[-1], ::-1].tolist()
        lines = [points[each:end] for each, end in pairwise((ends - ends[0]).tolist())]
        parts.append(json_of(lines)[1:-1])
    return b"[" + b",".join(parts) + b"]"


def flipped(line: Sequence[LonLat]) -> list[LatLon]:
    """Return a line as latitudes and longitudes."""
    return [(lat, lon) for lon, lat in line]


def road_ranks(roads: RoadNetwork) -> IntArray:
    """Return the rank of each edge, (n,): 0 is a main road. By speed where no class is known."""
    if not any(roads.road_class):
        return np.digitize(-roads.speed_mps, [-MAIN_MPS, -COLLECTING_MPS], right=True)
    words = (name.removeprefix("highway.").partition("_")[0] for name in roads.road_class)
    return np.array([RANKS.get(word, OTHER) for word in words])


def lines_by_rank(roads: RoadNetwork) -> list[tuple[FloatArray, IntArray]]:
    """Return the lines of the roads of each rank as `thin_points` does, degrees."""
    ranks = road_ranks(roads)
    return [thin_points(roads, np.flatnonzero(ranks == rank)) for rank in (MAIN, COLLECTING, OTHER)]


def street_names(roads: RoadNetwork) -> list[StreetName]:
    """Return names with the ends of a straight road each, main roads and long roads first.

    A street has one name in each square of `NAME_EVERY_M`, on its longest road there.

    Returns
    -------
    list of tuple
        Name, latitude and longitude of one end, latitude and longitude of the other, and rank.
    """
    first, last = roads.shape_start[:-1], roads.shape_start[1:] - 1
    x, y = roads.shape_x_m, roads.shape_y_m
    straight_m = np.hypot(x[last] - x[first], y[last] - y[first])
    named = np.array([bool(name) for name in roads.street])
    rows = np.flatnonzero(named & (straight_m > STRAIGHT * roads.length_m))
    ranks = road_ranks(roads)
    rows = rows[np.lexsort([-straight_m[rows], ranks[rows]])]
    squares = np.column_stack([x[first], y[first]])[rows] // NAME_EVERY_M
    lon, lat = roads.lon_lat
    found: dict[tuple[str, float, float], StreetName] = {}
    for row, (east, north) in zip(rows.tolist(), squares.tolist(), strict=True):
        ends = [round(float(each[at[row]]), 6) for at in (first, last) for each in (lat, lon)]
        place = (roads.street[row], east, north)
        found.setdefault(place, (roads.street[row], *ends, int(ranks[row])))
    return list(found.values())


def place_names(roads: RoadNetwork) -> list[tuple[str, float, float]]:
    """Return label, latitude and longitude of the named places that are no crossings."""
    return [
        (place.label, round(place.lat, 6), round(place.lon, 6))
        for place in names.places(roads)
        if " & " not in place.label
    ]
