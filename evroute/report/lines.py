"""Shapes of edges as lines of WGS 84 longitudes and latitudes, in full or thinned for a screen."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded
from evroute.network.coordinates import WGS84, transformer
from evroute.network.crossings import NAME as CROSSINGS
from evroute.network.crossings import points_along
from evroute.network.geo import shapely
from evroute.network.heights.stretches import Stretches, part_shape
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import stations
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import PlannedRoute

LonLat = tuple[float, float]

_DIGITS = 6  # of a degree: a tenth of a metre
_THIN_DIGITS = 5  # a metre
_TOLERANCE_DEG = 1e-5
_BETWEEN = 1e-6  # of a rounded step, around its middle
AT_ONCE = 20_000  # edges, whose shapes exist as objects at a time


def edge_line(
    network: RoadNetwork, edge: int, from_m: float = 0.0, to_m: float | None = None
) -> list[LonLat]:
    """Return the shape of one edge, or of a part of it, in driving order, degrees.

    Parameters
    ----------
    network
        The roads.
    edge
        Network row.
    from_m, to_m
        Metres along the edge. Its shape is stretched to its length. None is its end.
    """
    _, lon, lat = part_shape(network, edge, from_m, to_m)
    return list(zip(lon.round(_DIGITS).tolist(), lat.round(_DIGITS).tolist(), strict=True))


def crossing_lines(network: RoadNetwork, edges: IntArray) -> list[list[LonLat]]:
    """Return the shape of each turn between successive edges, degrees. Empty where it is not known.

    Parameters
    ----------
    network
        The roads.
    edges
        (k,) network rows in driving order, for k - 1 turns.
    """
    lines: list[list[LonLat]] = [[] for _ in edges[1:]]
    points, turns = points_along(network, edges)
    if not len(points):
        return lines
    table = network.tables[CROSSINGS]
    x_m, y_m = (np.asarray(table[column])[points] for column in ("x_m", "y_m"))
    lon, lat = transformer(network.crs, WGS84).transform(x_m, y_m)
    places = zip(lon.round(_DIGITS).tolist(), lat.round(_DIGITS).tolist(), strict=True)
    for turn, place in zip(turns.tolist(), places, strict=True):
        lines[turn].append(place)
    return lines


def route_line(network: RoadNetwork, driven: Stretches) -> list[LonLat]:
    """Return the shapes of successive parts of edges, and of their turns, as one line, degrees.

    Repeated points are left out.

    Parameters
    ----------
    network
        The roads.
    driven
        The parts, in driving order.
    """
    points = [point for lines in driven_lines(network, driven) for line in lines for point in line]
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


def driven_lines(
    network: RoadNetwork, driven: Stretches
) -> list[tuple[list[LonLat], list[LonLat]]]:
    """Return the shape of the turn before each part of an edge, and of the part, degrees.

    An edge has the shape of one of its lanes, and a turn may leave or enter another. So the edge
    moves sideways along its length to where the turns begin and end, as a car changes lanes, and
    the line is hardly longer than the lanes.

    Parameters
    ----------
    network
        The roads.
    driven
        The k parts, in driving order.

    Returns
    -------
    lines
        The shape of the turn, empty before the first part and where it is not known, and the shape
        of the part.
    """
    turns = [[], *crossing_lines(network, driven.edge), []]
    ends = zip(driven.edge.tolist(), driven.from_m.tolist(), driven.to_m.tolist(), strict=True)
    lines = []
    for k, part in enumerate(ends):
        line = edge_line(network, *part)
        lines.append((turns[k], _joined(line, turns[k][-1:], turns[k + 1][:1])))
    return lines


def _joined(line: list[LonLat], before: Sequence[LonLat], after: Sequence[LonLat]) -> list[LonLat]:
    """Return a line moved so that it begins and ends at some points, at most one each."""
    if not before and not after:
        return line
    points = np.array(line)
    begins, ends = (np.array([*each, *given])[0] for each, given in
                    ((before, line[:1]), (after, line[-1:])))  # fmt: skip
    steps = np.diff(points, axis=0) * [np.cos(np.radians(points[0, 1])), 1.0]
    along = np.append(0.0, np.cumsum(np.hypot(*steps.T)))
    share = (along / along[-1] if along[-1] > 0 else np.linspace(0, 1, len(line)))[:, np.newaxis]
    shifted = points + (1 - share) * (begins - points[0]) + share * (ends - points[-1])
    return [(lon, lat) for lon, lat in shifted.round(_DIGITS).tolist()]


def stop_places(network: RoadNetwork, planned: PlannedRoute) -> dict[ChargingStop, LonLat]:
    """Return the stations at which a route stops to charge, by stop, degrees.

    Of stations of one name it is the one nearest to the position at which the route stops.
    """
    places = {}
    for stop in planned.stops:
        last = stop.after_edges - 1
        lon, lat = edge_line(network, planned.route.edges[last], 0.0, stop.at_m)[-1]
        named = [each for each in stations(network) if each.name == stop.station]
        distances = [np.hypot(each.lon - lon, each.lat - lat) for each in named]
        if named:
            nearest = named[int(np.argmin(distances))]
            lon, lat = nearest.lon, nearest.lat
        places[stop] = (lon, lat)
    return places


def edge_heights(
    network: RoadNetwork, edge: int, from_m: float = 0.0, to_m: float | None = None
) -> FloatArray:
    """Return the height of each shape point of `edge_line`, m, along its pieces of one slope.

    Parameters
    ----------
    network, edge, from_m, to_m
        As in `edge_line`.
    """
    share, _, _ = part_shape(network, edge, from_m, to_m)
    at_m, height_m = route_heights(network, Stretches.whole(network, np.array([edge])))
    return np.interp(share * at_m[-1], at_m, height_m)


def route_heights(network: RoadNetwork, driven: Stretches) -> tuple[FloatArray, FloatArray]:
    """Return distances (j,) from the start of parts of edges in driving order, and heights, m.

    The points are both ends, the junctions, and the ends of the pieces of the profile.

    Parameters
    ----------
    network
        The roads.
    driven
        The parts.
    """
    length_m, climb_m, _ = driven.pieces(network)
    at_m, gained_m = (np.concatenate([[0.0], np.cumsum(each)]) for each in (length_m, climb_m))
    first = driven[:1]
    skipped = Stretches(first.edge, np.zeros(1), first.from_m)
    begin_m = network.elevation_m[network.tail[first.edge[0]]] + skipped.pieces(network)[1].sum()
    return at_m, begin_m + gained_m


def charge_points(planned: PlannedRoute, battery: Battery) -> FloatArray:
    """Return the charge along a route, at its start, after each edge and once more after each stop.

    Parameters
    ----------
    planned
        The route, with its charge.
    battery
        Of its plan.

    Returns
    -------
    numpy.ndarray
        (j, 4) distance, m, charge, and the ends of its 90 % band, %. Without a forecast the ends
        are the charge.
    """
    assert planned.charge is not None, "the route has a charge"
    at_m = np.concatenate([[0.0], np.cumsum(planned.edge_m)])
    percent = planned.charge.charge_wh / battery.capacity_wh * 100
    band = np.column_stack([percent, percent])
    if planned.charge_forecast is not None:
        band = planned.charge_forecast.band_percent
    rows = np.column_stack([at_m, percent, band])
    after = np.array([stop.after_edges for stop in planned.stops], dtype=int)
    left = rows[after]
    left[:, 1:] = [[stop.to_percent] for stop in planned.stops] or left[:, 1:]
    return np.insert(rows, after + 1, left, axis=0)


@lru_cache(maxsize=2)
def road_lines(network: RoadNetwork) -> list[list[LonLat]]:
    """Return `thin_lines` of every edge, cached: every map of a network starts with them."""
    return thin_lines(network, np.arange(network.n_edges))


def thin_lines(network: RoadNetwork, edges: IntArray) -> list[list[LonLat]]:
    """Return the shapes of edges (k,), thinned to 1 m. Opposite directions share a line."""
    places, start = thin_points(network, edges)
    points = list(zip(*places.T.tolist(), strict=True))
    return [points[first:end] for first, end in pairwise(start.tolist())]


def thin_points(network: RoadNetwork, edges: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the points of `thin_lines` of edges (k,) as arrays.

    Returns
    -------
    places
        (q, 2) longitudes and latitudes of the points of all m lines.
    start
        (m + 1,) line i has the points ``start[i]`` to ``start[i + 1]``.
    """
    cuts = range(AT_ONCE, len(edges), AT_ONCE)
    thinned = [_thinned(network, part) for part in np.split(edges, cuts)]
    places = np.concatenate([each for each, _ in thinned])
    start = np.append(0, np.cumsum(np.concatenate([counts for _, counts in thinned])))
    places = _one_way(places, start)
    contents, size = places.tobytes(), places.itemsize * 2
    kept: dict[bytes, int] = {}
    for k, (first, end) in enumerate(pairwise((size * start).tolist())):
        kept.setdefault(contents[first:end], k)
    lines = np.array(list(kept.values()), dtype=np.int64)
    rows, _ = expanded(start, lines)
    return places[rows], np.append(0, np.cumsum(np.diff(start)[lines]))


