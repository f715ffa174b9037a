"""The running dashboard in a real browser that reaches nothing but it: what a user does."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGSTOP, SIGTERM
from threading import Event, Thread
from time import sleep
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request, Route, expect

from evroute.experiments.runs import RunFolder

PATIENCE_MS = 600_000
TOO_LARGE = 101 * 2**20
TERMINATED = 1 << (SIGTERM - 1)
"""Bit of a request to end among the pending signals of a process."""
STILL = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState
    === 'notRunning'
  && !document.querySelector('[data-testid=stSpinner]')"""

AT_LEAST = {"x": 1000, "y": 840}
"""Width and height of the map on a window of 1400 x 900, pixels."""
SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop > 100"
OTHER_CARDS = """(old) => {
  const cards = Array.from(document.querySelectorAll('.evroute-cards button'),
    (x) => x.innerText.replace(/[0-9]+:[0-9]{2}/, ''));
  return cards.length > 0 && JSON.stringify(cards) !== JSON.stringify(old);
}"""
OVERLAPS = """() => {
  const boxes = Array.from(document.querySelectorAll('.evroute-label:not([hidden]), .evroute-pin'),
    (element) => element.getBoundingClientRect());
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom
    && b.top < a.bottom;
  return boxes.flatMap((a, k) => boxes.slice(k + 1).filter((b) => overlap(a, b))).length;
}"""
"""Number of pairs of labels and pins that overlap."""

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

    def open(self, path: str = "", scheme: Any = "light") -> Page:
        page: Page = self.context.new_page()
        page.emulate_media(color_scheme=scheme)
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
def tabs(browser: Any, dashboard: str, dashboard_folder: Path) -> Iterator[Tabs]:
    (dashboard_folder / "profile.json").unlink(missing_ok=True)  # each test is a first visit
    opened = Tabs(browser, dashboard)
    yield opened
    opened.close()


def still(page: Page) -> None:
    """Wait until the script of a page is not running; it may not have begun."""
    page.wait_for_function(STILL)


def cards(page: Page) -> list[str]:
    """Return the texts of the cards of a page that was opened now, and so had none before.

    They are without the clock of the arrival, which goes on between two plans.
    """
    page.locator(".evroute-cards button").first.wait_for()
    texts = page.locator(".evroute-cards button").all_inner_texts()
    return [re.sub("[0-9]+:[0-9]{2}", "", text, count=1) for text in texts]


def other_cards(page: Page, old: list[str]) -> list[str]:
    """Return the texts of the cards as soon as there are others than ``old``."""
    page.wait_for_function(OTHER_CARDS, arg=old)
    return cards(page)


def drawn(page: Page) -> Any:
    """Return the map once it is drawn."""
    page.locator(".evroute-map[data-drawn]").wait_for(state="attached")
    return page.locator(".evroute-map")


def accessible(page: Page, name: str) -> None:
    """Check that axe-core finds nothing serious on a page, in the colours that it has."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        f"{name}: {each['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert serious == []


def test_a_plan_by_clicks_and_drags_by_a_link_and_in_two_tabs(tabs: Tabs, tmp_path: Path) -> None:
    page = tabs.open()
    board = drawn(page)
    hint, pins = page.locator(".evroute-hint"), page.locator(".evroute-pin")
    expect(hint).to_have_text("Example trip. Click the map to plan your own.")
    expect(pins).to_have_text(["A", "B"])
    scale_line = board.locator(".leaflet-control-scale-line")
    before = scale_line.inner_text()
    board.locator(".leaflet-control-zoom-in").click()
    expect(scale_line).not_to_have_text(before)  # it changes when the map has stopped moving
    expect(page.locator(".evroute-names")).to_have_attribute("data-count", re.compile("[1-9]"))
    box = board.bounding_box()
    assert box is not None

    def at(x: float, y: float) -> tuple[float, float]:
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def view() -> str:
        return str(scale_line.inner_text())

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
    second = other_cards(page, first)
    pins.nth(1).click()
    page.get_by_role("menuitem", name="Remove this stop").click()
    expect(pins).to_have_text(["A", "B"])
    assert other_cards(page, second) == first

    page.mouse.move(*centre(pins.nth(1)))
    page.mouse.down()
    page.mouse.move(*at(0.3, 0.55), steps=8)
    page.mouse.up()
    dragged = other_cards(page, first)

    two = tabs.open("?trip=B&max_extra_time=35%25&soc=55")
    other = cards(two)
    assert other != dragged
    assert cards(page) == dragged, "tabs keep to themselves"
    two.wait_for_url(lambda url: "reserve=" in url)  # the page has written its own address
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


FOCUSABLE = """() => Array.from(document.querySelectorAll(
  'a[href], button, input, select, textarea, summary, [tabindex]'), (element) => {
    const box = element.getBoundingClientRect();
    return element.tabIndex >= 0 && !element.disabled && element.checkVisibility()
      && box.width > 0 && box.height > 0 && box.top < innerHeight && box.bottom > 0;
  }).filter(Boolean).length"""
WORDS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const boxes = [range.getBoundingClientRect(), parentElement.getBoundingClientRect()];
    const isOut = ({ width, top, bottom }) => width < 1 || top >= innerHeight || bottom <= 0;
    if (boxes.some(isOut)) continue;
    if (parentElement.closest('script, style') || !parentElement.checkVisibility()) continue;
    words += data.trim().split(/\\s+/).filter((word) => word && word !== 'expand_more').length;
  }
  return words;
}"""
"""Numbers of the focusable elements and of the words above the fold, without icons."""


