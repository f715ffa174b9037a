"""A client that knows nothing but the OpenAPI document plans, learns, and keeps each message."""

import http.client
import json
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlencode

import pytest
from jsonschema import Draft202012Validator


@dataclass(frozen=True)
class Typed:
    """An answer: its status, the name of its type in the document, and its value."""

    status: int
    kind: str
    value: dict[str, Any]


class Client:
    """Methods by operation id. It refuses requests and answers that the document does not have."""

    def __init__(self, address: str, token: str = "") -> None:
        self.line = address.removeprefix("http://")
        self.token = token
        self.scheme = "Bearer"
        self.document = json.loads(self._sent("GET", "/openapi.json", None)[1])
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        }
        (scheme,) = self.document["components"]["securitySchemes"].values()
        assert scheme["type"] == "http"
        self.scheme = scheme["scheme"].capitalize()

    def call(self, name: str, body: Any = None, /, **parameters: Any) -> Typed:
        """Return the typed answer of an operation."""
        method, path, operation = self.operations[name]
        query = {}
        for parameter in operation.get("parameters", ()):
            value = parameters.pop(parameter["name"], None)
            assert value is not None or not parameter["required"], parameter
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(value, safe=""))
            elif value is not None:
                query[parameter["name"]] = value
        assert not parameters, f"the document has no parameter {parameters}"
        if body is not None:
            self._check(body, operation["requestBody"]["content"]["application/json"]["schema"])
        path += f"?{urlencode(query)}" if query else ""
        status, text = self._sent(method, path, body)
        schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
        answer = json.loads(text)
        self._check(answer, schema)
        return Typed(status, schema["$ref"].split("/")[-1], answer)

    def _check(self, value: Any, schema: dict[str, Any]) -> None:
        Draft202012Validator(self.document | schema).validate(value)

    def _sent(self, method: str, path: str, body: Any) -> tuple[int, str]:
        headers = {"content-type": "application/json"} if body is not None else {}
        if self.token:
            headers["authorization"] = f"{self.scheme} {self.token}"
        with closing(http.client.HTTPConnection(self.line, timeout=120)) as line:
            line.request(method, path, None if body is None else json.dumps(body), headers)
            answer = line.getresponse()
            return answer.status, answer.read().decode()


@pytest.fixture(scope="module")
def client(service: str) -> Client:
    return Client(service)


ENDS = {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}


def test_a_plan_a_refusal_and_a_trip(client: Client) -> None:
    plan = client.call("plan", ENDS | {"soc": 40})
    assert (plan.status, plan.kind) == (200, "Plan")
    refused = client.call("plan", ENDS | {"soc": 0.01})
    assert (refused.status, refused.kind) == (422, "Problem")
    assert refused.value["detail"].startswith("no route keeps 0 % in 90 % of cars like yours")
    assert client.call("plan", ENDS | {"soc": refused.value["start_percent"]}).status == 200
    edges = plan.value["routes"]["energy"]["edges"]
    driven = [{"edge": edge, "energy_wh": 9.0, "travel_s": 12.0} for edge in edges]
    body = {"belief": "of-a-client", "trips": [{"trip": "1", "edges": driven}]}
    learned = client.call("trips", body)
    assert (learned.kind, learned.value["new"]) == ("LearnedTrips", 1)
    driven[0]["energy_wh"] = 10.0
    conflict = client.call("trips", body)
    assert (conflict.status, conflict.kind) == (409, "Problem")
    assert "'1'" in conflict.value["detail"]
    belief = client.call("belief", name="of-a-client")
    assert (belief.kind, belief.value["trips"]) == ("Belief", 1)
    missing = client.call("belief", name="nobody")
    assert (missing.status, missing.kind) == (404, "Problem")


def test_queries_by_their_examples_in_the_document(client: Client) -> None:
    sent = 0
    for name, (method, _, operation) in client.operations.items():
        examples = {
            each["name"]: each["schema"]["examples"][0]
            for each in operation.get("parameters", ())
            if "examples" in each["schema"]
        }
        if method == "GET" and name != "belief":
            assert client.call(name, **examples).status == 200, name
            sent += bool(examples)
    assert sent == 2, "places and needed"
    refused = client.call("needed", **{"from": ENDS["origin"], "to": "Nowhere & Never"})
    assert (refused.status, refused.kind) == (422, "Problem")
    assert "'Nowhere & Never'" in refused.value["detail"]


