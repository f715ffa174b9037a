"""Cars: learning in turn is the dense Gaussian posterior of all coefficients and all cars."""

import numpy as np
import pytest

from evroute.learning.fleet.car_effects import CarEffects, CarTime
from evroute.learning.trips.regression import TripRegression

P = 5
WEIGHTS = np.array([[3.0, 0.0], [1.0, 0.0], [0.5, 0.0], [2.0, 2.0]])
"""Of the first four of the columns."""
STD = np.array([0.08, 0.3])
MEAN, PRIOR_STD = np.array([10.0, 5.0, -3.0, 1.0, 0.0]), np.array([3.0, 1.0, 2.0, 0.5, 4.0])


class Dense:
    """All coefficients and the factor and heating of each car at each trip, jointly normal."""

    def __init__(self, rows, cars, days, loosened_by, noise_wh2) -> None:
        n = len(rows)
        g = rows[:, : len(WEIGHTS)] @ WEIGHTS
        cov = rows @ np.diag(PRIOR_STD**2) @ rows.T
        same = np.array([[a == b for a in cars] for b in cars])
        kept = 0.5 ** (np.abs(np.subtract.outer(days, days)) / 365.0)
        factor = STD[0] ** 2 * kept
        # what a loosening adds counts in all later trips of the car, and is kept as the rest
        for car, day in loosened_by:
            after = np.array([c == car and d > day for c, d in zip(cars, days, strict=True)])
            left = 0.5 ** ((days - day) / 365.0) * after
            factor += 0.15**2 * np.outer(left, left)
        cov += same * (factor * np.outer(g[:, 0], g[:, 0]))
        cov += same * (STD[1] ** 2 * np.outer(g[:, 1], g[:, 1]))
        self.covariance, self.mean = cov, rows @ MEAN
        self.noise = np.diag(np.append(noise_wh2, 0.0))[:n, :n]

    def last(self, energy_wh):
        """Return mean and variance of the last trip, noise left out, after the others."""
        known = self.covariance[:-1, :-1] + self.noise[:-1, :-1]
        gain = np.linalg.solve(known, self.covariance[:-1, -1])
        mean = self.mean[-1] + gain @ (energy_wh - self.mean[:-1])
        return mean, self.covariance[-1, -1] - gain @ self.covariance[:-1, -1]


@pytest.fixture
def trips():
    rng = np.random.default_rng(3)
    n = 60
    rows = rng.normal(size=(n, P)) * np.array([10.0, 5.0, 4.0, 8.0, 1.0])
    cars = [f"van-{k}" for k in rng.integers(0, 4, n)]
    return rng, rows, cars, np.sort(rng.uniform(0, 400, n)), rng.uniform(20, 60, n)


def learned(rows, cars, days, energy_wh, noise_wh2, loosen=None):
    """Learn trips in turn; ``loosen`` names the car that is loosened after a number of trips."""
    effects = CarEffects(WEIGHTS, STD)
    regression = TripRegression(MEAN, PRIOR_STD)
    last, first = {}, {}
    for k, (row, car) in enumerate(zip(rows, cars, strict=True)):
        last[car] = days[k]
        after = loosen is not None and loosen[1] == car and k > loosen[0]
        effects.catch_up(car, P, CarTime(days[k] - first.setdefault(car, days[k]), int(after)))
        seen = effects.learn(car, row, energy_wh[k], noise_wh2[k])
        regression.update(seen.row, seen.energy_wh, seen.noise_wh2)
        if loosen == (k, car):
            effects.loosen(car)
    return effects, regression, last


@pytest.mark.parametrize("car", ["van-0", "van-3", "new"])
@pytest.mark.parametrize("loosened", [False, True])
def test_forecasts_equal_the_dense_posterior(trips, car, loosened) -> None:
    rng, rows, cars, days, noise_wh2 = trips
    energy_wh = rows @ MEAN + rng.normal(0, 30, len(rows))
    loosen = (30, cars[30]) if loosened else None
    effects, regression, last = learned(rows, cars, days, energy_wh, noise_wh2, loosen)
    row, today = rng.normal(size=P) * 10.0, 430.0
    known = car if car in last else None
    own = effects.of(regression, known, today - last.get(car, today))
    dense = Dense(
        np.vstack([rows, row]),
        [*cars, car],
        np.append(days, today),
        [(cars[30], days[30])] if loosened else [],
        noise_wh2,
    )
    mean, variance = dense.last(energy_wh)
    assert row @ own.mean == pytest.approx(mean, rel=1e-9)
    assert own.variance(row) == pytest.approx(variance, rel=1e-9)


def test_factor_and_heating_of_a_car_equal_the_dense_posterior(trips) -> None:
    rng, rows, cars, _, noise_wh2 = trips
    energy_wh = rows @ MEAN + rng.normal(0, 30, len(rows))
    effects, regression, _ = learned(rows, cars, np.zeros(len(rows)), energy_wh, noise_wh2)
    names = sorted(set(cars))
    g = rows[:, : len(WEIGHTS)] @ WEIGHTS
    of_cars = np.zeros((len(rows), 2 * len(names)))
    for k, car in enumerate(cars):
        of_cars[k, 2 * names.index(car) : 2 * names.index(car) + 2] = g[k]
    whole = np.hstack([rows, of_cars])
    std = np.concatenate([PRIOR_STD, np.tile(STD, len(names))])
    precision = np.diag(std**-2.0) + whole.T @ (whole / noise_wh2[:, np.newaxis])
    covariance = np.linalg.inv(precision)
    mean = covariance @ (whole.T @ ((energy_wh - rows @ MEAN) / noise_wh2))
    for k, car in enumerate(names):
        its = slice(P + 2 * k, P + 2 * k + 2)
        found = effects.moments(regression, car)
        np.testing.assert_allclose(found[0], mean[its], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[1], covariance[its, its], rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(regression.mean, MEAN + mean[:P], rtol=1e-9)
    np.testing.assert_allclose(regression.covariance, covariance[:P, :P], rtol=1e-8, atol=1e-12)


def test_trips_in_turn_and_again_give_the_same_cars_bit_for_bit(trips) -> None:
    """A car that waits, or learns an earlier trip late, has the effect that its trips tell."""
    _, rows, cars, _, noise_wh2 = trips
    effects, times = CarEffects(WEIGHTS, STD), []
    for k, (row, car) in enumerate(zip(rows, cars, strict=True)):
        effects.wait(car, 0.7 * k)
        if k % 7 == 3:
            effects.loosen(car)
        late = CarTime(0.0, 0) if k % 11 == 5 else effects.times[car]
        times.append(late)
        effects.catch_up(car, P, late)
        effects.learn(car, row, 3.0 * k, noise_wh2[k])
        effects.wait(car, 0.1)
    again = CarEffects(WEIGHTS, effects.std)
    again.restore(effects.state())
    assert again.times == effects.times
    walk = zip(rows, cars, times, noise_wh2, strict=True)
    for k, (row, car, time, variance) in enumerate(walk):
        again.catch_up(car, P, time)
        again.learn(car, row, 3.0 * k, variance)
    assert again.times == effects.times
    regression = TripRegression(MEAN, PRIOR_STD)
    for car in effects.times:
        before, after = effects.of(regression, car, 9.0), again.of(regression, car, 9.0)
        assert np.array_equal(before.mean, after.mean)
        assert np.array_equal(before.root, after.root)
