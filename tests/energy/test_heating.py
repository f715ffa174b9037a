"""Terms of heating by hand, and their limits."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.heating import HVAC_MAX_W, Heating, heating_coefficients, is_long_stand
from evroute.energy.vehicle import load_vehicle

CAR = replace(load_vehicle("renault-zoe"), heat_pump=False)
MINUTES = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 40.0])


def test_an_early_warm_up_is_0_after_a_long_stand_on_trips_of_8_minutes() -> None:
    for parked_minutes in (None, 61.0, 90.0, 600.0):
        early = Heating(CAR, 8.0, parked_minutes).of_trip(MINUTES)[:, 3]
        assert np.all(early[MINUTES >= 8.0] == 0.0)
        assert np.all(early[(MINUTES >= 2.0) & (MINUTES < 4.0)] > 0.0)


def test_an_early_warm_up_by_hand() -> None:
    """3 minutes may cost 250 Wh: at 12 °C heating takes 36 and the warm-up 45 of them."""
    assert Heating(CAR, 12.0, 600.0).of_trip(3.0)[3] == pytest.approx(
        (1.0 - math.exp(-15.0) - 3.0 / 8.0) * 6.0
    )
    # 30 minutes: no warm-up by physics, and a cabin that has cooled down by 1 - exp(-3/4)
    stood = Heating(CAR, 8.0, 30.0).of_trip(3.0)
    assert stood.tolist() == pytest.approx([30.0, 0.0, 0.0, 10.0 * (1.0 - math.exp(-0.75))])
    # 1 minute may cost 83.3 Wh; heating takes 20 Wh and the warm-up 25, so 38.3 Wh are left
    assert Heating(CAR, 8.0).of_trip(1.0)[3] == pytest.approx((250.0 / 3.0 - 45.0) / 20.0)
    # a cabin at the outside temperature needs no more, and a preheated one neither
    assert Heating(CAR, 20.0, 30.0).of_trip(3.0)[3] == Heating(CAR, 8.0, 0.0).of_trip(3.0)[3] == 0.0
    assert Heating(CAR, None, 30.0).of_trip(3.0)[3] == 0.0


@pytest.mark.parametrize("heat_pump", [False, True])
@pytest.mark.parametrize("parked_minutes", [None, 0.0, 20.0, 60.0, 61.0, 200.0])
def test_all_warm_ups_of_the_cone_keep_to_the_heater(heat_pump, parked_minutes) -> None:
    """For ``0 <= early <= warm-up`` as by physics: at most 5 kW, and more on longer trips."""
    car = replace(CAR, heat_pump=heat_pump)
    minutes = np.linspace(0.1, 60.0, 600)
    for temperature_c in (-40.0, -10.0, 5.0, 17.0):
        heating = Heating(car, temperature_c, parked_minutes)
        for share in (0.0, 0.5, 1.0):
            b = heating_coefficients(car)
            b[3] = share * b[1]
            total_wh = heating.of_trip(minutes) @ b
            assert np.all(total_wh <= HVAC_MAX_W / 60.0 * minutes * (1.0 + 1e-12))
            assert np.all(np.diff(total_wh) > 0.0)
            # the warm-up of a long trip bounds the warm-ups of shorter ones (`planning.reach`)
            assert np.all(np.diff(heating.departure_wh(minutes, b)) > -1e-9)


def test_a_stand_is_long_after_an_hour_or_if_it_is_unknown() -> None:
    assert [is_long_stand(each) for each in (None, 0.0, 60.0, 60.1)] == [True, False, False, True]
