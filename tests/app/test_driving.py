"""The tab *Driving* says what `Plan.after` says, for where the car is put."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from evroute.resources import app_path

PATIENCE_S, PATIENCE_MS = 600, 600_000


def opened() -> AppTest:
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.query_params["trip"] = "C"
    page.query_params["soc"], page.query_params["reserve"] = "40", "5"
    page.session_state["tab"] = "Driving"
    return page.run()


def said(page: AppTest) -> str:
    assert not page.exception
    return " ".join(each.value for each in page.markdown).replace("\\", "")


def test_it_says_what_is_left_by_the_charge_that_the_car_shows() -> None:
    page = opened()
    plan = page.session_state["last_plan"][1]
    km = plan.recommended_route.length_m / 1000
    assert page.slider(key="driven_km").value == pytest.approx(km / 2, abs=0.06)
    bare = said(page)
    assert "km left" in bare
    assert "You get there" not in bare, "no charge was shown"
    lon, lat = plan.roads.junction_lon_lat
    head = plan.roads.head[plan.recommended_route.route.edges[-8]]
    place = float(lat[head]), float(lon[head])
    page.text_input(key="car_place").set_value(f"{place[0]},{place[1]}")
    page.number_input(key="charge_now").set_value(37.0).run()
    expected = plan.after(lat=place[0], lon=place[1], percent=37.0)
    for sentence in expected.sentences:
        assert f"{sentence[:1].upper()}{sentence[1:]}." in said(page)
    assert "arriving with" in said(page)
    page.number_input(key="charge_now").set_value(30.0).run()
    assert expected.sentences[-1] not in said(page), "a lower charge arrives with less"
    page.slider(key="driven_km").set_value(round(km - 0.4, 1)).run()
    assert page.text_input(key="car_place").value == ""
    assert f"{0.4:.1f} km left" in said(page) or f"{0.3:.1f} km left" in said(page)


@pytest.mark.parametrize(
    ("place", "words"),
    [("northmost", "beside the way"), ("Nowhere & Never", "Nowhere"), ("95,0", "95")],
)
def test_a_place_that_is_not_on_the_way_is_refused_in_a_line(place: str, words: str) -> None:
    page = opened()
    if place == "northmost":
        lon, lat = page.session_state["last_plan"][1].roads.junction_lon_lat
        place = f"{lat.max()},{lon[lat.argmax()]}"
    page.text_input(key="car_place").set_value(place).run()
    assert not page.exception
    assert words in page.info[0].value
    assert "\n" not in page.info[0].value


@pytest.mark.browser
@pytest.mark.slow
def test_the_car_is_dragged_along_the_way(browser: Any, dashboard: str) -> None:
    page: Page = browser.new_page(viewport={"width": 1300, "height": 1300})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{dashboard}/?trip=C&soc=40&reserve=5")
    pins = page.locator(".evroute-pin")
    expect(pins).to_have_text(["A", "B"], timeout=PATIENCE_MS)
    page.get_by_role("tab", name="Driving").click()
    expect(pins).to_have_text(["A", "B", "◉"], timeout=PATIENCE_MS)
    driven = page.get_by_text("km driven")
    half = driven.inner_text().split(",")[0]
    page.get_by_label("Charge now (%)").fill("37")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You get there").first).to_be_visible(timeout=PATIENCE_MS)
    begin, car = (pins.nth(row).bounding_box() for row in (0, 2))
    assert begin is not None
    assert car is not None
    page.mouse.move(car["x"] + 13, car["y"] + 13)
    page.mouse.down()
    page.mouse.move(0.5 * (begin["x"] + car["x"]) + 13, 0.5 * (begin["y"] + car["y"]) + 13, steps=8)
    page.mouse.up()
    expect(driven).not_to_contain_text(half, timeout=PATIENCE_MS)
    assert float(driven.inner_text().split()[0]) < float(half.split()[0])
    assert "39." not in page.url, "no position is in the address"
    page.get_by_role("tab", name="Driving").click()
    expect(pins).to_have_text(["A", "B"], timeout=PATIENCE_MS)
    page.close()
