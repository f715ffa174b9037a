"""LearnedBelief: the knowledge that trips have left about the roads for one vehicle.

It is read once from its folder (`belief.load_belief`); planner, reports, dashboard and Python hold
the same object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.random import default_rng

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.arrays import IntArray
from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import EvrouteError
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
        Model and options by which it was learned.
    setting
        Network, vehicle and prior.
    conformal
        Width of its intervals, from the errors of its past trips.
    trips
        Number of trips learned by `learn`; None for the belief of a simulation.
    source
        The file that it was read from, for messages.
    """

    model: EnergyModel
    space: SearchSpace
    method: Method
    setting: Setting
    conformal: AdaptiveConformal = field(default_factory=AdaptiveConformal)
    trips: int | None = None
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
            Arguments of the model that go before those of the method.
        """
        # a plan draws few edges at once, so that it needs no factor of the prior of all
        made = {"prior_factor": None, "rng": default_rng(0)} | dict(options or {})
        return cls(make_model(method, setting, made), make_space(method, setting), method, setting)

    @property
    def network(self) -> RoadNetwork:
        """The network that it is about."""
        return self.setting.network

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle that it is about."""
        return self.setting.vehicle

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts that its past trips call for."""
        return self.conformal.inflation

    @property
    def edge_posterior(self) -> Belief:
        """Posterior of every edge in free flow, (n,) Wh; of turns, the mean over those into it."""
        return self.space.edge_belief(self.model.posterior(self.space.reference))

    def passed(self, route: Route) -> tuple[Arms, IntArray]:
        """Return all arms in free flow, and the positions (k,) among them that a route passes."""
        edges = self.space.edges.reference
        arms = self.space.arms(Round(1, edges, route.edges[0], route.edges[-1]))
        return arms, arms.rows_of(self.space.arms_of_route(route))

    def update(self, feedback: Feedback) -> None:
        """Learn from the feedback of one trip on edges."""
        self.model.update(self.space.feedback(feedback))

    def state(self) -> State:
        """Return all that model and space have learned."""
        return self.model.state() | self.space.state()

    def restore(self, state: State) -> None:
        """Take over a state of the same method."""
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
