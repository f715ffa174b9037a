"""Lines in the documents of the pages: their base address, and the files of the map.

Streamlit's script asks below the page's own address first, such as ``/learn/_stcore/health``, and
browsers show the refused requests as errors. With the base address it asks there at once. The
files of the map, and the roads of its network once the server has read them, are asked for with the
document, not after all scripts of Streamlit.
"""

from pathlib import Path
from urllib.parse import parse_qs

import memory
from own_routes import file_addresses, files_of
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.joinpath("views").glob("*.py")))
"""Last parts of the addresses of pages."""
MOVED = {"runs": "learn", "network": "advanced"}
"""Last parts of earlier addresses of pages, and of those in their place."""
HEAD = b"</head>"
SCRIPT = (
    "<script>window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: "
    "window.location.origin + "
    f"window.location.pathname.replace(/({'|'.join(NAMES)})\\/?$/, '') }};</script>"
)

MAP_FILES = (
    '<link rel="preload" href="/app/static/leaflet/leaflet.js" as="script">'
    '<link rel="preload" href="/app/static/leaflet/leaflet.css" as="style">'
)
PLAN = ("", "plan")
"""Names of the page whose map is of one network from the first."""


def map_files(page: str, query: str) -> str:
    """Return the lines that ask for the files of the map.

    Parameters
    ----------
    page
        Last part of the address of the page.
    query
        Query of its address, which may name the network.
    """
    if page not in PLAN:
        return MAP_FILES
    asked = parse_qs(query).get("network") or [memory.glance().inputs.get("network")]
    files = files_of(str(asked[-1] or memory.DEFAULT_NETWORK))
    own = file_addresses(files.of).values() if files else ()
    return MAP_FILES + "".join(
        f'<link rel="preload" href="{address}" as="fetch" crossorigin>' for address in own
    )


class BaseAddress:
    """Middleware that completes the documents of the pages.

    Parameters
    ----------
    app
        The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and complete the document of a page."""
        path = str(scope.get("path", ""))
        name = path.rstrip("/").rpartition("/")[2]
        if scope["type"] == "http" and name in MOVED:
            query = scope["query_string"].decode("latin-1")
            beside = "../" if path.endswith("/") else ""  # an address from the root may name a host
            address = f"{beside}{MOVED[name]}{'?' if query else ''}{query}"
            await RedirectResponse(address)(scope, receive, send)
            return
        if scope["type"] != "http" or scope["method"] != "GET" or name not in ("", *NAMES):
            await self.app(scope, receive, send)
            return
        plain = MutableHeaders(raw=list(scope["headers"]))
        plain["accept-encoding"] = "identity"
        del plain["if-none-match"], plain["if-modified-since"], plain["range"]
        lines = map_files(name, scope["query_string"].decode("latin-1"))
        document = _Document(send, (lines + (SCRIPT if name else "")).encode())
        await self.app(scope | {"headers": plain.raw}, receive, document.send)


class _Document:
    """Holds the answer back until the document is whole. Other answers pass."""

    def __init__(self, send: Send, lines: bytes) -> None:
        self._send = send
        self._lines = lines
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Send a message, or keep it while the document is not whole."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/html"):
                self._start = message
                return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = self._body.replace(HEAD, self._lines + HEAD, 1)
        headers = MutableHeaders(raw=list(self._start["headers"]))
        headers["content-length"] = str(len(body))
        del headers["etag"], headers["last-modified"]
        await self._send(self._start | {"headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})


def middleware() -> list[Middleware]:
    """Return the middleware, for the server."""
    return [Middleware(BaseAddress)]
