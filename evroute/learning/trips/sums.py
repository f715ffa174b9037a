"""Sums: energies up to some places of trips, by a belief, and their moments.

Each of k sums has the terms of the arms from the start of its trip on. Its mean is the product with
the coefficients in force. Its variance has two parts: the uncertainty of the coefficients and of an
unknown season, which trips of a day share, and the noise of the trip alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.tree_spread import FeaturesAlong, TurnedRoot
from evroute.learning.trips.kept_trips import KM
from evroute.learning.trips.trip_belief import TripBelief


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of terms of k places.

    Parameters
    ----------
    belief
        Belief of whole trips.
    columns
        (c,) its columns that the terms are.
    terms
        (k, c) terms of the trips up to the places (`terms.reached`).
    season_wh
        (k,) deviation of an unknown season, Wh.
    unknown_wh2
        Covariances of the energies up to the places of each trip that no column explains, (k, k)
        Wh² each, or none where columns explain all.
    new_wh2
        (k,) variances of the roads up to the places that are not learned, Wh², or None.
    first
        (r,) first place of each trip.
    """

    belief: TripBelief
    columns: IntArray
    terms: FloatArray
    season_wh: FloatArray
    unknown_wh2: Sequence[FloatArray] = ()
    new_wh2: FloatArray | None = None
    first: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    @property
    def km(self) -> FloatArray:
        """(k,) length, km."""
        return self.terms[:, KM]

    @property
    def mean_wh(self) -> FloatArray:
        """(k,) expected energies, Wh."""
        return self.terms @ self.belief.coefficients[self.columns]

    @cached_property
    def shared_wh(self) -> FloatArray:
        """(k, r) deviations that the belief shares between trips, by independent causes, Wh."""
        root = self.belief.regression.root[self.columns]
        return np.column_stack([self.terms @ root, self.season_wh])

    @property
    def row(self) -> FloatArray:
        """(p,) terms up to the last place, by the columns of the belief."""
        row = np.zeros(len(self.belief.column))
        row[self.columns] = self.terms[-1]
        return row

    @cached_property
    def end(self) -> tuple[FloatArray, float]:
        """Shared deviations (r,) of the energy up to the last place, Wh, and own variance, Wh²."""
        root = self.belief.regression.root[self.columns]
        unknown_wh2 = self.unknown_wh2[-1][-1, -1] if self.unknown_wh2 else 0.0
        if self.new_wh2 is not None:
            unknown_wh2 += self.new_wh2[-1]
        shared_wh = np.append(self.terms[-1] @ root, self.season_wh[-1])
        return shared_wh, float(self.belief.noise.variance(self.km[-1], unknown_wh2))

    def own_wh2(self) -> FloatArray:
        """Return the covariance of the energies that is of one trip alone, (k, k) Wh²."""
        own: FloatArray = self.belief.noise.covariance(self.km)
        if self.new_wh2 is not None:
            own += np.minimum.outer(self.new_wh2, self.new_wh2)
        return own + self.unknown_wh2[0] if self.unknown_wh2 else own

    def covariance_with(self, at: IntArray) -> FloatArray:
        """Return the covariances of the energies with those up to other places, (k,) Wh².

        Parameters
        ----------
        at
            (k,) another place of the same trip for each.
        """
        covariance = np.einsum("kr,kr->k", self.shared_wh, self.shared_wh[at])
        covariance += self.belief.noise.covariance_with(self.km, at)
        if self.new_wh2 is not None:
            covariance += np.minimum(self.new_wh2, self.new_wh2[at])
        ends = np.append(self.first[1:], len(at))
        for unknown_wh2, first, end in zip(self.unknown_wh2, self.first, ends, strict=False):
            places = np.arange(end - first)
            covariance[first:end] += unknown_wh2[places, at[first:end] - first]
        return covariance

    def variance_along_wh2(
        self, features: FeaturesAlong, root: TurnedRoot, unknown_wh2: FloatArray
    ) -> FloatArray:
        """Return the variances where the terms lack the features of fields, (k,) Wh².

        Parameters
        ----------
        features
            Sums of the features up to the places.
        root
            Root of the covariance of terms and features.
        unknown_wh2
            (k,) variances that no column explains, Wh².
        """
        shared = features.variance(self.terms, root) + self.season_wh**2
        return shared + self.belief.noise.variance(self.km, unknown_wh2)


def covariance_in_turn(trips: Sequence[Sums]) -> FloatArray:
    """Return the covariance of the energies along trips that follow each other, (k, k) Wh².

    What the belief shares between trips adds up, and what concerns one trip alone is independent
    between trips.

    Parameters
    ----------
    trips
        The trips by one belief, in driving order, with k places.
    """
    before = accumulate((each.end[0] for each in trips), initial=np.zeros(()))
    shared_wh = np.concatenate(
        [each.shared_wh + end for each, end in zip(trips, before, strict=False)]
    )
    own_wh2 = np.zeros((0, 0))
    for each in trips:
        known, further = len(own_wh2), each.own_wh2()
        # the ends of all later trips have the whole energy of the earlier ones
        grown = np.pad(own_wh2, (0, len(further)), mode="edge" if known else "constant")
        grown[known:, known:] += further
        own_wh2 = grown
    covariance: FloatArray = shared_wh @ shared_wh.T + own_wh2
    return covariance
