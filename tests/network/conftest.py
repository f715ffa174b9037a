"""Hand-made OpenStreetMap files, and a web server on this machine."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.sax.saxutils import quoteattr

import pytest

from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm

Tags = Mapping[str, str]
ROAD: Tags = {"highway": "residential"}


def osm_xml(
    nodes: Mapping[int, tuple[float, float]],
    ways: Mapping[int, tuple[Sequence[int], Tags]],
    relations: Sequence[tuple[Tags, Sequence[tuple[str, int, str]]]] = (),
    node_tags: Mapping[int, Tags] | None = None,
) -> str:
    """Return OSM XML of restrictions and roads; nodes lie (east, north) of 6 E 49 N, in thousandths
    of a degree.
    """

    def tags(given: Tags) -> str:
        return "".join(f"<tag k={quoteattr(k)} v={quoteattr(v)}/>" for k, v in given.items())

    text = ['<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">']
    for node, (east, north) in nodes.items():
        own = tags((node_tags or {}).get(node, {}))
        text.append(
            f'<node id="{node}" lat="{49 + north / 1000:.7f}" '
            f'lon="{6 + east / 1000:.7f}">{own}</node>'
        )
    for way, (refs, given) in ways.items():
        text.append(
            f'<way id="{way}">{"".join(f"<nd ref={quoteattr(str(r))}/>" for r in refs)}'
            f"{tags(given)}</way>"
        )
    for k, (given, members) in enumerate(relations, start=1):
        inside = "".join(
            f'<member type="{kind}" ref="{ref}" role="{role}"/>' for kind, ref, role in members
        )
        text.append(
            f'<relation id="{k}">{inside}{tags({"type": "restriction", **given})}</relation>'
        )
    return "\n".join([*text, "</osm>"])


@pytest.fixture
def read_osm(tmp_path: Path) -> Callable[..., RoadNetwork]:
    """Offer a function that writes `osm_xml` to a file and reads it."""

    def read(*args: object, **kwargs: object) -> RoadNetwork:
        path = tmp_path / "case.osm"
        path.write_text(osm_xml(*args, **kwargs), encoding="utf-8")  # type: ignore[arg-type]
        return osm.read(path, "case")

    return read


@pytest.fixture
def osm_text() -> Callable[..., str]:
    """Offer `osm_xml` to tests, which cannot import this file."""
    return osm_xml


class FileServer(ThreadingHTTPServer):
    """Serves bytes by path on this machine, with ranges as object stores do, and misbehaves on
    request.

    cut_after: bytes of a body after which the connection is dropped; None for never.  ranges:
    whether to honour them.  announced: the header ``Content-Length`` in place of the true one.
    drip_s: pause between any two bytes.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.cut_after: int | None = None
        self.ranges = True
        self.announced: str | None = None
        self.drip_s = 0.0
        self.asked: list[tuple[str, str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FileServer

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append((self.command, self.path, wanted))
        body = self.server.files.get(self.path.lstrip("/"))
        if body is None:
            self.send_error(404)
            return
        first, last = 0, len(body) - 1
        if wanted and self.server.ranges:
            low, _, high = wanted.removeprefix("bytes=").partition("-")
            first, last = int(low), min(int(high or last), last)
            if first > last:
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes" if self.server.ranges else "none")
        length = self.server.announced or str(last - first + 1)
        self.send_header("Content-Length", length)
        self.end_headers()
        if with_body:
            self._send(body[first : last + 1][: self.server.cut_after])

    def _send(self, body: bytes) -> None:
        if not self.server.drip_s:
            self.wfile.write(body)
            return
        with suppress(OSError):  # the other side has had enough
            for place in range(len(body)):
                self.wfile.write(body[place : place + 1])
                time.sleep(self.server.drip_s)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def file_server() -> Iterator[FileServer]:
    """Offer a `FileServer` for the length of a test."""
    with FileServer() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
