"""Matrices by HTTP: against single plans, in every format, within limits."""

import http.client
import json
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evroute.errors import EvrouteError
from evroute.planning.dispatch.stops import Stop
from evroute.service.formats import ARROW, JSON, PARQUET, EnergyMatrix, accepted
from evroute.service.problems import RefusedError
from evroute.service.requests import MatrixBody
from evroute.service.work import Work

CORNERS = ["Blake Street & 17th Street", "39.7624,-104.9733"]
BODY = {
    "origins": CORNERS,
    "destinations": ["Broadway & 20th Street", CORNERS[0], "Walnut Street & 33rd Street"],
    "conditions": {"temperature_c": -5.0},
}


def sent(address: str, path: str, body: Any, accept: str = "*/*") -> tuple[int, str, bytes]:
    """Return status, media type and bytes of an answer."""
    headers = {"content-type": "application/json", "accept": accept}
    with closing(http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)) as line:
        line.request("POST", path, json.dumps(body), headers)
        answer = line.getresponse()
        return answer.status, answer.headers.get_content_type(), answer.read()


@pytest.mark.parametrize("by", ["energy", "time", "recommended"])
def test_every_cell_is_the_route_of_a_single_plan(service: str, by: str) -> None:
    status, kind, text = sent(service, "/v1/matrix", BODY | {"by": by})
    assert (status, kind) == (200, JSON), text
    matrix = json.loads(text)
    for o, origin in enumerate(BODY["origins"]):
        for d, destination in enumerate(BODY["destinations"]):
            cell = [matrix[name][o][d] for name in ("energy_wh", "time_s", "length_m")]
            if origin == destination:
                assert cell == [0.0, 0.0, 0.0]
                continue
            trip = {"origin": origin, "destination": destination, "conditions": BODY["conditions"]}
            plan = json.loads(sent(service, "/v1/plan", trip)[2])
            route = plan["routes"][plan["recommended"] if by == "recommended" else by]
            wanted = [route["energy_wh"], route["time_s"], route["length_m"]]
            np.testing.assert_allclose(cell, wanted, rtol=1e-9)


def test_tables_have_the_numbers_of_the_json(service: str) -> None:
    matrix = json.loads(sent(service, "/v1/matrix", BODY)[2])
    _, arrow_kind, stream = sent(service, "/v1/matrix", BODY, ARROW)
    _, parquet_kind, file = sent(service, "/v1/matrix", BODY, f"{JSON};q=0.5, {PARQUET}")
    assert (arrow_kind, parquet_kind) == (ARROW, PARQUET)
    for table in (pa.ipc.open_stream(stream).read_all(), pq.read_table(pa.BufferReader(file))):
        pairs = [(a, b) for a in BODY["origins"] for b in BODY["destinations"]]
        assert (
            list(zip(*(table[name].to_pylist() for name in ("from", "to")), strict=True)) == pairs
        )
        for name in ("energy_wh", "time_s", "length_m"):
            assert table[name].to_pylist() == list(chain(*matrix[name]))


def test_further_numbers_are_sent_on_request(service: str) -> None:
    plain = json.loads(sent(service, "/v1/matrix", BODY)[2])
    assert [plain[name] for name in ("sd_wh", "limited", "reduced_dwh")] == [None] * 3
    places = [*CORNERS, "Broadway & 20th Street"]
    own = {"by": "recommended", "sd": True, "reduced": True, "detour_wh_per_minute": 15}
    body = BODY | {"origins": places, "destinations": places} | own
    matrix = json.loads(sent(service, "/v1/matrix", body)[2])
    table = pa.ipc.open_stream(sent(service, "/v1/matrix", body, ARROW)[2]).read_all()
    for name in ("energy_wh", "sd_wh", "limited", "reduced_dwh"):
        assert table[name].to_pylist() == list(chain(*matrix[name]))
    assert {each for row in matrix["limited"] for each in row} <= {True, False}
    assert all(
        (sd > 0) == (o != d) for o, r in enumerate(matrix["sd_wh"]) for d, sd in enumerate(r)
    )
    around = [(0, 1), (1, 2), (2, 0)]
    signed_wh = sum(matrix["energy_wh"][o][d] for o, d in around)
    assert abs(sum(matrix["reduced_dwh"][o][d] for o, d in around) / 10 - signed_wh) <= 1.0
    assert min(min(row) for row in matrix["reduced_dwh"]) == 0


