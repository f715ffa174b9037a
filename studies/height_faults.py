"""Faults put into true rasters, and whether they are refused: ``docs/figures/networks.md``.

``EVROUTE_DATA_DIR`` names the folder with the cities. Prints a line for each network and fault: the
figure that refuses it, or how far junctions are off where it passes.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import rasterio

from evroute.errors import EvrouteError
from evroute.network import catalog
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, sumo_net

Cells = np.ndarray
DATA = Path(os.environ["EVROUTE_DATA_DIR"])
HOLE = -32768
NETWORKS = (
    ("monaco/most.net.xml.gz", "monaco/dem_n43e007_3arcsec.tif"),
    ("monaco/most.osm.gz", "monaco/dem_n43e007_3arcsec.tif"),
    ("monaco/monaco.osm.gz", "monaco/dem_n43e007_3arcsec.tif"),
    ("luxembourg/lust.net.xml.gz", "luxembourg/dem_luxembourg_30arcsec.tif"),
    ("luxembourg/lust.osm.gz", "luxembourg/dem_luxembourg_30arcsec.tif"),
)
RNG = np.random.default_rng(17)


def _scaled(cells: Cells, factor: float) -> Cells:
    return np.where(cells == HOLE, cells, cells * factor).astype("int16")


def _noisy(cells: Cells, std_m: float) -> Cells:
    return np.where(cells == HOLE, cells, cells + RNG.normal(0, std_m, cells.shape))


FAULTS: dict[str, Callable[[Cells], Cells]] = {
    "none": lambda cells: cells,
    "feet": lambda cells: _scaled(cells, 1 / 0.3048),
    "1 % of cells at 0": lambda cells: np.where(RNG.random(cells.shape) < 0.01, 0, cells),
    "5 % of cells at 0": lambda cells: np.where(RNG.random(cells.shape) < 0.05, 0, cells),
    "all cells at 0": lambda cells: 0 * cells,
    "8 bits, saturated": lambda cells: np.clip(cells, 0, 255).astype("uint8"),
    "8 bits, wrapped": lambda cells: cells.astype("uint8"),
    "random bytes": lambda cells: RNG.integers(0, 256, cells.shape).astype("uint8"),
    "noise of 10 m": lambda cells: _noisy(cells, 10),
    "noise of 20 m": lambda cells: _noisy(cells, 20),
    "20 cells too far south": lambda cells: np.roll(cells, 20, axis=0),
}


def edited(source: Path, target: Path, fault: Callable[[Cells], Cells]) -> Path:
    """Write a raster with a fault."""
    with rasterio.open(source) as opened:
        cells, profile = opened.read(1), opened.profile
    cells = fault(cells)
    cells = cells.astype("float32") if cells.dtype == np.float64 else cells
    nodata = None if cells.dtype == np.uint8 else profile["nodata"]
    with rasterio.open(target, "w", **(profile | {"dtype": cells.dtype, "nodata": nodata})) as out:
        out.write(cells, 1)
    return target


def outcome(network: RoadNetwork, rasters: list[Path], true_m: np.ndarray) -> str:
    """Return the reason of a refusal, or how far the heights are off."""
    try:
        built = catalog.build(network, rasters=rasters)
    except EvrouteError as error:
        reason = str(error).removeprefix("these heights cannot be true: ").split("; ")[0]
        return "refused: " + re.sub(r" \(true terrain.*", "", reason)
    off_m = built.elevation_m - true_m
    rms_m, most_m = np.sqrt(np.mean(off_m**2)), np.abs(off_m).max()
    return f"passes, off by {rms_m:.0f} m (rms), {most_m:.0f} m at most"


def cut_off(network: RoadNetwork, true: Path, place: Path, share: float) -> Iterator[str]:
    """Yield the outcome of rasters that end where a share of the junctions lies beyond, by side."""
    true_m = catalog.build(network, rasters=[true]).elevation_m
    lon, lat = network.junction_lon_lat
    with rasterio.open(true) as opened:
        a, b, c, d, e, f = tuple(~opened.transform)[:6]
    columns, rows = a * lon + b * lat + c, d * lon + e * lat + f
    for side, at in (("west", columns), ("east", -columns), ("north", rows), ("south", -rows)):
        end, axis = np.quantile(at, share), int(side in ("west", "east"))

        def without(cells: Cells, end: float = end, axis: int = axis, side: str = side) -> Cells:
            number = np.indices(cells.shape)[1 if axis else 0]
            beyond = number < end if side in ("west", "north") else number > -end
            return np.where(beyond, HOLE, cells)

        yield f"{side}: {outcome(network, [edited(true, place, without)], true_m)}"


def main() -> None:
    """Print the outcome of every fault."""
    with TemporaryDirectory() as place:
        for roads, heights in NETWORKS:
            read = sumo_net.read if ".net." in roads else osm.read
            network = read(DATA / roads, "true").strongest_component()
            true, bad = DATA / heights, Path(place, "bad.tif")
            true_m = catalog.build(network, rasters=[true]).elevation_m
            for name, fault in FAULTS.items():
                print(f"{roads}, {name}: {outcome(network, [edited(true, bad, fault)], true_m)}")
            lon, lat = network.junction_lon_lat
            with rasterio.open(true) as opened:
                row, column = opened.index(np.median(lon), np.quantile(lat, 0.92))
            row, column = int(row), int(opened.index(np.median(lon), np.median(lat))[1])

            def north(cells: Cells, row: int = row) -> Cells:
                return np.where(np.arange(len(cells))[:, None] < row, HOLE, cells)

            def west(cells: Cells, column: int = column) -> Cells:
                return np.where(np.arange(cells.shape[1]) < column, 0, cells)

            ends, zeros = edited(true, bad, north), edited(true, Path(place, "zeros.tif"), west)
            print(f"{roads}, ends at 92 %: {outcome(network, [ends], true_m)}")
            print(f"{roads}, west at 0: {outcome(network, [zeros], true_m)}")
            print(f"{roads}, west at 0, then a true one: {outcome(network, [zeros, true], true_m)}")
            higher = edited(true, bad, lambda cells: np.where(cells == HOLE, cells, cells + 50))
            print(f"{roads}, a second one 50 m higher: {outcome(network, [true, higher], true_m)}")
            for share in (0.0025, 0.005, 0.01, 0.02, 0.05):
                for side in cut_off(network, true, bad, share):
                    print(f"{roads}, {share:.2%} of the junctions beyond its end, {side}")
            if network.elevation_m.any():
                feet_m = network.elevation_m / 0.3048
                climb_m = np.abs(feet_m[network.head] - feet_m[network.tail])
                length_m = np.maximum(network.length_m, climb_m)
                feet = replace(network, elevation_m=feet_m, length_m=length_m)
                print(f"{roads}, own heights in feet: {outcome(feet, [], true_m)}")


if __name__ == "__main__":
    main()
