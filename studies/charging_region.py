"""CPU seconds of charging plans on a region with 200 stations, placed by `SEED`.

    python studies/charging_region.py lust.osm.gz FOLDER

Builds the region of `test_scale.write_region` in the folder. An electric car of 58 kWh starts with
8 to 15 % of its charge and keeps 5 %.
"""

import sys
import time
from pathlib import Path

import numpy as np
from test_scale import write_region

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network import catalog
from evroute.network.sources import osm
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner

SEED, STATIONS, PLANS = 20261122, 200, 40


def main(extract: Path, folder: Path) -> None:
    """Build the region and print the CPU seconds of its plans."""
    write_region(extract, folder)
    roads = osm.read(folder / "region.osm.pbf", "region")
    network = catalog.build(roads, rasters=[folder / "hills.tif"], checked=False)
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
    for _ in range(PLANS):
        origin, destination = rng.choice(network.n_edges, 2, replace=False).tolist()
        battery = Battery.of_percent(58, rng.uniform(8, 15), 5)
        begun = time.process_time()
        try:
            plan = planner.plan(origin, destination, battery=battery, charge=True)
        except NoRouteError as error:
            print(error)
            continue
        took_s, route = time.process_time() - begun, plan.recommended_route
        print(
            f"{len(route.stops)} stops, {route.length_m / 1000:.0f} km, {took_s:.2f} s", plan.proof
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
