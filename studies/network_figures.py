"""Print figures of networks: size, restrictions, inclines with and without smoothing, exactness.

``EVROUTE_DATA_DIR=... python studies/network_figures.py [REGION]``, where REGION is a
folder that ``test_scale.write_region`` filled.

That the search is exact is shown by a certificate rather than by a second search: with D the least
signed energy from one edge to every other, D[b] <= D[a] + E[b] must hold for every turn (a, b), and
with equality for one turn into every edge. The potential makes every shifted weight non-negative,
so no cycle gains energy and D is the optimum.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from evroute.energy.longitudinal import energy_parts, potential_wh
from evroute.energy.vehicle import load_vehicle
from evroute.network import catalog
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, sumo_net
from evroute.planning.searches.search import Search

ORIGINS = 5


def inclines(network: RoadNetwork, least_m: float = 0.0) -> str:
    """Return the 50th, 95th, 99th and 100th percentile of the inclines of edges, %, as text."""
    long = network.length_m >= least_m
    percent = 100 * np.abs(network.climb_m[long]) / network.length_m[long]
    return " ".join(f"{value:5.1f}" for value in np.percentile(percent, [50, 95, 99, 100]))


def worst_violation_wh(network: RoadNetwork) -> float:
    """Return the largest violation of the certificate, Wh; 0 up to rounding if optimal."""
    vehicle = load_vehicle("reference")
    energy_wh = energy_parts(vehicle, network.length_m, network.climb_m, network.speed_mps).total_wh
    potential = potential_wh(vehicle, network.climb_m)
    assert np.all(energy_wh >= potential)
    height_wh = potential_wh(vehicle, network.elevation_m)
    search = Search(LineGraph.from_network(network))
    before, after = network.turns.T
    worst = 0.0
    for origin in np.linspace(0, network.n_edges - 1, ORIGINS).astype(int):
        shifted = search.distances(np.maximum(0.0, energy_wh - potential), int(origin))
        signed = shifted + height_wh[network.head] - height_wh[network.tail[origin]]
        slack = signed[before] + energy_wh[after] - signed[after]
        best = np.full(network.n_edges, np.inf)
        np.minimum.at(best, after, slack)
        best[origin] = signed[origin] - energy_wh[origin]
        worst = max(worst, -slack.min(), float(np.abs(best).max()))
    return worst


def show(label: str, read: Callable[[], RoadNetwork], rasters: list[Path]) -> None:
    """Print size, time to read and inclines of a network, rough and smoothed."""
    start = time.process_time()
    raw = read()
    read_s = time.process_time() - start
    rough = catalog.build(raw, rasters=rasters, smoothing_m=0.0)
    start = time.process_time()
    smooth = catalog.build(raw, rasters=rasters)
    build_s = time.process_time() - start
    print(
        f"\n{label}: {smooth.n_edges:,} edges, {smooth.n_junctions:,} junctions, "
        f"{len(smooth.turns):,} turns, ",
        end="",
    )
    print(
        f"{smooth.length_m.sum() / 1000:.0f} km; CPU s: {read_s:.1f} to read, {build_s:.1f} for "
        "heights"
    )
    for name, network in (("raw", rough), ("smoothed 30 m", smooth)):
        print(
            f"  |incline| % p50 p95 p99 max, {name:13}: {inclines(network)}; edges >= 50 m: "
            f"{inclines(network, 50)}"
        )
    print(
        f"  search certificate broken by at most {worst_violation_wh(smooth):.1e} Wh from "
        f"{ORIGINS} origins"
    )
    for note in smooth.source.notes:
        print(f"  {note}")


def main() -> None:
    """Print a row for each network."""
    data = Path(os.environ["EVROUTE_DATA_DIR"])
    monaco, luxembourg = data / "monaco", data / "luxembourg"
    srtm = [monaco / "dem_n43e007_3arcsec.tif"]
    show("denver (stored, smoothed already)", lambda: catalog.load_network("denver"), [])
    show(
        "monaco, MoST with its own z",
        lambda: sumo_net.read(monaco / "most.net.xml.gz", "most", "junctions"),
        [],
    )
    show(
        "monaco, MoST + SRTM",
        lambda: sumo_net.read(monaco / "most.net.xml.gz", "most", "junctions"),
        srtm,
    )
    show("monaco, MoST's OSM + SRTM", lambda: osm.read(monaco / "most.osm.gz", "most"), srtm)
    show("monaco, OSM + SRTM", lambda: osm.read(monaco / "monaco.osm.gz", "monaco"), srtm)
    coarse = [luxembourg / "dem_luxembourg_30arcsec.tif"]
    show(
        "luxembourg, LuST",
        lambda: sumo_net.read(luxembourg / "lust.net.xml.gz", "lust", "junctions"),
        coarse,
    )
    show("luxembourg, OSM", lambda: osm.read(luxembourg / "lust.osm.gz", "lust"), coarse)
    if len(sys.argv) > 1:
        region = Path(sys.argv[1])
        show(
            "region", lambda: osm.read(region / "region.osm.pbf", "region"), [region / "hills.tif"]
        )


if __name__ == "__main__":
    main()
