"""Limits on every request, before the application sees it: host, token, size, time and number.

Starlette's own middlewares for hosts and sizes answer in plain text, where each refusal here is a
`Problem` that closes the connection, and do not count the bytes of all bodies. Its middleware for
errors raises them again, so that uvicorn logs each one twice.
"""

import asyncio
import hmac
import logging
import uuid
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evroute.service.problems import problem

OPEN = ("/healthz",)
"""Paths that need no token."""
METRICS = "/metrics"
PROMPT = (*OPEN, METRICS)
"""Paths that never wait."""
BODY = "evroute.body"
"""Key of the scope that holds the whole body."""

log = logging.getLogger("evroute.service")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a service, or of one of its workers (`of_worker`).

    Parameters
    ----------
    body_bytes
        Largest body. A larger one is answered with 413.
    bodies_bytes
        Size of all bodies at once. Further bodies are answered with 429.
    large_bytes
        Bodies above this size are answered one after the other.
    read_s
        Time to send a body, s. A slower one is answered with 408.
    waiting
        Number of requests that are answered or wait at once. Further ones are answered with 429.
    """

    body_bytes: int = 16 * 2**20
    bodies_bytes: int = 256 * 2**20
    large_bytes: int = 2**20
    read_s: float = 20.0
    waiting: int = 64

    def of_worker(self, workers: int) -> "Limits":
        """Return the limits of each of some workers, which together keep those of the service.

        A worker has a share of the bodies and of the requests, but always one body and one request.

        Parameters
        ----------
        workers
            Number of workers.
        """
        bodies_bytes = max(self.bodies_bytes // workers, self.body_bytes)
        return replace(self, bodies_bytes=bodies_bytes, waiting=max(self.waiting // workers, 1))


class Held:
    """Bytes of bodies and requests that a worker holds at the moment, and its large body."""

    def __init__(self) -> None:
        self.body_bytes = 0
        self.requests = 0
        self.large = asyncio.Lock()
        self.on_change: Callable[[], None] = lambda: None

    def add(self, *, body_bytes: int = 0, requests: int = 0) -> None:
        """Hold some more bytes and requests, or fewer."""
        self.body_bytes += body_bytes
        self.requests += requests
        self.on_change()


class LimitedService:
    """An ASGI application behind limits. It finds the body under `BODY` of its scope.

    Parameters
    ----------
    application
        The application.
    token
        Secret that requests must carry as ``Authorization: Bearer TOKEN``, or none if empty.
    hosts
        Accepted names in the header ``Host``. ``*.`` before one accepts its subdomains too, and
        ``*`` every name.
    limits
        Limits of all requests together.
    held
        Counts of the bytes and the requests, or None for new ones.
    """

    def __init__(
        self,
        application: ASGIApp,
        *,
        token: str,
        hosts: tuple[str, ...],
        limits: Limits = Limits(),
        held: Held | None = None,
    ) -> None:
        self.application = application
        self.expected = f"Bearer {token}".encode() if token else b""
        self.hosts = hosts
        self.limits = limits
        self.held = held or Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["path"] in PROMPT:
            scope[BODY] = b""
            await self.application(scope, receive, send)
        else:
            await self._read_and_answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """Return the answer to a request that is refused by its headers. None if it is accepted."""
        headers = dict(scope["headers"])
        if not self._is_own(headers.get(b"host", b"").decode("latin-1")):
            return problem(400, "the header Host names no host of this service", close=True)
        if {b"content-length", b"transfer-encoding"} <= headers.keys():
            detail = "got Content-Length beside Transfer-Encoding, expected one of them"
            return problem(400, detail, close=True)
        if scope["path"] in OPEN:
            return None
        given = headers.get(b"authorization", b"")
        if self.expected and not hmac.compare_digest(given, self.expected):
            detail = "this service needs its token: Authorization: Bearer TOKEN"
            return problem(401, detail, close=True)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self.limits.body_bytes:
            return self._too_large()
        return None

    def _is_own(self, host: str) -> bool:
        name = host.lower()
        before, colon, port = name.rpartition(":")
        if colon and not name.endswith("]"):  # an address in brackets without a port
            if port.strip("0123456789"):
                return False
            name = before
        return any(
            each in ("*", name) or (each.startswith("*.") and name.endswith(each[1:]))
            for each in self.hosts
        )

    async def _read_and_answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self.limits.read_s):
                    refusal = await self._read(body, receive)
            except TimeoutError:
                detail = f"the body did not come within {self.limits.read_s:g} s"
                refusal = problem(408, detail, close=True)
            except ConnectionResetError:
                return
            if refusal is not None:
                await refusal(scope, receive, send)
            else:
                scope[BODY] = body
                await self._answer(scope, receive, send)
        finally:
            self.held.add(body_bytes=-len(body))

    async def _read(self, body: bytearray, receive: Receive) -> JSONResponse | None:
        """Append the whole body, which may have no stated length. Return a refusal, if any.

        Raises
        ------
        ConnectionResetError
            If the client is gone.
        """
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            part = message.get("body", b"")
            if len(body) + len(part) > self.limits.body_bytes:
                return self._too_large()
            if self.held.body_bytes + len(part) > self.limits.bodies_bytes:
                return problem(429, "too many large bodies at once. Try again", close=True)
            self.held.add(body_bytes=len(part))
            body += part
            more = message.get("more_body", False)
        return None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.held.requests >= self.limits.waiting:
            refusal = problem(429, "too many requests at once. Try again", close=True)
            await refusal(scope, receive, send)
            return
        self.held.add(requests=1)
        try:
            large = len(scope[BODY]) > self.limits.large_bytes
            async with self.held.large if large else nullcontext():
                await self.application(scope, receive, send)
        finally:
            self.held.add(requests=-1)

    def _too_large(self) -> JSONResponse:
        detail = f"a body has at most {self.limits.body_bytes:,} bytes. Send fewer rows"
        return problem(413, detail, close=True)


class LoggedFailures:
    """An ASGI application whose unexpected errors are logged with an id, which the answer has.

    Parameters
    ----------
    app
        The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with 500 after an unexpected error."""
        begun = False

        async def noticed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noticed)
        except Exception:
            if scope["type"] != "http" or begun:
                raise
            id = uuid.uuid4().hex
            log.exception("internal error %s at %s %r", id, scope["method"], scope["path"][:200])
            detail = f"internal error {id}. The log of the service has its cause"
            await problem(500, detail, id=id)(scope, receive, send)
