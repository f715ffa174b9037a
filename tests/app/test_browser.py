"""The running dashboard in a real browser that reaches nothing but it: two clicks make a route."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

PATIENCE_S = 120

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[str]:
    """The address of a dashboard started as a user does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    command = [sys.executable, "-m", "evroute", "app", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"{address}/_stcore/health")
            yield address
        finally:
            server.terminate()
            server.wait(PATIENCE_S)


def _wait_for(address: str) -> None:
    for _ in range(2 * PATIENCE_S):
        try:
            with urlopen(address):
                return
        except URLError:
            time.sleep(0.5)
    pytest.fail("the dashboard does not answer")


def test_leaflet_comes_from_the_dashboard_itself(dashboard: str) -> None:
    with urlopen(f"{dashboard}/app/static/leaflet/leaflet.js") as answer:
        assert answer.status == 200
        assert "javascript" in answer.headers["content-type"]


def test_two_clicks_make_a_route_and_nothing_leaves_the_machine(dashboard: str, browser: Any) -> None:
    from playwright.sync_api import expect

    asked, complaints = [], []
    page = browser.new_page(viewport={"width": 1300, "height": 1300})
    page.set_default_timeout(PATIENCE_S * 1000)
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(dashboard)
    frame = page.frame_locator("iframe").first
    roads = frame.locator("path.leaflet-interactive")
    roads.nth(5).wait_for(state="attached")
    assert frame.locator(".leaflet-control-layers-overlays label").count() == 4

    page.get_by_role("combobox", name="Trip").click()
    page.get_by_role("option", name="two clicks on the map").click()
    expect(page.get_by_text("Click on the map where to start.")).to_be_visible(timeout=PATIENCE_S * 1000)
    frame.locator(".leaflet-control-zoom-in").click()
    page.wait_for_timeout(1000)
    shape = roads.first.get_attribute("d")
    box = page.locator("iframe").first.bounding_box()
    page.mouse.click(box["x"] + 0.45 * box["width"], box["y"] + 0.4 * box["height"])
    expect(page.get_by_text("Now click where to go.")).to_be_visible(timeout=PATIENCE_S * 1000)
    frame.locator("path[fill='#ffffff']").wait_for(state="attached")
    page.mouse.click(box["x"] + 0.58 * box["width"], box["y"] + 0.7 * box["height"])
    expect(page.get_by_text("the fastest")).to_have_count(1, timeout=PATIENCE_S * 1000)
    frame.locator("path[fill='#222222']").wait_for(state="attached")
    assert roads.first.get_attribute("d") == shape, "the zoom must survive the clicks"
    page.close()
    assert [url[:90] for url in asked if not url.startswith((dashboard, "data:", "blob:"))] == []
    assert complaints == []
