"""Planners whose beliefs learn: against planners built anew; terms of days: against trips."""

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evroute
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import DamagedFileError
from evroute.learning.belief import load_belief
from evroute.learning.followed import FollowedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.heights.pieces import Pieces
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.piece_steps import OverPieces, StepsOnDemand, steps_over_pieces
from evroute.planning.planner import Planner

CAR = load_vehicle()
WINTER = DrivingConditions(
    temperature_c=-5.0, wind_mps=4.0, payload_kg=200.0, speed_factor=0.9, auxiliary_w=900.0
)
EVENING = replace(WINTER, departed_s=18 * 3600.0, date="2026-01-15")
KINDS = {
    "driving": lambda setting: TripEnergies(setting, physics="driving"),
    "eq8": lambda setting: TripEnergies(setting, physics="eq8"),
}


def walks(network, n: int, seed: int = 0) -> list[MeasuredTrip]:
    """Return trips over random walks that take a tenth more than physics, with times."""
    rng, planner, trips = np.random.default_rng(seed), Planner(network, CAR, physics="eq8"), []
    for number in range(n):
        edges = [int(rng.integers(network.n_edges))]
        while len(edges) < 9 and len(after := network.turns[network.turns[:, 0] == edges[-1], 1]):
            edges.append(int(rng.choice(after)))
        rows = np.array(edges)
        energy_wh = 1.1 * rng.normal(1.0, 0.1) * planner.mean_wh[rows]
        travel_s = network.time_s[rows] * rng.uniform(1.0, 2.0)
        departed_s = 7200.0 * number
        trips.append(MeasuredTrip(str(number), rows, energy_wh, travel_s, departed_s))
    return trips


@pytest.fixture
def grid(make_network):
    """A level grid of 6 by 6 junctions 400 m apart, both directions of each road."""
    places = [(400.0 * x, 400.0 * y, 0.0) for x in range(6) for y in range(6)]
    pairs = [(k, k + 6) for k in range(30)] + [(k, k + 1) for k in range(36) if k % 6 < 5]
    edges = [(f"{a}>{b}", a, b) for a, b in pairs] + [(f"{b}>{a}", b, a) for a, b in pairs]
    return make_network(edges, places, name="grid")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("conditions", [EQ8_CONDITIONS, EVENING])
