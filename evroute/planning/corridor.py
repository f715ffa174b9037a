"""Corridor: the edges that a sensible route between two ends may use, so that a plan on a region looks at few.

An edge is in the corridor of factor c if some walk from origin to destination over it costs at most
c times the least cost. Costs are prior means less the potential: what eq. 8 dissipates. The eq. 8
route is in every corridor.
"""

from dataclasses import replace

import numpy as np

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.planning.arm_space import EdgeArms
from evroute.planning.search import Search
from evroute.planning.weights import potential

ROUNDING = 1e-12
FIRST_EDGES = 64
"""A sweep reaches as far as so many edges cost on average, then four times as far, until it meets the destination."""


def corridor(
    search: Search, weights: FloatArray, origin: int, destination: int, factor: float
) -> IntArray:
    """Return the edges (c,) on walks that cost at most ``factor`` times the least, in increasing order.

    weights: (n,) non-negative, +inf where closed.

    Raises
    ------
    ValueError
        If the factor is below 1.
    NoRouteError
        If no way over open edges leads to the destination.
    """
    check_factor(factor)
    before = _sweep(search, weights, origin, destination)
    most = factor * before[destination] * (1.0 + ROUNDING)
    before = search.distances(weights, origin, limit=most)
    edges: IntArray = np.flatnonzero(before + search.rest(weights, destination, limit=most) <= most)
    return edges


def check_factor(factor: float) -> None:
    """Raise ValueError unless ``1 <= factor < inf``."""
    if not 1 <= factor < np.inf:
        raise ValueError(
            f"corridor is {factor:g}; it is what a route may cost as a multiple of the least cost, 1 or more"
        )


def _sweep(search: Search, weights: FloatArray, origin: int, destination: int) -> FloatArray:
    """Return least costs from the origin, (n,), as far as the destination at least."""
    open_weights = weights[np.isfinite(weights)]
    limit, everywhere = FIRST_EDGES * float(open_weights.mean()), float(open_weights.sum())
    while True:
        cost = search.distances(weights, origin, limit=limit)
        if np.isfinite(cost[destination]):
            return cost
        if limit >= everywhere:
            raise NoRouteError(
                f"no open way leads from edge row {origin} to edge row {destination}"
            )
        limit *= 4.0


class CorridorArms:
    """The edges of each round's corridor are its arms.

    potential_wh: (n,) ``m g dz`` of every edge of the network, Wh.  factor: of the corridors.

    Raises
    ------
    ValueError
        If the factor is below 1.
    """

    def __init__(self, search: Search, potential_wh: FloatArray, factor: float) -> None:
        check_factor(factor)
        self.search = search
        self.factor = factor
        self._edges = EdgeArms(search, potential_wh)
        self._potential_wh = potential_wh
        self._last: tuple[Round, Round] | None = None

    def arms(self, request: Round) -> Arms:
        """Return the arms of the round's corridor.

        Raises
        ------
        NoRouteError
            If no way over open edges leads to the destination.
        """
        return self._within(request).arms

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the potential over each arm, (a,) Wh."""
        return self._edges.potential_wh(self._within(request))

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight within the corridor."""
        return self._edges.route(weights, self._within(request))

    def arms_of_route(self, request: Round, route: Route) -> IntArray:
        """Return the positions (k,) of the edges of a route.

        Raises
        ------
        ValueError
            If it leaves the corridor.
        """
        return self._edges.arms_of_route(self._within(request), route)

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return the feedback as it is."""
        return feedback

    def _within(self, request: Round) -> Round:
        """Return the round with the arms of its corridor alone; that of the last one is kept."""
        if self._last is None or self._last[0] is not request:
            arms = request.arms
            weights = np.full(len(self._potential_wh), np.inf)
            weights[arms.id] = potential(
                arms.prior_mean_wh, np.zeros(len(arms)), self._potential_wh[arms.id]
            )
            edges = corridor(self.search, weights, request.origin, request.destination, self.factor)
            self._last = request, replace(request, arms=arms.take(arms.rows_of(edges)))
        return self._last[1]
