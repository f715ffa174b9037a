"""Meter noise: the formula at known points, and against the true error of simulated power."""

import numpy as np
import pytest
from scipy.signal import lfilter

from evroute.learning.battery_size import coarse_words
from evroute.learning.readers.meter_noise import (
    even_minus_odd_wh,
    lag_one_correlation,
    meter_factor,
    meter_std_wh,
)

FINE_S = 0.25


def test_the_factor_at_known_correlations() -> None:
    assert meter_factor(0.27) == pytest.approx(0.30, abs=0.005)
    assert meter_factor(0.0) == meter_factor(-0.1) == 0.5


def test_even_and_odd_readings_by_hand() -> None:
    """Weights 5, 10, 10, 5 s: even readings average 40/3 W, odd ones 50/3 W, over 30 s."""
    time_s, power_w = np.array([0.0, 10.0, 20.0, 30.0]), np.array([20.0, 15.0, 10.0, 20.0])
    assert even_minus_odd_wh(time_s, power_w) == pytest.approx((40 / 3 - 50 / 3) * 30 / 3600)


def test_constant_power_is_known() -> None:
    time_s, power_w = np.arange(8.0), np.full(8, 700.0)
    assert lag_one_correlation([power_w]) == 0.0
    assert meter_std_wh([time_s], [power_w]) == 0.0


@pytest.mark.parametrize("memory_s", [2.0, 5.0, 10.0])
@pytest.mark.parametrize("every_s", [5.0, 10.0])
def test_within_a_fifth_of_the_true_deviation(memory_s: float, every_s: float) -> None:
    """Ornstein-Uhlenbeck power at 4 Hz, of which the meter reads one in 20 or 40.

    Two deviations of 800 trips each: their ratio has a standard error of 1/sqrt(800) = 3.5 %.
    """
    rng, step = np.random.default_rng(7), int(every_s / FINE_S)
    keep = np.exp(-FINE_S / memory_s)
    times, powers, errors_wh = [], [], []
    for _ in range(800):
        n = int(rng.uniform(300, 1500) / every_s) * step + 1
        shocks = rng.normal(size=n) * np.sqrt(1 - keep**2)
        shocks[0] = rng.normal()
        power_w = 8000.0 + 15000.0 * lfilter([1.0], [1.0, -keep], shocks)
        time_s = np.arange(n) * FINE_S
        times.append(time_s[::step])
        powers.append(power_w[::step])
        metered, true = np.trapezoid(powers[-1], times[-1]), np.trapezoid(power_w, time_s)
        errors_wh.append((metered - true) / 3600)
    truth = np.sqrt(np.mean(np.square(errors_wh)))
    assert meter_std_wh(times, powers) == pytest.approx(truth, rel=0.2)


@pytest.mark.parametrize(
    ("step", "battery_kwh", "trips_wh", "words"),
    [
        (
            1.0,
            0.4,
            [4.0, 8.0, 12.0, 16.0],
            "whole per cents of 0.4 kWh, and a trip takes 1 to 4 of",
        ),
        (0.5, 40.0, [200.0, 400.0], "steps of 0.5 % of 40 kWh, and a trip takes 1 to 2 of"),
        (1.0, 0.4, [40.0, 60.0], ""),
        (0.02, 6.1, [1.0], ""),
        (1.0, 40.0, [], ""),
    ],
)
def test_a_trip_of_few_steps_tells_nothing(step, battery_kwh, trips_wh, words) -> None:
    found = coarse_words(step, battery_kwh, trips_wh)
    assert bool(found) == bool(words)
    assert words in found
