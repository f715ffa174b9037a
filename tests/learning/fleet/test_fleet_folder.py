"""A fleet at the doors: learned from a table, planned by car, refused in one line."""

import csv
import json
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.door.opened import DoorNames
from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.blocks import work
from evroute.experiments.blocks.tables import answers_by, write_matrix_by
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.planning import matrix_dataset
from evroute.planning.answers import answer_energies
from evroute.planning.dispatch.stops import Stop, read_stops
from evroute.planning.matrix import energy_matrix

from .conftest import LEAF, rows_of

NAMES = ("Walnut Street & 33rd Street", "Broadway & 20th Street")


def test_each_car_has_its_share_and_its_plans(belief) -> None:
    shares = belief.car_shares()
    apart = shares["van-3"].mean - shares["van-1"].mean
    assert apart == pytest.approx(0.4, abs=0.06)  # of factors 0.85 and 1.25
    assert shares["van-3"].trips == 50
    plans = {
        car: evroute.plan("denver", *NAMES, belief=belief, car=car).recommended_route
        for car in ("van-1", "van-2", "van-3", None)
    }
    wh = {car: plan.energy_wh for car, plan in plans.items()}
    assert wh["van-1"] < wh["van-2"] < wh["van-3"]
    assert wh["van-1"] < wh[None] < wh["van-3"]
    std = {car: plan.energy_forecast.std_wh for car, plan in plans.items()}
    assert std[None] > 1.05 * max(std["van-1"], std["van-2"], std["van-3"])


def test_a_plan_by_hand_equals_shared_and_own_numbers(belief) -> None:
    """The energy of a route is that of the type, plus what the car takes more of it."""
    plan = evroute.plan("denver", *NAMES, belief=belief, car="van-3")
    route = plan.recommended_route.route
    planner = evroute.Planner(belief.network, None, belief)
    driven, effects = planner.numbers.driven(route), belief.belief.cars
    along = planner.learned.along(driven.arms, None, driven.stretches)
    own = effects.moments(belief.belief.regression, "van-3")[0]
    more = float(effects.features(along.row) @ own)

    def free_wh(described) -> float:
        """Return the energy before it is moved into the cone, and held above the potential."""
        expected = described.energy_forecast.prediction
        return expected.mean_wh - expected.moved_wh - described.held_wh

    shared_wh = free_wh(planner.describe(route))
    assert free_wh(plan.recommended_route) == pytest.approx(shared_wh + more, rel=1e-9)


def test_the_command_the_batch_and_the_range_plan_by_car(folder, belief, tmp_path) -> None:
    expected = evroute.plan("denver", *NAMES, belief=belief, car="van-3", soc=30)
    options = ["--belief", str(folder), "--car", "van-3"]
    ends = ["--from", NAMES[0], "--to", NAMES[1], "--soc", "30"]
    printed = CliRunner().invoke(cli, ["route", *ends, *options, "--json"])
    assert printed.exit_code == 0, printed.output
    best = json.loads(printed.stdout)["routes"]["energy"]
    assert best["energy_wh"] == expected.routes["energy"].energy_wh
    assert best["forecast"]["sd_wh"] == expected.routes["energy"].energy_forecast.std_wh
    with (tmp_path / "b.csv").open("w", newline="") as file:
        rows = [["from", "to", "soc", "car"], [*NAMES, "30", "van-3"], [*NAMES, "30", ""]]
        csv.writer(file).writerows([*rows, [*NAMES, "30", "van-9"]])
    answers = CliRunner().invoke(
        cli, ["route", "--batch", str(tmp_path / "b.csv"), "--belief", str(folder)]
    )
    lines = [json.loads(line) for line in answers.stdout.splitlines()]
    assert lines[0]["routes"]["energy"]["energy_wh"] == best["energy_wh"]
    assert lines[1]["routes"]["energy"]["energy_wh"] < best["energy_wh"]
    assert "-learned.npz is the belief of a fleet without car 'van-9'" in lines[2]["error"]
    assert ". It knows van-" in lines[2]["error"]
    within = {}
    for car in ("van-1", "van-3"):
        ask = ["range", "--from", NAMES[0], "--soc", "1.2", "--belief", str(folder), "--car", car]
        found = CliRunner().invoke(cli, ask)
        assert found.exit_code == 0, found.output
        within[car] = int(re.search(r"([\d,]+) of", found.stdout)[1].replace(",", ""))
    assert within["van-3"] < within["van-1"]


