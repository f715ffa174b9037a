"""PlannedDay: all that a planner derives for one day from physics, or from a belief as it is now.

A planner replaces it as a whole after its belief has learned a trip, so nothing of the earlier one
is left. What depends on no trip is shared (`spaces.of_physics`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

from evroute.arrays import FloatArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EnergyPrior
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.profile import same_profile
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.day_searches import DaySearches
from evroute.planning.forecasts.day_forecasts import DayForecasts, day_of_forecasts
from evroute.planning.forecasts.heating import DayHeating
from evroute.planning.forecasts.learned import Day, LearnedEnergies
from evroute.planning.route_numbers import RouteNumbers
from evroute.planning.searches.least_energies import LeastEnergies
from evroute.planning.searches.search import Search, shared_search
from evroute.planning.spaces.arm_numbers import ArmNumbers
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.arm_states import ArmStates
from evroute.planning.spaces.day_energies import DayEnergies
from evroute.planning.spaces.of_physics import space_of_physics


class PlannedDay:
    """Arms, energies and searches of one day.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    belief
        Learned energies on the network, or None for physics.
    conditions
        Conditions of the day.
    physics
        Physics of plans without a belief.
    uncertainty
        Function that returns a belief for forecasts in place of ``belief``, or None if there is
        none.
    single
        Whether only one plan is made, as in `Planner`.

    Attributes
    ----------
    network
        The roads, with the profile of the belief.
    vehicle
        The car, with the size of its battery as it was learned.
    learned, space
        Energies by the belief, None without one, and the arms.
    heating
        Heating and cooling.
    time_s
        (n,) travel time of each edge, s.
    energies
        Expected energies of the arms.
    search
        The search over the arms.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        belief: LearnedEnergies | None,
        conditions: DrivingConditions,
        physics: str,
        uncertainty: Callable[[], LearnedEnergies | None],
        *,
        single: bool,
    ) -> None:
        self.network, self.vehicle = network, vehicle
        self.learned: Day | None = None
        self.space: SearchSpace
        if belief is None:
            self.space, usual_s = space_of_physics(network, vehicle, conditions, physics)
        else:
            self.learned = belief.under(conditions)
            self.space = self.learned.space
            if not same_profile(network, self.space.edges.network):
                self.network = self.space.edges.network
            self.vehicle, usual_s = belief.car, self.learned.time_s
        self._believed, self._uncertainty = belief is not None, uncertainty
        self._conditions = conditions
        self.heating = DayHeating.of(vehicle, conditions, self.learned)
        self.time_s: FloatArray = usual_s / conditions.speed_factor
        self.energies = DayEnergies(self.space, self.learned)
        turns = self.space is not self.space.edges
        self.search = shared_search(network, turns=turns, single=single)

    @cached_property
    def numbers(self) -> ArmNumbers:
        """Expected energy, time and charge of all arms."""
        return self.energies.numbers(self.network, self.time_s, self.heating.warm_up)

    @cached_property
    def searches(self) -> DaySearches:
        """The search problems of requests."""
        return DaySearches(self.numbers, self.search)

    @cached_property
    def least_energies(self) -> LeastEnergies:
        """Least energies of many requests at once."""
        return LeastEnergies(self.numbers, self.search)

    @cached_property
    def forecasts(self) -> DayForecasts:
        """Forecasts by the belief, or by the uncertainty. EvrouteError if there is neither."""
        day = day_of_forecasts(self.uncertain, self.space)
        return DayForecasts(day, self.numbers, partial(_fading, self.vehicle, self.learned))

    @cached_property
    def uncertain(self) -> Day | None:
        """Energies with their deviations, by the uncertainty or by the belief, None without one."""
        uncertainty = self._uncertainty()
        return self.learned if uncertainty is None else uncertainty.under(self._conditions)

    @cached_property
    def of_routes(self) -> RouteNumbers:
        """Numbers of routes."""
        auxiliary_w = self.space.edges.conditions.load(self.vehicle).auxiliary_w
        return RouteNumbers(self.numbers, auxiliary_w if self._believed else None)

    def fading(self, battery: Battery) -> Battery:
        """Return a battery with the fade of regeneration of the vehicle, or as it was learned."""
        return _fading(self.vehicle, self.learned, battery)


def _fading(vehicle: Vehicle, learned: Day | None, battery: Battery) -> Battery:
    """Return a battery with the fade of a vehicle, or of a belief."""
    fade = (vehicle if learned is None else learned).full_battery_fade
    return replace(battery, full_percent=vehicle.full_battery_percent, fade=fade)


class SeesDay:
    """The numbers of a planner that depend on its day."""

    @property
    def day(self) -> PlannedDay:
        """Arms, energies and searches of the day."""
        raise NotImplementedError

    @property
    def network(self) -> RoadNetwork:
        """The roads, with the profile of the belief."""
        return self.day.network

    @property
    def vehicle(self) -> Vehicle:
        """The car, with the size of its battery as it was learned."""
        return self.day.vehicle

    @property
    def learned(self) -> Day | None:
        """Energies of the day by the belief, or None without one."""
        return self.day.learned

    @property
    def space(self) -> SearchSpace:
        """The arms."""
        return self.day.space

    @property
    def search(self) -> Search:
        """The search over the arms."""
        return self.day.search

    @property
    def heating(self) -> DayHeating:
        """Heating and cooling of the day."""
        return self.day.heating

    @property
    def time_s(self) -> FloatArray:
        """(n,) travel time of each edge, s."""
        return self.day.time_s

    @property
    def prior(self) -> EnergyPrior:
        """Prior of the arms."""
        return self.day.energies.prior

    @property
    def states(self) -> ArmStates:
        """States between the arms, with their potentials."""
        return self.day.energies.states

    @property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each arm, Wh."""
        return self.day.energies.mean_wh

    @property
    def forecasts(self) -> DayForecasts:
        """Forecasts by the belief, or by the uncertainty. EvrouteError if there is neither."""
        return self.day.forecasts

    @property
    def searches(self) -> DaySearches:
        """The search problems of requests."""
        return self.day.searches

    @property
    def numbers(self) -> ArmNumbers:
        """Expected energy, time and charge of all arms."""
        return self.day.numbers

    @property
    def charge(self) -> ChargeFunctions:
        """Charge functions of all arms."""
        return self.day.energies.charge

    @property
    def least_energies(self) -> LeastEnergies:
        """Least energies of many requests at once."""
        return self.day.least_energies

    def fading(self, battery: Battery) -> Battery:
        """Return a battery with the fade of regeneration of the vehicle, or as it was learned."""
        return self.day.fading(battery)
