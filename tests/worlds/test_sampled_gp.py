"""The sampled world: paired across methods, its moments those of the prior, its closures fair."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import SeedSequence

from evroute.arms import Arms, Route
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph
from evroute.planning.searches.search import Search
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.sampled_gp import SampledGP, SampledWorld

NOISE_STD = np.linspace(0.5, 2.0, 7)
FACTOR = np.tril(np.full((7, 7), 0.5)) + np.eye(7)


@pytest.fixture
def world(hill):
    def build(seed: int = 0, closed_share: float = 0.0) -> SampledGP:
        setting = SimpleNamespace(
            arms=Arms(np.arange(7), np.zeros((7, 1)), np.linspace(10, 70, 7)),
            prior_factor=FACTOR,
            noise_std_wh=NOISE_STD,
            potential_wh=np.zeros(7),
            network=hill,
            search=Search(LineGraph.from_network(hill)),
        )
        trips = Repeated(hill.row_of["in"], hill.row_of["out"])
        options = SampledWorld(closed_share=closed_share)
        return SampledGP(options, setting, trips, SeedSequence(seed))

    return build


def test_the_truth_has_the_prior_moments(world) -> None:
    n = 4000
    truths = np.array([world(seed).truth_wh for seed in range(n)]) - np.linspace(10, 70, 7)
    covariance = FACTOR @ FACTOR.T
    variance = covariance.diagonal()
    assert np.all(np.abs(truths.mean(axis=0)) < 5 * np.sqrt(variance / n))
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    assert np.all(np.abs(np.cov(truths.T) - covariance) < 5 * error)


def test_worlds_of_one_seed_are_equal_after_any_trips(world, hill) -> None:
    over = Route(tuple(hill.row_of[e] for e in ("in", "up", "down", "out")))
    round_it = Route(tuple(hill.row_of[e] for e in ("in", "east", "west", "out")))
    one, other = world(3), world(3)
    for t, (a, b) in enumerate([(over, round_it), (round_it, over), (over, over)], start=1):
        first, second = one.drive(one.observe(t), a), other.drive(other.observe(t), b)
        assert np.array_equal(
            first.energy_wh[[0, -1]], second.energy_wh[[0, -1]]
        )  # the edges they share
    assert np.array_equal(first.energy_wh, second.energy_wh)
    assert np.array_equal(one.truth_wh, other.truth_wh)


def test_worlds_of_different_seeds_differ(world) -> None:
    assert not np.any(world(0).truth_wh == world(1).truth_wh)


def test_noise_is_new_in_each_round_and_has_the_deviation_of_its_edge(world) -> None:
    here = world(1)
    route = Route((0, 1, 2, 5))
    measured = np.array([here.drive(here.observe(t), route).energy_wh for t in range(1, 4001)])
    noise = (measured - here.truth_wh[route.rows]) / NOISE_STD[route.rows]
    assert np.all(np.abs(noise.mean(axis=0)) < 5 / np.sqrt(4000))
    assert np.all(np.abs(noise.std(axis=0) - 1) < 5 / np.sqrt(2 * 4000))


def test_an_edge_driven_twice_in_a_trip_is_measured_twice(world) -> None:
    here = world(1)
    feedback = here.drive(here.observe(1), Route((5, 6, 0, 1, 2, 5, 6)))
    noise = feedback.energy_wh - here.truth_wh[feedback.id]
    assert len(set(noise)) == 7


def test_no_road_is_closed_by_default(world) -> None:
    here = world()
    assert here.observe(1).arms is here.setting.arms
    assert len(here.setting.arms) == 7


def test_closures_are_new_each_round_the_same_for_each_method_and_leave_a_way(world, hill) -> None:
    one, other = world(2, closed_share=0.3), world(2, closed_share=0.3)
    closed_sets = set()
    for t in range(1, 60):
        arms = one.observe(t).arms
        assert np.array_equal(arms.id, other.observe(t).arms.id)
        closed = frozenset(range(7)) - set(arms.id.tolist())
        closed_sets.add(closed)
        assert len(closed) <= 2
        assert not closed & {hill.row_of["in"], hill.row_of["out"]}
        over = not closed & {hill.row_of["up"], hill.row_of["down"]}
        round_it = not closed & {hill.row_of["east"], hill.row_of["west"]}
        assert over or round_it
        assert np.array_equal(one.expected_wh(one.observe(t)), one.truth_wh[arms.id])
    assert len(closed_sets) > 5


def test_too_many_closures_are_said_to_be(world) -> None:
    with pytest.raises(NoRouteError, match="Close fewer"):
        world(0, closed_share=0.99).observe(1)
