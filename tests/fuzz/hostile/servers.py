"""A hostile server for ``evroute network fetch``."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from case import Command, kind, one
from numpy.random import Generator

OK = b"HTTP/1.1 200 OK\r\n"
MB_OF_ZEROS = bytes(1 << 20)


def _endless(line: socket.socket) -> None:
    line.sendall(OK + b"\r\n")
    while True:
        line.sendall(MB_OF_ZEROS)


def _drip(line: socket.socket) -> None:
    line.sendall(OK + b"Content-Length: 1000000\r\n\r\n")
    while True:
        line.sendall(b"x")
        time.sleep(0.05)


def _drip_head(line: socket.socket) -> None:
    line.sendall(OK)
    while True:
        line.sendall(b"x")
        time.sleep(0.05)


def _saying(answer: bytes) -> Callable[[socket.socket], None]:
    return lambda line: line.sendall(answer)


SERVERS: dict[str, Callable[[socket.socket], None]] = {
    "endless": _endless,
    "drip": _drip,
    "drip_head": _drip_head,
    "silent": lambda line: time.sleep(60),
    "letters": _saying(OK + b"Content-Length: abc\r\n\r\n" + b"x" * 100),
    "negative": _saying(OK + b"Content-Length: -5\r\n\r\n" + b"x" * 100),
    "digits": _saying(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nx"),
    "promise": _saying(OK + b"Content-Length: 999999999999\r\n\r\nx"),
    "chunked": _saying(OK + b"Transfer-Encoding: chunked\r\n\r\nzzz\r\nx"),
    "huge_chunk": _saying(OK + b"Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx"),
    "gzip": _saying(OK + b"Content-Encoding: gzip\r\n\r\nnot gzip"),
    "redirect": _saying(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"),
    "elsewhere": _saying(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"),
    "garbage": _saying(b"\xff" * 100_000),
    "long_head": _saying(OK + b"X: " + b"x" * 10_000_000),
    "many_heads": _saying(OK + b"X: x\r\n" * 100_000),
    "nothing": _saying(b""),
    "partial": _saying(b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-1/x\r\n\r\nx"),
}


def serve(behaviour: str) -> None:
    """Serve on a port of this machine, and have 'evroute network fetch' download from there."""
    from evroute.network.sources import fetch

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def answer() -> None:
        while True:
            line, _ = listener.accept()
            with line:
                try:
                    line.recv(65536)
                    SERVERS[behaviour](line)
                except OSError:
                    continue

    Thread(target=answer, daemon=True).start()
    published = fetch.Published("x", f"http://127.0.0.1:{port}/x.net.xml", "0" * 40, "nobody")
    fetch.find = lambda name: published


@kind
def server(folder: Path, rng: Generator) -> Command:
    limits = {"EVROUTE_MAX_DOWNLOAD_S": "2", "EVROUTE_MAX_DOWNLOAD_MB": "50"}
    return Command(["network", "fetch", "x"], limits, one(rng, list(SERVERS)))
