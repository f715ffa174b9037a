"""Print figures of terrain inside edges on Monaco; tables of docs/figures/terrain.md.

``EVROUTE_DATA_DIR=... python studies/terrain_figures.py [table ...]``; tables are
smoothing, ascent, routes, sources. The pairs are `N_PAIRS` draws with `SEED`.
"""

import os
import sys
from pathlib import Path

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.catalog import build, load_network
from evroute.network.heights import profile
from evroute.network.heights.profile import on_terrain, sampled
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net
from evroute.planning.planner import Planner

SEED, N_PAIRS = 21, 300
CARS = ("reference", "nissan-leaf-40", "tesla-model-3")
BATTERY_WH = 10_000.0
DATA = Path(os.environ["EVROUTE_DATA_DIR"], "monaco")
SRTM = [DATA / "dem_n43e007_3arcsec.tif"]


def pairs(network: RoadNetwork) -> np.ndarray:
    """Return origins and destinations, (`N_PAIRS`, 2), at least 1 km apart."""
    rng, drawn = np.random.default_rng(SEED), []
    while len(drawn) < N_PAIRS:
        a, b = (int(e) for e in rng.integers(network.n_edges, size=2))
        ends = network.head[a], network.tail[b]
        if np.hypot(*(np.diff(c[list(ends)])[0] for c in (network.x_m, network.y_m))) > 1000.0:
            drawn.append((a, b))
    return np.array(drawn)


def planner_of(network: RoadNetwork, car: str) -> Planner:
    """Return the planner of a car; with ``+`` behind its name by the physics of drivers."""
    physics = "driving" if car.endswith("+") else "eq8"
    return Planner(network, load_vehicle(car.removesuffix("+")), physics=physics)


def routes(network: RoadNetwork, car: str, ends: np.ndarray) -> list[FloatArray]:
    """Return the least-energy routes of pairs, network rows each."""
    planner = planner_of(network, car)
    found = []
    for origin, destination in ends.tolist():
        problem = planner.problem((origin, destination))
        try:
            found.append(problem.legs.route(problem.weights()).rows)
        except NoRouteError:
            found.append(np.empty(0, dtype=int))
    return found


def totals(network: RoadNetwork, car: str, driven: list[FloatArray]) -> FloatArray:
    """Return the energy of routes, Wh."""
    planner = planner_of(network, car)
    arms = [planner.space.arms_of_route(Route(tuple(rows))) for rows in driven]
    return np.array([planner.mean_wh[rows].sum() for rows in arms])


def spread(values: FloatArray, unit: str = "%") -> str:
    """Return median, 10th and 90th percentile and the greatest value, as text."""
    low, middle, high = np.percentile(values, [10, 50, 90])
    return (
        f"median {middle:.2f}, 10 to 90 %: {low:.2f} to {high:.2f}, worst {values.max():.2f} {unit}"
    )


def with_profile(
    network: RoadNetwork,
    read: RoadNetwork,
    rasters: list[Path],
    spacing_m: float,
    smoothing_m: float,
) -> RoadNetwork:
    """Return a network with profiles of the heights along its roads."""
    tables, _ = sampled(network, read, rasters, spacing_m=spacing_m, smoothing_m=smoothing_m)
    return network.with_tables(tables)


def smoothing(z: RoadNetwork, srtm: RoadNetwork, read: RoadNetwork) -> None:
    """Print by strength how far smoothed SRTM lies off the z of the shapes inside edges, m."""
    count = np.maximum(np.rint(z.length_m / 30.0).astype(int), 1)
    count[z.structure != 0] = 1
    edge = np.repeat(np.arange(z.n_edges), count + 1)
    first = np.concatenate([[0], np.cumsum(count + 1)])
    share = (np.arange(len(edge)) - first[edge]) / count[edge]
    inside = (share > 0) & (share < 1)
    step_m = (z.length_m / count)[edge]

    def apart(height_m: FloatArray) -> FloatArray:
        low_m, high_m = height_m[first[:-1]], height_m[first[1:] - 1]
        return height_m - (low_m[edge] + share * (high_m - low_m)[edge])

    of_srtm = apart(profile._of_rasters(z, SRTM, edge, share)[0])
    of_z = apart(profile._of_shapes(z, read, edge, share)[0])
    known = np.bincount(edge, ~np.isfinite(of_srtm + of_z), z.n_edges)[edge] == 0
    for low_m, high_m in ((60, 200), (200, 500), (500, 5000), (60, 5000)):
        length_m = z.length_m[edge]
        use = inside & known & (length_m >= low_m) & (length_m < high_m)
        off = [
            (
                s,
                np.sqrt(
                    np.mean(
                        (profile._smoothed(of_srtm, inside & known, step_m, s) - of_z)[use] ** 2
                    )
                ),
            )
            for s in (1, 30, 100, 300, 1000, 3000)
        ]
        straight = np.sqrt(np.mean(of_z[use] ** 2))
        print(
            f"{low_m}-{high_m} m, straight {straight:.2f};",
            ", ".join(f"{s}: {o:.2f}" for s, o in off),
        )


