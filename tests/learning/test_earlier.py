"""States of earlier versions: terms that they lack begin at their prior."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    BY_TEMPERATURE,
    COOLING,
    HEATING,
    KM,
    LATER,
    LEVEL,
    MINUTES,
    NAMES,
    coefficient_prior,
)
from evroute.learning.trips.trip_belief import TripBelief

CAR = load_vehicle("renault-zoe")


def earlier(prior: CoefficientPrior) -> CoefficientPrior:
    """Return a prior as it was before its later terms, without names."""
    kept = [name not in LATER for name in prior.names]
    cone = prior.cone[:, kept]
    return CoefficientPrior(prior.mean[kept], prior.std[kept], cone[np.any(cone, axis=1)])


@pytest.mark.parametrize("driving", [False, True])
def test_a_state_without_heating_keeps_all_it_learned(driving: bool) -> None:
    prior, rng = coefficient_prior(CAR, driving=driving), np.random.default_rng(0)
    kept = np.array([name not in LATER for name in prior.names])
    first, second = TripBelief(earlier(prior), field_std=50.0), TripBelief(prior, field_std=50.0)
    rows = []
    for number in range(12):
        if number == 4:
            first.widen(1)
        terms = rng.uniform(0.5, 9.0, kept.sum())
        rows.append(np.append(terms, np.ones(len(first.column) - len(terms))))
        first.learn(rows[-1], float(terms[0] * 150.0 + rng.normal(0.0, 30.0)))
    first.learn(rows[-1], 90_000.0)
    assert first.refused
    state = {name: array for name, array in first.state().items() if "doubt" not in name}
    del state["terms"]
    second.restore(state)

    def in_new_terms(row):
        full = np.zeros(len(second.column))
        full[np.append(kept, np.ones(len(full) - len(kept), dtype=bool))] = row
        return full

    before, after = first.expect(rows[-1]), second.expect(in_new_terms(rows[-1]))
    # the cone of the later terms may move the mean; the mean before it is the same
    assert after.mean_wh - after.moved_wh == pytest.approx(before.mean_wh - before.moved_wh)
    assert after.sd_wh == pytest.approx(before.sd_wh, rel=1e-9)
    assert second.refused == first.refused
    b = second.regression.mean
    np.testing.assert_allclose(b[BY_TEMPERATURE], prior.mean[BY_TEMPERATURE])
    variance = np.diag(second.regression.covariance)[BY_TEMPERATURE]
    np.testing.assert_allclose(variance, prior.std[BY_TEMPERATURE] ** 2)
    for belief, row in ((first, rows[3]), (second, in_new_terms(np.append(rows[3], 0.0)))):
        belief.learn(np.append(row, 0.0) if belief is first else row, 700.0)
    again, of_first = second.expect(in_new_terms(rows[-1])), first.expect(rows[-1])
    assert again.mean_wh - again.moved_wh == pytest.approx(of_first.mean_wh - of_first.moved_wh)
    assert second.prior.names[HEATING] == NAMES[HEATING] == "heating"


def with_early_warm_ups(prior: CoefficientPrior) -> CoefficientPrior:
    """Return a prior as it was with the term of an early warm-up after cooling."""
    at, cars = COOLING + 1, prior.by_car
    return replace(
        prior,
        mean=np.insert(prior.mean, at, 0.0),
        std=np.insert(prior.std, at, 10.0),
        cone=np.insert(prior.cone, at, 0.0, axis=1),
        names=(*prior.names[:at], "early warm-up", *prior.names[at:]),
        multiplied=np.insert(prior.multiplied, at, 0.0),
        level=LEVEL + 1,
        metered=slice(HEATING, at + 1),
        by_car=lambda b: np.insert(cars(np.delete(b, at)), at, 0.0, axis=0),
    )


def test_a_fleet_of_an_earlier_version_forecasts_each_car_as_before() -> None:
    """Its trips had no early warm-up, so its term has taught nothing."""
    prior, rng = coefficient_prior(CAR, driving=True), np.random.default_rng(3)
    old = with_early_warm_ups(prior)
    first, second = TripBelief(old), TripBelief(prior)
    rows, cars = np.zeros((60, len(NAMES))), [f"van-{k % 3}" for k in range(60)]
    rows[:, KM], rows[:, MINUTES] = rng.uniform(3.0, 12.0, (2, 60))
    rows[:, BY_TEMPERATURE] = rng.uniform(0.0, 40.0, (60, 1)) * [1.0, 0.5, 0.0]
    rows[:, LEVEL] = rows @ prior.multiplied
    before = np.insert(rows, COOLING + 1, 0.0, axis=1)
    for row, car in zip(before, cars, strict=True):
        share = 1.15 if car == "van-1" else 0.95
        first.learn(row, share * float(row @ old.mean) + rng.normal(0.0, 30.0), car=car)
    second.restore(first.state())
    assert second.state()["terms"].tolist() == list(NAMES)
    for car in (*cars[:3], None):
        was, now = first.of_car(car).expect(before[7]), second.of_car(car).expect(rows[7])
        assert now.mean_wh - now.moved_wh == pytest.approx(was.mean_wh - was.moved_wh)
        assert now.sd_wh == pytest.approx(was.sd_wh, rel=1e-9)


def test_a_state_of_other_terms_is_refused() -> None:
    prior = coefficient_prior(CAR)
    belief = TripBelief(prior)
    state = belief.state() | {"terms": np.array(["km", "weight"]), "column": np.zeros(2, dtype=int)}
    with pytest.raises(ValueError, match="a state of 2 coefficients, expected 11"):
        belief.restore(state)
