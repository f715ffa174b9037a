"""``evroute route`` as a user meets it: tables, JSON, files, batches, and requests that cannot be
met.
"""

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evroute.cli import main
from evroute.door.plan import plan
from evroute.energy.defaults import VEHICLE
from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def route(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Offer ``evroute route`` in this process: exit status, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", "route", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        with pytest.raises(SystemExit) as status:
            main()
        shown = capsys.readouterr()
        return int(status.value.code or 0), shown.out, shown.err

    return run


def test_the_json_has_the_promised_keys(route: Run, denver: RoadNetwork) -> None:
    status, out, _ = route("--network", "denver", "--trip", "A", "--json")
    assert status == 0
    told = json.loads(out)
    assert (told["network"], told["vehicle"], told["search"]) == (
        "denver",
        VEHICLE,
        "potential",
    )
    planned = plan(denver, trip="A")
    assert set(told["routes"]) == {"energy", "time", "distance", "recommended"}
    assert told["recommended"] == "recommended"
    assert told["minutes_from"] == "map"
    for name, one in told["routes"].items():
        expected = planned.routes[name]
        assert one["edges"] == list(expected.edges)
        for number in ("energy_wh", "length_m", "time_s", "ascent_m", "descent_m"):
            assert one[number] == getattr(expected, number)
        assert set(one["parts_wh"]) >= {"climb", "rolling", "drag", "auxiliary"}
        assert sum(one["parts_wh"].values()) == pytest.approx(one["energy_wh"], abs=1e-9)
        assert one["min_soc_percent"] is None
        assert one["arrival_soc_percent"] is None


def test_with_a_charge_json_has_the_lowest_charge_and_the_charge_on_arrival(route: Run) -> None:
    _, out, _ = route("--trip", "B", "--soc", "80", "--reserve", "10", "--json")
    one = json.loads(out)["routes"]["energy"]
    assert one["arrival_soc_percent"] == pytest.approx(
        80 - one["energy_wh"] / (10 * load_vehicle(VEHICLE).battery_kwh)
    )
    assert one["min_soc_percent"] <= one["arrival_soc_percent"]


def test_the_table_states_the_saving_in_words(route: Run) -> None:
    status, out, _ = route("--trip", "A", "--soc", "50")
    assert status == 0
    for wanted in (
        "least energy",
        "fastest",
        "shortest",
        "Wh/km",
        "climb",
        "charge on arrival",
        "saves",
    ):
        assert wanted in out


def test_missing_alternatives_are_reported(route: Run) -> None:
    assert "no more lie" not in route("--trip", "A", "--alternatives", "1")[1]
    cold = ("--trip", "A", "--temperature", "-5", "--payload", "200", "--physics", "eq8")
    cold += ("--vehicle", "reference")
    assert (
        "0 of 2 alternatives: no more lie between the fastest and the least energy"
        in route(*cold, "--alternatives", "2")[1]
    )


def test_places_are_found_by_coordinates(route: Run, denver: RoadNetwork) -> None:
    lon, lat = denver.lon_lat
    status, out, _ = route(
        "--from",
        f"{lat[0]:.6f},{lon[0]:.6f}",
        "--to",
        denver.edge_id[700],
        "--json",
        "--network",
        "denver",
    )
    assert status == 0
    assert json.loads(out)["routes"]["energy"]["edges"][-1] == denver.edge_id[700]


@pytest.mark.parametrize("search", ["rectified", "clamped"])
def test_other_rules_never_take_less(route: Run, search: str) -> None:
    energy_wh = [
        json.loads(route("--trip", "A", "--search", rule, "--json")[1])["routes"]["energy"][
            "energy_wh"
        ]
        for rule in ("potential", search)
    ]
    assert energy_wh[0] <= energy_wh[1] + 1e-9


def test_extra_time_is_kept(route: Run) -> None:
    told = json.loads(route("--trip", "A", "--max-extra-time", "1%", "--json")[1])["routes"]
    assert told["energy"]["time_s"] <= 1.01 * told["time"]["time_s"] + 1e-6
    free = json.loads(route("--trip", "A", "--json")[1])["routes"]
    assert free["energy"]["energy_wh"] < told["energy"]["energy_wh"] < told["time"]["energy_wh"]


def test_options_of_the_cabin_reach_the_energy(route: Run) -> None:
    def energy_wh(*options: object) -> float:
        status, out, _ = route("--trip", "A", "--json", *options)
        assert status == 0
        return float(json.loads(out)["routes"]["energy"]["energy_wh"])

    cold_wh = energy_wh("--temperature", -10)
    assert energy_wh("--temperature", -10, "--preheated") < cold_wh
    assert energy_wh("--temperature", -10, "--parked", 5) < cold_wh
    assert energy_wh("--aux", 5000) > energy_wh("--aux", 0)


def test_money_and_clock_times_are_shown(route: Run) -> None:
    asked = ("--trip", "A", "--depart", "08:15", "--price", "0.35")
    told = json.loads(route(*asked, "--time-value", "12", "--json")[1])
    assert told["recommended"] == "cost"
    for one in told["routes"].values():
        assert one["energy_cost"] == pytest.approx(0.35 * one["energy_wh"] / 1000)
        assert one["cost"] == pytest.approx(one["energy_cost"] + 12 * one["time_s"] / 3600)
        minutes = round(8 * 60 + 15 + one["time_s"] / 60)
        assert one["arrival_time"] == f"{minutes // 60:02d}:{minutes % 60:02d}"
    assert told["routes"]["cost"]["cost"] == min(one["cost"] for one in told["routes"].values())
    out = route(*asked)[1]
    assert "cost of energy" in out
    assert "cost with time" not in out
    assert "arrival" in out
    assert "minutes: from the speeds of the map" in out
    status, _, err = route("--trip", "A", "--time-value", "12")
    assert (status, "the price of energy: price" in err) == (2, True)


def test_it_writes_geojson_gpx_and_a_map(route: Run, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"route.{kind}" for kind in ("geojson", "gpx", "html")}
    status, _, err = route(
        "--trip", "A", "--geojson", files["geojson"], "--gpx", files["gpx"], "--map", files["html"]
    )
    assert status == 0, err
    assert json.loads(files["geojson"].read_text())["type"] == "FeatureCollection"
    assert ElementTree.parse(files["gpx"]).getroot().tag.endswith("gpx")
    assert "<html" in files["html"].read_text()[:200].lower()
    assert sorted(tmp_path.iterdir()) == sorted(files.values())


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="", encoding="utf-8") as handle:
        table = csv.DictWriter(handle, columns)
        table.writeheader()
        table.writerows(rows)
    return path


