"""RouteE Compass against evroute on downtown Denver: the table of docs/comparison.md, printed.

    python studies/comparison_compass.py ask answers.json
    python studies/comparison_compass.py judge answers.json EDGES

``ask`` runs where ``nrel.routee.compass`` and ``tomlkit`` are installed (an environment of their
own): 1,000 random pairs of junctions of its own example, one thread, all weight on electric energy.
``judge`` runs where evroute is installed; EDGES is the example's ``edges-complete.csv.gz``, whose
path ``ask`` prints. Compass's routes are judged by eq. 8 of the reference vehicle, against
evroute's between the same first and last edge; routes over turns that evroute's network forbids are
left out and counted.
"""

import csv
import gzip
import json
import random
import sys
import time
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

N_PAIRS, N_SINGLE, SEED = 1000, 200, 0
RESERVE_PERCENT = 20
CAR = {"model_name": "2017_CHEVROLET_Bolt", "starting_soc_percent": 80}
WEIGHTS = {"weights": {"trip_distance": 0, "trip_time": 0, "trip_energy_electric": 1}}


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a zipped CSV table."""
    with gzip.open(path, "rt") as handle:
        return list(csv.DictReader(handle))


def ask(answers: Path) -> None:
    """Run Compass; write its answers, print its times and its answer to a bound on the charge."""
    compass, tomlkit = import_module("nrel.routee.compass"), import_module("tomlkit")
    root = Path(str(compass.__file__)).parent / "resources" / "downtown_denver_example"
    config_path = root / "osm_default_energy.toml"
    config = tomlkit.parse(config_path.read_text())
    config["plugin"]["output_plugins"][0]["route"] = "json"
    app = compass.CompassApp.from_dict(config, config_path, parallelism=1)
    vertices = rows_of(root / "vertices-compass.csv.gz")

    def request(origin: int, destination: int, **more: Any) -> dict[str, Any]:
        a, b = vertices[origin], vertices[destination]
        ends = {
            "origin_x": a["x"],
            "origin_y": a["y"],
            "destination_x": b["x"],
            "destination_y": b["y"],
        }
        return {**{key: float(value) for key, value in ends.items()}, **CAR, **WEIGHTS, **more}

    def single(asked: dict[str, Any]) -> dict[str, Any]:
        told = app.run(asked)
        answer: dict[str, Any] = told[0] if isinstance(told, list) else told
        return answer

    rng = random.Random(SEED)
    pairs = [(rng.randrange(len(vertices)), rng.randrange(len(vertices))) for _ in range(N_PAIRS)]
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    single(request(*pairs[0]))
    started = time.process_time()
    told = app.run([request(*pair) for pair in pairs])
    batch_ms = 1e3 * (time.process_time() - started) / len(pairs)
    alone = []
    for pair in pairs[:N_SINGLE]:
        started = time.perf_counter()
        single(request(*pair))
        alone.append(1e3 * (time.perf_counter() - started))
    answers.write_text(json.dumps(told))
    print(
        f"{sum('route' in each for each in told)} of {len(pairs)} answered; edges: "
        f"{root / 'edges-complete.csv.gz'}"
    )
    print(
        f"alone {sorted(alone)[len(alone) // 2]:.1f} ms (wall, median); in one batch "
        f"{batch_ms:.1f} ms (CPU)"
    )
    # a bound on the charge, and 0.3 % more at the start
    config["search"]["constraint"]["soc_lower_bound_percent"] = RESERVE_PERCENT
    app = compass.CompassApp.from_dict(config, config_path, parallelism=1)
    told = [
        single(request(*pair, starting_soc_percent=RESERVE_PERCENT + 0.3))
        for pair in pairs[:N_SINGLE]
    ]
    left = [100 * each["route"]["final_state"]["trip_soc"] for each in told if "route" in each]
    below = sum(percent < RESERVE_PERCENT for percent in left)
    print(
        f"charge to stay above {RESERVE_PERCENT} %: {len(left)} of {N_SINGLE} answered, {below} "
        "end below"
    )


def judge(answers: Path, edges: Path) -> None:
    """Print the eq. 8 excess of Compass's routes over evroute's, and the time of its plans."""
    import numpy as np

    from evroute.energy.vehicle import load_vehicle
    from evroute.methods.setting import Setting
    from evroute.network.catalog import load_network
    from evroute.planning.planner import Planner

    network, vehicle = load_network("denver"), load_vehicle("reference")
    eq8_wh = Setting(network, vehicle).arms.prior_mean_wh
    planner = Planner(network, vehicle, physics="eq8")
    names = (f"{e['src_vertex_uuid']},{e['dst_vertex_uuid']},{e['key']}" for e in rows_of(edges))
    row = [network.row_of.get(name) for name in names]
    told = [
        [row[x["edge_id"]] for x in r["route"]["path"]]
        for r in json.loads(answers.read_text())
        if "route" in r
    ]
    routes = [
        [e for e in route if e is not None]
        for route in told
        if len(route) > 1 and None not in route
    ]
    legal = set(map(tuple, network.turns.tolist()))
    driven = [route for route in routes if all(turn in legal for turn in pairwise(route))]
    origins, destinations = np.array([(route[0], route[-1]) for route in driven]).T
    least = planner.energies(origins, destinations)
    loss = np.array([eq8_wh[route].sum() for route in driven]) - least.energy_wh
    same = sum(route == least.edges(i).tolist() for i, route in enumerate(driven))
    wall = []
    for route in driven:
        started = time.perf_counter()
        planner.plan(route[0], route[-1])
        wall.append(1e3 * (time.perf_counter() - started))
    print(
        f"{len(told)} routes, {len(routes)} on shared edges, {len(routes) - len(driven)} over "
        "forbidden turns"
    )
    print(f"same route: {same} of {len(driven)}; evroute's mean {least.energy_wh.mean():.0f} Wh")
    print(f"loss: mean {loss.mean():.2f} Wh, median {np.median(loss):.2f}, worst {loss.max():.1f}")
    print(f"evroute, a plan of three routes: {np.median(wall):.1f} ms (wall, median)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"] and len(sys.argv) == 3:
        ask(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["judge"] and len(sys.argv) == 4:
        judge(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(__doc__)
