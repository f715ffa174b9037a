"""The level of a car against a dense Gaussian with an Ornstein-Uhlenbeck process, written anew."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.driving import DrivingConditions, conditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.level import features_by_month
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.regression import CoefficientPrior, TripRegression
from evroute.learning.trips.terms import DRAG, FADE, KM, LEVEL, coefficient_prior
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from evroute.planning.planner import Planner

CAR = load_vehicle()
DAY_S = 86_400.0
EPOCH_S = 1_700_000_000.0


def level_prior() -> CoefficientPrior:
    """Return a prior of 150 Wh per km and a level, both free of a cone."""
    return CoefficientPrior(
        np.array([150.0, 0.0]),
        np.array([30.0, 0.15]),
        np.zeros((0, 2)),
        level=1,
        multiplied=np.array([150.0, 0.0]),
    )


def dense(km, wh, day, noise_wh2, ahead_km, ahead_day):
    """Return mean and variance of a later trip: k(i, j) = (30² + 150² 0.15² 2^(-|Δ|/365)) x x'."""
    every, days = np.append(km, ahead_km), np.append(day, ahead_day)
    apart = np.abs(np.subtract.outer(days, days))
    kernel = (30.0**2 + (150.0 * 0.15) ** 2 * 2.0 ** (-apart / 365.0)) * np.outer(every, every)
    gram = kernel[:-1, :-1] + np.diag(noise_wh2)
    gain = np.linalg.solve(gram, kernel[:-1, -1])
    return 150.0 * ahead_km + gain @ (wh - 150.0 * km), kernel[-1, -1] - gain @ kernel[:-1, -1]


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_level_that_drifts_is_the_dense_gaussian(rebuilt) -> None:
    rng = np.random.default_rng(0)
    noise = TripNoiseScale(50.0, 20.0, 5.0)
    belief = TripBelief(level_prior(), noise)
    km, day = rng.uniform(2.0, 30.0, 40), np.sort(rng.uniform(0.0, 900.0, 40))
    wh = 150.0 * km * (1.0 + 0.1 * np.sin(day / 200.0)) + rng.normal(0.0, 60.0, 40)
    day -= day[0]
    for n in range(40):
        row = np.array([km[n], 150.0 * km[n]])
        gap = float(day[n] - day[n - 1]) if n else 0.0
        belief.scales = replace(belief.scales, noise=noise)  # as it was, whatever was fitted
        if rebuilt:
            belief._rebuild()
        now = belief.after(gap)
        before_wh2 = now.regression.variance(row)
        variance = noise.variance(km[:n])
        mean_wh, own_wh2 = dense(km[:n], wh[:n], day[:n], variance, km[n], day[n])
        if rebuilt or n < 3:  # the belief fits its noise to more trips
            assert now.expect(row).mean_wh == pytest.approx(mean_wh, rel=1e-9)
            assert before_wh2 == pytest.approx(own_wh2, rel=1e-9)
        belief.learn(row, float(wh[n]), after_days=gap)
        belief.scales = replace(belief.scales, noise=noise)


def test_a_root_that_drifts_stays_small_and_keeps_its_covariance() -> None:
    rng, p = np.random.default_rng(1), 4
    regression = TripRegression(np.zeros(p), np.ones(p))
    covariance, shrink = np.eye(p), np.diag([1.0, 0.9, 1.0, 1.0])
    for _ in range(200):
        row = rng.normal(size=p)
        regression.step(1, 0.9, 0.19)
        covariance = shrink @ covariance @ shrink
        covariance[1, 1] += 0.19
        np.testing.assert_allclose(regression.covariance, covariance, atol=1e-12)
        regression.update(row, 1.0, 2.0)
        gain = covariance @ row
        covariance = covariance - np.outer(gain, gain) / (2.0 + row @ gain)
        assert regression.root.shape[1] <= 2 * p + 21


def test_features_by_month_have_the_covariance_of_the_level() -> None:
    day = np.array([3.0, 20.0, 40.0, 400.0])
    features = features_by_month(np.array([10.0, 20.0, 30.0, 40.0]), 0.15, day)
    month = np.array([0.0, 0.0, 30.0, 390.0])
    shares = 2.0 ** (-np.abs(np.subtract.outer(month, month)) / 365.0)
    expected = np.outer([10, 20, 30, 40], [10, 20, 30, 40]) * 0.15**2 * shares
    np.testing.assert_allclose(features @ features.T, expected)


def taught(setting, days=range(0, 60, 2)) -> TripEnergies:
    rng, energies = np.random.default_rng(0), TripEnergies(setting, physics="eq8")
    for day in days:
        energies.learn(trip(setting, day, 1.3 * rng.normal(1.0, 0.05)))
    return energies


