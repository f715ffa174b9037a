"""One trip at every door: the same numbers to the last digit, the same words where it is refused.

The doors are Python, ``evroute route --json`` and ``--batch``, the service, and the function by
which the page Plan of the dashboard plans. The table of stations makes a network of the cache, so
that all doors find it by its name.
"""

import csv
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.energy.defaults import VEHICLE
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.planning.answers import document
from evroute.planning.places import load_trips
from evroute.planning.reach import RangeRequest
from evroute.planning.request import PlanRequest, entries
from evroute.resources import app_path

STATIONS = """name,lat,lon,socket,kw,price_kwh,id,network
Blake Street garage,39.7530,-104.9960,type2,22,,7,Chargy
Blake Street garage,39.7530,-104.9960,chademo,50,,7,Chargy
Market Street garage,39.7512,-104.9968,type2,11,0.5,12,Quick
Market Street garage,39.7512,-104.9968,chademo,100,0.9,12,Quick
"""
NAMES = {"from": "Blake Street & 17th Street", "to": "Broadway & 20th Street"}
FAR = {"from": "Walnut Street & 33rd Street", "to": "Broadway & 20th Street"}
IDS = {"from": "176071032,176086903,0", "to": "176072807,176080655,0"}
POINTS = {"from": "39.753100,-104.996500", "to": "39.760000,-104.975000"}
BETWEEN = {"via": "39.741000,-104.980000"}
STOP = {"trip": "B", "soc": "2.7", "reserve": "2", "charge": "yes"}
COLD = {"temperature": "-5", "payload": "100"}


@dataclass(frozen=True)
class Asked:
    """Texts of a request by name, whether it plans on the belief, and words of its refusal."""

    texts: dict[str, str]
    learned: bool = False
    refused: str = ""


