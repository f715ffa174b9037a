"""DayTerms: the terms of all arms of a network on one day, held once, in factors.

Every term of an edge is a combination of five numbers: kilometres, metres up and down, minutes and
drag. An arm of the driver's physics adds one more, the energy of its turn. So the terms of a arms
are five numbers of their edges, one of their turns, and a small matrix that joins them. A trip
teaches the pace, so it changes minutes and drag alone. Means and variances of all arms after it are
a product over the edges and one pass over the arms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy.sparse import csr_matrix

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import flow_on, speed_factors
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    AUXILIARY,
    BY_TEMPERATURE,
    DOWN,
    DRAG,
    KM,
    LEVEL,
    MINUTES,
    TURNING,
    UP,
    DrivenEdges,
    coefficient_prior,
    edge_terms,
    minutes_and_drag,
)
from evroute.network.road_network import RoadNetwork
from evroute.planning.spaces.of_physics import MOST_SHARED, of_any_date, shared_turns

NUMBERS = (KM, UP, DOWN, MINUTES, DRAG)
"""Terms that an edge has by itself."""
STILL = 3
"""Number of them that no trip changes, the first ones."""
AT_ONCE = 65_536
"""Number of edges whose variances are computed at once."""


class EdgeFeatures(Protocol):
    """Features of a field at the n edges of a network, which are further terms of their arms."""

    @property
    def size(self) -> int:
        """Number of features, m."""

    def rows(self, edge: IntArray) -> FloatArray:
        """Return the features of edges (k,), (k, m)."""

    def times(self, coefficients: FloatArray) -> FloatArray:
        """Return the sums of features times coefficients (m,) over the edges, (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class StillTerms:
    """Terms of a network on a day that no trip changes.

    Parameters
    ----------
    numbers
        (3, n) kilometres, metres up and metres down of the edges.
    edges
        The edges, at the pace of the map.
    joining
        (5 or 6, p) matrix from the numbers of an edge, and the energy of a turn, to the terms.
    entered
        (a,) edge that each arm enters. Empty where the arms are the edges.
    turning_wh
        (a,) energy of the driver's plan beyond the terms of edges at the map's pace, Wh.
    """

    numbers: FloatArray
    edges: DrivenEdges
    joining: FloatArray
    entered: IntArray
    turning_wh: FloatArray


def portions(n: int) -> Iterator[slice]:
    """Yield slices of `AT_ONCE` of n rows, so that their temporary numbers take little memory."""
    for start in range(0, n, AT_ONCE):
        yield slice(start, min(start + AT_ONCE, n))


def distinct_arms(arms: IntArray, first: IntArray, alone: BoolArray) -> tuple[IntArray, csr_matrix]:
    """Return the different arms of several trips, and how often each trip drives each.

    Parameters
    ----------
    arms
        (k,) arms of all trips, one trip after the other.
    first
        (r,) position of the first arm of each.
    alone
        (k,) arms that are kept as they are, even if they repeat.

    Returns
    -------
    positions
        (d,) a position of each different arm.
    times
        (r, d) how often each trip drives it.
    """
    shared, kept = np.flatnonzero(~alone), np.flatnonzero(alone)
    distinct, at, place = np.unique(arms[shared], return_index=True, return_inverse=True)
    column = np.empty(len(arms), dtype=np.int64)
    column[shared], column[kept] = place, len(distinct) + np.arange(len(kept))
    positions = np.concatenate([shared[at], kept])
    starts, shape = np.append(first, len(arms)), (len(first), len(positions))
    return positions, csr_matrix((np.ones(len(arms)), column, starts), shape=shape)


@lru_cache(maxsize=2 * MOST_SHARED)
def still_terms(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, *, driving: bool
) -> StillTerms:
    """Return the terms that all beliefs of a vehicle share on a day.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    conditions
        Conditions of any date (`of_physics.of_any_date`).
    driving
        Whether the arms are turns, with a term of stops and turns.
    """
    loaded = 1.0 + conditions.payload_kg / vehicle.mass_kg
    heights_m = network.ascent_m, 0.0 - network.descent_m
    factors = speed_factors(network)
    edges = DrivenEdges(
        network.length_m,
        *heights_m,
        network.time_s / factors / network.length_m,
        conditions.headwind_mps(network),
        flow_on(network).moving if driving else np.ones(network.n_edges),
    )
    numbers = loaded * np.stack([network.length_m / 1000.0, *heights_m])
    prior = coefficient_prior(vehicle, driving=driving)
    joining = _joining(vehicle, conditions, prior, turns=driving)
    if not driving:
        none: IntArray = np.empty(0, dtype=np.int64)
        return StillTerms(numbers, edges, joining, none, np.empty(0))
    space = shared_turns(network, vehicle, conditions)
    at_map_pace = np.empty(network.n_edges)
    for some in portions(network.n_edges):
        portion = DrivenEdges(*(getattr(edges, name)[some] for name in edges.__slots__))
        at_map_pace[some] = _terms_at(vehicle, portion, conditions) @ prior.mean[:TURNING]
    entered = space.table.entered
    turning_wh = space.energy.usual_wh - at_map_pace[entered]
    return StillTerms(numbers, edges, joining, entered, turning_wh)


def _terms_at(vehicle: Vehicle, edges: DrivenEdges, conditions: DrivingConditions) -> FloatArray:
    """Return the terms of edges at their pace under the conditions of a day, (k, 12)."""
    paced = DrivenEdges(
        edges.length_m,
        edges.up_m,
        edges.down_m,
        edges.pace_spm / conditions.speed_factor,
        edges.headwind_mps,
        edges.moving,
    )
    return edge_terms(
        vehicle,
        paced,
        auxiliary_w=conditions.auxiliary_w,
        heating=conditions.heating(vehicle).per_minute,
        air_density_kgpm3=conditions.air_density_kgpm3,
        payload_kg=conditions.payload_kg,
    )


def _joining(
    vehicle: Vehicle, conditions: DrivingConditions, prior: CoefficientPrior, *, turns: bool
) -> FloatArray:
    """Return the matrix from the numbers of edges, and of a turn, to their terms, (5 or 6, p).

    Parameters
    ----------
    vehicle, conditions
        The terms of power and temperature are multiples of the minutes by them.
    prior
        Prior of the p coefficients, by which the level is a combination of the others.
    turns
        Whether the last row is a turn.
    """
    joining = np.zeros((len(NUMBERS) + turns, len(prior.mean)))
    joining[np.arange(len(NUMBERS)), NUMBERS] = 1.0
    one, none = np.ones(1), np.zeros(1)
    minute = _terms_at(
        vehicle, DrivenEdges(one, none, none, 60.0 * conditions.speed_factor * one), conditions
    )[0]
    by_minutes = [AUXILIARY, *range(BY_TEMPERATURE.start, BY_TEMPERATURE.stop)]
    joining[NUMBERS.index(MINUTES), by_minutes] = minute[by_minutes]
    if turns:
        joining[-1, TURNING] = 1.0
    if prior.multiplied is not None:
        joining[:, LEVEL] = joining @ prior.multiplied
    return joining


class DayTerms:
    """Terms of the arms of a network: its edges, or its turns with the driver's physics.

    Parameters
    ----------
    still
        The terms that no trip changes.
    paced
        (2, n) minutes, and drag, Wh, of the edges at the pace of the day.
    fields
        Features of fields, whose columns follow the terms.
    """

    def __init__(
        self, still: StillTerms, paced: FloatArray, fields: Sequence[EdgeFeatures] = ()
    ) -> None:
        self._still = still
        self._paced = paced
        self._fields = tuple(fields)

    @classmethod
    def at_pace(
        cls,
        network: RoadNetwork,
        vehicle: Vehicle,
        conditions: DrivingConditions,
        pace_spm: FloatArray,
        fields: Sequence[EdgeFeatures],
        *,
        driving: bool,
    ) -> "DayTerms":
        """Return the terms of a day.

        Parameters
        ----------
        network, vehicle, conditions, driving
            As in `still_terms`, at a date.
        pace_spm
            (n,) pace of the edges, s/m.
        fields
            Features of fields.
        """
        still = still_terms(network, vehicle, of_any_date(conditions), driving=driving)
        known = still.edges
        edges = DrivenEdges(
            known.length_m,
            known.up_m,
            known.down_m,
            pace_spm / conditions.speed_factor,
            known.headwind_mps,
            known.moving,
        )
        paced = minutes_and_drag(vehicle, edges, conditions.air_density_kgpm3)
        return cls(still, np.stack(paced), fields)

    @property
    def km(self) -> FloatArray:
        """(n,) term of the length of each edge, km."""
        return self._still.numbers[0]

    @property
    def of_turns(self) -> bool:
        """Whether the arms are turns."""
        return bool(len(self._still.entered))

    @property
    def n_arms(self) -> int:
        """Number of arms, a."""
        return len(self._still.entered) or len(self.km)

    def edges_of(self, arms: IntArray) -> IntArray:
        """Return the edge of each of k arms, (k,) rows of the network."""
        return self._still.entered[arms] if self.of_turns else arms

    def at_arms(self, of_edges: FloatArray) -> FloatArray:
        """Return the value of the edge that each arm enters, (a,), from values of edges (n,)."""
        return of_edges[self._still.entered] if self.of_turns else of_edges

    def rows(self, arms: IntArray) -> FloatArray:
        """Return the terms of arms (k,), and their features, (k, c)."""
        return np.hstack([self.plain(arms), self.features(self.edges_of(arms))])

    def features(self, edge: IntArray) -> FloatArray:
        """Return the features of fields at edges (k,), (k, c - p)."""
        return np.hstack([np.empty((len(edge), 0)), *(each.rows(edge) for each in self._fields)])

    def plain(self, arms: IntArray) -> FloatArray:
        """Return the terms of arms (k,) without the features of fields, (k, p)."""
        edge = self.edges_of(arms)
        numbers = [self._still.numbers[:, edge], self._paced[:, edge]]
        if self.of_turns:
            numbers.append(self._still.turning_wh[np.newaxis, arms])
        plain: FloatArray = np.vstack(numbers).T @ self._still.joining
        return plain

    def of_edges(self, coefficients: FloatArray) -> tuple[FloatArray, float]:
        """Return sums of terms times coefficients over edges, and the factor of turns.

        Parameters
        ----------
        coefficients
            (c,) coefficients of terms and features.

        Returns
        -------
        sums
            (n,) sums over the edges without turns.
        per_turn
            Factor on the energy of the turns.
        """
        first = self._still.joining.shape[1]
        joined = self._still.joining @ coefficients[:first]
        sums = joined[:STILL] @ self._still.numbers
        sums += joined[STILL : len(NUMBERS)] @ self._paced
        for field in self._fields:
            sums += field.times(coefficients[first : first + field.size])
            first += field.size
        return sums, float(joined[-1]) * self.of_turns

    def with_turns(self, of_edges: FloatArray, per_turn: float) -> FloatArray:
        """Return numbers of edges (n,) at all arms plus a factor times their turns, (a,)."""
        if not self.of_turns:
            return of_edges
        of_arms = self._still.turning_wh * per_turn
        of_arms += of_edges[self._still.entered]
        return of_arms

    def variance(self, root: FloatArray) -> FloatArray:
        """Return the variance of the sum of terms times coefficients over each arm, (a,).

        Parameters
        ----------
        root
            (c, r) root of the covariance of the coefficients of terms and features.
        """
        p, n = self._still.joining.shape[1], len(self.km)
        joined = self._still.joining @ root[:p]
        of_edges, along = np.empty(n), np.empty(n)
        for some in portions(n):
            sums = self._still.numbers[:, some].T @ joined[:STILL]
            sums += self._paced[:, some].T @ joined[STILL : len(NUMBERS)]
            first = p
            for field in self._fields:
                features = field.rows(np.arange(some.start, some.stop))
                sums += features @ root[first : first + field.size]
                first += field.size
            of_edges[some], along[some] = (sums**2).sum(axis=1), sums @ joined[-1]
        if not self.of_turns:
            return of_edges
        wh, entered = self._still.turning_wh, self._still.entered
        variance = wh * float(joined[-1] @ joined[-1])
        variance += 2.0 * along[entered]
        variance *= wh
        variance += of_edges[entered]
        return np.maximum(variance, 0.0, out=variance)
