"""Agent: the two halves of Algorithm 1 that a live service calls, ask and tell.

Source: Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian
Process Bandits*, Algorithms 1 and 2. Weights are formed once, here, for every index; no index,
model or search knows of the others.
"""

import numpy as np
from numpy.random import Generator

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.model.base import Anticipates, EnergyModel, HasJoint
from evroute.planning.arm_space import ArmSpace, EdgeArms
from evroute.planning.forecast import RouteForecast, forecast_arms
from evroute.planning.search import Search
from evroute.planning.weights import WeightRule
from evroute.policy.base import Index


class Agent:
    """A learner that picks routes: a model, an index over it, and a search with its rule of weights.

    potential_wh: (n,) ``m g dz`` of every edge of the network, Wh.  space: what the arms of the
    model are; the edges if none is given.

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
        search: Search,
        potential_wh: FloatArray,
        rng: Generator,
        space: ArmSpace | None = None,
    ) -> None:
        if missing := lacking(type(model), index.needs):
            raise TypeError(
                f"{type(index).__name__} needs a model that is {index.needs.__name__}; "
                f"{type(model).__name__} has no {', '.join(missing)}"
            )
        self.model = model
        self.index = index
        self.weight_rule = weight_rule
        self.search = search
        self.space = space or EdgeArms(search, potential_wh)
        self.rng = rng

    def ask(self, request: Round) -> Route:
        """Choose the route of a round.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        route = self.propose(request)
        self.announce(request, route)
        return route

    def propose(self, request: Round) -> Route:
        """Return the route that the learner wants; nothing is said yet of driving it.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        arms = self.space.arms(request)
        index_wh = self.index(request.t, arms, self.model, self.rng)
        weights = self.weight_rule(
            index_wh, self.model.noise_std(arms), self.space.potential_wh(request)
        )
        return self.space.route(weights, request)

    def announce(self, request: Round, route: Route) -> None:
        """Tell a model that anticipates which arms are about to be measured."""
        if isinstance(self.model, Anticipates):
            arms = self.space.arms(request)
            self.model.anticipate(arms.take(self.space.arms_of_route(request, route)))

    def predict(self, request: Round, route: Route) -> tuple[float, float]:
        """Return mean and standard deviation of what a route's energy would be measured to be, Wh.

        The deviation holds belief and noise; NaN where the model does not know how the energies of
        edges go together.
        """
        if (energy := self.forecast(request, route)) is not None:
            return energy.mean_wh, energy.std_wh
        arms, passed = self.space.arms(request), self.space.arms_of_route(request, route)
        distinct, place = np.unique(passed, return_inverse=True)
        mean_wh = self.model.posterior(arms.take(distinct)).mean_wh[place]
        return float(mean_wh.sum()), float("nan")

    def forecast(self, request: Round, route: Route) -> RouteForecast | None:
        """Forecast the energy of a route.

        Nothing where the model does not know how those of edges go together.
        """
        if not isinstance(self.model, HasJoint):
            return None
        return forecast_arms(
            self.model, self.space.arms(request), self.space.arms_of_route(request, route)
        )

    def tell(self, feedback: Feedback) -> None:
        """Learn from what a trip measured (Algorithm 1, line 6)."""
        self.model.update(self.space.feedback(feedback))


def lacking(model: type, needs: type) -> list[str]:
    """List the methods of the protocol ``needs`` that a class of models does not have."""
    return sorted(
        name for name in dir(needs) if not name.startswith("_") and not hasattr(model, name)
    )
