"""The recommended route: the rule on sets of routes, and plans against all routes of a network."""

from collections.abc import Callable, Iterator
from itertools import product
from math import inf

import numpy as np
import pytest

from evroute.arms import Route
from evroute.errors import NoRouteError
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.recommendation import Rule, Saving, Totals
from evroute.planning.request import PlanRequest
from evroute.testing.on_average import PlannerOnAverage as Planner

USUAL = Rule(inf, 20.0, 0.01, 100.0)
LIMITED = Rule(0.15, 20.0, 0.01, 100.0)


@pytest.mark.parametrize(
    ("others", "best"),
    [
        ([], None),
        ([(400.0, 600.0)], 0),  # 100 Wh for nothing
        ([(480.1, 600.0)], None),  # 19.9 Wh
        ([(480.0, 600.0)], 0),
        ([(450.0, 602.0)], 0),  # 50 Wh for 2 s
        ([(482.0, 601.0)], None),  # 18 Wh for 1 s
        ([(400.0, 659.9)], 0),  # 100 Wh for 59.9 s, which are worth 99.8
        ([(400.0, 660.1)], None),
        ([(450.0, 629.9), (482.0, 601.0)], None),  # the cheaper one saves too little
        ([(0.0, 850.0)], 0),  # 500 Wh for 42 % more time, worth 417
        ([(450.0, 610.0), (440.0, 612.0)], 1),  # 10 Wh less for 2 s more
        ([(450.0, 610.0), (440.0, 620.0)], 0),  # 10 Wh less for 10 s more
    ],
)
def test_the_rule_by_hand(others: list[tuple[float, float]], best: int | None) -> None:
    """The fastest takes 500 Wh in 10 minutes."""
    assert USUAL.best(Totals(500.0, 600.0), 500.0, [Totals(*each) for each in others]) == best


def test_a_limit_of_the_extra_time_is_kept() -> None:
    fastest = Totals(500.0, 600.0)
    assert LIMITED.best(fastest, 500.0, [Totals(100.0, 690.0)]) == 0
    assert LIMITED.best(fastest, 500.0, [Totals(100.0, 690.1)]) is None


def test_a_share_of_the_energy_uphill_and_on_the_level_has_to_be_saved() -> None:
    """A descent gains 300 Wh, after 5,000 Wh that the fastest takes: 1 % of these are 50 Wh."""
    fastest = Totals(-300.0, 600.0)
    assert USUAL.best(fastest, 5000.0, [Totals(-349.0, 600.0)]) is None
    assert USUAL.best(fastest, 5000.0, [Totals(-350.0, 600.0)]) == 0


def test_the_recommendation_has_no_cliff() -> None:
    """A little more time or energy of a detour costs a driver at most the least saving."""
    rng = np.random.default_rng(3)
    for _ in range(2000):
        fastest = Totals(rng.uniform(100, 3000), rng.uniform(100, 3000))
        detour = Totals(rng.uniform(-300, 3000), fastest.time_s * rng.uniform(1, 3))
        lost_wh = USUAL.cost(fastest) - USUAL.cost(detour)
        if USUAL.best(fastest, fastest.energy_wh, [detour]) is None:
            assert lost_wh < max(20.0, 0.01 * fastest.energy_wh) + 1e-9
        else:
            assert lost_wh > 0


def drawn(rng: np.random.Generator) -> tuple[Rule, Totals, float, list[Totals]]:
    """Return a rule, the fastest route, its energy above zero, and other routes."""
    rule = Rule(rng.uniform(0, 0.5), rng.uniform(0, 60), rng.uniform(0, 0.1), rng.uniform(0, 200))
    fastest = Totals(rng.uniform(-300, 600), rng.uniform(100, 900))
    taken_wh = max(fastest.energy_wh, 0.0) + rng.uniform(0, 900)
    others = [
        Totals(fastest.energy_wh - rng.normal(40, 60), fastest.time_s * (1 + rng.uniform(0, 0.4)))
        for _ in range(rng.integers(1, 9))
    ]
    return rule, fastest, taken_wh, others


def improved(route: Totals, fastest: Totals, rng: np.random.Generator) -> Totals:
    """Return a route that is cheaper or faster, but not faster than the fastest."""
    time_s = fastest.time_s + rng.choice([1.0, rng.uniform()]) * (route.time_s - fastest.time_s)
    return Totals(route.energy_wh - rng.choice([0.0, rng.exponential(30)]), time_s)


def test_a_recommended_route_that_improves_stays_recommended() -> None:
    rng, seen = np.random.default_rng(1), 0
    for _ in range(20_000):
        rule, fastest, taken_wh, others = drawn(rng)
        best = rule.best(fastest, taken_wh, others)
        if best is None:
            continue
        seen += 1
        others[best] = improved(others[best], fastest, rng)
        assert rule.best(fastest, taken_wh, others) == best
    assert seen > 3000


