"""The guard: what it may lose, what it lets through, on trips whose energies are known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from evroute.arms import Arms, Feedback, Round, Route
from evroute.energy.vehicle import load_vehicle
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.policy.guard import Guard

OVER, AROUND = (0, 1, 2, 5), (0, 3, 4, 5)  # the two ways of the toy network `hill`
PRIOR_WH = np.array([200.0, 100.0, 100.0, 150.0, 150.0, 200.0, 500.0])  # eq. 8 goes over the hill
BUDGET_WH = (0.5 + 300 * 0.0025) * 600


@pytest.fixture(autouse=True)
def half_a_trip(monkeypatch) -> None:
    """Start with the energy of half a trip: less budget shows its limits in fewer trips."""
    monkeypatch.setattr("evroute.policy.ledger.START_TRIPS", 0.5)


def level(hill) -> EdgeSpace:
    """The edges of the hill without its heights, so that no energy is below the potential."""
    return EdgeSpace(replace(hill, elevation_m=np.zeros(6)), load_vehicle("reference"))


@pytest.fixture
def request_of():
    arms = Arms(np.arange(7), np.zeros((7, 1)), PRIOR_WH)
    return lambda t: Round(t, arms, 0, 5)


def believe(route: Route) -> np.ndarray:
    """Return a belief in which the route around takes 20 Wh less than the other."""
    return np.full(4, 145.0 if route.edges == AROUND else 150.0)


def driven(
    hill, request_of, *, other_wh: float, seed: int, trips: int = 300, trip_sd_wh: float = 25.0
):
    """Drive trips of 600 Wh over the hill, or ``other_wh`` around it.

    Returns whether each trip went around, and the guard.
    """
    guard = Guard(level(hill), rng=np.random.default_rng([seed, 1]))
    rng = np.random.default_rng(seed)
    ways = []
    for t in range(1, trips + 1):
        request = request_of(t)
        route = guard.choose(request, Route(AROUND), believe)
        total_wh = (600.0 if route.edges == OVER else other_wh) + trip_sd_wh * rng.standard_normal()
        guard.update(Feedback.of_route(request.arms, route, np.full(4, total_wh / 4)))
        ways.append(route.edges == AROUND)
    return np.array(ways), guard


@pytest.mark.parametrize("loss_wh", [6.0, 60.0])
def test_a_learner_that_harms_is_kept_within_its_budget(hill, request_of, loss_wh) -> None:
    lost_wh = []
    for seed in range(6):
        ways, guard = driven(hill, request_of, other_wh=600 + loss_wh, seed=seed)
        assert guard.diagnostics()["guard_budget_wh"] == pytest.approx(BUDGET_WH)
        lost_wh.append(loss_wh * ways.sum())
    assert max(lost_wh) <= BUDGET_WH
    assert max(lost_wh) > 0


def test_a_learner_that_saves_has_its_way(hill, request_of) -> None:
    share = [
        driven(hill, request_of, other_wh=520.0, seed=seed)[0][-50:].mean() for seed in range(6)
    ]
    assert np.mean(share) > 0.8


def test_a_route_that_is_expected_to_take_more_is_never_driven(hill, request_of) -> None:
    guard = Guard(level(hill), rng=np.random.default_rng(0))
    routes = [
        guard.choose(
            request_of(t),
            Route(AROUND),
            lambda route: np.full(4, 190.0 if AROUND[1] in route.edges else 150.0),
        )
        for t in range(50)
    ]
    assert set(routes) == {Route(OVER)}
    assert guard.ledger.lost_at_most_wh == 0
    assert not guard._pending


def test_the_guard_reports_its_state(hill, request_of) -> None:
    _, guard = driven(hill, request_of, other_wh=700.0, seed=0, trips=20)
    state = guard.diagnostics()
    assert state["guard_free"] in {0.0, 1.0}
    assert state["guard_left_wh"] <= state["guard_budget_wh"] == pytest.approx(300 + 20 * 1.5)
    assert state["guard_trips"] >= 1


def test_trips_under_way_count_as_lost(hill, request_of) -> None:
    """Without feedback the start of 300 Wh covers few trips."""
    _, guard = driven(hill, request_of, other_wh=600.0, seed=0, trips=10)  # the trial
    for t in range(11, 111):
        guard.choose(request_of(t), Route(AROUND), believe)
    open_trips = [bet for bets in guard._pending.values() for bet in bets]
    assert len(open_trips) == 100
    assert 1 <= sum(bet.probability < 1 for bet in open_trips) < 40
    at_most_wh = sum((1 - bet.probability) * bet.most_wh for bet in open_trips)
    assert at_most_wh <= 300 + 110 * 1.5


def test_the_route_of_eq_8_needs_no_budget(hill, request_of) -> None:
    guard = Guard(level(hill), rng=np.random.default_rng(0))
    for t in range(1, 30):
        assert guard.choose(request_of(t), Route(OVER), believe) == Route(OVER)
        assert guard.diagnostics()["guard_free"] == 1.0
    assert guard.diagnostics()["guard_left_wh"] == pytest.approx(300 + 29 * 1.5)


def test_noise_on_shared_edges_does_not_hide_a_saving() -> None:
    # the last two of the shared edges stay in the section
    shared, over, around = (0, 1, 2, 3, 4), (5, 6), (7, 8)

    class Eq8:
        size = 10
        network = SimpleNamespace(length_m=np.full(10, 100.0))

        def potential_wh(self, request) -> np.ndarray:
            return np.zeros(10)

        def route(self, weights, request) -> Route:
            return Route((*shared, *over, 9))

    arms = Arms(np.arange(10), np.zeros((10, 1)), np.full(10, 100.0))
    rng = np.random.default_rng(3)
    guard = Guard(Eq8(), rng=np.random.default_rng(4))
    free = []
    for t in range(1, 201):
        route = guard.choose(
            Round(t, arms, 0, 9), Route((*shared, *around, 9)), lambda _: np.full(8, 100.0)
        )
        energy_wh = np.where(np.isin(route.rows, around), 80.0, 100.0)  # 40 Wh of 800 less
        energy_wh[:3] += 200.0 * rng.standard_normal(3)
        guard.update(Feedback.of_route(arms, route, energy_wh))
        free.append(guard.diagnostics()["guard_free"])
    assert np.mean(free[100:]) > 0.7
