"""Agent: the two halves of Algorithm 1 that a live service calls, ask and tell.

Source: Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian
Process Bandits*, Algorithms 1 and 2. Weights are formed once, here, for every index. No index,
model or search knows of the others.
"""

from numpy.random import Generator

from evroute.arms import Feedback, Round, Route
from evroute.arrays import IntArray
from evroute.model.base import Anticipates, EnergyModel, HasJoint
from evroute.planning.forecasts.forecast import RouteForecast, forecast, means, predict
from evroute.planning.spaces.arm_space import ArmSpace
from evroute.planning.spaces.corridor import Corridor
from evroute.planning.weights import WeightRule
from evroute.policy.base import Index
from evroute.policy.guard import Guard


class Agent:
    """A learner that picks routes: a model, an index over it, and the rule of its search weights.

    Parameters
    ----------
    model, index
        Belief about the arms, and the index over it.
    weight_rule
        Rule that forms the weights of the search, one of `WEIGHT_RULES`.
    space
        The arms of the model. In a `Corridor` routes are searched, and forecast everywhere.
    rng
        Source of the draws of the index.
    guard
        Loss budget, or None for none.
    restarts
        Whether a detected change of the forecast errors restarts the learner.

    Raises
    ------
    TypeError
        If the model lacks what the index needs.
    """

    def __init__(
        self,
        *,
        model: EnergyModel,
        index: Index,
        weight_rule: WeightRule,
        space: ArmSpace,
        rng: Generator,
        guard: Guard | None = None,
        restarts: bool = False,
    ) -> None:
        if missing := lacking(type(model), index.needs):
            raise TypeError(
                f"{type(index).__name__} needs a model that is {index.needs.__name__}. "
                f"{type(model).__name__} has no {', '.join(missing)}"
            )
        self.model = model
        self.index = index
        self.weight_rule = weight_rule
        self.space = space
        self._everywhere = space.everywhere if isinstance(space, Corridor) else space
        self.rng = rng
        self.guard = guard
        self._first = (model.state(), space.state()) if restarts else None
        self._restarts = 0

    def ask(self, request: Round) -> Route:
        """Choose the route of a round.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        route = self.propose(request)
        if self.guard:
            arms = self._everywhere.arms(request)
            route = self.guard.choose(
                request, route, lambda each: means(self.model, arms, self._passed(request, each))
            )
        if isinstance(self.model, Anticipates):
            self.model.anticipate(self._everywhere.arms(request).take(self._passed(request, route)))
        return route

    def propose(self, request: Round) -> Route:
        """Return the route that the learner prefers, before the guard.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        arms = self.space.arms(request)
        weights = self.weight_rule(
            self.index(request.t, arms, self.model, self.rng),
            self.model.noise_std(arms),
            self.space.potential_wh(request),
        )
        return self.space.route(weights, request)

    def predict(self, request: Round, route: Route) -> tuple[float, float]:
        """Return mean and standard deviation of the energy that a route measures, Wh.

        The deviation holds belief and noise. It is NaN if the model has no joint posterior.
        """
        return predict(self.model, self._everywhere.arms(request), self._passed(request, route))

    def forecast(self, request: Round, route: Route) -> RouteForecast | None:
        """Forecast the energy of a route, or None if the model has no joint posterior."""
        if not isinstance(self.model, HasJoint):
            return None
        return forecast(self.model, self._everywhere.arms(request), self._passed(request, route))

    def _passed(self, request: Round, route: Route) -> IntArray:
        """Return the positions (k,) of the arms of a route among the arms of its round."""
        return self._everywhere.arms(request).rows_of(self._everywhere.arms_of_route(route))

    def tell(self, feedback: Feedback) -> None:
        """Learn the measurements of a trip (Algorithm 1, line 6)."""
        if self.guard:
            self.guard.update(feedback)
        self.model.update(self.space.feedback(feedback))

    @property
    def restarts(self) -> bool:
        """Whether a detected change of the forecast errors restarts the learner."""
        return self._first is not None

    def restart(self) -> None:
        """Return to the start, if the agent restarts.

        Deviations and speeds of roads, and the licence of the guard, are learned anew. Its ledger
        stays.
        """
        if self._first is None:
            return
        self.model.restore(self._first[0])
        self.space.restore(self._first[1])
        if self.guard:
            self.guard.forget()
        self._restarts += 1

    def diagnostics(self) -> dict[str, float]:
        """Return ``restarts``, their number so far. Empty if the agent does not restart."""
        return {"restarts": float(self._restarts)} if self._first else {}


def lacking(model: type, needs: type) -> list[str]:
    """List the methods of the protocol ``needs`` that a class of models does not have."""
    return sorted(
        name for name in dir(needs) if not name.startswith("_") and not hasattr(model, name)
    )
