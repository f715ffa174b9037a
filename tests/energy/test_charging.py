"""The time to charge: by hand, in closed form, and against small steps of charge."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.charging import charging_s, wall_wh
from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import EvrouteError

LEAF = load_vehicle("nissan-leaf-40")


def test_a_constant_power_takes_energy_by_power() -> None:
    # 4.04 kW from the wall, below the 6.6 kW of the car: 0.94 x 4.3 - 0.24 kW into the battery
    time_s = charging_s(LEAF, "ac", 4.297872340425532)
    assert time_s is not None
    assert time_s == pytest.approx(36_000 * np.arange(101) / 100)  # 38 kWh at 3.8 kW
    assert wall_wh("ac", 38_000, float(time_s[-1])) == pytest.approx(42_978.72340425532)


@pytest.mark.parametrize(
    ("wall_kw", "lost_percent"), [(2.3, 16.425), (3.5, 11.4), (3.6, 13.9), (5.5, 9.2), (11, 8.175)]
)
def test_losses_of_the_on_board_charger_are_those_measured(
    wall_kw: float, lost_percent: float
) -> None:
    """Means of four cars at 2.3 and 11 kW, on which the line is fitted, and single cars between."""
    car = replace(LEAF, ac_kw=22.0)
    time_s = charging_s(car, "ac", wall_kw)
    assert time_s is not None
    battery_kw = 38 / 2 / (time_s[50] / 3600)
    assert 100 * (1 - battery_kw / wall_kw) == pytest.approx(lost_percent, abs=1.6)
    assert wall_wh("ac", 19_000, float(time_s[50])) == pytest.approx(
        1000 * wall_kw * time_s[50] / 3600
    )
    assert wall_wh("ccs", 19_000, float(time_s[50])) == 19_000


def test_ac_charging_is_bounded_by_the_car_and_tapers_with_its_curve() -> None:
    zoe = load_vehicle("renault-zoe")  # 22 kW AC; its battery takes 27 kW at 80 %, 22 kW at 100 %
    own, post = charging_s(zoe, "ac", 22), charging_s(zoe, "ac", 43)
    assert own is not None
    assert post is not None
    assert own == pytest.approx(post)
    assert own[-1] == pytest.approx(3600 * 52 / (0.94 * 22 - 0.24))
    tapering = replace(zoe, charging_curve=((0, 41), (80, 41), (100, 1)))
    slow = charging_s(tapering, "ac", 22)
    assert slow is not None
    at = (np.arange(1_000_000) + 0.5) / 10_000
    kw = np.minimum(np.interp(at, (0, 80, 100), (41, 41, 1)), 0.94 * 22 - 0.24)
    assert slow[-1] == pytest.approx(3600 * (52 / 1_000_000 / kw).sum(), rel=1e-6)


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
    assert charging_s(replace(load_vehicle("reference"), ac_kw=None), "ac", 11) is None
    assert charging_s(LEAF, "ac", 0.2) is None  # less than the control units take


@pytest.mark.parametrize(
    "curve", [((0, 50), (80, 20)), ((10, 50), (100, 20)), ((0, 50), (100, 0)), ((0, -1), (100, 9))]
)
def test_curves_that_do_not_cover_the_battery_or_have_no_power_are_refused(
    curve: tuple[tuple[float, float], ...],
) -> None:
    with pytest.raises(EvrouteError, match="from 0 to 100 and powers"):
        charging_s(replace(LEAF, charging_curve=curve), "chademo", 50)


def test_every_car_of_the_catalogue_charges_at_its_own_plugs() -> None:
    for car in map(load_vehicle, vehicle_names()):
        assert car.ac_kw
        if car.road_load == "stated":
            assert {"ac_kw", *(["dc_kw"] if car.dc_kw else [])} <= set(car.sources)
        for socket, kw in (("ac", 22), *([(car.dc_plug, 150)] if car.dc_kw else [])):
            time_s = charging_s(car, socket, kw)
            assert time_s is not None
            assert (np.diff(time_s) > 0).all()
