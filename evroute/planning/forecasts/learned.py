"""Learned energies as a planner uses them.

These protocols are met by the beliefs of `evroute.learning`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray
from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import ChargeTrace
from evroute.planning.forecasts.forecast import EnergyForecast
from evroute.planning.spaces.arm_space import SearchSpace


class Day(Protocol):
    """Learned energies under the conditions of one day."""

    @property
    def space(self) -> SearchSpace:
        """The arms."""

    @property
    def time_s(self) -> FloatArray:
        """(n,) usual travel time of each edge at the departure of the day, s."""

    @property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each arm, Wh."""

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""

    @property
    def full_battery_fade(self) -> float:
        """Share of regeneration lost per 10 % of charge above the charge of a full battery."""

    @property
    def undated(self) -> bool:
        """Whether the date of a trip counts for nothing, as the trips learned have none."""

    @property
    def battery_share(self) -> float:
        """Deviation of the size of the battery as a share of it, or 0 where it is not learned."""

    @property
    def halt_wh(self) -> FloatArray:
        """(n,) expected energy of coming to a standstill at the end of each edge, Wh."""

    @property
    def heating_wh(self) -> FloatArray:
        """(3,) coefficients of the terms of `energy.heating`, Wh.

        All are 0 where the energies of the arms include them.
        """

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every arm, noise left out, (a,) Wh."""

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) energy of the arms with whole edges, as of `stretch_wh`, Wh."""

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the energy of arms of whose edges a part is driven, (k,) Wh.

        It leaves out the deviations that are learned for each arm, which count by the share that is
        driven.

        Parameters
        ----------
        arms
            (k,) arms.
        stretches
            The part of the edge of each that is driven.
        """

    def forecast(
        self,
        arms_of_route: IntArray,
        energy_wh: FloatArray,
        expected: ChargeTrace | None,
        stretches: Stretches | None = None,
    ) -> EnergyForecast:
        """Forecast a trip.

        Parameters
        ----------
        arms_of_route
            (k,) arms in driving order.
        energy_wh
            (k,) expected energies as they are searched and shown, Wh.
        expected
            Charge along the trip, None if unknown.
        stretches
            The part of the edge of each arm that is driven, or None for whole edges.
        """

    def difference_std_wh(
        self,
        arms_of_route: IntArray,
        others: IntArray,
        stretches: tuple[Stretches, Stretches] | None = None,
    ) -> float:
        """Return the deviation of the difference of the expected energies of two routes, Wh.

        The parts that they share cancel, and the noise of single trips is left out.

        Parameters
        ----------
        arms_of_route, others
            Arms of two routes between the same places, in driving order.
        stretches
            Parts of the edges of both that are driven, or None for whole edges.
        """

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
        arms
            (k,) arms, each after the one before it.
        before
            (k,) position of the arm before each. -1 where a trip begins.
        charge_wh
            (k,) expected charge at the start of each arm, Wh.
        stretches
            The part of the edge of each arm that is driven. None for whole edges. A standstill is
            the end of the trip to there, and other trips pass.
        """


class LearnedEnergies(Protocol):
    """The parts of a learned belief that a planner needs (`load_belief`)."""

    @property
    def note(self) -> str:
        """Origin of its intervals, in words. Empty if there is none."""

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle that it is about."""

    @property
    def car(self) -> Vehicle:
        """The vehicle with the size of its battery as it was learned."""

    @property
    def trips(self) -> int:
        """Number of trips that came. It rises with every trip that changes the belief."""

    @property
    def minutes_from(self) -> str:
        """Source of the travel times: ``"trips"`` or ``"map"``."""

    def of_car(self, car: str) -> "LearnedEnergies":
        """Return the belief of one car of a fleet. UnknownNameError if it does not know the car."""

    def on(self, network: RoadNetwork, vehicle: Vehicle) -> "LearnedEnergies":
        """Return it on a network. EvrouteError if it is about another network or vehicle."""

    def under(self, conditions: DrivingConditions) -> Day:
        """Return the energies on a day with these conditions."""


PhysicsBelief = Callable[[RoadNetwork, Vehicle, str], LearnedEnergies]
"""Makes the belief of physics and its uncertainty (`physics_belief`)."""


def note_of(belief: LearnedEnergies | None) -> str:
    """Return the origin of a belief's numbers in words, or empty without a belief."""
    return "" if belief is None else belief.note


def belief_of_car(belief: LearnedEnergies | None, car: str) -> LearnedEnergies:
    """Return the belief of one car of a fleet.

    Parameters
    ----------
    belief
        Belief of a plan, or None for physics.
    car
        Name of the car.

    Raises
    ------
    EvrouteError
        If there is no belief, or it does not know the car.
    """
    if belief is None:
        raise EvrouteError(f"a car needs the belief of its fleet, got car '{car}' and no belief")
    return belief.of_car(car)


def vehicle_of(
    vehicle: Vehicle | str | Path | None, belief: LearnedEnergies | None = None
) -> Vehicle:
    """Return the vehicle of a request.

    Parameters
    ----------
    vehicle
        A vehicle, its name, or a TOML file, or None for the belief's, or `defaults.VEHICLE`.
    belief
        The belief of the plan, if it has one.

    Raises
    ------
    UnknownNameError
        If there is no such vehicle.
    """
    if isinstance(vehicle, Vehicle):
        return vehicle
    if belief is not None and vehicle in (None, belief.vehicle.name):
        return belief.car
    return load_vehicle(vehicle or defaults.VEHICLE)
