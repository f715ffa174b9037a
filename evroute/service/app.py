"""The HTTP application: paths, answers and statuses.

Limits of the service on every request: its token, the size of its body, and how many wait.
"""

import hmac
import threading
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evroute import __version__
from evroute.energy.vehicle import vehicle_names
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError
from evroute.network.catalog import network_names
from evroute.service.requests import PlanRequest, PlanRequests, Trips
from evroute.service.work import ConflictingTripsError, Work

OPEN = ("/healthz",)
"""Paths that need no token and never wait."""


class LimitedService:
    """An ASGI application behind limits.

    Parameters
    ----------
    application
        The application.
    token
        Secret that requests must carry as ``Authorization: Bearer TOKEN``; none if empty.
    most_bytes
        Largest body; a larger one is answered with 413.
    most_waiting
        Number of requests at once; further ones are answered with 429.
    """

    def __init__(
        self, application: ASGIApp, *, token: str, most_bytes: int, most_waiting: int
    ) -> None:
        self.application = application
        self.expected = f"Bearer {token}".encode() if token else b""
        self.most_bytes = most_bytes
        self.free = threading.BoundedSemaphore(most_waiting)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self.application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"authorization", b"")
        if self.expected and not hmac.compare_digest(given, self.expected):
            refused = _refusal(401, "this service needs its token: Authorization: Bearer TOKEN")
            await refused(scope, receive, send)
        elif int(headers.get(b"content-length", b"0")) > self.most_bytes:
            await self._too_large()(scope, receive, send)
        elif not self.free.acquire(blocking=False):
            refused = _refusal(429, "too many requests at once; try again")
            await refused(scope, receive, send)
        else:
            try:
                await self._answer(scope, receive, send)
            finally:
                self.free.release()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body, which may have no stated length, then answer."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.most_bytes:
                await self._too_large()(scope, receive, send)
                return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return whole.pop() if whole else await receive()

        await self.application(scope, read, send)

    def _too_large(self) -> JSONResponse:
        return _refusal(413, f"a body has at most {self.most_bytes:,} bytes; send fewer rows")


def _refusal(status: int, message: str) -> JSONResponse:
    """Return an answer with a message in ``detail`` that closes the connection."""
    headers = {"Connection": "close"} | ({"Retry-After": "1"} if status == 429 else {})
    return JSONResponse({"detail": message}, status, headers)


MOST_BYTES = 16 * 2**20
MOST_WAITING = 64
MOST_S = 30.0
LOCAL_HOSTS = ("127.0.0.1", "localhost")


def make_app(
    beliefs: Path, *, token: str = "", hosts: tuple[str, ...] = LOCAL_HOSTS, most_s: float = MOST_S
) -> LimitedService:
    """Return the ASGI application of the service.

    Parameters
    ----------
    beliefs
        Folder with a folder for each belief, by name; it is made with the first trips.
    token
        Secret that every request but ``/healthz`` must carry; none if empty.
    hosts
        Accepted names in the header ``Host``.
    most_s
        Seconds after which no further plan of ``/v1/plans`` is begun.
    """
    work = Work(beliefs, most_s)
    app = FastAPI(
        title="evroute",
        version=__version__,
        description="Energy-efficient routes for electric cars, learned from driven trips.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        responses={
            status: {"description": reason}
            for status, reason in (
                (413, "The body is too large."),
                (422, "The request cannot be met; `detail` names the cause."),
                (429, "Too many requests at once; try again after `Retry-After` seconds."),
            )
        },
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)

    @app.exception_handler(EvrouteError)
    def refused(request: Request, error: EvrouteError) -> JSONResponse:
        answer: dict[str, Any] = {"detail": str(error)}
        if isinstance(error, NotEnoughChargeError):
            answer["start_percent"] = error.start_percent
        status = 409 if isinstance(error, ConflictingTripsError) else 422
        if isinstance(error, UnknownNameError) and request.method == "GET":
            status = 404
        return JSONResponse(answer, status)

    @app.get("/healthz", summary="Whether the service answers")
    def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get("/v1/networks", summary="Names of the networks")
    def networks() -> dict[str, list[str]]:
        return {"networks": list(network_names())}

    @app.get("/v1/vehicles", summary="Names of the vehicles")
    def vehicles() -> dict[str, list[str]]:
        return {"vehicles": vehicle_names()}

    @app.post("/v1/plan", summary="Plan a trip")
    def plan(request: PlanRequest) -> dict[str, Any]:
        return work.plan(request)

    @app.post("/v1/plans", summary="Plan many trips")
    def plans(requests: PlanRequests) -> dict[str, list[dict[str, Any]]]:
        return {"plans": work.plans(requests.requests)}

    @app.post(
        "/v1/trips",
        summary="Learn measured trips into a belief",
        responses={409: {"description": "An id already belongs to other measurements."}},
    )
    def trips(measured: Trips) -> dict[str, Any]:
        return work.learn(measured)

    @app.get("/v1/beliefs/{name}", summary="Learned state of a belief")
    def belief(name: str) -> dict[str, Any]:
        return work.belief(name)

    return LimitedService(app, token=token, most_bytes=MOST_BYTES, most_waiting=MOST_WAITING)
