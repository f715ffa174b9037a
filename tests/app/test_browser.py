"""The running dashboard in a real browser that reaches nothing but it: what a user does, in two
journeys.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, Request, Route, expect

from evroute.experiments.runs import RunFolder

PATIENCE_MS = 120_000
TOO_LARGE = 101 * 2**20
STILL = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState
    === 'notRunning'
  && !document.querySelector('[data-testid=stSpinner]')"""

expect.set_options(timeout=PATIENCE_MS)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Tabs:
    """Tabs of a browser that is cut off from everything but the dashboard; they remember what went
    wrong.
    """

    def __init__(self, browser: Any, dashboard: str) -> None:
        self.dashboard = dashboard
        self.wrong: list[str] = []
        self.context = browser.new_context(
            viewport={"width": 1300, "height": 1300}, accept_downloads=True
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.route("**/*", self._only_here)
        self.context.on(
            "requestfailed", lambda request: self.wrong.append(f"failed: {request.url}")
        )

    def _only_here(self, route: Route, request: Request) -> None:
        if request.url.startswith((self.dashboard, "data:", "blob:")):
            route.continue_()
        else:
            self.wrong.append(f"asked for: {request.url}")
            route.abort()

    def open(self, path: str = "") -> Page:
        page: Page = self.context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.goto(f"{self.dashboard}/{path}")
        still(page)
        return page

    def close(self) -> None:
        for page in self.context.pages:
            page.wait_for_load_state("networkidle")
        wrong = list(self.wrong)  # what closing cuts off would count as failed
        self.context.close()
        assert wrong == []


@pytest.fixture
def tabs(browser: Any, dashboard: str) -> Iterator[Tabs]:
    opened = Tabs(browser, dashboard)
    yield opened
    opened.close()


def still(page: Page) -> None:
    """Wait until a page has nothing more to say."""
    page.wait_for_timeout(400)
    page.wait_for_function(STILL)


def verdict(page: Page) -> str:
    still(page)
    return page.get_by_test_id("stAlertContentSuccess").first.inner_text()


def choose(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_plan_by_clicks_by_a_link_and_in_two_tabs(tabs: Tabs, tmp_path: Path) -> None:
    page = tabs.open("?by=clicks+on+the+map")
    frame = page.frame_locator("iframe").first
    roads = frame.locator("path.leaflet-interactive")
    roads.first.wait_for(state="attached")
    expect(page.get_by_text("Click the start on the map.")).to_be_visible()
    frame.locator(".leaflet-control-zoom-in").click()
    page.wait_for_timeout(800)
    shape = roads.first.get_attribute("d")
    box = page.locator("iframe").first.bounding_box()
    assert box is not None

    def click(x: float, y: float) -> None:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])

    click(0.45, 0.4)
    expect(page.get_by_text("Click the destination on the map.")).to_be_visible()
    frame.locator("path[fill='#ffffff']").wait_for(state="attached")
    click(0.58, 0.7)
    expect(page.get_by_test_id("stAlertContentSuccess")).to_have_count(1)
    frame.locator("path[fill='#222222']").wait_for(state="attached")
    assert roads.first.get_attribute("d") == shape, "the zoom must survive the clicks"
    assert frame.locator(".leaflet-control-layers-overlays label").count() >= 2
    numbers = page.get_by_role("table").first.inner_text()
    page.get_by_text("Add a stop").click()
    still(page)
    click(0.5, 0.3)
    expect(page.get_by_role("table").first).not_to_have_text(numbers)

    two = tabs.open("?trip=B&extra=35&charged=True&soc=55")
    second = verdict(two)
    assert second != verdict(page), "tabs keep to themselves"
    assert "soc=55" in two.url
    again = tabs.open(two.url.removeprefix(f"{tabs.dashboard}/"))
    assert verdict(again) == second
    expect(again.get_by_role("slider", name="Charge at the start (%)")).to_have_value("55")

    large = tmp_path / "large.osm"
    with large.open("wb") as file:
        file.truncate(TOO_LARGE)
    again.get_by_text("Bring your own roads").click()
    again.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(large)
    expect(again.get_by_text("must be 100.0MB or smaller")).to_be_visible()


def test_a_simulation_learns_stops_and_goes_on_while_another_tab_plans(
    tabs: Tabs, dashboard_folder: Path
) -> None:
    page = tabs.open("learn")
    stop, go = (page.get_by_role("button", name=name, exact=True) for name in ("Stop", "Run"))
    page.get_by_role("slider", name="Worlds").press("End")
    expect(page.get_by_text("60 runs of 100 trips take about")).to_be_visible()
    go.click()
    expect(stop).to_be_enabled()
    expect(page.get_by_text("Roads driven by")).to_be_visible()
    page.frame_locator("iframe").first.locator("path.leaflet-interactive").nth(1).wait_for(
        state="attached"
    )

    planning = tabs.open()
    before = verdict(planning)
    choose(planning, "Trip", "B")
    expect(planning.get_by_test_id("stAlertContentSuccess")).not_to_have_text(before)
    expect(stop).to_be_enabled()
    stop.click()
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_enabled()
    (folder,) = (dashboard_folder / "runs").iterdir()
    finished = RunFolder(folder).finished_runs()
    assert 1 <= len(finished) < 60
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(stop).to_be_enabled()
    stop.click()
    expect(stop).to_be_disabled()
    assert set(finished) <= set(RunFolder(folder).finished_runs())

    page.get_by_role("slider", name="Worlds").press("Home")
    expect(page.get_by_text("3 runs of 100 trips take about")).to_be_visible()
    go.click()
    expect(page.get_by_text("has the least regret")).to_be_visible()
    still(page)
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
    expect(page.get_by_text("up to trip")).to_be_visible()
    still(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Figure: regret (SVG)").click()
    assert Path(taken.value.path()).read_text(encoding="utf-8").startswith("<svg")
    page.get_by_role("link", name="Network").click()
    expect(page.get_by_text("1,330 edges")).to_be_visible()


def test_the_server_gives_nothing_but_its_own_files(dashboard: str) -> None:
    def given(path: str) -> bytes:
        try:
            with urlopen(f"{dashboard}/app/static/{path}") as answer:
                return bytes(answer.read())
        except HTTPError as refused:
            refused.close()
            return b""

    assert b"Leaflet" in given("leaflet/leaflet.js")
    for path in ("..%2Fcache.py", "%2e%2e/cache.py", "leaflet/..%2F..%2Fcache.py"):
        assert b"import streamlit" not in given(path)
    assert b"root:" not in given("%2Fetc%2Fpasswd")
