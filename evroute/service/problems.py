"""Errors of the service: one typed answer with the first problem, of at most 1 kB."""

from starlette.responses import JSONResponse

from evroute.errors import EvrouteError
from evroute.service.answers import Problem
from evroute.text import cut, escaped

MOST_BYTES = 1000
"""Longest body of an error."""


class RefusedError(EvrouteError):
    """A request that is refused before any work.

    Parameters
    ----------
    status
        Status of the answer.
    message
        As in `EvrouteError`.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def problem(
    status: int,
    detail: str,
    *,
    start_percent: int | None = None,
    steps: list[dict[str, float | bool]] | None = None,
    id: str | None = None,
    close: bool = False,
) -> JSONResponse:
    """Return the answer to a request that is not met.

    Parameters
    ----------
    status
        Status of the answer. 429 asks the client to try again after a second.
    detail
        The first problem. It is cut so that the answer has at most `MOST_BYTES`.
    start_percent, steps, id
        As in `Problem`.
    close
        Whether to close the connection, of which unread bytes may be left.
    """
    headers = {"Connection": "close"} if close else {}
    if status == 429:
        headers["Retry-After"] = "1"
    shown = Problem(detail=brief(detail), start_percent=start_percent, steps=steps, id=id)
    return JSONResponse(shown.model_dump(exclude_none=True), status, headers)


def brief(detail: str) -> str:
    """Return a message without signs that steer a terminal, cut to fit into a `Problem`."""
    most = MOST_BYTES - len(Problem(detail="", start_percent=100, id="0" * 32).model_dump_json())
    detail = escaped(detail[:MOST_BYTES])
    while len(JSONResponse(detail).body) > most:
        detail = cut(detail, len(detail) * 9 // 10 - 3)
    return detail
