"""Attacks on a running service: the status, the bytes and the time of each answer.

    python tests/service/attacks.py
    python tests/service/attacks.py --requests 10000 --clients 4
    python tests/service/attacks.py --half-heads 1500

Each attack is sent to a service of its own on 127.0.0.1 while another client asks ``/healthz``
without pause. An attack succeeds if its answer has another status than expected, is an error of
more than 1 kB or of another type than `Problem`. ``--requests`` sends good and bad requests, mixed
by a seed, from several clients, and prints how often each status came and the latency of
``/healthz``. ``--quick`` leaves out attacks that last longer than a second. ``--half-heads 1500``
opens that many connections and sends half a head over each. Meanwhile it asks ``/healthz`` over new
connections, and prints how long the answers took.
"""

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import numpy as np

MOST_BYTES = 1000
ENDS = {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}
EDGES = [
    {"edge": "4677506041,176094626,0", "energy_wh": 10.0, "travel_s": 9.0},
]
TRIPS = {"belief": "attacked", "trips": [{"trip": "a", "edges": EDGES}]}
JSON = {"content-type": "application/json"}
MEGABYTE = 1_000_000
CLOSED = 0
"""Status of a connection that was closed without an answer."""

Answer = tuple[int, bytes]


@dataclass(frozen=True)
class Attack:
    """One request, or several at once, and the statuses that it may be answered with."""

    name: str
    send: Callable[[str], Answer]
    expected: tuple[int, ...] = (422,)
    slow: bool = False


