"""The running service: its answers, its limits, and the trips that it accepted."""

import http.client
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel, TypeAdapter
from typer.testing import CliRunner

import evroute
from evroute.cli import app as cli
from evroute.energy.defaults import VEHICLE
from evroute.energy.driving import conditions
from evroute.planning import documents
from evroute.planning.answers import document
from evroute.planning.charge.chargers import ChargingStop
from evroute.service import answers
from evroute.service.guard import Limits

ENDS = {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}


def ask(
    address: str, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any, dict[str, str]]:
    """Return status, document and headers of an answer."""
    sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)) as line:
        line.request(method, path, sent, {"content-type": "application/json", **headers})
        answer = line.getresponse()
        text = answer.read().decode()
    is_json = answer.headers.get_content_type() == "application/json"
    return answer.status, json.loads(text) if is_json else text, dict(answer.headers)


def test_a_plan_equals_the_library(service: str) -> None:
    request = ENDS | {"soc": 40, "reserve": 10, "conditions": {"temperature_c": -5}}
    request |= {"risk": 0.05}
    status, answer, _ = ask(service, "POST", "/v1/plan", request)
    assert status == 200, answer
    cold, roads = conditions(temperature_c=-5.0), evroute.load_network("denver")
    plan = evroute.plan(
        roads,
        **ENDS,
        soc_percent=40,
        reserve_percent=10,
        conditions=cold,
        risk=0.05,
    )
    assert answer == json.loads(json.dumps(document(plan)))


def test_many_plans_keep_their_order_and_each_its_error(service: str) -> None:
    wrong: dict[str, Any] = {
        "no such place": {"destination": "no such place"},
        "temperature is 900 °C": {"conditions": {"temperature_c": 900}},
        "soc is 140": {"soc": 140},
        "'orgin'. Known: origin": {"orgin": "a"},
        "'conditions.winds_mps'. Known: conditions.wind_mps": {"conditions": {"winds_mps": 3}},
    }
    requests = [ENDS, *(ENDS | own for own in wrong.values()), ENDS | {"vehicle": VEHICLE}]
    status, answer, _ = ask(service, "POST", "/v1/plans", {"requests": requests})
    assert status == 200, answer
    first, *refused, last = answer["plans"]
    assert first == last
    assert first["routes"]
    for each, named in zip(refused, wrong, strict=True):
        assert named in each["error"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"{", "JSON"),
        (ENDS | {"orgin": "a"}, "orgin"),
        (ENDS | {"network": "../../etc/passwd"}, "network"),
        (ENDS | {"vehicle": "car.toml"}, "vehicle"),
        (ENDS | {"network": "atlantis"}, "atlantis"),
        (ENDS | {"reserve": 10}, "soc"),
        (ENDS | {"soc": 140}, "soc"),
        (ENDS | {"belief": "nobody"}, "nobody"),
        (ENDS | {"conditions": {"temperature_c": 900}}, "temperature is 900"),
        (ENDS | {"soc": 0.01}, "Start with"),
        (ENDS | {"soc": 40, "charge": True}, "charging stations"),
        (ENDS | {"price": 1e308, "time_value": 1}, "price is 1e+308"),
        (ENDS | {"trip": "A"}, "give either a named trip, or origin and destination"),
        (ENDS | {"vehicle": {"name": "a"}}, "vehicle is {'name': 'a'}"),
    ],
)
def test_a_request_that_cannot_be_met_is_422_and_names_the_cause(
    service: str, body: Any, named: str
) -> None:
    status, answer, _ = ask(service, "POST", "/v1/plan", body)
    assert status == 422, answer
    assert named in str(answer["detail"])


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        (
            {"from": "a", "to": "b", "p": "0.9_5"},
            "p is '0.9_5'. It must be a number of 0.5 or more",
        ),
        ({"from": "a", "to": "b", "payload_kg": "1_000"}, "payload is '1_000'"),
        ({"from": "a", "to": "b", "reserve": "true"}, "reserve is 'true'"),
    ],
)
def test_numbers_of_queries_are_plain(service: str, query: dict[str, str], detail: str) -> None:
    status, answer, _ = ask(service, "GET", f"/v1/needed?{urlencode(query)}")
    assert (status, answer["detail"][: len(detail)]) == (422, detail)
    assert ask(service, "GET", "/v1/places?text=Walnut&most=1_0")[0] == 422


def operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_the_document_types_every_answer_and_its_examples_are_accepted(service: str) -> None:
    document = ask(service, "GET", "/openapi.json")[1]
    types, sent = document["components"]["schemas"], []
    for method, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            form = answer["content"]["application/json"]
            assert len(answer["content"]) == 1 or (path, status) == ("/v1/matrix", "200")
            assert form["schema"]["$ref"].removeprefix("#/components/schemas/") in types
            assert (form["schema"]["$ref"].endswith("/Problem")) == (status != "200")
        assert ("security" in operation) == path.startswith("/v1/"), path
        if method == "POST":
            body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            sent += [(path, each) for each in types[body.split("/")[-1]].get("examples", ())]
    assert {path for path, _ in sent} == {
        f"/v1/{name}" for name in ("plan", "plans", "driven", "range", "matrix", "needed", "trips")
    }
    for path, example in sent:
        status, answer, _ = ask(service, "POST", path, example)
        assert status == 200, (path, answer)
        assert all("routes" in each for each in answer.get("plans", ())), answer
    text = json.dumps(document)
    for reference in re.findall(r'"#/components/schemas/(\w+)"', text):
        assert reference in types


LEARNED = "typed"
TYPED: list[tuple[str, str, Any, type[BaseModel]]] = [
    ("GET", "/healthz", None, answers.Health),
    ("GET", "/v1/networks", None, answers.Networks),
    ("GET", "/v1/vehicles", None, answers.Vehicles),
    ("POST", "/v1/plan", ENDS, documents.Plan),
    ("POST", "/v1/plan", ENDS | {"soc": 40, "reserve": 5, "risk": 0.01}, documents.Plan),
    ("POST", "/v1/plan", ENDS | {"soc": 100, "conditions": {"wind_mps": 5}}, documents.Plan),
    (
        "POST",
        "/v1/plan",
        ENDS | {"price": 0.3, "time_value": 10, "depart": "08:15", "alternatives": 2},
        documents.Plan,
    ),
    ("POST", "/v1/plan", ENDS | {"soc": 0.01}, answers.Problem),
    ("POST", "/v1/plans", {"requests": [ENDS, {}]}, answers.Plans),
    ("POST", "/v1/range", {"origin": ENDS["origin"], "soc": 2, "edges": True}, answers.Range),
    ("POST", "/v1/range", {"origin": ENDS["origin"], "soc": 2, "risk": 0.05}, answers.Range),
    (
        "POST",
        "/v1/matrix",
        {"origins": [ENDS["origin"]], "destinations": [*ENDS.values()]},
        answers.Matrix,
    ),
    (
        "GET",
        "/v1/needed?from=Broadway+%26+20th+Street&to=39.7407,-104.9811",
        None,
        documents.Needed,
    ),
    (
        "POST",
        "/v1/needed",
        {"trips": [{"from": ENDS["origin"], "to": ENDS["destination"]}], "p": 0.9},
        documents.NeededOfDay,
    ),
    ("POST", "/v1/needed", {"trips": []}, answers.Problem),
    ("GET", "/v1/places?text=Walnt+Stret+%26+33", None, answers.Places),
    ("GET", "/v1/places?text=a&most=1000", None, answers.Problem),
    ("GET", f"/v1/beliefs/{LEARNED}", None, answers.Belief),
    ("GET", "/v1/beliefs/nobody", None, answers.Problem),
    ("POST", "/v1/plan", ENDS | {"belief": LEARNED, "soc": 40}, documents.Plan),
    ("POST", "/v1/plan", ENDS | {"belief": LEARNED}, documents.Plan),
    ("PATCH", "/v1/plan", None, answers.Problem),
]


@pytest.fixture(scope="module")
def learned(service: str) -> str:
    """A service with a belief of one trip."""
    status, answer, _ = ask(
        service, "POST", "/v1/trips", {"belief": LEARNED, "trips": [trip_of("a")]}
    )
    assert status == 200
    TypeAdapter(answers.LearnedTrips).validate_python(answer, strict=True)
    return service


@pytest.mark.parametrize(("method", "path", "body", "kind"), TYPED)
def test_answers_are_of_their_types(
    learned: str, method: str, path: str, body: Any, kind: type[Any]
) -> None:
    status, answer, _ = ask(learned, method, path, body)
    assert (status >= 400) == (kind is answers.Problem), answer
    TypeAdapter(kind).validate_json(json.dumps(answer), strict=True)


def test_charging_stops_are_of_their_type() -> None:
    stop = ChargingStop("Market", "ccs", 50.0, 3, 600.0, 12.5, 80, 1500.0, 20_000.0, 20_000.0, "")
    text = json.dumps(asdict(stop))
    assert TypeAdapter(ChargingStop).validate_json(text, strict=True) == stop


