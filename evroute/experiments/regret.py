"""True regret of a route under its weight rule, and true energy, time and length of its rivals.

A draw of the prior GP has negative cycles, so no best route exists under signed true energies.
Regret is therefore counted in the weights of the run's rule applied to the *true* expected
energies (Sandberg et al., section 4; rectified Gaussians). Signed watt-hours are logged too: they
compare the rules with each other, and hold in worlds in which the energy of an edge depends on
the edge before it.
"""

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms, Round, Route
from evroute.arrays import FloatArray
from evroute.network import context
from evroute.network.road_network import RoadNetwork
from evroute.planning.searches.search import Search
from evroute.planning.weights import WeightRule
from evroute.worlds.environment import Environment, best_by_edges

DEFINITION = (
    "regret_wh = g(route) - min g over the routes open in the round, with g the sum over the edges "
    "entered of "
    "g_e = W(f_e, noise_std_e, p_e): W is the weight rule of the run's search, f_e the true "
    "expected energy and p_e "
    "the potential m g dz. rectified: E[max(0, N(f, noise^2))]; potential-rectified: E[max(0, N(f "
    "- p, noise^2))]; "
    "clamped: max(0, f); potential: max(0, f - p). Where the energy of an edge depends on the edge "
    "before it, f_e is "
    "its mean over the edges that may come before, and regret leaves out what turns add. "
    "true_wh and NAME_wh are true expected energies of whole routes, speed by speed, time_s and "
    "NAME_s their travel "
    "times in the world, length_m and NAME_m their lengths: of the route driven; fastest and "
    "shortest, by the speeds "
    "under the round's contexts; eq8, least prior mean; rule_best, least g; best, least true "
    "energy (where f is "
    "drawn from the prior: by the potential search on f)."
)
MAX_REFERENCES = 64
"""Number of requests whose reference routes are kept."""
SPEED = context.NAMES.index("speed limit")


@dataclass(frozen=True, slots=True)
class Totals:
    """True expected energy of a route, Wh; travel time, s; length, m."""

    energy_wh: float
    time_s: float
    length_m: float


@dataclass(frozen=True, slots=True)
class Score:
    """True totals of one route and its rivals of the round. See `DEFINITION`.

    Parameters
    ----------
    regret_wh
        Regret under the run's weight rule, Wh.
    driven
        Totals of the route driven.
    rivals
        Totals by name: fastest, shortest, eq8, rule_best, best.
    """

    regret_wh: float
    driven: Totals
    rivals: dict[str, Totals]


class RegretScorer:
    """Scores routes by the true energies of their round. Searches rivals once per request.

    Parameters
    ----------
    network
        Road network of n edges.
    search
        Search over all edges.
    weight_rule
        Weight rule of the run.
    noise_std_wh
        (n,) noise deviation of every edge, Wh.
    potential_wh
        (n,) ``m g dz`` of every edge, Wh.
    """

    def __init__(
        self,
        *,
        network: RoadNetwork,
        search: Search,
        weight_rule: WeightRule,
        noise_std_wh: FloatArray,
        potential_wh: FloatArray,
    ) -> None:
        self.network = network
        self.search = search
        self.weight_rule = weight_rule
        self.noise_std_wh = noise_std_wh
        self.potential_wh = potential_wh
        self._speed_scale_mps = float(context.build(network).scale[SPEED])
        self._references: OrderedDict[tuple[int, ...], _Reference] = OrderedDict()

    def score(self, world: Environment, request: Round, route: Route) -> Score:
        """Score a route by the true energies of its world.

        The regret is exactly 0 on a best route and never negative: both costs are summed in
        driving order, as the search sums them.

        Parameters
        ----------
        world
            World of the round.
        request
            Request of the round.
        route
            Route to score.
        """
        expected_wh = world.expected_wh(request)
        # a reference keeps its arms and true energies alive, so their ids stay unique
        key = (id(request.arms), id(expected_wh), request.origin, request.destination)
        if key not in self._references:
            self._references[key] = self._measure(world, request, expected_wh)
            if len(self._references) > MAX_REFERENCES:
                self._references.popitem(last=False)
        reference = self._references[key]
        return Score(
            regret_wh=_entered(reference.cost, route) - reference.least_cost,
            driven=self._totals(world, request, reference.time_s, route),
            rivals=reference.rivals,
        )

    def physics_route(self, request: Round) -> Route:
        """Return the route of least prior mean energy of a request."""
        return best_by_edges(request, request.arms.prior_mean_wh, self.potential_wh, self.search)

    def _measure(self, world: Environment, request: Round, expected_wh: FloatArray) -> "_Reference":
        arms = request.arms
        cost = self._on_all_edges(
            arms,
            self.weight_rule(expected_wh, self.noise_std_wh[arms.id], self.potential_wh[arms.id]),
        )
        time_s = self._on_all_edges(arms, world.travel_s(request))
        length_m = self.network.length_m[arms.id]
        speed_mps = arms.features[:, SPEED] * self._speed_scale_mps
        routes = {
            "fastest": self._best(request, self._on_all_edges(arms, length_m / speed_mps)),
            "shortest": self._best(request, self._on_all_edges(arms, length_m)),
            "eq8": self.physics_route(request),
            "rule_best": self._best(request, cost),
            "best": world.best_route(request),
        }
        return _Reference(
            arms=arms,
            expected_wh=expected_wh,
            cost=cost,
            least_cost=_entered(cost, routes["rule_best"]),
            time_s=time_s,
            rivals={
                name: self._totals(world, request, time_s, route) for name, route in routes.items()
            },
        )

    def _totals(
        self, world: Environment, request: Round, time_s: FloatArray, route: Route
    ) -> Totals:
        return Totals(
            energy_wh=world.route_wh(request, route),
            time_s=float(time_s[route.rows].sum()),
            length_m=float(self.network.length_m[route.rows].sum()),
        )

    def _on_all_edges(self, arms: Arms, values: FloatArray) -> FloatArray:
        on_all = np.full(self.network.n_edges, np.inf)
        on_all[arms.id] = values
        return on_all

    def _best(self, request: Round, weights: FloatArray) -> Route:
        return self.search.route(weights, request.origin, request.destination)


@dataclass(frozen=True, slots=True, eq=False)
class _Reference:
    """Reference routes of one request. Cost and time_s are (n,), inf on closed edges."""

    arms: Arms
    expected_wh: FloatArray
    cost: FloatArray
    least_cost: float
    time_s: FloatArray
    rivals: dict[str, Totals]


def _entered(cost: FloatArray, route: Route) -> float:
    """Sum the cost of the edges entered, in driving order from the origin."""
    return float(np.cumsum(cost[route.rows[1:]])[-1]) if len(route) > 1 else 0.0
