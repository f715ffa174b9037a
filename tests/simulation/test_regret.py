"""Regret: never negative, nought on a best route, and what the definition says on roads counted by hand."""

import numpy as np
import pytest

from evroute.arms import Arms, Round, Route
from evroute.network.line_graph import LineGraph
from evroute.planning.search import Search
from evroute.planning.weights import WEIGHT_RULES
from evroute.simulation.regret import DEFINITION, Judge

OVER, ROUND_IT = ("in", "up", "down", "out"), ("in", "east", "west", "out")
TRUTH = {"in": 20.0, "up": 300.0, "down": -150.0, "east": 60.0, "west": 70.0, "out": 20.0, "home": 90.0}
PHYSICS = {"in": 22.0, "up": 290.0, "down": -155.0, "east": 66.0, "west": 66.0, "out": 22.0, "home": 88.0}
POTENTIAL = {"up": 200.0, "down": -200.0}


def column(hill, values: dict[str, float]) -> np.ndarray:
    return np.array([values.get(e, 0.0) for e in hill.edge_id])


def request_over(hill, closed: tuple[str, ...] = ()) -> Round:
    edge = np.array([e for e in range(hill.n_edges) if hill.edge_id[e] not in closed])
    arms = Arms(edge, np.zeros((len(edge), 1)), column(hill, PHYSICS)[edge])
    return Round(1, arms, hill.row_of["in"], hill.row_of["out"])


def judge_of(hill, rule: str) -> Judge:
    return Judge(
        search=Search(LineGraph.from_network(hill)),
        weight_rule=WEIGHT_RULES[rule],
        noise_std_wh=np.full(hill.n_edges, 1e-6),
        potential_wh=column(hill, POTENTIAL),
    )


def score_of(hill, rule: str, route: tuple[str, ...], closed: tuple[str, ...] = ()):
    request = request_over(hill, closed)
    truth = column(hill, TRUTH)[request.arms.edge]
    return judge_of(hill, rule).score(request, truth, Route(tuple(hill.row_of[e] for e in route)))


@pytest.mark.parametrize(
    ("rule", "over", "round_it"),
    [
        # with next to no noise: over costs 300 + max(0, -150), or 100 + 50 shifted; round it 60 + 70
        ("rectified", 300.0 - 130.0, 0.0),
        ("clamped", 300.0 - 130.0, 0.0),
        ("potential", 150.0 - 130.0, 0.0),
        ("potential-rectified", 150.0 - 130.0, 0.0),
    ],
)
def test_regret_by_hand(hill, rule, over, round_it) -> None:
    assert score_of(hill, rule, OVER).regret_wh == pytest.approx(over, abs=1e-9)
    assert score_of(hill, rule, ROUND_IT).regret_wh == round_it


def test_signed_energies_by_hand(hill) -> None:
    score = score_of(hill, "rectified", OVER)
    assert score.true_wh == pytest.approx(20 + 300 - 150 + 20)
    assert score.eq8_wh == pytest.approx(20 + 130 + 20)  # eq. 8: 132 round it, 135 over
    assert score.rule_best_wh == pytest.approx(20 + 130 + 20)
    assert score.best_wh == pytest.approx(20 + 130 + 20)


def test_only_open_ways_count(hill) -> None:
    score = score_of(hill, "potential", OVER, closed=("east",))
    assert score.regret_wh == 0.0
    assert score.eq8_wh == score.best_wh == score.true_wh == pytest.approx(190)


def test_noise_rectifies_the_truth_too(hill) -> None:
    request = request_over(hill)
    judge = judge_of(hill, "rectified")
    judge.noise_std_wh = np.full(hill.n_edges, 100.0)
    truth = column(hill, TRUTH)
    score = judge.score(request, truth, Route(tuple(hill.row_of[e] for e in OVER)))

    def g(mean: float) -> float:  # E[max(0, N(mean, 100²))] by a fine sum
        z = np.linspace(0, 1500, 300_001)
        return float(np.trapezoid(z * np.exp(-0.5 * ((z - mean) / 100) ** 2) / (100 * np.sqrt(2 * np.pi)), z))

    assert score.regret_wh == pytest.approx(g(300) + g(-150) - g(60) - g(70), rel=1e-6)


@pytest.mark.parametrize("rule", WEIGHT_RULES)
def test_no_route_has_negative_regret_and_the_best_has_exactly_none(denver, rule) -> None:
    rng = np.random.default_rng(5)
    n = denver.n_edges
    search = Search(LineGraph.from_network(denver))
    potential = rng.normal(0, 10, n)
    arms = Arms(np.arange(n), np.zeros((n, 1)), rng.uniform(0, 30, n))
    judge = Judge(search=search, weight_rule=WEIGHT_RULES[rule], noise_std_wh=np.full(n, 2.0), potential_wh=potential)
    truth = rng.normal(10, 12, n)
    request = Round(1, arms, 0, n // 2)
    for weights in (rng.random((20, n)), WEIGHT_RULES[rule](truth, judge.noise_std_wh, potential)[np.newaxis]):
        regrets = [judge.score(request, truth, search.route(w, 0, n // 2)).regret_wh for w in weights]
        assert min(regrets) >= 0
    assert regrets == [0.0]


def test_a_trip_that_never_leaves_its_edge_costs_nothing(hill) -> None:
    request = Round(1, request_over(hill).arms, 0, 0)
    assert judge_of(hill, "potential").score(request, column(hill, TRUTH), Route((0,))).regret_wh == 0.0


def test_the_definition_names_every_rule() -> None:
    assert all(f"{rule}: " in DEFINITION for rule in WEIGHT_RULES)
