"""A service of two workers: beliefs, limits and numbers of both together."""

import asyncio
import http.client
import json
import re
import signal
import socket
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from evroute.network.catalog import load_network
from evroute.service.guard import Held
from evroute.service.metrics import Measured, Metrics
from evroute.service.workers import listen

ENDS = {"origin": "Blake Street & 17th Street", "destination": "Broadway & 20th Street"}


def ask(address: str, method: str, path: str, body: Any = None) -> tuple[int, Any, Any]:
    """Return status, content and headers of an answer to a new connection."""
    headers = {"content-type": "application/json"}
    line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
    with closing(line):
        line.request(method, path, None if body is None else json.dumps(body), headers)
        answer = line.getresponse()
        text = answer.read().decode()
    is_json = answer.headers.get_content_type() == "application/json"
    return answer.status, json.loads(text) if is_json else text, answer.headers


def workers_of(process: Any) -> list[psutil.Process]:
    """Return the two workers of a service, once both live."""

    def works(child: psutil.Process) -> bool:
        try:
            return "spawn_main" in " ".join(child.cmdline())
        except psutil.NoSuchProcess:  # it ended, or was killed and is not yet waited for
            return False

    while True:
        found = [each for each in psutil.Process(process.pid).children() if works(each)]
        if len(found) == 2:
            return found
        time.sleep(0.05)


@contextmanager
def alone(workers: list[psutil.Process], number: int) -> Any:
    """Stop all other workers, so that one answers."""
    others = [each for k, each in enumerate(workers) if k != number]
    for each in others:
        each.suspend()
    try:
        yield
    finally:
        for each in others:
            each.resume()


def test_two_workers_plan_with_the_trips_that_one_learned_and_count_together(
    start: Any, tmp_path: Path
) -> None:
    address, process = start("--workers", "2", folder=tmp_path)
    workers = workers_of(process)
    for number in (0, 1):  # both have begun
        with alone(workers, number):
            assert ask(address, "GET", "/healthz")[0] == 200
    rows = load_network("denver").turns[0]
    edges = [load_network("denver").edge_id[row] for row in rows]
    driven = [{"edge": edge, "energy_wh": 10.0, "travel_s": 9.0} for edge in edges]
    for posting, name in ((0, "a"), (1, "b"), (0, "c")):
        with alone(workers, posting):
            body = {"belief": "own", "trips": [{"trip": name, "edges": driven}]}
            status, answer, _ = ask(address, "POST", "/v1/trips", body)
            assert (status, answer["new"]) == (200, 1), answer
        with alone(workers, 1 - posting):
            status, plan, _ = ask(address, "POST", "/v1/plan", ENDS | {"belief": "own"})
            assert status == 200, plan
            forecast = plan["routes"]["energy"]["forecast"]
            assert forecast["trips"] == "abc".index(name) + 1
    with alone(workers, 1):
        text = ask(address, "GET", "/metrics")[1]
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    of_trips = 'evroute_requests_total{method="POST",path="/v1/trips",status="200"}'
    assert float(numbers[of_trips]) == 3
    assert float(numbers['evroute_request_seconds_count{path="/v1/plan"}']) == 3
    assert float(numbers["evroute_workers"]) == 2
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert not [each for each in workers if each.is_running()]


def test_connections_send_the_body_of_an_answer_without_waiting_for_the_client() -> None:
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()[:2]),
        listening.accept()[0] as line,
    ):
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_workers_end_with_their_supervisor(start: Any, tmp_path: Path) -> None:
    address, process = start("--workers", "2", folder=tmp_path)
    assert "evroute_workers 2.0" in ask(address, "GET", "/metrics")[1]  # all are ready by then
    workers = workers_of(process)
    process.kill()
    psutil.wait_procs(workers, timeout=120)
    assert not [each for each in workers if each.is_running()]


def test_a_dead_worker_leaves_the_numbers_of_the_moment_and_another_takes_its_place(
    start: Any, tmp_path: Path
) -> None:
    address, process = start("--workers", "2", folder=tmp_path)
    first, _ = workers_of(process)
    first.kill()
    psutil.wait_procs([first], timeout=120)
    while (
        first in workers_of(process)
        or "evroute_workers 2.0" not in ask(address, "GET", "/metrics")[1]
    ):
        time.sleep(0.05)


def test_numbers_have_paths_without_names_and_no_request_of_their_own(service: str) -> None:
    for path in ("/v1/beliefs/nobody", "/v1/beliefs/no-one", "/wp-admin", "/v1/plan"):
        ask(service, "GET", path)
    status, text, headers = ask(service, "GET", "/metrics")
    assert status == 200
    assert headers["content-type"].startswith("text/plain")
    for path, answer, least in (
        ("/v1/beliefs/{name}", 404, 2),
        ("other", 404, 1),
        ("/v1/plan", 405, 1),
    ):
        name = f'evroute_requests_total{{method="GET",path="{path}",status="{answer}"}} '
        (line,) = (line for line in text.splitlines() if line.startswith(name))
        assert float(line.removeprefix(name)) >= least
    assert "nobody" not in text
    assert "wp-admin" not in text


def test_a_request_is_counted_before_its_client_has_the_whole_answer() -> None:
    metrics = Metrics(Held())

    def counted() -> float:
        found = re.findall(r"^evroute_requests_total{.*} (.*)$", metrics.text().decode(), re.M)
        return sum(map(float, found))

    async def answering(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b"b"})

    async def silent(scope: Any, receive: Any, send: Any) -> None:
        return

    seen: list[float] = []

    async def send(message: Any) -> None:
        seen.append(counted())

    scope = {"type": "http", "method": "GET", "path": "/healthz"}
    asyncio.run(Measured(answering, metrics, ["/healthz"])(scope, None, send))  # type: ignore[arg-type]
    assert seen == [0, 0, 1]
    assert counted() == 1
    asyncio.run(Measured(silent, metrics, ["/healthz"])(scope, None, send))  # type: ignore[arg-type]
    assert counted() == 2
    assert 'status="gone"} 1' in metrics.text().decode()


def test_the_folder_of_a_killed_service_is_deleted_by_the_next(
    start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    stays = tmp_path / "evroute-serve-of-another-program"
    stays.mkdir()
    _, first = start("--workers", "2", folder=tmp_path)
    (left,) = set(tmp_path.glob("evroute-serve-*")) - {stays}
    _, second = start("--workers", "2", folder=tmp_path)
    assert left.exists(), "its service runs"
    first.kill()
    first.wait()
    start("--workers", "2", folder=tmp_path)
    assert not left.exists()
    assert stays.exists()
    assert second.poll() is None
    assert len(list(tmp_path.glob("evroute-serve-*"))) == 3
