"""RiskBounds: lower bounds of one request by energy, deviation and other costs, and its searches.

Each bound is one search back from the destination, cut at the start. All searches of the request
share them: searches with other costs, multiples of deviations and charges.
"""

from dataclasses import dataclass, field
from functools import cached_property

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.battery import TOLERANCE_WH, Battery
from evroute.planning.searches.compiled import read_only
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.settle import Costs
from evroute.planning.searches.tradeoff import supported

MULTIPLES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Deviations of every arm that candidates add to its energy."""


@dataclass(frozen=True, eq=False)
class RiskBounds:
    """Bounds and searches of one request.

    Parameters
    ----------
    problem
        The request and its numbers.
    std_wh
        (a,) deviation of the energy of one passage of each arm, Wh.
    """

    problem: SearchProblem
    std_wh: FloatArray
    _known: list[tuple[FloatArray, list[Route]]] = field(default_factory=list, repr=False)

    @property
    def weights(self) -> FloatArray:
        """(a,) energy of each arm above the rise of the potential, Wh."""
        return self.problem.weights()

    @cached_property
    def rest_wh(self) -> FloatArray:
        """(s + 1,) lower bounds of the energy from each state, Wh."""
        return self.problem.label_search.bounds(None)[0]

    def rest(self, cost: FloatArray) -> FloatArray:
        """Return lower bounds of the sum of a cost (a,) from each state, (s + 1,).

        The bounds of an array are kept, so the array must not change.
        """
        return self.problem.rests.of(cost)

    def cheapest(self, worth: tuple[float, float], cost: FloatArray) -> Route:
        """Return the cheapest route without limits. Of equal ones the route of least energy.

        Parameters
        ----------
        worth
            Cost of one Wh, where nothing is lost, and of one unit of ``cost``.
        cost
            (a,) additive cost of each arm.
        """
        per_wh, per_cost = worth
        if not per_wh:
            return self.problem.least(cost)
        if per_cost and cost is not self.problem.time_s:
            return self.problem.legs.route(per_wh * self.weights + per_cost * cost)
        return self.problem.cheapest(worth)

    def in_order(
        self,
        battery: Battery,
        worth: tuple[float, float],
        cost: FloatArray,
        most: float,
        effort: tuple[int, int],
    ) -> tuple[list[Route], float]:
        """Return routes without a loop that keep the reserve by expected energies, cheapest first.

        Parameters
        ----------
        battery
            Charge at the start and reserve.
        worth, cost
            As in `cheapest`, lost regeneration included.
        most
            Greatest sum of ``cost``.
        effort
            Labels and routes after which the search ends.

        Returns
        -------
        routes, bound
            No further route costs less than the bound, or infinite if there is none.
        """
        costs = Costs(read_only(cost), read_only(self.rest_wh), read_only(self.rest(cost)))
        given = battery, costs, worth, most, (effort[0] - 1, effort[1])
        return self.problem.label_search.in_order(*given)

    def candidates(self, cost: FloatArray) -> list[Route]:
        """Return `ends`, and routes on hulls of an additive cost (a,) and raised energies."""
        for known, routes in self._known:
            if known is cost:
                return routes
        legs, raised = self.problem.legs, (self.weights + by * self.std_wh for by in MULTIPLES)
        hulls = [self.ends(), *(supported(legs, weights, cost) for weights in raised)]
        routes = list(dict.fromkeys(route for found in hulls for route in found))
        self._known.append((cost, routes))
        return routes

    def ends(self) -> list[Route]:
        """Return the route of least energy and the fastest one without limits, each once."""
        return list(dict.fromkeys([self.problem.cheapest((1.0, 0.0)), self.problem.fastest]))

    def loses(self, battery: Battery, route: Route) -> bool:
        """Return True if a route loses regeneration to a full battery."""
        return self.problem.follow(battery, route).lost_wh > TOLERANCE_WH