def trip(setting, day: float, factor: float = 1.0, **known) -> MeasuredTrip:
    rows = np.array([setting.network.row_of[edge] for edge in ("in", "up", "down", "out")])
    wh = factor * setting.arms.prior_mean_wh[rows]
    return MeasuredTrip(
        str(day), rows, wh, setting.network.time_s[rows], EPOCH_S + day * DAY_S, **known
    )


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, CAR)


def test_after_a_long_gap_a_trip_is_in_doubt_by_the_level(setting) -> None:
    energies = taught(setting)
    soon, late = (energies.expect(trip(setting, day)) for day in (58.5, 58.0 + 300.0))
    level_wh = soon.row[LEVEL]
    assert late.energy.sd_wh > soon.energy.sd_wh
    added_wh = np.sqrt(late.energy.sd_wh**2 - soon.energy.sd_wh**2)
    # 0.06 of the energy at most, and most of it after 300 days
    assert 0.6 * 0.06 * level_wh < added_wh < 0.06 * level_wh
    level = energies.belief.regression.mean[LEVEL]
    assert energies.belief.after(365.0).regression.mean[LEVEL] == pytest.approx(level / 2)


def test_a_plan_with_a_date_is_the_trip_of_that_day(setting) -> None:
    energies = taught(setting)
    for date, day in ((None, 58.0), ("2023-11-15", 58.0), ("2025-01-01", 413.074)):
        known = {"temperature_c": 5.0, "parked_minutes": 10.0}
        expected = energies.expect(trip(setting, day, **known)).energy
        forecast_of = energies.under(DrivingConditions(**known, date=date))
        rows = trip(setting, 0).edge
        forecast = forecast_of.forecast(rows, forecast_of.mean_wh[rows])
        assert forecast.mean_wh == pytest.approx(expected.mean_wh, rel=1e-5)
        assert forecast.std_wh == pytest.approx(expected.sd_wh, rel=1e-5)


@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_a_date_after_trips_without_one_counts_for_nothing_and_says_so(setting, physics) -> None:
    hill = setting.network
    words = "the learned trips have no date, so the date given counts for nothing"
    for number, stated in ((0, False), (5, True)):
        belief = TripEnergies(setting, physics=physics)
        for t in range(number):
            rows = np.array([hill.row_of[edge] for edge in ("in", "up", "down", "out")])
            wh = setting.arms.prior_mean_wh[rows]
            belief.learn(MeasuredTrip(str(t), rows, wh, hill.time_s[rows], 3600.0 * t))
        routes = {}
        for date in (None, "2025-01-01"):
            planner = Planner(hill, CAR, belief, conditions=DrivingConditions(date=date))
            plan = planner.plan("in", "out")
            routes[date] = plan.routes["energy"].energy_forecast.interval_wh()
            assert (words in plan.assumed) == (stated and date is not None)
        assert routes[None] == routes["2025-01-01"]
    dated = taught(setting)
    planner = Planner(hill, CAR, dated, conditions=DrivingConditions(date="2025-01-01"))
    assert words not in planner.plan("in", "out").assumed


def test_a_day_of_a_plan_is_a_date_or_refused_in_one_line() -> None:
    assert conditions(date=" 2026-02-28 ").date == "2026-02-28"
    for wrong in ("2026-02-30", "28.2.2026", "today", 20260228):
        with pytest.raises(EvrouteError, match="It must be a day as YYYY-MM-DD"):
            conditions(date=wrong)


def test_trips_that_go_back_in_time_or_have_none_leave_the_level(setting) -> None:
    energies = taught(setting)
    before = energies.belief.regression.root
    for departed_s in (None, EPOCH_S - 100 * DAY_S):
        late = trip(setting, 0)
        odd = MeasuredTrip("odd", late.edge, late.energy_wh, late.travel_s, departed_s)
        assert energies._departures.days_before(odd.departed_s) == 0.0
    assert energies.belief.after(0.0).regression.root is before


def test_the_level_multiplies_the_energy_of_the_prior_but_for_fading(setting) -> None:
    energies = taught(setting)
    row = energies.row(trip(setting, 60.0, temperature_c=-5.0, soc_percent=99.0))
    prior = coefficient_prior(CAR).mean.copy()
    prior[[FADE, LEVEL]] = 0.0
    assert row[LEVEL] == pytest.approx(row[: len(prior)] @ prior)
    energies.belief.regression.mean = energies.belief.regression.prior_mean.copy()
    energies.belief.regression.mean[LEVEL] = 0.1
    energies.belief._take()
    present = energies.belief.present
    np.testing.assert_allclose(present[[KM, DRAG]], 1.1 * prior[[KM, DRAG]])
    assert present[FADE] == CAR.full_battery_fade
    day = energies.under(DrivingConditions())
    physics = TripEnergies(setting, physics="eq8").under(DrivingConditions())
    np.testing.assert_allclose(
        day.mean_wh[:4], 1.1 * (day.rows.of(np.arange(4))[:, :LEVEL] @ prior[:LEVEL])
    )
    assert physics.heating_wh == pytest.approx(day.heating_wh / 1.1)
