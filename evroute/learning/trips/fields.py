"""Fields that join the coefficients of trips: heights of junctions, and roads that differ.

- `junction_height`: where a network has no heights, each junction has a potential, Matérn 5/2 of
  the distance; a trip takes that of its end minus that of its start. Sums over a route telescope:
  a closed loop takes nothing, and two routes between the same ends differ by nothing.
- `road_deviation`: Wh per km by which roads differ from the coefficients, alike for edges that are
  near and have one direction: Matérn 5/2 of their middles times ``((1 + cos)/2)²`` of the angle.

Gaussian processes as further coefficients: whitened features at landmarks that grow with trips.

A field is ``s f``, f a Gaussian process of given covariance over places and s its standard
deviation. Places on trips become landmarks in the order in which they come; with L the Cholesky
factor of their covariance, the features of a place x are ``L^-1 k(landmarks, x)`` and f(x) is their
product with independent standard normal coefficients. A place that the landmarks determine but for
`TOLERANCE` of its variance becomes none, so features of earlier trips do not depend on later ones.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from evroute.arrays import FloatArray, IntArray
from evroute.model.context_kernels.matern import Matern52
from evroute.network.road_network import RoadNetwork

TOLERANCE = 0.01
MOST = 150
"""Landmarks of one field; later places are described by these."""

Covariance = Callable[[IntArray, IntArray], FloatArray]


class Landmarks:
    """Landmarks of one field.

    Parameters
    ----------
    covariance
        Covariance of the field between two lists of places (a,) and (b,), (a, b), 1 at most.
    """

    def __init__(self, covariance: Covariance) -> None:
        self._covariance = covariance
        self.places: IntArray = np.empty(0, dtype=np.int64)
        self._factor: FloatArray = np.empty((0, 0))

    def __len__(self) -> int:
        return len(self.places)

    def admit(self, places: IntArray) -> int:
        """Make landmarks of those places (k,) that need it; return how many."""
        before = len(self)
        for place in dict.fromkeys(places.tolist()):
            if len(self) == MOST:
                break
            here = np.array([place])
            row, own = self.features(here)[0], float(self._covariance(here, here)[0, 0])
            rest = own - float(row @ row)
            if rest > TOLERANCE * own:
                m = len(self)
                factor = np.zeros((m + 1, m + 1))
                factor[:m, :m], factor[m, :m], factor[m, m] = self._factor, row, np.sqrt(rest)
                self._factor, self.places = factor, np.append(self.places, place)
        return len(self) - before

    def features(self, places: IntArray) -> FloatArray:
        """Return the features of places (k,), (k, m)."""
        if not len(self):
            return np.empty((len(places), 0))
        between = self._covariance(self.places, places)
        return solve_triangular(self._factor, between, lower=True).T

    def rest(self, places: IntArray) -> FloatArray:
        """Return the covariance of places (k,) that the landmarks leave unknown, (k, k)."""
        features = self.features(places)
        return self._covariance(places, places) - features @ features.T


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
