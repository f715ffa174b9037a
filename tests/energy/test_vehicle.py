from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.energy.defaults import VEHICLE
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import (
    CHARGING,
    OPTIONAL_NUMBERS,
    Vehicle,
    load_vehicle,
    numbers_of,
    vehicle_names,
)
from evroute.errors import EvrouteError, UnknownNameError
from evroute.limits import read_toml
from evroute.resources import data_path

MINE = """
mass_kg = 2400
rolling = 0.012
drag = 0.4
front_m2 = 3.5
propulsion_efficiency = 0.85
recuperation_efficiency = 0.8
auxiliary_w = 500
battery_kwh = 70
"""


def test_the_reference_vehicle_is_table_2() -> None:
    v = load_vehicle("reference")
    assert (v.mass_kg, v.rolling, v.front_m2, v.drag) == (1830, 0.01, 2.6, 0.35)
    assert (v.propulsion_efficiency, v.recuperation_efficiency) == (0.98, 0.96)


def test_every_number_of_the_catalogue_names_its_source() -> None:
    assert vehicle_names()[0] == VEHICLE == load_vehicle().name
    assert len(vehicle_names()) >= 6
    for name in vehicle_names():
        v = load_vehicle(name)
        assert v.name == name
        of_energy = set(numbers_of(v)) - {"name", "heat_pump", *OPTIONAL_NUMBERS}
        assert set(v.sources) - {*CHARGING, "heater"} == of_energy


def test_a_file_of_the_users_own_is_named_after_itself(tmp_path: Path) -> None:
    path = tmp_path / "van.toml"
    path.write_text(MINE)
    assert load_vehicle(path).name == "van"
    assert load_vehicle(str(path)).mass_kg == 2400


TABLE = MINE.replace("rolling = 0.012\ndrag = 0.4\n", "consumption = {}\n")


def test_a_table_of_two_speeds_is_met_exactly_on_level_road(tmp_path: Path) -> None:
    """Eq. 8 has two unknowns: rolling resistance and drag."""
    path = tmp_path / "van.toml"
    path.write_text(TABLE.format("[[50, 190], [110, 330]]"))
    van = load_vehicle(path)
    assert van.road_load == "table"
    speed_mps = np.array([50.0, 110.0]) / 3.6
    spent = energy_parts(van, np.full(2, 1000.0), np.zeros(2), speed_mps)
    assert spent.total_wh == pytest.approx([190, 330])


def test_a_vehicle_fitted_to_its_own_consumption_has_the_same_coefficients(tmp_path: Path) -> None:
    path = tmp_path / "van.toml"
    path.write_text(MINE)
    van, kmh = load_vehicle(path), np.array([30.0, 60.0, 90.0, 130.0])
    wh = energy_parts(van, np.full(4, 1000.0), np.zeros(4), kmh / 3.6).total_wh
    path.write_text(TABLE.format(np.column_stack([kmh, wh]).tolist()))
    again = load_vehicle(path)
    assert (again.rolling, again.drag) == pytest.approx((van.rolling, van.drag))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE.format("[[50, 190]]"), "consumption has 1 item. Give at least 2"),
        (TABLE.format("[[90, 190], [50, 240]]"), "must rise"),
        (TABLE.format("[[50, 400], [90, 100]]"), "no rolling resistance and drag explain it"),
        (TABLE.format("[[50, 190], [90, 240]]") + "drag = 0.3", "it has drag and a table"),
        (TABLE.format("[[50, 190], [90, 240]]").replace("0.85", "1.2"), "propulsion_efficiency"),
        (MINE + 'road_load = "measured"', "needs the"),
        (MINE + "charging_curve = [[50, 40], [20, 30]]", "must rise"),
    ],
)
def test_a_contradicting_or_short_road_load_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(EvrouteError, match=message):
        load_vehicle(path)


def test_the_table_of_cars_has_measured_and_fitted_cars_with_entries_and_curves() -> None:
    cars = [load_vehicle(name) for name in vehicle_names()]
    measured = [car for car in cars if car.road_load == "measured"]
    fitted = [car for car in cars if car.road_load == "fitted"]
    assert len(measured) >= 12
    assert len(fitted) >= 40
    assert all(car.ac_kw and car.car_class for car in measured + fitted)
    assert all("8edb266" in car.sources["battery_kwh"] for car in fitted)
    assert sum(bool(car.charging_curve) for car in cars) >= 20
    assert len({(car.propulsion_efficiency, car.recuperation_efficiency) for car in fitted}) == 1


def test_the_default_car_takes_the_energy_of_its_road_load() -> None:
    """12.1 hp at 50 mph (EPA) are 403.7 N; 0.941 and 250 W beside: 122.3 Wh/km."""
    leaf = load_vehicle(VEHICLE)
    assert leaf.road_load == "measured"
    speed_mps = 50 * 0.44704
    by_hand = 12.1 * 745.7 / speed_mps / 0.941 / 3.6 + 250 / speed_mps / 3.6
    spent = energy_parts(leaf, np.array([1000.0]), np.zeros(1), np.array([speed_mps]))
    assert spent.total_wh == pytest.approx([by_hand], rel=1e-3)