def test_a_token_is_sent_by_the_scheme_of_the_document(start: Any, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a secret of many signs\n")
    address, _ = start("--token-file", "token", folder=tmp_path)
    client = Client(address, "a secret of many signs")
    for name, (_, path, operation) in client.operations.items():
        assert len(operation.get("security", ())) == path.startswith("/v1/"), name
    assert client.call("networks").kind == "Networks"
    client.token = "another secret"
    refused = client.call("networks")
    assert (refused.status, refused.kind) == (401, "Problem")


class Evcc(BaseHTTPRequestHandler):
    """A server in evcc's place, which keeps the paths of its requests."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"result": {}}')

    def log_message(self, *arguments: Any) -> None:
        """Keep quiet."""


def test_the_program_for_evcc_plans_the_charge_that_the_day_needs(client: Client) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "evcc.md"
    (program,) = re.findall(r"```python [^\n]*\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    home, work = "Walnut Street & 33rd Street", "Broadway & 20th Street"
    edges = client.call("plan", {"origin": home, "destination": work}).value["routes"]["energy"]
    driven = [{"edge": each, "energy_wh": 9.0, "travel_s": 12.0} for each in edges["edges"]]
    client.call("trips", {"belief": "my-car", "trips": [{"trip": "1", "edges": driven}]})
    with ThreadingHTTPServer(("127.0.0.1", 0), Evcc) as evcc:
        Thread(target=evcc.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{evcc.server_port}"
        text = program.replace("http://127.0.0.1:7070", at)
        text = text.replace("http://127.0.0.1:8000", f"http://{client.line}")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        evcc.shutdown()
    assert done.returncode == 0, done.stderr
    (path,) = Evcc.asked
    day = re.search(r"\nDAY = (\{.*?\n\})", program, re.DOTALL)
    assert day is not None
    body = eval(day[1], {"HOME": home, "WORK": work})
    need = client.call("needed_of_day", body).value
    percent = need["needed_percent"]
    found = re.fullmatch(r"/api/vehicles/leaf/plan/soc/(\d+)/(.+)", path)
    assert found is not None, path
    assert int(found[1]) == percent > need["expected_percent"] > 10
    ready = datetime.fromisoformat(unquote(found[2]))
    assert (ready.hour, ready.minute, ready.tzinfo is not None) == (7, 45, True)
    assert done.stdout.startswith(f"{percent} % by 07:45: ")


class HomeAssistant(BaseHTTPRequestHandler):
    """A server in Home Assistant's place: it has a weather, and keeps the states that are set."""

    states: ClassVar[dict[str, Any]] = {}
    tokens: ClassVar[set[str | None]] = set()

    def do_GET(self) -> None:
        assert self.path == "/api/states/weather.forecast_home"
        self.answer({"state": "cloudy", "attributes": {"temperature": -7.5}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.states[self.path.removeprefix("/api/states/")] = body
        self.answer(body)

    def answer(self, body: Any) -> None:
        self.tokens.add(self.headers["authorization"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *arguments: Any) -> None:
        """Keep quiet."""


def test_the_program_for_home_assistant_sets_what_the_day_needs(client: Client) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "home-assistant.md"
    (program,) = re.findall(r"```python [^\n]*\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    home, work = "Walnut Street & 33rd Street", "Broadway & 20th Street"
    edges = client.call("plan", {"origin": home, "destination": work}).value["routes"]["energy"]
    driven = [{"edge": each, "energy_wh": 9.0, "travel_s": 12.0} for each in edges["edges"]]
    client.call("trips", {"belief": "my-car", "trips": [{"trip": "1", "edges": driven}]})
    with ThreadingHTTPServer(("127.0.0.1", 0), HomeAssistant) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        text = program.replace("http://127.0.0.1:8123", f"http://127.0.0.1:{server.server_port}")
        text = text.replace("http://127.0.0.1:8000", f"http://{client.line}")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    trips = [
        {"from": home, "to": work, "depart": "07:45"},
        {"from": work, "to": home, "depart": "17:30"},
    ]
    body = {"belief": "my-car", "trips": trips, "reserve": 10, "p": 0.95}
    need = client.call("needed_of_day", body | {"conditions": {"temperature_c": -7.5}}).value
    charge = HomeAssistant.states["sensor.evroute_needed_charge"]
    assert charge["state"] == need["needed_percent"] > 10
    assert charge["attributes"]["unit_of_measurement"] == "%"
    energy = HomeAssistant.states["sensor.evroute_energy"]
    assert energy["state"] == pytest.approx(need["mean_wh"] / 1000, abs=0.005)
    shown = energy["attributes"]
    assert shown["low_kwh"] < energy["state"] < shown["high_kwh"]
    assert HomeAssistant.tokens == {"Bearer a long-lived access token"}
    assert not any(place in str(HomeAssistant.states) for place in (home, work))