def test_the_first_screen_has_one_answer(tabs: Tabs) -> None:
    page = tabs.open()
    page.set_viewport_size({"width": 1400, "height": 900})
    drawn(page)
    page.locator(".evroute-names").wait_for(state="attached")
    expect(page.locator(".evroute-verdict")).to_have_text(["You get there: 92 %"])
    assert page.evaluate(FOCUSABLE) <= 18
    assert page.evaluate(WORDS) <= 120
    legend = page.locator(".evroute-legend")
    expect(legend).to_be_visible()
    again = tabs.open()
    drawn(again)
    expect(again.locator(".evroute-legend")).to_be_hidden()
    again.get_by_title("Layers and legend").hover(force=True)
    expect(again.locator(".evroute-legend")).to_be_visible()


def test_earlier_addresses_lead_to_the_pages_in_their_place(tabs: Tabs) -> None:
    page = tabs.open("runs?compared=none")
    page.wait_for_url("**/learn?*")
    expect(page.get_by_text("the learned routes have taken").first).to_be_visible()
    page = tabs.open("network?layer=incline+(%25)")
    page.wait_for_url("**/advanced?*")
    expect(page.get_by_text("1,330 edges")).to_be_visible()


def test_a_first_visit_names_the_refused_route_and_has_more_routes(tabs: Tabs) -> None:
    page = tabs.open()
    expect(page.get_by_text("Fastest refused")).to_contain_text("keeps 10 % in")
    board = drawn(page)
    before = board.get_attribute("data-selected")
    more = page.get_by_role("tab", name="More routes")
    more.click()
    others = page.locator(".evroute-list button")
    expect(others.first).to_contain_text("Recommended")
    others.last.click()
    expect(others.last).to_have_attribute("aria-pressed", "true")
    expect(board).not_to_have_attribute("data-selected", before)
    expect(page.locator(".evroute-cards:not(.evroute-list) button")).to_have_count(2)
    more.click()
    expect(others).to_have_count(0)
    more.press("ArrowRight")
    energy = page.get_by_role("tab", name="Energy")
    expect(energy).to_be_focused()
    energy.press("Enter")
    expect(energy).to_have_attribute("aria-selected", "true")
    expect(page.locator(".evroute-bar")).to_be_visible()
    way = page.get_by_role("slider", name="Charge along the route")
    way.focus()
    runs = board.get_attribute("data-drawn")
    page.keyboard.press("Home")
    expect(way).to_have_attribute("aria-valuetext", re.compile("here 11"))
    page.keyboard.press("ArrowRight")
    expect(way).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("End")
    expect(way).to_have_attribute("aria-valuetext", re.compile(r"^here 1\d"))
    expect(page.locator(".evroute-here")).to_have_text(re.compile("^here"))
    assert board.get_attribute("data-drawn") == runs, "no rerun"
    page.locator(".evroute-map").click(position={"x": 500, "y": 300})
    expect(page.get_by_role("button", name="Charge 80 %")).to_be_visible()


