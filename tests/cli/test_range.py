"""``evroute range``: the printed numbers, its files, and one line for each bad input."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.errors import EvrouteError
from evroute.planning.fields import day_of
from evroute.planning.reach import RangeRequest

FROM = ["range", "--from", "Blake Street & 17th Street"]


def test_prints_roads_by_probability_and_writes_geojson(tmp_path: Path) -> None:
    path = tmp_path / "range.json"
    options = [
        "--vehicle",
        "reference",
        "--soc",
        "1.6",
        "--reserve",
        "1",
        "--risk",
        "10%",
        "--geojson",
        str(path),
    ]
    done = CliRunner().invoke(app, [*FROM, *options])
    assert done.exit_code == 0, done.output
    network = evroute.load_network("denver")
    found = evroute.reachable(
        network,
        origin="Blake Street & 17th Street",
        soc_percent=1.6,
        reserve_percent=1,
        risk=0.1,
        vehicle="reference",
    )
    assert f"at a risk of 10 %: {found.within.sum():,} of 1,330 roads" in done.output
    likely = (found.charge_percent[0.9] >= 1).sum()
    assert f"90 % of trips arrive at or above 1 %: {likely:,} roads" in done.output
    assert [line.split(" %")[0] for line in done.output.splitlines()[1:4]] == ["50", "90", "99"]
    assert json.loads(path.read_text())["features"][0]["properties"]["risk"] == 0.1


def test_the_physics_of_the_paper_reaches_as_far_as_by_the_call() -> None:
    options = ["--vehicle", "reference", "--soc", "1.6", "--reserve", "1", "--risk", "mean"]
    done = CliRunner().invoke(app, [*FROM, *options, "--physics", "eq8"])
    assert done.exit_code == 0, done.output
    by_physics = {
        physics: evroute.reachable(
            evroute.load_network("denver"),
            origin="Blake Street & 17th Street",
            soc=1.6,
            reserve=1,
            risk="mean",
            vehicle="reference",
            physics=physics,
        ).within.sum()
        for physics in ("eq8", "driving")
    }
    assert by_physics["eq8"] != by_physics["driving"]
    assert f"by expected energies: {by_physics['eq8']:,} of 1,330 roads" in done.output


def test_prints_the_charge_that_roads_need_to_a_place() -> None:
    done = CliRunner().invoke(app, ["range", "--to", "Blake Street & 17th Street"])
    assert done.exit_code == 0, done.output
    assert "1,330 of 1,330 roads lead there on a full battery at a risk of 10 %" in done.output
    needs = [int(each) for each in re.findall(r"need at most (\d+) % of charge", done.output)]
    usual = CliRunner().invoke(
        app, ["range", "--to", "Blake Street & 17th Street", "--risk", "mean"]
    )
    assert "by expected energies" in usual.output
    means = [float(each) for each in re.findall(r"need at most (\d+\.\d) %", usual.output)]
    assert len(needs) == len(means) == 3
    assert all(need >= mean for need, mean in zip(needs, means, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["range"], "--from"),
        (FROM, "--soc"),
        ([*FROM, "--soc", "2", "--risk", "0"], "above 0"),
        ([*FROM, "--soc", "2", "--run", "x"], "--belief"),
        (["range", "--to", "Blake Street & 17th Street", "--soc", "2"], "not with --to"),
        ([*FROM, "--soc", "2", "--reserve", "3"], "reserve"),
        ([*FROM, "--soc", "2", "--wind", "50"], "wind is 50 m/s. It must be from 0 to 40 m/s"),
        ([*FROM, "--soc", "2", "--wind-from", "90"], "wind_from needs a wind speed"),
        ([*FROM, "--soc", "2", "--depart", "25:00"], "depart is '25:00'"),
    ],
)
def test_bad_input_is_refused_in_one_line(options: list[str], message: str) -> None:
    done = CliRunner().invoke(app, options)
    assert isinstance(done.exception, EvrouteError)
    assert message in str(done.exception)


def test_the_range_has_the_conditions_of_plans() -> None:
    day = ["--temperature", "-10", "--wind", "9", "--wind-from", "90", "--speed-factor", "0.9"]
    done = CliRunner().invoke(app, [*FROM, "--soc", "2", "--reserve", "1", *day])
    assert done.exit_code == 0, done.output
    conditions = {"temperature_c": -10, "wind_mps": 9, "wind_from_deg": 90, "speed_factor": 0.9}
    request = RangeRequest(origin=FROM[2], soc=2, reserve=1, conditions=conditions)
    found, mild = evroute.reachable("denver", request), evroute.reachable("denver", FROM[2], soc=2)
    assert f": {found.within.sum():,} of 1,330 roads" in done.output
    assert found.within.sum() < mild.within.sum()


def test_the_departure_of_a_request_goes_before_the_departure_of_its_conditions() -> None:
    request = RangeRequest(origin=FROM[2], soc=2, conditions={"departed_s": 8 * 3600.0})
    assert day_of(request.conditions, request.depart).departed_s == 8 * 3600.0
    assert day_of(request.conditions, "09:30").departed_s == 9.5 * 3600.0
