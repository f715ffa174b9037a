"""PlanRequest: its texts, its contradictions, and the planner that it meets."""

import inspect
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import evroute
from evroute.cli.reach import reach
from evroute.cli.route import route
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import COLUMNS
from evroute.planning.planner import Planner
from evroute.planning.reach import RangeRequest
from evroute.planning.request import PlanRequest, entries
from evroute.service.requests import RangeBody
from evroute.validation.forms import Choice, Clock, Date, Number, Places, Share, Truth

ENDS = {"origin": "Walnut Street & 33rd Street", "destination": "Broadway & 20th Street"}


def drawn(entry: Any, rng: random.Random) -> Any:
    """Return a random value of a field."""
    form = entry.form
    if isinstance(form, Choice):
        return rng.choice(form.names)
    if isinstance(form, Truth):
        return rng.random() < 0.5
    if isinstance(form, Clock):
        return f"{rng.randrange(24):02d}:{rng.randrange(60):02d}"
    if isinstance(form, Date):
        return f"20{rng.randrange(10, 60)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    if isinstance(form, Places):
        return tuple(f"place {rng.randrange(9)}" for _ in range(rng.randrange(3)))
    if isinstance(form, Number):
        low = form.least if form.least is not None else form.above + 1e-6
        high = form.most if form.most is not None else 2 if isinstance(form, Share) else 1e4
        return rng.randint(int(low), int(high)) if form.whole else rng.uniform(low, high)
    return f"text {rng.randrange(9)}"


def test_texts_of_random_requests_are_read_as_the_same_requests() -> None:
    rng, kept = random.Random(33), 0
    while kept < 300:
        names = rng.sample(list(entries()), rng.randrange(1, 9))
        values: dict[str, Any] = {}
        day: dict[str, Any] = {}
        for name in names:
            entry = entries()[name]
            (day if entry.of_day else values)[entry.field] = drawn(entry, rng)
        try:
            request = PlanRequest(**values, conditions=DrivingConditions(**day))
        except EvrouteError:
            continue
        kept += 1
        assert PlanRequest.from_texts(request.texts()) == request


def test_every_field_is_an_option_a_column_and_a_keyword_of_python() -> None:
    options = {name for p in typer.main.get_command(_app()).params for name in p.opts}
    assert {f"--{name.replace('_', '-')}" for name in entries()} <= options
    assert set(entries()) <= set(COLUMNS)
    keywords = inspect.signature(evroute.plan).parameters
    assert {entry.field for entry in entries().values() if not entry.of_day} <= set(keywords)
    assert all(entry.form.help.endswith((".", "]", ".]")) for entry in entries().values())


def test_every_field_of_a_range_is_an_option_a_keyword_and_a_key_of_the_body() -> None:
    options = {name for p in typer.main.get_command(_app(reach)).params for name in p.opts}
    assert {f"--{name.replace('_', '-')}" for name in entries(RangeRequest)} <= options
    keywords = inspect.signature(evroute.reachable).parameters
    assert set(RangeRequest.model_fields) <= set(keywords)
    assert set(RangeRequest.model_fields) <= set(RangeBody.model_fields)
    shared = set(entries(RangeRequest)) & set(entries()) - {"reserve", "risk"}
    assert {"from", "soc", "vehicle", "depart", "wind", "preheated"} <= shared
    assert all(entries(RangeRequest)[name].form == entries()[name].form for name in shared)


def _app(command: Any = route) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    return app


CHARGING = {"trip": "A", "soc": 50, "charge": True}


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("soc", "[0<=x<=100]"),
        ("alternatives", "[default: 0; 0<=x<=5]"),
        ("wind", "[default: 0.0]"),
        ("search", "[default: potential]"),
    ],
)
def test_the_help_has_range_and_default(name: str, notes: str) -> None:
    text = CliRunner().invoke(_app(), ["--help"], env={"COLUMNS": "200"}).output
    at = text.index(f"--{name} ")
    assert notes in " ".join(text[at : at + 400].split("  --")[0].split())


