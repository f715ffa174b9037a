"""Planners, networks and beliefs that the service keeps."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.door import planners as keeper
from evroute.folder import Folder
from evroute.learning.belief import load_belief
from evroute.learning.records.history import read_history
from evroute.learning.records.parts import append_part
from evroute.network.catalog import load_network
from evroute.service import planners as module
from evroute.service.requests import PlanBody, Trips
from evroute.service.work import Work

ENDS = {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that made a planner or read a network or belief, as called."""
    calls: list[str] = []

    def noting(home: ModuleType, name: str) -> Callable[..., Any]:
        function = getattr(home, name)

        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return function(*arguments, **options)

        return call

    homes = {"Planner": keeper, "load_network": module, "FollowedBelief": module}
    for name, home in homes.items():
        monkeypatch.setattr(home, name, noting(home, name))
    return calls


def learn_rush_hour(work: Work, first: int = 0) -> None:
    """Learn trips that are three times as slow in the morning, from a number on."""
    network = load_network("denver")
    edges = [network.edge_id[row] for row in network.turns[0]]
    trips = [
        {
            "trip": f"{hour} h, {k}",
            "departed_s": 3600.0 * hour,
            "edges": [{"edge": edge, "energy_wh": 10.0 + k, "travel_s": s} for edge in edges],
        }
        for k in range(first, first + 4)
        for hour, s in ((8, 45.0 + k), (14, 15.0 + k))
    ]
    work.learn(Trips.model_validate({"belief": "own", "trips": trips}))


def test_other_departures_and_conditions_do_not_empty_the_cache(
    tmp_path: Path, made: list[str]
) -> None:
    work = Work(tmp_path, 30.0)
    learn_rush_hour(work)
    made.clear()

    def plan(**fields: Any) -> dict[str, Any]:
        return work.plan(PlanBody.model_validate(ENDS | {"belief": "own"} | fields))

    first = plan()
    assert sorted(made) == ["FollowedBelief", "Planner"]  # the network is that of the learning
    for hour in range(24):
        plan(conditions={"departed_s": 3600.0 * hour})
        plan(depart=f"{hour:02d}:30")
    assert len(made) == 2
    for degrees in range(12):
        plan(conditions={"temperature_c": degrees})
    assert made[2:] == ["Planner"] * 12
    assert plan() == first
    learn_rush_hour(work, 4)
    assert plan()["routes"]["time"]["energy_wh"] != first["routes"]["time"]["energy_wh"]
    assert len(made) == 14


def test_a_departure_in_the_conditions_counts_unless_the_request_has_its_own(
    tmp_path: Path,
) -> None:
    work = Work(tmp_path, 30.0)
    learn_rush_hour(work)
    network = load_network("denver")
    first, second = (network.edge_id[row] for row in network.turns[0])
    ends = {"origin": first, "destination": second, "belief": "own"}

    def time_s(**fields: Any) -> float:
        plan = work.plan(PlanBody.model_validate(ends | fields))
        return float(plan["routes"]["time"]["time_s"])

    morning, noon = time_s(depart="08:00"), time_s(depart="14:00")
    assert morning > 1.2 * noon
    assert time_s(conditions={"departed_s": 8 * 3600.0}) == morning
    assert time_s(conditions={"departed_s": 38 * 3600.0}) == noon
    assert time_s(conditions={"departed_s": 8 * 3600.0}, depart="14:00") == noon


@pytest.mark.parametrize("fields", [{}, {"depart": "08:15"}, {"soc": 40, "depart": "23:59"}])
def test_answers_equal_the_command(tmp_path: Path, fields: dict[str, Any]) -> None:
    work = Work(tmp_path, 30.0)
    learn_rush_hour(work)
    work.plan(PlanBody.model_validate(ENDS | {"belief": "own", "depart": "14:00"}))
    answer = work.plan(PlanBody.model_validate(ENDS | {"belief": "own"} | fields))
    options = [part for name, value in fields.items() for part in (f"--{name}", str(value))]
    ends = ["--from", ENDS["origin"], "--to", ENDS["destination"]]
    command = ["route", *ends, "--belief", str(tmp_path / "own"), "--json", *options]
    assert json.loads(CliRunner().invoke(app, command).output) == json.loads(json.dumps(answer))


def test_findings_leave_out_trips_that_were_set_aside(tmp_path: Path) -> None:
    """A recorded trip that takes ten kilowatt-hours more is in no mean of its route."""
    network, work = load_network("denver"), Work(tmp_path, 30.0)
    plan = evroute.plan(network, **ENDS)
    edges = plan.fastest.edges
    ends = {"origin": edges[0], "destination": edges[-1]}
    ways = [evroute.plan(network, **ends, avoid=avoid).fastest for avoid in ([], [edges[3]])]
    assert ways[0].edges != ways[1].edges
    trips = [
        {
            "trip": f"way {k}, {n}",
            "edges": [
                {"edge": edge, "energy_wh": 10.0 + n + k, "travel_s": 15.0} for edge in way.edges
            ],
        }
        for k, way in enumerate(ways)
        for n in range(3)
    ]
    work.learn(Trips.model_validate({"belief": "own", "trips": trips}))
    before = work.belief("own")["findings"]
    (pair,) = (each for each in before if each.startswith("the route of trip"))
    off_wh = 12.0 * len(ways[1].edges) - 11.0 * len(ways[0].edges)
    assert f"(3 and 3 trips): measured {off_wh:+.0f} ± " in pair
    folder = tmp_path / "own"
    belief = load_belief(folder)
    recorded = read_history(folder, belief.setting).learned[0]
    thirsty = replace(recorded, trip="thirsty", energy_wh=recorded.energy_wh + 1e4)
    append_part(folder, [thirsty], belief.setting, Folder(folder).manifest())
    assert "thirsty" in read_history(folder, belief.setting).gate.skipped
    assert work.belief("own")["findings"] == before