REQUESTS = {
    "two names": Asked(NAMES),
    "edges and a charge": Asked(IDS | {"soc": "40"}),
    "coordinates": Asked(POINTS),
    "a stop in the cold": Asked(
        POINTS | BETWEEN | COLD | {"soc": "60", "reserve": "20", "vehicle": "renault-zoe"}
    ),
    "money and a limit of time": Asked(
        POINTS | {"max_extra_time": "10%", "price": "0.35", "time_value": "12", "depart": "8:15"}
    ),
    "wind, speed and a known power": Asked(
        FAR | {"wind": "12", "wind_from": "270", "speed_factor": "0.8", "aux": "500"}
    ),
    "a warm car": Asked(FAR | {"temperature": "-15", "parked": "10", "soc": "33.3"}),
    "a risk by physics": Asked(FAR | {"soc": "9", "reserve": "4", "risk": "1%"}),
    "a road to avoid": Asked(FAR | COLD | {"avoid": "Curtis Street", "alternatives": "2"}),
    "other numbers of a detour": Asked(
        IDS
        | {"detour_extra_time": "40%", "detour_saving_wh": "1.5"}
        | {"detour_saving_share": "0.1%", "detour_wh_per_minute": "7"}
    ),
    "another search": Asked(IDS | {"search": "clamped"}),
    "a stop to charge": Asked(STOP),
    "wishes for the stops": Asked(
        STOP
        | {"soc": "3", "arrive": "3", "stop_from": "1.5", "stop_to": "60", "stop_minutes": "2.5"}
        | {"least_kw": "7", "avoid_stations": "Quick"}
    ),
    "enough to reach a station": Asked(
        STOP | {"soc": "3", "arrive": "charger", "avoid_stations": "12"}
    ),
    "stops of least cost": Asked(STOP | {"price": "0.3", "time_value": "15", "stop_minutes": "1"}),
    "wishes and a risk": Asked(STOP | {"soc": "5", "risk": "5%", "arrive": "4"}),
    "a station that is not there": Asked(
        STOP | {"avoid_stations": "nowhere"},
        refused="no station that fits the car has the name, network or id 'nowhere'",
    ),
    "wishes without charging": Asked(
        NAMES | {"soc": "40", "arrive": "20"}, refused="arrive goes with charging on the way"
    ),
    "stations that are left with less": Asked(
        STOP | {"stop_from": "80", "stop_to": "60"}, refused="It must be below stop_to, 60 %"
    ),
    "no station is left": Asked(STOP | {"least_kw": "400"}, refused="no charging station is left"),
    "learned": Asked(FAR, learned=True),
    "learned, a risk and a stop": Asked(
        FAR | {"via": IDS["from"], "soc": "40", "risk": "5%"}, learned=True
    ),
    "learned, cold and in the morning": Asked(
        POINTS | COLD | {"depart": "08:00", "soc": "25"}, learned=True
    ),
    "an unknown place": Asked(
        NAMES | {"to": "Nowhere & Never"}, refused="has no edge 'Nowhere & Never'"
    ),
    "too little charge": Asked(IDS | {"soc": "0.1"}, refused="Start with"),
    "a risk without a charge": Asked(
        NAMES | {"risk": "1%"}, refused="a risk needs the charge at the start: soc"
    ),
    "a car of another belief": Asked(
        NAMES | {"vehicle": "renault-zoe"},
        learned=True,
        refused="is a belief about vehicle 'nissan-leaf-40', not about 'renault-zoe'",
    ),
    "an impossible temperature": Asked(
        NAMES | {"temperature": "900"}, refused="temperature is 900 °C. It must be from -50 to 60"
    ),
}
NAMED = (NAMES["from"], FAR["from"], IDS["from"])
NUMBERS = ("energy_wh", "time_s", "length_m")
BELIEF, RUN = "own", "denver-learned"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of all doors, with a belief of two trips in ``runs``."""
    path = tmp_path_factory.mktemp("doors")
    (path / "stations.csv").write_text(STATIONS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVROUTE_CACHE_DIR", str(path / "cache"))
        patched.chdir(path)
        patched.syspath_prepend(str(app_path()))
        assert (
            not CliRunner().invoke(cli, ["network", "chargers", "denver", "stations.csv"]).exception
        )
        trips = Path(__file__).parent.parent / "compat" / "trips.csv"
        evroute.learn(trips, path / "runs" / BELIEF, network="denver")
        yield path


@pytest.fixture(scope="module")
def address(start: Any, folder: Path) -> str:
    return start("--beliefs", "runs", folder=folder)[0].removeprefix("http://")


def in_python(asked: Asked) -> Any:
    """Return the document or the refusal of `evroute.plan`, by its keywords."""
    values: dict[str, Any] = {"conditions": {}}
    for name, text in asked.texts.items():
        entry = entries()[name]
        (values["conditions"] if entry.of_day else values)[entry.field] = text
    belief = evroute.load_belief(Path("runs", BELIEF)) if asked.learned else None
    try:
        plan = evroute.plan("denver", belief=belief, **values)
    except EvrouteError as error:
        return str(error)
    return json.loads(json.dumps(document(plan)))


def on_the_command_line(asked: Asked) -> Any:
    """Return the document or the refusal of ``evroute route --json``."""
    options = ["--belief", f"runs/{BELIEF}"] if asked.learned else []
    for name, text in asked.texts.items():
        options += [option_of(name)] if name == "charge" else [option_of(name), text]
    done = CliRunner().invoke(cli, ["route", "--json", *options])
    if done.exception and not isinstance(done.exception, SystemExit):
        assert isinstance(done.exception, EvrouteError), done.exception
        return str(done.exception)
    return json.loads(done.output)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a CSV table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def option_of(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


def of_a_batch(folder: Path, *, learned: bool) -> dict[str, Any]:
    """Return the documents and refusals of ``evroute route --batch``, by the request."""
    asked = {name: each.texts for name, each in REQUESTS.items() if each.learned == learned}
    table = folder / f"requests-{learned}.csv"
    write_rows(
        table, [dict.fromkeys(entries()) | {"id": name, **each} for name, each in asked.items()]
    )
    options = ["--belief", f"runs/{BELIEF}"] if learned else []
    done = CliRunner().invoke(cli, ["route", "--batch", str(table), *options])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row.pop("id"): row.get("error", row) for row in rows}


def by_the_service(address: str, asked: Asked) -> Any:
    """Return the document or the refusal of ``POST /v1/plan``."""
    body: dict[str, Any] = {"conditions": {}, "belief": BELIEF if asked.learned else None}
    for name, text in asked.texts.items():
        entry = entries()[name]
        (body["conditions"] if entry.of_day else body)[entry.field] = text
    answer = asked_of(address, "/v1/plan", body)
    return answer.get("detail", answer)


def asked_of(address: str, path: str, body: dict[str, Any]) -> Any:
    """Return the answer of the service to a body."""
    with closing(http.client.HTTPConnection(address, timeout=120)) as line:
        line.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        return json.loads(line.getresponse().read())


def on_the_page(asked: Asked) -> Any:
    """Return the document or the refusal of the dashboard's function.

    The page has a vehicle and places, those of a named trip as edges.
    """
    from request import Request, planned, planner_of

    texts = dict(asked.texts)
    places = [texts.pop("from", ""), *texts.pop("via", "").split(";"), texts.pop("to", "")]
    if trip := texts.pop("trip", ""):
        ends = load_trips("denver")[trip]
        places = [ends.origin, ends.destination]
    car = load_vehicle(texts.pop("vehicle", VEHICLE))
    try:
        request = Request(
            network=evroute.load_network("denver"),
            vehicle=car,
            usual=car,
            places=tuple(filter(None, places)),
            example=False,
            wishes=PlanRequest.without_places(texts | {"vehicle": car}),
            layers=(),
            folder=BELIEF if asked.learned else "",
            run=RUN if asked.learned else "",
        )
        return json.loads(json.dumps(document(planned(request, planner_of(request)))))
    except EvrouteError as error:
        return str(error)


def without_bands(shown: Any, expected: Any) -> Any:
    """Return the page's document without the bands of charge that only the page adds."""
    if not isinstance(shown, str) and not isinstance(expected, str):
        for name, route in shown["routes"].items():
            if "forecast" not in expected["routes"][name]:
                added = route.pop("forecast", {})
                assert not any(number.endswith(("_wh", "_s")) for number in added)
    return shown


