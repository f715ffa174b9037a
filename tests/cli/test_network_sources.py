"""``evroute network build`` from other sources, ``fetch``, ``export`` and ``close`` as a user meets
them.
"""

import sys
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import geopandas as gpd
import pytest

from evroute.cli import main
from evroute.network.catalog import load_network
from evroute.network.heights import copernicus
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import fetch, osm
from evroute.network.sources.fetch import Published

# A square of two-way streets with a diagonal, a dead end, and a limit on one side.
OSM = """<osm version="0.6">
<node id="1" lat="49" lon="6"/><node id="2" lat="49" lon="6.01"/>
<node id="3" lat="49.01" lon="6.01"/><node id="4" lat="49.01" lon="6"/>
<node id="5" lat="49" lon="5.99"/>
<way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="maxspeed" v="30"/>
</way>
<way id="11"><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/><tag k="highway" v="residential"/>
</way>
<way id="12"><nd ref="2"/><nd ref="4"/><tag k="highway" v="residential"/></way>
<way id="13"><nd ref="1"/><nd ref="5"/><tag k="highway" v="residential"/></way>
</osm>"""
NET = """<net><location netOffset="0,0" projParameter="+proj=utm +zone=32 +units=m"/>
<edge id="up" from="A" to="B"><lane index="0" speed="10" length="100" shape="0,0 100,0"/></edge>
<edge id="down" from="B" to="A"><lane index="0" speed="10" length="100" shape="100,0 0,0"/></edge>
<junction id="A" x="0" y="0" z="0"/><junction id="B" x="100" y="0" z="10"/>
<connection from="up" to="down" fromLane="0" toLane="0"/>
<connection from="down" to="up" fromLane="0" toLane="0"/>
</net>"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in an empty folder with an empty cache; give status, stdout and
    stderr.
    """
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("EVROUTE_DATA_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    Path("square.osm").write_text(OSM)

    def evroute(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", "network", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        told = capsys.readouterr()
        return int(done.value.code or 0), told.out, told.err

    return evroute


def test_an_extract_and_its_exported_graph_are_built(run: Run) -> None:
    status, out, _ = run("build", "square", "--osm", "square.osm")
    assert status == 0
    assert "speed limits imputed on 80.0% of the edges" in out
    square = load_network("square")
    assert square.n_edges == 10
    status, out, _ = run("export", "square", "--to", "square.graphml")
    assert (status, out) == (0, "wrote the 10 edges of square to square.graphml\n")
    assert run("build", "again", "--graphml", "square.graphml")[0] == 0
    assert sorted(load_network("again").edge_id) == sorted(square.edge_id)


def test_a_place_is_built_with_heights_of_copernicus(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np
    import rasterio
    from affine import Affine

    def read_place(place: str, name: str, cache: Path) -> RoadNetwork:
        assert (place, cache) == ("Squareville", tmp_path / "cache" / "osmnx")
        return osm.read(Path("square.osm"), name)

    def rasters(network: RoadNetwork, folder: Path) -> list[Path]:
        assert folder == tmp_path / "cache" / "copernicus"
        shape = {"width": 40, "height": 40, "count": 1, "dtype": "float32"}
        grid = Affine(0.001, 0, 5.98, 0, -0.001, 49.02)
        with rasterio.open(
            "level.tif", "w", driver="GTiff", crs="EPSG:4326", transform=grid, **shape
        ) as raster:
            raster.write(np.full((1, 40, 40), 7.0, dtype=np.float32))
        return [Path("level.tif")]

    monkeypatch.setattr(osm, "read_place", read_place)
    monkeypatch.setattr(copernicus, "rasters", rasters)
    assert run("build", "square", "--place", "Squareville", "--elevation", "copernicus")[0] == 0
    square = load_network("square")
    assert square.elevation_m.tolist() == pytest.approx([7.0] * square.n_junctions)
    assert square.source.attribution.startswith(
        "(c) OpenStreetMap contributors, ODbL 1.0; heights: Copernicus"
    )


def test_names_of_a_second_source_are_taken_by_geometry(run: Run) -> None:
    Path("named.osm").write_text(
        OSM.replace('k="highway"', 'k="name" v="Rue &lt;b>A"/><tag k="highway"')
    )
    status, out, _ = run("build", "square", "--osm", "square.osm", "--names", "named.osm")
    assert status == 0
    assert "street names from named.osm: 10 of 10 unnamed edges, " in out
    square = load_network("square")
    assert set(square.street) == {"Rue <b>A"}
    assert set(square.tables) - {"cch"} == {"names"}  # the order needs an extra
    status, _, err = run("build", "square", "--osm", "square.osm", "--names", "missing.osm")
    assert (status, len(err.splitlines()[-1:])) == (2, 1)
    assert "cannot read missing.osm" in err
    assert load_network("square").content_digest == square.content_digest


def test_a_published_network_is_fetched_and_built(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "lust.net.xml").write_text(NET)

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, directory=str(tmp_path / "served"), **kwargs)  # type: ignore[arg-type]

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        blob = fetch.git_blob(tmp_path / "served" / "lust.net.xml")
        url = f"http://127.0.0.1:{server.server_port}/lust.net.xml"
        entry = Published("luxembourg", url, blob, "somebody")
        monkeypatch.setattr(fetch, "published", lambda: {"luxembourg": entry})
        status, out, _ = run("fetch", "luxembourg")
        server.shutdown()
    assert status == 0
    assert "sumo: lust.net.xml" in out
    assert "somebody" in out
    fetched = load_network("luxembourg")
    assert fetched.edge_id == ("up", "down")
    assert "crossings" in fetched.tables


def test_an_export_can_be_drawn(run: Run) -> None:
    run("build", "square", "--osm", "square.osm")
    assert run("export", "square", "--to", "square.geojson")[0] == 0
    assert len(gpd.read_file("square.geojson")) == 10


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["build", "x", "--osm", "none.osm.pbf"], "cannot read none.osm.pbf: No such file"),
        (["build", "x", "--graphml", "square.osm"], "square.osm is not a graph that OSMnx saved"),
        (
            ["build", "x", "--osm", "square.osm", "--elevation", "none.tif"],
            "cannot read the raster none.tif",
        ),
        (
            ["fetch", "atlantis"],
            "no network 'atlantis' is published. There are: luxembourg, monaco",
        ),
        (["export", "denver", "--to", "denver.kml"], "'denver.kml' names no format to export"),
    ],
)
def test_impossible_requests_are_refused_in_one_line_with_status_2(
    run: Run, arguments: list[str], why: str
) -> None:
    status, _, err = run(*arguments)
    assert status == 2
    assert err.splitlines()[-1].startswith(f"evroute: {why}")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "x", "--osm", "square.osm", "--place", "Monaco"],
        ["export", "denver"],
    ],
)
def test_contradictory_or_missing_options_are_refused(run: Run, arguments: list[str]) -> None:
    status, _, err = run(*arguments)
    assert status == 2
    assert err.startswith("evroute: ")
    assert len(err.splitlines()) == 1
