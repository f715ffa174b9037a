"""Every vehicle of the catalogue under the same tests.

A vehicle is a ``.toml`` file in `data/vehicles`, or a row of its ``cars.csv``.
"""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest

from evroute.energy.charging import charging_s
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import (
    OPTIONAL_NUMBERS,
    find_vehicles,
    load_vehicle,
    numbers_of,
    vehicle_names,
)
from evroute.network.sources.charger_files import SOCKETS

GRAVITY_MPS2 = 9.81
AIR_KGPM3 = 1.2
J_PER_WH = 3600.0
WITHOUT_POWER = ("chevrolet-bolt",)
"""Its published charging curve ends with no power, so its DC charging is refused."""
NO_CARS = {"renault-twizy": (40, 60), "byd-k9": (600, 800)}
"""Templates of other vehicles, and their energy at 50 km/h, Wh/km."""


def wh_per_km(name: str, kmh: float) -> float:
    """Return the energy of level road by forces: rolling, drag and the power of auxiliaries."""
    v, speed_mps = load_vehicle(name), kmh / 3.6
    rolling_n = v.rolling * v.mass_kg * GRAVITY_MPS2
    drag_n = 0.5 * AIR_KGPM3 * v.drag * v.front_m2 * speed_mps**2
    wheels_j = 1000 * (rolling_n + drag_n)
    return float((wheels_j / v.propulsion_efficiency + 1000 / speed_mps * v.auxiliary_w) / J_PER_WH)


@pytest.mark.parametrize("name", vehicle_names())
def test_every_number_has_a_source_and_a_class(name: str) -> None:
    v = load_vehicle(name)
    assert v.name == name
    assert set(v.sources) >= set(numbers_of(v)) - {"name", "heat_pump", *OPTIONAL_NUMBERS}
    assert all(len(source) > 1 for source in v.sources.values())


@pytest.mark.parametrize("name", vehicle_names())
def test_level_road_takes_the_energy_of_its_forces(name: str) -> None:
    """Eq. 8 and forces by hand agree to 2 %: they round gravity and air density differently."""
    for kmh in (30.0, 60.0, 120.0):
        spent = energy_parts(
            load_vehicle(name), np.array([1000.0]), np.zeros(1), np.array([kmh / 3.6])
        )
        assert spent.total_wh == pytest.approx([wh_per_km(name, kmh)], rel=0.02)


@pytest.mark.parametrize("name", [name for name in vehicle_names() if name not in NO_CARS])
def test_it_consumes_and_reaches_as_electric_cars_do(name: str) -> None:
    v = load_vehicle(name)
    assert 60 < wh_per_km(name, 60) < wh_per_km(name, 120) < 500
    assert 80 < 1000 * v.battery_kwh / wh_per_km(name, 100) < 900
    assert 800 < v.mass_kg < 3500


@pytest.mark.parametrize("name", NO_CARS)
def test_templates_of_other_vehicles_consume_by_their_weight(name: str) -> None:
    least, most = NO_CARS[name]
    assert least < wh_per_km(name, 50) < most
    assert load_vehicle(name).dc_kw is None


@pytest.mark.parametrize("name", [name for name in vehicle_names() if name not in WITHOUT_POWER])
def test_a_stronger_socket_never_charges_more_slowly(name: str) -> None:
    v = load_vehicle(name)
    for socket in SOCKETS:
        times = [charging_s(v, socket, kw) for kw in (11.0, 50.0, 150.0)]
        if times[0] is None:
            assert socket not in ("ac", "household") or not v.ac_kw
            continue
        for weak, strong in pairwise(times):
            assert np.all(np.diff(strong) > 0)
            assert np.all(strong <= weak + 1e-9)
        assert times[0][-1] >= v.battery_kwh / 11.0 * 3600 - 1e-6


PEOPLE_WRITE = {"volkswagen": "vw"}
"""Words of names that people write otherwise."""


@pytest.mark.parametrize("name", vehicle_names())
def test_the_title_has_the_words_of_the_name_as_people_write_them(name: str) -> None:
    title = load_vehicle(name).title
    assert title, "no title"
    plain = unicodedata.normalize("NFD", title).encode("ascii", "ignore").decode().lower()
    letters = "".join(each for each in plain if each.isalnum())
    assert all(PEOPLE_WRITE.get(word, word) in letters for word in name.split("-"))
    assert title[0].isupper() or name.startswith("smart"), "a name, no file"
    assert sum(load_vehicle(other).title == title for other in vehicle_names()) == 1


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("bmw-i3", "BMW i3"),
        ("volkswagen-id-3-58", "VW ID.3 58 kWh"),
        ("tesla-model-3-lr-awd", "Tesla Model 3 LR AWD"),
        ("citroen-e-c3", "Citroën ë-C3"),
    ],
)
def test_titles_as_people_write_them(name: str, title: str) -> None:
    assert load_vehicle(name).title == title
    assert find_vehicles(title)[0] == name
