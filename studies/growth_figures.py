"""Print time and memory of plans, refusals and ranges on a made network of any size.

``python studies/growth_figures.py SIDE``: a grid of SIDE times SIDE junctions 100 m apart on hills,
with a main road at every tenth street and no turning back: 708 gives 2,002,224 edges. Times
are CPU seconds. The network is written by a process of its own, so the peak memory is that of its
users.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from numpy.random import Generator, default_rng

import evroute
from evroute.errors import EvrouteError
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources.meeting_turns import meeting_turns

STREET_M = 100.0


def made(side: int) -> RoadNetwork:
    """Return the grid."""
    junction = np.arange(side * side)
    column, row = junction % side, junction // side
    west, south = junction[column < side - 1], junction[row < side - 1]
    tail = np.concatenate([west, west + 1, south, south + side])
    head = np.concatenate([west + 1, west, south + side, south])
    moved_m = default_rng(1).uniform(-20.0, 20.0, (2, side * side))
    x_m, y_m = STREET_M * column + moved_m[0], STREET_M * row + moved_m[1]
    height_m = 20.0 * np.sin(x_m / 2000.0) + 20.0 * np.cos(y_m / 1700.0)
    flat_m = np.hypot(x_m[tail] - x_m[head], y_m[tail] - y_m[head])
    main_row = (row[tail] == row[head]) & (row[tail] % 10 == 0)
    main_column = (column[tail] == column[head]) & (column[tail] % 10 == 0)
    n = len(tail)
    return RoadNetwork(
        name=f"grid{side}",
        edge_id=tuple(map(str, range(n))),
        tail=tail,
        head=head,
        length_m=np.hypot(flat_m, height_m[tail] - height_m[head]) + 0.01,
        speed_mps=np.where(main_row | main_column, 22.2, 13.9),
        structure=np.zeros(n, dtype=np.int64),
        street=("",) * n,
        road_class=("residential",) * n,
        turns=meeting_turns(tail, head),
        junction_id=tuple(f"j{each}" for each in junction),
        x_m=x_m,
        y_m=y_m,
        elevation_m=height_m,
        shape_start=np.arange(0, 2 * n + 1, 2),
        shape_x_m=np.column_stack([x_m[tail], x_m[head]]).ravel(),
        shape_y_m=np.column_stack([y_m[tail], y_m[head]]).ravel(),
        crs="EPSG:32632",
        source=Source("made"),
    )


def pair(network: RoadNetwork, km: float, rng: Generator) -> tuple[str, str]:
    """Return two edges so far apart."""
    edge = rng.integers(network.n_edges)
    at_x_m, at_y_m = network.x_m[network.tail], network.y_m[network.tail]
    apart_m = np.hypot(at_x_m - at_x_m[edge], at_y_m - at_y_m[edge])
    other = rng.choice(np.flatnonzero(abs(apart_m - 1000.0 * km) < 300.0))
    return network.edge_id[edge], network.edge_id[other]


def show(what: str, call: Callable[[], object]) -> None:
    """Print the CPU time of a call, its refusal if it is refused, and the peak memory so far."""
    start_s = process_time()
    try:
        call()
        answer = ""
    except EvrouteError as error:
        answer = str(error)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"| {what} | {process_time() - start_s:.2f} | {peak_mb} | {answer[:80]} |", flush=True)


def main(path: Path) -> None:
    """Print the table of a stored network."""
    print("| what | CPU s | peak MB | refusal |\n| --- | --- | --- | --- |")
    show("load", lambda: store.load(path))
    network = store.load(path)
    rng = default_rng(3)
    side_km = (network.x_m.max() - network.x_m.min()) / 1000.0
    for km in (each for each in (5, 5, 20, 20, 50, 50) if each < 0.7 * side_km):
        a, b = pair(network, km, rng)
        show(f"plan, {km} km", lambda a=a, b=b: evroute.plan(network, a, b))
        for soc in (30, 3):
            what = f"battery plan from {soc} %, {km} km"
            show(what, lambda a=a, b=b, soc=soc: evroute.plan(network, a, b, soc=soc))
    for soc in (20, 60):
        show(f"range from {soc} %", lambda soc=soc: evroute.reachable(network, a, soc=soc))


if __name__ == "__main__":
    if sys.argv[1] == "--use":
        main(Path(sys.argv[2]))
    elif sys.argv[1] == "--write":
        store.save(made(int(sys.argv[2])), Path(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            stored = f"{folder}/grid.npz"
            for how in (["--write", sys.argv[1], stored], ["--use", stored]):
                subprocess.run([sys.executable, __file__, *how], check=True)
