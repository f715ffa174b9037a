"""Hostile rasters of heights."""

import warnings
from pathlib import Path

import numpy as np
import rasterio
from affine import Affine
from case import Command, kind, one
from numpy.random import Generator
from texts import graph


@kind
def raster(folder: Path, rng: Generator) -> Command:
    """Rasters that are huge, empty, placed nowhere, or hold no heights."""
    warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
    path = folder / "x.tif"
    side = one(rng, [10, 1_000, 20_000, 300_000])
    cell = 0.01 / side
    grids = [
        Affine(cell, 0, -0.003, 0, -cell, 0.005),
        Affine(cell, 0, -0.003, 0, -cell, 0.005),
        Affine(0, 0, 0, 0, 0, 0),
        Affine(np.nan, 0, 0, 0, -1, 0),
        Affine(1e-300, 0, 0, 0, -1e-300, 0),
        Affine(1e300, 0, -1e300, 0, -1e300, 1e300),
    ]
    tiled = {"tiled": True, "blockxsize": 256, "blockysize": 256} if rng.random() < 0.5 else {}
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=side,
        height=side,
        count=1,
        dtype=one(rng, ["float32", "uint8", "int16", "float64", "complex64"]),
        crs=one(rng, ["EPSG:4326", "EPSG:3857", "EPSG:4978", "EPSG:2056", None]),
        transform=one(rng, grids),
        compress="deflate",
        sparse_ok=True,
        nodata=one(rng, [None, 0, 255]),
        **tiled,
    ) as target:
        target.scales, target.offsets = (
            (one(rng, [1.0, np.nan, 1e308]),),
            (one(rng, [0.0, np.inf]),),
        )
        if side <= 1_000:
            target.write(rng.integers(0, 255, (1, side, side)).astype(target.dtypes[0]))
    content = path.read_bytes()
    if rng.random() < 0.3:
        path.write_bytes(content[: int(rng.integers(len(content)))])
    return Command(
        ["network", "build", "x", "--graphml", str(graph(folder)), "--elevation", str(path)]
    )
