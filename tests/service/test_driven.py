"""``POST /v1/driven``: what is left of a trip, the same as in Python."""

import http.client
import json
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import TypeAdapter

import evroute
from evroute.planning import documents

REQUEST = {"trip": "C", "soc": 40, "reserve": 5}


def asked(service: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    address = urlsplit(service)
    with closing(http.client.HTTPConnection(address.hostname or "", address.port)) as line:
        line.request("POST", "/v1/driven", json.dumps(body), {"Content-Type": "application/json"})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.fixture(scope="module")
def fix() -> dict[str, float]:
    """Return the junction in the middle of the recommended route, and a charge there."""
    plan = evroute.plan("denver", **REQUEST)
    lon, lat = plan.roads.junction_lon_lat
    edges = plan.recommended_route.route.edges
    junction = plan.roads.head[edges[len(edges) // 2]]
    return {"lat": float(lat[junction]), "lon": float(lon[junction]), "percent": 39.2}


def test_the_answer_is_that_of_python_and_of_its_type(service: str, fix: dict[str, float]) -> None:
    status, answer = asked(service, {"request": REQUEST, "driven": [fix]})
    assert status == 200, answer
    TypeAdapter(documents.Ahead).validate_python(answer)
    left = evroute.plan("denver", **REQUEST).after(**fix)
    assert answer == json.loads(json.dumps(left.document()))
    assert f"{fix['lat']:.3f}" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lat": 0.0}, "within 50 m of the planned route"),
        ({"lat": 91.0}, "lat"),
        ({"percent": 130.0}, "percent"),
        ({"speed": 3.0}, "speed"),
    ],
)
def test_a_wrong_drive_is_refused_without_its_position(
    service: str, fix: dict[str, float], change: dict[str, float], words: str
) -> None:
    status, answer = asked(service, {"request": REQUEST, "driven": [fix | change]})
    assert status == 422
    assert words in answer["detail"]
    assert f"{fix['lon']:.4f}" not in answer["detail"]
