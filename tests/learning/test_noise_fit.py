"""Noise of trips: the fit maximises the dense log posterior; refits come when they should."""

import numpy as np
from scipy.stats import multivariate_normal

from evroute.learning.trips.noise_fit import START, TripNoiseScale, fit_scales, is_refit_due


def test_the_variance_by_hand() -> None:
    noise = TripNoiseScale(3.0, 2.0, 1.0)
    variance = noise.variance(np.array([1.0, 4.0]), np.array([0.0, 10.0]))
    assert variance.tolist() == [14.0, 9 + 16 + 16 + 10]


def test_the_fit_is_the_greatest_dense_log_posterior() -> None:
    rng = np.random.default_rng(4)
    n = 60
    km, known_wh2 = rng.lognormal(1.3, 0.5, n), rng.uniform(0, 500, n)
    rows = np.column_stack([30.0 * km, rng.normal(0, 60, n)])
    truth = TripNoiseScale(20.0, 60.0, 15.0)
    noise = rng.normal(0, np.sqrt(truth.variance(km, known_wh2)))
    residual_wh = rows @ rng.normal(size=2) + noise
    start = np.array([START.trip_wh, START.root_km_wh, START.km_wh])

    def log_posterior(scale):
        covariance = rows @ rows.T + np.diag(
            scale[0] ** 2 + scale[1] ** 2 * km + scale[2] ** 2 * km**2 + known_wh2
        )
        prior = -0.5 * (np.log(scale / start) ** 2).sum() / 2.0**2
        return multivariate_normal(np.zeros(n), covariance).logpdf(residual_wh) + prior

    found = fit_scales(rows, residual_wh, km, known_wh2).noise
    best = np.array([found.trip_wh, found.root_km_wh, found.km_wh])
    for factor in (0.9, 1.1):
        for k in range(3):
            other = best.copy()
            other[k] *= factor
            assert log_posterior(best) > log_posterior(other)
    assert log_posterior(best) >= log_posterior(np.array([20.0, 60.0, 15.0]))
    assert log_posterior(best) >= log_posterior(start)


def test_refits_are_frequent_at_first() -> None:
    due = [n for n in range(1, 301) if is_refit_due(n)]
    assert due == [3, 10, 20, 30, 50, 75, 100, 150, 200, 300]


def test_fits_of_a_long_log_cost_a_constant_number_of_passes() -> None:
    due = [n for n in range(1, 40_001) if is_refit_due(n)]
    assert due[due.index(400) :][:5] == [400, 600, 800, 1200, 1600]
    assert all(sum(n for n in due if n <= last) < 6 * last for last in due)
