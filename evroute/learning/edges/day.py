"""EdgeDay: energies of arms and routes on one day, by a model of single edges or turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.learning.intervals import PastErrors
from evroute.model.base import EnergyModel, mean_of
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import ChargeTrace
from evroute.planning.charge.charge_tree import way
from evroute.planning.forecasts.forecast import RouteForecast, difference_std_wh, forecast
from evroute.planning.forecasts.in_turn import DrivenTrip
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.arm_space import SearchSpace


@dataclass(frozen=True, slots=True, eq=False)
class EdgeDay:
    """Energies of all arms under the conditions of one day. See `forecasts.learned.Day`.

    Parameters
    ----------
    model
        Posterior of the energy of the arms.
    space
        The a arms, under the conditions of the day.
    vehicle
        Auxiliary power, and the charge above which recuperation fades.
    errors
        Errors of past trips, from which the width of the intervals follows.
    pace
        Pace of the edges.
    """

    model: EnergyModel
    space: SearchSpace
    vehicle: Vehicle
    errors: PastErrors
    pace: Pace

    @property
    def time_s(self) -> FloatArray:
        """(n,) usual travel time of each edge, s: learned, or the network's if not measured."""
        edges = self.space.edges
        if not self.pace.trips:
            return edges.network.time_s
        return self.pace.times(np.arange(edges.size), edges.conditions.departed_s)

    @property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each arm, Wh. Heating or cooling runs for the learned minutes."""
        edges = self.space.edges
        added_w = edges.conditions.load(self.vehicle).auxiliary_w - self.vehicle.auxiliary_w
        added_wh = (
            added_w * (self.time_s / edges.conditions.speed_factor - self.space.time_s) / J_PER_WH
        )
        return mean_of(self.model, self.space.reference) + added_wh[self.space.states.edge]

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement of each arm, Wh."""
        return self.model.noise_std(self.space.reference)

    @property
    def full_battery_fade(self) -> float:
        """Share of recuperation lost per 10 % of charge above the charge of a full battery."""
        return self.vehicle.full_battery_fade

    @property
    def undated(self) -> bool:
        """False: energies of edges do not drift."""
        return False

    @property
    def battery_share(self) -> float:
        """0: the size of the battery is not learned."""
        return 0.0

    @property
    def heating_wh(self) -> FloatArray:
        """(3,) zeros: the learned energies of the edges include the warm-up."""
        return np.zeros(3)

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every arm, noise left out, (a,) Wh."""
        return self.model.posterior(self.space.reference)

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) energy of the arms by physics, Wh."""
        return self.space.whole_wh

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the energy by physics of arms of whose edges a part is driven, (k,) Wh.

        Parameters
        ----------
        arms, stretches
            (k,) arms, and the part of each arm's edge.
        """
        return self.space.stretch_wh(arms, stretches)

    @property
    def halt_wh(self) -> FloatArray:
        """(n,) energy by physics of coming to a standstill at the end of each edge, Wh."""
        return self.space.halt_wh

    def _share(self, stretches: Stretches) -> FloatArray:
        return stretches.share(self.space.edges.network)

    def forecast(
        self,
        arms_of_route: IntArray,
        energy_wh: FloatArray,
        expected: ChargeTrace | None = None,
        stretches: Stretches | None = None,
    ) -> RouteForecast:
        """Forecast one trip over arms (k,) around its expected energies, for any charge.

        Parameters
        ----------
        arms_of_route, energy_wh, stretches
            As in `Day.forecast`.
        expected
            Charge along the trip, which does not matter here.
        """
        share = None if stretches is None else self._share(stretches)
        return (
            forecast(self.model, self.space.reference, arms_of_route, share)
            .inflated(self.errors.inflation)
            .around(energy_wh)
        )

    def forecast_in_turn(
        self, days: Sequence["EdgeDay"], trips: Sequence[DrivenTrip]
    ) -> RouteForecast:
        """Forecast the energy of trips of one car that follow each other.

        Parameters
        ----------
        days, trips
            As in `ForecastsInTurn.forecast_in_turn`.
        """
        shares = [
            np.ones(len(trip.arms)) if trip.stretches is None else self._share(trip.stretches)
            for trip in trips
        ]
        arms = np.concatenate([trip.arms for trip in trips])
        return (
            forecast(self.model, self.space.reference, arms, np.concatenate(shares))
            .inflated(self.errors.inflation)
            .around(np.concatenate([trip.energy_wh for trip in trips]))
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
        shares = None
        if stretches is not None:
            shares = (self._share(stretches[0]), self._share(stretches[1]))
        return difference_std_wh(self.model, self.space.reference, arms_of_route, others, shares)

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
        arms, before, stretches
            As in `Day.reached_std_wh`.
        charge_wh
            Charge at the start of each arm, which does not matter here.
        """
        routes = [way(before, position) for position in range(len(arms))]
        share = np.ones(len(arms)) if stretches is None else self._share(stretches)
        reference = self.space.reference
        return self.errors.inflation * np.array(
            [forecast(self.model, reference, arms[route], share[route]).std_wh for route in routes]
        )
