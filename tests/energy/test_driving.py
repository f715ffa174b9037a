"""The day of a trip: each condition by hand."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.driving import DrivingConditions, conditions, headwind_mps
from evroute.energy.prior import EQ8_CONDITIONS, edge_parts, fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.network.catalog import load_network


@pytest.fixture(scope="module")
def denver():
    return load_network("denver")


def test_the_defaults_are_eq_8(denver) -> None:
    vehicle = load_vehicle("reference")
    assert np.array_equal(
        fit(denver, vehicle).mean_wh, fit(denver, vehicle, conditions=DrivingConditions()).mean_wh
    )


def test_the_density_of_air_at_twenty_degrees_equals_tables() -> None:
    assert DrivingConditions(temperature_c=20).air_density_kgpm3 == pytest.approx(1.204, abs=5e-4)
    assert DrivingConditions(temperature_c=-10).air_density_kgpm3 == pytest.approx(1.342, abs=1e-3)
    assert DrivingConditions().air_density_kgpm3 == 1.2


def test_a_wind_blows_against_one_direction_of_a_street_and_with_the_other(denver) -> None:
    headwind = headwind_mps(denver, 7.0, 90.0)
    back = {
        (int(t), int(h)): row
        for row, (t, h) in enumerate(zip(denver.tail, denver.head, strict=True))
    }
    pairs = [(row, back[h, t]) for (t, h), row in back.items() if (h, t) in back]
    assert pairs
    for there, back_again in pairs:
        assert headwind[there] == pytest.approx(-headwind[back_again])
    east = np.flatnonzero(denver.x_m[denver.head] - denver.x_m[denver.tail] > 0)
    assert np.all(headwind[east] > 0)
    assert np.abs(headwind).max() <= 7.0 + 1e-12


def test_drag_in_a_wind_depends_on_the_speed_through_the_air(denver) -> None:
    vehicle = load_vehicle("reference")
    day = DrivingConditions(wind_mps=5.0, wind_from_deg=30.0)
    windy, calm = edge_parts(denver, vehicle, day), edge_parts(denver, vehicle)
    rows = np.flatnonzero((calm.total_wh > 0) & (windy.total_wh > 0))
    air = denver.speed_mps + headwind_mps(denver, 5.0, 30.0)
    expected = calm.drag_wh * air * np.abs(air) / denver.speed_mps**2
    assert windy.drag_wh[rows] == pytest.approx(expected[rows])


def test_payload_climbs_and_rolls(denver) -> None:
    vehicle, day = load_vehicle("reference"), DrivingConditions(payload_kg=183.0)
    loaded, empty = (fit(denver, vehicle, conditions=each) for each in (day, EQ8_CONDITIONS))
    assert loaded.potential_wh == pytest.approx(1.1 * empty.potential_wh)  # of 1,830 kg
    both = (loaded.mean_wh > 0) == (empty.mean_wh > 0)
    loaded_wh, empty_wh = (
        edge_parts(denver, vehicle, each).rolling_wh[both] for each in (day, EQ8_CONDITIONS)
    )
    assert loaded_wh == pytest.approx(1.1 * empty_wh)


def test_slower_speeds_take_less_drag_and_more_heating(denver) -> None:
    vehicle = load_vehicle("reference")
    slow = edge_parts(denver, vehicle, DrivingConditions(speed_factor=0.5, temperature_c=0.0))
    full = edge_parts(denver, vehicle, DrivingConditions(temperature_c=0.0))
    assert slow.auxiliary_wh == pytest.approx(2 * full.auxiliary_wh)
    # both parts carry the efficiency of the edge, which slower driving may change
    assert slow.drag_wh / slow.rolling_wh == pytest.approx(0.25 * full.drag_wh / full.rolling_wh)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"wind_mps": -1.0}, "wind is -1 m/s. It must be from 0 to 40 m/s"),
        ({"speed_factor": 0.0}, "speed_factor"),
        ({"temperature_c": float("nan")}, "temperature is nan"),
        ({"payload_kg": 1e9}, "payload is 1000000000 kg. It must be from 0 to 20000 kg"),
    ],
)
def test_conditions_out_of_range_are_refused_in_one_line(fields, told) -> None:
    with pytest.raises(EvrouteError, match=told):
        conditions(**fields)


def test_a_load_that_no_vehicle_carries_is_refused() -> None:
    with pytest.raises(EvrouteError, match="as loaded"):
        DrivingConditions(payload_kg=20_000.0).load(
            replace(load_vehicle("reference"), mass_kg=59_000.0)
        )
