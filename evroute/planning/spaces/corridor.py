"""Corridor: the edges near the cheapest way between two ends.

An edge is in the corridor of factor c if some walk from origin to destination over it costs at most
c times the least cost. The cost of an edge is the energy that it dissipates by eq. 8, its prior
mean less the potential. The eq. 8 route is in every corridor.
"""

from dataclasses import replace

import numpy as np

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_space import ExpectsTimes, SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import potential

ROUNDING = 1e-12


def corridor(
    search: Search, weights: FloatArray, origin: int, destination: int, factor: float
) -> IntArray:
    """Return the edges (c,) on walks that cost at most ``factor`` times the least, increasing.

    Parameters
    ----------
    search
        A search over the n edges.
    weights
        (n,) cost of each edge, not negative, +inf where it is closed.
    origin, destination
        Network rows of both ends.
    factor
        At least 1.

    Raises
    ------
    NoRouteError
        If no way over open edges leads to the destination.
    """
    most = (
        factor
        * float(weights[search.route(weights, origin, destination).rows].sum())
        * (1.0 + ROUNDING)
    )
    return np.flatnonzero(
        search.distances(weights, origin, limit=most)
        + search.rest(weights, destination, limit=most)
        <= most
    )


class Corridor:
    """The arm space whose arms are those on edges in the corridor of each request.

    Parameters
    ----------
    everywhere
        The space of all arms.
    factor
        Factor of the corridors, at least 1.
    """

    def __init__(self, everywhere: SearchSpace, factor: float) -> None:
        self.everywhere = everywhere
        self.factor = factor
        self.noun = everywhere.noun
        self._last: tuple[Round, Round] | None = None

    @property
    def edges(self) -> EdgeSpace:
        """The space of all edges."""
        return self.everywhere.edges

    def arms(self, request: Round) -> Arms:
        """Return the open arms of the corridor of a round.

        Raises
        ------
        NoRouteError
            If no way over open edges leads to the destination.
        """
        return self.everywhere.arms(self._within(request))

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the potential over each arm of a round, (a,) Wh."""
        return self.everywhere.potential_wh(self._within(request))

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight within the corridor, ``weights`` (a,)."""
        return self.everywhere.route(weights, self._within(request))

    def arms_of_route(self, route: Route) -> IntArray:
        """Return the arms of a route, (k,)."""
        return self.everywhere.arms_of_route(route)

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return feedback on edges as that on arms."""
        return self.everywhere.feedback(feedback)

    def time_error(self, feedback: Feedback) -> float:
        """Return ``log(measured/expected time)``, NaN if the space expects no times."""
        if isinstance(self.everywhere, ExpectsTimes):
            return self.everywhere.time_error(feedback)
        return float("nan")

    def state(self) -> State:
        """Return the learned state of the space of all arms."""
        return self.everywhere.state()

    def restore(self, state: State) -> None:
        """Restore the state of the space of all arms."""
        self.everywhere.restore(state)

    def _within(self, request: Round) -> Round:
        """Return the round with the edges of its corridor only. The last round's are cached."""
        if self._last is None or self._last[0] is not request:
            edges, arms = self.edges, request.arms
            weights = np.full(edges.size, np.inf)
            weights[arms.id] = potential(
                arms.prior_mean_wh, np.zeros(len(arms)), edges.potential_wh(request)
            )
            inside = corridor(
                edges.search, weights, request.origin, request.destination, self.factor
            )
            self._last = request, replace(request, arms=arms.take(arms.rows_of(inside)))
        return self._last[1]
