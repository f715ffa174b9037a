"""A raster of heights is read alone: no address and no other file that it names is opened."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from evroute.cli import main
from evroute.errors import NetworkFormatError
from evroute.network.heights import raster

rasterio = pytest.importorskip("rasterio")

SECRET_M = 321.0
MIDDLE = np.array([500_002.0]), np.array([4_799_998.0])
VRT = """<VRTDataset rasterXSize="4" rasterYSize="4"><SRS>EPSG:32632</SRS>
<GeoTransform>500000, 1, 0, 4800000, 0, -1</GeoTransform>
<VRTRasterBand dataType="Float32" band="1"><SimpleSource><SourceFilename>{}</SourceFilename>
<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>"""
MASK = '<Metadata><MDI key="INTERNAL_MASK_FLAGS_1">2</MDI></Metadata>'
TILES = """<GDAL_WMS><Service name="TMS"><ServerUrl>{}</ServerUrl></Service><Projection>EPSG:32632
</Projection><DataWindow><UpperLeftX>500000</UpperLeftX><UpperLeftY>4800000</UpperLeftY>
<LowerRightX>500004</LowerRightX><LowerRightY>4799996</LowerRightY><SizeX>4</SizeX><SizeY>4</SizeY>
</DataWindow><BandsCount>1</BandsCount></GDAL_WMS>"""
OVERVIEWS = """<PAMDataset><Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">{}</MDI></Metadata>
</PAMDataset>"""


class Site:
    """A server that counts the requests."""

    def __init__(self) -> None:
        seen = self.seen = list[str]()

        class Counting(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_error(404)

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Counting)
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def remote(self, name: str) -> str:
        """Return an address as GDAL opens it."""
        return f"/vsicurl/http://127.0.0.1:{self.server.server_port}/{name}"


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.server.shutdown()
    found.server.server_close()


def write(path: Path, height_m: float, **tags: str) -> Path:
    """Write a GeoTIFF of four by four equal cells, with a tag for its overviews."""
    grid = rasterio.Affine(1.0, 0.0, 500_000.0, 0.0, -1.0, 4_800_000.0)
    shape = {"height": 4, "width": 4, "count": 1, "dtype": "float32"}
    kind = {"driver": "GTiff", "crs": "EPSG:32632", "transform": grid}
    with rasterio.open(path, "w", **kind, **shape) as target:
        target.write(np.full((4, 4), height_m), 1)
        if tags:
            target.update_tags(ns="OVERVIEWS", **tags)
    return path


def height_m(path: Path) -> float:
    return float(raster.heights_at(path, "EPSG:32632", *MIDDLE).height_m[0])


@pytest.mark.parametrize("text", [VRT, TILES])
def test_a_program_called_tif_asks_no_address(text: str, site: Site, tmp_path: Path) -> None:
    (tmp_path / "r.tif").write_text(text.format(site.remote("a.tif")))
    with pytest.raises(NetworkFormatError, match="no GeoTIFF, HGT or ASCII grid") as refused:
        height_m(tmp_path / "r.tif")
    assert "\n" not in str(refused.value)
    assert site.seen == []


@pytest.mark.parametrize("ending", ["tif", "hgt", "asc", "vrt"])
def test_a_program_reads_no_file_beside_it(ending: str, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.tif", SECRET_M)
    (tmp_path / f"r.{ending}").write_text(VRT.format(secret))
    with pytest.raises(NetworkFormatError, match="no GeoTIFF, HGT or ASCII grid"):
        height_m(tmp_path / f"r.{ending}")


@pytest.mark.parametrize("name", ["a.tif", "b.vrt"])
def test_an_address_is_no_file(name: str, site: Site) -> None:
    with pytest.raises(NetworkFormatError, match="there is no such file"):
        height_m(Path(site.remote(name)))
    assert site.seen == []


def test_a_tag_that_names_another_file_is_refused(site: Site, tmp_path: Path) -> None:
    path = write(tmp_path / "r.tif", 7.0, OVERVIEW_FILE=site.remote("o.tif"))
    with pytest.raises(NetworkFormatError, match="names other files for its overviews"):
        height_m(path)
    assert site.seen == []


def test_files_beside_a_raster_are_not_opened(site: Site, tmp_path: Path) -> None:
    grid = tmp_path / "g.asc"
    grid.write_text(
        "ncols 4\nnrows 4\nxllcorner 500000\nyllcorner 4799996\ncellsize 1\n" + "7 7 7 7\n" * 4
    )
    grid.with_suffix(".prj").write_text(rasterio.crs.CRS.from_epsg(32632).to_wkt())
    tile = tmp_path / "N43E009.hgt"
    np.full((1201, 1201), 7, dtype=">i2").tofile(tile)
    hidden = write(tmp_path / "hidden.tif", 0.0)
    for path in (write(tmp_path / "r.tif", 7.0), grid, tile):
        (tmp_path / f"{path.name}.msk").write_text(
            VRT.format(hidden).replace("<SRS>", MASK + "<SRS>")
        )
        (tmp_path / f"{path.name}.ovr").write_text(VRT.format(site.remote("ovr.tif")))
        (tmp_path / f"{path.name}.aux.xml").write_text(OVERVIEWS.format(site.remote("aux.tif")))
        assert height_m(path) == pytest.approx(7.0), path.name
    assert site.seen == []


def test_the_command_line_refuses_in_one_line(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "town.osm").write_text(
        '<osm version="0.6"><node id="1" lat="43.3" lon="9"/><node id="2" lat="43.3" lon="9.01"/>'
        '<way id="5"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>'
    )
    (tmp_path / "r.tif").write_text(VRT.format(site.remote("a.tif")))
    for heights in (str(tmp_path / "r.tif"), site.remote("b.tif")):
        command = ["evroute", "network", "build", "town", "--osm", str(tmp_path / "town.osm")]
        monkeypatch.setattr(sys, "argv", [*command, "--elevation", heights])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert [line for line in lines if "cannot read the raster" in line] == lines[-1:]
    assert site.seen == []
