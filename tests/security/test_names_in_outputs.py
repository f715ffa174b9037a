"""Every text of a network and of a vehicle through every output: shown as it is, and nothing runs.

Fields and outputs: `FIELDS` and `OUTPUTS`. What a browser makes of the pages is in
``test_names_in_a_browser``.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from evroute.cli import main
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError
from evroute.network import store
from evroute.network.places import names
from evroute.network.places.locate import locate
from evroute.network.road_network import RoadNetwork
from evroute.network.views.export import export
from evroute.planning.answers import document
from evroute.planning.battery import Battery
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.report.exports import route_geojson, route_gpx
from evroute.report.maps.network_maps import route_map, values_map

COLUMNS = ("edge_id", "street", "road_class", "junction_id")
SOURCE = ("kind", "files", "attribution", "elevation", "notes")
FIELDS = (*COLUMNS, *SOURCE, "vehicle")


def named(network: RoadNetwork, field: str, text: str) -> tuple[RoadNetwork, Vehicle]:
    """Return network and vehicle with a text in one field; ids get a number to stay unique."""
    vehicle = load_vehicle("reference")
    if field in COLUMNS:
        rows = range(len(getattr(network, field)))
        return replace(network, **{field: tuple(f"{text}{row}" for row in rows)}), vehicle
    if field in SOURCE:
        value = (text,) if field in ("files", "notes") else text
        return replace(network, source=replace(network.source, **{field: value})), vehicle
    if field == "vehicle":
        return network, replace(vehicle, name=text, sources={"mass_kg": text})
    return replace(network, name=text), vehicle


def planned(network: RoadNetwork, vehicle: Vehicle) -> Plan:
    battery = Battery.of_percent(vehicle.battery_kwh, 50, 1)
    planner = Planner(network, vehicle, physics="eq8")
    return planner.plan(0, 5, battery=battery, alternatives=1, risk="mean")


def saved(chart: Any) -> str:
    chart.save("map.html")
    return Path("map.html").read_text(encoding="utf-8")


def text_of(field: str, network: RoadNetwork, vehicle: Vehicle) -> str:
    if field == "vehicle":
        return vehicle.name
    of = network if field in ("name", *COLUMNS) else network.source
    value = getattr(of, field)
    return str(value[0] if isinstance(value, tuple) else value)


@pytest.mark.parametrize("field", FIELDS)
def test_a_map_of_routes_has_the_elements_of_a_harmless_one(
    field: str, hill: RoadNetwork, payload: Any, parsed: Callable[..., Any]
) -> None:
    def pages(text: str) -> tuple[str, str]:
        network, vehicle = named(hill, field, text)
        chart = route_map(network, planned(network, vehicle))
        (frame,) = re.findall('srcdoc="([^"]*)"', chart._repr_html_())
        return saved(chart), unescape(frame)

    hostile = pages(payload.long(field))
    payload.tried("map of routes", field)
    payload.tried("map in a notebook", field)
    harmless = pages("plain")
    assert [parsed(page)[0] for page in hostile] == [parsed(page)[0] for page in harmless]


@pytest.mark.parametrize("field", FIELDS[:-1])
def test_maps_of_edges_have_the_elements_of_harmless_ones(
    field: str, hill: RoadNetwork, payload: Any, parsed: Callable[..., Any]
) -> None:
    def page(text: str) -> str:
        network, _ = named(hill, field, text)
        return saved(values_map(network, np.arange(7.0), text))

    hostile = page(payload.long(field))
    payload.tried("map of values", field, "title")
    assert parsed(hostile)[0] == parsed(page("plain"))[0]


def test_a_text_that_nobody_escaped_does_not_run_on_a_map(hill: RoadNetwork, payload: Any) -> None:
    import folium

    chart = route_map(hill, planned(hill, load_vehicle("reference")))
    folium.Marker([49.0, 6.0], tooltip=payload.short("tooltip")).add_to(chart)
    page = saved(chart)
    payload.tried("map of routes", "tooltip")
    assert "ran_tooltip" in page


@pytest.mark.parametrize("field", FIELDS)
def test_files_for_other_programs_hold_the_text_itself(
    field: str, hill: RoadNetwork, payload: Any
) -> None:
    network, vehicle = named(hill, field, payload.long(field))
    plan = planned(network, vehicle)
    shown = {
        "GeoJSON": flat(json.loads(json.dumps(route_geojson(network, plan)))),
        "GPX": [" ".join(ElementTree.fromstring(route_gpx(network, plan)).itertext())],
        "JSON": flat(json.loads(json.dumps(document(plan)))),
    }
    in_which = {
        "GeoJSON": {"edge_id", "street", "attribution", "vehicle"},
        "GPX": {"name", "street", "attribution", "vehicle"},
        "JSON": {"name", "edge_id", "street", "vehicle"},
    }
    text = text_of(field, network, vehicle)
    for output, texts in shown.items():
        payload.tried(output, field)
        assert any(text in str(each) for each in texts) == (field in in_which[output]), output


def test_a_hostile_place_is_found_and_shown_as_it_is(hill: RoadNetwork, payload: Any) -> None:
    text = names.clean(payload.long("place"))
    lon, lat = (float(each[1]) for each in hill.junction_lon_lat)
    network = hill.with_tables({"places": names.place_table([(text, lon, lat)])})
    assert [place.label for place in names.find(network, text)] == [text]
    plan = Planner(network, load_vehicle("reference"), physics="eq8").plan(0, 5)
    payload.tried("JSON", "place")
    assert plan.titles[0] == f"road 1.0 km west of {text}"
    assert text in json.loads(json.dumps(document(plan)))["routes"]["energy"]["streets"][0]["name"]
    with pytest.raises(EvrouteError, match="Similar names") as caught:
        locate(network, text.replace("cycler", "cyclr"))
    assert text in str(caught.value)


@pytest.mark.parametrize("ending", ["graphml", "geojson"])
@pytest.mark.parametrize("field", COLUMNS)
def test_an_exported_network_holds_the_text_itself(
    ending: str, field: str, hill: RoadNetwork, payload: Any
) -> None:
    network, vehicle = named(hill, field, payload.long(field))
    target = Path(f"network.{ending}")
    export(network, target)
    payload.tried(f"exported {ending}", field)
    content = target.read_text(encoding="utf-8")
    if ending == "graphml":
        texts = list(ElementTree.fromstring(content).itertext())
    else:
        texts = flat(json.loads(content))
    named_after_its_file = (ending, field) == ("geojson", "name")
    assert (text_of(field, network, vehicle) in texts) != named_after_its_file


def test_a_file_named_like_markup_is_refused_in_one_line(
    payload: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a[/b] {{ 7 * 7 }}.osm"  # in the folder "a["
    Path(name).parent.mkdir()
    Path(name).write_text("<osm")
    monkeypatch.setattr(sys, "argv", ["evroute", "network", "build", "town", "--osm", name])
    with pytest.raises(SystemExit) as status:
        main()
    payload.tried("evroute network build", "file")
    assert status.value.code == 2
    assert "b] {{ 7 * 7 }}.osm" in capsys.readouterr().err


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in flat(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in flat(each)]
    return [value]


def test_a_network_whose_name_is_no_name_is_refused(hill: RoadNetwork, payload: Any) -> None:
    with pytest.raises(EvrouteError, match="cannot name a network"):
        replace(hill, name=payload.long("name"))


@pytest.mark.parametrize("field", FIELDS)
def test_the_terminal_shows_the_text_itself(
    field: str,
    hill: RoadNetwork,
    payload: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, vehicle = named(hill, field, payload.long(field))
    store.save(network, Path("roads.npz"))
    values = {name: getattr(vehicle, name) for name in vehicle.__dataclass_fields__}
    unset = (None, "", (), values["sources"])
    lines = [
        f"{name} = {json.dumps(value)}" for name, value in values.items() if value not in unset
    ]
    table = [f"{name} = {json.dumps(text)}" for name, text in values["sources"].items()]
    Path("car.toml").write_text("\n".join([*lines, "[sources]", *table]), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "200")

    def shown(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["evroute", *arguments])
        with pytest.raises(SystemExit) as status:
            main()
        out, err = capsys.readouterr()
        assert not status.value.code, err
        return "".join(sign for sign in out if not sign.isspace() and sign not in "│┃")

    ends = ["--from", network.edge_id[0], "--to", network.edge_id[5]]
    of_roads = ["--network", "roads.npz", "--vehicle", "car.toml", *ends]
    commands = {
        "evroute route": shown("route", *of_roads, "--soc", "50", "--map", "route.html"),
        "evroute route --json": shown("route", *of_roads, "--json"),
        "evroute network info": shown("network", "info", "roads.npz"),
        "evroute network info --json": shown("network", "info", "roads.npz", "--json"),
        "evroute vehicle show": shown("vehicle", "show", "car.toml"),
    }
    for command in commands:
        payload.tried(command, field)
    expected = {
        "evroute route": {"name", "street", "vehicle"},
        "evroute network info": {"name", *SOURCE},
        "evroute vehicle show": {"vehicle"},
    }
    text = "".join(text_of(field, network, vehicle).split())
    text = text.removesuffix("0") if field in COLUMNS else text
    for command, fields in expected.items():
        assert (text in commands[command]) == (field in fields), command
