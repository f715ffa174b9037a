"""Fits of fleets: the covariance by cars is the dense one, and so are its density and slopes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from evroute.learning.fleet.car_noise import DrivenCars, TripCovariance
from evroute.learning.trips.noise_fit import LOG_STD, LOG_STD_OF_CARS, START, fit_scales

N = 40


@pytest.fixture
def trips():
    rng = np.random.default_rng(8)
    km = rng.lognormal(1.5, 0.5, N)
    features = np.column_stack([150.0 * km, rng.uniform(0, 300, N) * (rng.random(N) < 0.5)])
    return rng, km, features, rng.integers(0, 5, N)


def dense(features, group, variance):
    same = group[:, np.newaxis] == group
    return np.diag(variance) + same * (features @ features.T)


def test_products_with_the_inverse_are_the_dense_ones(trips) -> None:
    rng, _, features, group = trips
    variance = rng.uniform(500, 5000, N)
    covariance = dense(0.1 * features, group, variance)
    found = TripCovariance(0.1 * features, group, variance)
    columns = rng.normal(size=(N, 3))
    inverse = np.linalg.inv(covariance)
    np.testing.assert_allclose(found.solved(columns), columns.T @ inverse, rtol=1e-9)
    np.testing.assert_allclose(found.solved(columns[:, 0]), columns[:, 0] @ inverse, rtol=1e-9)
    np.testing.assert_allclose(found.diagonal, inverse.diagonal(), rtol=1e-9)
    assert found.log_det == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-12)


def test_the_fit_is_the_greatest_dense_log_posterior(trips) -> None:
    rng, km, features, group = trips
    rows = np.column_stack([30.0 * km, rng.normal(0, 60, N)])
    factor = 0.15 * rng.normal(size=5)
    residual_wh = rows @ rng.normal(size=2) + factor[group] * features[:, 0]
    residual_wh += rng.normal(0, np.sqrt(40.0**2 + 60.0**2 * km))
    cars = DrivenCars(features, group, np.array([0.08, 0.3]))
    found = fit_scales(rows, residual_wh, km, np.zeros(N), cars=cars)
    centre = np.array([START.trip_wh, START.root_km_wh, START.km_wh, 0.08, 0.3])
    log_std = np.array([LOG_STD] * 3 + [LOG_STD_OF_CARS] * 2)

    def cost(log_ratio):
        scale = centre * np.exp(log_ratio)
        variance = scale[0] ** 2 + scale[1] ** 2 * km + scale[2] ** 2 * km**2
        covariance = rows @ rows.T + dense(features * scale[3:], group, variance)
        density = multivariate_normal(np.zeros(N), covariance).logpdf(residual_wh)
        return -density - 0.5 * N * np.log(2 * np.pi) + 0.5 * ((log_ratio / log_std) ** 2).sum()

    noise = found.noise
    best = np.log(np.array([noise.trip_wh, noise.root_km_wh, noise.km_wh, *found.cars]) / centre)
    assert found.cost == pytest.approx(cost(best), rel=1e-9)
    np.testing.assert_allclose(approx_fprime(best, cost, 1e-5), 0.0, atol=2e-3)
