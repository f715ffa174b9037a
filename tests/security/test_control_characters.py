"""Signs that steer a terminal or break a page: refused in one line, or left out by the reader."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evroute.cli import main
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.readers.formats import read_measured
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources import osm_roads
from evroute.network.sources.osm_roads import Extract, Way
from evroute.text import slug

SIGNS = {"escape": "\x1b[2J", "C1": "\x9b2J", "surrogate": "\ud800", "return": "a\rb"}
HARMLESS = "Avenue\tof\n'{{ braces }}' <b> & Straße 東京 🚗 \u200e"
COLUMNS = ("edge_id", "street", "road_class", "junction_id")
SOURCE = ("kind", "attribution", "elevation", "files", "notes")


def named(network: RoadNetwork, field: str, text: str) -> RoadNetwork:
    if field in COLUMNS:
        return replace(network, **{field: (text, *getattr(network, field)[1:])})
    if field in SOURCE:
        value: Any = (text,) if field in ("files", "notes") else text
        return replace(network, source=replace(network.source, **{field: value}))
    return replace(network, name=text)


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("field", [*COLUMNS, *SOURCE])
def test_a_network_with_signs_that_cannot_be_shown_is_refused(
    sign: str, field: str, hill: RoadNetwork
) -> None:
    with pytest.raises(EvrouteError, match=r"holds U\+[0-9A-F]{4}, which cannot be shown") as error:
        named(hill, field, f"a{SIGNS[sign]}")
    assert str(error.value).isascii()
    assert str(error.value).isprintable()


@pytest.mark.parametrize("field", [*COLUMNS, *SOURCE])
def test_a_network_with_unusual_names_is_read_like_any_other(field: str, hill: RoadNetwork) -> None:
    named(hill, field, HARMLESS)


def test_the_reader_of_openstreetmap_leaves_them_out() -> None:
    extract = Extract()
    extract.lon_lat.update({1: (6.0, 49.0), 2: (6.01, 49.0)})
    extract.ways[1] = Way((1, 2), {"highway": "primary", "name": "Main\x1b[2J Street"})
    network = osm_roads.build(extract, "town", Source(kind="osm"))
    assert set(network.street) == {"Main[2J Street"}


UNSET = (None, "", (), {})
"""Values of optional fields that a vehicle file leaves out."""


def test_a_vehicle_file_with_them_is_refused(tmp_path: Path) -> None:
    numbers = {
        name: getattr(load_vehicle("reference"), name)
        for name in load_vehicle("reference").__slots__
    }
    numbers |= {"name": "car\x1b[2J", "sources": {}}
    lines = [f"{name} = {json.dumps(each)}" for name, each in numbers.items() if each not in UNSET]
    (tmp_path / "car.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(EvrouteError, match=r"holds U\+001B"):
        load_vehicle(tmp_path / "car.toml")


def test_a_table_of_trips_with_them_is_refused(hill: RoadNetwork, tmp_path: Path) -> None:
    table = tmp_path / "trips.csv"
    table.write_text("trip,edge,energy_wh\na\x1b[2J,in,100\n", encoding="utf-8")
    with pytest.raises(EvrouteError, match=r"trip 'a\\x1b\[2J' holds U\+001B"):
        read_measured(table, Setting(hill, load_vehicle("reference")), {"reference"})


def test_columns_that_are_not_read_are_named_without_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "trips.csv"
    table.write_text("trip,b\x1b[2J\nA,1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["evroute", "route", "--batch", str(table)])
    with pytest.raises(SystemExit) as status:
        main()
    assert not status.value.code
    assert "not read: b\\u001b[2J" in capsys.readouterr().err


def test_an_error_prints_one_line_whatever_it_quotes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["evroute", "route", "--trip", "a\x1b[2J\nb\rc"])
    with pytest.raises(SystemExit) as status:
        main()
    shown = capsys.readouterr().err
    assert status.value.code == 2
    assert "a\\u001b[2J b c" in shown
    assert shown[:-1].isprintable()


def test_part_of_a_file_name_by_hand() -> None:
    assert slug("in-to_out.1") == "in-to_out.1"
    assert slug("a/b") == "a_b-07f4401c"
    assert slug("a/b") != slug("a:b")
    assert len(slug("x" * 300)) == 109
