"""RoadFeatures: features of single roads, as columns of trips whose coefficients are learned.

A trip has in each column the sum over its roads, each by the share of it that was driven. Most
roads have a feature in few columns or in none, so they are kept as a sparse matrix.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.learning.roads.known_roads import Moved
from evroute.learning.roads.road_lines import LOST

NO_EDGE: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RoadFeatures:
    """Features of k roads in m columns. All other roads have 0.

    Parameters
    ----------
    edge
        (k,) rows of the roads, in increasing order.
    values
        (k, m) their features where they are driven as a whole.
    """

    edge: IntArray
    values: csr_array

    @classmethod
    def none(cls) -> "RoadFeatures":
        """Return the features of no road, in no column."""
        return cls(NO_EDGE, csr_array((0, 0)))

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def place(self, edge: IntArray) -> IntArray:
        """Return the row of each road among those with features, `LOST` where it has none, (k,)."""
        if not len(self.edge):
            return np.full(len(edge), LOST)
        place = np.minimum(np.searchsorted(self.edge, edge), len(self.edge) - 1)
        return np.where(self.edge[place] == edge, place, LOST)

    def has(self, edge: IntArray) -> BoolArray:
        """Return whether roads have features, (k,)."""
        return self.place(edge) != LOST

    def of(self, edge: IntArray, share: FloatArray) -> FloatArray:
        """Return the features of roads (k,) of which shares (k,) are driven, (k, m)."""
        features, place = np.zeros((len(edge), len(self))), self.place(edge)
        own = np.flatnonzero(place != LOST)
        features[own] = self.values[place[own]].toarray() * share[own, np.newaxis]
        return features

    def of_trips(self, driven: Sequence[IntArray], shares: Sequence[FloatArray]) -> FloatArray:
        """Return the features of trips, (n, m).

        Parameters
        ----------
        driven, shares
            Rows of the roads of each trip, and the share of each that it drove.
        """
        place = self.place(np.concatenate([NO_EDGE, *driven]))
        share, own = np.concatenate([np.empty(0), *shares]), place != LOST
        trip = np.repeat(np.arange(len(driven)), [len(each) for each in driven])
        shape = len(driven), len(self.edge)
        passages = csr_array((share[own], (trip[own], place[own])), shape=shape)
        return (passages @ self.values).toarray()

    def state(self) -> dict[str, Any]:
        """Return the features as arrays."""
        values = self.values
        return {
            "edge": self.edge,
            "columns": np.array(len(self)),
            "start": values.indptr,
            "column": values.indices,
            "value": values.data,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any], moved: Moved) -> "RoadFeatures":
        """Return the features of a state.

        Parameters
        ----------
        state
            As `state` returned it.
        moved
            Rows now by the rows of the state.
        """
        edge = moved.roads[state["edge"]]
        order = np.argsort(edge)
        compressed = state["value"], state["column"], state["start"]
        values = csr_array(compressed, shape=(len(edge), int(state["columns"])))
        return cls(edge[order], values[order])
