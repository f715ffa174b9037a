"""Two physics in one belief: weights by scipy, moments by sampling, and one function for trips."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.fleet.car_errors import CarErrors
from evroute.learning.intervals import ErrorSpread, TripPrediction
from evroute.learning.measured import MeasuredTrip
from evroute.learning.mixture.physics_weight import LIMITS, UNKNOWN, PhysicsWeight, prior_weight
from evroute.learning.mixture.two_physics import TwoPhysics, _add_error
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.tail import DISCOUNT
from evroute.learning.trips.times import TripTimes
from evroute.methods.setting import Setting
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner

CAR = load_vehicle()


def random_walk(network, rng) -> np.ndarray:
    edges = [int(rng.integers(network.n_edges))]
    while len(edges) < 6 and len(after := network.turns[network.turns[:, 0] == edges[-1], 1]):
        edges.append(int(rng.choice(after)))
    return np.array(edges)


def trips_by(network, physics: str, seed: int, n: int) -> list[MeasuredTrip]:
    """Return random trips that take the energy of a plan by one physics, with 5 % of noise."""
    rng, planner = np.random.default_rng(seed), Planner(network, CAR, physics=physics)
    trips = []
    for i in range(n):
        edges = random_walk(network, rng)
        energy_wh = (
            rng.normal(1.0, 0.05)
            * planner.mean_wh[planner.space.arms_of_route(Route(tuple(edges.tolist())))]
        )
        travel_s = network.time_s[edges] if physics == "eq8" else np.full(len(edges), np.nan)
        trips.append(MeasuredTrip(str(i), edges, energy_wh, travel_s, departed_s=7200.0 * i))
    return trips


def taught(network, physics: str, n: int = 40, seed: int = 0) -> TwoPhysics:
    belief = TwoPhysics(Setting(network, CAR))
    for trip in trips_by(network, physics, seed, n):
        belief.learn(trip)
    return belief


def prediction(mean_wh: float, sd_wh: float, nu: float, scale: float) -> TripPrediction:
    return TripPrediction(mean_wh, sd_wh, ErrorSpread(nu, scale, np.empty(0)), 0, 0.0)


def test_weights_are_bayes_rule_with_students_t_and_forget() -> None:
    weight, log_odds = PhysicsWeight(0.7), 0.0
    rng = np.random.default_rng(3)
    for _ in range(20):
        energy, one, two = rng.normal(1000.0, 100.0, 3)
        first, second = prediction(one, 80.0, 6.0, 1.1), prediction(two, 120.0, 4.0, 0.8)
        weight.add(energy, first, second)
        log_odds = DISCOUNT * log_odds + (
            student.logpdf(energy, 6.0, one, 80.0 * 1.1)
            - student.logpdf(energy, 4.0, two, 120.0 * 0.8)
        )
        odds = 0.7 / 0.3 * np.exp(log_odds)
        assert weight.first == pytest.approx(odds / (1.0 + odds), rel=1e-9)


def test_a_mixture_has_the_moments_of_draws_from_it() -> None:
    rng, weight = np.random.default_rng(0), PhysicsWeight(0.3)
    means = np.array([[100.0, 250.0], [130.0, 200.0]])
    roots = rng.normal(size=(2, 2, 2)) * 20.0
    covariances = roots @ roots.transpose(0, 2, 1)
    first = rng.random(400_000) < 0.3
    drawn = np.where(
        first[:, np.newaxis],
        rng.multivariate_normal(means[0], covariances[0], len(first)),
        rng.multivariate_normal(means[1], covariances[1], len(first)),
    )
    found = weight.covariance(covariances[0], covariances[1], means[0] - means[1])
    np.testing.assert_allclose(found, np.cov(drawn.T), rtol=0.02)
    np.testing.assert_allclose(weight.mixed(means[0], means[1]), drawn.mean(axis=0), rtol=0.002)
    np.testing.assert_allclose(
        weight.variance(covariances[0].diagonal(), covariances[1].diagonal(), means[0] - means[1]),
        found.diagonal(),
    )


def test_limits_of_maps_favour_the_drivers_physics(denver) -> None:
    assert prior_weight(denver) == LIMITS == 0.9
    own = replace(denver, source=replace(denver.source, kind="graphml"))
    assert prior_weight(own) == UNKNOWN == 0.5


@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_the_physics_that_made_the_trips_gains_weight(denver, physics) -> None:
    belief = taught(denver, physics)
    right = belief.weight.first if physics == "driving" else 1.0 - belief.weight.first
    assert right > (0.95 if physics == "driving" else 0.5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_no_turn_is_below_its_change_of_potential(hilly, physics, seed) -> None:
    rng, network = np.random.default_rng(seed), hilly(seed)
    belief = taught(network, physics, seed=seed)
    for evidence in rng.normal(0.0, 4.0, 5):
        belief.weight.evidence = float(evidence)
        for conditions in (EQ8_CONDITIONS, DrivingConditions(payload_kg=300.0, temperature_c=-5)):
            day = belief.under(conditions)
            states = day.space.states
            assert (day.mean_wh >= states.head_wh - states.tail_wh - 1e-6).all()


def test_a_driven_trip_and_a_planned_one_are_expected_alike(hilly) -> None:
    """The plan is made of turns, the trip of its row; both beliefs have another mean."""
    rng, network = np.random.default_rng(2), hilly(1)
    belief = taught(network, "driving")
    belief.weight.evidence = 0.5
    assert 0.2 < belief.weight.first < 0.8
    for i in range(20):
        known = {
            "temperature_c": float(rng.uniform(-10, 35)),
            "payload_kg": float(rng.uniform(0, 300)),
            "parked_minutes": float(rng.uniform(0, 120)),
        }
        edges = random_walk(network, rng)
        lasts = np.full(len(edges), np.nan)
        trip = MeasuredTrip(str(i), edges, np.ones(len(edges)), lasts, **known)
        expected = belief.expect(trip)
        day = belief.under(DrivingConditions(**known))
        route = Route(tuple(edges.tolist()))
        turns = day.space.arms_of_route(route)
        driven = Stretches.of_route(network, route, halts=True)
        energy_wh = day.mean_wh[turns]
        energy_wh[-1] += day.halt_wh[edges[-1]]
        forecast = day.forecast(turns, energy_wh, None, driven)
        assert forecast.mean_wh == pytest.approx(expected.energy.mean_wh, rel=1e-9)
        assert forecast.std_wh == pytest.approx(expected.energy.sd_wh, rel=1e-9)
        assert forecast.interval_wh(0.9) == pytest.approx(expected.energy.interval(0.9), rel=1e-9)
        assert forecast.time() == pytest.approx(dict(expected.time), rel=1e-9)
        apart = expected.driving.energy.mean_wh - expected.steady.energy.mean_wh
        weight = belief.weight.first
        between = weight * (1 - weight) * apart**2
        assert forecast.std_wh**2 > between
        assert forecast.reached_wh2[-1, -1] == pytest.approx(
            weight * expected.driving.energy.sd_wh**2
            + (1 - weight) * expected.steady.energy.sd_wh**2
            + between
        )


def test_with_all_weight_on_one_physics_the_mixture_is_that_belief(hilly) -> None:
    network = hilly(0)
    belief = taught(network, "driving")
    edges = random_walk(network, np.random.default_rng(5))
    route, battery = Route(tuple(edges.tolist())), Battery.of_percent(CAR.battery_kwh, 97.0, 5.0)
    for evidence, member in ((1e3, belief.driving), (-1e3, belief.steady)):
        belief.weight.evidence = evidence
        mixed, alone = (Planner(network, CAR, each) for each in (belief, member))
        shown, own = (each.describe(route, battery) for each in (mixed, alone))
        assert shown.energy_wh == pytest.approx(own.energy_wh)
        assert shown.energy_forecast.std_wh == pytest.approx(own.energy_forecast.std_wh)
        np.testing.assert_allclose(mixed.time_s, alone.time_s)
        day, of_member = mixed.learned, alone.learned
        other = random_walk(network, np.random.default_rng(6))
        arms = [day.space.arms_of_route(Route(tuple(each.tolist()))) for each in (edges, other)]
        own_arms = [
            of_member.space.arms_of_route(Route(tuple(each.tolist()))) for each in (edges, other)
        ]
        assert day.difference_std_wh(*arms) == pytest.approx(of_member.difference_std_wh(*own_arms))
        before, charge_wh = np.arange(-1, len(edges) - 1), np.full(len(edges), 30_000.0)
        np.testing.assert_allclose(
            day.reached_std_wh(arms[0], before, charge_wh),
            of_member.reached_std_wh(own_arms[0], before, charge_wh),
        )


def test_the_deviation_along_a_chain_equals_the_forecast(hilly) -> None:
    network = hilly(2)
    belief = taught(network, "driving")
    belief.weight.evidence = 0.3
    edges = random_walk(network, np.random.default_rng(1))
    day = belief.under(EQ8_CONDITIONS)
    arms = day.space.arms_of_route(Route(tuple(edges.tolist())))
    along = day.forecast(arms, day.mean_wh[arms]).reached_wh2.diagonal()
    tree = day.reached_std_wh(arms, np.arange(-1, len(arms) - 1), np.full(len(arms), 1_000.0))
    np.testing.assert_allclose(tree**2, along, rtol=1e-9)


def test_a_deviation_that_is_learned_raises_no_alarm() -> None:
    """Errors stay as they are, while the deviation falls to a tenth: only its own scores grow."""
    rng = np.random.default_rng(0)
    by_deviation, by_unit = CarErrors(), CarErrors()
    for number in range(200):
        error, std = rng.normal(0.0, 10.0), 100.0 * 0.1 ** min(number / 100.0, 1.0)
        _add_error(by_deviation, error, prediction(0.0, std, 6.0, 1.0))
        _add_error(by_unit, error, prediction(0.0, std, 6.0, 1.0), 50.0)
    assert by_deviation.changed
    assert not by_unit.changed
    assert by_unit.spread().scores.tolist() == by_deviation.spread().scores.tolist()
    for _ in range(40):
        _add_error(by_unit, 60.0, prediction(0.0, 10.0, 6.0, 1.0), 50.0)
    assert by_unit.changed


def test_times_of_one_physics_are_tested_in_the_noise_before_any_trip(hill) -> None:
    """60 s a trip, 40 s a root of a km, 20 s a km; refused trips too. A true change is found."""
    times = TripTimes(KnownRoads(hill))
    times.errors.learn(np.array([4.0, 300.0]), 330.0)
    times.errors.learn(np.array([1.0, 100.0]), 5_000.0)  # beyond belief
    units = [np.sqrt(60.0**2 + 40.0**2 * km + (20.0 * km) ** 2) for km in (4.0, 1.0)]
    tested = times.errors.state()["tested"].tolist()
    assert tested == pytest.approx([30.0 / units[0], 4_900.0 / units[1]])
    rng = np.random.default_rng(0)
    for error in rng.normal(0.0, 3.0, 100).tolist():
        times.errors.learn(np.array([1.0, 100.0]), 100.0 + error)
        assert not times.errors.changed
    for _ in range(20):
        times.errors.learn(np.array([1.0, 100.0]), 5_500.0)
    assert times.errors.changed


def alarmed(errors) -> None:
    """Add errors that grow, until the test of changes is sure of one."""
    for power in range(20):
        errors.refuse(100.0 * 2.0**power, 1.0)
    assert errors.changed


@pytest.mark.parametrize("member", ["driving", "steady"])
@pytest.mark.parametrize("of", ["energy", "time"])
def test_a_change_that_only_one_physics_finds_restarts_nothing(hilly, member, of) -> None:
    """The mixture decides; the member's test begins anew, so that it may widen its prior."""
    both = taught(hilly(1), "eq8", 40)
    one = getattr(both, member)
    tested = one.belief if of == "energy" else one.times.errors
    alarmed(tested._errors)
    assert one.changed
    passed, scores = both.pace.passed.tolist(), tested._errors.all.trips
    more = trips_by(hilly(1), "eq8", 5, 1)[0]
    both.learn(replace(more, trip="more", departed_s=7200.0 * 40))
    assert not one.changed
    assert not both.changed
    assert both.driving.changed_after == both.steady.changed_after == 0
    assert set(passed) <= set(both.pace.passed.tolist())
    assert tested._errors.all.trips == scores + 1  # the spread of past errors stays


@pytest.mark.parametrize("of", ["errors", "time_errors"])
def test_a_change_that_the_mixture_finds_restarts_both(hilly, of) -> None:
    both = taught(hilly(1), "eq8", 40)
    for each in (both.driving, both.steady):
        alarmed(each.belief._errors)
    alarmed(getattr(both, of))
    more = trips_by(hilly(1), "eq8", 5, 1)[0]
    both.learn(replace(more, trip="more", departed_s=7200.0 * 40))
    assert both.driving.changed_after == both.steady.changed_after == 41
    assert not any(each.changed for each in (both, both.driving, both.steady))
    assert len(both.pace.passed) == 0
