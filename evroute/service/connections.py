"""Connections of the service: a deadline for the head of a request, and a limit on their number.

A body has a deadline of its own (`guard.Limits`). Where there are too many connections, the one
that has waited longest without sending a whole request makes way for the new one. So clients that
never finish a head keep no other client out.
"""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows, where no such limit is known
    resource = None  # type: ignore[assignment]

HEAD_S = 10.0
"""Longest time from the beginning of a connection, or from the first byte of a later head, to the
end of the head, s."""
MOST_CONNECTIONS = 4000
"""Most connections of a process. They are at most half of its open files."""
MOST_NEW = 2048
"""Most connections that wait to be taken. asyncio has some times as many on the way, so that they
are at most a sixteenth of the open files of a process."""
LINES = 100
"""Most lines of a logger in `LINES_S` seconds."""
LINES_S = 60.0
LOGGERS = ("asyncio", "uvicorn.error", "evroute.service")


class GuardedConnection(H11Protocol):
    """A connection of uvicorn with a deadline for heads, one of at most `most` of its process."""

    head_s: ClassVar[float] = HEAD_S
    most: ClassVar[int] = MOST_CONNECTIONS
    unfinished: ClassVar[dict["GuardedConnection", None]] = {}
    """Connections without a whole request, the one that waits longest first."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection. Abort the one that waits longest, or this one, if there are too many.

        Parameters
        ----------
        transport
            The transport of asyncio.
        """
        super().connection_made(transport)
        if len(self.connections) > self.most:
            longest = next(iter(self.unfinished), self)
            self.unfinished.pop(longest, None)
            longest.transport.abort()
        self._notice()

    def data_received(self, data: bytes) -> None:
        """Take some bytes.

        Parameters
        ----------
        data
            The bytes.
        """
        super().data_received(data)
        self._notice()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self.unfinished.pop(self, None)
        self._place()
        self._end_deadline()  # the next head begins with its first byte

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection.

        Parameters
        ----------
        exc
            The error that ended it, or None.
        """
        self._end_deadline()
        self.unfinished.pop(self, None)
        super().connection_lost(exc)

    def _place(self) -> None:
        """Be among the unfinished connections as long as the request is not whole."""
        whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if whole or self.transport.is_closing():
            self.unfinished.pop(self, None)
        else:
            self.unfinished.setdefault(self)

    def _notice(self) -> None:
        """Keep place and deadline of a connection by the state of its request."""
        self._place()
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._end_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.head_s, self._late)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        """Answer a head that did not come in time with 408, and close the connection."""
        body = b'{"detail":"the head of the request did not come within %g s"}' % self.head_s
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        with suppress(h11.LocalProtocolError):
            for event in (
                h11.Response(status_code=408, headers=headers, reason=b"Request Timeout"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class LogRate(logging.Filter):
    """Lets at most `LINES` lines of a logger pass in `LINES_S` seconds.

    The first line afterwards has the number of those that were left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self._began_s, self._lines = time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line passes.

        Parameters
        ----------
        record
            The line.
        """
        now_s = time.monotonic()
        if now_s - self._began_s >= LINES_S:
            if (left_out := self._lines - LINES) > 0:
                record.msg = f"{record.getMessage()} ({left_out} lines before were left out)"
                record.args = None
            self._began_s, self._lines = now_s, 0
        self._lines += 1
        return self._lines <= LINES


def prepare_process() -> int:
    """Raise the limit of open files, limit connections by it, and limit the rate of the log.

    Returns
    -------
    int
        Most connections that may wait to be taken.
    """
    most_new = MOST_NEW
    if resource is not None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        if soft != resource.RLIM_INFINITY:
            GuardedConnection.most = min(MOST_CONNECTIONS, soft // 2)
            most_new = min(MOST_NEW, soft // 16)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, LogRate) for each in logger.filters):
            logger.addFilter(LogRate())
    return most_new
