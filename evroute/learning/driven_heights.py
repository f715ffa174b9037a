"""Heights of junctions from the altitudes that trips recorded.

The altitude at a junction is interpolated along the matched track of a trip. Its height is the mean
over all passes; junctions that no trip passed are filled by even grades, and all heights are
smoothed (`network.elevation`), for altitudes by GPS are off by metres.
"""

from pathlib import Path

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.learning.readers.formats import read_file
from evroute.learning.readers.table import check_needed, trips_of
from evroute.network.elevation import fill, set_heights
from evroute.network.height_checks import check_heights
from evroute.network.map_matching import MapMatcher
from evroute.network.road_network import RoadNetwork

SMOOTHING_M = 50.0


def driven_heights(path: Path, network: RoadNetwork) -> RoadNetwork:
    """Return a network with the heights that the trips of a log by points recorded.

    Parameters
    ----------
    path
        CSV, Parquet or GPX file with ``altitude_m`` at its points.
    network
        Network of the trips; its own heights are not read.

    Raises
    ------
    EvrouteError
        If the file cannot be read, has no altitudes, no trip passes two junctions, or the heights
        cannot be true.
    """
    log = read_file(path)
    check_needed(log, ("lat", "lon", "altitude_m"))
    lat, lon, altitude_m = map(log.numbers, ("lat", "lon", "altitude_m"))
    sums: FloatArray = np.zeros((2, len(network.elevation_m)))
    matcher, trips = MapMatcher(network), 0
    for _, rows in trips_of(path, log.table):
        its = rows[np.isfinite(altitude_m[rows])]
        for match in matcher.match(lat[its], lon[its]):
            ends_m = np.cumsum(network.length_m[match.edges])[:-1]
            passed_m = np.interp(ends_m, match.at_m, altitude_m[its][match.position])
            np.add.at(sums.T, network.head[match.edges[:-1]], np.c_[passed_m, np.ones(len(ends_m))])
            trips += 1
    known = sums[1] > 0
    if known.sum() < 2:
        raise EvrouteError(
            f"trip table {path}: its points with an altitude pass fewer than two junctions of "
            f"network '{network.name}'"
        )
    mean_m = np.divide(sums[0], sums[1], out=np.zeros(len(known)), where=known)
    driven = set_heights(
        network,
        fill(network, mean_m, known),
        smoothing_m=SMOOTHING_M,
        described=f"altitudes of {trips} drives at {known.sum()} of {len(known)} junctions",
    )
    check_heights(driven, driven.elevation_m)
    return driven
