"""Consumption of the usual trip against sums by hand."""

import json

import numpy as np
import pytest

from evroute.energy.driving import air_density_kgpm3
from evroute.energy.heating import Heating
from evroute.energy.vehicle import load_vehicle
from evroute.learning.trips.sentences import coefficients, heating, usual_words
from evroute.learning.trips.terms import (
    BY_TEMPERATURE,
    DOWN,
    DRAG,
    KM,
    LEVEL,
    MINUTES,
    NAMES,
    TURNING,
    UP,
    coefficient_prior,
)
from evroute.learning.trips.trip_belief import TripBelief
from evroute.learning.trips.usual import NEWEST, usual_trip
from evroute.report.charts.consumption import TEMPERATURES_C, consumption_chart, trip_points

CAR = load_vehicle()


def taught(trips: int, seed: int = 0, km: float = 10.0) -> TripBelief:
    """Return a belief of trips at 40 km/h, 30 m up and 10 m down, with a little noise."""
    prior, rng = coefficient_prior(CAR, driving=True), np.random.default_rng(seed)
    belief = TripBelief(prior)
    for _ in range(trips):
        row = np.zeros(len(NAMES))
        row[[KM, UP, DOWN, MINUTES, DRAG, TURNING]] = km, 30.0, -10.0, 1.5 * km, 60.0 * km, 200.0
        row[LEVEL] = row @ prior.multiplied
        belief.learn(row, 1.1 * float(row @ prior.mean) + rng.normal(0.0, 20.0))
    return belief


def test_the_usual_kilometre_is_the_mean_of_the_trips_without_net_climb() -> None:
    belief = taught(30)
    usual = usual_trip(belief, CAR)
    assert usual is not None
    assert (usual.km, usual.minutes, usual.speed_kmh) == pytest.approx((10.0, 15.0, 40.0))
    b = belief.present
    density = air_density_kgpm3(20.0) / 1.2
    by_hand = b[KM] + 2.0 * (b[UP] - b[DOWN]) + 1.5 * b[MINUTES] + 60.0 * density * b[DRAG]
    by_hand += 20.0 * b[TURNING]
    found = usual.by_temperature([20.0, 0.0])
    assert found.mean_wh[0] == pytest.approx(by_hand)
    denser = 60.0 * (air_density_kgpm3(0.0) - air_density_kgpm3(20.0)) / 1.2 * b[DRAG]
    cold = Heating(CAR, 0.0).of_trip(15.0) @ b[BY_TEMPERATURE] / 10.0
    assert found.mean_wh[1] - found.mean_wh[0] == pytest.approx(denser + cold)
    fast = usual.by_speed([80.0]).mean_wh[0]
    faster = 3.0 * 60.0 * density * b[DRAG] - 0.75 * b[MINUTES]
    assert fast - found.mean_wh[0] == pytest.approx(faster)


def test_the_sum_is_known_well_though_its_parts_are_not() -> None:
    """All trips are alike, so only the sum of the terms of a kilometre is learned."""
    belief = taught(60)
    std = np.sqrt(belief.regression.covariance.diagonal())
    usual = usual_trip(belief, CAR)
    assert usual is not None
    consumption = usual.by_temperature([20.0])
    assert std[KM] > 0.5 * belief.prior.std[KM]
    assert consumption.std_wh[0] < 0.1 * std[KM] + 6.0
    (words,) = usual_words(belief, CAR)
    share = usual.by_temperature([0.0]).mean_wh[0] / consumption.mean_wh[0] - 1.0
    assert words == (
        f"{consumption.mean_wh[0]:.0f} ± {consumption.std_wh[0]:.0f} Wh/km at your usual speed of "
        f"40 km/h, on the level at 20 °C, by physics +{share:.0%} at 0 °C after a cold start, not "
        f"learned yet. Your last 60 trips took {belief.kept.energy_wh.sum() / 600.0:.0f} Wh/km, "
        "with their hills, weather and known power"
    )
    # nothing but the sum was taught
    assert coefficients(belief, CAR) == heating(belief) == ""


