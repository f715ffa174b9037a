"""Fields that join the coefficients of trips: heights of junctions, and roads that differ.

- `junction_height`: where a network has no heights, each junction has a potential, Matérn 5/2 of
  the distance; a trip takes that of its end minus that of its start. Sums over a route telescope:
  a closed loop takes nothing, and two routes between the same ends differ by nothing.
- `road_deviation`: Wh per km by which roads differ from the coefficients, alike for edges that are
  near and have one direction: Matérn 5/2 of their middles times ``((1 + cos)/2)²`` of the angle.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.trips.landmarks import Covariance
from evroute.model.context_kernels.matern import Matern52
from evroute.network.road_network import RoadNetwork

LENGTHSCALE_M = 600.0
HEIGHT_STD_M = 30.0
"""Prior standard deviation of an unknown height."""

_MATERN = Matern52()
_SCALE_M: FloatArray = np.full(2, LENGTHSCALE_M)


def has_heights(network: RoadNetwork) -> bool:
    """Return whether the heights of a network differ at all."""
    return bool(np.ptp(network.elevation_m) > 0.0)


def junction_height(network: RoadNetwork) -> Covariance:
    """Return the covariance of potentials between junctions, 1 at each."""
    xy_m = np.column_stack([network.x_m, network.y_m])
    return lambda a, b: _MATERN(xy_m[a], xy_m[b], _SCALE_M)


def road_deviation(network: RoadNetwork) -> Covariance:
    """Return the covariance of deviations per km between edges, 1 at each."""
    xy_m = np.column_stack([network.x_m, network.y_m])
    way_m = xy_m[network.head] - xy_m[network.tail]
    length_m = np.linalg.norm(way_m, axis=1)
    direction = way_m / np.where(length_m > 0, length_m, 1.0)[:, np.newaxis]
    middle_m = network.middle_m

    def covariance(a: IntArray, b: IntArray) -> FloatArray:
        return (
            _MATERN(middle_m[a], middle_m[b], _SCALE_M)
            * ((1.0 + direction[a] @ direction[b].T) / 2.0) ** 2
        )

    return covariance
