"""Scales: the fit maximises the dense log posterior, and refits come when they should."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from evroute.learning.fleet.car_effects import STD_OF_CARS, CarEffects
from evroute.learning.trips import scales
from evroute.learning.trips.kept_trips import KeptTrip, columns_of
from evroute.learning.trips.noise import START, TripNoiseScale
from evroute.learning.trips.scales import (
    LOG_STD,
    LOG_STD_OF_CARS,
    Group,
    Scales,
    fit_scales,
    is_refit_due,
    refitted,
)


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
        prior = -0.5 * (np.log(scale / start) ** 2).sum() / LOG_STD**2
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


def of_fleet(loosened_at: int = 40):
    """Return 40 trips of 5 cars, their energies less the prior means, and effects of cars."""
    rng = np.random.default_rng(8)
    km, car = rng.lognormal(1.5, 0.5, 40), rng.integers(0, 5, 40)
    heating = rng.uniform(0, 300, 40) * (rng.random(40) < 0.5)
    rows = np.column_stack([km, heating])
    factor = 0.15 * rng.normal(size=5)
    residual_wh = 30.0 * km * rng.normal() + factor[car] * 150.0 * km
    residual_wh += rng.normal(0, np.sqrt(40.0**2 + 60.0**2 * km))
    effects = CarEffects(np.diag([150.0, 1.0]), STD_OF_CARS)
    trips = []
    for k in range(40):
        effects.wait(str(car[k]), 1.0)
        loosened = int(k >= loosened_at and car[k] == 0)
        trip = KeptTrip(k, rows[k], residual_wh[k], 0.0, car=str(car[k]), loosened=loosened)
        trips.append(trip)
    return columns_of(trips, 2), car, effects


@pytest.mark.parametrize("loosened_at", [40, 20])
def test_the_fit_of_a_fleet_is_the_greatest_dense_log_posterior(loosened_at) -> None:
    """Trips of one car share its factor and its heating, until it is loosened."""
    trips, car, effects = of_fleet(loosened_at)
    centre, std = Scales(START, 0.0, 25.0), np.array([30.0, 0.5])
    found = refitted(
        centre, trips, (np.zeros(2), std), np.zeros(2, dtype=int), level=None, cars=effects
    )
    km, own = trips.rows[:, 0], trips.rows * [150.0, 1.0]
    group = np.where(trips.loosened > 0, 5, car)
    same = group[:, np.newaxis] == group
    start = np.array([START.trip_wh, START.root_km_wh, START.km_wh, *STD_OF_CARS])
    log_std = np.array([LOG_STD] * 3 + [LOG_STD_OF_CARS] * 2)

    def cost(log_ratio):
        scale = start * np.exp(log_ratio)
        scaled = trips.rows * std
        covariance = scaled @ scaled.T + same * ((own * scale[3:]) @ (own * scale[3:]).T)
        covariance += np.diag(scale[0] ** 2 + scale[1] ** 2 * km + scale[2] ** 2 * km**2)
        density = multivariate_normal(np.zeros(40), covariance).logpdf(trips.energy_wh)
        return -density + 0.5 * ((log_ratio / log_std) ** 2).sum()

    noise = found.noise
    fitted = [noise.trip_wh, noise.root_km_wh, noise.km_wh, found.factor, found.heating]
    best = np.log(np.array(fitted) / start)
    np.testing.assert_allclose(approx_fprime(best, cost, 1e-5), 0.0, atol=2e-3)
    assert (found.heights, found.roads) == (0.0, 25.0)


def test_a_large_fleet_is_fitted_to_the_cars_with_most_trips(monkeypatch) -> None:
    trips, car, effects = of_fleet()
    monkeypatch.setattr(scales, "MOST_CARS", 2)
    most = np.argsort(-np.bincount(car), kind="stable")[:2]
    given = (np.zeros(2), np.array([30.0, 0.5])), np.zeros(2, dtype=int)
    alone = [
        KeptTrip(k, trips.rows[k], float(trips.energy_wh[k]), 0.0, car=str(car[k]))
        for k in np.flatnonzero(np.isin(car, most)).tolist()
    ]
    centre = Scales(START, 0.0, 25.0)
    found = refitted(centre, trips, *given, level=None, cars=effects)
    assert found == refitted(centre, columns_of(alone, 2), *given, level=None, cars=effects)


def test_the_deviation_of_a_group_is_that_of_made_trips() -> None:
    """20 features seen by 300 trips: the fitted deviation is that of their coefficients."""
    rng = np.random.default_rng(2)
    features = rng.standard_normal((300, 20))
    coefficients = rng.standard_normal(20)
    coefficients *= 50.0 / np.sqrt(np.mean(coefficients**2))
    km = rng.uniform(1, 10, 300)
    residual_wh = features @ coefficients + rng.normal(0, 30.0, 300)
    given = np.zeros((300, 1)), residual_wh, km, np.zeros(300)
    found = fit_scales(*given, groups=[Group(features, 15.0)])
    assert found.groups[0] == pytest.approx(50.0, rel=0.05)
    assert np.sqrt(found.noise.variance(km)).mean() == pytest.approx(30.0, rel=0.1)
    assert fit_scales(*given).cost > found.cost + 50
