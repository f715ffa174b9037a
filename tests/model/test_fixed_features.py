"""A Gaussian process in fixed features, against the exact one and its kernel written out."""

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.model.exact import ExactGP
from evroute.model.fixed_features import FixedFeatures
from evroute.policy.bounds import CMMOptions


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle())


def taught(model, setting):
    rng = np.random.default_rng(0)
    rows, arms = rng.integers(0, 5, 40), setting.arms
    energy_wh = (
        arms.prior_mean_wh[rows] + 30.0 + setting.noise_std_wh[rows] * rng.standard_normal(40)
    )
    model.update(Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy_wh))
    return model


def test_with_all_edges_for_features_it_is_the_exact_process(setting):
    parts = setting.kernel, setting.arms, setting.noise_std_wh
    exact, fixed = (
        taught(ExactGP(*parts), setting),
        taught(FixedFeatures(*parts, features=300), setting),
    )
    one, other = fixed.posterior(setting.arms), exact.posterior(setting.arms)
    np.testing.assert_allclose(one.mean_wh, other.mean_wh, rtol=1e-6)
    np.testing.assert_allclose(one.std_wh, other.std_wh, rtol=1e-6)
    low, high = (
        CMMOptions(B=8.0).build(None).interval(1, setting.arms, model) for model in (fixed, exact)
    )
    np.testing.assert_allclose(low.low, high.low, rtol=1e-5)
    np.testing.assert_allclose(low.high, high.high, rtol=1e-5)


def test_with_few_features_it_is_the_process_of_their_kernel(setting):
    model = FixedFeatures(setting.kernel, setting.arms, setting.noise_std_wh, features=3)
    prior = model.prior_covariance(setting.arms)
    assert np.linalg.matrix_rank(prior) == 3
    taught(model, setting)
    assert model.n_measured() == 40
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, 40)
    residual = 30.0 + setting.noise_std_wh[rows] * rng.standard_normal(40)
    gram = prior[np.ix_(rows, rows)] + np.diag(setting.noise_std_wh[rows] ** 2)
    cross = prior[rows]
    belief = model.posterior(setting.arms)
    np.testing.assert_allclose(
        belief.mean_wh - setting.arms.prior_mean_wh,
        cross.T @ np.linalg.solve(gram, residual),
        rtol=1e-6,
    )
    variance = prior.diagonal() - np.sum(cross * np.linalg.solve(gram, cross), axis=0)
    np.testing.assert_allclose(belief.std_wh**2, variance, rtol=1e-5, atol=1e-9)
