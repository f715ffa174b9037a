"""Bodies before they become objects, and messages of any length."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from evroute.errors import EvrouteError
from evroute.service import bodies
from evroute.service.bodies import check_shape, parsed
from evroute.service.problems import MOST_BYTES, RefusedError, brief, problem
from evroute.service.requests import MatrixBody, NeededDay, PlanBody, RangeBody, Trips

VALUES: Any = st.recursive(
    st.none() | st.integers(0, 9) | st.text(st.sampled_from('{}[]:,"\\a\n é'), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.sampled_from('{[:"\\b'), max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def counted(value: Any) -> tuple[int, int, int]:
    """Return depth, most keys of an object, and items and keys with the lists and objects."""
    if not isinstance(value, dict | list):
        return 0, 0, 0
    inner = [counted(each) for each in (value.values() if isinstance(value, dict) else value)]
    depth = 1 + max((each[0] for each in inner), default=0)
    keys = max([len(value) * isinstance(value, dict), *(each[1] for each in inner)])
    return depth, keys, max(len(value), 1) + sum(each[2] for each in inner)


@settings(max_examples=500, deadline=None)
@given(VALUES, st.booleans())
@example({'"}{': ["\\", '\\"', "]]]"]}, True)
def test_the_shape_equals_the_parsed_value(value: Any, ascii_: bool) -> None:
    body = bytearray(json.dumps(value, ensure_ascii=ascii_).encode())
    limits = ("MOST_DEPTH", "MOST_KEYS", "MOST_VALUES")
    with pytest.MonkeyPatch.context() as patched:
        for name, number in zip(limits, counted(value), strict=True):
            patched.setattr(bodies, name, number)
        check_shape(body)
        for name, number in zip(limits, counted(value), strict=True):
            if number:
                patched.setattr(bodies, name, number - 1)
                with pytest.raises(RefusedError):
                    check_shape(body)
                patched.setattr(bodies, name, number)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"[" * 17 + b"]" * 17, "the body is nested 17 levels deep, expected at most 16"),
        (b"{" + b'"a":1,' * 100 + b'"b":1}', "an object has 101 keys, expected at most 100"),
        (b'{"soc": NaN}', "the body is not JSON: expected value at line 1 column 9"),
        (b'{"origin": "\\ud800"}', "the body is not JSON: unexpected end of hex escape"),
        (
            b'{"origin": "a", "destination": "b", "soc": 1e400}',
            "soc is inf %. It must be from 0 to 100 %",
        ),
        (b'{"origin": "a", "destination": "b", "a-b": 1}', "unknown key 'a-b'. Known: origin, des"),
        (
            b'{"origin": "a", "destination": "b", "soc": ' + b"7" * 900 + b"}",
            "soc is an integer of",
        ),
        (b'{"origin": ["a", 1, 2, 3, 4, 5, 6, 7, 8]}', "['a', 1, 2, 3, 4, 5, ...] is no edge id"),
        (b"[]", "value is []. "),
        (b'{"self": 1, "origin": "a", "destination": "b"}', "unknown key 'self'. Known: "),
    ],
)
def test_the_first_problem_by_hand(body: bytes, detail: str) -> None:
    with pytest.raises(EvrouteError) as caught:
        parsed(PlanBody, body, "application/json")
    assert str(caught.value).startswith(detail)
    assert getattr(caught.value, "status", 422) == 422


def test_too_many_values_are_413() -> None:
    body = b"[" + b"1," * bodies.MOST_VALUES + b"1]"
    with pytest.raises(
        RefusedError, match=r"at most 1,000,000 values, this one 1,000,001"
    ) as caught:
        parsed(PlanBody, body, "application/json")
    assert caught.value.status == 413


@pytest.mark.parametrize("kind", ["application/json", "application/geo+json; charset=utf-8"])
def test_json_is_read_by_its_type(kind: str) -> None:
    assert parsed(PlanBody, b'{"origin": "a", "destination": "b"}', kind).origin == "a"


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-json", "application", "a\x9bb"])
def test_other_types_are_refused(kind: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parsed(PlanBody, b"{}", kind)
    assert caught.value.status == 415


def test_a_list_is_read_up_to_its_first_wrong_item() -> None:
    edges = [{"edge": "a", "energy_wh": 1.0}, {"edge": "b"}, {"edge": 1}]
    body = {"belief": "own", "trips": [{"trip": "x", "edges": edges}] * 3}
    with pytest.raises(RefusedError, match=r"^trips\.0\.edges\.1\.energy_wh is missing$"):
        parsed(Trips, json.dumps(body).encode(), "application/json")


EDGE = {"edge": "a", "energy_wh": 1.0}
TRIP = {"trip": "x", "edges": [EDGE]}
WAY = {"from": "a", "to": "b"}


@pytest.mark.parametrize(
    ("model", "body", "detail"),
    [
        (
            Trips,
            {"belief": "own", "trips": [TRIP, TRIP | {"trip": "y"}, TRIP]},
            "trips.2 has the id 'x', which trips.0 has too. Give each trip an id of its own",
        ),
        (
            Trips,
            {"belief": "own", "trips": [TRIP | {"edges": [EDGE | {"energy_wh": True}]}]},
            "trips.0.edges.0.energy_wh is True. It must be a valid number",
        ),
        (
            Trips,
            {"belief": "own", "trips": [TRIP | {"payload_kg": "1_000"}]},
            "trips.0.payload_kg is '1_000'. It must be a valid number",
        ),
        (PlanBody, {"origin": "a", "destination": "b", "soc": "4_0"}, "soc is '4_0'. It must be"),
        (
            PlanBody,
            {"origin": "a", "destination": "b", "max_extra_time": "1_0%"},
            "max_extra_time is '1_0%'. It must be a share",
        ),
        (PlanBody, {"origin": "a", "destination": "b", "arrive": "4_0"}, "arrive is '4_0'. It"),
        (RangeBody, {"origin": "a", "soc": 8, "edges": 1}, "edges is 1. It must be a valid bool"),
        (MatrixBody, {"origins": ["a"], "destinations": ["b"], "sd": "yes"}, "sd is 'yes'. It"),
        (NeededDay, {"trips": [WAY], "p": "0.9_5"}, "p is '0.9_5'. It must be a number of"),
        (NeededDay, {"trips": [WAY] * 21}, "trips has 21 items. Give at most 20"),
    ],
)
def test_bodies_are_read_strictly(model: type[BaseModel], body: Any, detail: str) -> None:
    with pytest.raises(EvrouteError) as caught:
        parsed(model, json.dumps(body).encode(), "application/json")
    assert str(caught.value).startswith(detail)


def test_a_whole_number_is_a_number_and_texts_of_numbers_stay_as_documented() -> None:
    body = {"belief": "own", "trips": [TRIP | {"edges": [EDGE | {"energy_wh": 1}]}]}
    assert parsed(Trips, json.dumps(body).encode(), "application/json").trips[0].edges[0]
    plan = {"origin": "a", "destination": "b", "soc": "40", "max_extra_time": "10%"}
    read = parsed(PlanBody, json.dumps(plan).encode(), "application/json")
    assert (read.soc, read.max_extra_time) == (40.0, 0.1)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('\x00\x9b\u202e\ud800"\\🚗a é'), max_size=2000), st.booleans())
@example("🚗" * 2000, True)
@example('"' * 2000, True)
@example("\x00" * 2000, True)
def test_every_problem_is_printable_and_at_most_1_kb(detail: str, full: bool) -> None:
    answer = problem(500, detail, start_percent=100, id="f" * 32 if full else None)
    assert len(answer.body) <= MOST_BYTES
    shown = json.loads(answer.body)["detail"]
    assert all(sign.isprintable() for sign in shown)
    assert shown == brief(detail)
    assert len(detail) > 150 or "\ud800" in detail or len(shown) >= len(detail)


def test_a_short_message_stays_whole() -> None:
    assert brief("Straße 'a' is unknown; known: b") == "Straße 'a' is unknown; known: b"
    assert brief("a" * 900) == "a" * 900
    assert brief("a" * 2000).endswith("...")
