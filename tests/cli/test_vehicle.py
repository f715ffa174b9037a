"""``evroute`` and ``evroute vehicle`` as a user meets them."""

import subprocess
import sys
from pathlib import Path

import pytest

from evroute import __version__


def evroute(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evroute", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_version_option_prints_the_version() -> None:
    assert evroute("--version").stdout.strip() == f"evroute {__version__}"


def test_the_catalogue_lists_its_vehicles() -> None:
    assert "renault-zoe" in evroute("vehicle", "list").stdout


def test_the_list_keeps_the_cars_with_all_words() -> None:
    shown = evroute("vehicle", "list", "Tesla", "midsize", "measured").stdout
    assert "tesla-model-3-lr" in shown
    assert "tesla-model-y" not in shown
    assert "leaf" not in shown


def test_words_that_no_car_has_are_refused_in_one_line() -> None:
    done = evroute("vehicle", "list", "tesla", "van")
    assert done.returncode == 2
    assert done.stderr == "evroute: no vehicle of the catalogue has 'tesla van'. Drop a word\n"


def test_one_vehicle_shows_where_its_numbers_are_from() -> None:
    shown = evroute("vehicle", "show", "reference").stdout
    assert "1830" in shown
    assert "Table 2" in shown


@pytest.mark.parametrize("name", ["delorean", "nowhere.toml"])
def test_a_vehicle_that_is_not_there_is_refused_in_one_line_with_status_2(name: str) -> None:
    done = evroute("vehicle", "show", name)
    assert done.returncode == 2
    assert done.stderr.startswith("evroute: ")
    assert len(done.stderr.splitlines()) == 1
    assert Path(name).name in done.stderr
