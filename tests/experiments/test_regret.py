"""Regret: never negative, zero on a best route, and its definition on roads counted by hand."""

import numpy as np
import pytest

from evroute.arms import Arms, Round, Route
from evroute.experiments.regret import DEFINITION, RegretScorer, Score
from evroute.network import context
from evroute.network.line_graph import LineGraph
from evroute.planning.searches.search import Search
from evroute.planning.weights import WEIGHT_RULES
from evroute.worlds.environment import best_by_edges

OVER, ROUND_IT = ("in", "up", "down", "out"), ("in", "east", "west", "out")
TRUTH = {
    "in": 20.0,
    "up": 300.0,
    "down": -150.0,
    "east": 60.0,
    "west": 70.0,
    "out": 20.0,
    "home": 90.0,
}
PHYSICS = {
    "in": 22.0,
    "up": 290.0,
    "down": -155.0,
    "east": 66.0,
    "west": 66.0,
    "out": 22.0,
    "home": 88.0,
}
POTENTIAL = {"up": 200.0, "down": -200.0}


class Additive:
    """A world where a route takes what its edges take, and its time is that of the speed limits."""

    def __init__(self, network, truth_wh: np.ndarray, potential_wh: np.ndarray) -> None:
        self.network, self.truth_wh, self.potential_wh = network, truth_wh, potential_wh
        self.searches = 0

    def expected_wh(self, request: Round) -> np.ndarray:
        return (
            self.truth_wh
            if len(request.arms) == len(self.truth_wh)
            else self.truth_wh[request.arms.id]
        )

    def travel_s(self, request: Round) -> np.ndarray:
        return self.network.time_s[request.arms.id]

    def route_wh(self, request: Round, route: Route) -> float:
        return float(self.truth_wh[route.rows].sum())

    def best_route(self, request: Round) -> Route:
        self.searches += 1
        search = Search(LineGraph.from_network(self.network))
        return best_by_edges(request, self.expected_wh(request), self.potential_wh, search)


def column(hill, values: dict[str, float]) -> np.ndarray:
    return np.array([values.get(e, 0.0) for e in hill.edge_id])


def request_over(hill, closed: tuple[str, ...] = ()) -> Round:
    edge = np.array([e for e in range(hill.n_edges) if hill.edge_id[e] not in closed])
    arms = Arms(edge, context.build(hill).features[edge], column(hill, PHYSICS)[edge])
    return Round(1, arms, hill.row_of["in"], hill.row_of["out"])


def judge_of(hill, rule: str) -> RegretScorer:
    return RegretScorer(
        network=hill,
        search=Search(LineGraph.from_network(hill)),
        weight_rule=WEIGHT_RULES[rule],
        noise_std_wh=np.full(hill.n_edges, 1e-6),
        potential_wh=column(hill, POTENTIAL),
    )


def world_of(hill) -> Additive:
    return Additive(hill, column(hill, TRUTH), column(hill, POTENTIAL))


def score_of(hill, rule: str, route: tuple[str, ...], closed: tuple[str, ...] = ()) -> Score:
    driven = Route(tuple(hill.row_of[e] for e in route))
    return judge_of(hill, rule).score(world_of(hill), request_over(hill, closed), driven)


@pytest.mark.parametrize(
    ("rule", "over", "round_it"),
    [
        # with next to no noise: over costs 300 + max(0, -150), or 100 + 50 shifted; round it 60 +
        # 70
        ("rectified", 300.0 - 130.0, 0.0),
        ("clamped", 300.0 - 130.0, 0.0),
        ("potential", 150.0 - 130.0, 0.0),
        ("potential-rectified", 150.0 - 130.0, 0.0),
    ],
)
def test_regret_by_hand(hill, rule, over, round_it) -> None:
    assert score_of(hill, rule, OVER).regret_wh == pytest.approx(over, abs=1e-9)
    assert score_of(hill, rule, ROUND_IT).regret_wh == round_it