def test_the_needed_charge_is_the_least_that_a_plan_accepts(service: str) -> None:
    ends = {"from": ENDS["origin"], "to": ENDS["destination"]}
    for p, reserve in ((0.5, 0), (0.95, 10), (0.99, 7.5)):
        query = urlencode(ends | {"p": p, "reserve": reserve, "temperature_c": 30})
        status, answer, _ = ask(service, "GET", f"/v1/needed?{query}")
        assert status == 200, answer
        trip = ENDS | {"reserve": reserve, "conditions": {"temperature_c": 30}}
        for percent, at_risk, wanted in (
            (answer["needed_percent"], 1 - p, 200),
            (answer["needed_percent"] - 1, 1 - p, 422),
            (answer["expected_percent"] + 1e-6, "mean", 200),
            (answer["expected_percent"] - 1e-3, "mean", 422),
        ):
            request = trip | {"soc": percent, "risk": at_risk}
            assert ask(service, "POST", "/v1/plan", request)[0] == wanted, (request, answer)
        assert answer["needed_wh"] == pytest.approx(380 * answer["needed_percent"])
        assert reserve < answer["expected_percent"] <= answer["needed_percent"]


def test_a_day_needs_its_trips_together_and_names_the_wrong_one(service: str) -> None:
    there = {"from": ENDS["origin"], "to": ENDS["destination"]}
    back = {"from": ENDS["destination"], "to": ENDS["origin"], "depart": "17:30"}
    alone = [ask(service, "GET", f"/v1/needed?{urlencode(there)}")[1]]
    alone.append(ask(service, "POST", "/v1/needed", {"trips": [back]})[1])
    status, day, _ = ask(service, "POST", "/v1/needed", {"trips": [there, back]})
    assert status == 200, day
    both = sum(each["needed_percent"] for each in alone)
    assert day["expected_percent"] < day["needed_percent"] <= both
    assert day["mean_wh"] == pytest.approx(sum(each["energy_wh"] for each in day["trips"]))
    assert day["needed_wh"] == pytest.approx(380 * day["needed_percent"])
    for body, detail in (
        ({"trips": [there, there | {"to": "Nowhere & Never"}]}, "trips.1: "),
        ({"trips": [there, there | {"depart": "25:00"}]}, "depart is '25:00'"),
        ({"trips": [there | {"too": 1}]}, "trips.0.too"),
        ({"trips": [there], "p": 0.3}, "p is 0.3"),
        ({"trips": [there] * 21}, "trips"),
        ({"trips": [there], "car": "van-1"}, "no belief"),
    ):
        status, refused, _ = ask(service, "POST", "/v1/needed", body)
        assert (status, detail in refused["detail"]) == (422, True), refused


@pytest.mark.parametrize("risk", [None, 0.05])
def test_a_range_has_the_numbers_of_the_command(service: str, risk: float | None) -> None:
    request = {"origin": ENDS["origin"], "soc": 2, "reserve": 1, "edges": True, "risk": risk}
    answer = ask(service, "POST", "/v1/range", request)[1]
    options = ["--from", ENDS["origin"], "--soc", "2", "--reserve", "1"]
    options += [] if risk is None else ["--risk", str(risk)]
    shown = CliRunner().invoke(cli, ["range", *options]).output.splitlines()
    assert shown[0].endswith(
        f": {answer['roads']:,} of {answer['of_roads']:,} roads, {answer['length_m'] / 1000:.1f} "
        f"km, up to {answer['extent_m'] / 1000:.1f} km away"
    )
    assert len(answer["edges"]) == answer["roads"]
    for line, level in zip(shown[1:], answer["levels"], strict=False):
        assert line == (
            f"{100 * level['probability']:.4g} % of trips arrive at or above 1 %: "
            f"{level['roads']:,} roads, {level['length_m'] / 1000:.1f} km"
        )


def test_lists_of_names(service: str) -> None:
    assert "denver" in ask(service, "GET", "/v1/networks")[1]["networks"]
    assert "reference" in ask(service, "GET", "/v1/vehicles")[1]["vehicles"]


def test_places_equal_the_command(service: str) -> None:
    found = ask(service, "GET", "/v1/places?text=Walnt+Stret+%26+33&most=3")[1]["places"]
    name = "Walnut Street & 33rd Street"
    assert found[0] == {"label": name, "kind": "crossing", "text": name}
    shown = CliRunner().invoke(cli, ["network", "places", "denver", "Walnt Stret & 33"])
    at = [shown.stdout.index(f" {each['label']} ") for each in found]
    assert len(at) == 3
    assert at == sorted(at)


def trip_of(name: str, energy_wh: float = 10.0) -> dict[str, Any]:
    """Return a trip over two edges of Denver."""
    network = evroute.load_network("denver")
    first, second = (network.edge_id[row] for row in network.turns[0])
    driven = [{"edge": edge, "energy_wh": energy_wh, "travel_s": 9.0} for edge in (first, second)]
    return {"trip": name, "edges": driven}


