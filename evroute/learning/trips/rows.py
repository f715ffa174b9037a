"""Rows: the terms of arms on one day, the only place where physics becomes terms.

Every term of an edge is a combination of five numbers: kilometres, metres up and down, minutes and
drag. An arm of the driver's physics adds one more, the energy of its turn: that of the driver's
plan beyond the terms of its edge at the map's pace. A small matrix joins them to the terms
(`terms.joining`). A trip may drive a part of an edge, come to a standstill at its end, and begin an
edge with a full battery.

A measured trip has the numbers of its own arms computed. A day of plans holds those of all arms,
and shares with other beliefs those that no trip changes: a trip teaches the pace, so it changes
minutes and drag alone. Means and variances of all arms are then a product over the edges and one
pass over the arms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import flow_on, speed_factors
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import Vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.fields import EdgeFeatures
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    FADE,
    NUMBERS,
    TURNING,
    DrivenEdges,
    coefficient_prior,
    departed,
    edge_numbers,
    full_battery_term,
    halted,
    joined,
    joining,
    minutes_and_drag,
    returned_by_pieces,
)
from evroute.methods.setting import Setting
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.of_physics import MOST_SHARED, of_any_date, shared_turns

STILL = 3
"""Number of the numbers of edges that no trip changes, the first ones."""
AT_ONCE = 65_536
"""Number of edges whose variances are computed at once."""
KEPT_ENDS = 64
"""Number of pairs of ends whose numbers are kept. All routes of a request have the same ends."""
MOST_ENDS = 4
"""Number of parts up to which numbers are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class StillNumbers:
    """Numbers of a network on a day that no trip changes.

    Parameters
    ----------
    of_edges
        (3, n) kilometres, metres up and metres down of the edges.
    edges
        The edges, at the pace of the map.
    turning_wh
        (a,) energy of the driver's plan beyond the terms of edges at the map's pace, Wh. Empty
        where the arms are the edges.
    """

    of_edges: FloatArray
    edges: DrivenEdges
    turning_wh: FloatArray


def portions(n: int) -> Iterator[slice]:
    """Yield slices of `AT_ONCE` of n rows, so that their temporary numbers take little memory."""
    for start in range(0, n, AT_ONCE):
        yield slice(start, min(start + AT_ONCE, n))


@lru_cache(maxsize=4)
def _planned(network: RoadNetwork) -> tuple[FloatArray, FloatArray]:
    """Return the pace of drivers' plans, (n,) s/m, and mean speed over that of the drag, (n,)."""
    pace_spm = network.time_s / speed_factors(network) / network.length_m
    return pace_spm, flow_on(network).moving


@lru_cache(maxsize=2 * MOST_SHARED)
def still_numbers(
    network: RoadNetwork, vehicle: Vehicle, conditions: DrivingConditions, *, driving: bool
) -> StillNumbers:
    """Return the numbers that all beliefs of a vehicle share on a day.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    conditions
        Conditions of any date (`of_physics.of_any_date`).
    driving
        Whether the arms are turns, with a term of stops and turns.
    """
    pace_spm, moving = _planned(network)
    edges = DrivenEdges(
        network.length_m,
        network.ascent_m,
        0.0 - network.descent_m,
        pace_spm / conditions.speed_factor,
        conditions.headwind_mps(network),
        moving if driving else 1.0,
    )
    numbers = edge_numbers(vehicle, edges, conditions)
    if not driving:
        return StillNumbers(numbers[:STILL], edges, np.empty(0))
    space = shared_turns(network, vehicle, conditions)
    prior = coefficient_prior(vehicle, driving=driving)
    planned_wh = _energy_per_number(joining(vehicle, conditions, prior), prior) @ numbers
    turning_wh = space.energy.usual_wh - planned_wh[space.table.entered]
    return StillNumbers(numbers[:STILL].copy(), edges, turning_wh)


def _energy_per_number(joining_to_terms: FloatArray, prior: CoefficientPrior) -> FloatArray:
    """Return the energy by the prior of one of each number of edges, turns left out, (5,) Wh."""
    of_edges = joining_to_terms[: len(NUMBERS), :TURNING]
    return np.asarray(of_edges @ prior.mean[:TURNING])


