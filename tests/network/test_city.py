"""A city is loaded by its name from services that are played by a server on this machine.

The recorded answer is made of Monaco's OpenStreetMap file, as Overpass writes it.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import pytest
import rasterio
from affine import Affine

from evroute.cli import main
from evroute.errors import EvrouteError, LimitError
from evroute.network import catalog, city
from evroute.network.heights import copernicus
from evroute.network.places.suggestions import suggest
from evroute.network.sources import osm
from evroute.network.sources.chargers import stations

ROAD = {"highway": "residential"}
CORNERS = {1: (6.0, 49.0), 2: (6.01, 49.0), 3: (6.01, 49.01), 4: (6.0, 49.01)}
CHARGER = {"amenity": "charging_station", "operator": "Volt", "socket:type2": "2"}


def node(number: int, lon: float, lat: float, **tags: str) -> dict[str, Any]:
    return {"type": "node", "id": number, "lon": lon, "lat": lat, "tags": tags}


def square() -> list[dict[str, Any]]:
    """Four streets around a square, a bus stop and two charging stations, one far from roads."""
    streets = {10: (1, 2, "South"), 11: (2, 3, "East"), 12: (3, 4, "North"), 13: (4, 1, "West")}
    ways = [
        {"type": "way", "id": way, "nodes": [a, b], "tags": ROAD | {"name": name}}
        for way, (a, b, name) in streets.items()
    ]
    places = [
        node(20, 6.005, 49.0001, highway="bus_stop", name="Halt"),
        node(21, 6.005, 49.0001, **CHARGER),
        node(22, 6.005, 49.005, **CHARGER),
    ]
    return [*(node(number, *at) for number, at in CORNERS.items()), *places, *ways]


class Services(ThreadingHTTPServer):
    """Nominatim, Overpass and Copernicus. ``asked`` has what they were asked for, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.elements = square()
        self.box = (6.0, 49.0, 6.01, 49.01)
        self.tile = b""
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Services

    def do_GET(self) -> None:
        self.server.asked.append("place" if self.path.startswith("/search") else "heights")
        west, south, east, north = self.server.box
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        found = {
            "osm_type": "relation",
            "osm_id": 7,
            "lat": str(south),
            "lon": str(west),
            "display_name": "Squareville, Land",
            "class": "boundary",
            "type": "administrative",
            "importance": 0.5,
            "place_id": 1,
            "boundingbox": [str(south), str(north), str(west), str(east)],
            "geojson": {"type": "Polygon", "coordinates": [ring]},
        }
        self._send(json.dumps([found]).encode())

    def do_POST(self) -> None:
        query = unquote_plus(self.rfile.read(int(self.headers["Content-Length"])).decode())
        ways = sum(each["type"] == "way" for each in self.server.elements)
        if "out count" in query:
            self.server.asked.append("count")
            counted = {"type": "count", "id": 0, "tags": {"ways": str(ways), "total": str(ways)}}
            self._send(json.dumps({"elements": [counted]}).encode())
        else:
            self.server.asked.append("roads")
            self._send(json.dumps({"elements": self.server.elements}).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def heights(folder: Path, box: tuple[float, ...]) -> Path:
    """Write a raster around a box whose height is 1,000 times the longitude east of its west."""
    step, margin = 0.0005, 0.02
    west, north = box[0] - margin, box[3] + margin
    shape = [round((high - low + 2 * margin) / step) for low, high in (box[1::2], box[0::2])]
    lon = west + step * (np.arange(shape[1]) + 0.5)
    path = folder / "plane.tif"
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=shape[1],
        height=shape[0],
        count=1,
        dtype="float32",
        crs="EPSG:4326",
        transform=Affine(step, 0, west, 0, -step, north),
    ) as raster:
        raster.write(np.tile(1000 * (lon - box[0]), (shape[0], 1)).astype(np.float32), 1)
    return path


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Services]:
    import osmnx

    server = Services()
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "nominatim_url": address,
        "overpass_url": f"{address}/api",
        "overpass_rate_limit": False,
        "doh_url_template": None,
        "use_cache": True,
        "cache_folder": "cache",
    }.items():
        monkeypatch.setattr(osmnx.settings, name, value)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("EVROUTE_DATA_DIR", raising=False)
    monkeypatch.setattr(
        copernicus, "rasters", lambda network, folder: [heights(tmp_path, server.box)]
    )
    yield server
    server.shutdown()
    server.server_close()


def test_an_empty_place_is_not_asked_for(services: Services) -> None:
    with pytest.raises(EvrouteError, match=r"no place is given. Name a city"):
        city.look_up(" ")
    assert services.asked == []


