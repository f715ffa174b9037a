"""Via points: against ways by hand, all choices of candidates, and networkx."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork
from evroute.planning import via_points as module
from evroute.planning.planner import Planner
from evroute.planning.via_points import candidates, left_out_m, via_points
from evroute.testing.roads import make_network


@pytest.fixture
def two_ways() -> RoadNetwork:
    """From ``in`` to ``out``: two roads of 1 km in the south at 20 m/s, or in the north at 10."""
    positions = [
        (-1000, 0, 0),
        (0, 0, 0),
        (0, 1000, 0),
        (1000, 1000, 0),
        (2000, 0, 0),
        (3000, 0, 0),
    ]
    edges = [("in", 0, 1), ("n1", 1, 2), ("n2", 2, 3), ("n3", 3, 4), ("south", 1, 4), ("out", 4, 5)]
    return make_network(edges, positions, speed_mps=[20.0, 10.0, 10.0, 10.0, 20.0, 20.0])


def rows(network: RoadNetwork, *names: str) -> np.ndarray:
    return np.array([network.row_of[name] for name in names])


def test_the_fastest_way_needs_no_via_point(two_ways: RoadNetwork) -> None:
    found, left_m = via_points(two_ways, rows(two_ways, "in", "south", "out"))
    assert found == []
    assert left_m == 0.0


def test_one_via_point_on_the_slow_way_keeps_it(two_ways: RoadNetwork) -> None:
    route = rows(two_ways, "in", "n1", "n2", "n3", "out")
    north_m = two_ways.length_m[route[1:4]].sum()
    nothing, left_m = via_points(two_ways, route, most=0)
    assert nothing == []
    assert left_m == pytest.approx(
        north_m
    )  # 3.2 times the time of the south: every guess leaves it
    (found,), left_m = via_points(two_ways, route)
    assert found in (1, 2, 3)
    assert left_m == 0.0


def test_a_stop_of_the_request_is_kept(two_ways: RoadNetwork) -> None:
    route = rows(two_ways, "in", "south", "out")
    assert via_points(two_ways, route, passed=[1])[0] == [1]
    with pytest.raises(ValueError, match="at most 0"):
        via_points(two_ways, route, passed=[1], most=0)


@pytest.fixture(scope="module")
def denver_route(denver: RoadNetwork) -> np.ndarray:
    """The route of least energy across Denver."""
    plan = Planner(denver, "nissan-leaf-40").plan(
        "East 16th Avenue & Washington Street", "Blake Street & 27th Street"
    )
    return np.array(plan.routes["energy"].route.edges)


@pytest.mark.parametrize("passed", [[], [5]])
def test_no_other_choice_of_candidates_is_better(
    denver: RoadNetwork, denver_route: np.ndarray, passed: list[int]
) -> None:
    found, left_m = via_points(denver, denver_route, passed=passed)
    last = len(denver_route) - 1
    kept = np.unique([*candidates(denver, denver_route), *passed, 0, last])
    cost = left_out_m(denver, denver_route, kept)
    row_of = {int(position): row for row, position in enumerate(kept)}

    def total(chosen: tuple[int, ...]) -> float:
        chain = [row_of[position] for position in (0, *chosen, last)]
        return sum(cost[a, b] for a, b in pairwise(chain))

    inner = [int(each) for each in kept[1:-1]]
    choices = [
        chosen
        for count in range(4)
        for chosen in combinations(inner, count)
        if set(passed) <= set(chosen)
    ]
    assert left_m == pytest.approx(total(tuple(found)))
    assert left_m <= min(map(total, choices)) + module.WORTH_M
    assert left_m < 0.5 * total(tuple(passed)), "the via points keep most of the route"


def test_metres_left_out_equal_networkx(
    denver: RoadNetwork, denver_route: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GUESSES", 1)
    last = len(denver_route) - 1
    kept = np.array([0, last // 2, last])
    graph = nx.DiGraph()
    for before, after in denver.turns.tolist():
        graph.add_edge(before, after, s=denver.time_s[after])
    expected = np.full((3, 3), np.inf)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        stretch = denver_route[kept[a] : kept[b] + 1].tolist()
        way = nx.dijkstra_path(graph, stretch[0], stretch[-1], weight="s")
        expected[a, b] = denver.length_m[sorted(set(stretch) - set(way))].sum()
    assert expected[0, 2] > 0
    assert left_out_m(denver, denver_route, kept) == pytest.approx(expected)
