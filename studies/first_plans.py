"""The figures of docs/how-to/serve.md, "Load": the first requests of a fresh service.

    python studies/first_plans.py denver luxembourg

For each network a service is started and asked once for each kind of request. Printed are the CPU
time and memory of the service when it says that it is ready, and the CPU time of each request.
"""

import http.client
import json
import subprocess
import sys
from contextlib import closing
from tempfile import TemporaryDirectory

import psutil

import evroute

KINDS = {
    "plan": ("plan", {}),
    "plan again": ("plan", {}),
    "plan with a battery": ("plan", {"soc": 60, "reserve": 10}),
    "plan refused": ("plan", {"soc": 0.1}),
    "alternatives": ("plan", {"alternatives": 3}),
    "plan within a risk": ("plan", {"soc": 40, "reserve": 5, "risk": 0.05}),
    "range": ("range", {"soc": 2}),
    "range within a risk": ("range", {"soc": 2, "risk": 0.05}),
    "range within a risk again": ("range", {"soc": 2, "risk": 0.05}),
}


def used_s(process: psutil.Process) -> float:
    """Return the CPU time of a process so far, s."""
    times = process.cpu_times()
    return float(times.user + times.system)


def post(port: int, path: str, body: object) -> None:
    """Send one request."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        headers = {"content-type": "application/json"}
        line.request("POST", path, json.dumps(body), headers)
        line.getresponse().read()


def first_requests(name: str, folder: str) -> None:
    """Print the figures of one network."""
    roads = evroute.load_network(name)
    ends = {"origin": roads.edge_id[roads.n_edges // 3], "destination": roads.edge_id[-1]}
    words = [sys.executable, "-m", "evroute", "serve", "--port", "0", "--beliefs", folder]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rsplit(":", 1)[1])
        service = psutil.Process(process.pid)
        memory_mb = service.memory_info().rss / 1e6
        print(f"{name}: ready after {used_s(service):.2f} s of CPU, {memory_mb:.0f} MB")
        for kind, (path, wishes) in KINDS.items():
            body = {"network": name, **ends, **wishes}
            if path == "range":
                del body["destination"]
            before_s = used_s(service)
            post(port, f"/v1/{path}", body)
            print(f"  {kind:26s} {1e3 * (used_s(service) - before_s):5.0f} ms")
        process.terminate()


if __name__ == "__main__":
    with TemporaryDirectory() as beliefs:
        for network in sys.argv[1:]:
            first_requests(network, beliefs)
