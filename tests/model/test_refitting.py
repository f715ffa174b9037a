import io

import numpy as np
import pytest

from evroute.model.exact import ExactGP
from evroute.model.fitting import hyperparameters, refitting
from evroute.model.fitting.refitting import Refitting
from evroute.model.svgp_gpytorch import SparseVariationalGP, SVGPStepsOptions


@pytest.fixture
def refitting_model(make_world, monkeypatch):
    """A world, and what makes a model in it that fits after its second and its twentieth trip."""
    monkeypatch.setattr(refitting, "FIRST_FITS", (2,))
    world = make_world()

    def make():
        return Refitting(
            lambda *numbers: ExactGP(numbers[0], world.arms, numbers[1]),
            world.kernel,
            world.noise_std_wh,
        )

    return world, make


def test_the_first_fits_come_early_and_the_next_ever_later():
    times = [trips for trips in range(1, 1001) if refitting._is_time(trips)]
    assert times == [10, 30, 100, 300, 1000]


def test_a_refitted_model_equals_a_new_one_with_the_fitted_numbers(refitting_model):
    world, make = refitting_model
    model, trips = make(), [world.trip(20), world.trip(20), world.trip(20)]
    for trip in trips:
        model.update(trip)
    assert list(model.fits) == [2]
    found = model.fits[2].found
    assert found.noise_factor != 1.0
    noise_std_wh = found.noise_factor * world.noise_std_wh
    by_hand = ExactGP(found.applied(world.kernel), world.arms, noise_std_wh)
    for trip in trips:
        by_hand.update(trip)
    for name in ("mean_wh", "std_wh"):
        one, other = (getattr(each.posterior(world.arms), name) for each in (model, by_hand))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.noise_std(world.arms), noise_std_wh)
    np.testing.assert_array_equal(model.covariance(world.arms), by_hand.covariance(world.arms))


def test_it_continues_after_a_fit_to_the_last_bit(refitting_model):
    world, make = refitting_model
    model, other = make(), make()
    for _ in range(3):
        model.update(world.trip(20))
    buffer = io.BytesIO()
    np.savez(buffer, **model.state())
    buffer.seek(0)
    other.restore(dict(np.load(buffer, allow_pickle=False)))
    for _ in range(17):  # up to the next fit
        trip = world.trip(20)
        model.update(trip)
        other.update(trip)
    assert list(other.fits) == [20]
    for name in ("mean_wh", "std_wh"):
        one, two = (getattr(each.posterior(world.arms), name) for each in (model, other))
        np.testing.assert_array_equal(one, two)


def test_a_failed_fit_leaves_the_model_as_it_was(refitting_model, monkeypatch):
    world, make = refitting_model
    monkeypatch.setattr(hyperparameters, "NUS", ())
    model, plain = make(), ExactGP(world.kernel, world.arms, world.noise_std_wh)
    for trip in (world.trip(20), world.trip(20)):
        model.update(trip)
        plain.update(trip)
    assert model.fits[2].failed == "no step from the start raised it"
    np.testing.assert_array_equal(
        model.posterior(world.arms).mean_wh, plain.posterior(world.arms).mean_wh
    )


def test_a_variational_model_has_the_fit_of_an_exact_one(make_world, monkeypatch):
    monkeypatch.setattr(refitting, "FIRST_FITS", (2,))
    world = make_world()

    def make(kernel, noise_std_wh):
        return SparseVariationalGP(
            kernel,
            world.arms,
            noise_std_wh,
            np.random.default_rng(0),
            options=SVGPStepsOptions(inducing_points=5),
        )

    model = Refitting(make, world.kernel, world.noise_std_wh)
    model.update(world.trip(20))
    model.update(world.trip(20))
    sparse, exact = (
        model.fits[2],
        Refitting(
            lambda kernel, noise_std_wh: ExactGP(kernel, world.arms, noise_std_wh),
            world.kernel,
            world.noise_std_wh,
        ),
    )
    for trip in model._trips:
        exact.update(trip)
    assert sparse.to_json() == exact.fits[2].to_json()
    assert not sparse.failed
