"""Numbers of the service in the text form of Prometheus, summed over its workers.

In a service of several workers each writes its numbers to files of a common folder, by the
multiprocess mode of ``prometheus_client``, which the variable `FOLDER` switches on.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evroute.service.guard import METRICS, Held

MEDIA_TYPE = CONTENT_TYPE_LATEST
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OTHER = "other"
"""Path or method of requests that the service does not know."""
GONE = "gone"
"""Status of requests whose client did not wait for an answer."""
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of the histogram of times, s."""


class Metrics:
    """Counts and times of the requests of one worker, and the text of all workers.

    Parameters
    ----------
    held
        Requests and bytes that this worker holds.
    folder
        Folder of the numbers of all workers, or None for a service of one process.
    """

    def __init__(self, held: Held, folder: Path | None = None) -> None:
        self._folder = folder
        self._all = own = CollectorRegistry()
        if folder is not None:
            self._all = CollectorRegistry()
            MultiProcessCollector(self._all, str(folder))  # type: ignore[no-untyped-call]
        self.answers = Counter(
            "evroute_requests",
            "Requests by path, method and status of the answer.",
            ("path", "method", "status"),
            registry=own,
        )
        self.seconds = Histogram(
            "evroute_request_seconds",
            "Seconds from the head of a request to the last part of its answer.",
            ("path",),
            buckets=BOUNDS_S,
            registry=own,
        )
        requests, body_bytes, workers = (
            Gauge(name, words, registry=own, multiprocess_mode="livesum")
            for name, words in (
                ("evroute_requests_in_work", "Requests that are answered or wait."),
                ("evroute_body_bytes", "Bytes of the bodies in memory."),
                ("evroute_workers", "Processes that answer requests."),
            )
        )
        workers.set(1)

        def note() -> None:
            requests.set(held.requests)
            body_bytes.set(held.body_bytes)

        held.on_change = note

    def text(self) -> bytes:
        """Return the numbers of all workers in the text form of Prometheus."""
        if self._folder is not None:
            for process in _dead(self._folder):
                mark_process_dead(process, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(self._all)


def _dead(folder: Path) -> Iterator[int]:
    """Yield the processes that left numbers of their last moment and are no more."""
    for process in {int(each.stem.rpartition("_")[2]) for each in folder.glob("gauge_live*.db")}:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            yield process


class Measured:
    """An ASGI application whose answers are counted and timed.

    Parameters
    ----------
    application
        The application.
    metrics
        The numbers.
    paths
        Paths of the application, by which requests are counted, with names in braces.
    """

    def __init__(self, application: ASGIApp, metrics: Metrics, paths: Sequence[str]) -> None:
        self.application = application
        self.metrics = metrics
        self.forms = [(path, compile_path(path)[0]) for path in paths]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request and count it, before its client has the whole answer."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        began_s = time.perf_counter()
        status, counted = GONE, False

        def count() -> None:
            nonlocal counted
            counted = True
            path = self._path(scope["path"])
            method = scope["method"] if scope["method"] in METHODS else OTHER
            self.metrics.answers.labels(path, method, status).inc()
            if path != METRICS:
                self.metrics.seconds.labels(path).observe(time.perf_counter() - began_s)

        async def noticed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                count()
            await send(message)

        try:
            await self.application(scope, receive, noticed)
        finally:
            if not counted:
                count()

    def _path(self, asked: str) -> str:
        """Return the path of a request without the names in it."""
        return next((path for path, form in self.forms if form.match(asked)), OTHER)
