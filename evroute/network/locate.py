"""Find the edge that a user means: by its id, or by a place given as ``lat,lon``."""

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
# Edges whose distance differs by less lie equally near: both directions of a street that share one line.
_SAME_DISTANCE_M = 0.01
_NUMBER = r"\s*([+-]?\d+(?:\.\d*)?)\s*"
_LAT_LON = re.compile(f"{_NUMBER},{_NUMBER}")


def locate(network: RoadNetwork, text: str) -> int:
    """Return the row of the edge with the id ``text``, or of the edge nearest to the place ``text`` = "lat,lon".

    Distances are planar, to the edge's shape. Of the directions of a street that lie equally near, the one that
    stands first in the network is taken; name the edge's id to choose the other.

    Raises
    ------
    UnknownNameError
        If the text is neither a place nor the id of an edge; the message names similar ids.
    EvrouteError
        If the place is not on the earth, or more than 500 m from the nearest edge.
    """
    if text in network.row_of:
        return network.row_of[text]
    if place := _LAT_LON.fullmatch(text):
        return _nearest(network, float(place[1]), float(place[2]))
    near = get_close_matches(text, network.edge_id, n=3)
    hint = f"similar ids: {', '.join(near)}" if near else "give an edge id or 'lat,lon'"
    raise UnknownNameError(f"network '{network.name}' has no edge '{text}'; {hint}")


def _nearest(network: RoadNetwork, lat: float, lon: float) -> int:
    import shapely
    from pyproj import Transformer

    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise EvrouteError(f"{lat},{lon} is no place on the earth; give latitude, then longitude, in degrees")
    x_m, y_m = Transformer.from_crs("EPSG:4326", network.crs, always_xy=True).transform(lon, lat)
    if not np.isfinite([x_m, y_m]).all():
        raise EvrouteError(f"{lat},{lon} lies outside the map projection of network '{network.name}'")
    tree, point = _shape_tree(network), shapely.Point(x_m, y_m)
    distance_m = float(tree.query_nearest(point, return_distance=True)[1][0])
    if distance_m > FARTHEST_M:
        raise EvrouteError(
            f"{lat},{lon} lies {distance_m / 1000:.1f} km from the nearest road of network '{network.name}' "
            f"(at most {FARTHEST_M:.0f} m)"
        )
    return int(tree.query(point, predicate="dwithin", distance=distance_m + _SAME_DISTANCE_M).min())


@lru_cache(maxsize=2)
def _shape_tree(network: RoadNetwork) -> "shapely.STRtree":
    import shapely

    points = np.column_stack([network.shape_x_m, network.shape_y_m])
    edge = np.repeat(np.arange(network.n_edges), np.diff(network.shape_start))
    return shapely.STRtree(shapely.linestrings(points, indices=edge))