def test_trips_are_learned_once_and_another_measurement_of_an_id_is_409(service: str) -> None:
    body = {"belief": "own", "trips": [trip_of("a"), trip_of("b", 12.0)]}
    assert ask(service, "GET", "/v1/beliefs/own")[0] == 404
    status, answer, _ = ask(service, "POST", "/v1/trips", body)
    assert (status, answer["new"], answer["known"]) == (200, 2, 0), answer
    status, answer, _ = ask(service, "POST", "/v1/trips", body)
    assert (status, answer["new"], answer["known"]) == (200, 0, 2)
    changed = {"belief": "own", "trips": [trip_of("b", 15.0), trip_of("c")]}
    status, answer, _ = ask(service, "POST", "/v1/trips", changed)
    assert status == 409
    assert "'b'" in answer["detail"]
    status, answer, _ = ask(service, "GET", "/v1/beliefs/own")
    assert (status, answer["trips"], answer["network"]) == (200, 3, "denver")
    assert answer["findings"]
    status, answer, _ = ask(service, "POST", "/v1/plan", ENDS | {"belief": "own"})
    assert status == 200
    low_wh, high_wh = answer["routes"]["energy"]["forecast"]["interval_90_wh"]
    assert low_wh < answer["routes"]["energy"]["energy_wh"] < high_wh
    status, answer, _ = ask(
        service, "POST", "/v1/trips", {"belief": "own", "trips": [trip_of("d", 1e6)]}
    )
    assert status == 422, "an impossible trip"
    assert answer["detail"].startswith("trips: none of 1 trips can be used; 'd'")


def test_a_large_body_and_a_foreign_host_are_refused(service: str) -> None:
    stated = {"content_length": str(Limits().body_bytes + 1)}
    status, answer, _ = ask(service, "POST", "/v1/plan", b"{}", **stated)
    assert (status, "at most" in answer["detail"]) == (413, True)
    assert ask(service, "GET", "/v1/networks", host="evil.example")[0] == 400
    many = {"requests": [ENDS] * 1001}
    assert ask(service, "POST", "/v1/plans", many)[0] == 422


def test_accepted_trips_survive_a_kill(start: Any, tmp_path: Path) -> None:
    address, process = start(folder=tmp_path)
    for name in "abc":
        body = {"belief": "own", "trips": [trip_of(name)]}
        assert ask(address, "POST", "/v1/trips", body)[0] == 200
    process.send_signal(signal.SIGKILL)
    process.wait()
    learned = pq.read_table(tmp_path / "beliefs/own/trips.parquet")
    assert learned["trip"].to_pylist() == ["a", "b", "c"]


def test_requests_in_flight_are_answered_before_a_stop(start: Any, tmp_path: Path) -> None:
    address, process = start(folder=tmp_path)
    body = {"belief": "own", "trips": [trip_of("a")]}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, address, "POST", "/v1/trips", body)
        while not (tmp_path / "beliefs/own/manifest.json").exists() and not answer.done():
            pass
        process.send_signal(signal.SIGTERM)
        assert answer.result()[0] == 200
    process.wait()
    assert pq.read_table(tmp_path / "beliefs/own/trips.parquet").num_rows == 1


def test_an_open_address_needs_a_token(start: Any, tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "evroute", "serve", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "--token-file" in refused.stderr
    (tmp_path / "token").write_text("a secret of many signs\n")
    address, _ = start("--token-file", "token", folder=tmp_path)
    assert ask(address, "GET", "/v1/networks")[0] == 401
    wrong = {"authorization": "Bearer a secret of many sign"}
    assert ask(address, "GET", "/v1/networks", **wrong)[0] == 401
    right = {"authorization": "Bearer a secret of many signs"}
    assert ask(address, "GET", "/v1/networks", **right)[0] == 200
    assert ask(address, "GET", "/healthz")[0] == 200


def test_the_examples_of_the_guide_run(service: str) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/serve.md").read_text(encoding="utf-8")
    page = page.replace("http://127.0.0.1:8000", service)
    (python,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", python], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    low_wh, high_wh = json.loads(done.stdout)
    assert low_wh < high_wh
    (shell,) = re.findall(r"```sh\n(curl .*?)```", page, re.DOTALL)
    if shutil.which("curl"):
        command = shlex.split(shell.replace("\\\n", ""))
        done = subprocess.run([*command, "--silent"], capture_output=True, text=True)
        assert "energy" in json.loads(done.stdout)["routes"]