def test_a_planner_follows_its_belief(denver, kind: str, conditions: DrivingConditions) -> None:
    belief = KINDS[kind](Setting(denver, CAR))
    planner = Planner(denver, CAR, belief, conditions=conditions)
    by_night = planner.leaving(3600.0)
    ends = denver.edge_id[3], denver.edge_id[800]
    for trip in walks(denver, 4):
        belief.learn(trip)
        stored = KINDS[kind](Setting(denver, CAR))
        stored.restore(belief.state())
        for kept, departed_s in ((planner, conditions.departed_s), (by_night, 3600.0)):
            day = replace(conditions, departed_s=departed_s)
            anew = Planner(denver, CAR, stored, conditions=day)
            kept.follow()
            np.testing.assert_allclose(kept.mean_wh, anew.mean_wh, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(kept.time_s, anew.time_s, rtol=1e-12)
            np.testing.assert_allclose(kept.states.state_wh, anew.states.state_wh, rtol=1e-12)
        plans = [each.plan(*ends, soc=40, reserve=5) for each in (planner, anew)]
        for name, route in plans[1].routes.items():
            assert plans[0].routes[name].edges == route.edges
            assert plans[0].routes[name].energy_wh == pytest.approx(route.energy_wh, rel=1e-12)
            found, expected = plans[0].routes[name].energy_forecast, route.energy_forecast
            assert found.std_wh == pytest.approx(expected.std_wh, rel=1e-12)


def test_nothing_of_the_day_before_a_trip_is_kept(denver) -> None:
    belief = TripEnergies(Setting(denver, CAR))
    planner = Planner(denver, CAR, belief)
    other = planner.under(WINTER)
    planner.plan(3, 800)
    other.plan(3, 800)
    before = [weakref.ref(each.of_routes) for each in (planner, other)]
    gc.collect()
    gc.disable()  # days of a region are freed when they are replaced, not when it is collected
    (trip,) = walks(denver, 1)
    belief.learn(trip)
    planner.plan(3, 800)
    planner.under(WINTER).plan(3, 800)
    gone = before[0]() is None
    del other
    gc.enable()
    gc.collect()
    assert gone
    assert before[1]() is None


def test_plans_of_one_call_follow_the_belief(denver) -> None:
    belief = TripEnergies(Setting(denver, CAR), physics="driving")
    ends = denver.edge_id[3], denver.edge_id[800]
    before = evroute.plan(denver, *ends, belief=belief)
    for trip in walks(denver, 3):
        belief.learn(trip)
    after = evroute.plan(denver, *ends, belief=belief)
    anew = Planner(denver, CAR, belief).plan(*ends)
    assert after.routes["time"].energy_wh == pytest.approx(anew.routes["time"].energy_wh)
    assert after.routes["time"].energy_wh != before.routes["time"].energy_wh


def test_a_followed_belief_takes_over_trips_learned_since(denver, tmp_path: Path) -> None:
    belief = TripEnergies(Setting(denver, CAR))
    path = tmp_path / "beliefs" / "denver-learned.npz"
    trips = walks(denver, 4)

    def learned(some: list[MeasuredTrip]) -> None:
        for trip in some:
            belief.learn(trip)
        belief.save(path)

    learned(trips[:2])
    followed = FollowedBelief(tmp_path, denver)
    first = followed.at("a")
    planner = Planner(denver, None, first)
    planner.plan(3, 800)
    learned(trips[2:])
    assert followed.at("a") is first
    assert first.trips == 2
    assert followed.at("b") is first
    assert first.trips == 4
    anew = Planner(denver, None, load_belief(tmp_path, network=denver))
    np.testing.assert_allclose(planner.follow().mean_wh, anew.mean_wh, rtol=1e-12, atol=1e-12)
    path.write_bytes(b"damaged")
    with pytest.raises(DamagedFileError):
        followed.at("c")
    belief.save(path)
    assert followed.at("d").trips == 4
    fewer = TripEnergies(Setting(denver, CAR))
    fewer.learn(trips[0])
    fewer.save(path)
    assert followed.at("e") is not first
    assert followed.at("e").trips == 1


@pytest.mark.parametrize("physics", ["driving", "eq8"])
@pytest.mark.parametrize("conditions", [EQ8_CONDITIONS, EVENING])
def test_terms_of_a_day_equal_trips_of_that_day(
    denver, physics: str, conditions: DrivingConditions
) -> None:
    """Against the terms of the arms as a trip over them is learned, and sums over them."""
    belief = TripEnergies(Setting(denver, CAR), physics=physics)
    for trip in walks(denver, 3):
        belief.learn(trip)
    day = belief.under(conditions)
    every, rng = np.arange(day.space.size), np.random.default_rng(1)
    of_roads = belief.places.road_features(day.rows.edges_of(every))
    expected = np.hstack([belief.rows_on(conditions).of(every), of_roads])
    assert of_roads.any()
    np.testing.assert_allclose(day.rows.of(every), expected, rtol=1e-12, atol=1e-11)
    b, root = rng.standard_normal(expected.shape[1]), rng.standard_normal((expected.shape[1], 4))
    found = day.rows.with_turns(*day.rows.of_edges(b))
    np.testing.assert_allclose(found, expected @ b, rtol=1e-12, atol=1e-10)
    variance = ((expected @ root) ** 2).sum(axis=1)
    np.testing.assert_allclose(day.rows.variance(root), variance, rtol=1e-9, atol=1e-9)


def test_features_of_roads_equal_their_sections(grid) -> None:
    belief = TripEnergies(Setting(grid, CAR), physics="eq8")
    for trip in walks(grid, 2):
        belief.learn(trip)
    places = belief.places
    every = np.arange(grid.n_edges)
    whole, near = places.road_features(every), places.features_of_roads()
    np.testing.assert_allclose(near.rows(every), whole, rtol=0, atol=1e-15)
    b = np.random.default_rng(0).standard_normal(whole.shape[1])
    np.testing.assert_allclose(near.times(b), whole @ b, rtol=0, atol=1e-13)
    assert places.features_of_roads() is near  # nothing was learned since


def test_steps_on_demand_equal_steps_of_all_arms() -> None:
    """One compiled pass, and a few arms at a time, against the steps of all arms by numpy."""
    rng = np.random.default_rng(3)
    start = np.concatenate([[0], np.cumsum(rng.integers(1, 6, 50))])
    pieces = Pieces(start, np.ones(start[-1]), np.zeros(start[-1]))
    edge, piece_wh = rng.integers(50, size=200), rng.normal(0.0, 10.0, start[-1])
    energy_wh = rng.normal(5.0, 30.0, 200)
    whole = ChargeFunctions.of_pieces(pieces, piece_wh, edge, energy_wh)
    first, step_wh = steps_over_pieces(pieces, piece_wh, edge, energy_wh)
    assert np.array_equal(first, whole.start)
    np.testing.assert_allclose(step_wh, whole.step_wh, rtol=1e-12, atol=1e-11)
    others = ChargeFunctions.of_one_step(np.array([7.0, -2.0]))
    asked = StepsOnDemand(OverPieces(pieces, piece_wh, edge, energy_wh))
    both = asked.joined(others)
    arms = np.array([201, 3, 3, 150, 200])
    expected = whole.joined(others).take(arms)
    for _ in range(2):  # before and after all of them are computed
        found = both.take(arms)
        assert np.array_equal(found.start, expected.start)
        np.testing.assert_allclose(found.step_wh, expected.step_wh, rtol=1e-12)
        np.testing.assert_allclose(found.energy_wh, expected.energy_wh, rtol=1e-12)
        assert np.array_equal(both.start, whole.joined(others).start)
