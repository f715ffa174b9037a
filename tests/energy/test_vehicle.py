from pathlib import Path

import pytest

from evroute.energy.vehicle import FULL_BATTERY, load_vehicle, vehicle_names
from evroute.errors import EvrouteError, UnknownNameError

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
    v = load_vehicle()
    assert (v.mass_kg, v.rolling, v.front_m2, v.drag) == (1830, 0.01, 2.6, 0.35)
    assert (v.propulsion_efficiency, v.recuperation_efficiency) == (0.98, 0.96)


def test_every_number_of_the_catalogue_names_its_source() -> None:
    assert vehicle_names()[0] == "reference"
    assert len(vehicle_names()) >= 6
    for name in vehicle_names():
        v = load_vehicle(name)
        assert v.name == name
        assert set(v.sources) == set(v.__dataclass_fields__) - {"name", "sources", *FULL_BATTERY}


def test_a_file_of_the_users_own_is_named_after_itself(tmp_path: Path) -> None:
    path = tmp_path / "van.toml"
    path.write_text(MINE)
    assert load_vehicle(path).name == "van"
    assert load_vehicle(str(path)).mass_kg == 2400


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
def test_a_file_that_is_wrong_is_told_by_field(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(EvrouteError, match=message):
        load_vehicle(path)


def test_an_unknown_vehicle_lists_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="reference"):
        load_vehicle("delorean")


def test_a_missing_file_is_told() -> None:
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