def centre(element: Any) -> tuple[float, float]:
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_cards_and_lines_select_a_route_and_enough_charge_is_one_click(tabs: Tabs) -> None:
    page = tabs.open("?trip=A")
    board = drawn(page)
    page.get_by_role("tab", name="More routes").click()
    buttons = page.locator(".evroute-list button")
    expect(buttons.nth(0)).to_have_attribute("aria-pressed", "true")
    first = board.get_attribute("data-selected")
    buttons.nth(1).click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "true")
    # the map is drawn after the cards; its old labels name the route that is selected by now
    expect(board).not_to_have_attribute("data-selected", first)
    assert page.evaluate(OVERLAPS) == 0
    board.locator(".evroute-label:not([hidden])").first.click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "false")
    page.wait_for_url(lambda url: "route=" in url)
    board.get_by_title("Layers").hover(force=True)
    for name, label in {"stations": "Charging stations", "range": "Range of the charge"}.items():
        board.get_by_label(label).click()
        board.and_(page.locator(f"[data-{name}]")).wait_for()
    expect(page.get_by_text(re.compile("^80 % reaches .* km of road"))).to_be_visible()
    page.wait_for_url(lambda url: "range=True" in url)
    page.get_by_role("tab", name="Streets").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    accessible(page, "Plan")

    page = tabs.open("?trip=A&soc=1&reserve=1")
    use = page.get_by_role("button", name="Use")
    expect(use).to_be_visible()
    expect(page.locator(".evroute-map.evroute-dim")).to_have_count(1)
    accessible(page, "Plan with too little charge")
    use.click()
    expect(use).to_have_count(0)
    expect(page.locator(".evroute-map.evroute-dim")).to_have_count(0)


def test_a_plan_by_its_address_survives_its_tabs_and_other_pages(
    tabs: Tabs, dashboard_folder: Path, other_city: str
) -> None:
    ends = ("Blake Street & 17th Street", "Broadway & 20th Street")
    page = tabs.open(
        f"?{urlencode({'network': other_city, 'from': ends[0], 'to': ends[1], 'charge': True})}"
    )
    page.wait_for_url(lambda url: "reserve=" in url)
    before = cards(page)
    page.get_by_role("tab", name="Streets").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    page.get_by_role("link", name="My car").click()
    page.wait_for_url(f"**/car?*network={other_city}*")
    expect(page.get_by_role("button", name="Other City")).to_be_visible()
    still(page)
    assert not (dashboard_folder / "profile.json").exists()
    page.get_by_role("link", name="Learn").click()
    page.get_by_role("button", name="With my trip").click()
    expect(page.get_by_role("combobox", name="From")).to_have_value(ends[0])
    page.get_by_role("link", name="Plan", exact=True).click()
    assert cards(page) == before
    page.wait_for_url(lambda url: f"network={other_city}" in url and "charge=yes" in url)
    assert not (dashboard_folder / "profile.json").exists()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_plan_page_fits_a_screen_and_a_phone(tabs: Tabs, width: int, height: int) -> None:
    page = tabs.open("?trip=A")
    page.set_viewport_size({"width": width, "height": height})
    drawn(page)
    sized = (
        "({x, y}) => { const box = document.querySelector('.evroute-map').getBoundingClientRect();"
    )
    if width > 640:
        page.wait_for_function(
            f"{sized} return box.width >= x && box.height >= y; }}", arg=AT_LEAST
        )
        assert page.locator(".evroute-legend").bounding_box()["width"] <= 220
        assert page.locator(".evroute-cards button").first.bounding_box()["y"] < 300
    else:
        share = {"x": width, "y": 0.45 * height}
        page.wait_for_function(f"{sized} return Math.abs(box.height - y) <= 2; }}", arg=share)
        page.get_by_role("tab", name="Energy").click()
        page.locator(".evroute-bar").scroll_into_view_if_needed()
        page.mouse.move(200, 700)
        page.mouse.wheel(0, 500)
        page.wait_for_function(SCROLLED)
        assert page.locator(".evroute-map").bounding_box()["y"] < 60, "the map stays in view"
    for label in ("From", "To"):
        assert page.locator(".evroute-search label", has_text=label).bounding_box()["width"] > 10
    tops = {chip.bounding_box()["y"] for chip in page.locator(".st-key-chips button").all()}
    assert len(tops) <= 2, "chips in at most two rows"
    expect(page.locator(".evroute-cards button").first).to_contain_text(re.compile("[0-9]:[0-5]"))
    assert page.evaluate(OVERLAPS) == 0
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    assert page.locator("iframe").count() == 0


