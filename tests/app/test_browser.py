"""The running dashboard in a real browser that reaches nothing but it: what a user does."""

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


def cards(page: Page) -> list[str]:
    still(page)
    page.locator(".evroute-cards button").first.wait_for()
    return page.locator(".evroute-cards button").all_inner_texts()


def drawn(page: Page) -> Any:
    """Return the map once it is drawn."""
    still(page)
    page.locator(".evroute-map[data-drawn]").wait_for(state="attached")
    return page.locator(".evroute-map")


def choose(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_plan_by_clicks_and_drags_by_a_link_and_in_two_tabs(tabs: Tabs, tmp_path: Path) -> None:
    page = tabs.open()
    board = drawn(page)
    hint, pins = page.locator(".evroute-hint"), page.locator(".evroute-pin")
    expect(hint).to_have_text("Example trip. Click the map to plan your own.")
    expect(pins).to_have_text(["A", "B"])
    board.locator(".leaflet-control-zoom-in").click()
    page.wait_for_timeout(800)
    box = board.bounding_box()
    assert box is not None

    def at(x: float, y: float) -> tuple[float, float]:
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def view() -> str:
        return str(board.locator(".leaflet-control-scale-line").inner_text())

    scale = view()
    page.mouse.click(*at(0.45, 0.4))
    expect(hint).to_contain_text("Now click where you are going")
    expect(pins).to_have_text(["A"])
    page.mouse.click(*at(0.58, 0.7))
    expect(pins).to_have_text(["A", "B"])
    expect(board.locator("path.evroute-selected").first).to_be_attached()
    expect(board.locator("path.evroute-casing")).to_have_count(1)
    assert view() == scale, "the zoom survives the clicks"
    first = cards(page)
    assert "from=" in page.url

    page.mouse.click(*at(0.5, 0.3), button="right")
    page.get_by_role("menuitem", name="Stop here").click()
    expect(pins).to_have_text(["A", "1", "B"])
    expect(page.get_by_role("combobox", name="Stop 1")).to_be_visible()
    second = cards(page)
    assert second != first
    pins.nth(1).click()
    page.get_by_role("menuitem", name="Remove this stop").click()
    expect(pins).to_have_text(["A", "B"])
    assert cards(page) == first

    url = page.url
    page.mouse.move(*centre(pins.nth(1)))
    page.mouse.down()
    page.mouse.move(*at(0.3, 0.55), steps=8)
    page.mouse.up()
    page.wait_for_url(lambda now: now != url)
    assert cards(page) != first

    two = tabs.open("?trip=B&limited=True&extra=35&soc=55")
    other = cards(two)
    assert other != cards(page), "tabs keep to themselves"
    assert "soc=55" in two.url
    again = tabs.open(two.url.removeprefix(f"{tabs.dashboard}/"))
    assert cards(again) == other
    expect(again.get_by_role("button", name="Charge 55 %")).to_be_visible()

    large = tmp_path / "large.osm"
    with large.open("wb") as file:
        file.truncate(TOO_LARGE)
    again.get_by_role("button", name="Denver").click()
    again.get_by_text("Bring your own roads").click()
    again.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(large)
    expect(again.get_by_text("must be 100.0MB or smaller")).to_be_visible()


def centre(element: Any) -> tuple[float, float]:
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_cards_and_lines_select_a_route_and_enough_charge_is_one_click(tabs: Tabs) -> None:
    page = tabs.open("?trip=A")
    board = drawn(page)
    buttons = page.locator(".evroute-cards button")
    expect(buttons.nth(0)).to_have_attribute("aria-pressed", "true")
    first = board.get_attribute("data-selected")
    buttons.nth(1).click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "true")
    # the map is drawn after the cards; its old labels name the route that is selected by now
    expect(board).not_to_have_attribute("data-selected", first)
    board.locator(".evroute-label").first.click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "false")
    still(page)
    assert "route=" in page.url
    page.get_by_role("tab", name="Streets").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()

    page = tabs.open("?trip=A&soc=1&reserve=1")
    use = page.get_by_role("button", name="Use")
    expect(use).to_be_visible()
    expect(page.locator(".evroute-map.evroute-dim")).to_have_count(1)
    use.click()
    expect(use).to_have_count(0)
    expect(page.locator(".evroute-map.evroute-dim")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_plan_page_fits_a_screen_and_a_phone(tabs: Tabs, width: int, height: int) -> None:
    page = tabs.open("?trip=A")
    page.set_viewport_size({"width": width, "height": height})
    box = drawn(page).bounding_box()
    page.wait_for_timeout(500)
    box = page.locator(".evroute-map").bounding_box()
    assert box is not None
    if width > 640:
        assert box["width"] >= 1000
        assert box["height"] >= 840
        assert page.locator(".evroute-legend").bounding_box()["width"] <= 220
    else:
        assert box["height"] == pytest.approx(0.45 * height, abs=2)
        page.mouse.move(200, 700)
        page.mouse.wheel(0, 500)
        page.wait_for_timeout(500)
        assert page.locator(".evroute-map").bounding_box()["y"] < 60, "the map stays in view"
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    assert page.locator("iframe").count() == 0


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
    page.locator(".evroute-map path").first.wait_for(state="attached")

    planning = tabs.open()
    before = cards(planning)
    planning.get_by_role("button", name="⇅").click()
    expect(planning.locator(".evroute-cards button").first).not_to_have_text(before[0])
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
    expect(page.get_by_text("than routes by physics alone").first).to_be_visible()
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