def ask(
    address: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> Answer:
    """Return status and bytes of an answer; the status is `CLOSED` if there is none."""
    with closing(HTTPConnection(address, timeout=120)) as line:
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before all of it was read
            line.request(method, path, body, headers or JSON)
        try:
            answer = line.getresponse()
            return answer.status, answer.read()
        except (HTTPException, ConnectionError):
            return CLOSED, b""


def post(path: str, body: Any) -> Callable[[str], Answer]:
    """Return a request with a body of bytes, or of JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda address: ask(address, "POST", path, content)


def get(path: str, method: str = "GET", **headers: str) -> Callable[[str], Answer]:
    """Return a request without a body."""
    return lambda address: ask(address, method, path, headers=headers)


def place_of(address: str) -> tuple[str, int]:
    """Return host and port."""
    host, _, port = address.partition(":")
    return host, int(port)


def raw(*parts: bytes, pause_s: float = 0.0) -> Callable[[str], Answer]:
    """Return bytes that are sent as they are, with pauses between them."""

    def send(address: str) -> Answer:
        with socket.create_connection(place_of(address), timeout=120) as line:
            for part in parts:
                line.sendall(part)
                time.sleep(pause_s)
            received = b""
            with suppress(ConnectionResetError):
                while more := line.recv(65536):
                    received += more
        head, _, body = received.partition(b"\r\n\r\n")
        return (int(head.split()[1]), body) if head else (CLOSED, b"")

    return send


def with_number(field: str, digits: str) -> bytes:
    """Return a plan's body with a number that Python's JSON does not write."""
    return json.dumps(ENDS | {field: 0}).replace(": 0}", f": {digits}}}").encode()


def many_at_once(address: str) -> Answer:
    """Send 40 bodies of 15 MB at once; return the worst answer."""
    body = json.dumps({"origin": "a" * 15 * MEGABYTE}).encode()
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: ask(address, "POST", "/v1/plan", body), range(40)))
    return max(answers)


def trips_with(**fields: Any) -> Callable[[str], Answer]:
    """Return a trip with odd numbers."""
    edge = EDGES[0] | {name: fields.pop(name) for name in ("energy_wh", "travel_s") & fields.keys()}
    trip = {"trip": f"{fields}{edge}"[:200], "edges": [edge]} | fields
    return post("/v1/trips", TRIPS | {"trips": [trip]})


HEAD = b"POST /v1/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
TINY = (200, 409, 422)


def attacks() -> list[Attack]:
    """Return every attack."""
    plan, plans, trips = "/v1/plan", "/v1/plans", "/v1/trips"

    def wrong(n: int) -> bytes:
        return json.dumps({f"k{k}": 1 for k in range(n)}).encode()

    bad_edges = [{"edge": 1, "energy_wh": "x"}] * 20_000
    odd_trips = [{"trip": str(k), "edges": bad_edges[:100]} for k in range(900)]
    return [
        Attack("60,000 wrong keys", post(plan, wrong(60_000))),
        Attack("3.6 MB of wrong keys", post(plan, wrong(270_000))),
        Attack("12 MB of wrong keys", post(plan, wrong(850_000))),
        Attack(
            "90 wrong keys in 1,000 plans",
            post(plans, {"requests": [{f"k{k}": 1 for k in range(90)}] * 1000}),
            (200,),
        ),
        Attack("wrong keys of 1 MB", post(plan, {"k" * MEGABYTE: 1, "-" * MEGABYTE: 2})),
        Attack("60 conditions", post(plan, ENDS | {"conditions": {str(k): k for k in range(60)}})),
        Attack("15 MB of brackets", post(plan, b"[" * 15 * MEGABYTE), (413,)),
        Attack("100,000 brackets", post(plan, b'{"origin": ' + b"[" * 100_000)),
        Attack("15 MB of empty objects", post(plan, b"[" + b"{}," * 5 * MEGABYTE + b"{}]"), (413,)),
        Attack("15 MB of numbers", post(plan, {"origin": [1] * 5 * MEGABYTE}), (413,)),
        Attack("900,000 numbers", post(plan, ENDS | {"origin": [1] * 900_000})),
        Attack("a name of 15 MB", post(plan, ENDS | {"origin": "a" * 15 * MEGABYTE})),
        Attack("quotes of 15 MB", post(plan, b'"' * 15 * MEGABYTE)),
        Attack("backslashes of 15 MB", post(plan, b'{"origin": "' + b"\\" * 15 * MEGABYTE)),
        Attack("17 MB", post(plan, b" " * 17 * 2**20), (413, CLOSED)),
        Attack(
            "17 MB in parts",
            raw(
                HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
                *[b"100000\r\n" + b" " * 2**20 + b"\r\n"] * 17,
            ),
            (413,),
            slow=True,
        ),
        Attack("NaN", post(plan, with_number("soc", "NaN"))),
        Attack("Infinity", post(plan, with_number("soc", "Infinity"))),
        Attack("-Infinity", post(plan, with_number("price", "-Infinity"))),
        Attack("1e400", post(plan, with_number("soc", "1e400"))),
        Attack("1e400 in conditions", post(plan, with_number("conditions", '{"wind_mps": 1e400}'))),
        Attack("an integer of 4,000 digits", post(plan, with_number("soc", "1" * 4000))),
        Attack("an integer of 5,000 digits", post(plan, with_number("soc", "1" * 5000))),
        Attack(
            "4,000 digits for a whole number", post(plan, with_number("alternatives", "1" * 4000))
        ),
        Attack("half a surrogate pair", post(plan, b'{"origin": "\\ud800", "destination": "a"}')),
        Attack("half a surrogate pair as a key", post(plan, b'{"\\udfff": 1}')),
        Attack("no UTF-8", post(plan, b'{"origin": "\xff"}')),
        Attack("a byte order mark", post(plan, b"\xef\xbb\xbf{}")),
        Attack("NUL", post(plan, b"\x00")),
        Attack("no body", post(plan, b"")),
        Attack("a list", post(plan, b"[]")),
        Attack("null", post(plan, b"null")),
        Attack("control and bidi characters", post(plan, ENDS | {"origin": "\x9b\u202e\x00"})),
        Attack("a price of 1e308", post(plan, ENDS | {"price": 1e308, "time_value": 1e308})),
        Attack("a price of -1", post(plan, ENDS | {"price": -1})),
        Attack("extra time of 1e308", post(plan, ENDS | {"max_extra_time": 1e308}), (200, 422)),
        Attack("a risk of 5e-324", post(plan, ENDS | {"soc": 40, "risk": 5e-324}), (200, 422)),
        Attack(
            "a departure of 1e308 s",
            post(plan, ENDS | {"conditions": {"departed_s": 1e308}}),
            (200,),
        ),
        Attack("a clock in other digits", post(plan, ENDS | {"depart": "٠٨:١٥"})),
        Attack("26 places on the way", post(plan, ENDS | {"via": ["a"] * 26})),
        *(
            Attack(f"the place {place}", post(plan, ENDS | {"origin": place}))
            for place in ("nan,nan", "inf,inf", "1e400,0", "1e308,-1e308", "0x1,1", ",", "١,٢")
        ),
        Attack("a network of 10,000 letters", post(plan, ENDS | {"network": "a" * 10_000})),
        Attack("a network of 64 letters", post(plan, ENDS | {"network": "a" * 64})),
        Attack("a network with a path", post(plan, ENDS | {"network": "../denver"})),
        Attack("a belief with a path", post(plan, ENDS | {"belief": ".."})),
        Attack("GET of the parent folder", get("/v1/beliefs/..")),
        Attack("GET of the parent folder, coded", get("/v1/beliefs/%2e%2e")),
        Attack("GET of a path, coded", get("/v1/beliefs/..%2f.."), (404,)),
        Attack("GET of NUL", get("/v1/beliefs/a%00")),
        Attack("GET of a line end", get("/v1/beliefs/a%0a")),
        Attack("GET of 5,000 letters", get("/v1/beliefs/" + "a" * 5000)),
        Attack("GET of a missing belief", get("/v1/beliefs/nobody"), (404,)),
        Attack("a query of 50 kB", get("/v1/needed?from=" + "a" * 50_000 + "&to=b")),
        Attack("a query of NaN", get("/v1/needed?from=a&to=b&p=nan&reserve=inf")),
        Attack(
            "a query of wrong keys", get("/v1/needed?" + "&".join(f"k{k}=1" for k in range(999)))
        ),
        Attack("an unknown path", get("/v1/" + "x" * 9000), (404,)),
        Attack("DELETE", get("/v1/plan", "DELETE"), (405,)),
        Attack(
            "no content type", lambda address: ask(address, "POST", plan, b"{}", {"a": "b"}), (415,)
        ),
        Attack(
            "a form",
            lambda address: ask(
                address, "POST", plan, b"{}", {"content-type": "text/plain" + "é" * 50}
            ),
            (415,),
        ),
        Attack(
            "a length beside chunks",
            raw(
                HEAD
                + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            ),
            (400,),
        ),
        Attack("a foreign host", get("/v1/networks", host="evil.example"), (400,)),
        Attack("a foreign host's subdomain", get("/healthz", host="127.0.0.1.evil"), (400,)),
        Attack("a negative length", raw(HEAD + b"Content-Length: -1\r\n\r\n"), (400,)),
        Attack(
            "a length of 10,000 digits",
            raw(HEAD + b"Content-Length: " + b"9" * 10_000 + b"\r\n\r\n"),
            (400, 413),
        ),
        Attack("1,001 plans", post(plans, {"requests": [ENDS] * 1001})),
        Attack("90,000 wrong edges", post(trips, TRIPS | {"trips": odd_trips})),
        Attack("a trip of no edge", post(trips, TRIPS | {"trips": [{"trip": "b", "edges": []}]})),
        Attack(
            "an id with a line end",
            post(trips, TRIPS | {"trips": [{"trip": "=1\n\x9b", "edges": EDGES}]}),
            TINY,
        ),
        *(
            Attack(f"a trip of {field} {value:g}", trips_with(**{field: value}), TINY)
            for field in (
                "departed_s",
                "energy_wh",
                "travel_s",
                "temperature_c",
                "payload_kg",
                "auxiliary_w",
                "soc_percent",
            )
            for value in (-60.0, 0.0, 1e150, 1.7e308, 5e-324)
        ),
        Attack(
            "trips after these",
            post(
                trips,
                TRIPS
                | {
                    "trips": [
                        {
                            "trip": "good",
                            "edges": [{"edge": "4677506041,176094626,0", "energy_wh": 10.0}],
                        }
                    ]
                },
            ),
            TINY,
        ),
        Attack("a plan on their belief", post(plan, ENDS | {"belief": "attacked"}), (200,)),
        Attack(
            "a body that never comes", raw(HEAD + b"Content-Length: 10\r\n\r\n{"), (408,), slow=True
        ),
        Attack("40 bodies of 15 MB at once", many_at_once, (429, 422), slow=True),
    ]


@contextmanager
def running() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield address and process of a new service."""
    command = [sys.executable, "-m", "evroute", "serve", "--port", "0"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as service,
    ):
        assert service.stderr is not None
        yield service.stderr.readline().split("//")[1].strip(), service
        service.terminate()
        print(service.stderr.read(), file=sys.stderr, end="")


class Watch:
    """A client that asks ``/healthz`` without pause, and the seconds of its answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.seconds: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with closing(HTTPConnection(self.address, timeout=120)) as line:
            while not self._over.is_set():
                began = time.perf_counter()
                line.request("GET", "/healthz")
                line.getresponse().read()
                self.seconds.append(time.perf_counter() - began)
                time.sleep(0.02)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def fault(attack: Attack, status: int, content: bytes) -> str:
    """Return the way in which an attack succeeded; empty if it did not."""
    if status not in attack.expected:
        return f"expected {attack.expected}"
    if status < 400:
        return ""
    if len(content) > MOST_BYTES:
        return f"an error of {len(content):,} bytes"
    if content.startswith(b"Invalid HTTP request"):
        return ""  # by the server, which reads the request line and the headers
    document = json.loads(content)
    if not isinstance(document.get("detail"), str) or set(document) - {"detail", "start_percent"}:
        return f"of another type: {content[:80]!r}"
    steering = [sign for sign in document["detail"] if not sign.isprintable()]
    return f"signs that steer a terminal: {steering}" if steering else ""


def peak_mb(pid: int) -> float:
    """Return the greatest resident memory of a process, MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def one_by_one(quick: bool) -> int:
    """Send every attack; return how many succeeded."""
    succeeded = 0
    with running() as (address, service):
        ask(address, "POST", "/v1/plan", json.dumps(ENDS).encode())
        print(f"{'attack':36}{'status':>7}{'bytes':>9}{'s':>7}{'healthz s':>11}{'MB':>7}")
        for attack in attacks():
            if attack.slow and quick:
                continue
            with Watch(address) as watch:
                began = time.perf_counter()
                status, content = attack.send(address)
                seconds = time.perf_counter() - began
            worst = max(watch.seconds, default=0.0)
            found = fault(attack, status, content)
            succeeded += bool(found)
            print(
                f"{attack.name:36}{status:7}{len(content):9,}{seconds:7.2f}{worst:11.3f}"
                f"{peak_mb(service.pid):7.0f}{'  ' * bool(found)}{found}",
                flush=True,
            )
        status, _ = ask(address, "POST", "/v1/plan", json.dumps(ENDS).encode())
        succeeded += status != 200
    print(f"{succeeded} attacks succeeded")
    return succeeded


def mixed(n: int, clients: int, seed: int) -> int:
    """Send good and bad requests in equal numbers; return the number of answers of status 500."""
    from evroute.network.catalog import load_network

    edges, rng = load_network("denver").edge_id, np.random.default_rng(seed)
    bad = [attack.send for attack in attacks() if not attack.slow]

    def good(number: int) -> Callable[[str], Answer]:
        ends = [edges[k] for k in rng.choice(len(edges), 2, replace=False)]
        body = {"origin": ends[0], "destination": ends[1]}
        kinds = [
            post("/v1/plan", body),
            post("/v1/plan", body | {"soc": 40, "depart": f"{number % 24:02d}:00"}),
            post("/v1/plan", body | {"conditions": {"temperature_c": float(number % 40)}}),
            post("/v1/range", {"origin": ends[0], "soc": 3}),
            get("/v1/networks"),
            post(
                "/v1/trips",
                {
                    "belief": "mixed",
                    "trips": [
                        {"trip": str(number), "edges": [{"edge": ends[0], "energy_wh": 10.0}]}
                    ],
                },
            ),
        ]
        return kinds[rng.choice(len(kinds), p=[0.5, 0.15, 0.15, 0.09, 0.1, 0.01])]

    sent = [good(k) if rng.random() < 0.5 else bad[rng.integers(len(bad))] for k in range(n)]
    with (
        running() as (address, service),
        Watch(address) as watch,
        ThreadPoolExecutor(clients) as pool,
    ):
        began = time.perf_counter()
        statuses = Counter(status for status, _ in pool.map(lambda send: send(address), sent))
        lasted_s = time.perf_counter() - began
        memory_mb = peak_mb(service.pid)
    middle, late = np.percentile(watch.seconds, [50, 99])
    print(
        f"{n} requests of {clients} clients in {lasted_s:.0f} s: {dict(sorted(statuses.items()))}"
    )
    print(f"/healthz, {len(watch.seconds)} times: median {middle:.3f} s, p99 {late:.3f} s")
    print(f"peak memory {memory_mb:.0f} MB, load {os.getloadavg()[0]:.1f}")
    return statuses[500]


def half_heads(n: int, asked: int = 200) -> int:
    """Keep n half heads open; return how many of some requests beside them have no answer."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, max(files, n + 100)), most))
    wrong, seconds = 0, []
    with running() as (address, service), ExitStack() as held:
        for _ in range(n):
            line = held.enter_context(socket.create_connection(place_of(address), timeout=120))
            line.sendall(HEAD)
        for _ in range(asked):
            began = time.perf_counter()
            wrong += ask(address, "GET", "/healthz")[0] != 200
            seconds.append(time.perf_counter() - began)
        sockets = list(Path(f"/proc/{service.pid}/fd").iterdir())
        wrong += service.poll() is not None
    middle, late = np.percentile(seconds, [50, 99])
    print(f"{n} half heads, {len(sockets)} open files, {wrong} of {asked} requests without answer")
    print(f"/healthz: median {middle:.3f} s, p99 {late:.3f} s, longest {max(seconds):.3f} s")
    return wrong


def main() -> None:
    """Attack, print a line for each attack, and fail if one succeeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half-heads", type=int, default=0)
    options = parser.parse_args()
    if options.half_heads:
        sys.exit(bool(half_heads(options.half_heads)))
    if options.requests:
        sys.exit(bool(mixed(options.requests, options.clients, options.seed)))
    sys.exit(bool(one_by_one(options.quick)))


if __name__ == "__main__":
    main()
