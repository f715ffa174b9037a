"""Roads to avoid: routes without them are the best of the routes that are left."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.errors import NoRouteError, UnknownNameError
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest


@pytest.mark.parametrize("physics", ["driving", "eq8"])
@pytest.mark.parametrize("single", [False, True])
def test_with_roads_to_avoid_each_route_is_the_best_of_the_remaining_ones(
    denver: RoadNetwork, physics: str, single: bool
) -> None:
    """The same as closed arms of infinite cost, on random requests."""
    planner, rng = Planner(denver, physics=physics, single=single), np.random.default_rng(5)
    changed = 0
    while changed < 12:
        ends = rng.choice(denver.n_edges, 2, replace=False).tolist()
        try:
            free = planner.plan(*ends)
        except NoRouteError:
            continue
        inside = [each for each in free.routes["energy"].edges[1:-1] if each]
        if not inside:
            continue
        avoided = rng.choice(inside, min(3, len(inside)), replace=False).tolist()
        rows = [denver.row_of[each] for each in avoided]
        problem = planner.problem(tuple(ends))
        costs = {"energy": problem.weights(), "time": problem.time_s, "distance": problem.length_m}
        barred = np.isin(planner.states.edge, rows)
        try:
            plan = planner.plan(*ends, avoid=avoided)
        except NoRouteError:
            with pytest.raises(NoRouteError):
                planner.search.route(
                    np.where(barred, np.inf, planner.time_s[planner.states.edge]), *ends
                )
            continue
        changed += 1
        for name, cost in costs.items():
            assert not set(avoided) & set(plan.routes[name].edges)
            best = planner.search.route(np.where(barred, np.inf, cost[: len(barred)]), *ends)
            ours = problem.legs.total(cost, plan.routes[name].route)
            assert ours == pytest.approx(problem.legs.total(cost, best), rel=1e-12)


def test_every_kind_of_plan_avoids_them(denver: RoadNetwork) -> None:
    plan = evroute.plan(denver, trip="B", alternatives=3)
    streets = {street.name for route in plan.routes.values() for street in route.streets[1:-1]}
    for wishes in (
        {"alternatives": 3},
        {"max_extra_time": 0.1},
        {"price": 0.3, "time_value": 12},
        {"soc": 20, "reserve": 10},
        {"soc": 20, "reserve": 10, "risk": 0.05},
    ):
        for street in sorted(streets - {""})[:3]:
            made = evroute.plan(denver, trip="B", avoid=[street.upper()], **wishes)
            for name, route in made.routes.items():
                inside = {denver.street[row] for row in route.route.edges[1:]}
                assert street not in inside, (wishes, name)


def test_the_command_a_batch_and_python_avoid_alike(denver: RoadNetwork, tmp_path) -> None:
    expected = evroute.plan(denver, trip="A", avoid=["Curtis Street", "25th Street"])
    wanted = expected.routes["energy"].energy_wh
    assert wanted > evroute.plan(denver, trip="A").routes["energy"].energy_wh
    once = ["route", "--trip", "A", "--json", "--avoid", "curtis street", "--avoid", "25th Street"]
    done = CliRunner().invoke(app, once)
    assert json.loads(done.stdout)["routes"]["energy"]["energy_wh"] == wanted
    table = tmp_path / "trips.csv"
    table.write_text("trip,avoid\nA,Curtis Street;25th Street\nA,\n")
    answers = CliRunner().invoke(app, ["route", "--batch", str(table)]).stdout.splitlines()
    assert json.loads(answers[0])["routes"]["energy"]["energy_wh"] == wanted
    assert json.loads(answers[1])["routes"]["energy"]["energy_wh"] < wanted


def test_a_trip_that_needs_the_road_is_refused(hill: RoadNetwork) -> None:
    with pytest.raises(NoRouteError, match="without the roads to avoid"):
        evroute.plan(hill, "in", "out", avoid=["up", "east"])


def test_a_road_that_there_is_not_is_refused_with_similar_ones(denver: RoadNetwork) -> None:
    with pytest.raises(UnknownNameError, match=r"has no road 'Curtis Stret'. Similar: Curtis Str"):
        evroute.plan(denver, trip="A", avoid=["Curtis Stret"])


def test_names_and_ids_select_their_rows(denver: RoadNetwork) -> None:
    named = PlanRequest(trip="A", avoid=["curtis street", denver.edge_id[7]]).closed(denver)
    by_hand = {row for row, name in enumerate(denver.street) if name == "Curtis Street"} | {7}
    assert named == tuple(sorted(by_hand))