def test_another_route_that_improves_takes_the_recommendation_or_leaves_it() -> None:
    """Unless it then costs the least and saves too little: the fastest is recommended."""
    rng, taken, given = np.random.default_rng(2), 0, 0
    for _ in range(20_000):
        rule, fastest, taken_wh, others = drawn(rng)
        best, other = rule.best(fastest, taken_wh, others), int(rng.integers(len(others)))
        others[other] = improved(others[other], fastest, rng)
        after = rule.best(fastest, taken_wh, others)
        taken += after == other != best
        if after in (best, other):
            continue
        given += 1
        assert after is None
        saved_wh = fastest.energy_wh - others[other].energy_wh
        assert saved_wh < max(rule.saving_wh, rule.saving_share * taken_wh)
        quick = [each for each in others if each.time_s <= rule.most_s(fastest)]
        assert rule.cost(others[other]) == min(rule.cost(each) for each in quick)
    assert taken > 1000
    assert given < 1000


def slopes(make_network: Callable[..., RoadNetwork], seed: int) -> RoadNetwork:
    """Return a hilly grid of 5 x 4 junctions with streets to the east and to the north."""
    rng = np.random.default_rng(seed)
    places = list(product(range(5), range(4)))
    positions = [(400 * x, 400 * y, rng.uniform(0, 50)) for x, y in places]
    edges = []
    for (x, y), step in product(places, ((1, 0), (0, 1))):
        end = x + step[0], y + step[1]
        if end in places:
            edges.append((f"{x}{y}{step[0]}", places.index((x, y)), places.index(end)))
    return make_network(edges, positions, speed_mps=rng.uniform(6, 28, len(edges)))


def all_routes(network: RoadNetwork, ends: tuple[int, int]) -> Iterator[Route]:
    """Yield all routes by a search in depth; the streets have no loop."""
    after: dict[int, list[int]] = {}
    for source, target in network.turns.tolist():
        after.setdefault(source, []).append(target)
    stack = [(ends[0],)]
    while stack:
        driven = stack.pop()
        if driven[-1] == ends[1]:
            yield Route(driven)
            continue
        stack += [(*driven, edge) for edge in after.get(driven[-1], [])]


WISHES = (
    {},
    {"max_extra_time": 0.5, "detour_saving_wh": 5.0},
    {"max_extra_time": 0.8, "detour_wh_per_minute": 10.0},
    {"detour_saving_wh": 1.0, "detour_saving_share": 0.0},
    {"detour_saving_wh": 0.0, "detour_saving_share": 0.3, "detour_wh_per_minute": 30.0},
)


@pytest.mark.parametrize("physics", ["driving", "eq8"])
@pytest.mark.parametrize("percent", [None, 100, 45])
def test_plans_recommend_the_best_of_all_routes(
    make_network: Callable[..., RoadNetwork], physics: str, percent: int | None
) -> None:
    """On random networks, with a battery that fills and empties on the way, too."""
    seen = {"time": 0, "other": 0, "recommended": 0}
    for seed, wishes in product(range(16), WISHES):
        network = slopes(make_network, seed)
        planner = Planner(network, "reference", physics=physics)
        ends = (seed % 2, network.n_edges - 1 - seed % 3)
        battery = None if percent is None else Battery(900.0, 9.0 * percent, 9.0, 85.0, 0.5)
        try:
            plan = planner.plan(*ends, battery=battery, **wishes)
        except NoRouteError:
            continue
        request = PlanRequest(trip="A", **wishes)
        problem, routes = planner.problem(ends), list(all_routes(network, ends))
        if battery is not None:
            battery = planner.fading(battery)
            routes = [each for each in routes if problem.keeps(battery, each)]
        found = [Totals(problem.taken_wh(r, battery), problem.taken_s(r)) for r in routes]
        fastest = plan.routes["time"]
        assert fastest.time_s == pytest.approx(min(each.time_s for each in found))
        arms = planner.space.arms_of_route(fastest.route)
        start, step_wh = planner.charge.start, planner.charge.step_wh
        taken_wh = sum(np.maximum(step_wh[start[arm] : start[arm + 1]], 0).sum() for arm in arms)
        first = Totals(fastest.energy_wh, fastest.time_s)
        best = Rule.of(request).best(first, taken_wh, found)
        ours = plan.recommended_route
        expected = first if best is None else found[best]
        assert (ours.energy_wh, ours.time_s) == pytest.approx(expected, abs=1e-6)
        assert plan.proofs[plan.recommended].startswith("exact")
        same = [n for n in ("energy", "energy-limited", "time") if n in plan.routes]
        same = [name for name in same if plan.routes[name].route == ours.route]
        assert plan.recommended == (same[0] if same else "recommended")
        kind = "time" if best is None else "recommended" if not same else "other"
        seen[kind] += 1
    assert min(seen["time"], seen["other"] + seen["recommended"]) > 2, seen
    assert percent is not None or seen["recommended"] > 2, seen


def test_the_interval_of_a_saving_is_normal() -> None:
    saving = Saving(100.0, 50.0)
    assert saving.interval_wh() == pytest.approx((100 - 1.6449 * 50, 100 + 1.6449 * 50), abs=0.01)
    assert saving.told_apart
    assert not Saving(80.0, 50.0).told_apart
    assert Saving(-100.0, 50.0).told_apart
