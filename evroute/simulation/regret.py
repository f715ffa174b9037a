"""How good a route is in truth: its regret under the rule that chose it, and signed energy, one currency for all.

A draw of the prior GP has negative cycles, so no best route exists under signed truth. Regret is therefore counted in
the weights that the run's own rule gives to the *true* expected energies (Sandberg et al., section 4; rectified
Gaussians). Signed watt-hours stand beside it, for they alone compare the rules.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms, Round, Route
from evroute.arrays import FloatArray
from evroute.planning.search import Search
from evroute.planning.weights import WEIGHT_RULES, WeightRule

DEFINITION = (
    "regret_wh = g(route) - min g over the routes open in the round, with g the sum over the edges entered of "
    "g_e = W(f_e, noise_std_e, p_e): W is the weight rule of the run's search, f_e the true expected energy and p_e "
    "the potential m g dz. rectified: E[max(0, N(f, noise^2))]; potential-rectified: E[max(0, N(f - p, noise^2))]; "
    "clamped: max(0, f); potential: max(0, f - p). "
    "true_wh, eq8_wh, rule_best_wh and best_wh are signed sums of f: of the route driven, of the eq. 8 route, of the "
    "route with least g, and of the best route of the potential search on f."
)


@dataclass(frozen=True, slots=True)
class Score:
    """The truth about one route, Wh; see `DEFINITION`."""

    regret_wh: float
    true_wh: float
    eq8_wh: float
    rule_best_wh: float
    best_wh: float


class Judge:
    """Scores routes by the truth of their round; searches for the best routes once for each set of arms.

    noise_std_wh, potential_wh: (n,) of every edge, Wh.
    """

    def __init__(
        self, *, search: Search, weight_rule: WeightRule, noise_std_wh: FloatArray, potential_wh: FloatArray
    ) -> None:
        self.search = search
        self.weight_rule = weight_rule
        self.noise_std_wh = noise_std_wh
        self.potential_wh = potential_wh
        self._judged: _Yardstick | None = None

    def score(self, request: Round, expected_wh: FloatArray, route: Route) -> Score:
        """Score a route; ``expected_wh`` is the truth of the round's arms, (a,) Wh.

        The regret is exactly 0 on a best route and never negative: both costs are summed in driving order, as the
        search sums them.
        """
        if self._judged is None or self._judged.arms is not request.arms:
            self._judged = self._measure(request, expected_wh)
        yardstick = self._judged
        return Score(
            regret_wh=_entered(yardstick.cost, route) - yardstick.least_cost,
            true_wh=float(yardstick.true_wh[route.rows].sum()),
            eq8_wh=yardstick.eq8_wh,
            rule_best_wh=yardstick.rule_best_wh,
            best_wh=yardstick.best_wh,
        )

    def _measure(self, request: Round, expected_wh: FloatArray) -> "_Yardstick":
        cost = self._weights(self.weight_rule, request.arms, expected_wh)
        true_wh = self._scatter(request.arms, expected_wh)
        potential = WEIGHT_RULES["potential"]
        best = self._best(request, cost)

        def true_energy(route: Route) -> float:
            return float(true_wh[route.rows].sum())

        return _Yardstick(
            arms=request.arms,
            cost=cost,
            least_cost=_entered(cost, best),
            true_wh=true_wh,
            eq8_wh=true_energy(
                self._best(request, self._weights(potential, request.arms, request.arms.prior_mean_wh))
            ),
            rule_best_wh=true_energy(best),
            best_wh=true_energy(self._best(request, self._weights(potential, request.arms, expected_wh))),
        )

    def _weights(self, rule: WeightRule, arms: Arms, energy_wh: FloatArray) -> FloatArray:
        return self._scatter(arms, rule(energy_wh, self.noise_std_wh[arms.edge], self.potential_wh[arms.edge]))

    def _scatter(self, arms: Arms, values: FloatArray) -> FloatArray:
        everywhere = np.full(len(self.potential_wh), np.inf)
        everywhere[arms.edge] = values
        return everywhere

    def _best(self, request: Round, weights: FloatArray) -> Route:
        return self.search.route(weights, request.origin, request.destination)


@dataclass(frozen=True, slots=True, eq=False)
class _Yardstick:
    """What routes over one set of arms are measured against; (n,) arrays are inf on closed edges."""

    arms: Arms
    cost: FloatArray
    least_cost: float
    true_wh: FloatArray
    eq8_wh: float
    rule_best_wh: float
    best_wh: float


def _entered(cost: FloatArray, route: Route) -> float:
    """Sum the cost of the edges entered, one after the other from the origin on."""
    return float(np.cumsum(cost[route.rows[1:]])[-1]) if len(route) > 1 else 0.0
