"""DrivenTerms: the terms of the arms of a day as a trip drives them.

A trip may drive parts of edges, come to a standstill, and begin an edge with a full battery.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.day_terms import DayTerms, portions
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    FADE,
    full_battery_term,
    halted,
    returned_by_pieces,
    with_level,
)
from evroute.network.heights.stretches import Stretches
from evroute.planning.spaces.edge_space import EdgeSpace

PartTerms = Callable[[IntArray, Stretches], FloatArray]
"""Returns the terms of arms of whose edges a part is driven, and of fields, (k, c)."""
KEPT_PARTS = 64
"""Number of pairs of ends whose terms are kept. All routes of a request have the same ends."""
MOST_ENDS = 4
"""Number of parts up to which terms are kept."""


def kept_parts(part_terms: PartTerms) -> PartTerms:
    """Return a function that keeps the last terms of parts."""

    @lru_cache(KEPT_PARTS)
    def terms(*columns: bytes) -> FloatArray:
        arms, edge = (np.frombuffer(each, dtype=np.int64) for each in columns[:2])
        from_m, to_m = (np.frombuffer(each) for each in columns[2:4])
        halts = np.frombuffer(columns[4], dtype=np.bool_)
        found = part_terms(arms, Stretches(edge, from_m, to_m, halts))
        found.setflags(write=False)
        return found

    def kept(arms: IntArray, parts: Stretches) -> FloatArray:
        if len(arms) > MOST_ENDS:
            return part_terms(arms, parts)
        columns = arms, parts.edge, parts.from_m, parts.to_m, parts.halts
        return terms(*(each.tobytes() for each in columns))

    return kept


@dataclass(frozen=True, slots=True, eq=False)
class DrivenTerms:
    """Terms of parts of edges on one day.

    Parameters
    ----------
    terms
        Terms of whole arms.
    prior
        Prior of their p coefficients.
    vehicle
        Battery, and the charge above which recuperation fades.
    edges
        The edges under the conditions of the day.
    part_terms, halt_by_physics_wh
        As in `TripDay`.
    """

    terms: DayTerms
    prior: CoefficientPrior
    vehicle: Vehicle
    edges: EdgeSpace
    part_terms: Callable[[IntArray, Stretches], FloatArray]
    halt_by_physics_wh: FloatArray

    def of(self, arms: IntArray, charge_wh: FloatArray | None, stretches: Stretches) -> FloatArray:
        """Return the terms of parts of edges and their features, (k, c).

        Parameters
        ----------
        arms, charge_wh, stretches
            As in `plain`.
        """
        return self._driven(self.terms.rows(arms), arms, charge_wh, stretches)

    def plain(
        self, arms: IntArray, charge_wh: FloatArray | None, stretches: Stretches
    ) -> FloatArray:
        """Return the terms of parts of edges without features, (k, p).

        The full-battery term of a part is its share of the edge's term.

        Parameters
        ----------
        arms
            (k,) arms.
        charge_wh
            (k,) charges with which they begin, Wh, or None if unknown.
        stretches
            The part of the edge of each arm that is driven.
        """
        return self._driven(self.terms.plain(arms), arms, charge_wh, stretches)

    def features_times(
        self, arms: IntArray, stretches: Stretches, factors: FloatArray
    ) -> FloatArray:
        """Return the features of fields over parts of edges times factors, (k, m).

        Parameters
        ----------
        arms, stretches
            (k,) arms, and the part of the edge of each that is driven.
        factors
            (c - p, m) factors.
        """
        values = np.empty((len(arms), factors.shape[1]))
        for some in portions(len(arms)):
            values[some] = self._features(arms[some], stretches[some]) @ factors
        return values

    def _features(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the features of fields over parts of edges, (k, c - p)."""
        features, cut = self.terms.features(stretches.edge), self.cut(stretches)
        if len(cut):
            parts = self.part_terms(arms[cut], stretches[cut])
            features[cut] = parts[:, len(self.prior.mean) :]
        return features

    def cut(self, stretches: Stretches) -> IntArray:
        """Return the positions of the stretches that are no whole edges."""
        return np.flatnonzero(stretches.share(self.edges.network) != 1.0)

    def halted(self, terms: FloatArray, stretches: Stretches) -> FloatArray:
        """Return terms of parts of edges (k, p) with the terms of the standstills at their ends."""
        rows = np.flatnonzero(stretches.halts)
        if len(rows) and len(self.halt_by_physics_wh):
            terms = terms.copy()
            halt_wh = self.halt_by_physics_wh[stretches.edge[rows]]
            terms[rows] = halted(terms[rows], halt_wh, self.prior)
        return terms

    def _driven(
        self,
        terms: FloatArray,
        arms: IntArray,
        charge_wh: FloatArray | None,
        stretches: Stretches,
    ) -> FloatArray:
        """Return terms of whole arms (k, c), which are changed, as the parts are driven, (k, c)."""
        if charge_wh is not None:
            percent = charge_wh / (self.vehicle.battery_kwh * 1000.0) * 100
            if (percent > self.vehicle.full_battery_percent).any():
                terms[:, FADE] = full_battery_term(
                    self.vehicle, percent, self._returned_wh(terms, arms)
                )
        terms, cut = with_level(terms, self.prior), self.cut(stretches)
        if len(cut):
            share = stretches[cut].share(self.edges.network)
            faded = share * terms[cut, FADE]
            terms[cut] = self.part_terms(arms[cut], stretches[cut])[:, : terms.shape[1]]
            terms[cut, FADE] = faded
        return self.halted(terms, stretches)

    def _returned_wh(self, terms: FloatArray, arms: IntArray) -> FloatArray:
        """Return the energy of the pieces of arms that return some, (k,) Wh, at most 0."""
        loaded = 1.0 + self.edges.conditions.payload_kg / self.vehicle.mass_kg
        entered, plain = self.terms.edges_of(arms), terms[:, : len(self.prior.mean)]
        return returned_by_pieces(self.edges.network, entered, plain, self.prior.mean, loaded)