def test_a_batch_answers_every_row_and_fails_if_one_did(
    route: Run, denver: RoadNetwork, tmp_path: Path
) -> None:
    a, b = denver.edge_id[3], denver.edge_id[900]
    table = write(
        tmp_path / "trips.csv",
        [
            {"id": "first", "from": a, "to": b},
            {"id": "same", "from": a, "to": a},
            {"trip": "A", "vehicle": "renault-zoe", "soc": "80", "reserve": "10"},
            {"trip": "A", "soc": "80 %"},
            {"trip": "A", "max_extra_time": "10%"},
        ],
    )
    status, out, _ = route("--batch", table)
    assert status == 1
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == ["first", "same", "3", "4", "5"]
    assert ["error" in answer for answer in answers] == [False, True, False, True, False]
    single = json.loads(route("--from", a, "--to", b, "--json")[1])
    assert answers[0]["routes"] == single["routes"]
    assert answers[2]["vehicle"] != "reference"
    assert answers[2]["routes"]["energy"]["arrival_soc_percent"] < 80


def test_a_batch_without_failures_is_a_success(route: Run, tmp_path: Path) -> None:
    status, out, _ = route("--batch", write(tmp_path / "trips.csv", [{"trip": "A"}, {"trip": "B"}]))
    assert status == 0
    assert len(out.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "named trip"),
        ("--trip Z", "no trip 'Z'"),
        ("--network nowhere --trip A", "no network 'nowhere'"),
        ("--trip A --from a", "either"),
        ("--from a", "origin and destination"),
        ("--from no-such-edge --to neither", "no edge 'no-such-edge'"),
        ("--from 0,0 --to 1,1", "from the nearest road"),
        ("--trip A --vehicle delorean", "unknown vehicle 'delorean'"),
        ("--trip A --search magic", "unknown search 'magic'"),
        ("--trip A --reserve 10", "the charge at the start: soc"),
        ("--trip A --risk 1%", "the charge at the start: soc"),
        ("--trip A --soc 50 --risk 1% --search clamped", "clamped"),
        ("--trip A --soc 10 --reserve 20", "reserve"),
        ("--trip A --max-extra-time soon", "must be a share such as 10%"),
        ("--trip A --max-extra-time=-5%", "0 % or more"),
        ("--trip A --search clamped --soc 50", "clamped"),
        ("--trip A --run x", "--belief"),
        ("--batch trips.csv --map m.html", "--batch"),
        ("--matrix a.csv b.csv --out m.csv --soc 50", "Leave out --soc"),
        ("--batch no-such-file.csv", "no-such-file.csv"),
    ],
)
def test_requests_that_cannot_be_met_are_refused_in_one_line_with_status_2(
    route: Run, arguments: str, told: str
) -> None:
    status, out, err = route(*arguments.split())
    assert status == 2
    assert out == ""
    assert err.startswith("evroute: ")
    assert len(err.splitlines()) == 1
    assert told in err


