"""The figures of docs/figures/scale.md, "Learning a long log": CPU time by the number of trips.

    python studies/learn_figures.py 1000 2000 4000 --model trips

Random trips of 2 to 10 km on Luxembourg, fastest routes; energies are eq. 8's with a factor of
10 % on each trip and noise on each edge. Each length is learned anew by `evroute.learn` in a fresh
process; then one more trip is added to the folder. ``EVROUTE_DATA_DIR`` names the data folder.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import evroute
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network

LENGTH_KM = (2.0, 10.0)


def log_of(n_trips: int, seed: int = 0) -> pd.DataFrame:
    """Return a log of trips by edges."""
    setting = Setting(load_network("luxembourg"), load_vehicle("reference"))
    network, rng, tables = setting.network, np.random.default_rng(seed), []
    prior_wh = setting.arms.prior_mean_wh
    while len(tables) < n_trips:
        tail, head = rng.integers(network.n_edges, size=2).tolist()
        try:
            rows = setting.search.route(network.time_s, tail, head).rows
        except evroute.errors.NoRouteError:
            continue
        if not LENGTH_KM[0] <= network.length_m[rows].sum() / 1000.0 <= LENGTH_KM[1]:
            continue
        noise_wh = 0.1 * np.abs(prior_wh[rows]) * rng.standard_normal(len(rows))
        energy_wh = prior_wh[rows] * rng.lognormal(0.0, 0.1) + noise_wh
        tables.append(
            pd.DataFrame(
                {
                    "trip": f"t{len(tables):05d}",
                    "edge": [network.edge_id[row] for row in rows],
                    "energy_wh": energy_wh,
                    "travel_s": 1.3 * network.time_s[rows],
                }
            )
        )
    return pd.concat(tables)


def learned(table: Path, folder: Path, model: str) -> None:
    """Learn a table into a folder, and print CPU seconds and peak memory of this process."""
    before = process_time()
    evroute.learn(table, out=folder, network="luxembourg", model=model)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(f"{process_time() - before:.2f} {peak_mb:.0f}")


def main() -> None:
    """Print a row for each length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trips", type=int, nargs="+")
    parser.add_argument("--model", default="trips")
    parser.add_argument("--in-folder", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_folder:
        learned(*options.in_folder, options.model)
        return
    log = log_of(max(options.trips) + 1)
    names = log.trip.unique()
    print("| trips | CPU, s | peak, MB | one more trip, CPU, s |\n| --- | --- | --- | --- |")
    for n in options.trips:
        with tempfile.TemporaryDirectory() as folder:
            cells = []
            for part in (names[:n], names[n : n + 1]):
                table = Path(folder) / "log.parquet"
                log[log.trip.isin(part)].to_parquet(table)
                again = [sys.executable, __file__, "1", "--model", options.model]
                ran = subprocess.run(
                    [*again, "--in-folder", str(table), f"{folder}/own"],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                cells.append(ran.stdout.split()[-2:])
        (cpu_s, peak_mb), (more_s, _) = cells
        print(f"| {n} | {cpu_s} | {peak_mb} | {more_s} |", flush=True)


if __name__ == "__main__":
    main()
