"""Places of a request: a named trip, or places given as text, as positions on the roads.

Both sides of a street, and all edges at a junction, are candidates, between which the search
chooses. A place on the way is passed without a stop: one of its edges is driven from end to end.

A named trip is shipped with evroute: its origin and destination edges are in ``data/trips.toml``.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.network.line_graph import LineGraph
from evroute.network.places.locate import locate, named_place
from evroute.network.places.names import edge_label, junction_label
from evroute.network.places.positions import JUNCTION_M, Position, apart_m, positions
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.ends import Ends
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
    """Return the named trips of a network, by name. Empty if it has none."""
    listed = tomllib.loads(data_path("trips.toml").read_text(encoding="utf-8"))
    return {
        name: Trip(name, ends["from"], ends["to"])
        for name, ends in listed.get(network_name, {}).items()
    }


@dataclass(frozen=True, slots=True)
class Places:
    """The places of one request.

    Parameters
    ----------
    starts, ends
        Positions at one of which it begins, and at one of which it ends.
    via
        For each place on the way the edges, one of which is driven from end to end.
    titles
        Names of the places in driving order.
    """

    starts: tuple[Position, ...]
    via: tuple[tuple[int, ...], ...]
    ends: tuple[Position, ...]
    titles: tuple[str, ...]

    @property
    def words(self) -> str:
        """Names of the places, from the first to the last."""
        return " to ".join(self.titles)

    def passed(self, edges: Sequence[int]) -> tuple[int, ...]:
        """Return the edges of a route on which it begins, passes the places, and ends.

        Parameters
        ----------
        edges
            The edges of a route of the request, in driving order.
        """
        found, at = [edges[0]], 0
        for via in self.via:
            at = next(k for k in range(at + 1, len(edges)) if edges[k] in via)
            found.append(edges[at])
        return (*found, edges[-1])


def whole_ends(network: RoadNetwork, places: Places) -> tuple[int, int] | None:
    """Return the first and the last edge of a request that drives both from end to end.

    Parameters
    ----------
    network
        The roads.
    places
        A request. None is returned where it has several candidates, or begins or ends inside.
    """
    if len(places.starts) > 1 or len(places.ends) > 1:
        return None
    (start,), (end,) = places.starts, places.ends
    whole = start.along_m == 0.0 and end.along_m == network.length_m[end.edge]
    return (start.edge, end.edge) if whole and start.edge != end.edge else None


def places_of(network: RoadNetwork, trip: str | None, waypoints: Sequence[str]) -> Places:
    """Return the places of a named trip, or of two or more texts, in driving order.

    Parameters
    ----------
    network
        The roads.
    trip
        Name of a trip of the network, or None for places.
    waypoints
        Names, ``lat,lon`` or edge ids in driving order. Empty for a named trip.

    Raises
    ------
    EvrouteError
        Unless exactly one of the two is given, or if a name stands for several places, two
        successive places are one, or a place is not on the network.
    UnknownNameError
        If the network has no trip or place of that name.
    """
    texts = _texts(network, trip, waypoints)
    starts = positions(network, texts[0], leaving=True)
    ends = positions(network, texts[-1], leaving=False)
    via = tuple(locate(network, text) for text in texts[1:-1])
    _check_different(network, texts, [_edges(starts), *via, _edges(ends)])
    pinned = not via and not {*texts} & network.row_of.keys()
    apart = (apart_m(network, start, end) for start in starts for end in ends)
    if pinned and min(apart) < 2 * JUNCTION_M:
        raise EvrouteError(
            f"origin and destination are one point of {edge_label(network, starts[0].edge)}. "
            "Choose two places"
        )
    between = [_via_title(network, edges) for edges in via]
    titles = (position_title(network, starts), *between, position_title(network, ends))
    return Places(starts, via, ends, titles)


def _check_different(
    network: RoadNetwork, texts: Sequence[str], edges: Sequence[tuple[int, ...]]
) -> None:
    """Raise EvrouteError if a place follows itself. ``edges`` are those at the places."""
    places = [named_place(network, text) for text in texts]
    for k, (place, following) in enumerate(pairwise(places)):
        if place is not None and place == following:
            raise EvrouteError(
                f"two successive places are '{place.label}'. Choose places further apart, or a "
                "stop between them"
            )
        one_edge = texts[k] == texts[k + 1] and texts[k] in network.row_of
        if one_edge or (len(texts) > 2 and set(edges[k]) == set(edges[k + 1])):
            ends = "origin and destination" if len(texts) == 2 else "two successive places"
            raise EvrouteError(
                f"{ends} lie on the same block of {edge_label(network, edges[k][0])}. Choose two "
                "places"
            )


def _edges(ends: Sequence[Position]) -> tuple[int, ...]:
    return tuple(each.edge for each in ends)


def position_title(network: RoadNetwork, ends: Sequence[Position]) -> str:
    """Return the name of the junction, or of the street, at which a trip begins or ends.

    Parameters
    ----------
    network
        The roads.
    ends
        Positions of one place.
    """
    first = ends[0]
    if first.along_m <= JUNCTION_M:
        return junction_label(network, int(network.tail[first.edge]))
    if first.along_m >= network.length_m[first.edge] - JUNCTION_M:
        return junction_label(network, int(network.head[first.edge]))
    return edge_label(network, first.edge)


def _via_title(network: RoadNetwork, edges: Sequence[int]) -> str:
    """Return the name of a place on the way: its junction, or the street of both directions."""
    heads = {int(network.head[edge]) for edge in edges}
    if len(heads) == 1:
        return junction_label(network, heads.pop())
    return edge_label(network, edges[0])


def _texts(network: RoadNetwork, trip: str | None, waypoints: Sequence[str]) -> Sequence[str]:
    """Return the texts of the places of a request, and the edge ids of a named trip."""
    require(
        (trip is None) != (len(waypoints) == 0),
        "give either a named trip, or origin and destination",
    )
    if trip is None:
        given = counted(len(waypoints), "place")
        require(len(waypoints) > 1, f"give origin and destination, got {given}")
        return waypoints
    trips = load_trips(network.name)
    known = f"It has {', '.join(trips)}: give one, or two places" if trips else "Give two places"
    require(
        trip in trips,
        f"network '{network.name}' has no trip '{trip}'. {known}",
        UnknownNameError,
    )
    ends = trips[trip].origin, trips[trip].destination
    if missing := [edge for edge in ends if edge not in network.row_of]:
        raise UnknownNameError(
            f"trip '{trip}' needs edge '{missing[0]}', which this network '{network.name}' lacks. "
            "Give two places"
        )
    return ends


def stops(network: RoadNetwork, trip: str | None, waypoints: Sequence[str]) -> tuple[int, int]:
    """Return the first and the last edge of a simulated round, which drives whole edges.

    Of the two directions of a street, and of the edges at a junction, the ones on the fastest trip.

    Parameters
    ----------
    network, trip, waypoints
        As in `places_of`, with two places.

    Raises
    ------
    EvrouteError, UnknownNameError
        As `places_of`. And if both places are on one block.
    """
    origin, destination = _texts(network, trip, waypoints)
    first, last = locate(network, origin, leaving=True), locate(network, destination)
    _check_different(network, (origin, destination), (first, last))
    if not set(first).isdisjoint(last):
        raise EvrouteError(
            f"'{origin}' and '{destination}' are one place or the ends of one road. Choose places "
            "further apart"
        )
    if len(first) == len(last) == 1:
        return first[0], last[0]
    search, starts = Search(LineGraph.from_network(network), compiled=False), np.array(first)
    begun = Ends(starts, network.time_s[starts])
    edges, _ = search.between(network.time_s, begun, Ends(np.array(last), np.zeros(len(last))))
    return (edges[0], edges[-1]) if edges else (first[0], last[0])
