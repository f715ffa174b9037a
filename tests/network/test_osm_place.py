"""A place of the world becomes a network, through Nominatim and Overpass played by a server on this
machine.
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import unquote_plus

import pytest
from shapely.geometry import MultiPolygon, box

from evroute.errors import EvrouteError, NetworkFormatError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, overpass

ROAD = {"highway": "residential"}
# 1 - 2 - 3 along a parallel, 5 north of 2
NODES = {1: (0, 0), 2: (1, 0), 3: (2, 0), 5: (1, 1)}


def turns(network: RoadNetwork) -> set[tuple[str, str]]:
    return {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns}


class _Services(BaseHTTPRequestHandler):
    """Nominatim and Overpass as one small server; ``answers`` by the last part of the path."""

    answers: ClassVar[dict[str, Any]] = {}
    queries: ClassVar[list[str]] = []
    agents: ClassVar[list[str | None]] = []
    busy: ClassVar[list[int]] = []

    def _answer(self) -> None:
        text = json.dumps(self.answers[self.path.split("?")[0].rsplit("/", 1)[-1]]).encode()
        post = self.command == "POST"
        self.send_response(self.busy.pop(0) if post and self.busy else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.agents.append(self.headers["User-Agent"])
        self.queries.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._answer()

    def log_message(self, *args: object) -> None:
        pass


SQUARE = {
    "type": "Polygon",
    "coordinates": [[[6, 49], [6.01, 49], [6.01, 49.01], [6, 49.01], [6, 49]]],
}


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Services]]:
    """Point OSMnx at a server on this machine."""
    import osmnx

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Services)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(osmnx.settings, "nominatim_url", address)
    monkeypatch.setattr(osmnx.settings, "overpass_url", f"{address}/api")
    monkeypatch.setattr(osmnx.settings, "overpass_rate_limit", False)
    monkeypatch.setattr(osmnx.settings, "doh_url_template", None)
    monkeypatch.setattr(osmnx.settings, "use_cache", True)
    monkeypatch.setattr(osmnx.settings, "cache_folder", "cache")
    monkeypatch.setattr("time.sleep", lambda _: None)
    _Services.answers = {"search": [_found(SQUARE)], "interpreter": {"elements": []}}
    _Services.queries, _Services.agents, _Services.busy = [], [], []
    yield _Services
    server.shutdown()
    server.server_close()


def _found(geometry: dict[str, Any]) -> dict[str, Any]:
    return {
        "place_id": 1,
        "licence": "",
        "osm_type": "relation",
        "osm_id": 7,
        "lat": "49.005",
        "lon": "6.005",
        "display_name": "Squareville",
        "class": "boundary",
        "type": "administrative",
        "importance": 0.5,
        "boundingbox": ["49", "49.01", "6", "6.01"],
        "geojson": geometry,
    }


def test_a_place_comes_with_its_turn_restrictions(
    services: type[_Services], tmp_path: Path
) -> None:
    nodes = [
        {"type": "node", "id": n, "lon": 6 + x / 1000, "lat": 49 + y / 1000}
        for n, (x, y) in NODES.items()
    ]
    ways = [
        {"type": "way", "id": w, "nodes": r, "tags": ROAD}
        for w, r in {10: [1, 2], 11: [2, 3], 12: [2, 5]}.items()
    ]
    roles = [("way", 10, "from"), ("node", 2, "via"), ("way", 12, "to")]
    restriction = {
        "type": "relation",
        "id": 20,
        "tags": {"type": "restriction", "restriction": "no_left_turn"},
        "members": [{"type": t, "ref": r, "role": role} for t, r, role in roles],
    }
    services.answers["interpreter"] = {"elements": [*nodes, *ways, restriction, restriction]}
    services.answers["interpreter"]["elements"].append(
        {
            "type": "node",
            "id": 9,
            "lon": 6.0,
            "lat": 49.0,
            "tags": {"shop": "yes", "name": "Corner"},
        }
    )
    network = osm.read_place("Squareville", "case", tmp_path / "answers")
    assert network.tables["places"]["name"] == ("Corner",)
    assert set(network.edge_id) == {"1,2,0", "2,1,0", "2,3,0", "3,2,0", "2,5,0", "5,2,0"}
    assert ("1,2,0", "2,5,0") not in turns(network)
    assert ("1,2,0", "2,3,0") in turns(network)
    assert "1 of 1 turn restrictions applied" in network.source.notes
    assert network.source.files == ("Squareville",)
    query = unquote_plus(services.queries[0])
    assert "restriction" in query
    assert "way['highway'='track'][~'^(motorcar|motor_vehicle|vehicle)$'~'.']" in query
    assert "|road)$'" in query  # the last of the classes that are open to cars without such a tag

    assert len(services.queries) == 1
    services.answers.clear()  # a second time without the services
    assert osm.read_place("Squareville", "case", tmp_path / "answers").digest == network.digest


def test_a_place_that_cannot_be_had_is_told_in_one_line(
    services: type[_Services], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NetworkFormatError, match="open to passenger cars"):
        osm.read_place("Squareville", "case", tmp_path)
    services.answers["interpreter"] = {"elements": [], "remark": "runtime error: Query timed out"}
    with pytest.raises(
        EvrouteError, match=r"gave up: runtime error: Query timed out. Try a smaller place"
    ):
        osm.read_place("Squareville", "case", tmp_path / "other answers")
    services.answers["search"] = []
    with pytest.raises(EvrouteError, match="no answer for 'Atlantis'"):
        osm.read_place("Atlantis", "case", tmp_path)
    services.answers["search"] = [_found({"type": "Point", "coordinates": [6, 49]})]
    with pytest.raises(EvrouteError, match="'Eiffel Tower' has no boundary"):
        osm.read_place("Eiffel Tower", "case", tmp_path)
    monkeypatch.setattr("osmnx.settings.nominatim_url", "http://127.0.0.1:9")
    with pytest.raises(
        EvrouteError, match=r"cannot be reached for 'Rome' .*internet connection"
    ) as caught:
        osm.read_place("Rome", "case", tmp_path)
    assert "\n" not in str(caught.value)


def test_a_busy_service_is_asked_again_with_the_settings_of_osmnx(
    services: type[_Services], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("osmnx.settings.http_user_agent", "a friendly test")
    monkeypatch.setattr("osmnx.settings.requests_timeout", 77)
    monkeypatch.setattr("osmnx.settings.overpass_memory", 1234)
    services.busy.extend([429, 504])
    services.answers["interpreter"] = {"elements": [{"type": "node", "id": 1, "lon": 6, "lat": 49}]}
    assert overpass.roads_of(box(6, 49, 6.01, 49.01), tmp_path / "kept")["elements"]
    assert services.agents == ["a friendly test"] * 3
    query = unquote_plus(services.queries[-1]).removeprefix("data=")
    assert query.startswith("[out:json][timeout:77][maxsize:1234];")
    assert len(list((tmp_path / "kept").iterdir())) == 1
    services.busy.extend([429] * 3)
    with pytest.raises(EvrouteError, match="Overpass service answered 429"):
        overpass.roads_of(box(7, 49, 7.01, 49.01), tmp_path / "kept")
    services.answers["interpreter"] = ["no", "roads"]
    with pytest.raises(EvrouteError, match="has no answer"):
        overpass.roads_of(box(7, 49, 7.01, 49.01), tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 1  # answers alone are kept


def test_all_parts_of_an_area_are_in_one_query() -> None:
    query = overpass.query_of(MultiPolygon([box(6, 49, 6.01, 49.01), box(7, 49, 7.01, 49.01)]))
    corners = "49.000000 7.010000 49.010000 7.010000 49.010000 7.000000 49.000000 7.000000"
    assert query.count(corners) == 5  # roads, tracks, places, stops and charging stations
    assert query.count("poly:") == 10
    assert "node['name'][~'^(highway|railway)$'~'^(bus_stop|station|halt|tram_stop)$']" in query
    assert query.count(";out;") == 1
