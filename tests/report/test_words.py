"""Reasons of routes: the cause is counted on both routes, the differences are theirs."""

import re
from itertools import pairwise

import numpy as np
import pytest

from evroute.door.plan import plan
from evroute.errors import NoRouteError
from evroute.network.controls import LIGHT, STOP
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import PlannedRoute
from evroute.planning.planner import Planner
from evroute.report.words import reason


def test_a_route_that_is_the_fastest_needs_no_cause(denver: RoadNetwork) -> None:
    planned = plan(denver, trip="A", max_extra_time=0.0)
    assert reason(denver, planned, "time") == "no route is faster or takes less energy"


def test_a_reason_has_the_differences_of_both_routes(denver: RoadNetwork) -> None:
    planned = plan(denver, trip="A")
    fastest, best = planned.routes["time"], planned.recommended_route
    seconds, kwh = best.time_s - fastest.time_s, (fastest.energy_wh - best.energy_wh) / 1000
    words = reason(denver, planned, planned.recommended)
    assert words.endswith(f": {seconds:.0f} s longer, {kwh:.2f} kWh less")
    other = reason(denver, planned, "time")
    assert other == f"{seconds:.0f} s less, {kwh:.2f} kWh more than recommended"


def direction(network: RoadNetwork, edge: int, *, end: bool) -> np.ndarray:
    """Return the direction of the first or last stretch of an edge."""
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    line = np.column_stack([network.shape_x_m[points], network.shape_y_m[points]])
    line = line[np.append(True, np.hypot(*np.diff(line, axis=0).T) > 0)]
    if len(line) < 2:
        return np.zeros(2)
    return line[-1] - line[-2] if end else line[1] - line[0]


def counted(network: RoadNetwork, route: PlannedRoute) -> dict[str, int]:
    """Count lights, stop signs and corners of 60 degrees and more, turn by turn."""
    row = {tuple(turn): i for i, turn in enumerate(network.turns.tolist())}
    found = {"traffic light": 0, "stop sign": 0, "sharp corner": 0}
    edges = route.route.edges
    for before, after in pairwise(edges):
        control = -1 if network.control is None else network.control[row[before, after]]
        found["traffic light"] += int(control == LIGHT)
        found["stop sign"] += int(control == STOP)
        one, two = direction(network, before, end=True), direction(network, after, end=False)
        long = np.linalg.norm(one) * np.linalg.norm(two)
        found["sharp corner"] += int(long > 0 and one @ two / max(long, 1e-9) <= 0.5)
    return found


def check(network: RoadNetwork, words: str, best: PlannedRoute, fastest: PlannedRoute) -> str:
    """Check the cause of a reason by counts of one's own, and return its kind."""
    cause = words.split(":")[0]
    ours, theirs = counted(network, best), counted(network, fastest)
    if fewer := re.findall(
        r"(no|\d+) (traffic light|stop sign|sharp corner)s? instead of (\d+)", cause
    ):
        named = {name: (0 if n == "no" else int(n), int(of)) for n, name, of in fewer}
        less = {name for name in ours if ours[name] < theirs[name]}
        assert named == {name: (ours[name], theirs[name]) for name in less}, cause
        return "stops"
    if found := re.fullmatch(r"(\d+) m less climb", cause):
        climb = (
            sum(max(network.ascent_m[e], 0.0) for e in each.route.edges) for each in (fastest, best)
        )
        assert int(found[1]) == round(next(climb) - next(climb))
        return "climb"
    if found := re.fullmatch(r"on average (\d+) instead of (\d+) km/h", cause):
        kmh = [round(each.length_m / each.time_s * 3.6) for each in (best, fastest)]
        assert [int(found[1]), int(found[2])] == kmh
        return "speed"
    if found := re.fullmatch(r"([\d.]+) (m|km) shorter", cause):
        length_m = (network.length_m[list(each.route.edges)].sum() for each in (fastest, best))
        shown_m = float(found[1]) * (1000 if found[2] == "km" else 1)
        assert next(length_m) - next(length_m) == pytest.approx(shown_m, abs=51)
        return "length"
    found = re.fullmatch(r"([\d.]+) (Wh|kWh) less for braking and accelerating", cause)
    assert found, cause
    saved_wh = fastest.parts_wh["turning"] - best.parts_wh["turning"]
    assert float(found[1]) * (1000 if found[2] == "kWh" else 1) == pytest.approx(saved_wh, abs=5)
    return "braking"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("denver", {"stops"}), ("monaco", {"stops", "climb"})],
)
def test_causes_of_random_reasons_are_counted_again(
    name: str, expected: set[str], request: pytest.FixtureRequest
) -> None:
    network: RoadNetwork = request.getfixturevalue(name)
    planner, rng, kinds = Planner(network), np.random.default_rng(40), set()
    reasons = 0
    while reasons < 40 or (not kinds >= expected and reasons < 400):
        try:
            made = planner.plan(*rng.choice(network.n_edges, 2, replace=False).tolist())
        except NoRouteError:
            continue
        best, fastest = made.recommended_route, made.routes["time"]
        if best.route == fastest.route:
            continue
        reasons += 1
        kinds.add(check(network, reason(network, made, made.recommended), best, fastest))
    assert kinds >= expected
