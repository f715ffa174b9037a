"""``evroute network chargers`` and ``evroute route --charge`` as a user meets them."""

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evroute.cli import main

Run = Callable[..., tuple[int, str, str]]
STATIONS = """name,lat,lon,socket,kw,status
Blake Street <b>garage</b>,39.7530,-104.9960,type2,22,
Blake Street <b>garage</b>,39.7530,-104.9960,chademo,50,
Later,39.7530,-105.0000,ccs,150,planned
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Offer a command in this process: exit status, stdout, stderr."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        with pytest.raises(SystemExit) as status:
            main()
        shown = capsys.readouterr()
        return int(status.value.code or 0), shown.out, shown.err

    return command


def test_stations_are_stored_and_a_plan_stops_at_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(STATIONS)
    stored = tmp_path / "denver.npz"
    status, out, _ = run("network", "chargers", "denver", tmp_path / "own.csv", "--out", stored)
    assert status == 0
    assert "planned or closed" in out
    request = ("route", "--network", stored, "--trip", "B", "--soc", 3, "--reserve", 2)
    status, _, error = run(*request)
    assert status == 2
    assert ", or charge at Blake Street <b>garage</b> to 4 % (--charge)" in error
    gpx, page = tmp_path / "b.gpx", tmp_path / "b.html"
    status, out, _ = run(*request, "--charge", "--gpx", gpx, "--map", page)
    assert status == 0
    assert "to Blake Street <b>garage</b>" in out
    assert "charge (chademo, 50 kW)" in out
    points = ElementTree.parse(gpx).getroot().findall("{*}wpt/{*}name")
    assert [point.text for point in points] == ["charge at Blake Street <b>garage</b> to 4 %"]
    shown = page.read_text(encoding="utf-8")
    assert "charge at Blake Street &lt;b&gt;garage&lt;/b&gt; to 4 %" in shown
    assert "<b>garage</b>" not in shown.replace("&lt;b&gt;", "")
    # the chosen stop has its charges and minutes, and every station its sockets
    assert re.search(r"garage&lt;/b&gt; to 4 %: [23] to 4 %, [56] min", shown)
    assert "garage&lt;/b&gt;: ac 22 kW, chademo 50 kW" in shown
    assert "charging stations" in shown
    status, out, _ = run(*request, "--charge", "--json")
    route = json.loads(out)["routes"]["time"]
    (stop,) = route["stops"]
    assert (stop["to_percent"], stop["kw"]) == (4, 50)
    # 38 kWh at 41 kW, the begin of the curve of the car, and 5 minutes of set-up
    charged_s = 3600 * 0.38 * (4 - stop["arrive_percent"]) / 41
    assert stop["time_s"] == pytest.approx(300 + charged_s, abs=1)
    (tmp_path / "trips.csv").write_text("trip,soc,reserve,charge\nB,3,2,yes\nB,40,2,yes\n")
    batch, table = ("--batch", tmp_path / "trips.csv"), tmp_path / "plans.csv"
    assert run("route", "--network", stored, *batch, "--out", table)[0] == 0
    with table.open(newline="") as handle:
        stops, without = csv.DictReader(handle)
    assert (stops["route"], stops["fastest_s"]) == ("time", stops["time_s"])
    assert without["route"] == "time", "whenever charging is asked for"
    assert float(stops["time_s"]) == pytest.approx(route["time_s"])
    assert float(without["fastest_s"]) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--charge",), "needs the charge at the start: soc"),
        (("--charge", "--soc", 9), "Add them with 'evroute network chargers denver FILE'"),
        (
            ("--charge", "--soc", 9, "--alternatives", 2),
            "takes neither extra time nor alternatives. Leave out",
        ),
    ],
)
def test_requests_that_cannot_be_met_have_one_line(
    run: Run, options: tuple[object, ...], message: str
) -> None:
    status, out, error = run("route", "--trip", "B", *options)
    assert (status, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (("--least-kw", 60), "Choose a lower least_kw"),
        (("--avoid-stations", "blake street"), "no charging station is left"),
        (("--stop-from", 2.9), "Charging on the way does not help"),
    ],
)
def test_wishes_for_stops_reach_the_plan(
    run: Run, tmp_path: Path, wish: tuple[object, ...], message: str
) -> None:
    """The only station has at most 50 kW, and is reached with less than 2.9 %."""
    (tmp_path / "own.csv").write_text(STATIONS)
    stored = tmp_path / "denver.npz"
    run("network", "chargers", "denver", tmp_path / "own.csv", "--out", stored)
    request = ("route", "--network", stored, "--trip", "B", "--soc", 3, "--reserve", 2, "--charge")
    assert run(*request)[0] == 0
    status, out, error = run(*request, *wish)
    assert (status, out) == (2, "")
    assert message in error
