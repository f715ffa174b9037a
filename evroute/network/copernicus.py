"""Heights from Copernicus GLO-30: public cloud-optimised GeoTIFFs of 1° by 1°, read by window.

Source: https://registry.opendata.aws/copernicus-dem, bucket ``copernicus-dem-30m``; no account
needed. It is a surface model: roofs and tree tops are included. Windows are stored as GeoTIFFs and
reused.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evroute.errors import EvrouteError, MissingPackageError
from evroute.files import replacing
from evroute.network.road_network import RoadNetwork

BASE_URL = "https://copernicus-dem-30m.s3.amazonaws.com"
ATTRIBUTION = (
    "heights: Copernicus DEM GLO-30, (c) DLR e.V. 2010-2014 and (c) Airbus Defence and Space GmbH "
    "2014-2018,"
    " provided under COPERNICUS by the European Union and ESA"
)
# Windows reach this far beyond the junctions and end on whole multiples of it, degrees; one cell is
# 0.0003 to 0.003.
MARGIN_DEG = 0.01
Bounds = tuple[float, float, float, float]
_TIMEOUT_S = 30
_ABSENT = {403, 404}
# GDAL: do not list the bucket, ask for nothing but the tile, and try again on hiccups.
_GDAL = {
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_HTTP_MAX_RETRY": 3,
    "GDAL_HTTP_TIMEOUT": _TIMEOUT_S,
}


def rasters(network: RoadNetwork, folder: Path) -> list[Path]:
    """Return GeoTIFFs with the heights around the junctions, downloaded into ``folder``.

    Tiles that Copernicus does not have (open sea) are left out.

    Raises
    ------
    MissingPackageError
        If rasterio is not installed.
    EvrouteError
        If the tiles cannot be reached, or no junction lies in a tile.
    """
    try:
        import rasterio  # noqa: F401
    except ImportError as error:
        raise MissingPackageError("rasterio", "geo") from error
    found = [
        path
        for tile, bounds in _windows(network)
        if (path := _read(tile, bounds, folder)) is not None
    ]
    if not found:
        raise EvrouteError(f"Copernicus GLO-30 has no heights where network '{network.name}' lies")
    return found


def tile_name(lat: int, lon: int) -> str:
    """Return the name of the tile whose south-west corner is at whole degrees ``lat``, ``lon``."""
    north, east = "N" if lat >= 0 else "S", "E" if lon >= 0 else "W"
    return f"Copernicus_DSM_COG_10_{north}{abs(lat):02d}_00_{east}{abs(lon):03d}_00_DEM"


def _windows(network: RoadNetwork) -> Iterator[tuple[str, Bounds]]:
    """Yield the name of each tile at or next to junctions, and the bounds to read, degrees."""
    lon, lat = network.junction_lon_lat
    south, west, north, east = (
        lat - MARGIN_DEG,
        lon - MARGIN_DEG,
        lat + MARGIN_DEG,
        lon + MARGIN_DEG,
    )
    for row in range(math.floor(south.min()), math.floor(north.max()) + 1):
        for column in range(math.floor(west.min()), math.floor(east.max()) + 1):
            near = (north >= row) & (south <= row + 1) & (east >= column) & (west <= column + 1)
            if near.any():
                low = (
                    np.floor(np.array([west[near].min(), south[near].min()]) / MARGIN_DEG)
                    * MARGIN_DEG
                )
                high = (
                    np.ceil(np.array([east[near].max(), north[near].max()]) / MARGIN_DEG)
                    * MARGIN_DEG
                )
                yield tile_name(row, column), (*low.tolist(), *high.tolist())


def _read(tile: str, bounds: Bounds, folder: Path) -> Path | None:
    """Return the window of a tile as a file of ``folder``, None if the tile does not exist."""
    import rasterio
    import requests

    path = folder / f"{tile}_{'_'.join(f'{value:.2f}' for value in bounds)}.tif"
    if path.is_file():
        return path
    url = f"{BASE_URL}/{tile}/{tile}.tif"
    try:
        answer = requests.head(url, timeout=_TIMEOUT_S)
        if answer.status_code in _ABSENT:
            return None
        answer.raise_for_status()
        with (
            rasterio.Env(**_GDAL),
            rasterio.open(f"/vsicurl/{url}") as source,
            replacing(path) as temporary,
        ):
            _copy(source, bounds, temporary)
    except (requests.RequestException, rasterio.errors.RasterioError) as error:
        raise EvrouteError(
            f"the heights of Copernicus cannot be read from {url} ({type(error).__name__}); check "
            "the internet "
            "connection, or give rasters of your own"
        ) from error
    return path


def _copy(source: Any, bounds: Bounds, path: Path) -> None:
    """Write the cells of an open raster that touch the bounds as a GeoTIFF."""
    import rasterio
    from affine import Affine
    from rasterio.windows import Window

    west, south, east, north = bounds
    grid = source.transform
    left, top = (
        max(math.floor((west - grid.c) / grid.a), 0),
        max(math.floor((north - grid.f) / grid.e), 0),
    )
    right = min(math.ceil((east - grid.c) / grid.a), source.width)
    bottom = min(math.ceil((south - grid.f) / grid.e), source.height)
    profile = source.profile | {
        "driver": "GTiff",
        "width": right - left,
        "height": bottom - top,
        "transform": Affine(
            grid.a, 0.0, grid.c + left * grid.a, 0.0, grid.e, grid.f + top * grid.e
        ),
        "tiled": False,
    }
    cells = source.read(window=Window(left, top, right - left, bottom - top))
    with rasterio.open(path, "w", **profile) as target:
        target.write(cells)
