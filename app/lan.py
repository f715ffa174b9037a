"""Who may reach the dashboard from the network, and whether such a tab may write.

``evroute app --lan`` sets `VARIABLE`. Each start draws a token of 128 bits. The address with the
token is exchanged for a cookie, which scripts cannot read, and the token leaves the address. Every
other request and WebSocket without the cookie is refused. The way is not encrypted.
"""

import io
import os
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

import segno
import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from evroute.errors import EvrouteError

VARIABLE = "EVROUTE_LAN"
READ = "read"
WRITE = "write"
TOKEN_BYTES = 16
COOKIE = "evroute_lan"
PARAMETER = "token"
LOCAL = ("127.0.0.1", "localhost")
REFUSED = "This dashboard needs the address with the token that `evroute app --lan` prints.\n"
READS_ONLY = (
    "this tab comes from the network, so it plans and reads. `evroute app --lan-write` lets it "
    "learn and remember"
)


class Guard:
    """Middleware that refuses each request and WebSocket without the cookie of the token.

    Those of pages of other addresses, such as another port of this machine, are refused too.

    Parameters
    ----------
    app
        The application behind it.
    token
        Text that an address must have once, as ``?token=``.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token
        self.pass_key = secrets.token_urlsafe(TOKEN_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, exchange its token for the cookie, or refuse it."""
        if scope["type"] == "lifespan" or (self._has_cookie(scope) and _is_of_this_page(scope)):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["method"] == "GET" and self._has_token(scope):
            await self._exchange(scope)(scope, receive, send)
        else:
            answer = PlainTextResponse(REFUSED, 401, {"Cache-Control": "no-store"})
            await answer(scope, receive, send)

    def _has_cookie(self, scope: Scope) -> bool:
        found = False
        for text in Headers(scope=scope).getlist("cookie"):
            try:
                cookie = SimpleCookie(text).get(COOKIE)
            except CookieError:
                continue
            found |= cookie is not None and _is_same(cookie.value, self.pass_key)
        return found

    def _has_token(self, scope: Scope) -> bool:
        given = [text for name, text in _query(scope) if name == PARAMETER]
        return len(given) == 1 and _is_same(given[0], self.token)

    def _exchange(self, scope: Scope) -> RedirectResponse:
        """Return the answer that sets the cookie and leads to the address without the token."""
        left = urlencode([pair for pair in _query(scope) if pair[0] != PARAMETER])
        path = "/" + scope["path"].lstrip("/\\")  # two slashes would be another host
        answer = RedirectResponse(f"{path}?{left}" if left else path, 303)
        answer.set_cookie(COOKIE, self.pass_key, httponly=True, samesite="lax")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer


def _is_of_this_page(scope: Scope) -> bool:
    """Return False for a change or a WebSocket that a page of another address asks for.

    Browsers send the cookie with requests of all pages of this host, whatever their port.
    """
    headers = Headers(scope=scope)
    reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    origin = headers.get("origin")
    return reads or origin is None or urlsplit(origin).netloc == headers.get("host")


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _is_same(given: str, expected: str) -> bool:
    """Compare two texts in a time that does not depend on where they differ."""
    return secrets.compare_digest(given.encode(), expected.encode())


def middleware() -> list[Middleware]:
    """Return the guard if the dashboard is open to the network, and print its addresses."""
    if VARIABLE not in os.environ:
        return []
    token = secrets.token_urlsafe(TOKEN_BYTES)
    print(_announcement(token), flush=True)
    return [Middleware(Guard, token=token)]


def _announcement(token: str) -> str:
    """Return the lines for the terminal: the addresses, a code for a phone, and a warning."""
    port = st.get_option("server.port")
    hosts = st.get_option("server.allowedHosts")
    addresses = [f"http://{host}:{port}/?{PARAMETER}={token}" for host in hosts]
    outside = [each for each, host in zip(addresses, hosts, strict=True) if host not in LOCAL]
    code = io.StringIO()
    segno.make(outside[0], micro=False).terminal(code, compact=True)
    learns = "They learn and remember as this machine does."
    if os.environ[VARIABLE] != WRITE:
        learns = "They plan and read. --lan-write lets them learn."
    lines = [
        "",
        f"On this machine:  {addresses[0]}",
        *(f"In the network:   {each}" for each in outside),
        "",
        code.getvalue(),
        "Whoever has this address can use the dashboard until it ends. Scan it with a phone.",
        f"Tabs from the network: {learns}",
        "The way is NOT encrypted: others in the same network can read along, the token included.",
        "Use it in a network that you trust.",
    ]
    return "\n".join(lines)


def reads_only() -> bool:
    """Return True if this tab comes from the network and may not write."""
    return os.environ.get(VARIABLE) == READ and st.context.ip_address is not None


def check_write() -> None:
    """Refuse a change by a tab that may not write.

    Raises
    ------
    EvrouteError
        If it may not.
    """
    if reads_only():
        raise EvrouteError(READS_ONLY)