class Suspended(Thread):
    """The simulation below a folder, suspended once it has finished a number of runs.

    It then ends neither before nor after what a test does, however busy the machine is.
    """

    def __init__(self, folder: Path, runs: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.runs, self.process, self.over = folder, runs, 0, Event()

    def __enter__(self) -> "Suspended":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.join()
        if self.process:
            with suppress(ProcessLookupError):
                os.kill(self.process, SIGCONT)

    def run(self) -> None:
        while not self.over.wait(0.02):
            for folder in map(RunFolder, self.folder.glob("denver-*")):
                if len(folder.finished_runs()) >= self.runs and (writer := folder.writer()):
                    self.process = writer[0]
                    os.kill(self.process, SIGSTOP)
                    return

    def end(self) -> None:
        """Go on as soon as the request to end has arrived."""
        status = Path(f"/proc/{self.process}/status")
        while not int(re.search(r"ShdPnd:\s*(\w+)", status.read_text())[1], 16) & TERMINATED:
            sleep(0.02)
        os.kill(self.process, SIGCONT)


def test_a_simulation_learns_stops_and_goes_on_while_another_tab_plans(
    tabs: Tabs, dashboard_folder: Path
) -> None:
    page = tabs.open("learn?horizon=100")
    stop, go = (page.get_by_role("button", name=name, exact=True) for name in ("Stop", "Start"))
    page.get_by_text("Methods and worlds").click()
    page.get_by_role("slider", name="Worlds").press("End")
    expect(page.get_by_text("20 runs of 100 trips take about")).to_be_visible()
    with Suspended(dashboard_folder / "runs", 3) as simulation:
        go.click()
        expect(stop).to_be_enabled()
        page.locator(".evroute-map path.evroute-casing").wait_for(state="attached")

        planning = tabs.open("?trip=A")
        before = cards(planning)
        planning.get_by_role("button", name="⇅").click()
        other_cards(planning, before)
        expect(page.get_by_text(re.compile(r"^[1-9][\d,]* of 2,000 trips"))).to_be_visible()
        simulation.join()
        expect(stop).to_be_enabled()
        stop.click()
        simulation.end()
        proceed = page.get_by_role("button", name="Continue", exact=True)
        expect(proceed).to_be_enabled()
    (folder,) = (dashboard_folder / "runs").glob("denver-*")
    finished = RunFolder(folder).finished_runs()
    assert 3 <= len(finished) < 20
    with Suspended(dashboard_folder / "runs", len(finished) + 1) as simulation:
        proceed.click()
        expect(stop).to_be_enabled()
        simulation.join()
        stop.click()
        simulation.end()
        expect(stop).to_be_disabled()
    assert set(finished) <= set(RunFolder(folder).finished_runs())

    page.get_by_role("slider", name="Worlds").press("Home")
    expect(page.get_by_text(re.compile(r"1 run of \d+ trips takes about"))).to_be_visible()
    page.get_by_role("slider", name=re.compile("^Trips")).press("Home")
    expect(page.get_by_text("1 run of 10 trips takes about")).to_be_visible()
    expect(page.get_by_text("Press Start")).to_be_visible()  # the findings of before are gone
    go.click()
    expect(page.get_by_text("than routes by physics alone (1 world)").first).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart] svg, canvas.marks").first).to_be_visible()
    accessible(page, "Learn")
    page.get_by_role("button", name="Back to the example").click()
    expect(page.get_by_text("the learned routes have taken").first).to_be_visible()
    page.get_by_role("combobox", name="Saved runs").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    expect(
        page.get_by_text(re.compile("^Roads driven by recommended method")).first
    ).to_be_visible()
    page.locator(".evroute-map[data-roads]").last.wait_for()
    accessible(page, "Learn, the shipped run and a saved one")
    page.get_by_text("All figures").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Figure: cumulative-regret (SVG)").click()
    assert Path(taken.value.path()).read_text(encoding="utf-8").startswith("<svg")
    page.get_by_role("link", name="Advanced").click()
    expect(page.get_by_text("1,330 edges")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()
    accessible(page, "Advanced")


def test_own_trips_survive_a_reload_and_are_the_basis_of_plans(tabs: Tabs) -> None:
    page = tabs.open("car")
    expect(page.get_by_text("No trips of this car yet")).to_be_visible()
    log = Path(__file__).parents[2] / "data" / "examples" / "points.csv"
    page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(log)
    expect(page.get_by_text("points.csv")).to_be_visible()
    page.get_by_role("button", name="Learn these trips").click()
    expect(page.get_by_text("points.csv: learned 1 trip.")).to_be_visible()
    page = tabs.open("car", "dark")  # another session, as after a reload
    expect(page.get_by_text("1 trip. Plans of this car use them")).to_be_visible()
    page.locator(".evroute-map path").first.wait_for(state="attached")
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(2)
    accessible(page, "My car, dark")
    page.get_by_role("link", name="Plan", exact=True).click()
    expect(page.get_by_role("button", name="By my trip")).to_be_visible()
    drawn(page)
    accessible(page, "Plan, dark")


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
