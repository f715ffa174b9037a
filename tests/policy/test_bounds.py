"""Indices from confidence sets, on a small hilly network."""

import numpy as np
import pytest
from numpy.random import default_rng

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.bounds.sets import ConfidenceSet
from evroute.model.bounds.spectrum import Spectrum
from evroute.model.exact import ExactGP
from evroute.policy.bounds import AMMOptions, AYOptions, CMMOptions, DMMOptions, IGPOptions, assume

FACTORIES = [CMMOptions, DMMOptions, AMMOptions, AYOptions, IGPOptions]


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def driven(setting, n=40, seed=0, shift_wh=None):
    rng = np.random.default_rng(seed)
    arms, rows = setting.arms, rng.integers(0, 5, n)
    noise = setting.noise_std_wh[rows] * rng.standard_normal(n)
    shift = setting.kernel.std_wh[rows] if shift_wh is None else shift_wh
    energy = arms.prior_mean_wh[rows] + shift + noise
    return Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy)


@pytest.fixture
def model(setting):
    model = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh)
    model.update(driven(setting))
    return model


def test_the_exact_model_equals_single_measurements(setting, model):
    """All 40 rows, whitened by hand, against the merged arms of the model."""
    trip = driven(setting)
    noise = setting.noise_std_wh[trip.id]
    gram = (
        setting.kernel(trip.id, trip.features, trip.id, trip.features)
        / noise
        / noise[:, np.newaxis]
    )
    residual = (trip.energy_wh - trip.prior_mean_wh) / noise
    whole = ConfidenceSet(
        Spectrum.of_gram(gram, residual, np.ones(40)), assume(6.0, 1.0, 0.05, "mixture")
    )
    arms = setting.arms
    cross = setting.kernel(trip.id, trip.features, arms.id, arms.features) / noise[:, np.newaxis]
    expected = whole.exact(
        whole.spectrum.points(cross, setting.kernel.diagonal(arms.id, arms.features))
    )
    index = CMMOptions(B=6.0).build(None)
    interval = index.interval(1, arms, model)
    np.testing.assert_allclose(interval.low, expected.low, rtol=1e-6)
    np.testing.assert_allclose(interval.high, expected.high, rtol=1e-6)
    np.testing.assert_allclose(
        index(1, arms, model, default_rng(0)), arms.prior_mean_wh + expected.low, rtol=1e-6
    )
    assert model.n_measured() == pytest.approx(40)
    assert index.b_min == pytest.approx(whole.b_min)


def test_the_whitened_ridge_of_strength_1_is_the_posterior(setting, model):
    spectrum = model.spectrum()
    mean, variance = spectrum.ridge(model.points(spectrum, setting.arms), np.array([1.0]))
    belief = model.posterior(setting.arms)
    np.testing.assert_allclose(setting.arms.prior_mean_wh + mean[:, 0], belief.mean_wh, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(variance[:, 0]), belief.std_wh, rtol=1e-9)


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_multiplier_is_half_the_width_in_posterior_deviations(setting, model, factory):
    index = factory(B=8.0).build(None)
    index(1, setting.arms, model, default_rng(0))
    interval, std_wh = index.interval(1, setting.arms, model), model.posterior(setting.arms).std_wh
    assert index.multiplier == pytest.approx(np.median((interval.high - interval.low) / 2 / std_wh))


def test_older_bounds_serve_until_refreshed(setting, model):
    index, every = CMMOptions(B=8.0, refresh_every=3).build(None), CMMOptions(B=8.0).build(None)
    first = every.interval(1, setting.arms, model)
    np.testing.assert_array_equal(index.interval(1, setting.arms, model).low, first.low)
    model.update(driven(setting, 3, seed=9))
    model.update(
        Feedback(
            *(column[[6]] for column in (setting.arms.id, setting.arms.features)),
            *[np.ones(1)] * 2,
        )
    )
    np.testing.assert_allclose(index.interval(2, setting.arms, model).low, first.low, rtol=1e-12)
    np.testing.assert_array_equal(
        index.interval(4, setting.arms, model).low, every.interval(4, setting.arms, model).low
    )


@pytest.mark.parametrize("factory", [CMMOptions, DMMOptions, AMMOptions])
def test_an_empty_confidence_set_raises_the_norm_and_warns(setting, caplog, factory):
    model = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh)
    model.update(driven(setting, 200, shift_wh=300.0))
    index = factory(B=0.5).build(None)
    with caplog.at_level("WARNING"):
        index.interval(1, setting.arms, model)
    assert index.norm == pytest.approx(1.5 * index.b_min)
    assert "without guarantee" in caplog.text


def test_an_automatic_norm_is_three_or_half_as_much_again_as_the_least_that_ever_fitted(setting):
    model = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh)
    index = CMMOptions(B="auto").build(None)
    index.interval(1, setting.arms, model)
    assert index.norm == 3.0
    model.update(driven(setting, 200, shift_wh=300.0))
    index.interval(2, setting.arms, model)
    assert index.norm == pytest.approx(1.5 * index.b_min)
    assert index.norm > 3.0


@pytest.mark.parametrize(
    ("factory", "options", "name"),
    [
        (CMMOptions, {"B": 0.0}, "B"),
        (DMMOptions, {"sigma": -1.0}, "sigma"),
        (AMMOptions, {"delta": 0.0}, "delta"),
        (CMMOptions, {"delta": 1.1}, "delta"),
        (AYOptions, {"c": 0.0}, "c"),
        (IGPOptions, {"eta": 0.0}, "eta"),
        (CMMOptions, {"refresh_every": 0}, "refresh_every"),
    ],
)
def test_options_out_of_range_are_refused(factory, options, name):
    with pytest.raises(EvrouteError, match=f"option {name} is"):
        factory.checked(options)


def test_methods_take_the_options_by_name():
    method = Method.model_validate({"method": "cmm-ucb", "B": "auto", "c": 0.3})
    assert (method.model, method.index, method.options["c"]) == ("exact", "cmm-ucb", 0.3)
    assert Method.model_validate({"method": "dmm-ucb", "c": "mixture"}).options == {"c": "mixture"}
    with pytest.raises(EvrouteError, match="option B is 'much'"):
        Method.model_validate({"method": "cmm-ucb", "B": "much"})
    with pytest.raises(EvrouteError, match="not HasSpectrum"):
        Method(model="independent", index="cmm-ucb")
    with pytest.raises(EvrouteError, match="takes eta"):
        Method.model_validate({"method": "cmm-ucb", "eta": 1.0})
