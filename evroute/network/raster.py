"""Heights at points from one raster file (GeoTIFF, HGT or any GDAL format), in any projection."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from evroute.arrays import BoolArray, FloatArray
from evroute.errors import MissingPackageError, NetworkFormatError

# Between the Dead Sea and Mount Everest, with room to spare; anything else is an unmarked hole.
LOWEST_M, HIGHEST_M = -500.0, 9000.0
_METRES = {"", "m", "metre", "metres", "meter", "meters"}


def heights_at(
    path: Path, crs: str, x_m: FloatArray, y_m: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the bilinear heights of k points, (k,) m, and a mask (k,) of points inside.

    Cell values belong to cell centres; within half a cell of the raster's border the nearest
    centres count. A height is nan if one of its cells holds no data, or a value that is no height
    on earth. Only the window around the points is read.

    Parameters
    ----------
    path
        The raster.
    crs
        Coordinate system of the points, in metres.
    x_m, y_m
        (k,) coordinates of the points, m.

    Raises
    ------
    MissingPackageError
        If rasterio is not installed.
    NetworkFormatError
        If the file is missing, not a raster, without a coordinate system, or with heights not in
        metres.
    """
    try:
        import rasterio
    except ImportError as error:
        raise MissingPackageError("rasterio", "geo") from error

    from pyproj.exceptions import ProjError

    heights_m = np.full(len(x_m), np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            dataset = rasterio.open(path)
        with dataset:
            column, row = _cell_positions(dataset, path, crs, x_m, y_m)
            inside = (
                (column >= 0) & (column <= dataset.width) & (row >= 0) & (row <= dataset.height)
            )
            if inside.any():
                heights_m[inside] = _bilinear(dataset, column[inside] - 0.5, row[inside] - 0.5)
    except (rasterio.errors.RasterioError, ProjError) as error:
        raise NetworkFormatError(f"cannot read the raster {path}: {error}") from error
    return heights_m, inside


def _cell_positions(
    dataset: Any, path: Path, crs: str, x_m: FloatArray, y_m: FloatArray
) -> tuple[FloatArray, ...]:
    """Return the points as fractional columns and rows from the raster's upper left corner."""
    from pyproj import Transformer

    if dataset.crs is None:
        raise NetworkFormatError(f"the raster {path} has no coordinate system")
    if (dataset.units[0] or "").lower() not in _METRES:
        raise NetworkFormatError(
            f"the heights of {path} are in '{dataset.units[0]}', not in metres"
        )
    to_raster = Transformer.from_crs(crs, dataset.crs.to_wkt(), always_xy=True)
    if dataset.transform.determinant == 0:
        raise NetworkFormatError(f"the raster {path} does not say where on the earth it lies")
    a, b, c, d, e, f = tuple(~dataset.transform)[:6]
    x, y = to_raster.transform(x_m, y_m)
    with np.errstate(invalid="ignore"):  # inf where a point has no place in the raster's projection
        return a * x + b * y + c, d * x + e * y + f


def _bilinear(dataset: Any, column: FloatArray, row: FloatArray) -> FloatArray:
    """Interpolate at (k,) positions counted from the centre of the first cell."""
    from rasterio.windows import Window

    column, row = np.clip(column, 0, dataset.width - 1), np.clip(row, 0, dataset.height - 1)
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    right, bottom = np.ceil(column).astype(int), np.ceil(row).astype(int)
    window = Window(
        left.min(), top.min(), right.max() - left.min() + 1, bottom.max() - top.min() + 1
    )
    cells = dataset.read(1, window=window, masked=True).astype(float).filled(np.nan)
    cells = cells * dataset.scales[0] + dataset.offsets[0]
    cells[(cells < LOWEST_M) | (cells > HIGHEST_M)] = np.nan
    across, down = column - left, row - top
    left, right, top, bottom = (
        left - window.col_off,
        right - window.col_off,
        top - window.row_off,
        bottom - window.row_off,
    )
    upper = cells[top, left] * (1 - across) + cells[top, right] * across
    lower = cells[bottom, left] * (1 - across) + cells[bottom, right] * across
    heights: FloatArray = upper * (1 - down) + lower * down
    return heights
