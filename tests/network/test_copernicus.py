"""Copernicus tiles are read by window from a server on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine

from evroute.errors import EvrouteError
from evroute.network.heights import copernicus, elevation
from evroute.network.road_network import RoadNetwork

CELLS = 1200  # a tile of 3 arc-seconds: GLO-30 has 3600


def tile_bytes(folder: Path, south: int, west: int) -> bytes:
    """Return a cloud-optimised tile whose height is 100 times the longitude plus the latitude."""
    step = 1 / CELLS
    lon = west + step * np.arange(CELLS)  # cell centres on whole multiples, as GLO-30 has them
    lat = south + 1 - step * np.arange(CELLS)
    heights = (100 * lon[None, :] + lat[:, None]).astype(np.float32)
    path = folder / f"{south}_{west}.tif"
    with rasterio.open(
        path,
        "w",
        driver="COG",
        width=CELLS,
        height=CELLS,
        count=1,
        dtype="float32",
        crs="EPSG:4326",
        transform=Affine(step, 0, west - step / 2, 0, -step, south + 1 + step / 2),
        blocksize=512,
        compress="deflate",
    ) as tile:
        tile.write(heights, 1)
    return path.read_bytes()


@pytest.fixture
def bucket(file_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(copernicus, "BASE_URL", file_server.url)
    for west in (5, 6):
        name = copernicus.tile_name(49, west)
        file_server.files[f"{name}/{name}.tif"] = tile_bytes(tmp_path, 49, west)
    return file_server


def crossing(read_osm: Callable[..., RoadNetwork], east: float, north: float) -> RoadNetwork:
    """A road of four junctions around (east, north), in thousandths of a degree from 6 E 49 N."""
    nodes = {
        1: (east - 4, north),
        2: (east - 1, north + 3),
        3: (east + 2, north + 5),
        4: (east + 5, north),
    }
    road = {"highway": "residential"}
    return read_osm(nodes, {10: ((1, 2), road), 11: ((2, 3), road), 12: ((3, 4), road)})


def test_tiles_are_named_by_their_south_west_corner() -> None:
    assert copernicus.tile_name(43, 7) == "Copernicus_DSM_COG_10_N43_00_E007_00_DEM"
    assert copernicus.tile_name(-34, -71) == "Copernicus_DSM_COG_10_S34_00_W071_00_DEM"


@pytest.mark.parametrize(
    "east", [500, 0]
)  # within one tile, and on both sides of the border of two
def test_heights_equal_the_tiles(
    read_osm: Callable[..., RoadNetwork], bucket: Any, tmp_path: Path, east: float
) -> None:
    network = crossing(read_osm, east, 500)
    rasters = copernicus.rasters(network, tmp_path / "kept")
    assert len(rasters) == (1 if east else 2)
    height_m, _, notes = elevation.sample(network, rasters)
    lon, lat = network.junction_lon_lat
    assert height_m == pytest.approx(100 * lon + lat, abs=1e-3)
    assert notes == ()
    whole = sum(len(body) for body in bucket.files.values())
    assert sum(path.stat().st_size for path in rasters) < whole / 50


def test_a_window_that_was_read_is_not_read_again(
    read_osm: Callable[..., RoadNetwork], bucket: Any, tmp_path: Path
) -> None:
    network = crossing(read_osm, 500, 500)
    first = copernicus.rasters(network, tmp_path / "kept")
    assert any(asked[2] for asked in bucket.asked), "read by range"
    bucket.asked.clear()
    assert copernicus.rasters(network, tmp_path / "kept") == first
    assert bucket.asked == []


def test_the_sea_has_no_tiles(
    read_osm: Callable[..., RoadNetwork], bucket: Any, tmp_path: Path
) -> None:
    coast = crossing(read_osm, 1000, 500)  # 7 E is open sea here
    assert len(copernicus.rasters(coast, tmp_path / "kept")) == 1
    with pytest.raises(EvrouteError, match="no heights where network 'case' lies"):
        copernicus.rasters(crossing(read_osm, 3500, 500), tmp_path / "kept")


def test_no_internet_is_told_in_one_line(
    read_osm: Callable[..., RoadNetwork], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copernicus, "BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(EvrouteError, match="Check the internet connection") as caught:
        copernicus.rasters(crossing(read_osm, 500, 500), tmp_path / "kept")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "kept").exists()


def test_a_tile_that_is_no_raster_is_told(
    read_osm: Callable[..., RoadNetwork], bucket: Any, tmp_path: Path
) -> None:
    name = copernicus.tile_name(49, 6)
    bucket.files[f"{name}/{name}.tif"] = b"an error page" * 100
    with pytest.raises(EvrouteError, match="cannot be read from"):
        copernicus.rasters(crossing(read_osm, 500, 500), tmp_path / "kept")