def _thinned(network: RoadNetwork, edges: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the points (q, 2) of edges (k,), thinned and rounded, and how many each has, (k,)."""
    lon, lat = network.lon_lat
    rows, place = expanded(network.shape_start, edges)
    shapes = shapely.linestrings(np.column_stack([lon[rows], lat[rows]]), indices=place)
    bent = shapely.get_num_points(shapes) > 2
    shapes[bent] = shapely.simplify(shapes[bent], _TOLERANCE_DEG)
    places, place = shapely.get_coordinates(shapes, return_index=True)
    return _rounded(places), np.bincount(place, minlength=len(edges))


def _rounded(degrees: FloatArray) -> FloatArray:
    """Return degrees rounded to `_THIN_DIGITS` as Python rounds them, without a negative zero.

    numpy rounds a product, whose last bit decides between two neighbours that are equally near.
    """
    found, scaled = degrees.round(_THIN_DIGITS), degrees * 10.0**_THIN_DIGITS
    between = np.abs(scaled - np.floor(scaled) - 0.5) < _BETWEEN
    found[between] = [round(each, _THIN_DIGITS) for each in degrees[between].tolist()]
    return found + 0.0


def _one_way(places: FloatArray, start: IntArray) -> FloatArray:
    """Return lines, each in the direction whose sequence of points is the lesser one.

    Parameters
    ----------
    places
        (q, 2) longitudes and latitudes of the points of all lines.
    start
        (k + 1,) line i has the points ``start[i]`` to ``start[i + 1]``.
    """
    place = np.repeat(np.arange(len(start) - 1), np.diff(start))
    first, last = places[start[:-1]], places[start[1:] - 1]
    is_level = first[:, 0] == last[:, 0]
    is_back = (last[:, 0] < first[:, 0]) | (is_level & (last[:, 1] < first[:, 1]))
    for k in np.flatnonzero(is_level & (first[:, 1] == last[:, 1])).tolist():
        line = places[start[k] : start[k + 1]].tolist()
        is_back[k] = line[::-1] < line
    at = np.arange(len(places))
    return places[np.where(is_back[place], (start[:-1] + start[1:] - 1)[place] - at, at)]
