"""Route forecasts against sums done by hand, and charges against a route whose outcome is known."""

import numpy as np
import pytest

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.planning.battery import Battery
from evroute.planning.forecasts.forecast import N_TRIPS, RouteForecast, forecast, forecast_charge

COVARIANCE = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 1.0], [0.0, 1.0, 1.0]])
MEAN = np.array([10.0, -20.0, 30.0])
NOISE_STD = np.array([0.5, 1.0, 2.0])
ARMS = Arms(np.arange(3), np.zeros((3, 1)), MEAN)


class Known:
    """A belief whose joint is written down."""

    def posterior(self, arms: Arms) -> Belief:
        return Belief(MEAN[arms.id], np.sqrt(np.diag(COVARIANCE))[arms.id])

    def noise_std(self, arms: Arms) -> FloatArray:
        return NOISE_STD[arms.id]

    def update(self, feedback: Feedback) -> None:
        raise AssertionError("a forecast never learns")

    def state(self) -> dict[str, np.ndarray]:
        raise AssertionError

    def restore(self, state: dict[str, np.ndarray]) -> None:
        raise AssertionError

    def covariance(self, arms: Arms) -> FloatArray:
        return COVARIANCE[np.ix_(arms.id, arms.id)]

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        raise AssertionError


def test_a_route_adds_covariances_and_one_noise_per_edge() -> None:
    energy = forecast(Known(), ARMS, np.array([0, 1]))
    assert energy.mean_wh == -10
    # 4 + 9 + 2 * 3, and noise 0.25 + 1
    assert energy.std_wh == pytest.approx(np.sqrt(20.25))
    low, high = energy.interval_wh()
    assert (low, high) == pytest.approx((-10 - 1.6448536 * 4.5, -10 + 1.6448536 * 4.5), rel=1e-7)


def test_an_edge_driven_twice_has_one_expectation_and_two_noises() -> None:
    energy = forecast(Known(), ARMS, np.array([2, 1, 2]))
    assert energy.edge_mean_wh == pytest.approx([30, -20, 30])
    # (2 f2 + f1): 4 * 1 + 9 + 2 * 2 * 1; noises 4 + 1 + 4
    assert energy.std_wh == pytest.approx(np.sqrt(17 + 9))


def test_a_certain_route_keeps_its_charge_up_to_a_full_battery() -> None:
    # 90 Wh of 100: +20 would make 110, so 10 are lost; then -70 leaves 30, then +5
    energy = RouteForecast(np.array([-20.0, 70.0, -5.0]), np.zeros((3, 3)))
    charge = forecast_charge(energy, Battery(100.0, 90.0, 32.0))
    assert charge.arrival_percent == pytest.approx(35)
    assert charge.arrives_above_reserve == 1
    assert charge.never_below_reserve == 0


def test_the_share_of_trips_above_the_reserve_is_the_gaussian_tail() -> None:
    # one edge, N(50, 10²): the charge 100 - e stays above 40 with probability Phi(1)
    energy = RouteForecast(np.array([50.0]), np.array([[100.0]]))
    charge = forecast_charge(energy, Battery(1000.0, 100.0, 40.0))
    assert charge.arrives_above_reserve == pytest.approx(0.8413447, abs=1e-7)
    assert charge.never_below_reserve == charge.arrives_above_reserve


def test_never_below_is_stricter_than_at_arrival() -> None:
    # down to about 10, then a sure 30 back: always above 20 at arrival, below it on the way half of
    # the time
    energy = RouteForecast(np.array([80.0, -30.0]), np.diag([4.0, 0.0]))
    charge = forecast_charge(energy, Battery(100.0, 100.0, 20.0))
    assert charge.arrives_above_reserve == pytest.approx(1.0)
    assert charge.never_below_reserve == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(N_TRIPS))


def test_the_band_of_the_charge_ends_in_the_arrival_interval_and_holds_nine_trips_in_ten() -> None:
    energy = RouteForecast(np.array([100.0, -50.0, 200.0]), np.diag([400.0, 100.0, 900.0]))
    charge = forecast_charge(energy, Battery(1000.0, 900.0, 100.0))
    assert charge.band_percent[0].tolist() == [90.0, 90.0]
    assert tuple(charge.band_percent[-1]) == charge.arrival_interval_percent
    half = 1.6449 * np.sqrt([400.0, 500.0, 1400.0]) / 10
    middle = np.array([80.0, 85.0, 65.0])
    assert charge.band_percent[1:, 0] == pytest.approx(middle - half, abs=1e-3)
    assert charge.band_percent[1:, 1] == pytest.approx(middle + half, abs=1e-3)


@pytest.mark.parametrize("k", [5, 40, 90])
def test_a_charge_near_full_equals_many_drawn_trips(k) -> None:
    rng, n = np.random.default_rng(k), 200_000
    root = rng.normal(size=(k, 3)) * 15.0
    covariance = root @ root.T + np.diag(rng.uniform(1.0, 400.0, k))
    energy = RouteForecast(rng.normal(0.0, 60.0, k), covariance)
    battery = Battery(2000.0, 1900.0, 1500.0)
    drawn_wh = energy.edge_mean_wh + rng.standard_normal((n, k)) @ np.linalg.cholesky(covariance).T
    charge_wh = np.full(n, battery.start_wh)
    lowest_wh, band_percent = charge_wh.copy(), []
    for edge_wh in drawn_wh.T:
        charge_wh = np.minimum(battery.capacity_wh, charge_wh - edge_wh)
        lowest_wh = np.minimum(lowest_wh, charge_wh)
        band_percent.append(np.quantile(charge_wh, [0.05, 0.95]) / 20.0)
    found, by_trips = forecast_charge(energy, battery), 1.0 / np.sqrt(N_TRIPS)
    std_percent = energy.std_wh / 20.0
    assert found.arrival_percent == pytest.approx(
        charge_wh.mean() / 20.0, abs=2 * std_percent * by_trips
    )
    # a quantile of 5 % of N trips has a standard error of sqrt(0.05 * 0.95 / N) / 0.103 deviations
    np.testing.assert_allclose(
        found.band_percent[1:], band_percent, atol=4 * 2.1 * by_trips * std_percent
    )
    assert found.never_below_reserve == pytest.approx(
        (lowest_wh >= battery.reserve_wh).mean(), abs=4 * 0.5 * by_trips
    )


def test_inflation_multiplies_every_deviation_and_no_mean() -> None:
    told = RouteForecast(MEAN, COVARIANCE)
    wide = told.inflated(1.5)
    assert wide.mean_wh == told.mean_wh
    assert wide.std_wh == pytest.approx(1.5 * told.std_wh)
    assert (told.inflation, wide.inflated(2).inflation) == (1.0, 3.0)
