"""TripPlaces: fields of a belief of trips at the places that its trips reached.

The deviations of roads and, where the network has no heights, the potential of junctions. Places of
other networks keep their columns of the regression, which are 0 on the network.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from evroute.arrays import FloatArray, IntArray, flat, part_of
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.known_roads import KnownRoads, Moved
from evroute.learning.roads.road_choice import RoadChoice
from evroute.learning.roads.road_features import RoadFeatures
from evroute.learning.trips.fields import EdgeFeatures, has_heights, junction_height
from evroute.learning.trips.kept_trips import FIELD, ROAD, TERM
from evroute.learning.trips.landmarks import Landmarks
from evroute.network.heights.stretches import Stretches


class TripPlaces:
    """Landmarks of roads and junctions, and the roads that trips drove.

    Parameters
    ----------
    known
        The roads.
    choice
        Way in which features of roads are chosen.

    Attributes
    ----------
    roads, earlier
        Features of roads whose deviations are learned, since the last change and before it.
    junctions
        Landmarks of the potential of junctions. None if there are none and the network has heights.
    heights_unknown
        Whether the network has no heights.
    driven, shares
        Rows of the roads of each trip, and the share of each that it drove.
    changed_after
        Number of trips before the last detected change, or 0 if there was none.
    """

    def __init__(self, known: KnownRoads, choice: RoadChoice) -> None:
        self.known, self.choice = known, choice
        self.heights_unknown = not has_heights(known.network)
        self.roads = self.earlier = RoadFeatures.none()
        self.junctions = Landmarks(junction_height(known)) if self.heights_unknown else None
        self.driven: list[IntArray] = []
        self.shares: list[FloatArray] = []
        self.changed_after = 0
        self._unknown: dict[tuple[object, ...], FloatArray] = {}  # of the roads asked last
        self._of_all: EdgeFeatures | None = None

    def beside(self) -> "TripPlaces":
        """Return the same places with roads of their own, to which others can be added."""
        own = copy(self)
        own.known = copy(self.known)
        return own

    def add(self, edge: IntArray, share: FloatArray, *, known: bool) -> None:
        """Add a trip.

        Parameters
        ----------
        edge, share
            (k,) rows of its roads, and the share of each that it drove.
        known
            Whether its route is known. No road counts otherwise.
        """
        self.driven.append(edge if known else edge[:0])
        self.shares.append(share if known else share[:0])

    def _leaves(self, edge: IntArray) -> bool:
        """Return whether a trip over roads (k,) has some that the network does not have."""
        return bool((edge >= self.known.network.n_edges).any())

    def ends(self, edge: IntArray) -> IntArray:
        """Return the junctions along edges (k,) of the network, (k + 1,)."""
        network = self.known.network
        return np.append(network.tail[edge[:1]], network.head[edge])

    def admit_ends(self, edge: IntArray) -> int:
        """Make landmarks of the ends of a trip over edges (k,) where needed. Return how many."""
        if self.junctions is None or not self.heights_unknown:
            return 0
        return self.junctions.admit(self.ends(edge)[[0, -1]])

    def rise(self, edge: IntArray, share: FloatArray | None = None) -> FloatArray:
        """Return the features of the potential over a trip over shares (k,) of edges (k,), (m,).

        Parameters
        ----------
        edge
            (k,) edges.
        share
            (k,) shares of them that were driven, or None for whole edges.
        """
        if self.junctions is None:
            return np.empty(0)
        if not self.heights_unknown or self._leaves(edge) or not len(edge):
            return np.zeros(len(self.junctions))
        share = np.ones(len(edge)) if share is None else share
        along = self.junctions.features(self.ends(edge)[[0, 1, -2, -1]])
        first, last = along[1] - along[0], along[3] - along[2]
        rise: FloatArray = along[3] - along[0]
        if len(edge) == 1:
            return share[0] * first
        return rise - (1.0 - share[0]) * first - (1.0 - share[-1]) * last

    def road_features(self, edge: IntArray, share: FloatArray | None = None) -> FloatArray:
        """Return the features of roads, (k, m).

        They are 0 in columns before the last change.

        Parameters
        ----------
        edge
            (k,) roads.
        share
            (k,) shares of them that are driven, or None for whole roads.
        """
        features = self.roads.of(edge, np.ones(len(edge)) if share is None else share)
        return np.hstack([np.zeros((len(edge), len(self.earlier))), features])

    def features_of_roads(self) -> EdgeFeatures:
        """Return the features of all roads of the network, as in `road_features`.

        They are kept until roads are chosen.
        """
        if self._of_all is None:
            n = self.known.network.n_edges
            own = np.flatnonzero(self.roads.edge < n)
            place = np.full(n, -1)
            place[self.roads.edge[own]] = np.arange(len(own))
            before = csr_array((len(own), len(self.earlier)))
            self._of_all = EdgeFeatures(hstack([before, self.roads.values[own]], "csr"), place)
        return self._of_all

    def features_of_heights(self) -> EdgeFeatures:
        """Return the features of the rise over all edges, where heights are unknown."""
        assert self.junctions is not None
        network = self.known.network
        features = self.junctions.features(np.arange(network.n_junctions))
        return EdgeFeatures(csr_array(features), network.head, network.tail)

    def row(
        self, column: IntArray, terms: FloatArray, edge: IntArray, share: FloatArray
    ) -> FloatArray:
        """Return the row of a trip: its terms, then the features of fields, (p + f,).

        Parameters
        ----------
        column
            (p + f,) kinds of the columns of the belief.
        terms
            (p,) terms of the trip.
        edge, share
            (k,) its edges among the roads of the belief, and the share of each that was driven.
        """
        row = np.zeros(len(column))
        row[column == TERM] = terms
        if (column == ROAD).any():
            row[column == ROAD] = self.road_features(edge, share).sum(axis=0)
        row[column == FIELD] = self.rise(edge, share)
        return row

    def of_edges(
        self, column: IntArray, b: FloatArray
    ) -> tuple[list[EdgeFeatures], IntArray, FloatArray]:
        """Return the features of fields at all edges, the columns of terms, and of junctions.

        Parameters
        ----------
        column, b
            (p + f,) kinds of the columns of the belief, and coefficients.

        Returns
        -------
        features, columns, junction_wh
            Of each field, (p + f',) columns of the terms and of these features, and the learned
            potential of the junctions, (n_junctions,) Wh.
        """
        found = list[EdgeFeatures]()
        columns = [np.flatnonzero(column == TERM)]
        junction_wh = np.zeros(self.known.network.n_junctions)
        if (column == ROAD).any():
            columns.append(np.flatnonzero(column == ROAD))
            found.append(self.features_of_roads())
        if self.junctions is not None and self.heights_unknown:
            columns.append(np.flatnonzero(column == FIELD))
            rise = self.features_of_heights()
            junction_wh = rise.features @ b[columns[-1]]
            found.append(rise)
        return found, np.concatenate(columns), junction_wh

    def known_wh2(self, trip: MeasuredTrip, height_std: float) -> float:
        """Return the variance of a placed trip from its meter and its unknown places, Wh².

        Parameters
        ----------
        trip
            The trip.
        height_std
            As in `unknown_wh2`.
        """
        edge, unknown_wh2 = trip.edge, trip.known_variance_wh2
        if not len(edge):  # a total
            return unknown_wh2
        if trip.routes > 1:
            edge = edge[[0, -1]]
        whole = trip.record is not None or trip.routes > 1
        driven = None if whole else trip.stretches(self.known.network)
        return float(unknown_wh2 + self.unknown_wh2(edge, height_std, driven)[-1, -1])

    def choose_roads(self) -> None:
        """Choose the roads that have features by the trips since the last change."""
        since = slice(self.changed_after, None)
        self.roads = self.choice.chosen(self.roads, self.driven[since], self.shares[since])
        self._of_all = None

    def unlearned(self, edge: IntArray, share: FloatArray) -> float:
        """Return the variance of a sum over roads without features, over the square of s.

        Parameters
        ----------
        edge, share
            (k,) roads, and the share of each in the sum, negative where it is subtracted.
        """
        each, place = np.unique(edge, return_inverse=True)
        summed: FloatArray = np.bincount(place, share, len(each)).astype(np.float64)
        return float(self.unlearned_of(each, summed).sum())

    def unlearned_of(self, edge: IntArray, share: FloatArray) -> FloatArray:
        """Return the variance of each road without features, over the square of s, (k,).

        Parameters
        ----------
        edge, share
            (k,) roads of the network, and the share of each that is driven.
        """
        variance, other = np.zeros(len(edge)), ~self.roads.has(edge)
        variance[other] = share[other] ** 2 * self.choice.variance(edge[other], self.known)
        return variance

    def features_of_trips(self, trips: Sequence[int]) -> FloatArray:
        """Return the road features of trips by their numbers, (n, m).

        Trips before the last change have the columns of that time.
        """
        driven = [self.driven[number] for number in trips]
        shares = [self.shares[number] for number in trips]
        before = np.array(trips, dtype=np.int64)[:, np.newaxis] < self.changed_after
        of_each = (roads.of_trips(driven, shares) for roads in (self.earlier, self.roads))
        return np.hstack([each * own for each, own in zip(of_each, (before, ~before), strict=True)])

    def restart(self, trips: int) -> None:
        """Begin new columns after a change, detected after this many trips."""
        self.changed_after = trips
        self.earlier, self.roads = self.roads, RoadFeatures.none()
        self._of_all = None

    def unknown_wh2(
        self, edge: IntArray, height_std: float, driven: Stretches | None = None
    ) -> FloatArray:
        """Return the covariance of the potential off its landmarks up to the ends of roads, (k, k).

        Parameters
        ----------
        edge
            (k,) roads of a trip.
        height_std
            Deviation of the potential, Wh.
        driven
            Their parts that are driven, on the network, or None for whole roads.
        """
        asked = edge.tobytes(), height_std, len(self.junctions or ())
        if driven is None and asked in self._unknown:
            return self._unknown[asked]
        unknown = np.zeros((len(edge), len(edge)))
        if self.junctions is not None and self.heights_unknown and not self._leaves(edge):
            rest = self.junctions.rest(self.ends(edge))
            if driven is not None:
                rest = driven.at_ends(self.known.network, rest)
            unknown += height_std**2 * (rest[0, 0] + rest[1:, 1:] - rest[0, 1:] - rest[1:, :1])
        np.fill_diagonal(unknown, np.maximum(unknown.diagonal(), 0.0))
        if driven is None:
            self._unknown = {asked: unknown}
        return unknown

    def state(self, passed: IntArray) -> dict[str, Any]:
        """Return the places as arrays.

        Parameters
        ----------
        passed
            Further rows of roads about which something is known.
        """
        edge = np.concatenate([np.empty(0, dtype=np.int64), *self.driven])
        junctions = self.junctions
        of_junctions = {} if junctions is None else {"landmarks/junctions": junctions.places}
        known = self.known.state(
            np.unique(np.concatenate([edge, self.roads.edge, passed])),
            np.empty(0, dtype=np.int64) if junctions is None else junctions.places,
        )
        return {
            **of_junctions,
            **flat(roads=self.roads.state(), earlier=self.earlier.state()),
            **flat(choice=self.choice.state()),
            "driven/edge": edge,
            "driven/share": np.concatenate([np.empty(0), *self.shares]),
            "driven/count": np.array([len(each) for each in self.driven], dtype=np.int64),
            "driven/changed": np.array(self.changed_after),
            **{f"known/{name}": value for name, value in known.items()},
        }

    def restore(self, state: Mapping[str, Any], moved: Moved) -> None:
        """Take over a state.

        Parameters
        ----------
        state
            As `state` returned it.
        moved
            Rows now by the rows of the state.
        """
        self.changed_after = int(state["driven/changed"])
        self._unknown, self._of_all = {}, None
        edge = moved.roads[state["driven/edge"]]
        ends = np.cumsum(state["driven/count"])
        self.driven = np.split(edge, ends)[:-1]
        self.shares = np.split(state["driven/share"], ends)[:-1]
        self.choice.restore(part_of(state, "choice"))
        self.roads = RoadFeatures.restored(part_of(state, "roads"), moved)
        self.earlier = RoadFeatures.restored(part_of(state, "earlier"), moved)
        if "landmarks/junctions" in state:
            self.junctions = self.junctions or Landmarks(junction_height(self.known))
            self.junctions.restore(moved.junctions[state["landmarks/junctions"]])
