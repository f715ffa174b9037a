"""LearnedBelief: the learned energy of the roads for one vehicle, with its origin.

It is read once from its folder (`belief.load_belief`); planner, reports, dashboard and Python use
the same object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import EvrouteError
from evroute.learning.pace import Pace
from evroute.methods.method import Method, make_model, make_space
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, State
from evroute.network.road_network import RoadNetwork
from evroute.planning.arm_space import SearchSpace
from evroute.policy.conformal import AdaptiveConformal


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
    conformal
        Width of its intervals, from the errors of its past trips.
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
    conformal: AdaptiveConformal = field(default_factory=AdaptiveConformal)
    trips: int | None = None
    pace: Pace | None = None
    source: str = "this"

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
            Arguments of the model that override those of the method.
        """
        # a plan draws few edges at once, so that it needs no factor of the prior of all
        made = {"prior_factor": None, "rng": default_rng(0)} | dict(options or {})
        model, space = make_model(method, setting, made), make_space(method, setting)
        return cls(model, space, method, setting, pace=Pace.of_network(setting.network))

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
        """(n,) expected travel time of each edge, s: learned, or the network's if not measured."""
        pace = self.pace
        return self.network.time_s if pace is None or not pace.trips else pace.time_s

    @property
    def minutes_from(self) -> str:
        """Source of the travel times: ``"trips"`` or ``"map"``."""
        return "trips" if self.pace is not None and self.pace.trips else "map"

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts, from the errors of past trips."""
        return self.conformal.inflation

    @property
    def edge_posterior(self) -> Belief:
        """Posterior of every edge in free flow, (n,) Wh; of turns, the mean over those into it."""
        return self.space.edge_belief(self.model.posterior(self.space.reference))

    def passed(self, route: Route) -> tuple[Arms, IntArray]:
        """Return all arms in free flow, and the positions (k,) of a route's arms among them."""
        edges = self.space.edges.reference
        arms = self.space.arms(Round(1, edges, route.edges[0], route.edges[-1]))
        return arms, arms.rows_of(self.space.arms_of_route(route))

    def update(self, feedback: Feedback) -> None:
        """Learn energies and travel times from the feedback of one trip on edges."""
        if self.pace is not None:
            self.pace.learn(feedback.id, feedback.travel_s)
        self.model.update(self.space.feedback(feedback))

    def state(self) -> State:
        """Return the learned state of model and space."""
        return self.model.state() | self.space.state()

    def restore(self, state: State) -> None:
        """Restore a state of the same method."""
        of_space = self.space.state()
        self.space.restore(state)
        self.model.restore({name: part for name, part in state.items() if name not in of_space})

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Check that the belief is about a network and a vehicle.

        Raises
        ------
        EvrouteError
            If it is about others; the message names both.
        """
        check_roads(self.source, self.network.name, self.network.digest, network)
        if numbers_of(self.vehicle) != numbers_of(vehicle):
            same = self.vehicle.name == vehicle.name
            advice = " with these numbers" if same else "; name it with --vehicle"
            raise EvrouteError(
                f"{self.source} is a belief about vehicle '{self.vehicle.name}', "
                f"not about '{vehicle.name}'{advice}"
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
    if digest != network.digest:
        raise EvrouteError(
            f"{source} is a belief about network '{name}' ({digest[:12]}), "
            f"not about '{network.name}' ({network.digest[:12]})"
        )