@pytest.mark.parametrize(
    "arguments",
    [
        "--trip A --soc 101",
        "--trip A --soc x",
        "--trip A --soc nan",
        "--trip A --soc 50 --reserve -1",
    ],
)
def test_percentages_out_of_range_are_refused(route: Run, arguments: str) -> None:
    status, _, err = route(*arguments.split())
    assert status == 2
    assert "It must be" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--soc 120", "soc is 120 %. It must be from 0 to 100 %"),
        ("--price 0,35", "price is '0,35'. It must be a number above 0"),
        ("--max-extra-time 10", "max_extra_time is '10'. It must be a share such as 10% or 0.1"),
    ],
)
def test_a_refused_number_is_shown_with_its_range(route: Run, arguments: str, message: str) -> None:
    status, _, err = route("--trip", "A", *arguments.split())
    assert status == 2
    assert message in err


def test_origin_and_destination_alike_are_refused(route: Run, denver: RoadNetwork) -> None:
    edge = denver.edge_id[3]
    status, _, err = route("--from", edge, "--to", edge)
    assert status == 2
    assert "the same block of " in err
    assert edge not in err


def test_with_too_little_charge_the_missing_charge_is_printed(
    route: Run, denver: RoadNetwork
) -> None:
    needs = plan(denver, trip="B").routes["energy"]
    assert needs.energy_wh > 0
    status, _, err = route(*["--trip", "B", "--soc", "10.1", "--reserve", "10", "--risk", "mean"])
    assert status == 2
    assert "kWh more" in err


def test_a_file_that_cannot_be_written_is_reported_in_one_line(route: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, _, err = route("--trip", "A", "--geojson", tmp_path / "file" / "route.geojson")
    assert status == 2
    assert len(err.splitlines()) == 1


def test_it_works_as_a_process() -> None:
    command = [sys.executable, "-m", "evroute", "route", "--trip", "A", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["network"] == "denver"


@pytest.mark.parametrize(
    ("table", "arguments", "words"),
    [
        ("", [], "is empty"),
        ('trip\n"A', [], "not a CSV table"),
        ("trip\nA\n", ["--search", "magic"], "unknown search 'magic'"),
        ("trip\nA\n", ["--vehicle", "delorean"], "unknown vehicle 'delorean'"),
    ],
)
def test_a_batch_that_cannot_begin_is_refused_in_one_line(
    route: Run, tmp_path: Path, table: str, arguments: list[str], words: str
) -> None:
    path = tmp_path / "requests.csv"
    path.write_text(table)
    status, out, err = route("--batch", str(path), *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_a_row_with_too_many_cells_is_reported(route: Run, tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    path.write_text("trip\nA,B\n")
    status, out, _ = route("--batch", str(path))
    assert status == 1
    assert "more cells" in out


def test_junctions_by_name_and_the_streets_of_the_route(route: Run, denver: RoadNetwork) -> None:
    ends = ("--from", "17th & blake", "--to", "East 17th Avenue & Pearl Street")
    status, out, _ = route(*ends)
    assert status == 0
    assert f"Blake Street & 17th Street to East 17th Avenue & Pearl Street, {VEHICLE}" in out
    assert not any(edge_id in out for edge_id in denver.edge_id)
    streets = json.loads(route(*ends, "--json")[1])["routes"]["energy"]["streets"]
    assert [street["name"] for street in streets] == ["17th Street", "East 17th Avenue"]
    for street in streets:
        row = next(line for line in out.splitlines() if line.startswith(f" {street['name']}  "))
        km, kwh = (float(cell) for cell in row.split()[-2:])
        assert km == pytest.approx(street["length_m"] / 1000, abs=0.0051)
        assert kwh == pytest.approx(street["energy_wh"] / 1000, abs=0.00051)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("Blake Street", "'Blake Street' may be 23 places of network 'denver'. Give one of them: "),
        ("Blke Street & 17th", "has no place 'Blke Street & 17th'. Similar names: Blake Street & "),
        (
            "17th & blake",
            "two successive places are 'Blake Street & 17th Street'. Choose places further apart, "
            "or a stop between them",
        ),
    ],
)
def test_a_name_that_is_no_single_place_is_refused_in_one_line(
    route: Run, place: str, message: str
) -> None:
    status, _, err = route("--from", "Blake Street & 17th Street", "--to", place)
    assert status == 2
    assert message in err
    assert len(err.splitlines()) == 1
