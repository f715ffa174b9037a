"""Fifteen tasks of a driver on a screen and on a phone, light and dark.

``python tests/app/fifteen_tasks.py [FOLDER [LOOK ...]]`` prints for each task whether its result
appears on the page, its clicks, typed texts and seconds, and the serious findings of axe-core and
the errors and warnings in the console up to its end. Pictures of the ends of the tasks go to
FOLDER.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import rasterio
from affine import Affine
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright
from screenshots import CHROMIUM, OFFLINE, PAGES, SETTLED, served
from screenshots import LOOKS as PICTURED

PATIENCE_MS = 60_000
LEARNING_MS = 300_000
MARGIN = 6
"""Of the line of a slider in its box, pixels."""
LEARNING_FOUND_S = 10.0
"""Most seconds from the link of Learn to its sentence."""
ANSWERED = "[role=listbox]:popover-open[aria-busy=false]"
"""List of suggestions for all letters."""
LOOKS = PICTURED | {"small-phone": (360, 740, "light")}
LOG = Path(__file__).parents[2] / "data" / "examples" / "points.csv"


class Driver:
    """A driver whose clicks or taps, and whose texts, are counted."""

    def __init__(self, page: Page, *, touch: bool) -> None:
        self.page = page
        self.touch = touch
        self.taps = 0
        self.texts = 0

    def tap(self, target: Locator) -> None:
        self.taps += 1
        target.first.scroll_into_view_if_needed()
        if self.touch:
            target.first.tap()
        else:
            target.first.click()

    def button(self, name: str) -> None:
        self.tap(self.page.get_by_role("button", name=re.compile(name)))

    def tab(self, name: str) -> None:
        self.tap(self.page.get_by_role("tab", name=name))

    def type(self, label: str, text: str) -> None:
        self.texts += 1
        self.tap(self.page.get_by_role("combobox", name=label))
        self.page.keyboard.type(text)
        self.tap(self.page.locator(f"{ANSWERED} [role=option]"))
        self.still()

    def map_point(self, x: float, y: float) -> tuple[float, float]:
        box = self.page.locator(".evroute-map").bounding_box()
        assert box is not None
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def slide(self, label: str, value: int) -> None:
        """Tap the line of a slider at a value; arrows mend the last steps. Then close its chip."""
        slider = self.page.get_by_role("slider", name=label)
        slider.wait_for(state="attached")
        self.page.wait_for_timeout(800)  # the chip opens
        line = self.page.get_by_test_id("stSlider").filter(has=slider).bounding_box()
        thumb = slider.bounding_box()
        assert line is not None
        assert thumb is not None
        least, most = (int(slider.get_attribute(end) or 0) for end in ("min", "max"))
        share = (value - least) / (most - least)
        self.taps += 1
        press = self.page.touchscreen.tap if self.touch else self.page.mouse.click
        press(
            line["x"] + MARGIN + share * (line["width"] - 2 * MARGIN),
            thumb["y"] + thumb["height"] / 2,
        )
        self.still()
        off = value - int(slider.input_value())
        for _ in range(abs(off)):
            slider.press("ArrowRight" if off > 0 else "ArrowLeft")
        expect(slider).to_have_value(str(value))
        self.close()

    def close(self) -> None:
        """Tap beside an open chip."""
        self.page.keyboard.press("Escape")
        self.taps += 1
        self.still()

    def go_to(self, name: str) -> None:
        self.tap(self.page.get_by_role("link", name=name))
        self.still()

    def still(self) -> None:
        self.page.wait_for_timeout(600)
        self.page.wait_for_function(SETTLED)

    def sees(self, text: str) -> None:
        expect(self.page.get_by_text(re.compile(text)).first).to_be_visible()

    def sees_button(self, name: str) -> None:
        expect(self.page.get_by_role("button", name=name)).to_be_visible()

    def sees_an_answer(self) -> None:
        self.sees("You get there|is not enough")

    def sees_pins(self, *labels: str) -> None:
        expect(self.page.locator(".evroute-pin")).to_have_text(list(labels))


def plan_between_streets(driver: Driver) -> None:
    driver.type("From", "Blak Stret & 17")
    driver.type("To", "17th avenu & Pearl")
    expect(driver.page.locator(".evroute-hint")).to_be_hidden()
    driver.sees("You get there")


def add_a_stop_by_a_long_press(driver: Driver) -> None:
    x, y = driver.map_point(0.6, 0.35)
    driver.taps += 1
    driver.page.mouse.click(x, y, button="right")  # the event of a long press
    driver.tap(driver.page.get_by_role("menuitem", name="Stop here"))
    driver.sees_pins("A", "1", "B")


def does_20_percent_suffice(driver: Driver) -> None:
    driver.button("^Charge 80 %")
    driver.slide("Charge at the start", 20)
    driver.sees_button("Charge 20 %")
    driver.sees("You get there")


def how_far_does_it_reach(driver: Driver) -> None:
    driver.button("^Charge 20 %")
    driver.tap(driver.page.get_by_text("Show how far this charge reaches"))
    driver.close()
    driver.page.locator(".evroute-map[data-range]").wait_for(state="attached")
    driver.sees("20 % reaches .* km of road")


def plan_a_cold_day(driver: Driver) -> None:
    driver.button("mild")
    driver.slide("Temperature", -5)
    driver.sees_button("-5 °C")


def streets_of_the_fastest(driver: Driver) -> None:
    driver.tab("More routes")
    driver.tap(driver.page.locator(".evroute-cards button", has_text="astest"))
    driver.still()
    driver.tab("Streets")
    expect(driver.page.get_by_test_id("stDataFrame")).to_be_visible()


def take_it_on_a_phone(driver: Driver) -> None:
    driver.tab("Export")
    link = driver.page.get_by_role("link", name="Open in Google Maps")
    expect(link).to_have_attribute("href", re.compile("google.com/maps/dir/"))
    expect(driver.page.get_by_role("img", name="Code of the link")).to_be_visible()


def reopen_by_the_address(driver: Driver) -> None:
    driver.page.wait_for_url(lambda url: "temperature=-5" in url and "range=True" in url)
    driver.taps += 1
    driver.page.reload()
    driver.still()
    driver.sees_pins("A", "1", "B")
    driver.sees_button("-5 °C")


def add_own_trips(driver: Driver) -> None:
    driver.go_to("My car")
    driver.taps += 2  # the browser's own choice of a file
    driver.page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(LOG)
    driver.button("Learn these trips")
    driver.sees("learned 1 trip")


def watch_it_learn(driver: Driver) -> None:
    began = time.perf_counter()
    driver.tap(driver.page.get_by_role("link", name="Learn"))
    driver.sees("the learned routes have taken")
    assert time.perf_counter() - began < LEARNING_FOUND_S, "the learning is found late"
    driver.still()
    driver.button("^With my trip$")
    expect(driver.page.get_by_role("combobox", name="From")).to_have_value(re.compile("Blake"))
    driver.button("^Start$")
    found = driver.page.get_by_text("than routes by physics alone").first
    expect(found).to_be_visible(timeout=LEARNING_MS)


def home_work_shop_home(driver: Driver) -> None:
    driver.go_to("Plan")
    driver.tap(driver.page.get_by_role("button", name="✕"))
    driver.still()
    driver.type("To", "Blake Street & 17th")
    for stop, place in enumerate(("Larimer & 20th", "Colfax & Pearl"), start=1):
        driver.button("^\\+$")
        driver.still()
        driver.type(f"Stop {stop}", place)
    driver.sees_pins("A", "1", "2", "B")
    driver.sees("You get there")


def winter_night_at_23_percent(driver: Driver) -> None:
    driver.button("-5 °C|mild")
    driver.slide("Temperature", -10)
    driver.button("keep 10 %")
    driver.slide("Charge at the start", 23)
    driver.sees_button("-10 °C")
    driver.sees_an_answer()


def compare_two_departures(driver: Driver) -> None:
    driver.button("^Leave ")
    driver.sees("[Tt]raffic is unknown|by your trips|same traffic")
    driver.texts += 1
    driver.tap(driver.page.get_by_role("spinbutton", name="hour"))
    driver.page.keyboard.type("0815")
    driver.page.keyboard.press("Enter")
    driver.still()
    driver.close()
    driver.sees_button("Leave 08:15")


def plan_with_a_second_car(driver: Driver) -> None:
    driver.tap(driver.page.get_by_role("button", name=re.compile("kWh")))
    driver.type("Vehicle", "id.3 58")
    driver.close()
    driver.sees_button("VW ID.3")
    driver.sees_an_answer()


def own_roads_with_heights(driver: Driver) -> None:
    driver.button("^Denver")
    driver.tap(driver.page.get_by_text("Bring your own roads"))
    with TemporaryDirectory() as folder:
        roads, heights = hilly_town(Path(folder))
        inputs = driver.page.get_by_test_id("stFileUploaderDropzoneInput")
        driver.taps += 4  # the browser's own choice of two files
        inputs.nth(1).set_input_files(heights)
        driver.still()
        inputs.nth(0).set_input_files(roads)
        driver.sees_button("My Town")
        driver.still()
    driver.close()
    driver.type("From", "Lane 0 & Road 0")
    driver.type("To", "Lane 5 & Road 5")
    driver.sees_an_answer()
    expect(driver.page.get_by_text("have no heights")).to_have_count(0)


def hilly_town(folder: Path) -> tuple[Path, Path]:
    """Write a town of six by six streets (OpenStreetMap) on a slope (GeoTIFF)."""
    count, step = 6, 0.004
    numbers = np.arange(count * count).reshape(count, count)
    lines = [
        f'<node id="{1 + node}" lat="{49 + step * row:.4f}" lon="{6 + step * column:.4f}"/>'
        for (row, column), node in np.ndenumerate(numbers)
    ]
    for name, streets in (("Lane", numbers), ("Road", numbers.T)):
        for k, street in enumerate(streets):
            points = "".join(f'<nd ref="{1 + node}"/>' for node in street)
            tags = f'<tag k="highway" v="residential"/><tag k="name" v="{name} {k}"/>'
            lines.append(f'<way id="{100 + len(lines)}">{points}{tags}</way>')
    roads, heights = folder / "town.osm", folder / "heights.tif"
    roads.write_text(f'<osm version="0.6">{"".join(lines)}</osm>', encoding="utf-8")
    slope = np.tile(np.arange(60, dtype=np.float32), (60, 1))
    with rasterio.open(
        heights,
        "w",
        driver="GTiff",
        crs="EPSG:4326",
        transform=Affine(0.001, 0, 5.98, 0, -0.001, 49.04),
        width=60,
        height=60,
        count=1,
        dtype="float32",
    ) as raster:
        raster.write(slope, 1)
    return roads, heights


TASKS: tuple[Callable[[Driver], None], ...] = (
    plan_between_streets,
    add_a_stop_by_a_long_press,
    does_20_percent_suffice,
    how_far_does_it_reach,
    plan_a_cold_day,
    streets_of_the_fastest,
    take_it_on_a_phone,
    reopen_by_the_address,
    add_own_trips,
    watch_it_learn,
    home_work_shop_home,
    winter_night_at_23_percent,
    compare_two_departures,
    plan_with_a_second_car,
    own_roads_with_heights,
)


def main(pictures: str = "", *looks: str) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    print("| look | task | done | clicks | texts | s | axe | errors |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        for look in looks or LOOKS:
            with TemporaryDirectory() as folder, served(Path(folder)) as address:
                drive(browser, address, look, pictures)
        browser.close()


def drive(browser: Browser, address: str, look: str, pictures: str) -> None:
    """Do the tasks in one look, and print a line for each.

    Parameters
    ----------
    browser, address
        The browser, and the address of a dashboard that nobody has used.
    look
        Key of `LOOKS`.
    pictures
        Folder of the pictures; empty for none.
    """
    width, height, scheme = LOOKS[look]
    touch = width < 640
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=touch,
        is_mobile=touch,
        color_scheme=scheme,
    )
    context.set_default_timeout(PATIENCE_MS)
    page, errors = context.new_page(), []
    told = ("error", "warning")
    page.on("console", lambda line: line.type in told and errors.append(line.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.locator(".evroute-map[data-roads]").wait_for()
    for task in TASKS:
        driver, name = Driver(page, touch=touch), task.__name__.replace("_", " ")
        driver.still()
        began, done = time.perf_counter(), "yes"
        try:
            task(driver)
        except (AssertionError, Error) as error:
            done = f"no: {str(error).splitlines()[0]}"
        took_s = time.perf_counter() - began
        if pictures:
            Path(pictures).mkdir(parents=True, exist_ok=True)
            page.wait_for_timeout(700)
            page.screenshot(path=str(Path(pictures, f"{task.__name__}-{look}.png")))
        numbers = driver.taps, driver.texts, f"{took_s:.0f}", serious(page), len(errors)
        print("|", look, "|", name, "|", done, "|", *(f"{n} |" for n in numbers), flush=True)
    for name in PAGES:
        Driver(page, touch=touch).go_to(name)
        print(f"{look}, page {name}: {serious(page)} findings, {len(errors)} errors", flush=True)
    for text in errors:
        print(f"in the console, {look}: {text}", flush=True)
    context.close()


def serious(page: Page) -> int:
    """Return the number of serious or critical findings of axe-core."""
    found = Axe().run(page).response["violations"]
    bad = [each for each in found if each["impact"] in ("serious", "critical")]
    for each in bad:
        print(f"axe: {each['id']}: {each['nodes'][0]['html'][:200]}", file=sys.stderr)
    return len(bad)


if __name__ == "__main__":
    main(*sys.argv[1:])
