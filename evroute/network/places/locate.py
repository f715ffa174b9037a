"""Find the edges for a user's text: the name of a place, ``lat,lon``, or an edge id."""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache

import numpy as np

from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.coordinates import WGS84, lat_lon, transformer
from evroute.network.geo import shapely
from evroute.network.places import names
from evroute.network.places.names import FARTHEST_M, Place
from evroute.network.places.suggestions import spellings
from evroute.network.road_network import RoadNetwork

SIDE_M = 10.0
"""A place lies also on the other side of its street where that is at most so much farther, m."""
# Edges whose distance differs by less lie equally near: both directions of a street that share one
# line.
_SAME_DISTANCE_M = 0.01


Lines = list[tuple[int, float]]
"""Rows of edges, each with the share of its line before a place, 0 to 1."""


def locate(network: RoadNetwork, text: str, *, leaving: bool = False) -> tuple[int, ...]:
    """Return the rows of the edges at a place.

    Distances are planar, to the edge's shape. Several rows are the directions of one street, or the
    edges of a junction.

    Parameters
    ----------
    network, text, leaving
        As in `lines_at`.

    Raises
    ------
    UnknownNameError, EvrouteError
        As `lines_at`.
    """
    near, sides = lines_at(network, text, leaving=leaving)
    return tuple(edge for edge, _ in near + sides)


def lines_at(network: RoadNetwork, text: str, *, leaving: bool) -> tuple[Lines, Lines]:
    """Return the edges of a place as `nearest_lines` does: the only reading of a place from a text.

    An edge id is the whole edge: its beginning for a start, its end for a destination. A junction
    is the beginning of the edges that leave it for a start, and the end of those that lead to it
    for a destination.

    Parameters
    ----------
    network
        The roads.
    text
        An edge id; ``lat,lon`` in degrees; or a name of `names.find`.
    leaving
        Whether a trip starts there.

    Raises
    ------
    UnknownNameError
        If the text is none of these. The message lists names or ids that are spelt similarly.
    EvrouteError
        If several places have that name, or the place is not on the earth, or more than 500 m from
        the nearest edge.
    """
    end = 0.0 if leaving else 1.0
    if (place := named_place(network, text)) is not None:
        if not place.junctions:
            return nearest_lines(network, place.lat, place.lon)
        return [(edge, end) for edge in names.edges_at(network, place, leaving=leaving)], []
    if text in network.row_of:
        return [(network.row_of[text], end)], []
    found = lat_lon(text)
    assert found is not None, "it is neither a name nor an edge id"
    return nearest_lines(network, *found)


def named_place(network: RoadNetwork, text: str) -> Place | None:
    """Return the place that a text names, or None for an edge id and for "lat,lon".

    Raises
    ------
    UnknownNameError
        If there is no such place. The message lists names or ids that are spelt similarly.
    EvrouteError
        If several places have that name. The message lists them.
    """
    if not isinstance(text, str):
        raise UnknownNameError(
            f"{text!r} is no edge id or place. Give ids as text, such as '{text}'"
        )
    if text in network.row_of or lat_lon(text) is not None:
        return None
    found = names.find(network, text)
    if not found:
        near = "; ".join(spellings(network, text))
        raise UnknownNameError(
            f"network '{network.name}' has no place '{text}'. Similar names: {near}"
            if near
            else unknown_edge(network, text)
        )
    if len(found) > 1:
        listed = "; ".join(place.label for place in found[: names.LISTED])
        more = len(found) - names.LISTED
        raise EvrouteError(
            f"'{text}' may be {len(found)} places of network '{network.name}'. Give one of them: "
            f"{listed}{f'; and {more} more' if more > 0 else ''}"
        )
    return found[0]


@lru_cache(maxsize=1000)
def unknown_edge(network: RoadNetwork, text: str) -> str:
    """Return the message for an unknown edge id, with similar ids."""
    near = get_close_matches(text, network.edge_id, n=3)
    hint = (
        f"Similar ids: {'; '.join(near)}" if near else "Give street names, 'lat,lon' or an edge id"
    )
    return f"network '{network.name}' has no edge '{text}'. {hint}"


