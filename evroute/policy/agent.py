"""Agent: the two halves of Algorithm 1 that a live service calls, ask and tell.

Source: Sandberg, Åkerblom & Haghir Chehreghani, *Bayesian Analysis of Combinatorial Gaussian Process Bandits*,
Algorithms 1 and 2. Weights are formed once, here, for every index; no index, model or search knows of the others.
"""

import numpy as np
from numpy.random import Generator

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.model.base import Anticipates, EnergyModel, HasJoint
from evroute.planning.forecast import forecast
from evroute.planning.search import Search
from evroute.planning.weights import WeightRule
from evroute.policy.base import Index


class Agent:
    """A learner that picks routes: a model, an index over it, and a search with its rule of weights.

    potential_wh: (n,) ``m g dz`` of every edge of the network, Wh.

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
        self.potential_wh = potential_wh
        self.rng = rng

    def ask(self, request: Round) -> Route:
        """Choose the route of a round.

        Raises
        ------
        NoRouteError
            If no legal way over the available edges leads to the destination.
        """
        arms = request.arms
        index_wh = self.index(request.t, arms, self.model, self.rng)
        weights = np.full(len(self.potential_wh), np.inf)
        weights[arms.edge] = self.weight_rule(index_wh, self.model.noise_std(arms), self.potential_wh[arms.edge])
        route = self.search.route(weights, request.origin, request.destination)
        if isinstance(self.model, Anticipates):
            self.model.anticipate(arms.take(arms.rows_of(route.rows)))
        return route

    def predict(self, request: Round, route: Route) -> tuple[float, float]:
        """Return mean and standard deviation of what a route's energy would be measured to be, Wh.

        The deviation holds belief and noise; NaN where the model does not know how the energies of edges go together.
        """
        if isinstance(self.model, HasJoint):
            energy = forecast(self.model, request.arms, route)
            return energy.mean_wh, energy.std_wh
        arms = request.arms.take(request.arms.rows_of(route.rows))
        mean_wh = self.model.posterior(arms).mean_wh[arms.rows_of(route.rows)]
        return float(mean_wh.sum()), float("nan")

    def tell(self, feedback: Feedback) -> None:
        """Learn from what a trip measured (Algorithm 1, line 6)."""
        self.model.update(feedback)


def lacking(model: type, needs: type) -> list[str]:
    """List the methods of the protocol ``needs`` that a class of models does not have."""
    return sorted(name for name in dir(needs) if not name.startswith("_") and not hasattr(model, name))
