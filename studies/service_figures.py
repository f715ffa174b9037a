"""Requests a second of the service on this machine, and its memory.

    python studies/service_figures.py 20000 --clients 4

Clients keep their connections and ask for plans between random edges of Denver. Printed are
requests a second, the median and the 99th percentile of the answers' times, errors, and the memory
of the service after each tenth of the requests.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter

import numpy as np

from evroute.network.catalog import load_network

PARTS = 10


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process, MB."""
    line = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line
    )
    return int(line.split()[1]) / 1024.0


def asked(address: str, bodies: list[str]) -> list[tuple[float, int]]:
    """Return seconds and status of each answer, over one connection."""
    line, found = HTTPConnection(address, timeout=60), []
    for body in bodies:
        began = perf_counter()
        line.request("POST", "/v1/plan", body, {"content-type": "application/json"})
        answer = line.getresponse()
        answer.read()
        found.append((perf_counter() - began, answer.status))
    line.close()
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", type=int)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    edges, rng = load_network("denver").edge_id, np.random.default_rng(0)
    bodies = []
    while len(bodies) < options.requests:
        origin, destination = rng.choice(len(edges), 2, replace=False).tolist()
        bodies.append(json.dumps({"origin": edges[origin], "destination": edges[destination]}))
    command = [sys.executable, "-m", "evroute", "serve", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as service,
    ):
        address = service.stderr.readline().split("//")[1].strip()
        asked(address, bodies[:20])
        answers: list[tuple[float, int]] = []
        began = perf_counter()
        for part in np.array_split(bodies, PARTS):
            with ThreadPoolExecutor(options.clients) as pool:
                shares = [each.tolist() for each in np.array_split(part, options.clients)]
                for found in pool.map(asked, [address] * options.clients, shares):
                    answers += found
            print(f"{len(answers)} requests, {resident_mb(service.pid):.0f} MB", flush=True)
        lasted_s = perf_counter() - began
        service.terminate()
    seconds = np.array([each for each, _ in answers])
    middle_ms, late_ms = 1000 * np.percentile(seconds, [50, 99])
    failed = sum(status >= 500 or status == 429 for _, status in answers)
    print(f"{len(answers) / lasted_s:.0f} a second, p50 {middle_ms:.0f} ms, p99 {late_ms:.0f} ms")
    print(f"{failed} errors, {sum(status == 422 for _, status in answers)} without a route")


if __name__ == "__main__":
    main()
