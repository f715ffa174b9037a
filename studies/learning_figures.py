"""The figures of docs/figures/scale.md, "Plans after learned trips".

``python studies/learning_figures.py FOLDER [TRIPS]``: a region as `test_scale` makes it is built in
a folder, or used if it is there. Trips of 3 to 9 km are learned in turn by the default belief.
After each one a planner that follows the belief plans two requests. Columns: CPU milliseconds of
the learned trip, of the plan after it and of the next plan, and memory.

Run from another checkout it measures that version, whose planner is built anew after each trip:
``cd EARLIER && PYTHONPATH=. python CHECKOUT/studies/learning_figures.py FOLDER``.
"""

import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

EDGES = 280_088
SEED = 0
FOLLOWS = hasattr(Planner, "day")


def region(folder: Path) -> RoadNetwork:
    """Return the region of a folder, after building it if it is missing."""
    path = folder / "region.npz"
    if not path.exists():
        from test_scale import BUILD, write_region

        folder.mkdir(parents=True, exist_ok=True)
        source = Path(os.environ["EVROUTE_DATA_DIR"]) / "luxembourg/lust.osm.gz"
        write_region(source, folder, EDGES)
        subprocess.run([sys.executable, "-c", BUILD, str(folder)], check=True)
    return store.load(path)


def trips_on(network: RoadNetwork, physics: Planner, number: int) -> list[MeasuredTrip]:
    """Return trips over the fastest routes between places 3 to 9 km apart."""
    rng, middle_m, trips = np.random.default_rng(SEED), network.middle_m, []
    while len(trips) < number:
        first = int(rng.integers(network.n_edges))
        apart_m = np.hypot(*(middle_m - middle_m[first]).T)
        last = int(rng.choice(np.flatnonzero((apart_m > 3000.0) & (apart_m < 9000.0))))
        try:
            rows = physics.search.route(network.time_s, first, last).rows
        except NoRouteError:
            continue
        energy_wh = physics.mean_wh[rows] * rng.normal(1.1, 0.05, len(rows))
        travel_s = 1.3 * network.time_s[rows]
        trips.append(MeasuredTrip(str(len(trips)), rows, energy_wh, travel_s, None))
    return trips


def memory_mb() -> int:
    """Return the resident memory of this process, MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def main() -> None:
    """Print a row for each learned trip, then medians and worst."""
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    network, vehicle = region(Path(sys.argv[1])), load_vehicle("reference")
    belief = TripEnergies(Setting(network, vehicle))
    trips = trips_on(network, Planner(network, vehicle, physics="eq8"), number + 2)
    asked = [(int(trip.edge[0]), int(trip.edge[-1])) for trip in trips[number:]]
    planner, rows = Planner(network, vehicle, belief), []
    planner.plan(*asked[0])
    planner.plan(*asked[0], soc=60.0)
    print("| trip | learned, ms | plan after it, ms | next plan, ms | memory, MB |")
    print("| --- | --- | --- | --- | --- |")
    for trip in trips[:number]:
        marks = [process_time()]
        belief.learn(trip)
        marks.append(process_time())
        planner = planner if FOLLOWS else Planner(network, vehicle, belief)
        planner.plan(*asked[0])
        marks.append(process_time())
        planner.plan(*asked[1])
        marks.append(process_time())
        rows.append([*1e3 * np.diff(marks), memory_mb()])
        print(f"| {trip.trip} | {' | '.join(f'{each:.0f}' for each in rows[-1])} |", flush=True)
    for name, of in (("median", np.median), ("worst", np.max)):
        print(f"| {name} | {' | '.join(f'{each:.0f}' for each in of(rows, axis=0))} |")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
