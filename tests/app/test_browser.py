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


class Watched:
    """A tab that remembers what it asked for and what went wrong."""

    def __init__(self, browser: Any, dashboard: str, path: str = "") -> None:
        self.dashboard = dashboard
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page = browser.new_page(viewport={"width": 1300, "height": 1300})
        self.page.set_default_timeout(PATIENCE_S * 1000)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{dashboard}/{path}")
        if not path.startswith("learn"):
            self.page.frame_locator("iframe").first.locator("path.leaflet-interactive").first.wait_for(
                state="attached"
            )

    def verdict(self) -> str:
        """Wait until the page stands still and return what it says of the plan."""
        self.page.wait_for_timeout(500)
        self.page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget]')")
        return self.page.get_by_test_id("stAlertContentSuccess").first.inner_text()

    def choose(self, box: str, option: str) -> None:
        self.page.get_by_role("combobox", name=box).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def close(self) -> None:
        self.page.wait_for_load_state("networkidle")
        self.page.close()
        strangers = [url[:90] for url in self.asked if not url.startswith((self.dashboard, "data:", "blob:"))]
        assert strangers == [], "everything comes from the dashboard itself"
        assert self.complaints == []


def test_two_clicks_make_a_route_and_nothing_leaves_the_machine(dashboard: str, browser: Any) -> None:
    from playwright.sync_api import expect

    tab = Watched(browser, dashboard)
    page = tab.page
    frame = page.frame_locator("iframe").first
    roads = frame.locator("path.leaflet-interactive")
    roads.nth(5).wait_for(state="attached")
    assert frame.locator(".leaflet-control-layers-overlays label").count() >= 3

    tab.choose("Where to, by", "clicks on the map")
    expect(page.get_by_text("Click on the map where to start.")).to_be_visible(timeout=PATIENCE_S * 1000)
    frame.locator(".leaflet-control-zoom-in").click()
    page.wait_for_timeout(1000)
    shape = roads.first.get_attribute("d")
    box = page.locator("iframe").first.bounding_box()
    page.mouse.click(box["x"] + 0.45 * box["width"], box["y"] + 0.4 * box["height"])
    expect(page.get_by_text("Now click where to go.")).to_be_visible(timeout=PATIENCE_S * 1000)
    frame.locator("path[fill='#ffffff']").wait_for(state="attached")
    page.mouse.click(box["x"] + 0.58 * box["width"], box["y"] + 0.7 * box["height"])
    expect(page.get_by_test_id("stAlertContentSuccess")).to_have_count(1, timeout=PATIENCE_S * 1000)
    frame.locator("path[fill='#222222']").wait_for(state="attached")
    assert roads.first.get_attribute("d") == shape, "the zoom must survive the clicks"
    first = page.get_by_role("table").first.inner_text()

    page.get_by_text("Pass the goal on").click()
    tab.verdict()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"])
    expect(page.get_by_role("table").first).not_to_have_text(first, timeout=PATIENCE_S * 1000)
    tab.close()


def test_a_link_reopens_its_plan_and_tabs_keep_to_themselves(dashboard: str, browser: Any) -> None:
    from playwright.sync_api import expect

    one = Watched(browser, dashboard, "?trip=A&extra=35&charged=True&soc=55")
    two = Watched(browser, dashboard, "?trip=B&extra=35")
    first, second = one.verdict(), two.verdict()
    assert first != second
    slider = one.page.get_by_role("slider", name="Charge at the start (%)")
    expect(slider).to_have_value("55")
    assert "soc=55" in one.page.url
    again = Watched(browser, dashboard, one.page.url.removeprefix(f"{dashboard}/"))
    assert again.verdict() == first
    two.choose("Vehicle", two.page.get_by_role("combobox", name="Vehicle").input_value() or "reference")
    assert two.verdict() == second
    for tab in (one, two, again):
        tab.close()


def test_a_simulation_runs_to_its_end_while_another_tab_plans(dashboard: str, browser: Any) -> None:
    from playwright.sync_api import expect

    learning = Watched(browser, dashboard, "learn")
    button = learning.page.get_by_role("button", name="Run or continue")
    expect(button).to_be_enabled(timeout=PATIENCE_S * 1000)
    button.click()
    expect(learning.page.get_by_role("button", name="Stop")).to_be_enabled(timeout=PATIENCE_S * 1000)

    planning = Watched(browser, dashboard)
    before = planning.verdict()
    started = time.monotonic()
    planning.choose("Trip", "B")
    expect(planning.page.get_by_test_id("stAlertContentSuccess")).not_to_have_text(before, timeout=20_000)
    assert time.monotonic() - started < 20
    planning.close()

    expect(learning.page.get_by_text("Roads driven by")).to_be_visible(timeout=PATIENCE_S * 1000)
    roads = learning.page.frame_locator("iframe").first.locator("path.leaflet-interactive")
    roads.first.wait_for(state="attached")
    learning.page.wait_for_timeout(2000)  # what leaving the page cuts off would count as failed
    learning.page.get_by_role("link", name="Runs").click()
    expect(learning.page.get_by_text("Saved runs")).to_be_visible(timeout=PATIENCE_S * 1000)
    expect(learning.page.get_by_test_id("stVegaLiteChart").first).to_be_visible(timeout=PATIENCE_S * 1000)
    expect(learning.page.get_by_text("up to trip")).to_be_visible(timeout=PATIENCE_S * 1000)
    learning.close()