def ascent(z: RoadNetwork, srtm: RoadNetwork, read: RoadNetwork) -> None:
    """Print ascent per km, and the change of the routes' energies, by spacing and smoothing."""
    km, ends = z.length_m.sum() / 1000, pairs(z)
    for name, network, rasters in (("z", z, []), ("SRTM", srtm, SRTM)):
        flat = on_terrain(network, "edge")
        driven = {car: routes(network, car, ends) for car in CARS}
        usual = {car: totals(network, car, driven[car]) for car in CARS}
        print(f"{name}, one slope: {flat.ascent_m.sum() / km:.2f} m/km")
        for spacing_m in (10.0, 30.0, 60.0):
            for times in (0.5, 1.0, 2.0):
                other = with_profile(network, read, rasters, spacing_m, 30.0 * times)
                moved = []
                for car in CARS:
                    total = totals(other, car, driven[car])
                    each = 100 * np.abs(total / usual[car] - 1)[usual[car] > 100]
                    sums = 100 * (total.sum() / usual[car].sum() - 1)
                    moved.append(f"{car} {sums:+.2f} % in all, trips {spread(each)}")
                print(
                    f"{name}, {spacing_m:g} m, x{times:g}: {other.ascent_m.sum() / km:.2f} m/km; "
                    + "; ".join(moved)
                )


def compare(one: RoadNetwork, true: RoadNetwork, car: str, ends: np.ndarray) -> None:
    """Print what plans on one network miss on another that is taken as true."""
    old, new = routes(one, car, ends), routes(true, car, ends)
    told, taken, best = totals(one, car, old), totals(true, car, old), totals(true, car, new)
    changed = np.array([a.tolist() != b.tolist() for a, b in zip(old, new, strict=True)])
    regret = 100 * (taken - best) / np.maximum(best, 100.0)
    arrival = 100 * (taken - told) / BATTERY_WH
    more = 100 * (best.sum() / told.sum() - 1)
    print(
        f"{car}: energy {more:+.2f} % in all; charge on arrival, off by (points of 10 kWh) "
        f"{spread(arrival, 'points')}; "
        f"changed routes {changed.mean():.0%}; regret of the old route {spread(regret)}, "
        f"mean {regret.mean():.3f} %, above 1 %: {(regret > 1).mean():.1%}"
    )


def of_routes(z: RoadNetwork, srtm: RoadNetwork, read: RoadNetwork) -> None:
    """Print one slope against terrain, by heights and car."""
    for name, network in (("z", z), ("SRTM", srtm)):
        print(name)
        for car in (*CARS, "nissan-leaf-40+"):
            compare(on_terrain(network, "edge"), network, car, pairs(network))


def sources(z: RoadNetwork, srtm: RoadNetwork, read: RoadNetwork) -> None:
    """Print plans on SRTM, with one slope and with terrain, where the z of the roads is true."""
    for name, network in (("one slope", on_terrain(srtm, "edge")), ("terrain", srtm)):
        print(f"SRTM, {name}")
        for car in CARS:
            compare(network, z, car, pairs(z))


TABLES = {"smoothing": smoothing, "ascent": ascent, "routes": of_routes, "sources": sources}

if __name__ == "__main__":
    of_shapes = sumo_net.read(DATA / "most.net.xml.gz", "monaco", "junctions")
    networks = load_network("monaco"), build(of_shapes, rasters=SRTM)
    for table in sys.argv[1:] or TABLES:
        print(f"## {table}")
        TABLES[table](*networks, of_shapes)
