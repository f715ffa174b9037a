"""``evroute app --lan``: nothing without the token, and tabs from the network plan and read."""

import asyncio
import base64
import http.client
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from evroute.cli import dashboard as command
from evroute.errors import EvrouteError

PATIENCE_MS = 120_000
TOKEN = "0123456789abcdefghijkl"
HOST = b"10.0.0.7:8501"
PATHS = (
    "/",
    "/learn",
    "/nowhere",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/metrics",
    "/_stcore/script-health-check",
    "/_stcore/upload_file/session/file",
    "/_stcore/agent/v1",
    "/media/picture.png",
    "/component/evroute_map/index.js",
    "/static/js/index.js",
    "/app/static/leaflet/leaflet.js",
    "/evroute/places?network=x&text=a",
    "/evroute/cars?text=zoe",
    "/..%2f..%2fetc/passwd",
    "//evil.example/",
)
"""Addresses of each kind that the server has, and of none."""


async def behind(scope: Any, receive: Any, send: Any) -> None:
    """The application behind the guard: it accepts everything."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"behind the guard"})


@dataclass
class Asked:
    """Answer to a request: its messages."""

    messages: list[Any]

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): text.decode() for name, text in self.messages[0]["headers"]}

    @property
    def passed(self) -> bool:
        return b"behind" in self.messages[-1].get("body", b"")


@pytest.fixture
def ask() -> Callable[..., Asked]:
    """Send a request to an application behind the guard."""
    from lan import Guard

    guard = Guard(behind, TOKEN)

    def send_to(
        method: str, path: str, cookie: bytes = b"", kind: str = "http", origin: bytes = b""
    ) -> Asked:
        messages: list[Any] = []

        async def send(message: Any) -> None:
            messages.append(message)

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        before, _, query = path.partition("?")
        headers = [(b"host", HOST), *([(b"cookie", cookie)] if cookie else [])]
        headers += [(b"origin", origin)] if origin else []
        scope = {"type": kind, "method": method, "path": before, "headers": headers}
        asyncio.run(guard(scope | {"query_string": query.encode()}, receive, send))
        return Asked(messages)

    return send_to


Ask = Callable[..., Asked]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "query",
    ["", "?token=", "?token=wrong", f"?token={TOKEN}x", f"?token={TOKEN[:-1]}", "?token=%C3%A9",
     f"?token={TOKEN}&token={TOKEN}", f"?Token={TOKEN}"],
)  # fmt: skip
def test_nothing_passes_without_the_token(ask: Ask, method: str, query: str) -> None:
    found = ask(method, f"/page{query}", f"evroute_lan={TOKEN}".encode())
    assert found.status == 401
    assert not found.passed
    assert "set-cookie" not in found.headers


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(ask: Ask) -> None:
    first = ask("GET", f"/page?soc=40&token={TOKEN}&to=a+%26+b")
    assert first.status == 303
    assert first.headers["location"] == "/page?soc=40&to=a+%26+b"
    cookie = SimpleCookie(first.headers["set-cookie"])["evroute_lan"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "lax"
    assert cookie.value != TOKEN
    assert first.headers["cache-control"] == "no-store"
    right = f"other=1; evroute_lan={cookie.value}".encode()
    assert ask("POST", "/page", right).passed
    assert ask("", "/talk", right, "websocket").messages == [{"type": "websocket.accept"}]


@pytest.mark.parametrize(
    "origin", [b"http://10.0.0.7:9000", b"http://10.0.0.7", b"null", b"http://10.0.0.7:8501.x"]
)
def test_a_page_of_another_port_changes_nothing(ask: Ask, origin: bytes) -> None:
    cookie = ask("GET", f"/page?token={TOKEN}").headers["set-cookie"].partition(";")[0].encode()
    own = b"http://" + HOST
    assert ask("POST", "/page", cookie, origin=own).passed
    assert ask("", "/talk", cookie, "websocket", own).messages == [{"type": "websocket.accept"}]
    refused = {"type": "websocket.close", "code": 1008}
    assert ask("", "/talk", cookie, "websocket", origin).messages == [refused]
    for method in ("POST", "PUT", "DELETE"):
        assert not ask(method, "/page", cookie, origin=origin).passed
    assert ask("GET", "/page", cookie, origin=origin).passed, "no page can read the answer"


def test_a_changing_request_cannot_bring_the_token(ask: Ask) -> None:
    assert ask("POST", f"/page?token={TOKEN}").status == 401


def test_the_exchange_leads_to_this_host_alone(ask: Ask) -> None:
    for path in ("//evil.example/", "/\\evil.example/"):
        assert ask("GET", f"{path}?token={TOKEN}").headers["location"] == "/evil.example/"


@pytest.mark.parametrize("query", ["", f"?token={TOKEN}"])
@pytest.mark.parametrize("cookie", [b"", f"evroute_lan={TOKEN}".encode()])
def test_a_websocket_without_the_cookie_is_refused(ask: Ask, query: str, cookie: bytes) -> None:
    found = ask("", f"/talk{query}", cookie, "websocket").messages
    assert found == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    "cookie", [b"evroute_lan", b"evroute_lan=\xe9;;==", b'evroute_lan="\\', b"\x00=1"]
)
def test_a_damaged_cookie_is_none(ask: Ask, cookie: bytes) -> None:
    assert ask("GET", "/page", cookie).status == 401


def test_without_an_address_in_a_network_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Offline:
        def __enter__(self) -> "Offline":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def connect(self, _: object) -> None:
            raise OSError("no network")

    monkeypatch.setattr(socket, "socket", lambda *_: Offline())
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("127.0.1.1", 0))])
    with pytest.raises(EvrouteError, match="Leave out --lan"):
        command.hosts_in_network()


Serve = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="module")
def lan_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lan")


@pytest.fixture(scope="module")
def open_address(serve: Serve, lan_folder: Path) -> Iterator[str]:
    """The printed address of a dashboard that is open to the network."""
    with serve(lan_folder, "--lan") as local:
        yield printed(lan_folder, local)


def printed(folder: Path, local: str) -> str:
    """Return the address with the token for the network, from what the terminal shows."""
    try:
        host = command.hosts_in_network()[0]
    except EvrouteError:
        pytest.skip("this machine has no network")
    text = (folder / "log").read_text(encoding="utf-8")
    assert "NOT encrypted" in text
    found = re.search(rf"http://{re.escape(host)}:{urlsplit(local).port}/\?token=(\S+)", text)
    assert found is not None, text
    assert len(base64.urlsafe_b64decode(found[1] + "==")) * 8 == 128
    return found[0]


def status(
    address: str, path: str, cookie: str = "", *, websocket: bool = False, origin: str = ""
) -> int:
    """Return the status of an address of the server: 101 is an opened WebSocket."""
    host = urlsplit(address).netloc
    headers = {"Cookie": cookie} if cookie else {}
    if websocket:
        key = base64.b64encode(os.urandom(16)).decode()
        headers |= {
            "Origin": origin or f"http://{host}",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
        }
    line = http.client.HTTPConnection(host, timeout=60)
    line.request("GET", path, headers=headers)
    found = line.getresponse().status
    line.close()
    return found


def cookie_of(address: str) -> str:
    """Return the cookie that the printed address is exchanged for."""
    line = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    line.request("GET", f"/?{urlsplit(address).query}")
    text = line.getresponse().getheader("Set-Cookie") or ""
    line.close()
    return text.partition(";")[0]


@pytest.mark.slow
def test_each_path_and_the_websocket_need_the_token(open_address: str) -> None:
    right = cookie_of(open_address)
    wrong = f"{right[:-1]}{'A' if right[-1] != 'A' else 'B'}"
    for path in PATHS:
        joint = "&" if "?" in path else "?"
        assert status(open_address, path) == 401, path
        assert status(open_address, path, wrong) == 401, path
        assert status(open_address, f"{path}{joint}token=wrong") == 401, path
        assert status(open_address, f"{path}{joint}{urlsplit(open_address).query}") == 303, path
        assert status(open_address, path, right) != 401, path
    stream = "/_stcore/stream"
    assert status(open_address, stream, websocket=True) == 403
    assert status(open_address, stream, wrong, websocket=True) == 403
    with_token = f"{stream}?{urlsplit(open_address).query}"
    assert status(open_address, with_token, websocket=True) == 403
    assert status(open_address, stream, right, websocket=True) == 101
    beside = f"http://{urlsplit(open_address).hostname}:9"
    assert status(open_address, stream, right, websocket=True, origin=beside) == 403


def opened(browser: Any, address: str) -> Page:
    """Open an address in a browser of its own and wait for its plan."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page: Page = context.new_page()
    page.goto(address)
    page.locator(".evroute-cards button").first.wait_for()
    return page