def test_the_cold_is_stated_as_learned_once_trips_in_the_cold_taught_it() -> None:
    belief, rng = taught(20), np.random.default_rng(5)
    prior = belief.prior
    for _ in range(30):
        row = belief.kept.rows[0].copy()
        below_k = rng.uniform(0.0, 25.0)
        row[BY_TEMPERATURE] = [15.0 * below_k, below_k, 0.0]
        row[LEVEL] = row @ prior.multiplied
        belief.learn(row, 1.1 * float(row @ prior.mean) + rng.normal(0.0, 20.0))
    (words,) = usual_words(belief, CAR)
    assert "% at 0 °C after a cold start. Your" in words
    assert "by physics" not in words
    assert heating(belief) != ""


def test_without_trips_there_is_no_usual_one_and_old_trips_do_not_count() -> None:
    assert usual_trip(taught(2), CAR) is None
    assert usual_words(taught(0), CAR) == []
    belief = taught(5, km=2.0)
    prior = belief.prior
    for _ in range(NEWEST):
        row = np.zeros(len(NAMES))
        row[[KM, MINUTES, DRAG]] = 20.0, 15.0, 3_000.0
        row[LEVEL] = row @ prior.multiplied
        belief.learn(row, float(row @ prior.mean))
    usual = usual_trip(belief, CAR)
    assert usual is not None
    assert (usual.km, usual.speed_kmh) == pytest.approx((20.0, 80.0))


def test_a_chart_has_the_trips_as_points_and_the_line_of_the_belief(denver) -> None:
    from evroute.learning.measured import MeasuredTrip

    edges = np.flatnonzero(denver.length_m > 200.0)[:12]
    time_s = denver.length_m[edges] / 10.0
    time_s[0] = np.nan
    trips = [
        MeasuredTrip("cold", edges, np.full(12, 50.0), time_s, temperature_c=-5.0),
        MeasuredTrip("unknown", edges, np.full(12, 40.0), np.full(12, np.nan)),
        MeasuredTrip("untimed", edges, np.full(12, 45.0), np.full(12, np.nan), temperature_c=3.0),
        MeasuredTrip("short", edges[:1], np.full(1, 40.0), time_s[:1], temperature_c=9.0),
        MeasuredTrip("pages", edges, np.full(12, 40.0), time_s, temperature_c=9.0, routes=2),
    ]
    points = trip_points(trips, denver).set_index("trip")
    km = denver.length_m[edges].sum() / 1000.0
    assert list(points.index) == ["cold", "unknown", "untimed"]
    assert points["wh_per_km"].tolist() == pytest.approx([600.0 / km, 480.0 / km, 540.0 / km])
    assert points.loc["cold", "speed_kmh"] == pytest.approx(36.0)
    assert points.loc["unknown", ["temperature_c", "speed_kmh"]].isna().all()
    (inside,) = trip_points(
        [
            MeasuredTrip(
                "inside", edges, np.full(12, 50.0), time_s, start_m=80.0, end_m=30.0, routes=1
            )
        ],
        denver,
    ).itertuples()
    assert inside.km == pytest.approx(km - (80.0 + denver.length_m[edges[-1]] - 30.0) / 1000.0)
    assert inside.wh_per_km == pytest.approx(600.0 / inside.km)
    timed_km = inside.km - (denver.length_m[edges[0]] - 80.0) / 1000.0
    assert inside.speed_kmh == pytest.approx(3600.0 * timed_km / np.nansum(time_s))
    usual = usual_trip(taught(10), CAR)
    drawn = consumption_chart(usual, points.reset_index()).to_dict()
    by_temperature, by_speed = drawn["hconcat"]
    _, line, dots = by_temperature["layer"]
    values = line["data"]["values"]
    expected = usual.by_temperature(TEMPERATURES_C.tolist()).mean_wh
    assert [each["mean"] for each in values] == pytest.approx(expected.tolist(), abs=1e-5)
    assert [each["trip"] for each in dots["data"]["values"]] == ["cold", "untimed"]
    json.dumps(drawn, allow_nan=False)  # browsers read no NaN
    assert [each["trip"] for each in by_speed["layer"][2]["data"]["values"]] == ["cold"]
    assert by_temperature["layer"][0]["encoding"]["y"]["title"] == "Wh per km"
