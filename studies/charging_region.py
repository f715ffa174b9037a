"""CPU seconds of charging plans on a region with 200 stations, placed by `SEED`.

    python studies/charging_region.py lust.osm.gz FOLDER

Builds the region of `test_scale.write_region` in the folder, or takes ``region.npz`` from there. An
electric car of 58 kWh starts with 8 to 15 % of its charge and keeps 5 %. Trips of 50 to 300 km
count.
"""

import sys
import time
from pathlib import Path

import numpy as np
from test_scale import write_region

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError, NotEnoughChargeError
from evroute.network import catalog, store
from evroute.network.sources import osm
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner

SEED, STATIONS, PLANS = 20261122, 200, 40


def main(extract: Path, folder: Path) -> None:
    """Build the region and print the CPU seconds of its plans."""
    stored = folder / "region.npz"
    if not stored.exists():
        write_region(extract, folder)
        roads = osm.read(folder / "region.osm.pbf", "region")
        store.save(catalog.build(roads, rasters=[folder / "hills.tif"], checked=False), stored)
    network = store.load(stored)
    rng = np.random.default_rng(SEED)
    drawn = rng.choice(network.n_edges, 2 * STATIONS, replace=False).tolist()
    edges = [edge for edge in drawn if "motorway" not in network.road_class[edge]][:STATIONS]
    lon, lat = (each[network.head[edges]] for each in network.junction_lon_lat)
    kw = rng.choice([11.0, 22.0, 50.0, 150.0], STATIONS)
    table = {
        "name": tuple(f"station {k}" for k in range(STATIONS)),
        **{"lon": lon, "lat": lat, "kw": kw},
        "socket": tuple("ac" if power < 30 else "ccs" for power in kw),
    }
    network = network.with_tables({"chargers": table})
    planner = Planner(network, load_vehicle("volkswagen-id-3-58"), physics="driving")
    print(f"{network.n_edges} edges, {len(planner.chargers)} sockets")
    took_s: dict[str, list[float]] = {"with stops": [], "without stops": [], "refused": []}
    while sum(map(len, took_s.values())) < PLANS:
        origin, destination = rng.choice(network.n_edges, 2, replace=False).tolist()
        battery = Battery.of_percent(58, rng.uniform(8, 15), 5)
        try:
            km = planner.plan(origin, destination).routes["time"].length_m / 1000
        except NoRouteError:
            continue
        if not 50 <= km <= 300:
            continue
        begun = time.process_time()
        try:
            plan = planner.plan(origin, destination, battery=battery, charge=True)
            stops = len(plan.recommended_route.stops)
            kind, words = "with stops" if stops else "without stops", plan.proof
        except NotEnoughChargeError as error:
            kind, words = "refused", str(error)
        took_s[kind].append(time.process_time() - begun)
        print(f"{km:.0f} km, {kind}, {took_s[kind][-1]:.2f} s: {words[:100]}", flush=True)
    for kind, times_s in took_s.items():
        if times_s:
            median_s, most_s = np.quantile(times_s, [0.5, 1.0])
            print(f"{len(times_s)} {kind}: median {median_s:.2f} s, worst {most_s:.2f} s of CPU")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
