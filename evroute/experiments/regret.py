"""How good a route is in truth: its regret under the rule that chose it, and energy, time and length beside others.

A draw of the prior GP has negative cycles, so no best route exists under signed truth. Regret is
therefore counted in the weights that the run's own rule gives to the *true* expected energies
(Sandberg et al., section 4; rectified Gaussians). Signed watt-hours stand beside it, for they alone
compare the rules, and worlds in which the energy of an edge depends on the edge before it.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms, Round, Route
from evroute.arrays import FloatArray
from evroute.network import context
from evroute.network.road_network import RoadNetwork
from evroute.planning.search import Search
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
    "that the round's contexts tell; eq8, least prior mean; rule_best, least g; best, least true "
    "energy (where f is "
    "drawn from the prior: by the potential search on f)."
)
YARDSTICKS = 64
"""Requests whose reference routes are kept."""
SPEED = context.NAMES.index("speed limit")


@dataclass(frozen=True, slots=True)
class Totals:
    """What a route takes in truth: expected energy, Wh; travel time, s; length, m."""

    energy_wh: float
    time_s: float
    length_m: float


@dataclass(frozen=True, slots=True)
class Score:
    """The truth about one route and its rivals of the round; see `DEFINITION`.

    rivals: by name: fastest, shortest, eq8, rule_best, best.
    """

    regret_wh: float
    driven: Totals
    rivals: dict[str, Totals]


class RegretScorer:
    """Scores routes by the truth of their round; searches for their rivals once for each request and truth.

    noise_std_wh, potential_wh: (n,) of every edge of the network, Wh.
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
        self._references: OrderedDict[tuple[int, ...], _Yardstick] = OrderedDict()

    def score(self, world: Environment, request: Round, route: Route) -> Score:
        """Score a route by the truth of its world.

        The regret is exactly 0 on a best route and never negative: both costs are summed in driving
        order, as the search sums them.
        """
        expected_wh = world.expected_wh(request)
        # a reference keeps its arms and its truth, so no other object has their identity
        key = (id(request.arms), id(expected_wh), request.origin, request.destination)
        if key not in self._references:
            self._references[key] = self._measure(world, request, expected_wh)
            if len(self._references) > YARDSTICKS:
                self._references.popitem(last=False)
        reference = self._references[key]
        return Score(
            regret_wh=_entered(reference.cost, route) - reference.least_cost,
            driven=self._totals(world, request, reference.time_s, route),
            rivals=reference.rivals,
        )

    def _measure(self, world: Environment, request: Round, expected_wh: FloatArray) -> "_Yardstick":
        arms = request.arms
        cost = self._everywhere(
            arms,
            self.weight_rule(expected_wh, self.noise_std_wh[arms.id], self.potential_wh[arms.id]),
        )
        time_s = self._everywhere(arms, world.travel_s(request))
        length_m = self.network.length_m[arms.id]
        speed_mps = arms.features[:, SPEED] * self._speed_scale_mps
        routes = {
            "fastest": self._best(request, self._everywhere(arms, length_m / speed_mps)),
            "shortest": self._best(request, self._everywhere(arms, length_m)),
            "eq8": best_by_edges(request, arms.prior_mean_wh, self.potential_wh, self.search),
            "rule_best": self._best(request, cost),
            "best": world.best_route(request),
        }
        return _Yardstick(
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

    def _everywhere(self, arms: Arms, values: FloatArray) -> FloatArray:
        everywhere = np.full(self.network.n_edges, np.inf)
        everywhere[arms.id] = values
        return everywhere

    def _best(self, request: Round, weights: FloatArray) -> Route:
        return self.search.route(weights, request.origin, request.destination)


class FleetRegretScorer:
    """Judges by vehicle, as rounds name them: each knows the height and the noise of its own."""

    def __init__(self, judges: Mapping[str, RegretScorer]) -> None:
        self.judges = judges

    def score(self, world: Environment, request: Round, route: Route) -> Score:
        """Score a route by the judge of the round's vehicle."""
        return self.judges[request.vehicle].score(world, request, route)


@dataclass(frozen=True, slots=True, eq=False)
class _Yardstick:
    """What routes of one request are measured against; cost and time_s are (n,), inf on closed edges."""

    arms: Arms
    expected_wh: FloatArray
    cost: FloatArray
    least_cost: float
    time_s: FloatArray
    rivals: dict[str, Totals]


def _entered(cost: FloatArray, route: Route) -> float:
    """Sum the cost of the edges entered, one after the other from the origin on."""
    return float(np.cumsum(cost[route.rows[1:]])[-1]) if len(route) > 1 else 0.0
