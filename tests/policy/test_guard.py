"""The guard: what it may lose, what it lets through, on trips whose energies are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from evroute.arms import Arms, Feedback, Round, Route
from evroute.energy.vehicle import load_vehicle
from evroute.planning.edge_space import EdgeSpace
from evroute.policy.guard import GUESSES, Guard, _Pair
from evroute.policy.sections import Totals

OVER, ROUND = (0, 1, 2, 5), (0, 3, 4, 5)  # the two ways of the toy network `hill`
PRIOR_WH = np.array([200.0, 100.0, 100.0, 150.0, 150.0, 200.0, 500.0])  # eq. 8 goes over the hill


def level(hill) -> EdgeSpace:
    """The edges of the hill without its heights, so that no energy is below the potential."""
    return EdgeSpace(replace(hill, elevation_m=np.zeros(6)), load_vehicle())


@pytest.fixture
def request_of(hill):
    arms = Arms(np.arange(7), np.zeros((7, 1)), PRIOR_WH)
    return lambda t: Round(t, arms, 0, 5)


def driven(
    hill, request_of, *, other_wh: float, seed: int, trips: int = 300, trip_sd_wh: float = 30.0
):
    """Drive trips of 600 Wh over the hill, or ``other_wh`` round it; return the ways and
    the guard.
    """
    guard = Guard(level(hill))
    rng = np.random.default_rng(seed)
    ways = []
    for t in range(1, trips + 1):
        request = request_of(t)
        route = guard.choose(request, Route(ROUND))
        total_wh = (600.0 if route.edges == OVER else other_wh) + trip_sd_wh * rng.standard_normal()
        guard.update(Feedback.of_route(request.arms, route, np.full(4, total_wh / 4)))
        ways.append(route.edges == ROUND)
    return np.array(ways), guard


def test_a_learner_that_harms_is_kept_within_its_budget(hill, request_of) -> None:
    losses, last = [], []
    for seed in range(15):
        ways, _ = driven(hill, request_of, other_wh=660.0, seed=seed)
        assert ways[:1].tolist() == [False], "the eq. 8 route is measured first"
        losses.append(60.0 * ways.mean())
        last.append(60.0 * ways[-50:].mean())
    budget_wh = 0.5 * 600 / 300 + 0.0025 * 600  # the start, and the income, per trip
    assert np.mean(losses) < 1.5 * budget_wh
    assert np.mean(last) + 1.96 * np.std(last, ddof=1) / np.sqrt(15) < 0.005 * 600


def test_a_learner_that_saves_has_its_way(hill, request_of) -> None:
    share = [
        driven(hill, request_of, other_wh=564.0, seed=seed)[0][-50:].mean() for seed in range(15)
    ]
    assert np.mean(share) > 0.95


def test_routes_no_better_are_driven_at_little_cost(hill, request_of) -> None:
    lost = [
        3.0 * driven(hill, request_of, other_wh=603.0, seed=seed)[0][-50:].mean()
        for seed in range(15)
    ]
    assert np.mean(lost) < 0.005 * 600


def test_the_guard_tells_its_state(hill, request_of) -> None:
    _, guard = driven(hill, request_of, other_wh=700.0, seed=0, trips=20)
    told = guard.diagnostics()
    assert told["guard_free"] in {0.0, 1.0}
    assert np.isfinite(told["guard_left_wh"])


def test_noise_where_routes_do_not_differ_does_not_hide_what_they_save() -> None:
    shared, over, round_it = (
        (0, 1, 2, 3, 4),
        (5, 6),
        (7, 8),
    )  # the last two of the shared edges stay in the section

    class Eq8:
        size = 10

        def potential_wh(self, request) -> np.ndarray:
            return np.zeros(10)

        def route(self, weights, request) -> Route:
            return Route((*shared, *over, 9))

    arms = Arms(np.arange(10), np.zeros((10, 1)), np.full(10, 100.0))
    rng = np.random.default_rng(3)
    guard = Guard(Eq8())
    free = []
    for t in range(1, 201):
        route = guard.choose(Round(t, arms, 0, 9), Route((*shared, *round_it, 9)))
        energy_wh = np.where(np.isin(route.rows, round_it), 95.0, 100.0)  # 10 Wh of 800 less
        energy_wh[:3] += 200.0 * rng.standard_normal(3)
        guard.update(Feedback.of_route(arms, route, energy_wh))
        free.append(guard.diagnostics()["guard_free"])
    assert np.mean(free[100:]) > 0.95


def test_the_bound_on_the_excess_joins_two_intervals_with_half_of_delta_each() -> None:
    measured_wh = {"own": [430.0, 450.0, 440.0], "known": [500.0, 480.0]}
    totals = {name: Totals() for name in measured_wh}
    for name, values in measured_wh.items():
        for value in values:
            totals[name].add(value)
    pair = _Pair(**totals, excess_wh=20.0, dissipated_wh=400.0, guess_wh=50.0)
    sigma_wh = math.sqrt((10 * 50.0**2 + 200.0 + 200.0) / (10 + 2 + 1))

    def half_width_wh(values: list[float]) -> float:
        """Return the means m with density of the average under guesses / under m <= 2 / delta."""
        average, variance = np.mean(values), sigma_wh**2 / len(values)
        spread = np.sqrt((np.array(GUESSES) * 400.0) ** 2 + variance)
        guessed = norm.pdf(average, 490.0, spread).mean()
        ratio = 2 / 0.1 * norm.pdf(0.0, 0.0, math.sqrt(variance)) / guessed
        return math.sqrt(2 * variance * math.log(ratio))

    expected_wh = 440.0 - 490.0 + sum(half_width_wh(values) for values in measured_wh.values())
    assert pair.excess_upper_bound_wh(0.1) == pytest.approx(expected_wh)
