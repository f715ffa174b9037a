"""A region of 250,000 edges (20,000 without ``--benchmark-enable``).

It consists of copies of Luxembourg's OpenStreetMap extract over synthetic hills.

Goals: loads in under 3 s, one search in under 100 ms, under 4 GB of memory in all. The build has
none; it is shown.
"""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine

from evroute.energy.longitudinal import energy_parts, potential_wh
from evroute.energy.vehicle import load_vehicle
from evroute.network import store
from evroute.network.line_graph import LineGraph
from evroute.network.sources import osm
from evroute.planning.searches.search import Search

EDGES, EDGES_IN_TESTS = 250_000, 20_000
TILE_EDGES = 5_784  # of the largest component of Luxembourg's extract
STEP_DEG = (0.25, 0.15)  # a tile's width and height, lon and lat
# What a user's process does: read, take the strongest component, give heights, store.
BUILD = """
import resource, sys
from pathlib import Path
from evroute.network import catalog, store
from evroute.network.sources import osm
folder = Path(sys.argv[1])
roads = osm.read(folder / "region.osm.pbf", "region")
network = catalog.build(roads, rasters=[folder / "hills.tif"])
store.save(network, folder / "region.npz")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
USE = """
import resource, sys
from pathlib import Path
from evroute.network import store
from evroute.network.line_graph import LineGraph
from evroute.planning.searches.search import Search
network = store.load(Path(sys.argv[1], "region.npz"))
Search(LineGraph.from_network(network)).route(network.time_s, 0, network.n_edges - 1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def write_region(source: Path, folder: Path, edges: int = EDGES) -> None:
    """Write ``region.osm.pbf``, joined tiles of an extract, and ``hills.tif``."""
    import osmium
    from osmium.osm.mutable import Node, Way

    tile = osm._extract(source)
    number = {node: k for k, node in enumerate(tile.lon_lat)}
    side = math.ceil(math.sqrt(edges / TILE_EDGES))
    gates = _gates(source, number)
    with osmium.SimpleWriter(str(folder / "region.osm.pbf"), overwrite=True) as writer:
        for k in range(side * side):
            east, north = k % side * STEP_DEG[0], k // side * STEP_DEG[1]
            for node, (lon, lat) in tile.lon_lat.items():
                writer.add_node(
                    Node(id=1 + k * len(number) + number[node], location=(lon + east, lat + north))
                )
        for k in range(side * side):
            first = 1 + k * len(number)
            for w, way in enumerate(tile.ways.values()):
                nodes = [first + number[n] for n in way.nodes if n in number]
                writer.add_way(Way(id=1 + k * len(tile.ways) + w, nodes=nodes, tags=way.tags))
        link = side * side * len(tile.ways)
        for k in range(side * side):
            neighbours = [k + 1] * (k % side < side - 1) + [k + side] * (k // side < side - 1)
            for other in neighbours:
                for gate in gates:
                    link += 1
                    ends = [1 + t * len(number) + gate for t in (k, other)]
                    writer.add_way(
                        Way(id=link, nodes=ends, tags={"highway": "secondary", "maxspeed": "90"})
                    )
    _write_hills(np.array(list(tile.lon_lat.values())), side, folder / "hills.tif")


def _gates(source: Path, number: dict[int, int]) -> list[int]:
    """Return a few nodes of the tile that lie in its strongest component."""
    network = osm.read(source, "tile").strongest_component()
    rows = np.linspace(0, network.n_junctions - 1, 4).astype(int)
    return [number[int(network.junction_id[row])] for row in rows]


def _write_hills(lon_lat: np.ndarray, side: int, path: Path) -> None:
    """Write a raster of hills of 100 m, a few kilometres apart, in cells of 3 arc-seconds."""
    west, north = lon_lat[:, 0].min() - 0.01, lon_lat[:, 1].max() + (side - 1) * STEP_DEG[1] + 0.01
    width = int((side * STEP_DEG[0] + 0.1) * 1200)
    height = int((side * STEP_DEG[1] + 0.1) * 1200)
    row, column = np.mgrid[:height, :width] / 1200
    heights = 300 + 100 * np.sin(2 * np.pi * column / 0.05) * np.sin(2 * np.pi * row / 0.04)
    shape = {"width": width, "height": height, "count": 1, "dtype": "float32"}
    grid = Affine(1 / 1200, 0, west, 0, -1 / 1200, north)
    with rasterio.open(
        path, "w", driver="GTiff", crs="EPSG:4326", transform=grid, tiled=True, **shape
    ) as raster:
        raster.write(heights.astype(np.float32), 1)


def in_own_process(code: str, folder: Path) -> int:
    """Run code on the region and return its peak memory, MB."""
    done = subprocess.run(
        [sys.executable, "-c", code, folder], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@pytest.fixture(scope="module")
def n_edges(request: pytest.FixtureRequest) -> int:
    return EDGES if request.config.getoption("benchmark_enable") else EDGES_IN_TESTS


@pytest.fixture(scope="module")
def region(data_dir: Path, tmp_path_factory: pytest.TempPathFactory, n_edges: int) -> Path:
    folder = tmp_path_factory.mktemp("region")
    write_region(data_dir / "luxembourg/lust.osm.gz", folder, n_edges)
    return folder


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.benchmark(group="region")
def test_build_a_region_from_its_extract(benchmark: Any, region: Path) -> None:
    """As a process of its own: from .osm.pbf and GeoTIFF to the stored network."""
    peak_mb = benchmark.pedantic(in_own_process, args=[BUILD, region], rounds=1)
    benchmark.extra_info["peak_mb"] = peak_mb
    print(f"\nbuild: peak {peak_mb} MB")


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.benchmark(group="region")
def test_load_a_region(benchmark: Any, region: Path, n_edges: int) -> None:
    """Goal: under 3 s."""
    if not (region / "region.npz").exists():
        in_own_process(BUILD, region)
    network = benchmark.pedantic(store.load, args=[region / "region.npz"], rounds=3)
    print(
        f"\n{network.n_edges:,} edges, {network.n_junctions:,} junctions, {len(network.turns):,} "
        "turns"
    )
    for note in network.source.notes:
        print(note)
    assert network.n_edges > n_edges


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.benchmark(group="region")
def test_search_a_region(benchmark: Any, region: Path) -> None:
    """Goal: under 100 ms with fresh weights, from one corner to the other."""
    if not (region / "region.npz").exists():
        in_own_process(BUILD, region)
    network, vehicle = store.load(region / "region.npz"), load_vehicle("reference")
    energy_wh = energy_parts(vehicle, network.length_m, network.climb_m, network.speed_mps).total_wh
    weights = np.maximum(0.0, energy_wh - potential_wh(vehicle, network.climb_m))
    search = Search(LineGraph.from_network(network))
    route = benchmark(search.route, weights, 0, network.n_edges - 1)
    peak_mb = in_own_process(USE, region)
    print(f"\n{len(route)} edges in the route; load and search: peak {peak_mb} MB")
    assert peak_mb < 4000
