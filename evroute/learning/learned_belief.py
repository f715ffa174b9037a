"""LearnedBelief: the learned energy of the roads for one vehicle, with its origin.

It is read once from its folder (`belief.load_belief`); planner, reports, dashboard and Python use
the same object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import default_rng

from evroute.arms import Arms, Belief, Round, Route
from evroute.arrays import FloatArray, IntArray, flat, part_of
from evroute.display import drawn_by
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import require
from evroute.learning.intervals import PastErrors
from evroute.learning.measured import MeasuredTrip
from evroute.learning.pace import Pace
from evroute.methods.method import Method, make_model, make_space
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, State, mean_of
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import ChargeTrace
from evroute.planning.charge.charge_tree import way
from evroute.planning.forecasts.forecast import RouteForecast, forecast, predict
from evroute.planning.spaces.arm_space import SearchSpace


@dataclass(frozen=True, slots=True, eq=False)
class LearnedBelief:
    """A model of the energy of the arms of a space, with its origin.

    Parameters
    ----------
    model
        Posterior of the energy of the arms.
    space
        The arms: edges or turns.
    method
        Model and options of the learner.
    setting
        Network, vehicle and prior.
    errors
        Errors of its past trips, from which the width of its intervals follows.
    trips
        Number of trips learned by `learn`; None for the belief of a simulation.
    pace
        Pace of the edges, from the travel times of its trips; None if none were recorded.
    source
        The file of the belief, for messages.
    """

    model: EnergyModel
    space: SearchSpace
    method: Method
    setting: Setting
    errors: PastErrors = field(default_factory=PastErrors)
    trips: int | None = None
    pace: Pace | None = None
    source: str = "this"

    _repr_html_ = drawn_by("belief_html")

    def __repr__(self) -> str:
        """Return method, vehicle and network in one line."""
        return f"belief {self.method.label} {subject(self.setting)}"

    @classmethod
    def before_trips(
        cls, method: Method, setting: Setting, options: Mapping[str, Any] | None = None
    ) -> "LearnedBelief":
        """Return the belief of a method before any trip.

        Parameters
        ----------
        method
            Model and options.
        setting
            Network, vehicle and prior, over the edges.
        options
            Values of options that override those of the method.
        """
        model = make_model(method, setting, default_rng(0), options or {})
        pace = Pace.of_network(setting.network)
        return cls(model, make_space(method, setting), method, setting, pace=pace)

    @property
    def network(self) -> RoadNetwork:
        """The network of the belief."""
        return self.setting.network

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle of the belief."""
        return self.setting.vehicle

    @property
    def time_s(self) -> FloatArray:
        """(n,) usual travel time of each edge, s: learned, or the network's if not measured."""
        if self.pace is None or not self.pace.trips:
            return self.network.time_s
        return self.pace.times(
            np.arange(self.network.n_edges), self.space.edges.conditions.departed_s
        )

    @property
    def minutes_from(self) -> str:
        """Source of the travel times: ``"trips"`` or ``"map"``."""
        return "trips" if self.pace is not None and self.pace.trips else "map"

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts, from the errors of past trips."""
        return self.errors.inflation

    @property
    def edge_posterior(self) -> Belief:
        """Posterior of every edge in free flow, (n,) Wh; of turns, the mean over those into it."""
        return self.space.edge_belief(self.model.posterior(self.space.reference))

    def route_arms(self, route: Route, departed_s: float = 0.0) -> tuple[Arms, IntArray]:
        """Return all arms in free flow, and the positions (k,) of a route's arms among them."""
        edges = self.space.edges.reference
        arms = self.space.arms(
            Round(1, edges, route.edges[0], route.edges[-1], departed_s=departed_s)
        )
        return arms, arms.rows_of(self.space.arms_of_route(route))

    @property
    def mean_wh(self) -> FloatArray:
        """(a,) expected energy of each arm, Wh; heating or cooling runs for the learned minutes."""
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
    def note(self) -> str:
        """Width of the intervals by past trips, in words; empty if there are none."""
        n = self.errors.trips
        return (
            f"intervals scaled by {self.inflation:.2f} (errors of {n} trip{'s' * (n > 1)})"
            if n
            else ""
        )

    @property
    def full_battery_fade(self) -> float:
        """Share of recuperation lost per 10 % of charge above that of a full battery."""
        return self.vehicle.full_battery_fade

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every arm, noise left out, (a,) Wh."""
        return self.model.posterior(self.space.reference)

    def under(self, conditions: DrivingConditions) -> "LearnedBelief":
        """Return the belief on a day with these conditions; learned deviations are kept."""
        return replace(self, space=self.space.under(conditions))

    def forecast(
        self, arms_of_route: IntArray, energy_wh: FloatArray, expected: ChargeTrace | None = None
    ) -> RouteForecast:
        """Forecast one trip over arms (k,) around its expected energies, for any charge.

        Parameters
        ----------
        arms_of_route
            (k,) arms in driving order.
        energy_wh
            (k,) expected energies as they are searched and shown, Wh.
        expected
            Charge along the trip, which does not matter here.
        """
        return (
            forecast(self.model, self.space.reference, arms_of_route)
            .inflated(self.inflation)
            .around(energy_wh)
        )

    def reached_std_wh(self, arms: IntArray, before: IntArray, charge_wh: FloatArray) -> FloatArray:
        """Return the deviation of the energy up to the end of each arm of a tree, (k,) Wh.

        Parameters
        ----------
        arms, before
            (k,) arms, and the position of the arm before each; -1 where a trip begins.
        charge_wh
            Charge at the start of each, which does not matter here.
        """
        routes = [arms[way(before, position)] for position in range(len(arms))]
        reference = self.space.reference
        return self.inflation * np.array(
            [forecast(self.model, reference, route).std_wh for route in routes]
        )

    def expected(self, trip: MeasuredTrip) -> dict[str, float]:
        """Return the prediction of a trip before it is learned, by names of columns."""
        route = Route(tuple(trip.edge.tolist()))
        return self.prediction(*predict(self.model, *self.route_arms(route, trip.departed_s)))

    def prediction(self, mean_wh: float, sd_wh: float) -> dict[str, float]:
        """Return a prediction with its intervals by names of columns, Wh."""
        half50_wh, half90_wh = (self.errors.spread.quantile(level) * sd_wh for level in (0.5, 0.9))
        return {
            "predicted_wh": mean_wh,
            "predicted_sd_wh": sd_wh,
            "low50_wh": mean_wh - half50_wh,
            "high50_wh": mean_wh + half50_wh,
            "low90_wh": mean_wh - half90_wh,
            "high90_wh": mean_wh + half90_wh,
        }

    def learn(self, trip: MeasuredTrip, expected: Mapping[str, Any]) -> None:
        """Learn a trip.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Its prediction, with ``predicted_wh`` and ``predicted_sd_wh``.
        """
        self.learn_around(trip, expected)
        self.model.update(self.space.feedback(trip.feedback(self.setting)))

    def learn_around(self, trip: MeasuredTrip, expected: Mapping[str, Any]) -> None:
        """Learn the error of the prediction of a trip and its travel times, not its energies."""
        off_wh = float(trip.energy_wh.sum()) - float(expected["predicted_wh"])
        self.errors.add(off_wh, float(expected["predicted_sd_wh"]))
        if self.pace is not None:
            self.pace.learn(trip.edge, trip.travel_s, trip.clock_s)

    def state(self) -> State:
        """Return the learned state of model and space, and of errors and pace."""
        own = flat(errors=self.errors.state(), pace={} if self.pace is None else self.pace.state())
        return self.model.state() | self.space.state() | own

    def restore(self, state: State) -> None:
        """Restore a state of the same method."""
        self.errors.restore(part_of(state, "errors"))
        if self.pace is not None and (pace := part_of(state, "pace")):
            self.pace.restore(pace)
        self.space.restore(state)
        of_space = self.space.state()
        self.model.restore(
            {name: a for name, a in state.items() if "/" not in name and name not in of_space}
        )

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Check that the belief is about a network and a vehicle.

        Raises
        ------
        EvrouteError
            If it is about others; the message names both.
        """
        check_subject(self.source, self.setting, network, vehicle)


