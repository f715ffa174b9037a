"""Processor time of the dashboard's server for a plan: ``dashboard_cpu.py [NETWORK]``.

Prints the seconds of the first run of the page Plan and of the file of the roads, then median,
least and greatest of `PLANS` further plans between junctions drawn with `SEED`. Unlike durations
they hardly depend on the load. Last it prints the resident memory of the process, MB, at the end
and at most. Streamlit's test runner runs the page, after what a server does before its first
visitor.
"""

import os
import sys
import time
from importlib import import_module
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median

import numpy as np
from streamlit.testing.v1 import AppTest

from evroute.resources import app_path

PLANS, SEED = 20, 0
PATIENCE_S = 600


def main(network: str = "luxembourg") -> None:
    """Print the CPU seconds of runs of the page Plan."""
    sys.path.insert(0, str(app_path()))
    warm = import_module("warm")
    warm.load()
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.query_params["network"] = network
    print(f"first {cpu_s(page):.2f} s")
    files = import_module("own_routes").files_of(network)
    started = time.process_time()
    size = len(files.roads)
    print(f"roads {time.process_time() - started:.2f} s, {size / 1e6:.1f} MB")
    roads, rng = files.of, np.random.default_rng(SEED)
    lon, lat = roads.junction_lon_lat
    taken_s = []
    for _ in range(PLANS):
        ends = rng.choice(roads.head, 2, replace=False)
        page.session_state["kept_stops"] = [f"{lat[end]:.6f},{lon[end]:.6f}" for end in ends]
        page.session_state["kept_trip"] = ""
        taken_s.append(cpu_s(page))
    print(f"{PLANS} plans {median(taken_s):.2f} s ({min(taken_s):.2f} to {max(taken_s):.2f})")
    print(
        f"memory {resident_mb():.0f} MB, at most {getrusage(RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def resident_mb() -> float:
    """Return the resident memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_s(page: AppTest) -> float:
    """Run a page and return the processor time, s."""
    started = time.process_time()
    page.run()
    return time.process_time() - started


if __name__ == "__main__":
    main(*sys.argv[1:])
