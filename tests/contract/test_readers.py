"""Every reader of measured trips, on its example in `data/examples`, under the same tests.

A reader that is added to `READERS` under a name is tested here on `data/examples/NAME.*`: one trip
or more of a Renault Zoe on network ``denver``.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.learning.measured import Measured
from evroute.learning.readers.formats import READERS, read_measured, reader_of
from evroute.learning.readers.headers import Column
from evroute.methods.setting import Setting, load_setting

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
def test_it_has_a_sentence_on_its_format(name: str) -> None:
    about = resolve_name(READERS[name]).about
    assert about.endswith(".")
    assert "\n" not in about
    assert len(about) > 20


@pytest.mark.parametrize("name", READERS)
def test_every_trip_is_a_legal_route_with_the_energy_of_a_car(name, setting, measured_of) -> None:
    """A car takes between a fifth of eq. 8 and five times of it, per route that may be driven."""
    turns = set(map(tuple, setting.network.turns.tolist()))
    measured = measured_of(name)
    assert measured.trips
    assert not measured.skipped
    for trip in measured.trips:
        assert len(trip.edge) == len(trip.energy_wh) == len(trip.travel_s)
        eq8_wh = setting.prior.mean_wh[trip.edge].sum() / trip.routes
        assert 0.2 * eq8_wh < trip.energy_wh.sum() < 5 * eq8_wh
        assert np.all(trip.travel_s[np.isfinite(trip.travel_s)] > 0)
        pairs = list(zip(trip.edge[:-1].tolist(), trip.edge[1:].tolist(), strict=True))
        gaps = [pair for pair in pairs if pair not in turns]
        assert len(gaps) <= trip.routes - 1
    names = [trip.trip for trip in measured.trips]
    assert all(names)
    assert len(set(names)) == len(names)


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
def test_a_copy_elsewhere_gives_the_same_trips(name, setting, measured_of, tmp_path) -> None:
    path = tmp_path / example_of(name).name
    path.write_bytes(example_of(name).read_bytes())
    again = read_measured(path, setting, [VEHICLE])
    assert [trip.trip for trip in again.trips] == [trip.trip for trip in measured_of(name).trips]
    for one, other in zip(measured_of(name).trips, again.trips, strict=True):
        assert one.is_same(other)
        assert one.departed_s == other.departed_s


@pytest.mark.parametrize("name", READERS)
def test_trips_of_another_vehicle_are_set_aside(name, setting) -> None:
    reader = reader_of(example_of(name))
    log = reader.log(example_of(name))
    vehicles = pa.array(["lorry"] * log.table.num_rows)
    other = replace(
        log,
        table=log.table.append_column("vehicle", vehicles),
        columns={**log.columns, "vehicle": Column("vehicle")},
    )
    measured = reader.trips(other, setting, [VEHICLE])
    assert not measured.trips
    assert measured.skipped
    assert all("'lorry'" in reason for reason in measured.skipped.values())


@pytest.mark.parametrize("damage", ["missing", "empty", "noise"])
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_cannot_be_read_ends_in_one_line(name, damage, setting, tmp_path) -> None:
    example = example_of(name)
    path, size = tmp_path / example.name, example.stat().st_size
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "noise":
        path.write_bytes(np.random.default_rng(0).bytes(size))
    with pytest.raises(EvrouteError) as refused:
        read_measured(path, setting, [VEHICLE])
    assert "\n" not in str(refused.value)
    assert example.name in str(refused.value)


@pytest.mark.parametrize("name", READERS)
def test_a_file_cut_off_anywhere_is_read_in_part_or_ends_in_one_line(
    name, setting, tmp_path
) -> None:
    example = example_of(name)
    contents, path = example.read_bytes(), tmp_path / example.name
    for share in (0.05, 0.3, 0.5, 0.7, 0.95):
        path.write_bytes(contents[: int(share * len(contents))])
        with suppress(EvrouteError):
            assert read_measured(path, setting, [VEHICLE]).trips


@pytest.mark.parametrize("name", READERS)
def test_the_command_learns_it(name: str, measured_of, tmp_path) -> None:
    out = tmp_path / "own"
    given = ["--network", "denver", "--vehicle", VEHICLE, "--out", str(out)]
    done = CliRunner().invoke(app, ["learn", str(example_of(name)), *given])
    assert done.exit_code == 0, done.output
    n_trips = len(measured_of(name).trips)
    assert f"learned {n_trips} trip" in done.output
