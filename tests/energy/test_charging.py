"""The time to charge: by hand, in closed form, and against small steps of charge."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.charging import charging_s
from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import EvrouteError

LEAF = load_vehicle("nissan-leaf-40")


def test_a_constant_power_takes_energy_by_power() -> None:
    time_s = charging_s(LEAF, "ac", 3.8)  # 38 kWh at 3.8 kW, below the 6.6 kW of the car
    assert time_s is not None
    assert time_s == pytest.approx(36_000 * np.arange(101) / 100)


def test_a_linear_power_takes_a_logarithm() -> None:
    car = replace(LEAF, charging_curve=((0, 40), (100, 10)))
    time_s = charging_s(car, "chademo", 100)
    assert time_s is not None
    # the integral of C / (40 - 30 s) over s is C / 30 ln(40 / (40 - 30 s))
    share = np.arange(101) / 100
    assert time_s == pytest.approx(3600 * 38 / 30 * np.log(40 / (40 - 30 * share)))


@pytest.mark.parametrize("name", ["nissan-leaf-40", "hyundai-ioniq-5", "tesla-model-3-2024"])
def test_the_power_is_the_smaller_of_curve_and_socket(name: str) -> None:
    car = load_vehicle(name)
    found = charging_s(car, car.dc_plug, 60)
    curve = car.charging_curve
    if not curve:  # the medians of published curves
        shares = ((0, 0.97), (40, 0.94), (60, 0.70), (80, 0.48), (90, 0.30), (100, 0.12))
        curve = tuple((at, share * (car.dc_kw or 0)) for at, share in shares)
    at = (np.arange(1_000_000) + 0.5) / 10_000
    hours = car.battery_kwh / 1_000_000 / np.minimum(np.interp(at, *np.array(curve).T), 60)
    assert found is not None
    assert found[1:] == pytest.approx(3600 * np.cumsum(hours)[9_999::10_000], rel=1e-6)


def test_plugs_that_do_not_fit_have_no_time() -> None:
    assert charging_s(LEAF, "ccs", 50) is None
    assert charging_s(load_vehicle("renault-megane"), "chademo", 50) is None
    assert charging_s(load_vehicle("reference"), "ac", 11) is None


@pytest.mark.parametrize(
    "curve", [((0, 50), (80, 20)), ((10, 50), (100, 20)), ((0, 50), (100, 0)), ((0, -1), (100, 9))]
)
def test_curves_that_do_not_cover_the_battery_or_have_no_power_are_refused(
    curve: tuple[tuple[float, float], ...],
) -> None:
    with pytest.raises(EvrouteError, match="from 0 to 100 and powers"):
        charging_s(replace(LEAF, charging_curve=curve), "chademo", 50)


def test_every_car_of_the_catalogue_but_one_charges_at_its_own_plug() -> None:
    refused = []
    for car in map(load_vehicle, vehicle_names()):
        try:
            time_s = charging_s(car, car.dc_plug, 150) if car.dc_kw else np.zeros(1)
        except EvrouteError:
            refused.append(car.name)
        else:
            assert time_s is not None
            assert (np.diff(time_s) > 0).all()
    assert refused == ["chevrolet-bolt"]  # its published curve ends with no power
