"""Shapes of edges as lines of WGS 84 longitudes and latitudes, in full or thinned for a screen."""

from functools import lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded
from evroute.network.coordinates import WGS84, transformer
from evroute.network.crossings import NAME as CROSSINGS
from evroute.network.crossings import points_between
from evroute.network.geo import shapely
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import PlannedRoute

LonLat = tuple[float, float]

_DIGITS = 6  # of a degree: a tenth of a metre
_THIN_DIGITS = 5  # a metre
_TOLERANCE_DEG = 1e-5


def edge_line(network: RoadNetwork, edge: int) -> list[LonLat]:
    """Return the full shape of one edge in driving order, degrees."""
    lon, lat = network.lon_lat
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    return list(
        zip(lon[points].round(_DIGITS).tolist(), lat[points].round(_DIGITS).tolist(), strict=True)
    )


def crossing_line(network: RoadNetwork, left: int, entered: int) -> list[LonLat]:
    """Return the shape of the turn between two edges, degrees; empty where it is not known.

    Parameters
    ----------
    network
        The roads.
    left, entered
        Rows of the two edges.
    """
    points = points_between(network, left, entered)
    if not len(points):
        return []
    table = network.tables[CROSSINGS]
    x_m, y_m = (np.asarray(table[column])[points] for column in ("x_m", "y_m"))
    lon, lat = transformer(network.crs, WGS84).transform(x_m, y_m)
    return list(zip(lon.round(_DIGITS).tolist(), lat.round(_DIGITS).tolist(), strict=True))


def route_line(network: RoadNetwork, edges: IntArray) -> list[LonLat]:
    """Return the shapes of successive edges (k,) as one line, without repeated points, degrees.

    The shapes of the turns lie between them where the network has these.
    """
    points: list[LonLat] = []
    for k, edge in enumerate(edges.tolist()):
        if k:
            points += crossing_line(network, int(edges[k - 1]), edge)
        points += edge_line(network, edge)
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


def stop_places(network: RoadNetwork, planned: PlannedRoute) -> dict[ChargingStop, LonLat]:
    """Return the ends of the roads on which a route stops to charge, by stop, degrees."""
    return {
        stop: edge_line(network, planned.route.edges[stop.after_edges - 1])[-1]
        for stop in planned.stops
    }


def edge_heights(network: RoadNetwork, edge: int) -> FloatArray:
    """Return the height of each shape point of one edge, m, along its pieces of one slope."""
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    step_m = np.hypot(np.diff(network.shape_x_m[points]), np.diff(network.shape_y_m[points]))
    along_m = np.concatenate([[0.0], np.cumsum(step_m)])
    share = along_m / along_m[-1] if along_m[-1] > 0 else np.linspace(0, 1, len(along_m))
    at_m, height_m = route_heights(network, np.array([edge]))
    return np.interp(share * at_m[-1], at_m, height_m)


def route_heights(network: RoadNetwork, edges: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return distances (j,) from the start of edges (k,) and heights there, m.

    The points are the junctions, and the ends of the pieces where the network has a profile.
    """
    pieces, rows = network.pieces, edges
    steps_m = network.length_m, network.climb_m
    if pieces is not None:
        rows, _ = pieces.of(edges)
        steps_m = pieces.length_m, pieces.climb_m
    at_m, gained_m = (np.concatenate([[0.0], np.cumsum(step_m[rows])]) for step_m in steps_m)
    return at_m, network.elevation_m[network.tail[edges[0]]] + gained_m


@lru_cache(maxsize=2)
def road_lines(network: RoadNetwork) -> list[list[LonLat]]:
    """Return `thin_lines` of every edge, cached: every map of a network starts with them."""
    return thin_lines(network, np.arange(network.n_edges))


def thin_lines(network: RoadNetwork, edges: IntArray) -> list[list[LonLat]]:
    """Return the shapes of edges (k,), thinned to 1 m; opposite directions share a line."""
    lon, lat = network.lon_lat
    rows, place = expanded(network.shape_start, edges)
    shapes = shapely.linestrings(np.column_stack([lon, lat])[rows], indices=place)
    lines = (
        tuple((round(x, _THIN_DIGITS), round(y, _THIN_DIGITS)) for x, y in shape.coords)
        for shape in shapely.simplify(shapes, _TOLERANCE_DEG)
    )
    return list(map(list, dict.fromkeys(min(line, line[::-1]) for line in lines)))