def test_blocks_on_workers_plan_by_car(folder, belief, tmp_path, monkeypatch) -> None:
    """A matrix, least energies and plans of one car in blocks are those of its belief."""
    monkeypatch.setattr(matrix_dataset, "LEAST_PAIRS", 8)
    monkeypatch.setattr(work, "ENERGIES", 3)
    monkeypatch.setattr(work, "PLANS", 3)
    inside = sorted(set(belief.network.strongest_component().edge_id))
    places = [Stop(place, place, ()) for place in inside[:: len(inside) // 8][:8]]
    tables = tmp_path / "origins.csv", tmp_path / "destinations.csv"
    for table, stops in zip(tables, (places, places[::-1]), strict=True):
        table.write_text("place\n" + "".join(f'"{stop.place}"\n' for stop in stops))
    names, usual = DoorNames("denver", belief=folder), {"car": "van-3"}
    own = evroute.Planner(belief.network, None, belief.of_car("van-3"))
    of_all = evroute.Planner(belief.network, None, belief)
    origins = read_stops(tables[0], belief.network, leaving=True)
    destinations = read_stops(tables[1], belief.network, leaving=False)
    whole = energy_matrix(own, origins, destinations)
    assert (whole[0] > energy_matrix(of_all, origins, destinations)[0]).mean() > 0.8
    rows = [{"from": a.place, "to": b.place} for a, b in pairwise(places)]
    with ThreadPoolExecutor(2) as executor:
        out = tmp_path / "pairs.parquet"
        write_matrix_by(executor, names, tables, out, usual=usual)
        energies = list(answers_by(executor, names, iter(rows), usual, only="energy"))
        plans = list(answers_by(executor, names, iter(rows), usual))
    assert pq.read_table(out)["energy_wh"].to_pylist() == whole[0].ravel().tolist()
    assert energies == list(answer_energies(iter(rows), own, block=3))
    for answer, row in zip(plans, rows, strict=True):
        plan = own.plan(row["from"], row["to"])
        assert answer["routes"]["energy"]["energy_wh"] == plan.routes["energy"].energy_wh


def test_the_report_ranks_cars_and_says_how_many_intervals_held(table, tmp_path) -> None:
    printed = CliRunner().invoke(
        cli, ["learn", str(table(150)), "--out", str(tmp_path / "f"), "--quiet"]
    )
    assert printed.exit_code == 0, printed.output
    lines = printed.stdout.splitlines()
    ranked = [line for line in lines if "than its type" in line]
    assert [line.split()[0] for line in ranked] == ["van-3", "van-2", "van-1"]
    assert re.fullmatch(r"van-3 takes \d+ ± \d+ % more than its type", ranked[0])
    assert re.fullmatch(r"van-1 takes \d+ ± \d+ % less than its type", ranked[2])
    assert any(line.startswith("90 % intervals by car, of 3 cars with 50 trips") for line in lines)
    assert "150 trips of 3 cars" in lines


def test_a_column_vehicle_without_types_names_cars(table, tmp_path) -> None:
    path = table(12, without=["car"], vehicle=rows_of_cars(table(12)))
    learned = learn(path, tmp_path / "f")
    assert load_belief(tmp_path / "f").cars == ("van-1", "van-2", "van-3")
    assert learned.new == 12
    assert learned.trips["car"].to_pylist()[:3] == ["van-1", "van-2", "van-3"]


def rows_of_cars(path):
    with path.open() as file:
        return [row["car"] for row in csv.DictReader(file)]


def cars_csv(tmp_path, text):
    (tmp_path / "cars.csv").write_text("car,vehicle\n" + text)
    return tmp_path / "cars.csv"


def test_a_table_of_cars_gives_the_type(table, tmp_path) -> None:
    cars = cars_csv(tmp_path, "van-1,renault-zoe\nvan-2,renault-zoe\nvan-3,renault-zoe\n")
    learn(table(9), tmp_path / "f", cars=cars)
    assert load_belief(tmp_path / "f").vehicle.name == "renault-zoe"


def test_cars_of_another_type_are_set_aside(table, tmp_path) -> None:
    cars = cars_csv(tmp_path, f"van-1,{LEAF}\nvan-2,{LEAF}\nvan-3,renault-zoe\n")
    learned = learn(table(9), tmp_path / "f", vehicle=LEAF, cars=cars)
    assert learned.new == 6
    assert list(learned.skipped) == ["0-2", "0-5", "0-8"]
    assert "its car 'van-3' is of type 'renault-zoe'" in learned.skipped["0-2"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"van-1,{LEAF}\nvan-2,{LEAF}\n", "of car 'van-3', which is not in"),
        (f"van-1,{LEAF}\nvan-1,renault-zoe\n", "row 2: car 'van-1' is of type 'renault-zoe' here"),
        (f"van-1,{LEAF}\nvan-2,\n", "row 2: no vehicle is named"),
        (f",{LEAF}\n", "row 1: no car is named"),
        ("van-1,no-such-type\n", "unknown vehicle 'no-such-type'"),
        ("", "has no rows"),
    ],
)
def test_a_wrong_table_of_cars_is_refused_in_one_line(table, tmp_path, text, line) -> None:
    cars = cars_csv(tmp_path, text)
    command = ["learn", str(table(9)), "--out", str(tmp_path / "f"), "--cars", str(cars)]
    error = CliRunner().invoke(cli, command).exception
    assert isinstance(error, EvrouteError)
    assert line in str(error)
    assert "\n" not in str(error)
    assert not (tmp_path / "f" / "measured").exists()