def subject(setting: Setting) -> str:
    """Return vehicle and network of a belief in words."""
    return f"by vehicle '{setting.vehicle.name}' on network '{setting.network.name}'"


def check_subject(source: str, setting: Setting, network: RoadNetwork, vehicle: Vehicle) -> None:
    """Check that a belief is about a network and a vehicle.

    Parameters
    ----------
    source
        The file of the belief, for the message.
    setting
        Network and vehicle that the belief is about.
    network, vehicle
        Network and vehicle at hand.

    Raises
    ------
    EvrouteError
        If it is about others; the message names both.
    """
    check_roads(source, setting.network.name, setting.network.digest, network)
    same = setting.vehicle.name == vehicle.name
    require(
        numbers_of(setting.vehicle) == numbers_of(vehicle),
        f"{source} is a belief about vehicle '{setting.vehicle.name}', not about '{vehicle.name}'"
        + (" with these numbers" if same else f"; give --vehicle {setting.vehicle.name}"),
    )


def check_roads(source: str, name: str, digest: str, network: RoadNetwork) -> None:
    """Check that a belief is about the roads of a network.

    Parameters
    ----------
    source
        The file of the belief, for the message.
    name, digest
        Name and digest of the network that the belief is about.
    network
        The network at hand.

    Raises
    ------
    EvrouteError
        If the digests differ; the message names both networks.
    """
    require(
        digest == network.digest,
        f"{source} is a belief about network '{name}' ({digest[:12]}), "
        f"not about '{network.name}' ({network.digest[:12]})",
    )
