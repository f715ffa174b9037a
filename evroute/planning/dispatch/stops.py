"""Places of a matrix: the rows of a table with an id and a place, as positions on the roads."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray
from evroute.errors import EvrouteError, require
from evroute.network.places.positions import Position, point, positions
from evroute.network.road_network import RoadNetwork
from evroute.planning.requests import read_requests

COLUMNS = ("id", "place")


@dataclass(frozen=True, slots=True)
class Stop:
    """An origin or a destination: its id, its place as text, and the positions there."""

    id: str
    place: str
    positions: tuple[Position, ...]


def read_stops(path: Path, network: RoadNetwork, *, leaving: bool) -> list[Stop]:
    """Return the stops of a table, in its order. Without ids the places are the ids.

    Parameters
    ----------
    path
        CSV file with the column ``place`` and, if wanted, ``id``.
    network
        The roads.
    leaving
        Whether the stops are origins.

    Raises
    ------
    EvrouteError
        If the table has no row, a row has no place on the network, or places share an id. The
        message has the number of the row, 1 for the first one after the header.
    """
    stops, known = [], dict[str, str]()
    with read_requests(path, COLUMNS) as table:
        for number, row in enumerate(table.rows, start=1):
            where = f"{path}, row {number}"
            require(
                None not in row, f"{where}: more cells than columns. Quote a place with a comma"
            )
            place = row.get("place") or ""
            require(place, f"{where}: no place. Give the columns id,place")
            try:
                found = positions(network, place, leaving=leaving)
            except EvrouteError as error:
                raise EvrouteError(f"{where}: {error}") from None
            stop = Stop(row.get("id") or place, place, found)
            require(
                known.setdefault(stop.id, place) == place,
                f"{where}: id '{stop.id}' names another place above. Give each place an id of "
                "its own",
            )
            stops.append(stop)
    require(stops, f"{path} has no row. Give the columns id,place and a row for each place")
    return stops


def check_rows(origins: Sequence[Stop], destinations: Sequence[Stop]) -> None:
    """Check that one file may have the pairs of places.

    Raises
    ------
    LimitError
        If it may not. The message has the advice.
    """
    pairs = len(origins) * len(destinations)
    limits.check("rows", pairs, "the matrix has {} pairs. Name a folder, whose files have some")


def points_m(network: RoadNetwork, stops: Sequence[Stop]) -> FloatArray:
    """Return the points of stops on the map, (s, 2) m. NaN for edge ids, which are whole edges.

    Parameters
    ----------
    network, stops
        The roads, and s places there.
    """
    at_m = np.full((len(stops), 2), np.nan)
    for number, stop in enumerate(stops):
        if stop.place not in network.row_of:
            place = point(network, stop.positions[0])
            at_m[number] = place.x, place.y
    return at_m
