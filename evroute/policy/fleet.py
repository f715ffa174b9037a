"""Fleet: several vehicles with an agent each, behind the interface of one agent.

Agents share a belief if their models do (``model.fleet_view``).
"""

from collections.abc import Mapping

from evroute.arms import Feedback, Round, Route
from evroute.model.base import EnergyModel
from evroute.planning.arm_space import ArmSpace
from evroute.planning.forecast import RouteForecast
from evroute.policy.agent import Agent
from evroute.policy.base import Index
from evroute.policy.guard import Guarded


class Fleet:
    """Agents by vehicle name; properties are those of the vehicle asked last."""

    def __init__(self, agents: Mapping[str, Agent | Guarded]) -> None:
        self.agents = dict(agents)
        self._last = next(iter(self.agents))

    @property
    def model(self) -> EnergyModel:
        """Model of the vehicle asked last."""
        return self.agents[self._last].model

    @property
    def index(self) -> Index:
        """Index of the vehicle asked last."""
        return self.agents[self._last].index

    @property
    def space(self) -> ArmSpace:
        """Arm space of the vehicle asked last."""
        return self.agents[self._last].space

    def ask(self, request: Round) -> Route:
        """Choose the route of a round for its vehicle.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        self._last = request.vehicle
        return self.agents[request.vehicle].ask(request)

    def predict(self, request: Round, route: Route) -> tuple[float, float]:
        """Return mean and standard deviation of a route's energy for its vehicle, Wh."""
        return self.agents[request.vehicle].predict(request, route)

    def forecast(self, request: Round, route: Route) -> RouteForecast | None:
        """Forecast the energy of a route for its vehicle; None without a joint posterior."""
        return self.agents[request.vehicle].forecast(request, route)

    def tell(self, feedback: Feedback) -> None:
        """Update the agent of the vehicle that drove."""
        self.agents[feedback.vehicle].tell(feedback)

    def diagnostics(self) -> dict[str, float]:
        """Return the diagnostics of the vehicle asked last; empty if it has none."""
        agent = self.agents[self._last]
        return agent.diagnostics() if isinstance(agent, Guarded) else {}
