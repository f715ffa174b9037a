"""Find the edge for a user's text: an edge id, or a place given as ``lat,lon``."""

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.road_network import RoadNetwork

if TYPE_CHECKING:
    import shapely

FARTHEST_M = 500.0
# Edges whose distance differs by less lie equally near: both directions of a street that share one
# line.
_SAME_DISTANCE_M = 0.01
_NUMBER = r"\s*([+-]?\d+(?:\.\d*)?)\s*"
_LAT_LON = re.compile(f"{_NUMBER},{_NUMBER}")


def locate(network: RoadNetwork, text: str) -> tuple[int, ...]:
    """Return the row of the edge with the id ``text``, or of the edges nearest to "lat,lon".

    Distances are planar, to the edge's shape. Several rows are the directions of one street,
    equally near.

    Raises
    ------
    UnknownNameError
        If the text is neither a place nor the id of an edge; the message names similar ids.
    EvrouteError
        If the place is not on the earth, or more than 500 m from the nearest edge.
    """
    if text in network.row_of:
        return (network.row_of[text],)
    if place := _LAT_LON.fullmatch(text):
        return _nearest(network, float(place[1]), float(place[2]))
    raise UnknownNameError(unknown_edge(network, text))


def unknown_edge(network: RoadNetwork, text: str) -> str:
    """Return the message for an unknown edge id, with similar ids."""
    near = get_close_matches(text, network.edge_id, n=3)
    hint = f"similar ids: {'; '.join(near)}" if near else "give an edge id or 'lat,lon'"
    return f"network '{network.name}' has no edge '{text}'; {hint}"


def _nearest(network: RoadNetwork, lat: float, lon: float) -> tuple[int, ...]:
    import shapely
    from pyproj import Transformer

    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        similar = get_close_matches(f"{lat:.0f},{lon:.0f}", network.edge_id, n=3)
        hint = f"; or an edge id: {'; '.join(similar)}" if similar else ""
        raise EvrouteError(
            f"{lat},{lon} is no place on the earth; give latitude, then longitude, in degrees{hint}"
        )
    x_m, y_m = Transformer.from_crs("EPSG:4326", network.crs, always_xy=True).transform(lon, lat)
    if not np.isfinite([x_m, y_m]).all():
        raise EvrouteError(
            f"{lat},{lon} lies outside the map projection of network '{network.name}'"
        )
    tree, point = _shape_tree(network), shapely.Point(x_m, y_m)
    distance_m = float(tree.query_nearest(point, return_distance=True)[1][0])
    if distance_m > FARTHEST_M:
        raise EvrouteError(
            f"{lat},{lon} lies {distance_m / 1000:.1f} km from the nearest road of network "
            f"'{network.name}' "
            f"(at most {FARTHEST_M:.0f} m)"
        )
    near = tree.query(point, predicate="dwithin", distance=distance_m + _SAME_DISTANCE_M)
    return tuple(sorted(near.tolist()))


@lru_cache(maxsize=2)
def _shape_tree(network: RoadNetwork) -> "shapely.STRtree":
    import shapely

    points = np.column_stack([network.shape_x_m, network.shape_y_m])
    edge = np.repeat(np.arange(network.n_edges), np.diff(network.shape_start))
    return shapely.STRtree(shapely.linestrings(points, indices=edge))
