"""Positions on roads: an edge and the metres along it, for the places that a user gives."""

from dataclasses import dataclass, replace

import numpy as np

from evroute.network.geo import shapely
from evroute.network.places.locate import Lines, lines_at, nearest_lines
from evroute.network.road_network import RoadNetwork

JUNCTION_M = 0.01
"""Distance from an end of an edge at which a position is taken to be there, m."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A point of a road.

    Parameters
    ----------
    edge
        Network row.
    along_m
        Metres from the beginning of the edge, at most its length as driven.
    """

    edge: int
    along_m: float


def positions(network: RoadNetwork, text: str, *, leaving: bool) -> tuple[Position, ...]:
    """Return the positions at which a trip may begin or end at a place, the nearest first.

    A place on a two-way street is one position in either direction, also where the directions have
    lines of their own (`locate.lines_at`), each by its own projection.

    Parameters
    ----------
    network
        The roads.
    text
        As in `locate.lines_at`.
    leaving
        True for the start of a trip, False for its destination.

    Raises
    ------
    UnknownNameError, EvrouteError
        As `locate.lines_at`.
    """
    return _positions(network, *lines_at(network, text, leaving=leaving), leaving)


def whole_edges(
    network: RoadNetwork, edges: tuple[int, ...], *, leaving: bool
) -> tuple[Position, ...]:
    """Return the beginnings of edges for a start, and their ends for a destination.

    Parameters
    ----------
    network
        The roads.
    edges
        Network rows.
    leaving
        As in `positions`.
    """
    return tuple(
        Position(edge, 0.0 if leaving else float(network.length_m[edge])) for edge in edges
    )


def nearest_positions(
    network: RoadNetwork, lat: float, lon: float, *, leaving: bool
) -> tuple[Position, ...]:
    """Return the positions nearest to coordinates, on both sides of one road or at one junction.

    Parameters
    ----------
    network
        The roads.
    lat, lon
        WGS 84 position, degrees. The shapes of edges are stretched to their lengths.
    leaving
        As in `positions`. Where several edges meet, those on which no metre is left for a start, or
        none is driven for a destination, are left out. At the end of a lone road half of
        `JUNCTION_M` is driven, so that the car starts from standstill there, and stops.

    Raises
    ------
    EvrouteError
        If the position is not on the earth, or too far from all roads.
    """
    return _positions(network, *nearest_lines(network, lat, lon), leaving)


def _positions(
    network: RoadNetwork, lines: Lines, others: Lines, leaving: bool
) -> tuple[Position, ...]:
    """Return the positions of `locate.nearest_lines` at which a trip may begin or end."""
    near, sides = (
        [Position(edge, share * float(network.length_m[edge])) for edge, share in found]
        for found in (lines, others)
    )
    driven, other = (
        [each for each in found if _driven_m(network, each, leaving) > JUNCTION_M]
        for found in (near, sides)
    )
    return (*(driven or [_inside(network, each) for each in near]), *other)


def apart_m(network: RoadNetwork, one: Position, other: Position) -> float:
    """Return the distance of two positions on the map, m.

    Parameters
    ----------
    network
        The roads.
    one, other
        Positions.
    """
    return float(point(network, one).distance(point(network, other)))


def point(network: RoadNetwork, position: Position) -> "shapely.Point":
    """Return a position on the map, m.

    Parameters
    ----------
    network
        The roads.
    position
        The position. The shape of its edge is stretched to its length.
    """
    share = position.along_m / float(network.length_m[position.edge])
    start, end = network.shape_start[position.edge], network.shape_start[position.edge + 1]
    line = np.column_stack([network.shape_x_m[start:end], network.shape_y_m[start:end]])
    return shapely.LineString(line).interpolate(share, normalized=True)


def _inside(network: RoadNetwork, position: Position) -> Position:
    """Return a position at an end of its edge, moved inside by half of `JUNCTION_M`."""
    most_m = float(network.length_m[position.edge]) - JUNCTION_M / 2
    return replace(position, along_m=max(min(position.along_m, most_m), JUNCTION_M / 2))


def _driven_m(network: RoadNetwork, position: Position, leaving: bool) -> float:
    """Return the metres of its edge that a trip from or to a position drives."""
    if leaving:
        return float(network.length_m[position.edge]) - position.along_m
    return position.along_m
