"""MixedDay: energies of turns on one day by two beliefs, driver's physics and steady speeds.

Means, potential, fade and travel times are weighted means of the two. The covariance of a mixture
has the spread between the means too, so a forecast and its charge along the route include the doubt
which physics is right. Every belief has no edge below its own change of potential, so the mixture
has none below the weighted mean of the potentials.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray
from evroute.learning.intervals import ErrorSpread, TripPrediction
from evroute.learning.mixture.physics_weight import PhysicsWeight
from evroute.learning.roads.passages import bounds_of
from evroute.learning.trips.day import TripDay
from evroute.learning.trips.times import measures_s
from evroute.learning.trips.trip_forecast import Along, TripForecast, joined
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import ChargeTrace
from evroute.planning.charge.charge_tree import add_along
from evroute.planning.forecasts.in_turn import DrivenTrip
from evroute.planning.forecasts.many_trips import TripsTogether
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.turn_space import TurnSpace


@dataclass(frozen=True, eq=False)
class MixedDay:
    """Energies of all turns of a network under the conditions of one day. See `learned.Day`.

    Parameters
    ----------
    driving, steady
        Days by the driver's physics, over turns, and at steady speeds, over edges.
    weight
        Weight of the first.
    spread
        Of the errors of the mixture.
    expected_time
        Function that returns the prediction of the travel time of shares (k,) of edges (k,) on this
        day, s.
    """

    driving: TripDay
    steady: TripDay
    weight: PhysicsWeight
    spread: ErrorSpread
    expected_time: Callable[[IntArray, FloatArray], TripPrediction]

    @cached_property
    def space(self) -> SearchSpace:
        """The turns, with the weighted mean of the potentials."""
        turns, edges = self.driving.space, self.steady.space.edges
        assert isinstance(turns, TurnSpace)
        junction_wh = self.weight.mixed(turns.edges.junction_wh, edges.junction_wh)
        mixed = turns.edges.with_potential(junction_wh, edges.conditions)
        return turns.with_potential(mixed, self.weight.first * turns.kinetic)

    @cached_property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each turn where nothing is lost to a full battery, Wh."""
        of_edges, per_turn = self.driving.of_edges
        mixed_wh = self.weight.mixed(of_edges, self.steady.mean_wh)
        return self.driving.terms.with_turns(mixed_wh, self.weight.first * per_turn)

    @property
    def time_s(self) -> FloatArray:
        """(n,) usual travel time of each edge at the departure of the day, s."""
        time_s: FloatArray = self.weight.mixed(self.driving.time_s, self.steady.time_s)
        return time_s

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of the noise of one passage, the trip's own part left out, Wh."""
        noise_wh2 = self.weight.mixed(self.driving.edge_noise_wh2, self.steady.edge_noise_wh2)
        return self.driving.terms.at_arms(np.sqrt(noise_wh2))

    @property
    def full_battery_fade(self) -> float:
        """Share of recuperation lost per 10 % of charge above the charge of a full battery."""
        fades = self.driving.full_battery_fade, self.steady.full_battery_fade
        return float(self.weight.mixed(*fades))

    @property
    def undated(self) -> bool:
        """Whether the trips learned have no date."""
        return self.driving.undated

    @property
    def battery_share(self) -> float:
        """Deviation of the size of the battery as a share of it, one for both."""
        return self.driving.battery_share

    @property
    def halt_wh(self) -> FloatArray:
        """(n,) expected energy of coming to a standstill at the end of each edge, Wh."""
        halt_wh: FloatArray = self.weight.mixed(self.driving.halt_wh, self.steady.halt_wh)
        return halt_wh

    @property
    def heating_wh(self) -> FloatArray:
        """(3,) learned coefficients of heating, warm-up and cooling, Wh."""
        heating_wh: FloatArray = self.weight.mixed(self.driving.heating_wh, self.steady.heating_wh)
        return heating_wh

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every turn, noise left out, (a,) Wh."""
        driving, steady = self.driving.posterior(), self.steady.posterior()
        at_arms = self.driving.terms.at_arms
        mean_wh, std_wh = at_arms(steady.mean_wh), at_arms(steady.std_wh)
        apart_wh = driving.mean_wh - mean_wh
        variance = self.weight.variance(driving.std_wh**2, std_wh**2, apart_wh)
        return Belief(self.mean_wh, np.sqrt(variance))

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) energy of the turns with whole edges, as of `stretch_wh`, Wh."""
        return self.mean_wh

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the energy of turns of whose edges a part is driven, (k,) Wh.

        Parameters
        ----------
        arms, stretches (k,) turns, and the part of each turn's edge.
        """
        energy_wh: FloatArray = self.weight.mixed(
            self.driving.stretch_wh(arms, stretches),
            self.steady.stretch_wh(self._edges(arms), stretches),
        )
        return energy_wh

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
        edges = self._edges(arms_of_route)
        driven = stretches or self.driving.whole(arms_of_route)
        share = driven.share(self.space.edges.network)
        return replace(
            self.forecast_in_turn([self], [trip]),
            time=lambda: measures_s(self.expected_time(edges, share)),
        )

    def forecast_in_turn(
        self, days: Sequence["MixedDay"], trips: Sequence[DrivenTrip]
    ) -> TripForecast:
        """Forecast the energy of trips of one car that follow each other, without their times.

        Parameters
        ----------
        days, trips
            As in `ForecastsInTurn.forecast_in_turn`.
        """
        driving_of, steady_of = list[Along](), list[Along]()
        lost_wh = 0.0
        for day, trip in zip(days, trips, strict=True):
            edges = self._edges(trip.arms)
            driven = trip.stretches or day.driving.whole(trip.arms)
            driving_of.append(day.driving.along(trip.arms, trip.expected, driven))
            steady_of.append(day.steady.along(edges, trip.expected, driven))
            plain_wh = self.weight.mixed(
                day.driving.plain_wh(trip.arms, driven), day.steady.plain_wh(edges, driven)
            )
            lost_wh += float((trip.energy_wh - plain_wh).sum())
            if trip.expected is not None:
                faded_wh = self.weight.mixed(driving_of[-1].faded_wh, steady_of[-1].faded_wh)
                lost_wh += trip.expected.lost_wh - faded_wh
        driving, steady = joined(driving_of), joined(steady_of)
        apart_wh = driving.mean_wh - steady.mean_wh
        variance_wh2 = self.weight.variance(driving.variance_wh2, steady.variance_wh2, apart_wh[-1])
        moved_wh = [
            float(along.row @ day.belief.coefficients.moved)
            for day, along in ((self.driving, driving), (self.steady, steady))
        ]
        prediction = TripPrediction(
            mean_wh=float(self.weight.mixed(driving.mean_wh[-1], steady.mean_wh[-1])) + lost_wh,
            sd_wh=float(np.sqrt(variance_wh2)),
            spread=self.spread,
            trips=max(self.driving.belief.trips, self.steady.belief.trips),
            moved_wh=float(self.weight.mixed(*moved_wh)),
        )
        return TripForecast(
            prediction,
            lambda: self.weight.covariance(driving.covariance(), steady.covariance(), apart_wh),
            battery_share=self.battery_share,
        )

    def difference_std_wh(
        self,
        arms_of_route: IntArray,
        others: IntArray,
        stretches: tuple[Stretches, Stretches] | None = None,
    ) -> float:
        """Return the deviation of the difference of the expected energies of two routes, Wh.

        Parameters
        ----------
        arms_of_route, others, stretches
            As in `Day.difference_std_wh`.
        """
        edges, other_edges = self._edges(arms_of_route), self._edges(others)
        one, other = stretches or (self.driving.whole(arms_of_route), self.driving.whole(others))
        apart_wh = [
            float(day.plain_wh(arms, one).sum() - day.plain_wh(rest, other).sum())
            for day, arms, rest in (
                (self.driving, arms_of_route, others),
                (self.steady, edges, other_edges),
            )
        ]
        variance = self.weight.variance(
            self.driving.difference_std_wh(arms_of_route, others, (one, other)) ** 2,
            self.steady.difference_std_wh(edges, other_edges, (one, other)) ** 2,
            apart_wh[0] - apart_wh[1],
        )
        return float(np.sqrt(variance))

    def reached_std_wh(
        self,
        arms: IntArray,
        before: IntArray,
        charge_wh: FloatArray,
        stretches: Stretches | None = None,
    ) -> FloatArray:
        """Return the deviation of the energy up to the end of each turn of a tree, (k,) Wh.

        Parameters
        ----------
        arms, before, charge_wh, stretches
            As in `Day.reached_std_wh`.
        """
        edges = self._edges(arms)
        driven = stretches or self.driving.whole(arms)
        going = driven.onward()
        apart_wh = self.driving.plain_wh(arms, going) - self.steady.plain_wh(edges, going)
        add_along(before, apart_wh)
        halt_wh = self.driving.halt_wh - self.steady.halt_wh
        apart_wh += driven.halts * halt_wh[driven.edge]
        driving_wh = self.driving.reached_std_wh(arms, before, charge_wh, driven)
        steady_wh = self.steady.reached_std_wh(edges, before, charge_wh, driven)
        return np.sqrt(self.weight.variance(driving_wh**2, steady_wh**2, apart_wh))

    def moments_of_trips(
        self, arms: IntArray, first: IntArray, charge_wh: FloatArray, stretches: Stretches
    ) -> tuple[FloatArray, FloatArray]:
        """Return expected energies, (r,) Wh, and variances, (r,) Wh², of r trips.

        Parameters
        ----------
        arms, first, charge_wh, stretches
            As in `ManyTrips.moments_of_trips`.
        """
        given = first, charge_wh, stretches
        driving = self.driving.moments_of_trips(arms, *given)
        steady = self.steady.moments_of_trips(self._edges(arms), *given)
        variance_wh2 = self.weight.variance(driving[1], steady[1], driving[0] - steady[0])
        return self.weight.mixed(driving[0], steady[0]), variance_wh2

    def passage_bounds(self, trips: TripsTogether, reserve_wh: float) -> FloatArray:
        """Return upper bounds of the probabilities that trips ever fall below a reserve, (r,).

        Parameters
        ----------
        trips, reserve_wh
            As in `ManyPassages.passage_bounds`.
        """
        driving_wh, driving = self.driving.covariances(trips)
        steady_wh, steady = self.steady.covariances(replace(trips, arms=self._edges(trips.arms)))
        apart_wh, weight = driving_wh - steady_wh, self.weight.first

        def covariance(at: IntArray) -> FloatArray:
            doubt_wh2 = weight * (1.0 - weight) * apart_wh * apart_wh[at]
            mixed_wh2: FloatArray = self.weight.mixed(driving(at), steady(at)) + doubt_wh2
            return mixed_wh2

        return bounds_of(self.spread, covariance, trips, reserve_wh, self.battery_share)

    def _edges(self, arms: IntArray) -> IntArray:
        """Return the edges that turns (k,) enter, (k,)."""
        return self.driving.terms.edges_of(arms)
