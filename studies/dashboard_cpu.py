"""Processor time of the dashboard's server for a plan: ``dashboard_cpu.py [NETWORK]``.

Prints the seconds of the first run of the page Plan, and median, least and greatest of `PLANS`
further plans between junctions drawn with `SEED`. Unlike durations they hardly depend on the load.
"""

import sys
import time
from statistics import median

import numpy as np
from streamlit.testing.v1 import AppTest

from evroute.network.catalog import load_network
from evroute.resources import app_path

PLANS, SEED = 20, 0
PATIENCE_S = 600


def main(network: str = "luxembourg") -> None:
    """Print the CPU seconds of runs of the page Plan."""
    sys.path.insert(0, str(app_path()))
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.query_params["network"] = network
    print(f"first {cpu_s(page):.2f} s")
    roads, rng = load_network(network), np.random.default_rng(SEED)
    lon, lat = roads.junction_lon_lat
    taken_s = []
    for _ in range(PLANS):
        ends = rng.choice(roads.head, 2, replace=False)
        page.session_state["kept_stops"] = [f"{lat[end]:.6f},{lon[end]:.6f}" for end in ends]
        page.session_state["kept_trip"] = ""
        taken_s.append(cpu_s(page))
    print(f"{PLANS} plans {median(taken_s):.2f} s ({min(taken_s):.2f} to {max(taken_s):.2f})")


def cpu_s(page: AppTest) -> float:
    """Run a page and return the processor time, s."""
    started = time.process_time()
    page.run()
    return time.process_time() - started


if __name__ == "__main__":
    main(*sys.argv[1:])
