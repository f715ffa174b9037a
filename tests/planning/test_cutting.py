"""Positions inside edges against the same points as junctions, and trips moved by some metres."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from halved_edges import halved

from evroute.arms import Arms, Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NotEnoughChargeError
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.model.independent import IndependentNormal
from evroute.network.catalog import load_network
from evroute.network.heights.stretches import Stretches
from evroute.network.places.positions import Position
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_tree import charge_tree
from evroute.planning.forecasts.forecast import forecast
from evroute.planning.planner import Planner
from evroute.planning.searches.between import problem_between
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.tradeoff import cheapest_within

CAR = load_vehicle("renault-zoe")


@pytest.fixture(scope="module")
def denver() -> RoadNetwork:
    return load_network("denver")


@pytest.fixture(scope="module")
def cut(denver: RoadNetwork) -> RoadNetwork:
    return halved(denver)


def problems(
    planner: Planner, other: Planner, edges: tuple[int, int], via: tuple[int, ...] = ()
) -> tuple[SearchProblem, SearchProblem]:
    """Return the problem from middle to middle of edges, and that between the halves of edges."""
    ends = [Position(edge, float(planner.network.length_m[edge]) / 2) for edge in edges]
    first, last = 2 * edges[0] + 1, 2 * edges[1]
    halves = Position(first, 0.0), Position(last, float(other.network.length_m[last]))
    passed = tuple((edge,) for edge in via)
    halves_passed = tuple((2 * edge + 1,) for edge in via)
    return (
        problem_between(planner.numbers, planner.search, ends[:1], passed, ends[1:]),
        problem_between(other.numbers, other.search, halves[:1], halves_passed, halves[1:]),
    )


def drawn(network: RoadNetwork, pairs: int, seed: int) -> Iterator[list[int]]:
    inside = np.array(sorted(network.strongest_component().edge_id))
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        yield [network.row_of[each] for each in rng.choice(inside, 3, replace=False)]


def test_a_position_is_a_junction_at_steady_speeds(denver: RoadNetwork, cut: RoadNetwork) -> None:
    """By eq. 8: least energy, fastest, shortest, within a time, with a battery, over a place."""
    planner, other = (Planner(network, CAR, physics="eq8") for network in (denver, cut))
    short = 0
    for number, (first, last, place) in enumerate(drawn(denver, 60, 1)):
        via = (place,) if number % 3 == 0 else ()
        both = problems(planner, other, (first, last), via)
        values = []
        for problem in both:
            fastest = problem.legs.route(problem.time_s)
            least = problem.legs.route(problem.weights())
            limit_s = 0.5 * (problem.taken_s(fastest) + problem.taken_s(least))
            within, _ = cheapest_within(problem, (1.0, 0.0), limit_s, None, [fastest])
            spent_wh = problem.taken_wh(least, None)
            battery = Battery(1.5 * spent_wh, 1.05 * spent_wh, 0.04 * spent_wh)
            shortage = problem.shortage
            need_wh = shortage.least_start_wh(battery)
            try:
                route = problem.most_charge(battery)
                left_wh = float(problem.follow(battery, route).charge_wh[-1])
            except NotEnoughChargeError:
                left_wh, short = -1.0, short + 1
            shortest = problem.legs.route(problem.length_m)
            values.append(
                [
                    problem.taken_s(fastest),
                    spent_wh,
                    problem.legs.total(problem.length_m, shortest),
                    problem.taken_wh(within, None),
                    need_wh,
                    left_wh,
                ]
            )
        np.testing.assert_allclose(values[0], values[1], rtol=1e-9, atol=1e-9)
    assert short < 60


def test_a_range_from_a_position_is_that_from_a_junction(
    denver: RoadNetwork, cut: RoadNetwork
) -> None:
    planner, other = (Planner(network, CAR, physics="eq8") for network in (denver, cut))
    battery = Battery(600.0, 150.0, 10.0)
    for first, *_ in drawn(denver, 5, 2):
        start = Position(first, float(denver.length_m[first]) / 2)
        whole = problem_between(planner.numbers, planner.search, [start], (), ())
        half = Position(2 * first + 1, 0.0)
        halves = problem_between(other.numbers, other.search, [half], (), ())
        found, expected = (charge_tree(problem, battery) for problem in (whole, halves))
        ends = dict(zip(expected.edges.tolist(), expected.end_wh.tolist(), strict=True))
        assert 100 < len(found.edges) < denver.n_edges
        assert {2 * edge + 1 for edge in found.edges.tolist()} == {e for e in ends if e % 2}
        for edge, end_wh in zip(found.edges.tolist(), found.end_wh.tolist(), strict=True):
            assert end_wh == pytest.approx(ends[2 * edge + 1], abs=1e-8)


def test_the_drivers_physics_hardly_depends_on_where_edges_are_cut(
    denver: RoadNetwork, cut: RoadNetwork
) -> None:
    """Of the least energies 0.2 % in the median, 2 % at most."""
    planner, other = (Planner(network, CAR) for network in (denver, cut))
    apart = []
    for first, last, _ in drawn(denver, 60, 3):
        found = [
            problem.taken_wh(problem.legs.route(problem.weights()), None)
            for problem in problems(planner, other, (first, last))
        ]
        apart.append(abs(found[0] - found[1]) / abs(found[1]))
    assert np.median(apart) < 0.002
    assert max(apart) < 0.02


def both_ways(network: RoadNetwork, edge: int, metres: float) -> tuple[Position, ...]:
    """Return a position on an edge, and on the way back where there is one."""
    back = (network.tail == network.head[edge]) & (network.head == network.tail[edge])
    share = 1.0 - metres / float(network.length_m[edge])
    found = [Position(edge, metres)]
    found += [Position(e, share * float(network.length_m[e])) for e in np.flatnonzero(back)[:1]]
    return tuple(found)


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_a_moved_end_costs_at_most_the_piece(denver: RoadNetwork, physics: str) -> None:
    """Each measure changes by the moved piece at most; by it alone while the route stays.

    With kinetic energy the change of the least energy has no such bound for a turn into a last road
    on which nothing is driven; the greatest one of these pairs is bounded.
    """
    planner, same, moved = Planner(denver, CAR, physics=physics), 0, []
    numbers, starts = planner.numbers, planner.search.starts.start
    for first, last, _ in drawn(denver, 60, 4):
        length_m = float(denver.length_m[last])
        begin = both_ways(denver, first, 0.4 * float(denver.length_m[first]))
        step_m, values = 0.03 * length_m, []
        for metres in (0.5 * length_m, 0.5 * length_m + step_m):
            end = both_ways(denver, last, metres)
            problem = problem_between(numbers, planner.search, begin, (), end)
            costs = problem.weights(), problem.time_s, problem.length_m
            routes = [problem.legs.route(cost) for cost in costs]
            of = problem.energy_wh, problem.time_s, problem.length_m
            totals = [problem.legs.total(v, r) for v, r in zip(of, routes, strict=True)]
            values.append((routes, totals))
        (routes, before), (others, after) = values
        ways = [each.edge for each in both_ways(denver, last, length_m / 2)]
        pieces = Stretches(np.array(ways), np.zeros(len(ways)), np.full(len(ways), step_m))
        pieces = replace(pieces, to_m=0.03 * denver.length_m[pieces.edge])
        middle = Stretches(
            pieces.edge, 0.5 * denver.length_m[ways] - pieces.to_m, 0.5 * denver.length_m[ways]
        )
        parts = numbers.of_parts(np.array(ways) + starts, middle)
        for k, cost in ((1, parts.time_s), (2, parts.length_m)):
            assert abs(after[k] - before[k]) <= cost.max() + 1e-9
            if routes[k].edges == others[k].edges:
                same += 1
                way = ways.index(routes[k].edges[-1])
                sign = 1.0 if way == 0 else -1.0
                assert after[k] - before[k] == pytest.approx(sign * cost[way], abs=1e-9)
        moved.append(abs(after[0] - before[0]))
        if physics == "eq8":
            assert moved[-1] <= np.abs(parts.energy_wh).max() + 1e-9
    assert same > 60
    assert max(moved) < 5.0


def test_two_points_of_one_edge_cost_the_pieces_between_them(denver: RoadNetwork) -> None:
    """500 pairs: energy, time and length add up over any point between, and are by share here."""
    planner, rng = Planner(denver, CAR, physics="eq8"), np.random.default_rng(6)
    edges = rng.integers(0, denver.n_edges, 500)
    shares = np.sort(rng.uniform(0.0, 1.0, (3, 500)), axis=0)
    at_m = shares * denver.length_m[edges]
    parts = [
        planner.numbers.of_parts(edges, Stretches(edges, at_m[low], at_m[high]))
        for low, high in ((0, 2), (0, 1), (1, 2))
    ]
    whole, *halves = parts
    for name in ("energy_wh", "time_s", "length_m"):
        sums = sum(getattr(each, name) for each in halves)
        np.testing.assert_allclose(getattr(whole, name), sums, atol=1e-9)
    expected_wh = (shares[2] - shares[0]) * planner.mean_wh[edges]
    np.testing.assert_allclose(whole.energy_wh, expected_wh, atol=1e-9)
    for edge, low_m, high_m, energy_wh in zip(
        edges[:100], at_m[0], at_m[2], whole.energy_wh, strict=False
    ):
        ends = [(Position(int(edge), float(metres)),) for metres in (low_m, high_m)]
        problem = problem_between(planner.numbers, planner.search, ends[0], (), ends[1])
        shortest = problem.legs.route(problem.length_m)
        assert problem.legs.total(problem.length_m, shortest) <= high_m - low_m + 1e-9
        least = problem.legs.route(problem.weights())
        assert problem.taken_wh(least, None) <= energy_wh + 1e-9


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_a_belief_before_any_trip_expects_the_pieces(
    denver: RoadNetwork, cut: RoadNetwork, physics: str
) -> None:
    """Of the belief of trips mean and deviation are those of the same trip between junctions."""
    planner, other = (
        Planner(network, CAR, belief=TripEnergies(Setting(network, CAR), physics=physics))
        for network in (denver, cut)
    )
    for first, last, _ in drawn(denver, 20, 5):
        problem, halves = problems(planner, other, (first, last))
        route = problem.legs.route(problem.time_s)
        inside = [half for edge in route.edges[1:-1] for half in (2 * edge, 2 * edge + 1)]
        same = Route((2 * route.edges[0] + 1, *inside, 2 * route.edges[-1]))
        forecast, expected = (
            each.describe(driven).energy_forecast
            for each, driven in ((planner, route), (other, same))
        )
        share = 1e-9 if physics == "eq8" else 0.02
        assert forecast.mean_wh == pytest.approx(expected.mean_wh, rel=share)
        assert forecast.std_wh == pytest.approx(expected.std_wh, rel=share)
        assert halves.legs.total(halves.time_s, same) == pytest.approx(problem.taken_s(route))


def test_a_deviation_counts_by_its_share_and_noise_by_its_variance() -> None:
    """Of an edge belief: share f counts f² in the variance of the belief and f in the noise."""
    model = IndependentNormal(np.array([4.0, 9.0, 25.0]), np.array([1.0, 2.0, 3.0]))
    arms = Arms(np.arange(3), np.zeros((3, 1)), np.array([10.0, 20.0, 30.0]))
    share = np.array([0.25, 1.0, 0.5, 0.1])
    covariance = forecast(model, arms, np.array([0, 1, 2, 0]), share).edge_covariance_wh2
    belief = [4.0 * 0.25**2, 9.0, 25.0 * 0.5**2, 4.0 * 0.1**2]
    noise = [1.0 * 0.25, 4.0, 9.0 * 0.5, 1.0 * 0.1]
    expected = np.diag(np.array(belief) + noise)
    expected[0, 3] = expected[3, 0] = 4.0 * 0.25 * 0.1
    np.testing.assert_allclose(covariance, expected)
