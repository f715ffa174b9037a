"""The example logs are those that their program makes."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from evroute.learning.readers.formats import read_measured
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import load_setting

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "data/examples"
IN_PERCENT = {"notebook.csv", "percent.csv", "stops.csv", "tesla_drives.csv"}
"""Files with a charge in whole per cents, which are up to one per cent, 520 Wh, off."""


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    spec = spec_from_file_location("made_examples", ROOT / "studies/made_examples.py")
    assert spec is not None
    assert spec.loader is not None
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    kept = (EXAMPLES / "edges.csv", EXAMPLES / "fleet.csv")
    return program.made(*(each.read_text(encoding="utf-8") for each in kept))


def test_the_program_reproduces_the_files(made) -> None:
    files = {each.name for each in EXAMPLES.iterdir()} - {"README.md"}
    assert set(made) == files
    for name, text in made.items():
        assert (EXAMPLES / name).read_text(encoding="utf-8") == text, name


def test_made_drives_are_within_the_bands_of_physics(made) -> None:
    """The drive at -3.5 °C took what one at 20 °C takes, and was read as 151 % off."""
    setting = load_setting("denver", "renault-zoe")
    for name in made.keys() - IN_PERCENT - {"cars.csv", "fleet.csv"}:
        (trip,) = read_measured(EXAMPLES / name, setting, ["renault-zoe"]).trips
        expected = TripEnergies(setting).expected(trip)
        assert trip.energy_wh.sum() == pytest.approx(expected["predicted_wh"], rel=0.1)


def test_drives_in_whole_per_cents_are_within_one_of_physics(made) -> None:
    setting = load_setting("denver", "renault-zoe")
    for name in IN_PERCENT:
        trips = read_measured(EXAMPLES / name, setting, ["renault-zoe"]).trips
        for trip in trips:
            expected = TripEnergies(setting).expected(trip)
            assert trip.energy_wh.sum() == pytest.approx(expected["predicted_wh"], abs=520)


def test_the_cars_of_the_fleet_take_their_shares(made) -> None:
    """The noise of 24 trips is the same for all cars, so their order is that of their shares."""
    setting = load_setting("denver", "nissan-leaf-40")
    trips = read_measured(EXAMPLES / "fleet.csv", setting, ["nissan-leaf-40"]).trips
    assert len(trips) == 24
    over: dict[str, list[float]] = {}
    for trip in trips:
        expected = TripEnergies(setting).expected(trip)
        over.setdefault(str(trip.car), []).append(
            float(trip.energy_wh.sum()) / expected["predicted_wh"]
        )
    mean = {car: sum(each) / len(each) for car, each in over.items()}
    assert mean["van-01"] < mean["van-02"] < mean["van-03"]
    assert mean["van-03"] / mean["van-01"] == pytest.approx(1.12 / 0.9, rel=0.05)