@pytest.mark.parametrize(
    ("values", "clause"),
    [
        ({}, "give either a named trip, or origin and destination. Got neither"),
        ({"origin": "a"}, "give either a named trip, or origin and destination. Got origin"),
        (
            {"trip": "A", "destination": "b"},
            "give either a named trip, or origin and destination. Got trip and destination",
        ),
        ({"trip": "A", "via": ["x"]}, "places on the way go between origin and destination"),
        ({"trip": "A", "reserve": 10}, "a reserve needs the charge at the start: soc"),
        ({"trip": "A", "risk": 0.1}, "a risk needs the charge at the start: soc"),
        ({"trip": "A", "charge": True}, "charging on the way needs the charge at the start: soc"),
        ({"trip": "A", "soc": 9, "charge": True, "max_extra_time": 0.1}, "charging on the way tak"),
        ({"trip": "A", "arrive": 20}, "arrive goes with charging on the way: charge"),
        ({"trip": "A", "stop_from": 80, "stop_to": 80}, "stop_from goes with charging on the way"),
        (
            CHARGING | {"stop_from": 80, "stop_to": 80},
            "stop_from is 80 %. It must be below stop_to",
        ),
        (CHARGING | {"arrive": 120}, "arrive is 120. It must be a charge from 0 to 100 %, or 'ch"),
        (CHARGING | {"arrive": "home"}, "arrive is 'home'. It must be a charge from 0 to 100 %"),
        (CHARGING | {"stop_minutes": -1}, "stop_minutes is -1 min. It must be from 0 to 1440 min"),
        ({"trip": "A", "time_value": 9}, "a value of time needs the price of energy: price"),
        ({"trip": "A", "soc": 9, "search": "clamped"}, "a battery, a time limit or a value of tim"),
        ({"trip": "A", "conditions": {"wind_from_deg": 9}}, "wind_from needs a wind speed: wind"),
        ({"trip": "A", "conditions": {"wind_mps": 99}}, "wind is 99 m/s. It must be from 0 to 40"),
        ({"trip": "A", "sock": 9}, "unknown key 'sock'. Known: soc"),
    ],
)
def test_contradictory_fields_are_refused_in_one_clause(
    values: dict[str, Any], clause: str
) -> None:
    with pytest.raises(EvrouteError) as caught:
        PlanRequest(**values)
    assert str(caught.value).startswith(clause)


def test_a_text_without_a_field_is_refused() -> None:
    with pytest.raises(EvrouteError, match=r"there is no 'sock' of a plan. There are from, to"):
        PlanRequest.from_texts({"trip": "A", "sock": "9"})


def test_a_request_is_one_value_for_every_call(denver: RoadNetwork) -> None:
    request = PlanRequest(**ENDS, soc=40, conditions={"temperature_c": -5})
    plan = evroute.plan(denver, request)
    assert plan.request == request
    assert plan.routes["energy"].energy_wh == pytest.approx(
        evroute.plan(denver, *ENDS.values(), soc=40, conditions=request.conditions)
        .routes["energy"]
        .energy_wh,
        rel=0,
    )
    older = evroute.plan(denver, waypoints=tuple(ENDS.values()), soc_percent=40, reserve_percent=0)
    assert older.battery == evroute.plan(denver, **ENDS, soc=40).battery
    with pytest.raises(EvrouteError, match="give a PlanRequest alone"):
        evroute.plan(denver, request, soc=50)
    with pytest.raises(EvrouteError, match="soc_percent and soc are the same"):
        evroute.plan(denver, **ENDS, soc=50, soc_percent=50)


def test_a_planner_refuses_a_request_of_another_vehicle(denver: RoadNetwork) -> None:
    planner, leaf = Planner(denver), load_vehicle()
    assert planner.plan(**ENDS, vehicle="nissan-leaf-40").vehicle == leaf.name
    assert planner.plan(**ENDS, vehicle=leaf).vehicle == leaf.name
    for other in ("renault-zoe", replace(leaf, mass_kg=3000.0)):
        with pytest.raises(EvrouteError, match="the planner is of vehicle 'nissan-leaf-40'"):
            planner.plan(**ENDS, vehicle=other)
    with pytest.raises(UnknownNameError, match="unknown vehicle 'delorean'"):
        planner.plan(**ENDS, vehicle="delorean")


def test_a_vehicle_file_is_read_once(denver: RoadNetwork, tmp_path: Path) -> None:
    source = load_vehicle("reference")
    names = ("mass_kg", "rolling", "drag", "front_m2", "propulsion_efficiency")
    names += ("recuperation_efficiency", "auxiliary_w", "battery_kwh")
    path = tmp_path / "car.toml"
    path.write_text("".join(f"{name} = {float(getattr(source, name))}\n" for name in names))
    planner = Planner(denver, path)
    path.unlink()
    assert planner.plan(**ENDS, vehicle=path).vehicle == "car"


def test_a_plan_has_the_day_of_its_request(denver: RoadNetwork) -> None:
    cold, mild = DrivingConditions(temperature_c=-10.0), Planner(denver)
    expected = Planner(denver, conditions=cold).plan(**ENDS).routes["energy"]
    assert mild.plan(**ENDS, conditions=cold).routes["energy"].energy_wh == expected.energy_wh
    assert mild.under(cold) is mild.under(DrivingConditions(temperature_c=-10.0))
    assert Planner(denver, conditions=cold).plan(**ENDS).routes["energy"].energy_wh == (
        expected.energy_wh
    )
