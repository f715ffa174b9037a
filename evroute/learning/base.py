"""Belief: learned energies of one vehicle on one network, for every unit of evidence.

A belief expects each trip before it is driven, learns it after it ended, and gives the energies of
a day to plans. Its siblings differ in the evidence that they learn from: `LearnedBelief` learns the
edges of a trip, `TripEnergies` its total. All that does not depend on the evidence is written here.
A sibling is one file with a class that has the abstract members, and one line in
`learning.belief.KINDS`. ``tests/contract/test_beliefs.py`` tests it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pyarrow as pa

from evroute.arms import Belief as Marginals
from evroute.arrays import FloatArray, flat, part_of
from evroute.display import drawn_by
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.learning.battery_size import BatterySize
from evroute.learning.change import learn_ended
from evroute.learning.fleet.car_shares import Share
from evroute.learning.fleet.names import check_car
from evroute.learning.intervals import TripPrediction
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.trip_record import Terms
from evroute.learning.stored import Stored, check_subject, check_vehicle, restoring, subject, write
from evroute.methods.setting import Setting
from evroute.model.base import State
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import Day, LearnedEnergies
from evroute.planning.forecasts.pace import Pace


class Part(Protocol):
    """A learned part of a belief."""

    def state(self) -> State:
        """Return all learned numbers as arrays."""

    def restore(self, state: State) -> None:
        """Take over a state."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Energy and time of a trip as they were expected before it was driven.

    Parameters
    ----------
    energy
        Prediction of the trip's energy.
    time
        Moments and intervals of its travel time by name, s. Empty if the belief expects none.
    row
        (p,) terms of the trip at its departure. Empty for a belief without terms.
    """

    energy: TripPrediction
    time: Mapping[str, float] = field(default_factory=dict)
    row: FloatArray = field(default_factory=lambda: np.empty(0))

    def columns(self) -> dict[str, float]:
        """Return the expectation by names of columns of ``trips.parquet``."""
        numbers = {**self.energy.measures("wh"), **self.time}
        return {
            name.replace("mean", "predicted").replace("sd", "predicted_sd"): number
            for name, number in numbers.items()
        }


class Belief(LearnedEnergies, Protocol):
    """Learned energies of one vehicle on one network.

    Attributes
    ----------
    setting
        Network, vehicle and prior.
    source
        File of the belief, for messages.
    battery
        Learned size of the battery. Without trips in a belief that does not learn it.
    """

    travels: ClassVar[bool] = False
    """Whether it may be taken to another network, with all that does not depend on roads."""
    of_fleets: ClassVar[bool] = False
    """Whether it distinguishes the cars of a fleet."""
    options: ClassVar[tuple[str, ...]] = ()
    """Options that `of_method` takes beside the name of the model."""
    setting: Setting
    source: str
    battery: BatterySize = BatterySize()
    _departing: tuple[MeasuredTrip, Expected] | None = None

    _repr_html_: ClassVar[Callable[[Any], str | None]] = drawn_by("belief_html")

    @classmethod
    @abstractmethod
    def of_method(cls, method: Mapping[str, Any], setting: Setting) -> Self:
        """Return the belief before any trip.

        Parameters
        ----------
        method
            Model and options, as `method_table` returns them.
        setting
            Network, vehicle and prior, over the edges.
        """

    @property
    @abstractmethod
    def method_table(self) -> dict[str, Any]:
        """Model and options by name, as files and manifests hold them."""

    @property
    @abstractmethod
    def trips(self) -> int:
        """Number of trips that came, refused ones included."""

    @property
    @abstractmethod
    def pace(self) -> Pace:
        """Pace of the edges, from the travel times of its trips."""

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Part]:
        """Learned parts by the names of their arrays in a file."""

    @property
    @abstractmethod
    def changed(self) -> bool:
        """Whether the errors of the trips became larger, by the test of `learning.change`."""

    @abstractmethod
    def expect(self, trip: MeasuredTrip) -> Expected:
        """Return the expectation of a trip by the trips learned so far."""

    @abstractmethod
    def take(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn a trip, its times, and the error of its expectation."""

    @abstractmethod
    def restart(self) -> None:
        """Learn anew all that a change of roads makes void. The rest stays."""

    @abstractmethod
    def under(self, conditions: DrivingConditions) -> Day:
        """Return the energies on a day with these conditions. Learned deviations are kept."""

    def __repr__(self) -> str:
        """Return kind, vehicle and network in one line."""
        return f"belief {self.label} {subject(self.setting)}"

    @property
    @abstractmethod
    def label(self) -> str:
        """Kind of the belief in words."""

    @property
    def cars(self) -> tuple[str, ...]:
        """Names of the cars of a fleet, or empty for one car without a name."""
        return ()

    def of_car(self, car: str) -> Self:
        """Return the belief of one car of a fleet, to plan with. The fleet goes on learning.

        Parameters
        ----------
        car
            Name of the car.

        Raises
        ------
        UnknownNameError
            If the belief does not know the car. The message has similar names.
        """
        check_car(self.source, self.cars, car)
        return self

    def car_shares(self) -> dict[str, Share]:
        """Return the energy of each car of a fleet beyond that of its type, by name."""
        return {}

    @property
    def network(self) -> RoadNetwork:
        """The network of the belief."""
        return self.setting.network

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle of the belief."""
        return self.setting.vehicle

    @property
    def car(self) -> Vehicle:
        """The vehicle with the size of its battery as it was learned."""
        if not self.battery.trips:
            return self.vehicle
        return replace(self.vehicle, battery_kwh=self.battery.kwh(self.vehicle.battery_kwh))

    @property
    def minutes_from(self) -> str:
        """Source of the travel times: ``"trips"`` if any trip measured them, else ``"map"``."""
        return "trips" if self.pace.trips else "map"

    @property
    def edge_posterior(self) -> Marginals:
        """Posterior of every edge in free flow, noise left out, (n,) Wh.

        A belief about turns returns the mean over the turns into each edge.
        """
        day = self.under(EQ8_CONDITIONS)
        return day.space.edge_belief(day.posterior())

    @property
    def learns_totals(self) -> bool:
        """Whether it learns trips of which only the total energy was measured."""
        return False

    @property
    def block(self) -> int:
        """Number of trips that `learn_block` learns faster than one after the other. 1 if none."""
        return 1

    def expected(self, trip: MeasuredTrip) -> dict[str, float]:
        """Return the expectation of a trip before it is learned, by names of columns."""
        self._departing = trip, self.expect(trip)
        return self._departing[1].columns()

    def learn(self, trip: MeasuredTrip) -> None:
        """Learn a trip by its last expectation, then begin anew if a change is detected."""
        departing, self._departing = self._departing, None
        known = departing is not None and departing[0] is trip
        learn_ended(self, trip, departing[1] if departing and known else self.expect(trip))

    def learn_block(self, trips: Sequence[MeasuredTrip]) -> list[dict[str, float]]:
        """Learn trips in turn and return the expectation of each from the trips before it."""
        rows = []
        for trip in trips:
            rows.append(self.expected(trip))
            self.learn(trip)
        return rows

    def prepare(self) -> None:
        """Prepare a restored belief to learn on, which plans do not need."""
        return

    def terms_of(self, numbers: Sequence[int]) -> list[Terms]:
        """Return the terms of trips. Empty ones for a belief without terms.

        Parameters
        ----------
        numbers
            Numbers of trips in the order learned, from 0.
        """
        return [{} for _ in numbers]

    def findings(self, trips: pa.Table) -> list[str]:
        """Return the findings that only this kind of belief has, one sentence each.

        Parameters
        ----------
        trips
            Rows of ``trips.parquet``.
        """
        return []

    def anew(self) -> Self:
        """Return the belief of the same method and setting before any trip."""
        return self.of_method(self.method_table, self.setting)

    def state(self) -> State:
        """Return all that was learned, as arrays."""
        return flat(**{name: part.state() for name, part in self.parts.items()})

    def restore(self, state: State) -> None:
        """Take over a state of the same method and network. Later numbers are equal bit for bit."""
        for name, part in self.parts.items():
            part.restore(part_of(state, name))

    def save(self, path: Path) -> None:
        """Write the belief with its method, prior, network and vehicle. No pickle."""
        write(
            path,
            method=self.method_table,
            setting=self.setting,
            trips=self.trips,
            state=self.state(),
        )

    @classmethod
    def load(cls, stored: Stored, setting: Setting) -> Self:
        """Return the belief of a file.

        Parameters
        ----------
        stored
            The file as read.
        setting
            Network, vehicle and prior of the belief.

        Raises
        ------
        DamagedFileError
            If it does not hold the state of its method.
        """
        with restoring(stored):
            belief = cls.of_method(stored.about.method, setting)
            belief.restore(stored.state)
        belief.source = str(stored.path)
        return belief

    def take_over(self, stored: Stored) -> None:
        """Restore the state of a file. DamagedFileError if its method has another state."""
        with restoring(stored):
            self.restore(stored.state)

    def on(self, network: RoadNetwork, vehicle: Vehicle) -> "Belief":
        """Return the belief on a network: itself, or the part of the car taken to another one.

        Parameters
        ----------
        network, vehicle
            Network and vehicle of a plan.

        Raises
        ------
        EvrouteError
            If it is about another vehicle, or about the roads of another network alone.
        """
        if vehicle == self.car:
            vehicle = self.vehicle
        if not self.travels or network.digest == self.network.digest:
            self.check(network, vehicle)
            return self
        check_vehicle(self.source, self.setting, vehicle)
        moved = self.of_method(
            self.method_table, Setting(network, self.vehicle, self.setting.assumed)
        )
        moved.restore(self.state())
        moved.source = self.source
        return moved

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Check that the belief is about a network and a vehicle.

        Raises
        ------
        EvrouteError
            If it is about others. The message names both.
        """
        check_subject(self.source, self.setting, network, vehicle)


def learn_in_turn(belief: Belief, trips: Sequence[MeasuredTrip]) -> Iterator[dict[str, Any]]:
    """Learn trips and yield the expectation of each from the trips before it.

    Parameters
    ----------
    belief
        Belief that learns them.
    trips
        Trips in the order of departure.
    """
    done = len(trips) // belief.block * belief.block
    for start in range(0, done, belief.block):
        yield from belief.learn_block(trips[start : start + belief.block])
    for trip in trips[done:]:
        row = belief.expected(trip)
        belief.learn(trip)
        yield row
