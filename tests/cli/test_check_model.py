"""``evroute check-model`` on vehicles, and on tables that are spoiled on purpose."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evroute import check_model, load_belief, load_vehicle
from evroute.cli import app
from evroute.energy.consumption import COLUMNS, of_vehicle

RUNNER = CliRunner()
TRIPS = Path(__file__).parents[2] / "data/examples/edges.csv"
CAR = load_vehicle("nissan-leaf-40")
SPEEDS_KMH, SLOPES_PERCENT = np.arange(5.0, 136.0, 5.0), np.arange(-13.0, 13.1, 1.0)
Spoiled = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def climbing(slope_percent: np.ndarray) -> np.ndarray:
    """Potential energy, Wh per km."""
    return CAR.mass_kg * 9.81 * slope_percent * 10.0 / 3600.0


def scaled_slope(factor: float) -> Spoiled:
    return lambda v, s, e: of_vehicle(CAR).wh_per_km(v / 3.6, factor * s / 100.0)


def less(wh_per_km: float) -> Spoiled:
    return lambda v, s, e: e - wh_per_km


# each with the beginning of the check that must fail
SPOILED: list[tuple[Spoiled, str]] = [
    (lambda v, s, e: -e, "energy rises"),
    (scaled_slope(-1.0), "energy rises"),
    (lambda v, s, e: np.abs(e), "energy rises"),
    (lambda v, s, e: e - 3.0 * climbing(np.maximum(s, 0.0)), "energy rises"),
    (lambda v, s, e: np.where(s > 8.0, e.mean(), e), "energy rises"),
    (lambda v, s, e: np.where(v > 100.0, -e, e), "energy rises"),
    (lambda v, s, e: e + 200.0 * np.sin(s), "energy rises"),
    (scaled_slope(1.8), "a descent"),
    (scaled_slope(2.5), "a descent"),
    (lambda v, s, e: np.where(s < 0.0, 1.6 * climbing(s), e), "a descent"),
    (lambda v, s, e: np.where(s < -5.0, e + 1.5 * climbing(s), e), "a descent"),
    (lambda v, s, e: np.where((s < 0.0) & (v < 30.0), e + climbing(s), e), "a descent"),
    (lambda v, s, e: climbing(s) - 1.0, "a descent"),
    (less(60.0), "a level road"),
    (less(100.0), "a level road"),
    (less(400.0), "a level road"),
    (lambda v, s, e: climbing(s), "a level road"),
    (lambda v, s, e: e - np.where(v < 30.0, 150.0, 0.0), "a level road"),
    (lambda v, s, e: e - np.where(v > 110.0, 400.0, 0.0), "a level road"),
    (lambda v, s, e: e - 0.7 * np.abs(climbing(s)), "up and down"),
    (lambda v, s, e: -np.ones_like(e) + 10.0 * s, "no closed drive"),
]


def write(path, spoil: Spoiled) -> None:
    speed, slope = (each.ravel() for each in np.meshgrid(SPEEDS_KMH, SLOPES_PERCENT))
    energy = spoil(speed, slope, of_vehicle(CAR).wh_per_km(speed / 3.6, slope / 100.0))
    rows = [",".join(COLUMNS)]
    rows += [f"{v:g},{s:g},{e:.12g}" for v, s, e in zip(speed, slope, energy, strict=True)]
    path.write_text("\n".join(rows) + "\n")


def check(*arguments: str):
    done = RUNNER.invoke(app, ["check-model", *arguments, "--json"])
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("vehicle", ["nissan-leaf-40", "tesla-model-3", "renault-zoe"])
@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_vehicles_hold_everything(vehicle: str, physics: str) -> None:
    status, found = check(vehicle, "--physics", physics)
    assert (status, found["holds"], found["loop"]) == (0, True, None)
    assert [law["holds"] for law in found["laws"]] == [True] * 5


def test_a_table_of_the_physics_of_a_car_holds_everything(tmp_path) -> None:
    write(tmp_path / "leaf.csv", lambda v, s, e: e)
    status, found = check(str(tmp_path / "leaf.csv"), "--mass", str(CAR.mass_kg))
    assert (status, [law["holds"] for law in found["laws"]]) == (0, [True] * 5)


@pytest.mark.parametrize(("spoil", "law"), SPOILED, ids=map(str, range(len(SPOILED))))
def test_a_spoiled_table_fails_the_check_that_it_breaks(tmp_path, spoil: Spoiled, law: str) -> None:
    write(tmp_path / "spoiled.csv", spoil)
    status, found = check(str(tmp_path / "spoiled.csv"), "--mass", str(CAR.mass_kg))
    failed = [each["law"] for each in found["laws"] if each["holds"] is False]
    assert status == 1
    assert any(each.startswith(law) for each in failed), failed


def test_the_cases_that_fail_are_counted(tmp_path) -> None:
    """The 25 speeds of the grid, 100 Wh below the car on the level."""
    write(tmp_path / "spoiled.csv", less(100.0))
    _, found = check(str(tmp_path / "spoiled.csv"))
    speeds = np.arange(10.0, 131.0, 5.0)
    level = of_vehicle(CAR).wh_per_km(speeds / 3.6, np.zeros(25)) - 100.0
    (law,) = [each for each in found["laws"] if each["law"].startswith("a level road")]
    assert law["detail"].startswith(f"{np.sum(level <= 0.0)} of 25 fail, least {level.min():.3g}")


def test_without_a_mass_descents_are_not_checked(tmp_path) -> None:
    write(tmp_path / "leaf.csv", lambda v, s, e: e)
    status, found = check(str(tmp_path / "leaf.csv"))
    (descents,) = [law for law in found["laws"] if law["law"].startswith("a descent")]
    assert (status, descents["holds"]) == (0, None)
    assert "--mass" in descents["detail"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed_kmh,slope_percent\n10,1\n", "wh_per_km"),
        ("speed_kmh,slope_percent,wh_per_km\n10,1,many\n", "number"),
        ("speed_kmh,slope_percent,wh_per_km\n10,1,100\n20,2,100\n", "each pair"),
        ("", "each pair"),
    ],
)
def test_a_table_that_is_none_is_one_line(tmp_path, text: str, words: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = RUNNER.invoke(app, ["check-model", str(tmp_path / "bad.csv")])
    assert done.exception is not None
    assert words in str(done.exception)


@pytest.mark.parametrize("model", [(), ("--model", "exact")], ids=["trips", "edges"])
def test_a_belief_is_checked_for_loops_alone(tmp_path, model: tuple[str, ...]) -> None:
    learned = RUNNER.invoke(
        app,
        ["learn", str(TRIPS), "--network", "denver", *model, "--out", str(tmp_path / "car")],
    )
    assert learned.exit_code == 0, learned.output
    status, found = check(str(tmp_path / "car"))
    assert status == 0
    assert [law["holds"] for law in found["laws"]] == [True, None]
    assert found["model"] == f"belief {tmp_path / 'car'}"
    in_python = check_model(load_belief(tmp_path / "car"))
    assert [law.holds for law in in_python.laws] == [True, None]
    assert in_python.laws[0].detail == found["laws"][0]["detail"]


def test_a_missing_file_is_one_line(tmp_path) -> None:
    done = RUNNER.invoke(app, ["check-model", str(tmp_path / "none.csv")])
    assert "none.csv cannot be read" in str(done.exception)
