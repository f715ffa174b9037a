"""The box to search in, in a real browser: keyboard, pointer, screen reader, late answers.

Addresses of suggestions answer the page's own host alone.
"""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Request, Route, expect

PATIENCE_MS = 120_000
WALNUT = "Walnut Street & 33rd Street"

expect.set_options(timeout=PATIENCE_MS)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def opened(browser: Any, dashboard: str) -> Iterator[Page]:
    """The page Plan, opened with its example; no script of it fails."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(dashboard)
    page.locator(".evroute-cards button").first.wait_for()
    yield page
    context.close()
    assert wrong == []


@pytest.fixture
def page(opened: Page) -> Page:
    """The page as the test before left it, on a large screen."""
    opened.unroute_all()
    opened.set_viewport_size({"width": 1400, "height": 900})
    opened.keyboard.press("Escape")
    return opened


def written(page: Page, text: str, label: str = "From") -> Locator:
    """Write into the emptied box and return it."""
    box = page.get_by_role("combobox", name=label, exact=True)
    box.click()
    box.fill("")
    box.press_sequentially(text)
    return box


def options(page: Page) -> Locator:
    return page.get_by_role("option")


def answered(page: Page) -> None:
    """Wait until the list belongs to the whole text."""
    expect(page.locator(".evroute-search [aria-busy=true]")).to_have_count(0)


def place_of(page: Page, name: str, text: str) -> None:
    """Wait until the address of the page has a place."""
    page.wait_for_url(lambda url: f"{name}={quote(text, safe='').replace('%20', '+')}" in url)


def test_enter_takes_the_best_hit_and_arrows_others(page: Page) -> None:
    box = written(page, "Walnt Stret & 33")
    expect(options(page).first).to_contain_text(WALNUT)
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("Enter")
    place_of(page, "from", WALNUT)
    expect(box).to_have_value(WALNUT)
    expect(box).to_have_attribute("aria-expanded", "false")

    box = written(page, "larimar")
    answered(page)
    expect(options(page).nth(1)).to_contain_text("Larimer")
    box.press("ArrowDown")
    box.press("ArrowDown")
    second = options(page).nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", second.get_attribute("id") or "none")
    label = second.locator("span").inner_text()
    box.press("Enter")
    place_of(page, "from", label)
    expect(box).to_have_value(label)


def test_every_suggestion_can_be_clicked_and_escape_changes_nothing(page: Page) -> None:
    box = page.get_by_role("combobox", name="To", exact=True)
    before, address = box.input_value(), page.url
    box = written(page, "brodway and 20th", "To")
    expect(options(page).first).to_contain_text("20th Street")
    box.press("Escape")
    expect(options(page)).to_have_count(0)
    box.press("Escape")
    expect(box).to_have_value(before)
    assert page.url == address
    written(page, "champa & 2", "To")
    answered(page)
    last = options(page).last
    label = last.locator("span").inner_text()
    last.click()
    place_of(page, "to", label)


def test_an_answer_that_comes_late_is_dropped(page: Page) -> None:
    held: list[Route] = []

    def is_cur(request: Request) -> bool:
        return parse_qs(urlsplit(request.url).query).get("text") == ["cur"]

    def hold(route: Route) -> None:
        if is_cur(route.request):
            held.append(route)
        else:
            route.continue_()

    page.route("**/evroute/places*", hold)
    with page.expect_request(is_cur):  # places chosen before follow the text in the address
        box = written(page, "cur")
    box.press_sequentially("tis & 33")
    expect(options(page).first).to_contain_text("Curtis Street")
    answered(page)
    shown = options(page).all_inner_texts()
    held[0].fulfill(json=[{"label": "too late", "kind": "place", "text": "1,1"}])
    with page.expect_response("**/evroute/places*"):
        box.press_sequentially("r")
    answered(page)
    expect(options(page).first).to_contain_text("Curtis Street")
    assert options(page).all_inner_texts()[0] == shown[0]
    assert "too late" not in page.content()


def test_enter_before_the_answer_takes_the_best_hit_of_that_text(page: Page) -> None:
    box = page.get_by_role("combobox", name="From", exact=True)
    box.click()
    box.fill("Stuot & 25")
    box.press("Enter")
    place_of(page, "from", "Stout Street & 25th Street")
    expect(box).to_have_value("Stout Street & 25th Street")


def test_without_suggestions_the_page_finds_the_place(page: Page) -> None:
    page.route("**/evroute/places*", lambda route: route.abort())
    box = written(page, "Walnt Stret & 33")
    expect(page.get_by_text("Suggestions cannot be reached")).to_be_visible()
    box.press("Enter")
    place_of(page, "from", WALNUT)


def test_a_car_is_chosen_by_its_name(page: Page) -> None:
    page.get_by_role("button", name="Nissan Leaf").click()
    box = written(page, "zoe", "Vehicle")
    expect(options(page)).to_have_text(["Renault Zoe"])
    box.press("Enter")
    expect(page.get_by_role("button", name="Renault Zoe")).to_be_visible()


def test_a_screen_reader_finds_nothing_wrong(page: Page) -> None:
    written(page, "blake")
    expect(options(page).first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="suggestions")).to_have_count(1)
    found = Axe().run(page, context=".evroute-search").response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_on_a_phone_the_list_fits(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    box = page.get_by_role("combobox", name="From", exact=True)
    box.scroll_into_view_if_needed()
    written(page, "blake & 2")
    answered(page)
    listed = page.get_by_role("listbox", name="From").bounding_box()
    assert listed is not None
    assert listed["x"] >= 0
    assert listed["x"] + listed["width"] <= 390
    assert listed["y"] + listed["height"] <= 844
    for option in options(page).all():
        assert option.evaluate("each => each.scrollWidth <= each.clientWidth")


def asked(dashboard: str, path: str, host: str = "") -> tuple[int, Any]:
    """Return status and document of an address; ``host`` replaces the page's own."""
    line = http.client.HTTPConnection(urlsplit(dashboard).netloc, timeout=600)
    line.request("GET", path, headers={"Host": host} if host else {})
    answer = line.getresponse()
    text = answer.read()
    line.close()
    return answer.status, json.loads(text) if answer.status == 200 else text


def test_addresses_answer_their_own_host_alone(page: Page, dashboard: str) -> None:
    with page.expect_request("**/evroute/places*") as request:
        written(page, "bl")
    path = request.value.url.removeprefix(dashboard).replace("text=bl", "text=walnt+%26+33")
    assert asked(dashboard, path)[1][0]["label"] == WALNUT
    assert asked(dashboard, path, "evil.example")[0] == 400
    assert asked(dashboard, path + "&recent=17")[0] == 400
    assert asked(dashboard, path + "&recent=" + "[" * 5000)[0] == 400
    assert asked(dashboard, "/evroute/places?network=unknown&text=a")[0] == 404
    assert asked(dashboard, "/evroute/cars?text=zoe")[1][0]["text"] == "renault-zoe"
    recent = quote(json.dumps(["Blake Street & 24th Street", "39.7,-104.9"]))
    first = asked(dashboard, path.replace("walnt+%26+33", "blake+24") + f"&recent={recent}")[1][0]
    assert first == {"label": "Blake Street & 24th Street", "kind": "recent", "text": "39.7,-104.9"}
