"""A city of one's own on the page: looked up, loaded beside the server, then planned on."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from shapely.geometry import box
from streamlit.testing.v1 import AppTest

from evroute.errors import EvrouteError
from evroute.network.catalog import keep, load_network
from evroute.network.city import City
from evroute.network.sources.osm import Area
from evroute.resources import app_path

PATIENCE_S = 600
CITY = City(Area("Denver", "Denver, Colorado", box(-105, 39, -104.9, 39.1)), 94.2, 1342)
OSM = """<osm version="0.6">
<node id="1" lat="49" lon="6"/><node id="2" lat="49" lon="6.005"/>
<node id="3" lat="49.005" lon="6.005"/>
<node id="9" lat="49.0001" lon="6.0025"><tag k="amenity" v="charging_station"/>
<tag k="name" v="Volt"/><tag k="socket:type2" v="2"/></node>
<way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way>
<way id="11"><nd ref="2"/><nd ref="3"/><tag k="highway" v="residential"/></way>
<way id="12"><nd ref="3"/><nd ref="1"/><tag k="highway" v="residential"/></way>
</osm>"""


def process(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True)


@pytest.mark.parametrize(
    ("code", "step", "error", "is_done"),
    [
        ("print(0); print(2); print('done')", 2, "", True),
        ("print(1); print('error no internet')", 1, "no internet", False),
        ("print(1); raise SystemExit(7)", 1, "loading ended with status 7", False),
    ],
)
def test_a_load_follows_its_process(code: str, step: int, error: str, is_done: bool) -> None:
    import cities

    load = cities.Load(process(code))
    load.follow()
    assert (load.step, load.error, load.is_done, load.is_over) == (step, error, is_done, True)


def test_the_process_prints_its_steps_and_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import city_worker

    def load(city: City, name: str, on_step: Any) -> Any:
        on_step(0)
        on_step(1)
        if city is CITY:
            return load_network("denver")
        raise EvrouteError("two\nlines")

    kept: list[str] = []
    monkeypatch.setattr(city_worker, "Thread", lambda **kwargs: process_that_waits)
    monkeypatch.setattr(city_worker.city, "load", load)
    monkeypatch.setattr(city_worker.city, "look_up", lambda place: CITY if place else None)
    monkeypatch.setattr(city_worker.catalog, "keep", lambda roads: kept.append(roads.name))
    city_worker.main("Denver", "mine")
    assert capsys.readouterr().out.split("\n") == ["0", "1", "done", ""]
    assert kept == ["denver"]
    city_worker.main("", "mine")
    assert capsys.readouterr().out.split("\n") == ["0", "1", "error two lines", ""]


class process_that_waits:  # noqa: N801
    """A thread that is not started."""

    @staticmethod
    def start() -> None: ...


def test_without_internet_a_load_ends_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import cities

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    command = [sys.executable, str(app_path("city_worker.py")), "Andorra", "andorra"]
    load = cities.Load(subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True))
    load.follow()
    assert re.match(r"OpenStreetMap's services .* 'Andorra' .*internet connection", load.error)


def test_a_city_is_looked_up_loaded_and_planned_on(
    monkeypatch: pytest.MonkeyPatch, asked: Any
) -> None:
    import cities

    begun: list[tuple[str, str]] = []

    def start(place: str, name: str) -> None:
        begun.append((place, name))
        cities._loads[name] = cities.Load(process("print('done')"), step=1)

    monkeypatch.setattr(cities, "look_up", lambda place: CITY)
    monkeypatch.setattr(cities, "start", start)
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S).run()
    page.text_input(key=cities.WRITTEN).set_value("Denver").run()
    assert not page.exception
    assert any("94 km², 1,342 roads" in each.value for each in page.markdown)
    assert begun == []
    page.button(key="city:load").click().run()
    assert begun == [("Denver", "denver-2")], "the name is taken"
    load = cities._loads["denver-2"]
    load.follow()
    roads = load_network("denver")
    keep(replace(roads, name="denver-2"))
    page.run()
    assert asked(page, "selectbox", "network").value == "denver-2"


def test_a_city_that_cannot_be_had_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import cities

    def look_up(place: str) -> City:
        raise EvrouteError(f"no service for '{place}'; go online, or give a file with --osm")

    monkeypatch.setattr(cities, "look_up", look_up)
    page = AppTest.from_file(str(app_path("views/advanced.py")), default_timeout=PATIENCE_S).run()
    page.text_input(key=cities.WRITTEN).set_value("Andorra").run()
    assert not page.exception
    (said,) = (each.value for each in page.error)
    assert said == "No service for 'Andorra'; go online, or bring your own roads."


def test_an_upload_takes_heights_and_stations_along(tmp_path: Path) -> None:
    import numpy as np
    import rasterio
    from affine import Affine
    from cache import read_upload

    from evroute.network.sources.chargers import stations

    grid = Affine(0.001, 0, 5.98, 0, -0.001, 49.02)
    shape = {"width": 50, "height": 40, "count": 1, "dtype": "float32"}
    plane = np.tile(np.arange(50, dtype=np.float32), (40, 1))
    with rasterio.open(
        tmp_path / "plane.tif", "w", driver="GTiff", crs="EPSG:4326", transform=grid, **shape
    ) as raster:
        raster.write(plane, 1)
    heights = "dem.tif", (tmp_path / "plane.tif").read_bytes()
    flat = read_upload("town.osm", OSM.encode())
    assert [each.name for each in stations(flat)] == ["Volt"], "of the same file"
    assert np.ptp(flat.elevation_m) == 0
    table = b"name,lat,lon,socket,kw\nOther,49.0001,6.0030,ccs,50\n"
    hilly = read_upload("town.osm", OSM.encode(), heights, ("my.csv", table))
    assert [each.name for each in stations(hilly)] == ["Other"]
    assert 3 < np.ptp(hilly.elevation_m) < 5.1, "5 m, smoothed"
    with pytest.raises(EvrouteError, match="a stored network has its heights"):
        read_upload("town.npz", b"", heights)
    program = (
        f"<VRTDataset rasterXSize='50' rasterYSize='40'><SRS>EPSG:4326</SRS><GeoTransform>5.98, "
        f"0.001, 0, 49.02, 0, -0.001</GeoTransform><VRTRasterBand dataType='Float32' band='1'>"
        f"<SimpleSource><SourceFilename>{tmp_path / 'plane.tif'}</SourceFilename></SimpleSource>"
        "</VRTRasterBand></VRTDataset>"
    )
    tile = np.tile(np.arange(1201, dtype=">i2"), (1201, 1))
    sloping = read_upload("town.osm", OSM.encode(), ("N49E006.SRTMGL3.hgt", tile.tobytes()))
    assert 3 < np.ptp(sloping.elevation_m) < 50
    with pytest.raises(EvrouteError, match="it is no GeoTIFF, HGT or ASCII grid"):
        read_upload("town.osm", OSM.encode(), ("dem.tif", program.encode()))
