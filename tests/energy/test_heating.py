"""Terms of heating by hand, against their former formula, and their limits."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.heating import (
    HVAC_MAX_W,
    Heating,
    heater_max_w,
    heating_coefficients,
    is_long_stand,
    season_wh2,
)
from evroute.energy.vehicle import load_vehicle

CAR = replace(load_vehicle("renault-zoe"), heater="resistive")


def test_heating_and_warm_up_by_hand() -> None:
    """At -30 °C 72 Wh a minute are heating, which leaves the heater 11.3 Wh for 480 Wh."""
    cold = Heating(CAR, -30.0)
    left_wh = 250.0 / 3.0 - 72.0
    assert cold.of_trip(3.0).tolist() == pytest.approx([144.0, left_wh * 3.0 / 10.0, 0])
    assert cold.of_trip(50.0).tolist() == pytest.approx([48.0 * 50.0, 48.0, 0.0])
    # at 12 °C 8 minutes warm the cabin up
    assert Heating(CAR, 12.0).of_trip(2.0).tolist() == pytest.approx([12.0, 1.5, 0.0])
    assert Heating(CAR, 12.0, 30.0).of_trip(2.0).tolist() == pytest.approx([12.0, 0.0, 0.0])
    assert Heating(CAR, 30.0).of_trip(2.0).tolist() == pytest.approx([0.0, 0.0, 14.0])
    assert Heating(CAR, None).of_trip(2.0).tolist() == [0.0, 0.0, 0.0]


def former_total_wh(heating: Heating, minutes: np.ndarray) -> np.ndarray:
    """Return heating and warm-up by physics as both were once reduced by one factor, Wh."""
    by_heating, by_warm_up = heating_coefficients(heating.vehicle)[:2]
    begun = heating.cold * np.minimum(1.0, minutes / 8.0)
    wanted_wh = heating.below_k * (by_heating * minutes + by_warm_up * begun)
    limit_wh = HVAC_MAX_W / 60.0 * minutes
    return np.minimum(1.0, limit_wh / np.maximum(wanted_wh, 1e-9)) * wanted_wh


@pytest.mark.parametrize("heater", ["resistive", "heat-pump"])
@pytest.mark.parametrize("parked_minutes", [None, 0.0, 60.0, 61.0])
def test_physics_has_its_former_totals_and_keeps_to_the_heater(heater, parked_minutes) -> None:
    minutes = np.linspace(0.1, 60.0, 600)
    for temperature_c in (-60.0, -40.0, -23.7, -10.0, 5.0, 17.0, 20.0):
        heating = Heating(replace(CAR, heater=heater), temperature_c, parked_minutes)
        total_wh = heating.of_trip(minutes) @ heating_coefficients(heating.vehicle)
        np.testing.assert_allclose(total_wh, former_total_wh(heating, minutes), rtol=0, atol=1e-9)
        assert np.all(total_wh <= HVAC_MAX_W / 60.0 * minutes * (1.0 + 1e-12))


@pytest.mark.parametrize("temperature_c", [-30.0, -10.0, 10.0])
def test_any_warm_up_is_a_rate_until_it_is_whole(temperature_c) -> None:
    """Also with learned coefficients far from those of physics."""
    heating, minutes = Heating(CAR, temperature_c), np.linspace(0.0, 60.0, 601)
    for learned in ([2.0, 20.0, 1.7], [4.0, 45.0, 0.0], [0.0, 3.0, 5.0], [1.0, 0.0, 1.0]):
        b = np.array(learned)
        warm_up_wh = heating.of_trip(minutes) @ b - minutes * float(heating.per_minute @ b)
        steps_wh = np.diff(warm_up_wh)
        assert np.all(steps_wh >= -1e-9)
        assert np.all(np.diff(steps_wh) <= 1e-9)
        drawn_wh = heating.warm_up(b).after(60.0 * minutes)
        np.testing.assert_allclose(drawn_wh, warm_up_wh, rtol=0, atol=1e-9)


def test_a_stand_is_long_after_an_hour_or_if_it_is_unknown() -> None:
    assert [is_long_stand(each) for each in (None, 0.0, 60.0, 60.1)] == [True, False, False, True]


def test_a_vehicle_without_a_heater_neither_heats_nor_cools() -> None:
    scooter = replace(CAR, heater="none")
    assert heating_coefficients(scooter).tolist() == [0.0, 0.0, 0.0]
    for celsius in (-20.0, 0.0, 35.0):
        heating = Heating(scooter, celsius)
        assert not heating.of_trip(30.0).any()
        assert heating.power_w == 0.0
        assert not heating.warm_up(np.ones(3))
    assert season_wh2(30.0, heating_coefficients(scooter)) == 0.0
    assert heater_max_w(scooter) == 0.0 < heater_max_w(CAR)


@pytest.mark.parametrize(
    ("temperature_c", "watt"), [(20, 0), (18, 0), (23, 0), (0, 1620), (35, 1224), (-40, 5000)]
)
def test_heating_and_cooling_grow_away_from_the_comfort_band(temperature_c, watt) -> None:
    assert Heating(CAR, temperature_c).power_w == pytest.approx(watt)


def test_a_heat_pump_takes_less() -> None:
    pump = replace(CAR, heater="heat-pump")
    assert Heating(pump, 0.0).power_w == pytest.approx(0.6 * Heating(CAR, 0.0).power_w)
    assert Heating(pump, 35.0).power_w == Heating(CAR, 35.0).power_w
