"""Street names from a second source of the same roads, such as OpenStreetMap, by geometry."""

from collections import Counter
from dataclasses import replace

import numpy as np

from evroute.arrays import IntArray
from evroute.network.coordinates import transformer
from evroute.network.geo import shapely
from evroute.network.places.names import add_tables
from evroute.network.road_network import RoadNetwork

NEAR_M = 20.0
"""Greatest distance between an edge and a street of the second source."""
LEAST_COS = 0.87
"""Least cosine of the angle between them, whichever way they are driven: 30 degrees."""
SAMPLES = 5
"""Positions along an edge. More than half of them must be on a street that gives its name."""


def add_names(network: RoadNetwork, donor: RoadNetwork) -> RoadNetwork:
    """Return a network with names for its unnamed edges, and with further named places.

    Each of `SAMPLES` positions along an edge takes the name of the nearest parallel street, which
    may have none. A note of the source has the coverage.

    Parameters
    ----------
    network
        The network. Named edges keep their names.
    donor
        A network of the same roads with names, in any coordinate system.
    """
    unnamed = np.flatnonzero([not name for name in network.street])
    street = list(network.street)
    for (edge, name), votes in _votes(network, unnamed, donor).items():
        if 2 * votes > SAMPLES:
            street[edge] = name
    added = [edge for edge in unnamed.tolist() if street[edge]]
    length_km = network.length_m / 1000
    note = (
        f"street names from {', '.join(donor.source.files)}: {len(added):,} of {len(unnamed):,} "
        f"unnamed edges, {length_km[added].sum():.1f} of {length_km[unnamed].sum():.1f} km"
    )
    credits = dict.fromkeys(filter(None, (network.source.attribution, donor.source.attribution)))
    source = replace(
        network.source, notes=(*network.source.notes, note), attribution="; ".join(credits)
    )
    return add_tables(network.changed(street=tuple(street), source=source), network, donor)


def _votes(network: RoadNetwork, edges: IntArray, donor: RoadNetwork) -> Counter[tuple[int, str]]:
    """Return the number of positions along each edge at which each name is the nearest."""
    to_network = transformer(donor.crs, network.crs)
    streets = donor.lines(*to_network.transform(donor.shape_x_m, donor.shape_y_m))
    lines = np.repeat(network.lines(network.shape_x_m, network.shape_y_m)[edges], SAMPLES)
    at_m = shapely.length(lines) * np.tile((np.arange(SAMPLES) + 0.5) / SAMPLES, len(edges))
    points, ahead = (shapely.line_interpolate_point(lines, each_m) for each_m in (at_m, at_m + 1))
    point, near = shapely.STRtree(streets).query(points, predicate="dwithin", distance=NEAR_M)
    moved_m = [shapely.line_locate_point(streets[near], each[point]) for each in (points, ahead)]
    least_m = LEAST_COS * shapely.distance(points, ahead)[point]
    fits = np.flatnonzero(np.abs(moved_m[1] - moved_m[0]) >= least_m)
    distance_m = shapely.distance(streets[near[fits]], points[point[fits]])
    fits = fits[np.argsort(distance_m, kind="stable")]
    nearest = fits[np.unique(point[fits], return_index=True)[1]]
    rows = zip(edges[point[nearest] // SAMPLES], near[nearest], strict=True)
    return Counter((int(edge), donor.street[row]) for edge, row in rows)