class Rows:
    """Terms of the arms of a network on one day: its edges, or its turns with the driver's physics.

    Parameters
    ----------
    setting
        Network and vehicle.
    prior
        Prior of the coefficients. The arms are turns if it has one of stops and turns.
    conditions
        Conditions of the day.
    pace
        Learned pace of the edges. It must not learn while this object is in use.
    fields
        Features of fields, whose columns follow the terms.
    of_all
        Whether the numbers of all arms are held, as plans ask for any of them.
    """

    def __init__(
        self,
        setting: Setting,
        prior: CoefficientPrior,
        conditions: DrivingConditions,
        pace: Pace,
        fields: Sequence[EdgeFeatures] = (),
        *,
        of_all: bool = False,
    ) -> None:
        self.network, self.vehicle = setting.network, setting.vehicle
        self.prior, self.conditions = prior, conditions
        self._pace, self._fields = pace, tuple(fields)
        self._table = TurnTable.from_network(self.network) if len(prior.mean) > TURNING else None
        self._joining = joining(self.vehicle, conditions, prior)
        self._ends = lru_cache(KEPT_ENDS)(self._of_ends)
        self._still: StillNumbers | None = None
        if of_all:
            any_date = of_any_date(conditions)
            self._still = still_numbers(
                self.network, self.vehicle, any_date, driving=self._table is not None
            )
            at_pace = replace(self._still.edges, pace_spm=self._pace_spm(np.arange(len(self.km))))
            self._paced = minutes_and_drag(self.vehicle, at_pace, conditions)

    def of(
        self, arms: IntArray, parts: Stretches | None = None, charge_wh: FloatArray | None = None
    ) -> FloatArray:
        """Return the terms of arms as they are driven, and their features, (k, c).

        Parameters
        ----------
        arms, parts, charge_wh
            As in `terms`.
        """
        parts = self.whole(arms) if parts is None else parts
        return np.hstack([self.terms(arms, parts, charge_wh), self.features(parts)])

    def terms(
        self, arms: IntArray, parts: Stretches, charge_wh: FloatArray | None = None
    ) -> FloatArray:
        """Return the terms of arms as they are driven, without features, (k, p).

        The full-battery term of a part is its share of the edge's term.

        Parameters
        ----------
        arms
            (k,) arms.
        parts
            The part of the edge of each that is driven, with the standstills at their ends.
        charge_wh
            (k,) charges with which they begin, Wh, or None if unknown.
        """
        terms, share = joined(self._whole_numbers(arms), self._joining), parts.share(self.network)
        faded = None if charge_wh is None else self._faded(terms, parts.edge, charge_wh)
        cut = np.flatnonzero(share != 1.0)
        if len(cut):
            terms[cut] = joined(self._cut_numbers(arms[cut], parts[cut]), self._joining)
        if faded is not None:
            terms[:, FADE] = share * faded
        return self.halted(terms, parts)

    def features(self, parts: Stretches) -> FloatArray:
        """Return the features of fields over parts of edges, their shares of the edges' features.

        Parameters
        ----------
        parts
            (k,) parts of edges.

        Returns
        -------
        features
            (k, c - p).
        """
        none = np.empty((len(parts), 0))
        features = np.hstack([none, *(each.rows(parts.edge) for each in self._fields)])
        cut, share = self.cut(parts), parts.share(self.network)
        features[cut] *= share[cut, np.newaxis]
        return features

    def features_times(self, parts: Stretches, factors: FloatArray) -> FloatArray:
        """Return the features of fields over parts of edges times factors, (k, m).

        Parameters
        ----------
        parts
            (k,) parts of edges.
        factors
            (c - p, m) factors.
        """
        values = np.empty((len(parts), factors.shape[1]))
        for some in portions(len(parts)):
            values[some] = self.features(parts[some]) @ factors
        return values

    def of_trip(self, trip: MeasuredTrip, b: FloatArray) -> FloatArray:
        """Return the terms of a whole trip by the values known at its departure, (p,).

        Parameters
        ----------
        trip
            Trip on the network. Each of several plausible routes, one after another, ends at
            standstill where the arms are turns.
        b
            (p,) coefficients, by which the charge falls along the trip.
        """
        edge, begins = trip.edge, self._begins(trip.edge)
        driven = trip.stretches(self.network) or Stretches.whole(self.network, edge)
        halts = np.zeros(len(edge), dtype=np.bool_)
        halts[np.append(begins[1:], len(edge)) - 1] = self._table is not None
        parts = Stretches(edge, driven.from_m, driven.to_m, halts)
        arms = edge if self._table is None else self._table.rows_along(edge, begins)
        terms = self.terms(arms, parts)
        if np.isfinite(trip.soc_percent):
            expected_wh = terms @ b * (trip.routes == 1)  # the charge at departure on all routes
            used_wh = np.cumsum(expected_wh) - expected_wh
            full_wh = self.vehicle.battery_kwh * 1000.0
            begin_wh = full_wh * (trip.soc_percent / 100.0) - used_wh
            terms = self.terms(arms, parts, np.minimum(begin_wh, full_wh))
        heating = self.conditions.heating(self.vehicle)
        return departed(terms.sum(axis=0) / trip.routes, heating, self.prior)

    def whole(self, arms: IntArray) -> Stretches:
        """Return the whole edges of arms (k,)."""
        return Stretches.whole(self.network, self.edges_of(arms))

    def cut(self, parts: Stretches) -> IntArray:
        """Return the positions of the parts that are no whole edges."""
        return np.flatnonzero(parts.share(self.network) != 1.0)

    def halted(self, terms: FloatArray, parts: Stretches) -> FloatArray:
        """Return terms of parts of edges (k, p) with the terms of the standstills at their ends."""
        at = np.flatnonzero(parts.halts)
        if len(at) and self._table is not None:
            terms = terms.copy()
            terms[at] = halted(terms[at], self.halt_wh[parts.edge[at]], self.prior)
        return terms

    @cached_property
    def halt_wh(self) -> FloatArray:
        """(n,) energy by physics of coming to a standstill at the end of each edge, Wh."""
        if self._table is None:
            return np.zeros(self.network.n_edges)
        return self._energy.halt_wh(self._energy.usual_mps)

    @property
    def km(self) -> FloatArray:
        """(n,) term of the length of each edge, km."""
        return self._held.of_edges[0]

    def edges_of(self, arms: IntArray) -> IntArray:
        """Return the edge of each of k arms, (k,) rows of the network."""
        return arms if self._table is None else self._table.entered[arms]

    def at_arms(self, of_edges: FloatArray) -> FloatArray:
        """Return the value of the edge that each arm enters, (a,), from values of edges (n,)."""
        return of_edges if self._table is None else of_edges[self._table.entered]

    def of_edges(self, coefficients: FloatArray) -> tuple[FloatArray, float]:
        """Return sums of terms times coefficients over all edges, and the factor of turns.

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
        first = self._joining.shape[1]
        per_number = self._joining @ coefficients[:first]
        sums = per_number[:STILL] @ self._held.of_edges
        sums += per_number[STILL : len(NUMBERS)] @ self._paced
        for field in self._fields:
            sums += field.times(coefficients[first : first + field.size])
            first += field.size
        return sums, float(per_number[-1]) * (self._table is not None)

    def with_turns(self, of_edges: FloatArray, per_turn: float) -> FloatArray:
        """Return numbers of edges (n,) at all arms plus a factor times their turns, (a,)."""
        if self._table is None:
            return of_edges
        of_arms = self._held.turning_wh * per_turn
        of_arms += of_edges[self._table.entered]
        return of_arms

    def variance(self, root: FloatArray) -> FloatArray:
        """Return the variance of the sum of terms times coefficients over each arm, (a,).

        Parameters
        ----------
        root
            (c, r) root of the covariance of the coefficients of terms and features.
        """
        still, p, n = self._held, self._joining.shape[1], len(self.km)
        per_number = self._joining @ root[:p]
        of_edges, along = np.empty(n), np.empty(n)
        for some in portions(n):
            sums = still.of_edges[:, some].T @ per_number[:STILL]
            sums += self._paced[:, some].T @ per_number[STILL : len(NUMBERS)]
            first = p
            for field in self._fields:
                features = field.rows(np.arange(some.start, some.stop))
                sums += features @ root[first : first + field.size]
                first += field.size
            of_edges[some], along[some] = (sums**2).sum(axis=1), sums @ per_number[-1]
        if self._table is None:
            return of_edges
        wh, entered = still.turning_wh, self._table.entered
        variance = wh * float(per_number[-1] @ per_number[-1])
        variance += 2.0 * along[entered]
        variance *= wh
        variance += of_edges[entered]
        return np.maximum(variance, 0.0, out=variance)

    @property
    def _held(self) -> StillNumbers:
        assert self._still is not None, "made with of_all"
        return self._still

    @cached_property
    def _energy(self) -> TurnEnergy:
        """Energy of the driver's plans."""
        assert self._table is not None
        if self._still is not None:
            return shared_turns(self.network, self.vehicle, of_any_date(self.conditions)).energy
        roads = self.network, self.vehicle, self._table
        return TurnEnergy(*roads, self.conditions, free_flow=True)

    def _begins(self, edge: IntArray) -> IntArray:
        """Return the positions at which the routes of a trip over edges (k,) begin."""
        return np.append(0, np.flatnonzero(~self.network.has_turns(edge)) + 1)

    def _pace_spm(self, edge: IntArray) -> FloatArray:
        """Return the paces at which edges (k,) are driven, (k,) s/m."""
        pace_spm = self._pace.paces(edge, self.conditions.departed_s)
        return pace_spm / self.conditions.speed_factor

    def _whole_numbers(self, arms: IntArray) -> FloatArray:
        """Return the numbers of whole arms (k,), (5 or 6, k)."""
        if self._still is None:
            return self._computed(arms, None)
        edge = self.edges_of(arms)
        numbers = [self._still.of_edges[:, edge], self._paced[:, edge]]
        if self._table is not None:
            numbers.append(self._still.turning_wh[np.newaxis, arms])
        return np.concatenate(numbers)

    def _cut_numbers(self, arms: IntArray, parts: Stretches) -> FloatArray:
        """Return the numbers of parts of arms (k,), (5 or 6, k). Those of few are kept."""
        if len(arms) > MOST_ENDS:
            return self._computed(arms, parts)
        columns = arms, parts.edge, parts.from_m, parts.to_m
        return self._ends(*(each.tobytes() for each in columns))

    def _of_ends(self, *columns: bytes) -> FloatArray:
        arms, edge = (np.frombuffer(each, dtype=np.int64) for each in columns[:2])
        from_m, to_m = (np.frombuffer(each) for each in columns[2:])
        return self._computed(arms, Stretches(edge, from_m, to_m))

    def _computed(self, arms: IntArray, parts: Stretches | None) -> FloatArray:
        """Return the numbers of arms (k,), or of parts of them, (5 or 6, k)."""
        network, edge = self.network, self.edges_of(arms)
        length_m, up_m = network.length_m[edge], network.ascent_m[edge]
        lost_m = network.descent_m[edge]
        if parts is not None:
            length_m, (up_m, lost_m) = parts.length_m, parts.heights(network)
        headwind_mps = self.conditions.headwind_mps(network)[edge]
        pace_spm = self._pace_spm(edge)
        edges = DrivenEdges(length_m, up_m, 0.0 - lost_m, pace_spm, headwind_mps)
        if self._table is None:
            return edge_numbers(self.vehicle, edges, self.conditions)
        planned_spm, moving = _planned(network)
        edges = replace(edges, moving=moving[edge])
        numbers = edge_numbers(self.vehicle, edges, self.conditions)
        at_map = replace(edges, pace_spm=planned_spm[edge] / self.conditions.speed_factor)
        planned = edge_numbers(self.vehicle, at_map, self.conditions)
        per_number = _energy_per_number(self._joining, self.prior)
        turning_wh = self._energy.stretch_wh(arms, parts, self._energy.usual_mps)
        turning_wh = turning_wh - joined(planned, per_number[:, np.newaxis])[:, 0]
        return np.vstack([numbers, turning_wh])

    def _faded(self, terms: FloatArray, edge: IntArray, charge_wh: FloatArray) -> FloatArray | None:
        """Return the full-battery term of whole edges, (k,) Wh, or None if all have space."""
        percent = charge_wh / (self.vehicle.battery_kwh * 1000.0) * 100
        if not (percent > self.vehicle.full_battery_percent).any():
            return None
        loaded = 1.0 + self.conditions.payload_kg / self.vehicle.mass_kg
        returned_wh = returned_by_pieces(self.network, edge, terms, self.prior.mean, loaded)
        return full_battery_term(self.vehicle, percent, returned_wh)
