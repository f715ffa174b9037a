"""Routes of equal time and length: the one of least energy is taken, at every door."""

from collections.abc import Callable

import pytest

from evroute.arms import Route
from evroute.network.places.positions import Position
from evroute.network.road_network import RoadNetwork
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner

MakeNetwork = Callable[..., RoadNetwork]
LEVEL, OVER = ("in", "around", "back", "out"), ("in", "up", "down", "out")


@pytest.fixture(params=[False, True], ids=["level first", "hill first"])
def twins(make_network: MakeNetwork, request: pytest.FixtureRequest) -> RoadNetwork:
    """Two ways of equal length and speed: one level, one over a hill of 30 m."""
    ways = [("around", 1, 2), ("back", 2, 4), ("up", 1, 3), ("down", 3, 4)]
    ways = ways[::-1] if request.param else ways
    places = [(0, 0, 0), (500, 0, 0), (900, 300, 0), (900, -300, 30), (1300, 0, 0), (1800, 0, 0)]
    edges = [("in", 0, 1), *ways, ("out", 4, 5)]
    return make_network(edges, places, length_m=[600.0] * 6, speed_mps=[13.0] * 6)


@pytest.mark.parametrize("physics", ["eq8", "driving"])
@pytest.mark.parametrize("single", [False, True])
def test_of_equally_fast_and_short_routes_one_takes_the_least(
    twins: RoadNetwork, physics: str, single: bool
) -> None:
    planner = Planner(twins, physics=physics, single=single)
    first, last = (twins.row_of[name] for name in ("in", "out"))
    plan = planner.plan(first, last)
    over = planner.describe(Route(tuple(twins.row_of[edge] for edge in OVER)))
    assert over.time_s == pytest.approx(plan.fastest.time_s, rel=1e-12)
    assert over.energy_wh > plan.fastest.energy_wh + 1.0
    assert plan.routes["time"].edges == plan.routes["distance"].edges == LEVEL


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_a_matrix_by_time_has_the_energies_of_plans(twins: RoadNetwork, physics: str) -> None:
    planner = Planner(twins, physics=physics)
    first, last = twins.row_of["in"], twins.row_of["out"]
    begin = Stop("a", "in", (Position(first, 0.0),))
    end = Stop("b", "out", (Position(last, 600.0),))
    energy_wh, time_s, _ = energy_matrix(planner, [begin], [end], "time")[:, 0, 0].tolist()
    fastest = planner.plan(first, last).routes["time"]
    assert (energy_wh, time_s) == (fastest.energy_wh, fastest.time_s)
