"""Recommended routes of a matrix and the deviations of its energies, against single plans."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.base import Belief
from evroute.learning.belief import load_belief
from evroute.network.places.positions import positions
from evroute.network.road_network import RoadNetwork
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import AIMS, LIMITED, SD, Cells, Pairs
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest
from evroute.resources import data_path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Belief:
    """Return a belief that learned one trip."""
    folder = tmp_path_factory.mktemp("learned")
    evroute.learn(data_path("examples", "edges.csv"), folder / "mine")
    return load_belief(folder / "mine")


def stops(network: RoadNetwork, count: int, seed: int, *, leaving: bool) -> list[Stop]:
    """Return random junctions, a point between two, and a whole edge."""
    lon, lat = network.junction_lon_lat
    at = np.random.default_rng(seed).choice(network.n_junctions, count, replace=False)
    texts = [f"{lat[row]:.6f},{lon[row]:.6f}" for row in at]
    texts += ["39.7412,-104.9823", sorted(set(network.strongest_component().edge_id))[7]]
    return [Stop(text, text, positions(network, text, leaving=leaving)) for text in texts]


def cells_and_plans(
    planner: Planner, ends: tuple[list[Stop], list[Stop]], cells: Cells, texts: dict[str, Any]
) -> list[tuple[dict[str, float], Any]]:
    """Return each cell by its columns, with the single plan of its places."""
    matrix = Pairs(planner, ends[1], cells).matrix(ends[0])
    found = []
    for o, origin in enumerate(ends[0]):
        for d, destination in enumerate(ends[1]):
            cell = dict(zip(cells.columns, matrix[:, o, d].tolist(), strict=True))
            if origin.place == destination.place:
                assert not any(cell.values())
                continue
            places = {"origin": origin.place, "destination": destination.place}
            found.append((cell, planner.plan(PlanRequest(**places, **texts))))
    return found


@pytest.mark.parametrize(
    ("physics", "texts"),
    [
        ("driving", {"max_extra_time": 0.05, "detour_wh_per_minute": 15.0}),
        ("eq8", {"max_extra_time": 0.02, "detour_saving_wh": 5.0, "detour_wh_per_minute": 15.0}),
    ],
)
def test_every_cell_is_the_recommended_route_of_a_single_plan(
    denver: RoadNetwork, physics: str, texts: dict[str, Any]
) -> None:
    planner = Planner(denver, load_vehicle("reference"), physics=physics)
    ends = stops(denver, 5, 1, leaving=True), stops(denver, 5, 1, leaving=False)
    request = PlanRequest.without_places({name: str(value) for name, value in texts.items()})
    pairs = cells_and_plans(planner, ends, Cells("recommended", request=request), texts)
    kinds = set()
    for cell, plan in pairs:
        best = plan.routes[plan.recommended]
        wanted = [best.energy_wh, best.time_s, best.length_m]
        np.testing.assert_allclose(list(cell.values())[:3], wanted, rtol=1e-9)
        kinds.add((plan.recommended == "time", cell[LIMITED]))
    assert [len(set(each)) for each in zip(*kinds, strict=True)] == [2, 2]


def test_without_a_belief_the_deviation_comes_from_physics(denver: RoadNetwork) -> None:
    uncertainty = evroute.physics_belief(denver, load_vehicle("reference"), "driving")
    planner = Planner(denver, load_vehicle("reference"), uncertainty=uncertainty)
    ends = stops(denver, 2, 3, leaving=True), stops(denver, 2, 3, leaving=False)
    day = uncertainty.under(planner.conditions)
    for cell, plan in cells_and_plans(planner, ends, Cells(sd=True), {}):
        driven = planner.numbers.driven(plan.routes["energy"].route)
        alone = day.forecast(driven.arms, driven.energy_wh, None, driven.stretches)
        assert cell[SD] == pytest.approx(alone.std_wh, rel=1e-9)
    with pytest.raises(EvrouteError, match="needs a belief"):
        Pairs(Planner(denver, load_vehicle("reference")), ends[1], Cells(sd=True)).matrix(ends[0])


@pytest.mark.parametrize("by", AIMS)
def test_the_deviation_of_a_cell_equals_the_forecast_of_its_plan(
    denver: RoadNetwork, learned: Belief, by: str
) -> None:
    planner = Planner(denver, None, learned)
    ends = stops(denver, 3, 2, leaving=True), stops(denver, 3, 2, leaving=False)
    texts = {"detour_wh_per_minute": 15.0}
    request = PlanRequest.without_places({name: str(value) for name, value in texts.items()})
    for cell, plan in cells_and_plans(planner, ends, Cells(by, sd=True, request=request), texts):
        best = plan.routes[plan.recommended if by == "recommended" else by]
        assert cell[SD] == pytest.approx(best.energy_forecast.std_wh, rel=1e-9)


def written(path: Path, *options: str) -> tuple[list[dict[str, str]], str]:
    """Return the rows of a matrix of the command, and what it says."""
    done = CliRunner().invoke(app, ["route", "--matrix", *options, "--out", str(path)])
    assert done.exit_code == 0, done.output
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file)), done.output
    return pd.read_parquet(path).to_dict("records"), done.output


def test_the_command_prints_the_share_that_is_planned_singly(
    denver: RoadNetwork, tmp_path: Path
) -> None:
    table = tmp_path / "stops.csv"
    lines = [f'"{stop.place}"' for stop in stops(denver, 4, 1, leaving=True)]
    table.write_text("\n".join(["place", *lines]) + "\n")
    words = [str(table), str(table), "--by", "recommended", "--sd", "--detour-wh-per-minute", "15"]
    words += ["--max-extra-time", "2%"]
    rows, said = written(tmp_path / "m.csv", *words)
    limited = [row["limited"] == "true" for row in rows]
    assert f"{sum(limited)} planned singly as a limit binds ({np.mean(limited):.1%})" in said
    assert sum(limited) > 0
    for name, jobs in (("here", []), ("there", ["--jobs", "2"])):
        parts, also = written(tmp_path / name, *words, *jobs)
        assert said.splitlines()[0] == also.splitlines()[0]
        assert [row["limited"] for row in parts] == limited
        for column in ("energy_wh", "time_s", "length_m", "sd_wh"):
            alone = [float(row[column]) for row in rows]
            np.testing.assert_allclose([row[column] for row in parts], alone, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--detour-wh-per-minute", "15"], "or send --by recommended"),
        (["--by", "shortest"], "expected energy, time or recommended"),
    ],
)
def test_wishes_of_recommendations_go_with_them(
    tmp_path: Path, options: list[str], words: str
) -> None:
    table = tmp_path / "stops.csv"
    table.write_text("place\nBlake Street & 17th Street\n")
    asked = ["route", "--matrix", str(table), str(table), "--out", str(tmp_path / "m.csv")]
    done = CliRunner().invoke(app, [*asked, *options])
    assert isinstance(done.exception, EvrouteError), done.output
    assert words in str(done.exception)
