"""TripDay: energies of edges and routes on one day, by a belief of whole trips.

A planner holds it for the conditions of the day. The mean of an edge is the sum of its terms times
the coefficients in force, which lie in the cone of physical ones. The potential of searches is
``c z`` with c between the coefficients of metres down and metres up, so no edge takes less than its
rise. A forecast is for the whole trip, with its noise and the spread of past errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray, by_row
from evroute.energy.heating import Heating
from evroute.learning.roads.passages import bounds_of
from evroute.learning.roads.places import TripPlaces
from evroute.learning.roads.tree_spread import FeaturesAlong, TurnedRoot
from evroute.learning.trips.kept_trips import FIELD
from evroute.learning.trips.rows import Rows, portions
from evroute.learning.trips.sums import Sums, covariance_in_turn
from evroute.learning.trips.terms import (
    AUXILIARY,
    BY_TEMPERATURE,
    FADE,
    MINUTES,
    halted,
    reached,
)
from evroute.learning.trips.times import TripTimes
from evroute.learning.trips.trip_belief import TripBelief
from evroute.learning.trips.trip_forecast import TripForecast
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import ChargeTrace
from evroute.planning.charge.charge_tree import add_along, way
from evroute.planning.forecasts.in_turn import DrivenTrip
from evroute.planning.forecasts.many_trips import TripsTogether
from evroute.planning.spaces.arm_space import SearchSpace


@dataclass(frozen=True, eq=False)
class TripDay:
    """Energies of all edges of a network under the conditions of one day. See `learned.Day`.

    Parameters
    ----------
    belief
        Belief of whole trips. It must not learn while this object is in use.
    space
        The a arms, edges or turns, with the potential of the belief.
    rows
        Terms of the arms and features of fields, those of all arms held.
    columns
        (c,) columns of the belief that they are.
    places
        Roads that have features.
    times
        Travel times of trips.
    season_wh_per_minute
        Deviation of a trip's energy at an unknown temperature, Wh per minute. 0 where it is known.
    battery_share
        Deviation of the size of the battery as a share of it.
    undated
        Whether the trips learned have no date, so that no days since the last one are known.
    """

    belief: TripBelief
    space: SearchSpace
    rows: Rows
    columns: IntArray
    places: TripPlaces
    times: TripTimes
    season_wh_per_minute: float = 0.0
    battery_share: float = 0.0
    undated: bool = False

    @cached_property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each arm where nothing is lost to a full battery, Wh."""
        return self.rows.with_turns(*self.of_edges)

    @cached_property
    def of_edges(self) -> tuple[FloatArray, float]:
        """(n,) expected energy of each edge without turns, Wh, and the factor of turns."""
        return self.rows.of_edges(self.belief.coefficients[self.columns])

    @property
    def time_s(self) -> FloatArray:
        """(n,) usual travel time of each edge at the departure of the day, s."""
        return self.times.pace.times(
            np.arange(self.space.edges.size), self.space.edges.conditions.departed_s
        )

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of the noise of one passage, the trip's own part left out, Wh."""
        return self.rows.at_arms(np.sqrt(self.edge_noise_wh2))

    @property
    def edge_noise_wh2(self) -> FloatArray:
        """(n,) variance of the noise of one passage of each edge, Wh²."""
        noise = self.belief.noise
        return noise.variance(self.rows.km) - noise.trip_wh**2

    @property
    def full_battery_fade(self) -> float:
        """Share of recuperation lost per 10 % of charge above the charge of a full battery."""
        return float(self.belief.present[FADE])

    @property
    def _heating(self) -> Heating:
        return self.space.edges.conditions.heating(self.rows.vehicle)

    @property
    def heating_wh(self) -> FloatArray:
        """(3,) learned coefficients of heating, warm-up and cooling, Wh.

        A known power includes them, so they are those beyond its term.
        """
        present = self.belief.present
        in_power = present[AUXILIARY] * self._heating.in_power
        return present[BY_TEMPERATURE] - in_power * self.belief.prior.mean[BY_TEMPERATURE]

    @cached_property
    def halt_wh(self) -> FloatArray:
        """(n,) expected energy of coming to a standstill at the end of each edge, Wh."""
        if not self.space.halts:
            return np.zeros(self.space.edges.size)
        of_halt = halted(np.zeros(len(self.belief.prior.mean)), 1.0, self.belief.prior)
        present = self.belief.coefficients[: len(of_halt)]
        return float(of_halt @ present) * self.rows.halt_wh

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every arm, noise left out, (a,) Wh."""
        root = self.belief.regression.root[self.columns]
        return Belief(self.mean_wh, np.sqrt(self.rows.variance(root)))

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) energy of the arms with whole edges, as of `stretch_wh`, Wh."""
        return self.mean_wh

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the energy of arms of whose edges a part is driven, (k,) Wh, by their terms.

        Parameters
        ----------
        arms, stretches
            (k,) arms, and the part of each arm's edge.
        """
        coefficients = self.belief.coefficients[self.columns]
        return by_row(self.rows.of(arms, stretches.onward()), coefficients)

    def forecast(
        self,
        arms_of_route: IntArray,
        energy_wh: FloatArray,
        expected: ChargeTrace | None = None,
        stretches: Stretches | None = None,
    ) -> TripForecast:
        """Forecast one trip.

        Parameters
        ----------
        arms_of_route, energy_wh, expected, stretches
            As in `Day.forecast`.
        """
        trip = DrivenTrip(arms_of_route, energy_wh, expected, stretches)
        edges, day = self.rows.edges_of(arms_of_route), self.space.edges.conditions
        driven = stretches or self.rows.whole(arms_of_route)
        share = driven.share(self.space.edges.network)
        return replace(
            self.forecast_in_turn([self], [trip]),
            time=lambda: self.times.expect(
                edges, departed_s=day.departed_s, speed_factor=day.speed_factor, share=share
            ),
            time_noise_s=self.times.noise_s,
        )

    def forecast_in_turn(
        self, days: Sequence["TripDay"], trips: Sequence[DrivenTrip]
    ) -> TripForecast:
        """Forecast the energy of trips of one car that follow each other, without their times.

        Parameters
        ----------
        days, trips
            As in `ForecastsInTurn.forecast_in_turn`.
        """
        routes, lost_wh = list[Sums](), 0.0
        for day, trip in zip(days, trips, strict=True):
            driven = trip.stretches or day.rows.whole(trip.arms)
            route = day.along(trip.arms, trip.expected, driven)
            lost_wh += float((trip.energy_wh - day.plain_wh(trip.arms, driven)).sum())
            if trip.expected is not None:
                faded_wh = day.full_battery_fade * float(route.terms[-1, FADE])
                lost_wh += trip.expected.lost_wh - faded_wh
            routes.append(route)
        row = np.sum([route.row for route in routes], axis=0)
        shared_wh = np.sum([route.end[0] for route in routes], axis=0)
        shared_wh2 = float(shared_wh @ shared_wh)
        own_wh2 = sum(own for _, own in (route.end for route in routes))
        prediction = self.belief.expect(row).shifted(lost_wh)
        return TripForecast(
            replace(prediction, sd_wh=float(np.sqrt(shared_wh2 + own_wh2))),
            lambda: covariance_in_turn(routes),
            battery_share=self.battery_share,
            shared_wh2=shared_wh2,
            trip_wh2=float(self.belief.noise.trip_wh**2),
        )

    def along(
        self, arms_of_route: IntArray, expected: ChargeTrace | None, driven: Stretches
    ) -> Sums:
        """Return the energies of one trip up to the end of each arm of a route.

        Parameters
        ----------
        arms_of_route
            (k,) arms in driving order.
        expected
            Charge along the route by expected energies, or None where the charge is unknown.
        driven
            The part of the edge of each arm that is driven.
        """
        begin_wh = None if expected is None else expected.charge_wh[:-1]
        terms = self.rows.of(arms_of_route, driven, begin_wh)
        sums = self.sums(np.cumsum(terms, axis=0), [self._unknown_wh2(driven)])
        return replace(sums, new_wh2=np.cumsum(self._new_roads_wh2(driven)))

    def sums(self, sums: FloatArray, unknown_wh2: Sequence[FloatArray] = ()) -> Sums:
        """Return the energies of sums of terms (k, c), each since the start of its trip.

        Sums without the features of fields have the terms alone, (k, p).

        Parameters
        ----------
        sums
            (k, c) sums of terms of arms.
        unknown_wh2
            As in `Sums`.
        """
        terms = reached(sums, self._heating, self.belief.prior)
        season_wh = self.season_wh_per_minute * terms[:, MINUTES]
        return Sums(self.belief, self.columns[: sums.shape[1]], terms, season_wh, unknown_wh2)

    def _unknown_wh2(self, driven: Stretches) -> FloatArray:
        """Return the covariance that no column explains up to the ends of parts, (k, k) Wh²."""
        return self.places.unknown_wh2(driven.edge, self.belief.scales.heights, driven)

    def difference_std_wh(
        self,
        arms_of_route: IntArray,
        others: IntArray,
        stretches: tuple[Stretches, Stretches] | None = None,
    ) -> float:
        """Return the deviation of the difference of the expected energies of two routes, Wh.

        The heights of their common ends cancel.

        Parameters
        ----------
        arms_of_route, others, stretches
            As in `Day.difference_std_wh`.
        """
        of_one, of_other = stretches or (self.rows.whole(arms_of_route), self.rows.whole(others))
        one = self.rows.of(arms_of_route, of_one).sum(axis=0)
        other = self.rows.of(others, of_other).sum(axis=0)
        variance = (((one - other) @ self.belief.regression.root[self.columns]) ** 2).sum()
        network = self.space.edges.network
        share = np.concatenate([of_one.share(network), -of_other.share(network)])
        unlearned = self.places.unlearned(np.concatenate([of_one.edge, of_other.edge]), share)
        return float(np.sqrt(variance + self.belief.scales.roads**2 * unlearned))

    def reached_std_wh(
        self,
        arms: IntArray,
        before: IntArray,
        charge_wh: FloatArray,
        stretches: Stretches | None = None,
    ) -> FloatArray:
        """Return the deviation of the energy up to the end of each arm of a tree, (k,) Wh.

        Parameters
        ----------
        arms, before, charge_wh, stretches
            As in `Day.reached_std_wh`.
        """
        driven = stretches or self.rows.whole(arms)
        begun, sums = driven.onward(), np.empty((len(arms), len(self.belief.prior.mean)))
        for some in portions(len(arms)):
            sums[some] = self.rows.terms(arms[some], begun[some], charge_wh[some])
        add_along(before, sums)
        along, unknown_wh2 = self._features_along(begun, before), self._new_roads_wh2(begun)
        add_along(before, unknown_wh2)
        if self._has_fields:  # the rest of heights is no sum over edges
            routes = [way(before, position) for position in range(len(arms))]
            unknown_wh2 += np.array([self._unknown_wh2(driven[route])[-1, -1] for route in routes])
        std_wh, root = np.empty(len(arms)), self._turned_root
        for some in portions(len(arms)):
            here = self.sums(self.rows.halted(sums[some], driven[some]))
            variance_wh2 = here.variance_along_wh2(along.at(some), root, unknown_wh2[some])
            std_wh[some] = np.sqrt(variance_wh2)
        return std_wh

    def sums_of_trips(self, trips: TripsTogether) -> Sums:
        """Return the energies of trips up to the ends of their arms."""
        terms = self.rows.of(trips.arms, trips.stretches, trips.begin_wh / trips.size)
        along = np.cumsum(terms, axis=0)
        along -= np.vstack([np.zeros(along.shape[1]), along])[trips.first][trips.trip]
        unknown_wh2, new_wh2 = list[FloatArray](), self._new_roads_wh2(trips.stretches)
        rows = np.split(np.arange(len(trips.arms)), trips.first[1:])
        if self._has_fields:
            unknown_wh2 = [self._unknown_wh2(trips.stretches[each]) for each in rows]
        new_wh2 = np.concatenate([np.cumsum(new_wh2[each]) for each in rows])
        return replace(self.sums(along, unknown_wh2), new_wh2=new_wh2, first=trips.first)

    def passage_bounds(
        self, trips: TripsTogether, reserve_wh: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of risks, (r,), as of `ManyTrips`."""
        spread = self.belief.expect(np.zeros(len(self.belief.column))).spread
        sums = self.sums_of_trips(trips)
        return bounds_of(spread, sums, trips, reserve_wh, self.battery_share)

    def _new_roads_wh2(self, stretches: Stretches) -> FloatArray:
        """Return the variance of the deviation of each road that is not learned, (k,) Wh²."""
        variance_wh2, share = self.belief.unlearned_wh2, stretches.share(self.space.edges.network)
        return variance_wh2 * self.places.unlearned_of(stretches.edge, share)

    @cached_property
    def _turned_root(self) -> TurnedRoot:
        root = self.belief.regression.root[self.columns]
        return TurnedRoot.of(root, len(self.belief.prior.mean))

    @property
    def _has_fields(self) -> bool:
        """Whether heights of junctions are learned, which are features of all edges."""
        return bool((self.belief.column[self.columns] == FIELD).any())

    def _features_along(self, stretches: Stretches, before: IntArray) -> FeaturesAlong:
        """Return the sums of features along a tree.

        Parameters
        ----------
        stretches, before
            (k,) parts of edges that are driven, and the position before each.
        """
        own = np.arange(len(stretches))
        if not self._has_fields:
            own = np.flatnonzero(self.places.roads.has(stretches.edge))
        into = self._turned_root.of_features
        values = self.rows.features_times(stretches[own], into)
        return FeaturesAlong.of(values, own, before)

    def plain_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the expected energy of arms (k,) over parts of edges, nothing lost, (k,) Wh."""
        energy_wh, cut = self.mean_wh[arms], self.rows.cut(stretches)
        if len(cut):
            energy_wh[cut] = self.stretch_wh(arms[cut], stretches[cut])
        return energy_wh + stretches.halts * self.halt_wh[stretches.edge]
