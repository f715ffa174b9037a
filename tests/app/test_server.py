"""The dashboard answers this machine alone, and no page of another site in its browser."""

import base64
import http.client
import json
import os
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.slow
PATIENCE_S = 600


def asked(
    dashboard: str, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> http.client.HTTPResponse:
    """Return the answer to a request with exactly these headers, its Host included."""
    connection = http.client.HTTPConnection(urlsplit(dashboard).netloc, timeout=PATIENCE_S)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    connection.close()
    return answer


def websocket(dashboard: str, host: str, origin: str) -> int:
    """Return the status of a WebSocket's opening: 101 if it is accepted."""
    return asked(
        dashboard,
        "GET",
        "/_stcore/stream",
        {
            "Host": host,
            "Origin": origin,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        },
    ).status


def test_it_listens_on_this_machine_alone(dashboard: str) -> None:
    port = urlsplit(dashboard).port
    assert port is not None
    lines = Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()
    local = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert f"0100007F:{port:04X}" in local
    assert f"00000000:{port:04X}" not in local
    with socket.socket(socket.AF_INET6) as other, pytest.raises(OSError, match="refused"):
        other.connect(("::1", port))


def test_a_websocket_of_another_site_is_refused(dashboard: str) -> None:
    port = urlsplit(dashboard).port
    own = f"127.0.0.1:{port}"
    assert websocket(dashboard, own, dashboard) == 101
    assert websocket(dashboard, f"localhost:{port}", f"http://localhost:{port}") == 101
    for origin in ("http://evil.example", f"http://evil.example:{port}", "null"):
        assert websocket(dashboard, own, origin) == 403


def test_a_websocket_by_another_name_of_this_machine_is_refused(dashboard: str) -> None:
    port = urlsplit(dashboard).port
    assert websocket(dashboard, f"evil.example:{port}", f"http://evil.example:{port}") == 403


def test_an_upload_needs_the_token_of_its_page(dashboard: str) -> None:
    host = urlsplit(dashboard).netloc
    page = asked(dashboard, "GET", "/_stcore/health", {"Host": host})
    token = re.search("_streamlit_xsrf=([^;]+)", page.getheader("Set-Cookie") or "")[1]
    upload = "/_stcore/upload_file/session/file"
    kind = {"Host": host, "Content-Type": "multipart/form-data; boundary=x"}
    body = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\na\r\n--x--\r\n'
    cookie = {"Cookie": f"_streamlit_xsrf={token}"}
    for headers in (kind, kind | cookie, kind | cookie | {"X-Xsrftoken": "other"}):
        assert asked(dashboard, "PUT", upload, headers, body).status == 403
    known = asked(dashboard, "PUT", upload, kind | cookie | {"X-Xsrftoken": token}, body)
    assert known.status == 400, "the token holds; there is no such session"


def test_the_document_asks_for_the_roads_of_its_network_at_once(dashboard: str) -> None:
    def links(path: str) -> list[str]:
        with urlopen(dashboard + path, timeout=PATIENCE_S) as answer:
            document = answer.read().decode()
        return re.findall('<link rel="preload" href="(/evroute[^"]*)" as="fetch"', document)

    roads, names = links("/plan?network=denver")
    assert links("/") == [roads, names], "the usual network"
    assert links("/?network=nowhere") == links("/learn") == []
    with urlopen(dashboard + roads, timeout=PATIENCE_S) as answer:
        assert answer.headers["Cache-Control"] == "private, max-age=3600"
        lines = json.load(answer)
    assert len(lines) == 3, "main, collecting and other roads"
    lat, lon = lines[0][0][0]
    assert (round(lat), round(lon)) == (40, -105)
    with urlopen(dashboard + names, timeout=PATIENCE_S) as answer:
        assert json.load(answer)["streets"]
    host = {"Host": urlsplit(dashboard).netloc}
    assert asked(dashboard, "GET", f"{roads}0", host).status == 404


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no list of open files")
def test_connections_send_the_body_of_a_file_without_waiting_for_the_browser() -> None:
    from warm import send_at_once

    with socket.create_server(("127.0.0.1", 0)) as listening:  # as Streamlit opens its own
        send_at_once()
        with (
            socket.create_connection(listening.getsockname()) as browser,
            listening.accept()[0] as line,
        ):
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert not browser.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
