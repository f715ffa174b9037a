"""A run folder whose numbers are known by hand."""

from pathlib import Path

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.experiments.log import Log
from evroute.experiments.runs import Run, RunFolder
from evroute.files import replacing
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.worlds.world import load_world

TS = Method(model="exact", index="ts")
UCB = Method(model="independent", index="ucb")
REGRETS = {  # by method and world: regret of each of four trips, Wh
    (TS, 0): [40.0, 10.0, 0.0, 0.0],
    (TS, 1): [20.0, 0.0, 0.0, 0.0],
    (UCB, 0): [300.0, 200.0, 100.0, 0.0],
    (UCB, 1): [500.0, 300.0, 200.0, 0.0],
}
OVER, ROUND = [0, 1, 2, 5], [0, 3, 4, 5]  # the two ways of the toy network `hill`


@pytest.fixture
def run_folder(tmp_path: Path, hill: RoadNetwork) -> RunFolder:
    """Two methods in two worlds on trip T of the toy network: over the hill while regret is left,
    then round it.
    """
    path = tmp_path / "hill.npz"
    store.save(hill, path)
    folder = RunFolder(tmp_path / "runs")
    folder.open(
        {
            "configuration": {"horizon": 4, "note": "<script>alert('not to be run')</script>"},
            "networks": {str(path): hill.digest},
            "vehicle": Setting(hill, load_vehicle("reference")).vehicle_numbers,
            "regret": "what the route cost above the least",
            "versions": {"evroute": "0"},
        }
    )
    for (method, seed), regret_wh in REGRETS.items():
        run = Run(
            str(path),
            "T",
            method,
            "potential-rectified",
            seed,
            4,
            "reference",
            load_world("sampled-gp"),
        )
        with replacing(folder.belief_path(run.name)) as temporary:
            temporary.write_bytes(b"")
        folder.write(run, _log(np.array(regret_wh), beta=2.0 if method == UCB else np.nan))
    return folder


def _log(regret_wh: np.ndarray, beta: float) -> Log:
    t = np.arange(1, len(regret_wh) + 1)
    ways = [OVER if regret > 0 else ROUND for regret in regret_wh]
    return Log(
        rounds={
            "t": t,
            "vehicle": np.full(len(t), ""),
            "regret_wh": regret_wh,
            "cumulative_regret_wh": regret_wh.cumsum(),
            "energy_wh": 500 + regret_wh,
            "true_wh": 490 + regret_wh,
            "eq8_wh": np.full(len(t), 500.0),
            "rule_best_wh": np.full(len(t), 490.0),
            "best_wh": np.full(len(t), 490.0),
            "route_edges": np.full(len(t), 4),
            "distinct_edges": np.full(len(t), 6),
            "beta": np.full(len(t), beta),
        },
        routes={
            "t": np.repeat(t, 4),
            "edge": np.concatenate(ways),
            "observed_wh": np.full(4 * len(t), 125.0),
        },
        timings={
            "t": t,
            **{
                f"{part}_s": np.full(len(t), 0.001)
                for part in ("posterior", "index", "search", "update")
            },
        },
    )