def test_half_a_table_of_cars_sets_the_rest_aside(table, tmp_path) -> None:
    rows = rows_of_cars(table(9))
    half = [car if car != "van-2" else "" for car in rows]
    learned = learn(table(9, car=half), tmp_path / "f", vehicle=LEAF)
    assert learned.new == 6
    assert set(learned.skipped.values()) == {"it names no car, as other trips of the table do"}


def test_a_car_of_two_types_is_refused(table, tmp_path) -> None:
    rows = rows_of_cars(table(9))
    types = [LEAF if place % 2 else "renault-zoe" for place in range(len(rows))]
    with pytest.raises(EvrouteError, match=r"car 'van-1' is of type '.*' and of type '"):
        learn(table(9, vehicle=types), tmp_path / "f", vehicle=LEAF)


def test_fleets_and_single_cars_do_not_mix(table, tmp_path) -> None:
    learn(table(9), tmp_path / "fleet", vehicle=LEAF)
    alone = table(9, 5, without=["car"], name="alone.csv")
    with pytest.raises(EvrouteError, match="belief of a fleet with car 'van-1'"):
        learn(alone, tmp_path / "fleet")
    learn(alone, tmp_path / "one", vehicle=LEAF)
    with pytest.raises(EvrouteError, match="belief of one car without a name"):
        learn(table(9), tmp_path / "one")
    assert load_belief(tmp_path / "fleet").trips == 9
    with pytest.raises(UnknownNameError, match="belief of one car without a name"):
        load_belief(tmp_path / "one").of_car("van-1")
    with pytest.raises(EvrouteError, match="a car needs the belief of its fleet"):
        evroute.plan("denver", *NAMES, car="van-1")


def test_a_model_of_edges_does_not_take_cars(table, tmp_path) -> None:
    with pytest.raises(EvrouteError, match="does not tell cars apart"):
        learn(table(6), tmp_path / "f", model="independent", vehicle=LEAF)


def test_a_folder_learned_in_two_calls_equals_one_call(table, tmp_path, leaf_setting) -> None:
    learn(table(30, 7), tmp_path / "a", vehicle=LEAF)
    learn(table(30, 8), tmp_path / "a")
    rows = rows_of(leaf_setting, 30, 7)
    for name, more in rows_of(leaf_setting, 30, 8).items():
        rows[name] += more
    learn(table(1, **rows), tmp_path / "b", vehicle=LEAF)
    one, other = (load_belief(tmp_path / name).state() for name in "ab")
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name