@pytest.fixture(scope="module")
def batches(folder: Path) -> dict[str, Any]:
    return of_a_batch(folder, learned=False) | of_a_batch(folder, learned=True)


@pytest.mark.parametrize("name", REQUESTS)
def test_every_door_gives_one_answer(name: str, address: str, batches: dict[str, Any]) -> None:
    asked = REQUESTS[name]
    expected = in_python(asked)
    if asked.refused:
        assert isinstance(expected, str), "it is refused"
        assert asked.refused in expected
    else:
        assert not isinstance(expected, str), expected
        assert expected["routes"]
    assert on_the_command_line(asked) == expected
    assert batches[name] == expected
    assert by_the_service(address, asked) == expected
    assert without_bands(on_the_page(asked), expected) == expected


def test_answers_keep_the_wishes_for_the_stops(folder: Path) -> None:
    found = {
        name: in_python(REQUESTS[name])
        for name in REQUESTS
        if STOP.keys() <= REQUESTS[name].texts.keys()
    }
    routes = {
        name: each["routes"][each["recommended"]]
        for name, each in found.items()
        if not isinstance(each, str)
    }
    stops = {name: route["stops"] for name, route in routes.items()}
    (stop,) = stops["wishes for the stops"]
    assert stop["station"] == "Blake Street garage"
    assert stop["to_percent"] <= 60
    assert stop["arrive_percent"] >= 1.5
    assert routes["wishes for the stops"]["arrival_soc_percent"] >= 3
    assert stops["a stop to charge"][0]["station"] == "Market Street garage"
    assert found["stops of least cost"]["recommended"] == "cost"
    near = routes["enough to reach a station"]
    assert near["stops"][0]["station"] == "Blake Street garage"
    assert near["arrival_soc_percent"] > routes["a stop to charge"]["arrival_soc_percent"]


OF_MATRIX = {"from", "to", "vehicle", *(name for name, entry in entries().items() if entry.of_day)}
"""Fields that the tables of energies take."""
PAIRS = [
    name
    for name, asked in REQUESTS.items()
    if not asked.refused and {"from", "to"} <= set(asked.texts) and asked.texts["from"] in NAMED
]


