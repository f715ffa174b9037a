"""Every reader of measured trips, on its example in `data/examples`, under the same tests.

A reader that is added to `READERS` under a name is tested here on `data/examples/NAME.*`: one trip
or more of a Renault Zoe on network ``denver``.
"""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.learning.measured import Measured
from evroute.learning.readers.formats import READERS, read_measured, reader_of
from evroute.methods.setting import Setting, load_setting
from evroute.testing.base import hold
from evroute.testing.readers import CHECKS, Subject

EXAMPLES = Path(__file__).parents[2] / "data/examples"
OTHER_NAMES = {"gpx": "track"}
VEHICLE = "renault-zoe"


def example_of(name: str) -> Path:
    (path,) = EXAMPLES.glob(f"{OTHER_NAMES.get(name, name)}.*")
    return path


@pytest.fixture(scope="module")
def setting() -> Setting:
    return load_setting("denver", VEHICLE)


@pytest.fixture(scope="module")
def measured_of(setting: Setting) -> Callable[[str], Measured]:
    """Return the trips of a reader's example, which is read once."""
    read: dict[str, Measured] = {}

    def measured_of(name: str) -> Measured:
        if name not in read:
            read[name] = read_measured(example_of(name), setting, [VEHICLE])
        return read[name]

    return measured_of


@pytest.mark.parametrize("name", READERS)
def test_its_files_are_recognised(name: str) -> None:
    reader = reader_of(example_of(name))
    taken_by = next(other for other in READERS if resolve_name(READERS[other]) is reader)
    assert taken_by == name, f"'{taken_by}' accepts it first; put '{name}' above it in READERS"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_protocol(name: str, check: Any, setting: Setting) -> None:
    hold([check], Subject(resolve_name(READERS[name]), example_of(name), setting))


@pytest.mark.parametrize("name", READERS)
def test_only_trips_with_one_route_each_are_given_where_routes_are_needed(
    name, setting, measured_of
) -> None:
    if resolve_name(READERS[name]).has_routes:
        assert {trip.routes for trip in measured_of(name).trips} == {1}
        assert read_measured(example_of(name), setting, [VEHICLE], with_routes=True).trips
    else:
        with pytest.raises(EvrouteError, match="has no routes"):
            read_measured(example_of(name), setting, [VEHICLE], with_routes=True)


@pytest.mark.parametrize("name", READERS)
def test_the_command_learns_it(name: str, measured_of, tmp_path) -> None:
    out = tmp_path / "own"
    given = ["--network", "denver", "--vehicle", VEHICLE, "--out", str(out)]
    done = CliRunner().invoke(app, ["learn", str(example_of(name)), *given])
    assert done.exit_code == 0, done.output
    n_trips = len(measured_of(name).trips)
    assert f"learned {n_trips} trip" in done.output
