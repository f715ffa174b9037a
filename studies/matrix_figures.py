"""The figures of docs/figures/scale.md, "A matrix of pairs".

    python studies/matrix_figures.py times    # 1,000 x 1,000 on Luxembourg
    python studies/matrix_figures.py single   # 1,024 pairs against single plans, each city
    python studies/matrix_figures.py memory NETWORK ORIGINS DESTINATIONS  # a folder of files

CPU time of one process. ``EVROUTE_DATA_DIR`` names the data folder.
"""

import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.energy.defaults import KINDS_OF_PHYSICS as PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.network.catalog import load_network
from evroute.network.coordinates import WGS84, transformer
from evroute.network.places.positions import positions
from evroute.network.road_network import RoadNetwork
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import energy_matrix
from evroute.planning.matrix_dataset import write_dataset, write_matrix
from evroute.planning.planner import Planner


def stops(
    network: RoadNetwork, rng: np.random.Generator, number: int, *, ids: bool, leaving: bool
) -> list[Stop]:
    """Return random stops, as edge ids or as coordinates of junctions."""
    inside = sorted(set(network.strongest_component().edge_id))
    found = []
    for edge in rng.choice(inside, size=number, replace=False).tolist():
        place = str(edge)
        if not ids:
            junction = network.head[network.row_of[place]]
            xy = network.x_m[junction], network.y_m[junction]
            lon, lat = transformer(network.crs, WGS84).transform(*xy)
            place = f"{lat:.6f},{lon:.6f}"
        found.append(Stop(place, place, positions(network, place, leaving=leaving)))
    return found


def times() -> None:
    """Print the times of matrices, and of as many scipy Dijkstras as there are origins."""
    network, rng = load_network("luxembourg"), np.random.default_rng(0)
    source, target = network.turns.T
    turns = csr_matrix((network.length_m[target], (source, target)), (network.n_edges,) * 2)
    for physics in PHYSICS:
        planner = Planner(network, load_vehicle("reference"), physics=physics)
        for ids in (True, False):
            a, b = (stops(network, rng, 1000, ids=ids, leaving=each) for each in (True, False))
            energy_matrix(planner, a[:2], b)
            start = process_time()
            dijkstra(turns, indices=[stop.positions[0].edge for stop in a[:200]])
            tree_s = (process_time() - start) / 200
            start = process_time()
            matrix = energy_matrix(planner, a, b)
            matrix_s = process_time() - start
            with TemporaryDirectory() as folder:
                start = process_time()
                write_matrix(Path(folder) / "matrix.parquet", matrix, a, b)
                write_s = process_time() - start
            places = "edge ids" if ids else "coordinates"
            print(
                f"| {physics} | {places} | {matrix_s:.2f} | {write_s:.2f} | "
                f"{matrix_s / 1000 / tree_s:.1f} |",
                flush=True,
            )


def single() -> None:
    """Compare matrices of 32 x 32 pairs with single plans."""
    for name in ("denver", "monaco", "luxembourg"):
        for physics in PHYSICS:
            network, rng = load_network(name), np.random.default_rng(1)
            planner = Planner(network, load_vehicle("reference"), physics=physics)
            a, b = (stops(network, rng, 32, ids=True, leaving=each) for each in (True, False))
            matrix, worst, compared = energy_matrix(planner, a, b), 0.0, 0
            for o, origin in enumerate(a):
                for d, destination in enumerate(b):
                    if [each.edge for each in origin.positions] != [
                        each.edge for each in destination.positions
                    ]:
                        least = planner.plan(origin.place, destination.place).routes["energy"]
                        worst = max(worst, abs(matrix[0, o, d] - least.energy_wh))
                        compared += 1
            print(f"{name}, {physics}: {compared} pairs, worst {worst:.1g} Wh", flush=True)


def memory(name: str, origins: int, destinations: int) -> None:
    """Print the memory, time and size of a matrix that is written as a folder."""
    network, rng = load_network(name), np.random.default_rng(0)
    planner = Planner(network)
    a = stops(network, rng, origins, ids=True, leaving=True)
    b = stops(network, rng, destinations, ids=True, leaving=False)
    # the memory of searches belongs to the loaded network
    planner.plan(a[0].place, b[0].place)
    before_mb, start = peak_mb(), process_time()
    with TemporaryDirectory() as folder:
        out = Path(folder, "pairs")

        def report(pairs: int) -> None:
            spent_s = process_time() - start
            print(f"{pairs:,} pairs, {spent_s:.0f} s, {peak_mb() - before_mb} MB more", flush=True)

        write_dataset(out, planner, a, b, report)
        size = sum(path.stat().st_size for path in out.iterdir())
    pairs = origins * destinations
    print(f"{network.n_edges:,} edges, {pairs:,} pairs: {process_time() - start:.0f} s of CPU")
    print(f"{size / pairs:.1f} B a pair; {before_mb} MB before, {peak_mb() - before_mb} MB more")


def peak_mb() -> int:
    """Return the peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    if sys.argv[1] == "memory":
        memory(sys.argv[2], *map(int, sys.argv[3:5]))
    else:
        {"times": times, "single": single}[sys.argv[1]]()
