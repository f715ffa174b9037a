"""Beliefs of fleets: learned in turn or again, with states, loosened cars and new ones."""

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.fleet.car_effects import STD_OF_CARS
from evroute.learning.trips.terms import (
    DOWN,
    KM,
    MINUTES,
    UP,
    coefficient_prior,
    potential_slope,
    weight_wh_per_m,
    with_level,
)
from evroute.learning.trips.trip_belief import TripBelief

VEHICLE = load_vehicle("nissan-leaf-40")
PRIOR = coefficient_prior(VEHICLE)
BY_CAR = PRIOR.by_car(PRIOR.mean)


def rows_of(rng, n):
    km = rng.lognormal(1.8, 0.4, n)
    rows = np.zeros((n, len(PRIOR.mean)))
    rows[:, KM], rows[:, MINUTES] = km, 2.0 * km
    rows[:, UP], rows[:, DOWN] = rng.uniform(0, 60, n), -rng.uniform(0, 60, n)
    rows[:, 4] = km * rng.uniform(40, 90, n)
    return with_level(rows, PRIOR)


def drive(belief, rng, cars, n, share, *, sd=0.06, days=0.0):
    """Drive n trips by cars that take a share more than the prior without heights."""
    rows, errors = rows_of(rng, n), []
    for k, row in enumerate(rows):
        car = cars[k % len(cars)]
        own = row @ BY_CAR[:, 0]
        wh = row @ PRIOR.mean + share(car, k) * own + sd * own * rng.normal()
        expected = belief.of_car(car, days).expect(row)
        errors.append((wh - expected.mean_wh) / expected.sd_wh)
        belief.learn(row, wh, car=car, after_days=days)
    return np.array(errors)


def test_a_trip_without_change_of_height_takes_the_factor_more() -> None:
    rows = rows_of(np.random.default_rng(1), 20)
    dissipated = rows @ BY_CAR[:, 0]
    climb_wh = weight_wh_per_m(VEHICLE) * (rows[:, UP] + rows[:, DOWN])
    np.testing.assert_allclose(dissipated, rows @ PRIOR.mean - climb_wh, rtol=1e-12)
    assert (dissipated > 0).all()


def test_weights_follow_the_learned_coefficients() -> None:
    """A type that takes half of the prior has cars that deviate by half as much."""
    rng = np.random.default_rng(4)
    belief = TripBelief(PRIOR)
    rows = rows_of(rng, 300)
    for k, row in enumerate(rows):
        own = row @ BY_CAR[:, 0]
        climb_wh = row @ PRIOR.mean - own
        factor = 0.5 * (1.1 if k % 2 else 0.9) * rng.lognormal(0.0, 0.05)
        belief.learn(row, climb_wh + factor * own, car="more" if k % 2 else "less")
    ratio = (rows @ belief.cars.weights[:, 0]) / (rows @ BY_CAR[:, 0])
    np.testing.assert_allclose(ratio, 0.5, atol=0.05)  # the prior is far off
    found = {car: belief.cars.moments(belief.regression, car)[0][0] for car in ("more", "less")}
    assert found["more"] - found["less"] == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("factor", [-0.9, 0.0, 1.5])
def test_with_any_factor_of_a_car_no_edge_costs_less_than_its_change_of_potential(factor) -> None:
    own = PRIOR.mean + factor * BY_CAR[:, 0]
    weight = weight_wh_per_m(VEHICLE)
    assert potential_slope(own, weight) == pytest.approx(weight)
    assert own[DOWN] <= weight <= own[UP]


def test_cars_are_told_apart_and_an_unknown_one_is_wider() -> None:
    rng = np.random.default_rng(5)
    cars = [f"van-{k}" for k in range(8)]
    factor = dict(zip(cars, np.linspace(-0.15, 0.15, 8), strict=True))
    belief = TripBelief(PRIOR)
    errors = drive(belief, rng, cars, 800, lambda car, k: factor[car])
    assert 0.8 < np.std(errors[200:]) < 1.2
    found = [belief.cars.moments(belief.regression, car)[0][0] for car in cars]
    np.testing.assert_allclose(np.diff(found), 0.3 / 7, atol=0.03)
    assert np.corrcoef(found, list(factor.values()))[0, 1] > 0.98
    row = rows_of(rng, 1)[0]
    known, unknown = belief.of_car(cars[0]).expect(row), belief.of_car(None).expect(row)
    assert unknown.sd_wh > 1.3 * known.sd_wh
    assert known.mean_wh < unknown.mean_wh
    assert 0.06 < belief.cars.std[0] < 0.2


