"""The band of the charge ends at the charge that the potential energy allows."""

from dataclasses import replace

import numpy as np
import pytest

from evroute import Planner, load_vehicle, physics_belief
from evroute.arms import Route
from evroute.network.heights.stretches import Stretches
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.forecast import RouteForecast, forecast_charge
from evroute.planning.forecasts.recovered import bounded, greatest_charge_wh
from evroute.testing.roads import make_network

CAR = replace(load_vehicle("reference"), mass_kg=1500.0)
DROP_WH = 1500.0 * 9.82 * 10.0 / 3600.0
"""Potential energy of 10 m."""


def valley():
    """60 m level, 60 m down by 10 m, 60 m up by 10 m, 60 m level."""
    heights = [50.0, 50.0, 40.0, 50.0, 50.0]
    positions = [(60.0 * k, 0.0, height) for k, height in enumerate(heights)]
    return make_network([(f"e{k}", k, k + 1) for k in range(4)], positions)


def test_the_greatest_charge_is_the_start_and_the_drop_by_hand() -> None:
    roads, battery = valley(), Battery(1000.0, 500.0, 100.0)
    driven = Stretches.whole(roads, np.arange(4))
    most_wh = greatest_charge_wh(roads, CAR, driven, battery)
    assert most_wh == pytest.approx([500.0, 500.0, 500.0 + DROP_WH, 500.0, 500.0])
    stop = ChargingStop("a", "b", 50.0, 2, 60.0, 50.0, 80, 600.0, 300.0, 330.0)
    most_wh = greatest_charge_wh(roads, CAR, driven, battery, [stop])
    assert most_wh == pytest.approx([500.0, 500.0, 500.0 + DROP_WH, 800.0, 800.0])


def test_a_band_ends_at_the_greatest_charge_and_never_below_the_expected_one() -> None:
    energy = RouteForecast(np.array([5.0, -30.0, 40.0]), np.diag([400.0, 400.0, 400.0]))
    battery = Battery(1000.0, 500.0, 100.0)
    free = forecast_charge(energy, battery)
    assert free.arrival_interval_percent[1] > 50.0
    expected_wh = np.array([500.0, 495.0, 525.0, 485.0])
    kept = bounded(free, np.array([500.0, 500.0, 510.0, 500.0]), expected_wh, battery)
    assert kept.band_percent[:, 1].tolist() == [50.0, 50.0, 52.5, 50.0]
    assert kept.arrival_interval_percent == (free.arrival_interval_percent[0], 50.0)
    assert (kept.band_percent[:, 0] == free.band_percent[:, 0]).all()
    assert kept.never_below_reserve == free.never_below_reserve


def test_a_short_level_trip_cannot_arrive_with_more_than_it_left_with() -> None:
    roads = valley()
    uncertainty = physics_belief(roads, CAR, "driving")
    planner = Planner(roads, CAR, physics="driving", uncertainty=uncertainty)
    best = planner.describe(Route((0,)), Battery(20_000.0, 10_000.0, 1_000.0))
    low, high = best.charge_forecast.arrival_interval_percent
    assert low < high == 50.0
