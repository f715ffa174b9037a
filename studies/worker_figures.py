"""Requests a second of one and of two workers, and the CPU time of a large matrix by HTTP.

    python studies/worker_figures.py 400 --network luxembourg
    python studies/worker_figures.py matrix --network luxembourg

Four clients keep their connections and ask for plans between random edges, of services with one
and with two workers in turns. Printed are requests a second by the clock and with the clients' CPU
taken off, the CPU time of the service for a request, and the share of the busiest worker. The clock
says little on a machine that other work shares. The CPU time of a request says how far two workers
stand in each other's way. The matrix has 1,000 origins and 1,000 destinations, edges at random, as
an Arrow stream.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from time import perf_counter, process_time

import numpy as np
import psutil
from service_figures import asked

from evroute.network.catalog import load_network

CLIENTS = 4
ROUNDS = 4
CORES = 2
SEED = 39


@contextmanager
def service(workers: int) -> Iterator[tuple[str, list[psutil.Process]]]:
    """Yield the address of a service and its processes."""
    command = [sys.executable, "-m", "evroute", "serve", "--port", "0", "--workers", str(workers)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as process,
    ):
        address = process.stderr.readline().split("//")[1].strip()
        line = HTTPConnection(address, timeout=120)
        line.request("GET", "/healthz")
        line.getresponse().read()
        found = [psutil.Process(process.pid), *psutil.Process(process.pid).children()]
        yield address, found
        process.terminate()


def cpu_s(processes: list[psutil.Process]) -> list[float]:
    """Return the CPU time of each process, s."""
    return [sum(each.cpu_times()[:2]) for each in processes]


def rates(network: str, n_requests: int) -> None:
    """Print the figures of one and two workers in turns."""
    edges, rng = load_network(network).edge_id, np.random.default_rng(SEED)
    bodies = []
    while len(bodies) < n_requests:
        origin, destination = rng.choice(len(edges), 2, replace=False).tolist()
        ends = {"origin": edges[origin], "destination": edges[destination]}
        bodies.append(json.dumps({"network": network} | ends))
    shares = [each.tolist() for each in np.array_split(bodies, CLIENTS)]
    with service(1) as one, service(2) as two:
        measured: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
        for address, _ in (one, two):
            with ThreadPoolExecutor(8) as pool:  # all workers read the network
                list(pool.map(asked, [address] * 8, [bodies[:4]] * 8))
        for number in range(ROUNDS):
            for workers, (address, processes) in ((1, one), (2, two)):
                before, own = cpu_s(processes), process_time()
                began = perf_counter()
                with ThreadPoolExecutor(CLIENTS) as pool:
                    list(pool.map(asked, [address] * CLIENTS, shares))
                lasted_s, clients_s = perf_counter() - began, process_time() - own
                used = np.subtract(cpu_s(processes), before)
                free_s = lasted_s - clients_s / CORES
                row = (
                    n_requests / lasted_s,
                    n_requests / free_s,
                    1000 * used.sum() / n_requests,
                    used.max() / used.sum(),
                )
                measured[workers].append(row)
                print(
                    f"round {number}, {workers}: " + ", ".join(f"{x:.3g}" for x in row), flush=True
                )
    for workers, rows in measured.items():
        middle = np.median(rows, axis=0)
        print(
            f"{workers} workers: {middle[0]:.1f} a second, {middle[1]:.1f} without the clients' "
            f"CPU, {middle[2]:.1f} ms CPU a request, busiest {100 * middle[3]:.0f} %"
        )
    ratio = np.array(measured[2]) / np.array(measured[1])
    print("two against one, by rounds: " + ", ".join(f"{x:.2f}" for x in ratio[:, 1]))
    print("CPU of a request, two against one: " + ", ".join(f"{x:.2f}" for x in ratio[:, 2]))


def matrix(network: str) -> None:
    """Print the CPU time and the clock time of matrices between edges."""
    edges, rng = load_network(network).edge_id, np.random.default_rng(SEED)
    with service(1) as (address, processes):
        for n in (2, 1000, 1000, 1000):
            ends = [[edges[row] for row in rng.choice(len(edges), n, replace=False)] for _ in "od"]
            names = ("origins", "destinations")
            body = json.dumps({"network": network} | dict(zip(names, ends, strict=True)))
            before, began = cpu_s(processes), perf_counter()
            line = HTTPConnection(address, timeout=300)
            headers = {"content-type": "application/json"}
            headers |= {"accept": "application/vnd.apache.arrow.stream"}
            line.request("POST", "/v1/matrix", body, headers)
            answer = line.getresponse()
            size = len(answer.read())
            used_s = sum(cpu_s(processes)) - sum(before)
            print(
                f"{n} x {n}: status {answer.status}, {used_s:.2f} s of CPU, "
                f"{perf_counter() - began:.2f} s, {size / 1e6:.1f} MB",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", help="number of requests in each round, or matrix")
    parser.add_argument("--network", default="luxembourg")
    options = parser.parse_args()
    if options.what == "matrix":
        matrix(options.network)
    else:
        rates(options.network, int(options.what))
