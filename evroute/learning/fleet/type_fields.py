"""Features of the fields of a belief of trips: of a trip, of all arms, and of parts of them.

The fields are the heights of junctions (`trips.fields`) and the deviations of roads
(`roads.sections`). Cars of several types share them: heights count in proportion to the mass of a
type. Deviations of roads are a part of the noise of the kilometres, as which they count.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.places import TripPlaces
from evroute.learning.trips.day_terms import EdgeFeatures
from evroute.learning.trips.kept_trips import FIELD, ROAD, TERM
from evroute.learning.trips.trip_belief import TripBelief
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, slots=True, eq=False)
class ScaledFeatures:
    """Features of a field at the edges of a network, times a factor.

    Parameters
    ----------
    features
        The features.
    factor
        One factor, or one for each feature, (m,).
    """

    features: EdgeFeatures
    factor: float | FloatArray

    @property
    def size(self) -> int:
        """Number of features, m."""
        return self.features.size

    def rows(self, edge: IntArray) -> FloatArray:
        """Return the features of edges (k,), (k, m)."""
        return self.factor * self.features.rows(edge)

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Return the sums of features times coefficients (m,) over the edges, (n,)."""
        return self.features.times(self.factor * coefficients)


@dataclass(frozen=True, slots=True, eq=False)
class TypeFields:
    """Fields of a belief of trips for one type of car.

    Parameters
    ----------
    places
        Roads and junctions that the trips reached.
    belief
        Belief of the coefficients.
    ratio
        Mass of the type over the mass of the first type.
    km_ratio
        Energy of a kilometre by the catalogue over the first type's (`joint_types`).
    """

    places: TripPlaces
    belief: TripBelief
    ratio: float
    km_ratio: float

    @property
    def road_ratio(self) -> FloatArray:
        """(m + 1,) factors on the features of roads, and on their kilometres."""
        places = self.places
        factors = np.full(len(places.earlier) + len(places.sections) + 1, np.sqrt(self.km_ratio))
        factors[-1] = self.km_ratio
        return factors

    def row(self, terms: FloatArray, edge: IntArray, share: FloatArray) -> FloatArray:
        """Return the row of a trip: its terms (p,), then the features of fields.

        Parameters
        ----------
        terms
            (p,) terms of the trip.
        edge, share
            (k,) its edges among the roads of the belief, and the share of each that was driven.
        """
        kinds = self.belief.kinds
        row = np.zeros(len(kinds))
        row[kinds == TERM] = terms
        if (kinds >= ROAD).any():
            roads = self.places.road_features(edge, share).sum(axis=0)
            row[kinds >= ROAD] = self.road_ratio * roads
        row[kinds == FIELD] = self.ratio * self.places.rise(edge, share)
        return row

    def of_edges(self, b: FloatArray) -> tuple[list[EdgeFeatures], IntArray, FloatArray]:
        """Return the features of fields at all edges, the columns of terms, and of junctions.

        Parameters
        ----------
        b
            (p + f,) coefficients.

        Returns
        -------
        features, columns, junction_wh
            Of each field, (p + f',) columns of the terms and of these features, and the learned
            potential of the junctions, (n_junctions,) Wh.
        """
        places, kinds = self.places, self.belief.kinds
        found = list[EdgeFeatures]()
        columns = [np.flatnonzero(kinds == TERM)]
        junction_wh = np.zeros(places.known.network.n_junctions)
        if (kinds >= ROAD).any():
            columns.append(np.flatnonzero(kinds >= ROAD))
            roads = places.features_of_roads()
            found.append(roads if self.km_ratio == 1.0 else ScaledFeatures(roads, self.road_ratio))
        if places.junctions is not None and places.heights_unknown:
            columns.append(np.flatnonzero(kinds == FIELD))
            rise = places.features_of_heights()
            junction_wh = self.ratio * (rise.features @ b[columns[-1]])
            found.append(self._scaled(rise))
        return found, np.concatenate(columns), junction_wh

    def _scaled(self, features: EdgeFeatures) -> EdgeFeatures:
        return features if self.ratio == 1.0 else ScaledFeatures(features, self.ratio)

    def of_parts(self, terms: FloatArray, stretches: Stretches) -> FloatArray:
        """Return the terms of arms of whose edges a part is driven, and of fields, (k, c).

        Parameters
        ----------
        terms
            (k, p) terms of the driven parts.
        stretches
            The driven parts.
        """
        roads, rise = self.places.part_features(stretches)
        parts = [terms]
        if (self.belief.kinds >= ROAD).any():
            parts.append(self.road_ratio * roads)
        if self.places.junctions is not None and self.places.heights_unknown:
            parts.append(self.ratio * rise)
        return np.hstack(parts)

    def unknown_wh2(self, edge: IntArray, driven: Stretches | None = None) -> FloatArray:
        """Return the variance of unknown places along edges (k,), (k, k) Wh².

        Parameters
        ----------
        edge
            (k,) edges among the roads of the belief.
        driven
            The driven parts of them, or None for whole edges.
        """
        return self.places.unknown_wh2(edge, self.ratio * self.belief.field_std, driven)

    def known_wh2(self, trip: MeasuredTrip, network: RoadNetwork) -> float:
        """Return the variance of a placed trip from its meter and its unknown places, Wh².

        Parameters
        ----------
        trip
            The trip.
        network
            The roads.
        """
        edge, unknown_wh2 = trip.edge, trip.known_variance_wh2
        if trip.routes > 1:
            edge = edge[[0, -1]]
        driven = trip.stretches(network) if trip.record is None else None
        return float(unknown_wh2 + self.unknown_wh2(edge, driven)[-1, -1])
