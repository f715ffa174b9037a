"""Heights from Copernicus GLO-30: public cloud-optimised GeoTIFFs of 1° by 1°, read by window.

Source: https://registry.opendata.aws/copernicus-dem, bucket ``copernicus-dem-30m``. No account
needed. It is a surface model: roofs and tree tops are included. Windows are stored as GeoTIFFs and
reused.
"""

import math
from pathlib import Path

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.files import replacing
from evroute.network.geo import rasterio, requests
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
    lon, lat = network.junction_lon_lat
    west, south = (math.floor(at.min() / MARGIN_DEG - 1) * MARGIN_DEG for at in (lon, lat))
    east, north = (math.ceil(at.max() / MARGIN_DEG + 1) * MARGIN_DEG for at in (lon, lat))
    bounds = round(west, 2), round(south, 2), round(east, 2), round(north, 2)
    tiles = [
        tile_name(row, column)
        for row in range(math.floor(bounds[1]), math.ceil(bounds[3]))
        for column in range(math.floor(bounds[0]), math.ceil(bounds[2]))
    ]
    found = [path for tile in tiles if (path := _read(tile, bounds, folder)) is not None]
    require(found, f"Copernicus GLO-30 has no heights where network '{network.name}' lies")
    return found


def tile_name(lat: int, lon: int) -> str:
    """Return the name of the tile whose south-west corner is at whole degrees ``lat``, ``lon``."""
    north, east = "N" if lat >= 0 else "S", "E" if lon >= 0 else "W"
    return f"Copernicus_DSM_COG_10_{north}{abs(lat):02d}_00_{east}{abs(lon):03d}_00_DEM"


def _read(tile: str, bounds: Bounds, folder: Path) -> Path | None:
    """Return the window of a tile as a file of ``folder``, None if the tile does not exist."""
    from affine import Affine

    path = folder / f"{tile}_{'_'.join(f'{value:.2f}' for value in bounds)}.tif"
    if path.is_file():
        return path
    url = f"{BASE_URL}/{tile}/{tile}.tif"
    try:
        answer = limits.within_time(
            lambda _: requests.head(url, timeout=_TIMEOUT_S), f"{url} does not answer"
        )
        if answer.status_code in _ABSENT:
            return None
        answer.raise_for_status()
        with (
            rasterio.Env(**_GDAL),
            rasterio.open(f"/vsicurl/{url}") as source,
            replacing(path) as temporary,
        ):
            window = (
                rasterio.windows.from_bounds(*bounds, source.transform)
                .round_offsets()
                .round_lengths(op="ceil")
            )
            window = window.intersection(rasterio.windows.Window(0, 0, source.width, source.height))
            written = {
                "driver": "GTiff",
                "width": window.width,
                "height": window.height,
                "transform": source.transform @ Affine.translation(window.col_off, window.row_off),
                "tiled": False,
            }
            with rasterio.open(temporary, "w", **source.profile | written) as target:
                target.write(source.read(window=window))
    except (requests.RequestException, rasterio.errors.RasterioError) as error:
        raise EvrouteError(
            f"the heights of Copernicus cannot be read from {url} ({type(error).__name__}). Check "
            "the internet "
            "connection, or give rasters of your own"
        ) from error
    return path
