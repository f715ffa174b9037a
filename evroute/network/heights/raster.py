"""Heights at points from one raster file (GeoTIFF, HGT or ASCII grid), in any projection.

Other formats of GDAL, such as VRT, can name addresses and files that GDAL then reads, and so can
files beside a raster and a tag of GeoTIFF. Nothing but the raster and the ``.prj`` of an ASCII grid
is read.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.errors import NetworkFormatError, require
from evroute.network.geo import pyproj, rasterio

# Between the Dead Sea and Mount Everest, with room to spare; anything else is an unmarked hole.
LOWEST_M, HIGHEST_M = -500.0, 9000.0
TILE_CELLS = 2048
"""Side of the squares in which a raster is read."""
AROUND_CELLS = 16
"""Read around the points, to compare the cells there with their neighbours."""
SHALLOWEST_PIT_M, PIT_SLOPE = 20.0, 0.1
"""Cells at 0 m are a pit if all around lie higher by this, and by this slope of a cell."""
M_PER_DEGREE = 111_320.0
_FORMATS = ("GTiff", "SRTMHGT", "AAIGrid")
"""Names of GDAL for the formats that are read."""
HGT_BYTES = 2 * 7201**2
"""Size of the largest HGT file, of half a second."""
_ALONE = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR", "GDAL_PAM_ENABLED": "NO"}
"""Options of GDAL by which masks, overviews and descriptions beside a raster are not opened."""
_METRES = {"", "m", "metre", "metres", "meter", "meters"}


@dataclass(frozen=True, slots=True, eq=False)
class RasterHeights:
    """Heights at k points from one raster, and a sign that they cannot be true.

    height_m: (k,) nan where there is none.  inside: (k,) whether a point lies in the raster.
    in_pit: (k,) whether a cell there is exactly 0, amid cells that are all much higher or all much
    lower.  cell_m: side of a cell, about.
    """

    height_m: FloatArray
    inside: BoolArray
    in_pit: BoolArray
    cell_m: float


def heights_at(path: Path, crs: str, x_m: FloatArray, y_m: FloatArray) -> RasterHeights:
    """Return the bilinear heights of k points, and a sign that they cannot be true.

    Cell values belong to cell centres. Within half a cell of the raster's border the nearest
    centres count. A height is nan if one of its cells holds no data, or a value that is no height
    on earth. Only windows around the points are read, tile by tile.

    Parameters
    ----------
    path
        The raster: a GeoTIFF, an HGT file of SRTM or an Arc/Info ASCII grid.
    crs
        Coordinate system of the points, in metres.
    x_m, y_m
        (k,) coordinates of the points, m.

    Raises
    ------
    MissingPackageError
        If rasterio is not installed.
    NetworkFormatError
        If the file is missing, not such a raster, without a coordinate system, with heights not in
        metres, or if it names other files.
    LimitError
        If a block of it is too large to be unpacked.
    """
    heights_m = np.full(len(x_m), np.nan)
    in_pit = np.zeros(len(x_m), dtype=bool)
    try:
        with ExitStack() as stack:
            stack.enter_context(rasterio.Env(**_ALONE))
            dataset = _opened(path, stack)
            column, row = _cell_positions(dataset, path, crs, x_m, y_m)
            inside = (
                (column >= 0) & (column <= dataset.width) & (row >= 0) & (row <= dataset.height)
            )
            if inside.any():
                block = f"the raster {path} has blocks of {{}} cells"
                limits.check("cells", math.prod(dataset.block_shapes[0]), block)
            for near in _tiles(column, row, inside):
                heights_m[near], in_pit[near] = _bilinear(
                    dataset, column[near] - 0.5, row[near] - 0.5
                )
            cell_m = _cell_m(dataset)
    except (
        rasterio.errors.RasterioError,
        rasterio.errors.CRSError,
        pyproj.exceptions.ProjError,
    ) as error:
        raise NetworkFormatError(f"cannot read the raster {path}: {error}") from error
    return RasterHeights(heights_m, inside, in_pit, cell_m)


def _opened(path: Path, stack: ExitStack) -> Any:
    """Return a raster that is open until the end of a stack, as a dataset of rasterio."""
    require(
        path.is_file(), f"cannot read the raster {path}: there is no such file", NetworkFormatError
    )
    errors = []
    for name in _FORMATS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
                dataset = stack.enter_context(_dataset(path, name, stack))
        except rasterio.errors.RasterioIOError as error:
            errors.append(error)
            continue
        require(
            not dataset.tags(ns="OVERVIEWS"),
            f"the raster {path} names other files for its overviews. Write it again without them",
            NetworkFormatError,
        )
        return dataset
    raise NetworkFormatError(
        f"cannot read the raster {path}: it is no GeoTIFF, HGT or ASCII grid ({errors[0]})"
    )


def _dataset(path: Path, name: str, stack: ExitStack) -> Any:
    """Return a raster as a dataset of rasterio, opened by one format of GDAL."""
    if name == "SRTMHGT":  # GDAL opens files beside it whatever its options are
        if ".hgt" not in path.name.lower() or path.stat().st_size > HGT_BYTES:
            raise rasterio.errors.RasterioIOError(f"{path.name} is no HGT file")
        memory = rasterio.io.MemoryFile(path.read_bytes(), filename=path.name)
        return stack.enter_context(memory).open(driver=name)
    return rasterio.open(path.absolute(), driver=name)


def _cell_positions(
    dataset: Any, path: Path, crs: str, x_m: FloatArray, y_m: FloatArray
) -> tuple[FloatArray, ...]:
    """Return the points as fractional columns and rows from the raster's upper left corner."""
    require(
        dataset.crs is not None, f"the raster {path} has no coordinate system", NetworkFormatError
    )
    require(
        (dataset.units[0] or "").lower() in _METRES,
        f"the heights of {path} are in '{dataset.units[0]}', not in metres",
        NetworkFormatError,
    )
    to_raster = pyproj.Transformer.from_crs(crs, dataset.crs.to_wkt(), always_xy=True)
    require(
        dataset.transform.determinant != 0,
        f"the raster {path} has no position on the earth",
        NetworkFormatError,
    )
    a, b, c, d, e, f = tuple(~dataset.transform)[:6]
    x, y = to_raster.transform(x_m, y_m)
    with np.errstate(invalid="ignore"):  # inf where a point has no place in the raster's projection
        return a * x + b * y + c, d * x + e * y + f


