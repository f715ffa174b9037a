"""Connections that never finish a head, and floods of the log."""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
import uvicorn

from evroute.service import connections
from evroute.service.connections import GuardedConnection, LogRate
from evroute.service.guard import LimitedService

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MOST = 5


class Late(GuardedConnection):
    """A connection with a short deadline."""

    head_s = 1.0


class Few(GuardedConnection):
    """One of few connections."""

    head_s = 600.0
    most = MOST


async def answering(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def served(kind: type[GuardedConnection]) -> Iterator[tuple[str, int]]:
    """Yield host and port of a server in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    application = LimitedService(answering, token="", hosts=("127.0.0.1",))
    server = uvicorn.Server(
        uvicorn.Config(application, http=kind, ws="none", lifespan="off", log_level="error")
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, int]]:
    with served(Late) as found:
        yield found


@pytest.fixture
def narrow() -> Iterator[tuple[str, int]]:
    with served(Few) as found:
        yield found


def connected(place: tuple[str, int]) -> socket.socket:
    return socket.create_connection(place, timeout=60)


def rest(line: socket.socket) -> bytes:
    """Return all bytes up to the end of the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while more := line.recv(65536):
            received += more
    return received


def status(line: socket.socket) -> int:
    line.sendall(HEAD + b"\r\n")
    return int(line.recv(65536).split()[1])


@pytest.mark.parametrize("sent", [b"", b"GET", HEAD])
def test_a_head_that_does_not_come_in_time_ends_the_connection(
    place: tuple[str, int], sent: bytes
) -> None:
    with connected(place) as line:
        line.sendall(sent)
        answer = rest(line)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert answer.endswith(b'{"detail":"the head of the request did not come within 1 s"}')


def test_a_later_head_has_the_deadline_from_its_first_byte(place: tuple[str, int]) -> None:
    with connected(place) as line:
        assert status(line) == 200
        time.sleep(2 * Late.head_s)  # no head has begun
        assert status(line) == 200
        line.sendall(HEAD)
        assert rest(line).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_trickle_in_do_not_move_the_deadline(place: tuple[str, int]) -> None:
    with connected(place) as line:
        line.sendall(HEAD)
        with suppress(ConnectionError):
            for _ in range(1200):  # ends once the connection is closed
                line.sendall(b"a: b\r\n")
                time.sleep(0.05)
            pytest.fail("it is open after a minute")


def test_the_connection_that_waits_longest_makes_way(narrow: tuple[str, int]) -> None:
    with ExitStack() as held:
        lines = [held.enter_context(connected(narrow)) for _ in range(MOST)]
        for line in (*lines[1:], lines[0]):  # all are taken, and lines[0] waits the shortest time
            assert status(line) == 200
        for line in lines[1:]:
            line.sendall(HEAD)
        new = held.enter_context(connected(narrow))
        assert status(new) == 200
        assert rest(lines[1]) == b"", "aborted without an answer"
        assert status(lines[0]) == 200


def test_a_body_that_is_on_its_way_makes_way_too(narrow: tuple[str, int]) -> None:
    with ExitStack() as held:
        for _ in range(3 * MOST):
            line = held.enter_context(connected(narrow))
            line.sendall(HEAD.replace(b"GET", b"POST") + b"Content-Length: 9\r\n\r\n1")
        assert status(held.enter_context(connected(narrow))) == 200


def test_two_lengths_of_one_request_are_refused_and_the_rest_is_no_request(
    place: tuple[str, int],
) -> None:
    two = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with connected(place) as line:
        line.sendall(HEAD.replace(b"GET", b"POST") + two + HEAD + b"\r\n")
        answer = rest(line)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_logger_passes_so_many_lines_and_counts_the_others(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger, rate = logging.getLogger("flooded"), LogRate()
    logger.addFilter(rate)
    for number in range(connections.LINES + 50):
        logger.warning("line %d", number)
    assert caplog.messages[-1] == f"line {connections.LINES - 1}"
    monkeypatch.setattr(connections, "LINES_S", 0.0)
    logger.warning("at last")
    assert caplog.messages[-1] == "at last (50 lines before were left out)"
    assert len(caplog.messages) == connections.LINES + 1
