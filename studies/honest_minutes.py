"""Minutes of plans on a belief against the minutes that the same routes take in its world.

    python studies/honest_minutes.py 34 100 0

Arguments: plans, trips learned before, seed of the worlds (0 for development, 1 to confirm).
In each world (`congestion`, `cold`) and network, independent normals under Thompson sampling learn
random trips of 1 to 4 km; then further trips are planned on the belief. Prints the ratio of minutes
in the plan to expected minutes in the world: median, and share within 0.8 to 1.25, of the fastest
route and of the recommended one; beside it the same with the speeds of the map.
``EVROUTE_DATA_DIR`` names the data folder.
"""

import sys
import tempfile
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.learning.belief import load_belief
from evroute.methods.setting import load_setting
from evroute.planning.planner import Planner
from evroute.worlds.demand.demand import load_demand

WORLDS, NETWORKS = ("congestion", "cold"), ("denver", "monaco", "luxembourg")
TRIP = "random 1-4 km"
KINDS = ("fastest", "recommended", "by the map")


def ratios(
    world: str, network: str, plans: int, horizon: int, seed: int, folder: Path
) -> list[list[float]]:
    """Return planned over driven minutes, (p, 3): fastest, recommended, and recommended by the map.

    Parameters
    ----------
    world, network
        Names.
    plans, horizon
        Plans to compare, and trips learned before.
    seed
        Seed of world and trips.
    folder
        Empty folder for the run.
    """
    method = {"model": "independent", "index": "ts"}
    made = Experiment(
        trips={network: [TRIP]}, methods=[method], horizon=horizon, seeds=seed + 1, world=world
    )
    simulate(made, folder)
    run = list(made.runs())[seed]
    setting = load_setting(run.network, run.vehicle, run.assumed)
    names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
    world_seeds, _, _, trip_seeds = SeedSequence(run.seed, spawn_key=names).spawn(6)[:4]
    trips = load_demand(run.trip, setting, trip_seeds)
    truth = run.world.build(setting, trips, world_seeds)
    planner = Planner(setting.network, load_vehicle("reference"), load_belief(folder, run.name))
    found: list[list[float]] = []
    for t in range(horizon + 1, horizon + 1 + plans):
        request = truth.observe(t)
        try:
            plan = planner.plan(request.origin, request.destination)
        except NoRouteError:
            continue
        driven_s = truth.travel_s(request)
        fastest, recommended = plan.routes["time"], plan.recommended_route
        rows = recommended.route.rows
        map_s = setting.network.time_s[rows].sum()
        found.append(
            [
                fastest.time_s / driven_s[fastest.route.rows].sum(),
                recommended.time_s / driven_s[rows].sum(),
                map_s / driven_s[rows].sum(),
            ]
        )
    return found


def line(named: str, values: np.ndarray) -> str:
    """Return a row of the table."""
    inside = (values >= 0.8) & (values <= 1.25)
    cells = [
        f"{median:.2f}, {100 * share:.0f} %"
        for median, share in zip(np.median(values, axis=0), inside.mean(axis=0), strict=True)
    ]
    return f"| {named} | {len(values)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    plans, horizon, seed = map(int, sys.argv[1:])
    print(f"| world, network | plans | {' | '.join(KINDS)} |\n| --- | --- | --- | --- | --- |")
    together = []
    for world in WORLDS:
        for network in NETWORKS:
            with tempfile.TemporaryDirectory() as folder:
                found = ratios(world, network, plans, horizon, seed, Path(folder) / "run")
            together.append(np.array(found))
            print(line(f"{world}, {network}", together[-1]), flush=True)
    print(line("all", np.concatenate(together)))