def _tiles(column: FloatArray, row: FloatArray, inside: BoolArray) -> Iterator[IntArray]:
    """Yield the points inside (k,), tile by tile, so that few cells are in memory at a time."""
    points = np.flatnonzero(inside)
    if len(points) == 0:
        return
    tile = (np.stack([column[points], row[points]]) // TILE_CELLS).astype(np.int64)
    _, tile_of = np.unique(tile, axis=1, return_inverse=True)
    order = np.argsort(tile_of, kind="stable")
    yield from np.split(points[order], np.flatnonzero(np.diff(tile_of[order])) + 1)


def _bilinear(dataset: Any, column: FloatArray, row: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return heights at (k,) positions from the first cell's centre, and which are in pits."""
    column, row = np.clip(column, 0, dataset.width - 1), np.clip(row, 0, dataset.height - 1)
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    right, bottom = np.ceil(column).astype(int), np.ceil(row).astype(int)
    cells, first_column, first_row = _cells(
        dataset, left.min(), top.min(), right.max(), bottom.max()
    )
    across, down = column - left, row - top
    left, right = left - first_column, right - first_column
    top, bottom = top - first_row, bottom - first_row
    upper = cells[top, left] * (1 - across) + cells[top, right] * across
    lower = cells[bottom, left] * (1 - across) + cells[bottom, right] * across
    corners = (top, left), (top, right), (bottom, left), (bottom, right)
    in_pit = _pits(cells, max(SHALLOWEST_PIT_M, PIT_SLOPE * _cell_m(dataset)))
    heights: FloatArray = upper * (1 - down) + lower * down
    return heights, np.any([in_pit[corner] for corner in corners], axis=0)


def _cells(
    dataset: Any, left: int, top: int, right: int, bottom: int
) -> tuple[FloatArray, int, int]:
    """Return the heights of a window and of cells around it, and the first column and row."""
    first_column, first_row = max(left - AROUND_CELLS, 0), max(top - AROUND_CELLS, 0)
    last_column = min(right + AROUND_CELLS, dataset.width - 1)
    last_row = min(bottom + AROUND_CELLS, dataset.height - 1)
    window = rasterio.windows.Window(
        first_column, first_row, last_column - first_column + 1, last_row - first_row + 1
    )
    values = dataset.read(1, window=window, masked=True)
    with np.errstate(over="ignore", invalid="ignore"):
        cells = values.astype(float).filled(np.nan) * dataset.scales[0] + dataset.offsets[0]
    cells[~((cells >= LOWEST_M) & (cells <= HIGHEST_M))] = np.nan
    return cells, first_column, first_row


def _pits(cells: FloatArray, depth_m: float) -> BoolArray:
    """Return which cells belong to a group at 0 m, ``depth_m`` below or above all around it."""
    zero: BoolArray = cells == 0
    if not zero.any() or zero.all():
        return np.zeros_like(zero)
    from scipy import ndimage

    group, n_groups = ndimage.label(zero, np.ones((3, 3)))
    groups = np.arange(1, n_groups + 1)
    around = ~zero & np.isfinite(cells)
    lowest = ndimage.minimum_filter(np.where(around, cells, np.inf), 3)
    highest = ndimage.maximum_filter(np.where(around, cells, -np.inf), 3)
    low = np.asarray(ndimage.minimum(lowest, group, groups))
    high = np.asarray(ndimage.maximum(highest, group, groups))
    return np.isin(group, groups[np.isfinite(low) & ((low > depth_m) | (high < -depth_m))])


def _cell_m(dataset: Any) -> float:
    """Return the height of a cell, m."""
    unit_m = M_PER_DEGREE if dataset.crs.is_geographic else dataset.crs.linear_units_factor[1]
    return float(np.hypot(dataset.transform.b, dataset.transform.e) * unit_m)
