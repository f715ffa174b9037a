"""RoadSections: roads in sections, each a set of roads that the same trips drove.

Only the sum of the deviations of a section's roads shows. It is normal, with a variance that grows
with its length, as the noise of a trip does (`trips.noise`). The feature of a road is its length
over the root of the length of its section, in km. The sections most driven have columns, at most
`MOST`. On other roads nothing is learned.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.roads.road_features import NO_EDGE, RoadFeatures
from evroute.learning.roads.road_lines import LOST
from evroute.learning.states import Kept

MOST = 150
"""Sections with a column."""
LEAST_ROAD_SHARE = 0.05
"""Least variance of single roads over that of the noise along the way that is stated."""
ROAD_SHARE = 0.5
"""Centre of the deviation of roads over that of the noise along the way."""


class RoadSections(Kept):
    """Choice of sections. See `road_choice.RoadChoice`.

    Parameters
    ----------
    known
        The roads.
    """

    def __init__(self, known: KnownRoads) -> None:
        self.known = known

    def chosen(
        self, before: RoadFeatures, driven: Sequence[IntArray], shares: Sequence[FloatArray]
    ) -> RoadFeatures:
        """Return the features of the sections that trips drove most: length times passages.

        Sections are chosen anew.

        Parameters
        ----------
        before, driven, shares
            As in `RoadChoice`.
        """
        length_m = self.known.length_m
        edge, place = np.unique(np.concatenate([NO_EDGE, *driven]), return_inverse=True)
        trip = np.repeat(np.arange(len(driven)), [len(each) for each in driven])
        share = np.concatenate([np.empty(0), *shares])
        passes = csr_array((share, (place, trip)), shape=(len(edge), len(driven)))
        # equal rows of passages have equal products with any vector, others do not with this one
        key = passes @ np.random.default_rng(0).random(len(driven))
        section = np.unique(key, return_inverse=True)[1]
        km = np.bincount(section, length_m[edge]) / 1000.0
        most = np.bincount(section, length_m[edge] * (passes @ np.ones(len(driven))))
        columns = np.sort(np.argsort(-most, kind="stable")[:MOST])
        number = np.full(len(km), LOST, dtype=np.int64)
        number[columns] = np.arange(len(columns))
        kept = np.flatnonzero(number[section] != LOST)
        feature = length_m[edge[kept]] / 1000.0 / np.sqrt(km[section[kept]])
        entries = feature, (np.arange(len(kept)), number[section[kept]])
        return RoadFeatures(edge[kept], csr_array(entries, shape=(len(kept), len(columns))))

    def variance(self, edge: IntArray, known: KnownRoads) -> FloatArray:
        """Return the variances of whole roads (k,) over the square of their deviation, km.

        Parameters
        ----------
        edge, known
            As in `RoadChoice`.
        """
        return known.length_m[edge] / 1000.0

    def words(self, s: float, root_km_wh: float, columns: int) -> str:
        """Return s in words.

        Parameters
        ----------
        s, root_km_wh, columns
            As in `RoadChoice`.
        """
        if s**2 < LEAST_ROAD_SHARE * root_km_wh**2:
            return "single roads differ from these numbers by nothing beyond noise"
        return (
            f"a kilometre of a single road differs from these numbers by {s:.0f} Wh "
            f"(sd), learned on {columns} stretches"
        )

    def deviation(self, root_km_wh: float) -> float:
        """Return a centre in proportion to the noise. Parameters as in `RoadChoice`."""
        return ROAD_SHARE * root_km_wh
