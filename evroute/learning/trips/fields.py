"""Fields that join the coefficients of trips: heights of junctions, and roads that differ.

- `junction_height`: where a network has no heights, each junction has a potential, Matérn 5/2 of
  the distance. A trip takes that of its end minus that of its start. Sums over a route telescope:
  a closed loop takes nothing, and two routes between the same ends differ by nothing.
- `road_deviation`: Wh per km by which roads differ from the coefficients, alike for edges that are
  near and have one direction: Matérn 5/2 of their middles times ``((1 + cos)/2)²`` of the angle.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.trips.landmarks import Covariance
from evroute.model.context_kernels.matern import Matern52
from evroute.network.road_network import RoadNetwork

LENGTHSCALE_M = 600.0
HEIGHT_STD_M = 30.0
"""Prior standard deviation of an unknown height."""

_MATERN = Matern52()
_SCALE_M: FloatArray = np.full(3, LENGTHSCALE_M)


def has_heights(network: RoadNetwork) -> bool:
    """Return whether the heights of a network differ at all."""
    return bool(np.ptp(network.elevation_m) > 0.0)


def junction_height(roads: KnownRoads) -> Covariance:
    """Return the covariance of potentials between junctions, 1 at each."""

    def covariance(a: IntArray, b: IntArray) -> FloatArray:
        places_m = roads.junctions_m
        return _MATERN(places_m[a], places_m[b], _SCALE_M)

    return covariance


def road_deviation(roads: KnownRoads) -> Covariance:
    """Return the covariance of deviations per km between edges, 1 at each."""

    def covariance(a: IntArray, b: IntArray) -> FloatArray:
        middle_m, direction = roads.middle_m, roads.direction
        return (
            _MATERN(middle_m[a], middle_m[b], _SCALE_M)
            * ((1.0 + direction[a] @ direction[b].T) / 2.0) ** 2
        )

    return covariance