def test_energies_times_and_lengths_by_hand(hill) -> None:
    score = score_of(hill, "rectified", OVER)
    assert score.driven.energy_wh == pytest.approx(20 + 300 - 150 + 20)
    assert score.driven.length_m == pytest.approx(1000 + 1001 + 1001 + 1000)
    assert score.driven.time_s == pytest.approx(400.2)
    over, round_it = score.driven, score.rivals["best"]
    assert round_it.energy_wh == pytest.approx(20 + 130 + 20)
    assert round_it.length_m == pytest.approx(1000 + 1200 + 1200 + 1000)
    assert round_it.time_s == pytest.approx(440)
    assert (
        score.rivals["eq8"] == score.rivals["rule_best"] == round_it
    )  # eq. 8: 132 round it, 135 over
    assert score.rivals["fastest"] == score.rivals["shortest"] == over


def test_the_fastest_route_goes_by_the_speeds_that_contexts_tell(hill) -> None:
    request = request_over(hill)
    features = request.arms.features.copy()
    features[hill.row_of["up"], 1] *= 0.5  # known to be slow: 100 s more
    slow = Round(
        1,
        Arms(request.arms.id, features, request.arms.prior_mean_wh),
        request.origin,
        request.destination,
    )
    rivals = judge_of(hill, "potential").score(world_of(hill), slow, Route((0, 1, 2, 5))).rivals
    assert rivals["fastest"] == rivals["best"]
    assert rivals["shortest"].length_m == pytest.approx(4002)


def test_only_open_ways_count(hill) -> None:
    score = score_of(hill, "potential", OVER, closed=("east",))
    assert score.regret_wh == 0.0
    assert all(rival == score.driven for rival in score.rivals.values())
    assert score.driven.energy_wh == pytest.approx(190)


def test_rivals_are_searched_once_for_each_request_and_truth(hill) -> None:
    world, judge, request = world_of(hill), judge_of(hill, "potential"), request_over(hill)
    route = Route(tuple(hill.row_of[e] for e in OVER))
    for _ in range(3):
        first = judge.score(world, request, route)
    assert world.searches == 1
    elsewhere = Round(1, request.arms, hill.row_of["in"], hill.row_of["west"])
    judge.score(world, elsewhere, route)
    assert world.searches == 2
    world.truth_wh = world.truth_wh + 1.0
    assert (
        judge.score(world, request, route).rivals["best"].energy_wh > first.rivals["best"].energy_wh
    )
    assert world.searches == 3


def test_noise_rectifies_the_truth_too(hill) -> None:
    request = request_over(hill)
    judge = judge_of(hill, "rectified")
    judge.noise_std_wh = np.full(hill.n_edges, 100.0)
    score = judge.score(world_of(hill), request, Route(tuple(hill.row_of[e] for e in OVER)))

    def g(mean: float) -> float:  # E[max(0, N(mean, 100²))] by a fine sum
        z = np.linspace(0, 1500, 300_001)
        return float(
            np.trapezoid(z * np.exp(-0.5 * ((z - mean) / 100) ** 2) / (100 * np.sqrt(2 * np.pi)), z)
        )

    assert score.regret_wh == pytest.approx(g(300) + g(-150) - g(60) - g(70), rel=1e-6)


@pytest.mark.parametrize("rule", WEIGHT_RULES)
def test_no_route_has_negative_regret_and_the_best_has_exactly_none(denver, rule) -> None:
    rng = np.random.default_rng(5)
    n = denver.n_edges
    search = Search(LineGraph.from_network(denver))
    potential = rng.normal(0, 10, n)
    arms = Arms(np.arange(n), context.build(denver).features, rng.uniform(0, 30, n))
    judge = RegretScorer(
        network=denver,
        search=search,
        weight_rule=WEIGHT_RULES[rule],
        noise_std_wh=np.full(n, 2.0),
        potential_wh=potential,
    )
    truth = rng.normal(10, 12, n)
    world = Additive(denver, truth, potential)
    request = Round(1, arms, 0, n // 2)
    for weights in (
        rng.random((20, n)),
        WEIGHT_RULES[rule](truth, judge.noise_std_wh, potential)[np.newaxis],
    ):
        regrets = [
            judge.score(world, request, search.route(w, 0, n // 2)).regret_wh for w in weights
        ]
        assert min(regrets) >= 0
    assert regrets == [0.0]


def test_a_trip_that_never_leaves_its_edge_costs_nothing(hill) -> None:
    request = Round(1, request_over(hill).arms, 0, 0)
    assert judge_of(hill, "potential").score(world_of(hill), request, Route((0,))).regret_wh == 0.0


def test_the_definition_names_every_rule() -> None:
    assert all(f"{rule}: " in DEFINITION for rule in WEIGHT_RULES)
