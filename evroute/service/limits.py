"""Limits of the service on every request: its token, the size of its body, and how many wait."""

import hmac
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

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
        self, application: Application, *, token: str, most_bytes: int, most_waiting: int
    ) -> None:
        self.application = application
        self.expected = f"Bearer {token}".encode() if token else b""
        self.most_bytes = most_bytes
        self.free = threading.BoundedSemaphore(most_waiting)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self.application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"authorization", b"")
        if self.expected and not hmac.compare_digest(given, self.expected):
            await refuse(send, 401, "this service needs its token: Authorization: Bearer TOKEN")
        elif int(headers.get(b"content-length", b"0")) > self.most_bytes:
            await self._too_large(send)
        elif not self.free.acquire(blocking=False):
            await refuse(
                send, 429, "too many requests at once; try again", [(b"retry-after", b"1")]
            )
        else:
            try:
                await self._answer(scope, receive, send)
            finally:
                self.free.release()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        """Read the whole body, which may have no stated length, then answer."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.most_bytes:
                await self._too_large(send)
                return
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return whole.pop() if whole else await receive()

        await self.application(scope, read, send)

    async def _too_large(self, send: Send) -> None:
        await refuse(send, 413, f"a body has at most {self.most_bytes:,} bytes; send fewer rows")


async def refuse(
    send: Send, status: int, message: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    """Send an answer with a message in ``detail``; further headers follow its type."""
    body = f'{{"detail":"{message}"}}'.encode()
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    fields += [(b"connection", b"close"), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})