def nearest(
    network: RoadNetwork, lat: float, lon: float, farthest_m: float = FARTHEST_M
) -> tuple[int, ...]:
    """Return the rows of the nearest road of a position: one edge, or both directions of a street.

    Parameters
    ----------
    network, lat, lon, farthest_m
        As in `nearest_lines`.

    Raises
    ------
    EvrouteError
        If the position is not on the earth, or no road is as near.
    """
    near, sides = nearest_lines(network, lat, lon, farthest_m)
    return tuple(edge for edge, _ in near + sides)


def nearest_lines(
    network: RoadNetwork, lat: float, lon: float, farthest_m: float = FARTHEST_M
) -> tuple[Lines, Lines]:
    """Return the nearest edges of a position, equally near, and the other sides of their streets.

    The other side of an edge is the nearest edge between the same two junctions in the other
    direction, at most `SIDE_M` farther. Motorways and trunk roads have no other side. Each edge
    comes with the share of its line before the position, 0 to 1.

    Parameters
    ----------
    network
        The roads.
    lat, lon
        WGS 84 position, degrees. It is projected onto the shapes of the edges.
    farthest_m
        Greatest distance of the nearest edge, m.

    Raises
    ------
    EvrouteError
        If the position is not on the earth, or no road is as near.
    """
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        similar = get_close_matches(f"{lat:.0f},{lon:.0f}", network.edge_id, n=3)
        hint = f", or an edge id: {'; '.join(similar)}" if similar else ""
        raise EvrouteError(
            f"{lat},{lon} is no place on the earth. Give latitude, then longitude, in degrees{hint}"
        )
    x_m, y_m = transformer(WGS84, network.crs).transform(lon, lat)
    if not np.isfinite([x_m, y_m]).all():
        raise EvrouteError(
            f"{lat},{lon} lies outside the map projection of network '{network.name}'"
        )
    tree, point = _shape_tree(network), shapely.Point(x_m, y_m)
    distance_m = float(tree.query_nearest(point, return_distance=True)[1][0])
    if distance_m > farthest_m:
        raise EvrouteError(
            f"{lat},{lon} lies {distance_m / 1000:.1f} km from the nearest road of network "
            f"'{network.name}' (at most {farthest_m:.0f} m)"
        )
    around = np.sort(tree.query(point, predicate="dwithin", distance=distance_m + SIDE_M))
    apart_m = dict(
        zip(around.tolist(), shapely.distance(tree.geometries[around], point), strict=True)
    )
    near = [edge for edge, m in apart_m.items() if m <= distance_m + _SAME_DISTANCE_M]
    sides = {side for edge in near for side in _other_side(network, edge, apart_m)}

    def shares(edges: list[int]) -> Lines:
        lines = tree.geometries
        return [(edge, float(lines[edge].project(point, normalized=True))) for edge in edges]

    return shares(near), shares(sorted(sides.difference(near)))


def is_fast(network: RoadNetwork, edge: int) -> bool:
    """Return True for a motorway or a trunk road, along which no car stops."""
    road_class = network.road_class[edge]
    return "motorway" in road_class or "trunk" in road_class


def _other_side(network: RoadNetwork, edge: int, apart_m: Mapping[int, float]) -> list[int]:
    """Return the nearest of some edges that lead back between the junctions of an edge, or none.

    Parameters
    ----------
    network
        The roads.
    edge
        Network row.
    apart_m
        Distance of the position to each of the edges around it, m.
    """
    ends = network.head[edge], network.tail[edge]
    back = [
        other
        for other in apart_m
        if other != edge
        and (network.tail[other], network.head[other]) == ends
        and not is_fast(network, other)
    ]
    if not back or is_fast(network, edge):
        return []
    return [min(back, key=apart_m.__getitem__)]


@lru_cache(maxsize=2)
def _shape_tree(network: RoadNetwork) -> "shapely.STRtree":

    return shapely.STRtree(network.lines(network.shape_x_m, network.shape_y_m))
