"""One belief of several vehicles, shared by relative error of the dissipated energy."""

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Feedback, Route
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.model.exact import ExactGP
from evroute.model.fleet_view import FleetJointView, FleetView
from evroute.model.independent import IndependentNormal

OVER = Route((0, 1, 2, 5))


@pytest.fixture
def settings(hill):
    return Setting(hill, load_vehicle("reference")), Setting(hill, load_vehicle("volvo-c40"))


def seen(kind, model, car, van):
    return kind(
        model,
        prior_wh=van.prior.mean_wh,
        potential_wh=van.potential_wh,
        reference_prior_wh=car.prior.mean_wh,
        reference_potential_wh=car.potential_wh,
    )


def share_of(car, van):
    return (van.prior.mean_wh - van.potential_wh) / (car.prior.mean_wh - car.potential_wh)


def test_a_slow_road_found_by_the_van_is_as_slow_for_the_car(settings) -> None:
    car, van = settings
    model = IndependentNormal(car.prior_variance_wh2, 1e-3 * car.noise_std_wh)
    of_van = seen(FleetView, model, car, van)
    dissipated_wh = van.prior.mean_wh - van.potential_wh
    measured_wh = van.prior.mean_wh + 0.3 * dissipated_wh
    of_van.update(Feedback.of_route(van.arms, OVER, measured_wh[OVER.rows]))
    learned = model.posterior(car.arms).mean_wh[OVER.rows]
    by_hand = car.prior.mean_wh + 0.3 * (car.prior.mean_wh - car.potential_wh)
    np.testing.assert_allclose(learned, by_hand[OVER.rows], rtol=1e-3)


def test_it_is_bayes_with_prior_and_noise_in_the_vehicles_own_watt_hours(settings) -> None:
    car, van = settings
    share = share_of(car, van)
    of_van = seen(FleetView, IndependentNormal(car.prior_variance_wh2, car.noise_std_wh), car, van)
    alone = IndependentNormal(share**2 * car.prior_variance_wh2, share * car.noise_std_wh)
    for trip in range(3):
        measured_wh = van.prior.mean_wh[OVER.rows] + default_rng(trip).normal(0, 50, 4)
        for model in (of_van, alone):
            model.update(Feedback.of_route(van.arms, OVER, measured_wh))
    for told, expected in zip(
        *((b.mean_wh, b.std_wh) for b in (m.posterior(van.arms) for m in (of_van, alone))),
        strict=True,
    ):
        np.testing.assert_allclose(told, expected)
    np.testing.assert_allclose(of_van.noise_std(van.arms), alone.noise_std(van.arms))


def test_the_joint_scales_on_both_sides(settings) -> None:
    car, van = settings
    model = ExactGP(car.kernel, car.arms, car.noise_std_wh)
    of_van = seen(FleetJointView, model, car, van)
    of_van.update(Feedback.of_route(van.arms, OVER, van.prior.mean_wh[OVER.rows] + 40.0))
    share = share_of(car, van)
    np.testing.assert_allclose(
        of_van.covariance(van.arms), np.outer(share, share) * model.covariance(car.arms)
    )
    draws = of_van.sample_many(van.arms, default_rng(0), 20_000)
    belief = of_van.posterior(van.arms)
    np.testing.assert_allclose(
        draws.mean(axis=0), belief.mean_wh, atol=5 * belief.std_wh.max() / np.sqrt(20_000)
    )
    np.testing.assert_allclose(draws.std(axis=0), belief.std_wh, rtol=0.05)


def test_the_reference_itself_sees_the_model_as_it_is(settings) -> None:
    car, _ = settings
    model, plain = (IndependentNormal(car.prior_variance_wh2, car.noise_std_wh) for _ in range(2))
    of_car = seen(FleetView, model, car, car)
    feedback = Feedback.of_route(car.arms, OVER, car.prior.mean_wh[OVER.rows] + 40.0)
    of_car.update(feedback)
    plain.update(feedback)
    np.testing.assert_allclose(
        of_car.posterior(car.arms).mean_wh, plain.posterior(car.arms).mean_wh
    )


def test_an_edge_that_dissipates_nothing_is_refused(settings) -> None:
    car, van = settings
    with pytest.raises(ValueError, match="dissipates nothing"):
        FleetView(
            IndependentNormal(car.prior_variance_wh2, car.noise_std_wh),
            prior_wh=van.potential_wh,
            potential_wh=van.potential_wh,
            reference_prior_wh=car.prior.mean_wh,
            reference_potential_wh=car.potential_wh,
        )
