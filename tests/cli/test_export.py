"""``evroute export``: what a folder has learned as the numbers of another planner."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.energy.consumption import of_vehicle
from evroute.errors import EvrouteError

DEAR = 1.4
"""The made trips take this times the energy by physics."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a belief of trips that all take more than physics expects."""
    place = tmp_path_factory.mktemp("export")
    roads, rng, rows = evroute.load_network("denver"), np.random.default_rng(0), []
    for trip in range(40):
        while True:
            ends = [roads.edge_id[edge] for edge in rng.integers(0, roads.n_edges, 2)]
            try:
                found = evroute.plan(roads, *ends).fastest
            except EvrouteError:
                continue
            if found.length_m > 1500:
                break
        rows += [
            f'{trip},"{roads.edge_id[edge]}",{DEAR * wh:.3f}'
            for edge, wh in zip(found.route.edges, found.edge_wh, strict=True)
        ]
    table = place / "trips.csv"
    table.write_text("\n".join(["trip,edge,energy_wh", *rows]) + "\n")
    evroute.learn(table, out=place / "belief", network="denver")
    return place / "belief"


def printed(*options: str | Path) -> str:
    command = ["export", *map(str, options)]
    done = CliRunner().invoke(app, command, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_the_numbers_follow_what_was_learned(folder: Path, tmp_path: Path) -> None:
    found = json.loads(printed(folder, "--for", "abrp"))
    assert "40 trips" in found["belief"]
    car = evroute.load_vehicle("nissan-leaf-40")
    speed = np.array([110 / 3.6])
    (usual,) = of_vehicle(car).wh_per_km(speed, np.zeros(1))
    assert 1.15 * usual < found["parameters"]["ref_consumption"] < 1.5 * usual
    path = tmp_path / "numbers.json"
    assert printed(folder, "--for", "abrp", "--out", path) == ""
    assert json.loads(path.read_text("utf-8")) == found
    assert list(tmp_path.iterdir()) == [path]


def test_tomtom_takes_more_too(folder: Path) -> None:
    found = json.loads(printed(folder, "--for", "tomtom"))
    assert found["errors_against_the_belief"][-1]["median_percent"] < 10
    assert str(folder) not in json.dumps(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--for", "waze"], "abrp, tomtom"), (["--for", "abrp", "--car", "7"], "car")],
)
def test_what_there_is_not_is_refused(folder: Path, options: list[str], words: str) -> None:
    with pytest.raises(EvrouteError, match=words):
        printed(folder, *options)
