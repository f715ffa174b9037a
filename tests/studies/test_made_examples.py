"""The example logs are those that their program makes."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from evroute.learning.readers.formats import read_measured
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import load_setting

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "data/examples"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    spec = spec_from_file_location("made_examples", ROOT / "studies/made_examples.py")
    assert spec is not None
    assert spec.loader is not None
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    return program.made((EXAMPLES / "edges.csv").read_text(encoding="utf-8"))


def test_the_program_reproduces_the_files(made) -> None:
    assert sorted(made) == [
        *("edges.csv", "leafspy-uk.csv", "leafspy.csv", "obd.csv", "points.csv"),
        *("tesla.csv", "track.gpx"),
    ]
    for name, text in made.items():
        assert (EXAMPLES / name).read_text(encoding="utf-8") == text, name


def test_made_drives_are_within_the_bands_of_physics(made) -> None:
    """The drive at -3.5 °C took what one at 20 °C takes, and was read as 151 % off."""
    setting = load_setting("denver", "renault-zoe")
    for name in made:
        (trip,) = read_measured(EXAMPLES / name, setting, ["renault-zoe"]).trips
        expected = TripEnergies(setting).expected(trip)
        assert trip.energy_wh.sum() == pytest.approx(expected["predicted_wh"], rel=0.1)
