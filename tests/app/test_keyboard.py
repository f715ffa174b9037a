"""The keyboard in a real browser: each press of an arrow key counts."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

PATIENCE_MS = 120_000
PAUSE_MS = 60
PRESSES = 60

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page(open_plan: Callable[[str, int], Page]) -> Page:
    """The page Plan with its cards."""
    return open_plan("network=denver&trip=A&soc=90&reserve=1", PATIENCE_MS)


def test_a_slider_takes_a_step_for_each_press(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Charge")).first.click()
    slider = page.get_by_role("slider", name="Charge at the start")
    expect(slider).to_have_value("90", timeout=PATIENCE_MS)
    for press in range(PRESSES):
        slider.press("ArrowLeft")
        page.wait_for_timeout(PAUSE_MS * (press % 2))  # slower than the page draws, and faster
    page.wait_for_url(lambda url: f"soc={90 - PRESSES}&" in url)
    expect(slider).to_have_value(str(90 - PRESSES))
    keep = page.get_by_role("slider", name="Charge to keep")
    for press in range(20):
        keep.press("ArrowRight")
        page.wait_for_timeout(PAUSE_MS * (press % 2))
    page.wait_for_url(lambda url: "reserve=21&" in url)
    expect(keep).to_have_value("21")


def test_arrow_keys_move_the_mark_on_picture_and_map(page: Page) -> None:
    picture = page.get_by_role("slider", name="Charge along the route")
    picture.focus()
    for _ in range(3):
        picture.press("ArrowRight")
    expect(picture).to_have_attribute("aria-valuenow", "3")
    expect(page.locator(".evroute-here")).to_have_text(re.compile(r"^here \d+(\.\d)? %"))
    mark = page.locator("path[stroke='#222222'][fill='#ffffff']")
    expect(mark).to_have_count(1)
    before = mark.get_attribute("d")
    picture.press("End")
    expect(picture).to_have_attribute("aria-valuenow", "100")
    assert mark.get_attribute("d") != before


def test_numbers_survive_other_pages_and_new_plans_behind_closed_chips(page: Page) -> None:
    page.wait_for_url(lambda url: "soc=90" in url)
    for name in ("My car", "Learn", "Plan"):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(lambda url, name=name: ("/?" in url) == (name == "Plan"))
        page.wait_for_timeout(500)  # the page begins to draw itself
    page.locator(".evroute-cards button").first.wait_for()
    page.wait_for_url(lambda url: "soc=90" in url)
    expect(page.get_by_role("button", name="Nissan Leaf 40 · 38 kWh")).to_be_visible()
    assert "battery_kwh" not in page.url
    assert "reserve=1&" in page.url
    for _ in range(2):
        old = page.url
        page.get_by_role("button", name="⇅").click()
        page.wait_for_url(lambda url, old=old: url != old)
    page.get_by_role("button", name=re.compile("^Charge")).first.click()
    expect(page.get_by_role("slider", name="Charge at the start")).to_have_value("90")
    limit = page.get_by_role("radio", name="10 %")
    expect(limit).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Nissan Leaf 40 · 38 kWh").click()
    expect(page.get_by_label("Usable battery (kWh)").first).to_have_value("38.00")