def test_a_pair_without_a_route_is_null_in_every_format() -> None:
    values = np.array([[[1.5, np.nan]], [[2.0, np.nan]], [[3.0, np.nan]]])
    start, *ends = (Stop(name, name, ()) for name in "abc")
    matrix = EnergyMatrix("denver", "reference", [start], ends, values)
    document = json.loads(bytes(matrix.answer(JSON).body))
    stream, file = (bytes(matrix.answer(kind).body) for kind in (ARROW, PARQUET))
    tables = pa.ipc.open_stream(stream).read_all(), pq.read_table(pa.BufferReader(file))
    for name, value in (("energy_wh", 1.5), ("time_s", 2.0), ("length_m", 3.0)):
        assert document[name] == [[value, None]]
        for table in tables:
            assert table[name].to_pylist() == [value, None]


@pytest.mark.parametrize(
    ("own", "accept", "status", "named"),
    [
        ({}, "text/csv", 406, "Accept is 'text/csv', expected application/json, application/vnd"),
        ({"origins": ["x" * 201]}, JSON, 422, "origins.0"),
        ({"origins": []}, JSON, 422, "origins"),
        ({"destinations": [CORNERS[0], "Nowhere & Never"]}, JSON, 422, "destinations.1: network"),
        ({"origins": CORNERS * 501}, ARROW, 422, "origins"),
        (
            {"origins": CORNERS * 500, "destinations": CORNERS * 51},
            JSON,
            422,
            f"the matrix has 102,000 pairs, expected at most 100,000 as JSON. Send Accept: {ARROW}",
        ),
        ({"conditions": {"wind_from_deg": 90}}, JSON, 422, "wind_from needs a wind speed"),
        ({"by": "length"}, JSON, 422, "by is 'length'. "),
        ({"reduced": True}, JSON, 422, "reduced energies need the same places"),
        ({"detour_saving_wh": 5}, JSON, 422, "detour_saving_wh goes with by 'recommended'"),
        ({"by": "recommended", "max_extra_time": -1}, JSON, 422, "max_extra_time"),
        ({"belief": "nobody"}, JSON, 422, "there is no belief 'nobody'"),
    ],
)
def test_matrices_are_refused_in_one_line(
    service: str, own: dict[str, Any], accept: str, status: int, named: str
) -> None:
    answered, _, text = sent(service, "/v1/matrix", BODY | own, accept)
    assert (answered, named in json.loads(text)["detail"]) == (status, True), text


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("*/*", JSON),
        ("application/*;q=0.2", JSON),
        (f"{ARROW}, {PARQUET};q=0.9", ARROW),
        (f"*/*;q=0.1, {PARQUET}", PARQUET),
        (f"{JSON};q=0, */*", ARROW),
        (f"{PARQUET.upper()}", PARQUET),
    ],
)
def test_the_format_is_the_accepted_one_of_highest_weight(header: str, kind: str) -> None:
    assert accepted(header, 1) == kind


@pytest.mark.parametrize("header", ["", "text/html", f"{JSON};q=0", f"{JSON};q=high"])
def test_no_accepted_format_is_406(header: str) -> None:
    with pytest.raises(RefusedError) as caught:
        accepted(header, 1)
    assert caught.value.status == 406


def test_a_matrix_ends_in_time(tmp_path: Path) -> None:
    with pytest.raises(EvrouteError, match=r"not answered within -1 s. Send fewer places at once"):
        Work(tmp_path, -1.0).matrix(MatrixBody.model_validate(BODY))