def after_the_trip(page: Page) -> Any:
    page.get_by_role("tab", name="Arrived").click()
    arrival = page.get_by_role("spinbutton", name="Charge on arrival (%)")
    arrival.fill("10")
    arrival.press("Enter")
    page.get_by_text("Planned").first.wait_for()
    return page.get_by_role("button", name="Add this trip")


@pytest.mark.browser
@pytest.mark.slow
def test_a_tab_from_the_network_plans_and_reads(
    browser: Any, open_address: str, lan_folder: Path
) -> None:
    page = opened(browser, open_address)
    assert "token" not in page.url
    assert page.evaluate("document.cookie").find("evroute_lan") == -1, "scripts cannot read it"
    assert [each["httpOnly"] for each in page.context.cookies() if each["name"] == "evroute_lan"]
    expect(page.get_by_text("so it plans and reads")).to_be_visible(timeout=PATIENCE_MS)
    expect(after_the_trip(page)).to_be_disabled(timeout=PATIENCE_MS)
    page.get_by_role("button", name=re.compile("^Charge")).click()
    slider = page.get_by_role("slider", name="Charge at the start")
    slider.press("ArrowLeft")
    page.wait_for_url(lambda url: "soc=" in url)
    page.get_by_role("link", name="Learn").click()
    page.get_by_role("button", name="With my trip").click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled(timeout=PATIENCE_MS)
    assert not (lan_folder / "profile.json").exists()
    page.context.close()


@pytest.mark.browser
@pytest.mark.slow
def test_a_tab_on_this_machine_learns(browser: Any, open_address: str) -> None:
    where = urlsplit(open_address)
    page = opened(browser, open_address.replace(where.netloc, f"127.0.0.1:{where.port}"))
    expect(after_the_trip(page)).to_be_enabled(timeout=PATIENCE_MS)
    page.context.close()


@pytest.mark.browser
@pytest.mark.slow
def test_lan_write_lets_tabs_from_the_network_learn(
    browser: Any, serve: Serve, tmp_path: Path
) -> None:
    with serve(tmp_path, "--lan-write") as local:
        page = opened(browser, printed(tmp_path, local))
        after_the_trip(page).click()
        expect(page.get_by_text("Added. The page My car shows 1 trip")).to_be_visible(
            timeout=PATIENCE_MS
        )
        page.context.close()
