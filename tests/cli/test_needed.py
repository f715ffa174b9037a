"""``evroute needed`` gives the answers of ``/v1/needed``."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.service.requests import NeededDay, NeededRequest
from evroute.service.work import Work

HOME, WORK = "Walnut Street & 33rd Street", "Broadway & 20th Street"


def asked(*options: str | Path) -> str:
    done = CliRunner().invoke(app, ["needed", *map(str, options)], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return Work(tmp_path_factory.mktemp("beliefs"), 60.0)


def test_a_trip_needs_what_the_service_answers(work: Work) -> None:
    wishes = ("--p", "0.9", "--reserve", "10", "--temperature", "-5", "--payload", "80")
    found = json.loads(asked("--from", HOME, "--to", WORK, "--depart", "07:45", *wishes, "--json"))
    query: dict[str, Any] = {"from": HOME, "to": WORK, "p": 0.9, "reserve": 10, "depart": "07:45"}
    query |= {"temperature_c": -5, "payload_kg": 80}
    assert found == work.needed(NeededRequest.model_validate(query))
    table = asked("--from", HOME, "--to", WORK, *wishes)
    assert f"{found['needed_percent']} %" in table


def test_a_day_needs_what_the_service_answers(work: Work, tmp_path: Path) -> None:
    table = tmp_path / "day.csv"
    table.write_text(f"from,to,depart\n{HOME},{WORK},07:45\n{WORK},{HOME},\n")
    found = json.loads(asked("--trips", table, "--reserve", "10", "--wind", "5", "--json"))
    trips = [{"from": HOME, "to": WORK, "depart": "07:45"}, {"from": WORK, "to": HOME}]
    body = {"trips": trips, "reserve": 10, "conditions": {"wind_mps": 5}}
    assert found == work.needed_of_day(NeededDay.model_validate(body))
    assert f"{found['mean_wh'] / 1000:.2f} +- " in asked("--trips", table, "--wind", "5")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("from,to\n", "day.csv"),
        (f"from\n{HOME}\n", "no column 'to'"),
        (f"from,to\n{HOME},\n", "day.csv, row 1: name the places in from and to"),
        (f"from,to,depart\n{HOME},{WORK},25:00\n", "day.csv, row 1: depart is '25:00'"),
        ("from,to\n" + f"{HOME},{WORK}\n" * 21, "day.csv has 21 trips, expected 1 to 20"),
    ],
)
def test_a_wrong_table_is_refused_by_its_row(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "day.csv").write_text(content)
    with pytest.raises(EvrouteError) as refused:
        asked("--trips", tmp_path / "day.csv")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "options", [(), ("--from", HOME), ("--trips", "x.csv", "--to", WORK), ("--p", "0.4")]
)
def test_options_that_do_not_go_together_are_refused(options: tuple[str, ...]) -> None:
    with pytest.raises(EvrouteError):
        asked(*options)
