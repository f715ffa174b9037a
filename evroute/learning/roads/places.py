"""TripPlaces: fields of a belief of trips at the places that its trips reached.

The deviations of roads and, where the network has no heights, the potential of junctions. Places of
other networks keep their columns of the regression, which are 0 on the network.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.known_roads import KnownRoads, Moved
from evroute.learning.trips.fields import has_heights, junction_height, road_deviation
from evroute.learning.trips.landmarks import Landmarks
from evroute.network.heights.stretches import Stretches


class TripPlaces:
    """Landmarks of roads and junctions, and the roads that trips drove.

    Parameters
    ----------
    known
        The roads.

    Attributes
    ----------
    roads
        Landmarks of the deviations of roads.
    junctions
        Landmarks of the potential of junctions; None if there are none and the network has heights.
    heights_unknown
        Whether the network has no heights.
    driven, shares
        Rows of the roads of each trip, and the share of each that it drove.
    changed_after
        Number of trips before the last detected change; 0 if there was none.
    """

    def __init__(self, known: KnownRoads) -> None:
        self.known = known
        self.heights_unknown = not has_heights(known.network)
        self.roads = Landmarks(road_deviation(known))
        self.junctions = Landmarks(junction_height(known)) if self.heights_unknown else None
        self.driven: list[IntArray] = []
        self.shares: list[FloatArray] = []
        self.changed_after = 0
        self._unknown: dict[tuple[object, ...], FloatArray] = {}  # of the roads asked last

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
        """Make landmarks of the ends of a trip over edges (k,) where needed; return how many."""
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
        if not self.heights_unknown or self._leaves(edge):
            return np.zeros(len(self.junctions))
        share = np.ones(len(edge)) if share is None else share
        along = self.junctions.features(self.ends(edge)[[0, 1, -2, -1]])
        first, last = along[1] - along[0], along[3] - along[2]
        rise: FloatArray = along[3] - along[0]
        if len(edge) == 1:
            return share[0] * first
        return rise - (1.0 - share[0]) * first - (1.0 - share[-1]) * last

    def road_features(self, edge: IntArray) -> FloatArray:
        """Return the features of roads (k,) times their lengths in km, (k, m).

        After a change as many columns of zeros precede them, for the roads before the change.
        """
        features = self.roads.features(edge) * self.known.length_m[edge, np.newaxis] / 1000.0
        return np.pad(features, ((0, 0), (features.shape[1] * (self.changed_after > 0), 0)))

    def road_features_of(self, trips: Sequence[int]) -> FloatArray:
        """Return the road features of trips by their numbers, (n, m), after adding landmarks."""
        driven = [self.driven[number] for number in trips]
        edges, first, place = np.unique(
            np.concatenate(driven), return_index=True, return_inverse=True
        )
        self.roads.admit(edges[np.argsort(first)])
        trip = np.repeat(np.arange(len(driven)), [len(edge) for edge in driven])
        share = np.concatenate([self.shares[number] for number in trips])
        passes = csr_array((share, (trip, place)), shape=(len(driven), len(edges)))
        features: FloatArray = passes @ self.road_features(edges)
        before = np.array(trips) < self.changed_after
        features[before] = np.roll(features[before], features.shape[1] // 2, axis=1)
        return features

    def part_features(self, driven: Stretches) -> list[FloatArray]:
        """Return the features of roads and of the potential over parts of edges, (k, m) each.

        Parameters
        ----------
        driven
            The parts.
        """
        network, edge = self.known.network, driven.edge
        share = driven.share(network)[:, np.newaxis]
        rise = np.zeros((len(edge), 0 if self.junctions is None else len(self.junctions)))
        if self.junctions is not None and self.heights_unknown:
            at = self.junctions.features
            rise = at(network.head[edge]) - at(network.tail[edge])
        return [share * self.road_features(edge), share * rise]

    def unknown_wh2(
        self, edge: IntArray, road_std: float, height_std: float, driven: Stretches | None = None
    ) -> FloatArray:
        """Return the covariance of fields off their landmarks up to the ends of roads (k,), (k, k).

        Parameters
        ----------
        edge
            (k,) roads of a trip.
        road_std, height_std
            Deviations of the fields, Wh per km and Wh.
        driven
            Their parts that are driven, on the network, or None for whole roads.
        """
        asked = edge.tobytes(), road_std, height_std, len(self.roads), len(self.junctions or ())
        if driven is None and asked in self._unknown:
            return self._unknown[asked]
        unknown = np.zeros((len(edge), len(edge)))
        if road_std:
            km = (self.known.length_m[edge] if driven is None else driven.length_m) / 1000.0
            rest = self.roads.rest(edge) * np.outer(km, km)
            unknown += road_std**2 * rest.cumsum(axis=0).cumsum(axis=1)
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
            np.unique(np.concatenate([edge, self.roads.places, passed])),
            np.empty(0, dtype=np.int64) if junctions is None else junctions.places,
        )
        return {
            "landmarks/roads": self.roads.places,
            **of_junctions,
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
        self.changed_after = int(state.get("driven/changed", 0))
        self._unknown = {}
        edge = moved.roads[state["driven/edge"]]
        ends = np.cumsum(state["driven/count"])
        self.driven = np.split(edge, ends)[:-1]
        # an earlier version has whole roads alone
        share = state.get("driven/share", np.ones(len(edge)))
        self.shares = np.split(share, ends)[:-1]
        self.roads.restore(moved.roads[state["landmarks/roads"]])
        if "landmarks/junctions" in state:
            self.junctions = self.junctions or Landmarks(junction_height(self.known))
            self.junctions.restore(moved.junctions[state["landmarks/junctions"]])