def test_heat_pumps_of_the_catalogue_have_a_source() -> None:
    """The Zoe has one; the Leaf and the i3 have one in some trims, an early Model 3 has none."""
    pumps = [car for car in map(load_vehicle, vehicle_names()) if car.heater == "heat-pump"]
    assert len(pumps) >= 15
    assert all(len(car.sources["heater"]) > 10 for car in pumps)
    names = {car.name for car in pumps}
    assert names >= {"renault-zoe", "tesla-model-3", "tesla-model-y", "tesla-model-3-lr-2024"}
    assert not names & {"nissan-leaf-40", "bmw-i3", "tesla-model-3-lr", "tesla-model-s-75d"}
    named = read_toml(data_path("vehicles", "cars.toml"), "table of cars")["heat_pump"]
    assert set(named) <= set(vehicle_names())


def test_a_file_begins_with_a_car_of_the_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('like = "nissan-leaf-40"\nheat_pump = true\n')
    mine, leaf = load_vehicle(path), load_vehicle("nissan-leaf-40")
    assert (mine.name, mine.heater, leaf.heater) == ("mine", "heat-pump", "resistive")
    assert replace(mine, name=leaf.name, title=leaf.title, heater="resistive") == leaf
    path.write_text('name = "nissan-leaf-40"\nlike = "Zoe"\nbattery_kwh = 41.0\n')
    mine, zoe = load_vehicle(path), load_vehicle("renault-zoe")
    assert set(zoe.sources) - set(mine.sources) == {"battery_kwh"}
    assert (mine.name, mine.battery_kwh, mine.mass_kg) == ("nissan-leaf-40", 41.0, zoe.mass_kg)
    path.write_text('like = "nissan-leaf-40"\nconsumption = [[50, 130], [90, 170]]\n')
    assert load_vehicle(path).road_load == "table"
    path.write_text('like = "nissan-leaf-40"\ndrag = 0.9\n')
    assert load_vehicle(path).road_load == "stated"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('like = "nisan-leaf-4"', "like: unknown vehicle 'nisan-leaf-4'. Near are nissan-leaf-40"),
        ("like = 4", "like is 4. Give a name of the catalogue"),
        ('like = "renault-zoe"\nsources = 3', "sources"),
        ('like = "renault-zoe"\nmass_kg = -1', "mass_kg"),
        ('like = "renault-zoe"\nheat_pump = "yes"', "heat_pump"),
    ],
)
def test_a_wrong_car_to_begin_with_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(EvrouteError, match=message):
        load_vehicle(path)


def test_the_numbers_of_a_belief_leave_out_charging_and_class_of_the_vehicle() -> None:
    assert set(numbers_of(load_vehicle("reference"))) == set(numbers_of(load_vehicle(VEHICLE)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINE + "wheels = 4", "wheels"),
        (MINE.replace("mass_kg = 2400", ""), "mass_kg"),
        (MINE.replace("2400", "-1"), "mass_kg"),
        (MINE.replace("2400", "nan"), "mass_kg"),
        (MINE.replace("0.85", "1.2"), "propulsion_efficiency"),
        ("mass_kg = = 3", "not TOML"),
    ],
)
def test_a_bad_vehicle_file_is_refused_with_the_field(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(EvrouteError, match=message):
        load_vehicle(path)


def test_an_unknown_vehicle_names_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="Near are tesla-model-3"):
        load_vehicle("tesla-modell-3")


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(EvrouteError, match="does not exist"):
        load_vehicle("nowhere.toml")


@pytest.mark.parametrize("value", ["true", '"2400"'])
def test_a_number_must_be_a_number(tmp_path: Path, value: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(MINE.replace("2400", value))
    with pytest.raises(EvrouteError, match="mass_kg"):
        load_vehicle(path)


def test_a_source_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(MINE + '[sources]\nwheels = "a guess"\n')
    with pytest.raises(EvrouteError, match="wheels"):
        load_vehicle(path)


def test_a_heat_pump_of_earlier_files_and_folders_is_a_heater(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'like = "nissan-leaf-40"\nheat_pump = true\n[sources]\nheat_pump = "the seller"'
    )
    mine = load_vehicle(path)
    assert (mine.heater, mine.sources["heater"]) == ("heat-pump", "the seller")
    numbers = numbers_of(mine)  # as folders and beliefs keep them, unchanged
    assert numbers["heat_pump"] is True
    assert "heater" not in numbers
    assert numbers_of(Vehicle(**numbers)) == numbers
    assert "heat_pump" not in numbers_of(load_vehicle("nissan-leaf-40"))
    assert numbers_of(replace(mine, heater="none"))["heater"] == "none"


@pytest.mark.parametrize(
    ("lines", "warned"),
    [
        ("ac_kw = 11", "11 kW for a battery of 6.1 kWh. A household socket gives 3.7 kW"),
        ("dc_kw = 50", "Leave dc_kw out of a vehicle that charges by AC alone"),
        ('heater = "resistive"\nmass_kg = 120', 'has heater = "none"'),
        ("payload = 1", ""),
        ("mass_kg = 600", ""),
    ],
)
def test_pairs_that_no_vehicle_has_are_said(tmp_path: Path, caplog, lines, warned) -> None:
    path = tmp_path / "light.toml"
    path.write_text(f'like = "renault-twizy"\n{lines}\n')
    with suppress(EvrouteError):
        load_vehicle(path)
    assert (warned in caplog.text) if warned else not caplog.text