def test_a_city_has_its_size_before_it_is_loaded(services: Services) -> None:
    found = city.look_up("Squareville")
    assert services.asked == ["place", "count"]
    # a hundredth of a degree on a sphere of 6,371 km
    side_km = 6371 * math.radians(0.01)
    expected_km2 = side_km * side_km * math.cos(math.radians(49.005))
    assert found.area_km2 == pytest.approx(expected_km2, rel=0.005)
    assert found.words == (
        "Squareville, Land: 0.8 km², 4 roads, about 1 MB. Loading takes about 1 minute"
    )


def test_roads_heights_names_and_stations_are_loaded(services: Services) -> None:
    steps: list[int] = []
    made = city.load(city.look_up("Squareville"), "square", steps.append)
    assert steps == list(range(len(city.STEPS)))
    assert services.asked == ["place", "count", "roads"]
    assert set(made.street) == {"South", "East", "North", "West"}
    lon, _ = made.junction_lon_lat
    assert np.ptp(made.elevation_m) > 1
    assert np.corrcoef(lon, made.elevation_m)[0, 1] > 0.999
    assert [(each.name, each.lat) for each in stations(made)] == [("Volt", 49.0001)]
    assert suggest(made, "halt")[0].kind == "place"
    assert suggest(made, "volt")[0].kind == "station"
    assert "Copernicus" in made.source.attribution
    assert "OpenStreetMap" in made.source.attribution


def test_an_interrupted_load_goes_on_where_it_ended(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(network: Any, folder: Path) -> list[Path]:
        raise EvrouteError("the heights of Copernicus cannot be read")

    with monkeypatch.context() as patch:
        patch.setattr(copernicus, "rasters", unreachable)
        with pytest.raises(EvrouteError, match="heights of Copernicus"):
            city.load(city.look_up("Squareville"), "square", lambda step: None)
    first = list(services.asked)
    made = city.load(city.look_up("Squareville"), "square", lambda step: None)
    assert made.n_edges == 4
    assert services.asked == first, "every answer is kept"


def test_a_city_that_cannot_be_had_is_one_sentence(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(city, "EDGES_A_WAY", 10_000_000)
        with pytest.raises(LimitError, match=r"'Squareville' has 40,000,000 edges .* The limit is"):
            city.look_up("Squareville")
    services.elements = []
    services.box = (7.0, 49.0, 7.01, 49.01)
    with pytest.raises(EvrouteError, match="'Emptyville' has no road in OpenStreetMap"):
        city.look_up("Emptyville")
    monkeypatch.setattr("osmnx.settings.nominatim_url", "http://127.0.0.1:9")
    with pytest.raises(EvrouteError, match=r"cannot be reached for 'Rome' .*internet") as caught:
        city.look_up("Rome")
    assert "\n" not in str(caught.value)


@pytest.mark.data
def test_a_recorded_answer_is_the_network_of_the_file(
    services: Services, data_dir: Path, tmp_path: Path
) -> None:
    path = data_dir / "monaco" / "monaco.osm.gz"
    extract = osm._extract(path)
    services.elements = [
        node(number, *at, **extract.node_tags.get(number, {}))
        for number, at in extract.lon_lat.items()
    ] + [
        {"type": "way", "id": number, "nodes": list(way.nodes), "tags": way.tags}
        for number, way in extract.ways.items()
    ]
    services.elements += [
        {
            "type": "relation",
            "id": number,
            "tags": relation.tags,
            "members": [
                dict(zip(("type", "ref", "role"), m, strict=True)) for m in relation.members
            ],
        }
        for number, relation in enumerate(extract.relations)
    ]
    services.box = (7.38, 43.71, 7.46, 43.77)
    made = city.load(city.look_up("Monaco"), "monaco", lambda step: None)
    expected = catalog.build(osm.read(path, "monaco"), rasters=[heights(tmp_path, services.box)])
    assert made.digest == expected.digest
    assert made.street == expected.street


def test_names_of_networks_are_letters_and_digits() -> None:
    assert city.name_of("Zürich, Schweiz") == "zurich-schweiz"
    assert city.name_of("  ../../etc ") == "etc"
    assert city.name_of("東京") == "city"


@pytest.fixture
def run(
    services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("COLUMNS", "200")

    def evroute(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", "network", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        shown = capsys.readouterr()
        return int(done.value.code or 0), shown.out, shown.err

    return evroute


def test_the_command_loads_a_city_in_one_line(run: Callable[..., tuple[int, str, str]]) -> None:
    status, out, err = run("get", "Squareville")
    assert status == 0, err
    assert err.index("about 1 minute") < err.index("built ")
    assert "charging stations" in out
    assert catalog.load_network("squareville").n_edges == 4
    status, _, err = run("get", "Squareville")
    assert status == 2
    assert "a network 'squareville' exists. Give another name with --as" in err
    assert run("get", "Squareville", "--as", "again")[0] == 0
    assert run("get", "Denver")[0] == 2
