"""Totals of trips: logs with speeds and a meter, whose ways are unknown."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.records.repair import repair
from evroute.learning.trips.speed_terms import speed_terms
from evroute.tables import read_columns

CAR = load_vehicle("nissan-leaf-40")
FACTOR = 1.25
EXAMPLE = Path(__file__).parents[3] / "data/examples/points.csv"


def driven(rng: np.random.Generator) -> np.ndarray:
    """Return the speeds of a trip of several stops each second, m/s."""
    speed_mps = [0.0]
    for _ in range(int(rng.integers(5, 15))):
        top_mps = rng.uniform(6, 16)
        while speed_mps[-1] < top_mps:
            speed_mps.append(speed_mps[-1] + 1.0)
        speed_mps += [top_mps] * int(rng.integers(10, 60))
        while speed_mps[-1] > 0:
            speed_mps.append(max(speed_mps[-1] - 1.2, 0.0))
        speed_mps += [0.0] * int(rng.integers(2, 20))
    return np.array(speed_mps)


def power_w(speed_mps: np.ndarray) -> np.ndarray:
    """Return the power of a car that takes more than the vehicle file says, W."""
    force_n = CAR.mass_kg * 9.81 * CAR.rolling * (speed_mps > 0)
    force_n += 0.6 * CAR.drag * CAR.front_m2 * speed_mps**2
    at_wheels_w = (force_n + CAR.mass_kg * np.gradient(speed_mps)) * speed_mps
    taken_w = np.where(
        at_wheels_w > 0,
        at_wheels_w / CAR.propulsion_efficiency,
        at_wheels_w * CAR.recuperation_efficiency,
    )
    return FACTOR * taken_w + CAR.auxiliary_w


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of 25 drives with hours between them, whose current is negative."""
    path, rng = tmp_path_factory.mktemp("totals") / "wheel.csv", np.random.default_rng(3)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["time", "speed (km/h)", "voltage", "current", "temperature"])
        at_s = 1.7e9
        for _ in range(25):
            speed_mps = driven(rng)
            for k, (mps, watts) in enumerate(zip(speed_mps, power_w(speed_mps), strict=True)):
                rows.writerow(
                    [f"{at_s + k:.0f}", f"{3.6 * mps:.1f}", 350, f"{-watts / 350:.4f}", 20]
                )
            at_s += 7200
    return path


def test_the_command_without_the_option_names_the_call_that_reads_it(log, tmp_path) -> None:
    done = CliRunner().invoke(cli, ["learn", str(log), "--out", str(tmp_path / "own")])
    line = str(done.exception)
    assert "It lacks positions" in line
    assert line.endswith("evroute learn wheel.csv --totals")
    done = CliRunner().invoke(cli, ["learn", str(log), "--totals", "--out", str(tmp_path / "own")])
    assert done.exit_code == 0, done.output
    assert "learned 25 trips, 25 in all" in done.stdout
    assert "25 totals of trips without their ways" in done.stdout


def test_totals_teach_the_car_and_no_road(log, tmp_path) -> None:
    learned = learn(log, tmp_path / "own", vehicle=CAR, reader="totals")
    trips = learned.trips.to_pylist()
    late = trips[10:]
    off = sum(abs(row["predicted_wh"] - row["energy_wh"]) for row in late)
    by_physics = sum(abs(row["eq8_wh"] - row["energy_wh"]) for row in late)
    total = sum(row["energy_wh"] for row in late)
    assert off < 0.06 * total < 0.2 * total < by_physics
    belief = load_belief(tmp_path / "own")
    ends = "Walnut Street & 33rd Street", "Broadway & 20th Street"
    before, after = (
        evroute.plan("denver", *ends, vehicle=CAR, belief=each).routes["time"].energy_wh
        for each in (None, belief)
    )
    assert 1.05 * before < after < 1.5 * before, "the car takes more than its file says"
    assert not belief.note.startswith("learned on other roads")
    assert learn(log, tmp_path / "own", reader="totals").known == 25
    assert read_columns(tmp_path / "own/trips.parquet")["length_m"].to_pylist() == [
        pytest.approx(row["length_m"]) for row in trips
    ]


def test_totals_are_recorded_and_learned_again_with_equal_numbers(log, tmp_path) -> None:
    out = tmp_path / "own"
    learn(log, out, vehicle=CAR, reader="totals")
    before = load_belief(out).state()
    (out / "beliefs/denver-learned.npz").unlink()
    (out / "trips.parquet").unlink()
    assert repair(out).trips.num_rows == 25
    for name, numbers in load_belief(out).state().items():
        np.testing.assert_array_equal(numbers, before[name], err_msg=name)


def test_a_model_of_edges_refuses_totals(log, tmp_path) -> None:
    with pytest.raises(EvrouteError, match=r"learns roads, which the totals of|has no routes"):
        learn(log, tmp_path / "own", vehicle=CAR, reader="totals", model="exact")


def test_the_terms_of_steady_driving_by_hand() -> None:
    """At 10 m/s for 600 s: 6 km, 10 minutes and the drag of 6 km, without stops."""
    time_s = np.arange(601.0)
    terms = speed_terms(CAR, time_s, np.full(601, 10.0), DrivingConditions())["driving"]
    drag_wh = 0.5 * 1.2041 * CAR.drag * CAR.front_m2 * 100.0 * 6000.0 / 3600.0
    assert terms["km"] == pytest.approx(6.0)
    assert terms["minutes"] == pytest.approx(10.0)
    assert terms["drag"] == pytest.approx(drag_wh, rel=0.02)
    assert terms["stops and turns"] == pytest.approx(0.0, abs=1e-9)
    assert terms["metres up"] == terms["metres down"] == 0.0


def test_a_stop_costs_what_braking_loses() -> None:
    """From 15 m/s to 0 and back: 1/2 m v² (1/eta_p - eta_r), less the work of resistance."""
    speed_mps = np.concatenate(
        [
            np.full(60, 15.0),
            np.linspace(15.0, 0.0, 11),
            np.linspace(0.0, 15.0, 16),
            np.full(60, 15.0),
        ]
    )
    terms = speed_terms(CAR, np.arange(len(speed_mps)) * 1.0, speed_mps, DrivingConditions())
    lost = 1.0 / CAR.propulsion_efficiency - CAR.recuperation_efficiency
    kinetic_wh = 0.5 * CAR.mass_kg * 15.0**2 / 3600.0
    # the work of rolling and drag along the metres of braking comes from the kinetic energy
    assert 0.8 * kinetic_wh * lost < terms["driving"]["stops and turns"] < kinetic_wh * lost


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"speed (km/h)": "400"}, "its speed reaches 111 m/s"),
        ({"current": "1000"}, "Wh/km"),
        ({"speed (km/h)": "0"}, "it is 0 m long by its speeds"),
        ({"speed (km/h)": ""}, "fewer than two rows have a speed"),
    ],
)
def test_an_impossible_total_is_set_aside(log, tmp_path, changed, reason) -> None:
    with log.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:300]
    with (tmp_path / "odd.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows([row | changed for row in rows])
    with pytest.raises(EvrouteError, match=reason):
        learn(tmp_path / "odd.csv", tmp_path / "own", vehicle=CAR, reader="totals")
    assert not (tmp_path / "own/measured").exists()
