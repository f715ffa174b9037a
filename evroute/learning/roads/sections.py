"""RoadSections: roads whose deviation from the coefficients is learned, as columns of trips.

A section is a set of roads that the same trips drove, so that only the sum of their deviations
shows. Its deviation is normal, with a variance that grows with its length, as the noise of a trip
does (`trips.noise`). The feature of a road is its length over the root of the length of its
section. The sections most driven have columns, at most `MOST`. On other roads nothing is learned.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.known_roads import Moved
from evroute.learning.roads.road_lines import LOST

MOST = 150
"""Sections with a column."""
NO_EDGE: IntArray = np.empty(0, dtype=np.int64)


class RoadSections:
    """Sections of roads.

    Attributes
    ----------
    edge, section
        (k,) rows of their roads in increasing order, and each road's section.
    km
        (m,) length of the sections, km.
    """

    def __init__(self) -> None:
        self.edge = self.section = NO_EDGE
        self.km: FloatArray = np.empty(0)

    def __len__(self) -> int:
        return len(self.km)

    @property
    def root_km(self) -> FloatArray:
        """(m,) roots of their lengths. Features times these are kilometres."""
        return np.sqrt(self.km)

    def choose(
        self, driven: Sequence[IntArray], shares: Sequence[FloatArray], length_m: FloatArray
    ) -> None:
        """Choose the sections that trips drove most: length times passages.

        Parameters
        ----------
        driven, shares
            Rows of the roads of each trip, and the share of each that it drove.
        length_m
            Length of all roads, m.
        """
        edge, place = np.unique(np.concatenate([NO_EDGE, *driven]), return_inverse=True)
        trip = np.repeat(np.arange(len(driven)), [len(each) for each in driven])
        share = np.concatenate([np.empty(0), *shares])
        passes = csr_array((share, (place, trip)), shape=(len(edge), len(driven)))
        # equal rows of passages have equal products with any vector, others do not with this one
        key = passes @ np.random.default_rng(0).random(len(driven))
        section = np.unique(key, return_inverse=True)[1]
        km = np.bincount(section, length_m[edge]) / 1000.0
        most = np.bincount(section, length_m[edge] * (passes @ np.ones(len(driven))))
        chosen = np.sort(np.argsort(-most, kind="stable")[:MOST])
        number = np.full(len(km), LOST, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        kept = number[section] != LOST
        self.edge, self.section = edge[kept], number[section[kept]]
        self.km = km[chosen]

    def of(self, edge: IntArray) -> IntArray:
        """Return the section of each road, `LOST` where it has none, (k,)."""
        if not len(self.edge):
            return np.full(len(edge), LOST)
        place = np.minimum(np.searchsorted(self.edge, edge), len(self.edge) - 1)
        return np.where(self.edge[place] == edge, self.section[place], LOST)

    def features(self, edge: IntArray, km: FloatArray) -> FloatArray:
        """Return the features of roads (k,) of which some kilometres (k,) are driven, (k, m)."""
        features = np.zeros((len(edge), len(self)))
        section = self.of(edge)
        own = np.flatnonzero(section != LOST)
        features[own, section[own]] = km[own] / self.root_km[section[own]]
        return features

    def of_trips(
        self, driven: Sequence[IntArray], shares: Sequence[FloatArray], length_m: FloatArray
    ) -> FloatArray:
        """Return the features of trips, (n, m).

        Parameters
        ----------
        driven, shares, length_m
            As in `choose`.
        """
        features = np.zeros((len(driven), len(self)))
        for row, edge, share in zip(features, driven, shares, strict=True):
            section = self.of(edge)
            own = section != LOST
            km = share[own] * length_m[edge[own]] / 1000.0
            row += np.bincount(section[own], km, len(self)) / self.root_km
        return features

    def unlearned_km(self, edge: IntArray, km: FloatArray, length_m: FloatArray) -> float:
        """Return the squared features of a sum over roads without a section, km.

        Parameters
        ----------
        edge, km
            (k,) roads, and the kilometres of each in the sum, negative where they are subtracted.
        length_m
            Length of all roads, m.
        """
        other = self.of(edge) == LOST
        each, place = np.unique(edge[other], return_inverse=True)
        return float((np.bincount(place, km[other]) ** 2 / (length_m[each] / 1000.0)).sum())

    def state(self) -> dict[str, Any]:
        """Return the sections as arrays."""
        return {"edge": self.edge, "section": self.section, "km": self.km}

    def restore(self, state: Mapping[str, Any], moved: Moved) -> None:
        """Take over a state.

        Parameters
        ----------
        state
            As `state` returned it.
        moved
            Rows now by the rows of the state.
        """
        edge = moved.roads[state["edge"]]
        order = np.argsort(edge)
        self.edge, self.section = edge[order], state["section"][order]
        self.km = state["km"]
