"""The field that joins the coefficients of trips, heights of junctions, and features of edges.

Where a network has no heights, each junction has a potential, Matérn 5/2 of the distance. A trip
takes the value at its end minus the value at its start. Sums over a route telescope: a closed loop
takes nothing, and two routes between the same ends differ by nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

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


@dataclass(frozen=True, slots=True, eq=False)
class NearFeatures:
    """Features of a field that is 0 on all but q of the n edges of a network.

    Parameters
    ----------
    features
        (q, m) features of these edges.
    place
        (n,) row of each edge among them, -1 elsewhere.
    """

    features: csr_array
    place: IntArray

    @property
    def size(self) -> int:
        """Number of features, m."""
        return int(self.features.shape[1])

    def rows(self, edge: IntArray) -> FloatArray:
        """Return the features of edges (k,), (k, m)."""
        place = self.place[edge]
        near = np.flatnonzero(place >= 0)
        found = np.zeros((len(edge), self.size))
        found[near] = self.features[place[near]].toarray()
        return found

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Return the sums of features times coefficients (m,) over the edges, (n,)."""
        with_none = np.append(self.features @ coefficients, 0.0)
        return with_none[self.place]


@dataclass(frozen=True, slots=True, eq=False)
class RiseFeatures:
    """Features of the rise of a potential of junctions over the n edges of a network.

    Parameters
    ----------
    features
        (v, m) features of the junctions.
    tail, head
        (n,) junctions of the edges.
    """

    features: FloatArray
    tail: IntArray
    head: IntArray

    @property
    def size(self) -> int:
        """Number of features, m."""
        return self.features.shape[1]

    def rows(self, edge: IntArray) -> FloatArray:
        """Return the features of edges (k,), (k, m)."""
        rise: FloatArray = self.features[self.head[edge]] - self.features[self.tail[edge]]
        return rise

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Return the sums of features times coefficients (m,) over the edges, (n,)."""
        at_junctions = self.features @ coefficients
        rise: FloatArray = at_junctions[self.head] - at_junctions[self.tail]
        return rise
