"""Features of the fields of a belief of trips: of a trip, of all arms, and of parts of them.

The fields are the heights of junctions (`trips.fields`) and the deviations of roads
(`roads.road_choice`).
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.places import TripPlaces
from evroute.learning.trips.kept_trips import FIELD, ROAD, TERM
from evroute.learning.trips.rows import EdgeFeatures
from evroute.learning.trips.trip_belief import TripBelief
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, slots=True, eq=False)
class TripFields:
    """Fields of a belief of trips.

    Parameters
    ----------
    places
        Roads and junctions that the trips reached.
    belief
        Belief of the coefficients.
    """

    places: TripPlaces
    belief: TripBelief

    def row(self, terms: FloatArray, edge: IntArray, share: FloatArray) -> FloatArray:
        """Return the row of a trip: its terms (p,), then the features of fields.

        Parameters
        ----------
        terms
            (p,) terms of the trip.
        edge, share
            (k,) its edges among the roads of the belief, and the share of each that was driven.
        """
        column = self.belief.column
        row = np.zeros(len(column))
        row[column == TERM] = terms
        if (column == ROAD).any():
            row[column == ROAD] = self.places.road_features(edge, share).sum(axis=0)
        row[column == FIELD] = self.places.rise(edge, share)
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
        places, column = self.places, self.belief.column
        found = list[EdgeFeatures]()
        columns = [np.flatnonzero(column == TERM)]
        junction_wh = np.zeros(places.known.network.n_junctions)
        if (column == ROAD).any():
            columns.append(np.flatnonzero(column == ROAD))
            found.append(places.features_of_roads())
        if places.junctions is not None and places.heights_unknown:
            columns.append(np.flatnonzero(column == FIELD))
            rise = places.features_of_heights()
            junction_wh = rise.features @ b[columns[-1]]
            found.append(rise)
        return found, np.concatenate(columns), junction_wh

    def unknown_wh2(self, edge: IntArray, driven: Stretches | None = None) -> FloatArray:
        """Return the variance of unknown places along edges (k,), (k, k) Wh².

        Parameters
        ----------
        edge
            (k,) edges among the roads of the belief.
        driven
            The driven parts of them, or None for whole edges.
        """
        return self.places.unknown_wh2(edge, self.belief.scales.heights, driven)

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
        if not len(edge):  # a total
            return unknown_wh2
        if trip.routes > 1:
            edge = edge[[0, -1]]
        whole = trip.record is not None or trip.routes > 1
        driven = None if whole else trip.stretches(network)
        return float(unknown_wh2 + self.unknown_wh2(edge, driven)[-1, -1])