def test_learning_again_from_rows_is_learning_in_turn() -> None:
    rng = np.random.default_rng(6)
    belief = TripBelief(PRIOR)
    drive(belief, rng, ["a", "b", "c"], 26, lambda car, k: 0.1 * (car == "b"), days=3.0)
    row = rows_of(rng, 1)[0]
    before = [belief.of_car(car, 2.0).expect(row) for car in ("a", "b", "c", None)]
    belief._rebuild()
    after = [belief.of_car(car, 2.0).expect(row) for car in ("a", "b", "c", None)]
    for one, other in zip(before, after, strict=True):
        assert one.mean_wh == pytest.approx(other.mean_wh, rel=1e-9)
        assert one.sd_wh == pytest.approx(other.sd_wh, rel=1e-9)


def test_a_state_comes_back_bit_for_bit_and_learns_on_alike() -> None:
    one = TripBelief(PRIOR)
    drive(one, np.random.default_rng(7), ["a", "b"], 130, lambda car, k: 0.3 * (k > 90))
    other = TripBelief(PRIOR)
    other.restore(one.state())
    for belief in (one, other):
        drive(belief, np.random.default_rng(8), ["b", "new"], 30, lambda car, k: 0.0, days=1.0)
    states = one.state(), other.state()
    assert states[0].keys() == states[1].keys()
    for name, values in states[0].items():
        assert np.array_equal(values, states[1][name]), name


def test_one_car_that_changes_is_loosened_alone() -> None:
    rng = np.random.default_rng(9)
    cars = [f"van-{k}" for k in range(6)]
    belief = TripBelief(PRIOR)
    factor = dict(zip(cars, np.linspace(-0.1, 0.1, 6), strict=True))
    drive(belief, rng, cars, 600, lambda car, k: factor[car])
    drive(belief, rng, cars, 300, lambda car, k: factor[car] + 0.2 * (car == "van-3"))
    loosened = {car: time.loosened for car, time in belief.cars.times.items()}
    assert loosened.pop("van-3") == 1
    assert not any(loosened.values())
    assert not belief.changed
    more = {c: belief.cars.moments(belief.regression, c)[0][0] - factor[c] for c in cars}
    flat = more.pop("van-3")
    assert flat - np.mean(list(more.values())) == pytest.approx(0.2, abs=0.04)


def test_several_cars_that_change_are_a_change_of_roads() -> None:
    rng = np.random.default_rng(10)
    cars = [f"van-{k}" for k in range(6)]
    belief = TripBelief(PRIOR)
    drive(belief, rng, cars, 600, lambda car, k: 0.0)
    changed = []
    for _ in range(30):
        drive(belief, rng, cars, 6, lambda car, k: 0.35)
        changed.append(belief.changed)
    assert any(changed)
    belief.restart()
    assert not belief.changed


def test_deviations_over_cars_begin_at_their_centres() -> None:
    belief = TripBelief(PRIOR)
    np.testing.assert_array_equal(belief.cars.std, STD_OF_CARS)
    row = rows_of(np.random.default_rng(2), 1)[0]
    wider = belief.of_car("new").regression.variance(row) - belief.regression.variance(row)
    own = row @ BY_CAR
    assert wider == pytest.approx(((STD_OF_CARS * own) ** 2).sum(), rel=1e-9)


def test_fifty_trips_of_a_car_take_less_than_400_bytes_beside_their_rows() -> None:
    def size(n: int) -> int:
        belief = TripBelief(PRIOR)
        belief.widen(300)
        row = np.append(rows_of(np.random.default_rng(1), 1)[0], np.ones(300))
        for k in range(50 * n):
            belief.cars.wait(f"van-{k % n:03d}", 1.0)
            belief._errors.add(10.0 + k, 30.0, car=f"van-{k % n:03d}")
        assert np.isfinite(belief.of_car("van-001").expect(row).mean_wh)
        state = belief.state().items()
        return sum(v.nbytes for name, v in state if name.startswith(("car_", "error_")))

    assert size(8) - size(4) < 4 * 400
