"""Values that the program sets while their chip is closed: a real browser keeps to them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

PATIENCE_MS = 30_000

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def page(open_plan: Callable[[str, int], Page]) -> Page:
    """The page Plan with its cards."""
    return open_plan("network=denver&trip=A&soc=13&reserve=10", PATIENCE_MS)


def swapped(page: Page) -> None:
    """Swap start and destination, which sends all that the browser knows of the inputs."""
    old = page.url
    page.get_by_role("button", name="⇅").click()
    page.wait_for_url(lambda url: url != old)


def test_an_advised_charge_stays(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Charge 13 %")).click()
    slider = page.get_by_role("slider", name="Charge at the start")
    expect(slider).to_have_value("13", timeout=PATIENCE_MS)
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    page.wait_for_url(lambda url: "soc=11&" in url)
    page.keyboard.press("Escape")
    advice = page.get_by_role("button", name=re.compile("^Use [0-9]+ %"))
    percent = re.search("[0-9]+", advice.first.inner_text())
    assert percent is not None
    advice.first.click()
    page.wait_for_url(lambda url: f"soc={percent[0]}&" in url)
    for _ in range(2):
        swapped(page)
        assert f"soc={percent[0]}&" in page.url
    page.get_by_role("button", name=re.compile(f"^Charge {percent[0]} %")).click()
    expect(slider).to_have_value(percent[0])


def test_own_roads_stay_if_their_chip_is_closed_as_they_are_read(
    page: Page, tmp_path: Path
) -> None:
    roads = tmp_path / "town.osm"
    count = 5
    lines = [
        f'<node id="{1 + node}" lat="{49 + node // count / 250}" lon="{6 + node % count / 250}"/>'
        for node in range(count**2)
    ]
    for street in range(count):
        for name, first, step in (("Lane", street * count, 1), ("Road", street, count)):
            points = "".join(f'<nd ref="{1 + first + k * step}"/>' for k in range(count))
            tags = f'<tag k="highway" v="residential"/><tag k="name" v="{name} {street}"/>'
            lines.append(f'<way id="{100 + len(lines)}">{points}{tags}</way>')
    roads.write_text(f'<osm version="0.6">{"".join(lines)}</osm>', encoding="utf-8")
    page.get_by_role("button", name="Denver").click()
    page.get_by_text("Bring your own roads").click()
    box = page.get_by_test_id("stFileUploaderDropzoneInput").first
    box.wait_for(state="attached")
    box.set_input_files(roads)
    page.get_by_text("Reading the roads").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="My Town")).to_be_visible(timeout=PATIENCE_MS)
    for label, place in (("From", "Lane 0 & Road 0"), ("To", "Lane 3 & Road 4")):
        page.get_by_role("combobox", name=label).click()
        page.keyboard.type(place)
        page.get_by_role("option").first.click()
        page.wait_for_url(lambda url, place=place: place.replace(" ", "+").split("&")[0] in url)
    expect(page.get_by_role("button", name="My Town")).to_be_visible()
    assert "network=my-town" in page.url
