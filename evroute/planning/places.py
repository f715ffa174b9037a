"""Places of a request as edges: a named trip, or places given as text.

Of the two directions of a street, and of the edges at a junction, those of the fastest trip are
taken.

Named trips shipped with evroute: origin and destination edges (``data/trips.toml``).
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.network.line_graph import LineGraph
from evroute.network.places.locate import locate, named_place
from evroute.network.places.names import edge_label
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.search import Search
from evroute.resources import data_path
from evroute.text import counted


@dataclass(frozen=True, slots=True)
class Trip:
    """A named request: drive from edge id ``origin`` to edge id ``destination``."""

    name: str
    origin: str
    destination: str


def load_trips(network_name: str) -> dict[str, Trip]:
    """Return the named trips of a network, by name; empty if it has none."""
    listed = tomllib.loads(data_path("trips.toml").read_text(encoding="utf-8"))
    return {
        name: Trip(name, ends["from"], ends["to"])
        for name, ends in listed.get(network_name, {}).items()
    }


def stops(network: RoadNetwork, trip: str | None, waypoints: Sequence[str]) -> tuple[int, ...]:
    """Return the edge rows of a named trip, or of two or more places, in driving order.

    A place on a two-way street, and a junction, is taken in the direction of the fastest trip.

    Parameters
    ----------
    network
        The roads.
    trip
        Name of a trip of the network; None for places.
    waypoints
        Names, ``lat,lon`` or edge ids in driving order; empty for a named trip.

    Raises
    ------
    EvrouteError
        Unless exactly one of the two is given; or if a name stands for several places, two
        successive names for one place or the ends of one road, or a place is not on the network.
    UnknownNameError
        If the network has no trip or place of that name.
    """
    require(
        (trip is None) != (len(waypoints) == 0),
        "give either a named trip, or origin and destination",
    )
    if trip is None:
        given = counted(len(waypoints), "place")
        require(len(waypoints) > 1, f"give origin and destination; got {given}")
        named = [named_place(network, place) for place in waypoints]
        edges = [locate(network, place, leaving=k == 0) for k, place in enumerate(waypoints)]
        for k, (place, following) in enumerate(pairwise(named)):
            touching = k == 0 and not set(edges[0]).isdisjoint(edges[1])
            if place and following and (touching or place == following):
                raise EvrouteError(
                    f"'{place.label}' and '{following.label}' are one place or the ends of one "
                    "road; choose places further apart"
                )
        return _quickest(network, edges)
    trips = load_trips(network.name)
    known = f"it has {', '.join(trips)}" if trips else "none ship for it"
    require(
        trip in trips,
        f"network '{network.name}' has no trip '{trip}'; {known}; or give two places",
        UnknownNameError,
    )
    ends = trips[trip].origin, trips[trip].destination
    if missing := [edge for edge in ends if edge not in network.row_of]:
        raise UnknownNameError(
            f"trip '{trip}' needs edge '{missing[0]}', which this network '{network.name}' lacks; "
            "give two places"
        )
    return network.row_of[ends[0]], network.row_of[ends[1]]


def different_stops(
    network: RoadNetwork, trip: str | None, waypoints: Sequence[str]
) -> tuple[int, ...]:
    """Return the edge rows of a named trip, or of places that differ from their neighbours.

    Parameters
    ----------
    network, trip, waypoints
        As in `stops`.

    Raises
    ------
    EvrouteError
        If a place follows itself; and as `stops`.
    """
    rows = stops(network, trip, waypoints)
    for place, following in pairwise(rows):
        if place == following:
            ends = "origin and destination" if len(rows) == 2 else "two successive places"
            raise EvrouteError(
                f"{ends} lie on the same block of {edge_label(network, place)}; choose two places"
            )
    return rows


def _quickest(network: RoadNetwork, places: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Choose the direction of each two-way street so that the trip is fastest.

    One choice holds for all routes of a plan, so that they can be compared.
    """
    if all(len(edges) == 1 for edges in places):
        return tuple(edges[0] for edges in places)
    search = Search(LineGraph.from_network(network), compiled=False)

    def distances(edge: int) -> FloatArray:
        time_s: FloatArray = search.distances(network.time_s, edge) - network.time_s[edge]
        time_s[edge] = np.inf  # a trip from an edge to itself is none
        return time_s

    best: dict[int, tuple[float, tuple[int, ...]]] = {
        edge: (float(network.time_s[edge]), (edge,)) for edge in places[0]
    }
    for edges in places[1:]:
        reached = {edge: (best[edge], distances(edge)) for edge in best}
        best = {
            edge: min(
                (so_far + float(time_s[edge]), (*way, edge))
                for (so_far, way), time_s in reached.values()
            )
            for edge in edges
        }
    time_s, way = min(best.values())
    return way if np.isfinite(time_s) else tuple(edges[0] for edges in places)
