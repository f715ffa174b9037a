"""Fleets with cars of several types: a folder for each type, which every door finds by the car."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.errors import EvrouteError, UnknownNameError
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.service.planners import Planners

from .conftest import LEAF, rows_of

VAN = "ford-e-transit"
NAMES = ("Walnut Street & 33rd Street", "Broadway & 20th Street")
FACTORS = {"leaf-1": 0.9, "leaf-2": 1.1, "van-1": 1.8, "van-2": 2.2}


def table_of(rows, path):
    pyarrow.csv.write_csv(pa.table(rows), path)
    return path


@pytest.fixture(scope="module")
def mixed(leaf_setting, tmp_path_factory):
    """Return a folder with a table of 4 cars, its table of cars and the fleet that learned them."""
    place = tmp_path_factory.mktemp("mixed")
    table = table_of(rows_of(leaf_setting, 80, 2, FACTORS), place / "t.csv")
    lines = [f"{car},{LEAF if car < 'v' else VAN}" for car in FACTORS]
    (place / "cars.csv").write_text("\n".join(["car,vehicle", *lines]) + "\n")
    learned = learn(table, place / "fleet", cars=place / "cars.csv")
    assert (learned.new, learned.trips.num_rows, learned.skipped) == (80, 80, {})
    return place


def test_each_type_is_the_belief_of_its_trips_alone(mixed, leaf_setting, tmp_path) -> None:
    """Against folders that learned the trips of one type each."""
    names = [path.name for path in (mixed / "fleet").iterdir() if path.name[0] != "."]
    assert sorted(names) == ["cars.csv", VAN, LEAF]
    rows = rows_of(leaf_setting, 80, 2, FACTORS)
    for vehicle, first in ((LEAF, "leaf"), (VAN, "van")):
        own = [k for k, car in enumerate(rows["car"]) if car.startswith(first)]
        table = table_of(
            {name: [each[k] for k in own] for name, each in rows.items()}, tmp_path / "t.csv"
        )
        learn(table, tmp_path / vehicle, vehicle=vehicle)
        alone, there = load_belief(tmp_path / vehicle), load_belief(mixed / "fleet" / vehicle)
        assert there.vehicle.name == vehicle
        assert there.trips == alone.trips == 40
        for name, numbers in alone.state().items():
            assert (there.state()[name] == numbers).all(), name


def test_commands_find_the_folder_by_the_car_or_the_vehicle(mixed) -> None:
    command = [
        "route",
        "--from",
        NAMES[0],
        "--to",
        NAMES[1],
        "--belief",
        str(mixed / "fleet"),
        "--json",
    ]
    wh = {}
    for words in (["--car", "leaf-1"], ["--car", "van-1"], ["--vehicle", VAN]):
        done = CliRunner().invoke(cli, [*command, *words])
        assert done.exit_code == 0, done.output
        wh[words[1]] = json.loads(done.stdout)["routes"]["energy"]["energy_wh"]
    for car, vehicle in (("leaf-1", LEAF), ("van-1", VAN)):
        belief = load_belief(mixed / "fleet", car=car)
        assert belief.vehicle.name == vehicle
        plan = evroute.plan("denver", *NAMES, belief=belief, car=car)
        assert wh[car] == pytest.approx(plan.routes["energy"].energy_wh, rel=1e-9)
    belief = load_belief(mixed / "fleet" / VAN)
    plan = evroute.plan("denver", *NAMES, belief=belief)
    assert wh[VAN] == pytest.approx(plan.routes["energy"].energy_wh, rel=1e-9)
    reach = ["range", "--from", NAMES[0], "--soc", "5", "--belief", str(mixed / "fleet"), "--car"]
    roads = [CliRunner().invoke(cli, [*reach, car]) for car in ("leaf-1", "van-2")]
    assert all(done.exit_code == 0 for done in roads), roads[0].output
    assert roads[0].stdout != roads[1].stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--car", "van-9"], "is the folder of a fleet without car 'van-9'. It knows van-"),
        (["--vehicle", "fiat-500e"], "without cars of type 'fiat-500e'. There are"),
        ([], f"with several types. Name the car, or one of the vehicles {VAN}, {LEAF}"),
    ],
)
def test_a_car_that_no_type_has_is_refused_in_one_line(mixed, words, line) -> None:
    command = ["route", "--from", NAMES[0], "--to", NAMES[1], "--belief", str(mixed / "fleet")]
    done = CliRunner().invoke(cli, [*command, *words])
    assert isinstance(done.exception, EvrouteError), done.output
    assert line in str(done.exception)
    assert "\n" not in str(done.exception)


def test_the_service_finds_the_folder_by_the_car(mixed) -> None:
    planners = Planners(mixed)
    assert planners.folder("fleet", "van-1") == mixed / "fleet" / VAN
    assert planners.folder("fleet", vehicle=LEAF) == mixed / "fleet" / LEAF
    with pytest.raises(UnknownNameError, match=r"without car 'x'"):
        planners.folder("fleet", "x")


def test_a_fleet_learns_on_without_its_table_of_cars(mixed, leaf_setting, tmp_path) -> None:
    more = table_of(rows_of(leaf_setting, 4, 9, {"van-1": 1.8, "leaf-1": 0.9}), tmp_path / "m.csv")
    first = learn(more, mixed / "fleet")
    assert (first.new, first.trips.num_rows, set(first.by_type)) == (4, 84, {LEAF, VAN})
    again = learn(more, mixed / "fleet")
    assert (again.new, again.known) == (0, 4)
    assert [load_belief(mixed / "fleet" / name).trips for name in (LEAF, VAN)] == [42, 42]
    assert learn(None, mixed / "fleet").trips.num_rows == 84


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"leaf-1,{VAN}\n", "car 'leaf-1' is of type 'ford-e-transit' in"),
        (f"truck,{VAN}\n", "of car 'other', which is not in"),
    ],
)
def test_a_table_that_contradicts_the_folder_is_refused_in_one_line_and_changes_nothing(
    mixed, leaf_setting, tmp_path, text, line
) -> None:
    def files():
        return {path: path.read_bytes() for path in mixed.glob("fleet/**/*.*") if path.is_file()}

    before = files()
    table = table_of(rows_of(leaf_setting, 2, 11, {"other": 1.0}), tmp_path / "t.csv")
    (tmp_path / "cars.csv").write_text("car,vehicle\n" + text)
    with pytest.raises(EvrouteError) as caught:
        learn(table, mixed / "fleet", cars=tmp_path / "cars.csv")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert files() == before
