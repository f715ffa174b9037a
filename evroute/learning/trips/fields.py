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
class EdgeFeatures:
    """Features of a field at the n edges of a network, which are further terms of their arms.

    Parameters
    ----------
    features
        (q, m) features of places, such as edges or junctions.
    place
        (n,) place whose features each edge has, -1 for one that has none.
    before
        (n,) place whose features are taken off, or None for none: the field rises over an edge.
    """

    features: csr_array
    place: IntArray
    before: IntArray | None = None

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
        if self.before is not None:
            found -= self.features[self.before[edge]].toarray()
        return found

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Return the sums of features times coefficients (m,) over the edges, (n,)."""
        at_places = np.append(self.features @ coefficients, 0.0)
        sums: FloatArray = at_places[self.place]
        return sums if self.before is None else sums - at_places[self.before]