@pytest.mark.parametrize("name", PAIRS)
def test_energies_of_tables_equal_the_plan(name: str, folder: Path) -> None:
    asked = REQUESTS[name]
    texts = {field: text for field, text in asked.texts.items() if field in OF_MATRIX}
    planned = in_python(Asked(texts, asked.learned))["routes"]["energy"]
    ends = {end: texts.pop(end) for end in ("from", "to")}
    tables = {end: folder / f"{end}.csv" for end in ends}
    for end, path in tables.items():
        write_rows(path, [{"id": "1", "place": ends[end]}])
    options = [part for field, text in texts.items() for part in (option_of(field), text)]
    options += ["--belief", f"runs/{BELIEF}"] if asked.learned else []
    out = folder / "matrix.csv"
    matrix = ["route", "--matrix", *map(str, tables.values()), "--out", str(out), *options]
    assert CliRunner().invoke(cli, matrix).exit_code == 0
    with out.open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    numbers = [planned[each] for each in NUMBERS]
    assert [float(row[each]) for each in NUMBERS] == pytest.approx(numbers, rel=1e-12)
    write_rows(folder / "ends.csv", [{"id": "1", **ends}])
    batch = ["route", "--batch", str(folder / "ends.csv"), "--only", "energy", *options]
    answer = json.loads(CliRunner().invoke(cli, batch).stdout)
    assert [answer[each] for each in NUMBERS] == pytest.approx(numbers, rel=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_the_charge_of_a_range_equals_the_plan(name: str, folder: Path) -> None:
    asked = REQUESTS[name]
    texts = {field: text for field, text in asked.texts.items() if field in OF_MATRIX}
    planned = in_python(Asked(texts | {"soc": "50"}, asked.learned))["routes"]["energy"]
    arrives = planned["arrival_soc_percent"]
    network = evroute.load_network("denver")
    belief = evroute.load_belief(Path("runs", BELIEF)) if asked.learned else None
    day = {name: text for name, text in texts.items() if name not in ("from", "to")}
    request = RangeRequest.from_texts(day | {"from": planned["edges"][0], "soc": "50"})
    found = evroute.reachable("denver", request, belief=belief)
    arrived = found.charge_percent[0.5][network.row_of[planned["edges"][-1]]]
    if not request.conditions.temperature_c or not request.conditions.cold_start:
        assert arrived == arrives
    else:  # the warm-up is drawn along both
        assert arrived == pytest.approx(arrives, rel=1e-12)


@pytest.mark.parametrize(
    ("texts", "refused"),
    [
        ({"from": "Nowhere & Never", "soc": "9"}, "has no edge 'Nowhere & Never'"),
        ({"from": IDS["from"], "soc": "140"}, "soc is 140 %. It must be from 0 to 100 %"),
        ({"from": IDS["from"], "soc": "9", "reserve": "10"}, "reserve"),
        ({"from": IDS["from"], "soc": "9", "risk": "70%"}, "risk is 70 %. It must be above 0 %"),
        ({"from": IDS["from"], "soc": "9", "wind_from": "90"}, "wind_from needs a wind speed"),
        ({"from": IDS["from"], "soc": "9", "vehicle": "delorean"}, "unknown vehicle 'delorean'"),
    ],
)
def test_a_range_is_refused_in_the_same_words(
    texts: dict[str, str], refused: str, address: str
) -> None:
    fields: dict[str, Any] = {"conditions": {}}
    for name, text in texts.items():
        entry = entries(RangeRequest)[name]
        (fields["conditions"] if entry.of_day else fields)[entry.field] = text
    with pytest.raises(EvrouteError) as caught:
        evroute.reachable("denver", **fields)
    options = [part for name, text in texts.items() for part in (option_of(name), text)]
    shown = CliRunner().invoke(cli, ["range", *options]).exception
    assert refused in str(caught.value)
    assert str(shown) == str(caught.value) == asked_of(address, "/v1/range", fields)["detail"]


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("depart", "depart", "25:00"),
        ("reserve", "reserve", "120"),
        ("reserve", "reserve", "nan"),
        ("temperature", "temperature_c", "-300"),
        ("payload", "payload_kg", "much"),
    ],
)
def test_a_needed_charge_is_refused_in_the_words_of_the_command(
    name: str, key: str, text: str, address: str
) -> None:
    query = urlencode({"from": IDS["from"], "to": IDS["to"], key: text})
    with closing(http.client.HTTPConnection(address, timeout=120)) as line:
        line.request("GET", f"/v1/needed?{query}")
        answer = line.getresponse()
        assert answer.status == 422
        detail = json.loads(answer.read())["detail"]
    done = CliRunner().invoke(cli, ["range", "--to", IDS["to"], option_of(name), text])
    assert isinstance(done.exception, EvrouteError)
    assert detail == str(done.exception)
