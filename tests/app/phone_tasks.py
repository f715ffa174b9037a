"""Ten tasks of a driver on a phone: ``python tests/app/phone_tasks.py [FOLDER]``.

Prints for each task whether its result appears on the page, and the taps and typed texts that it
takes. Pictures of the ends of the tasks go to FOLDER, if one is given.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Error, Locator, Page, expect, sync_playwright
from screenshots import CHROMIUM, OFFLINE, SETTLED, served

PATIENCE_MS = 60_000
LEARNING_MS = 300_000
MARGIN = 6
"""Of the line of a slider in its box, pixels."""
LOG = Path(__file__).parents[2] / "data" / "examples" / "points.csv"


class Phone:
    """A phone that counts what its user does."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.taps = 0
        self.texts = 0

    def tap(self, target: Locator) -> None:
        self.taps += 1
        target.first.scroll_into_view_if_needed()
        target.first.tap()

    def button(self, name: str) -> None:
        self.tap(self.page.get_by_role("button", name=re.compile(name)))

    def type(self, label: str, text: str) -> None:
        self.texts += 1
        self.tap(self.page.get_by_role("combobox", name=label))
        self.page.keyboard.type(text)
        self.tap(self.page.get_by_role("option"))
        self.still()

    def map_point(self, x: float, y: float) -> tuple[float, float]:
        box = self.page.locator(".evroute-map").bounding_box()
        assert box is not None
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def slide(self, label: str, value: int) -> None:
        """Tap the line of a slider at a value; arrows mend the last steps."""
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
        self.page.touchscreen.tap(
            line["x"] + MARGIN + share * (line["width"] - 2 * MARGIN),
            thumb["y"] + thumb["height"] / 2,
        )
        self.still()
        off = value - int(slider.input_value())
        for _ in range(abs(off)):
            slider.press("ArrowRight" if off > 0 else "ArrowLeft")
        expect(slider).to_have_value(str(value))

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

    def sees_pins(self, *labels: str) -> None:
        expect(self.page.locator(".evroute-pin")).to_have_text(list(labels))


def plan_between_streets(phone: Phone) -> None:
    phone.type("From", "Blake Street & 17th")
    phone.type("To", "17th Avenue & Pearl")
    expect(phone.page.locator(".evroute-hint")).to_be_hidden()
    phone.sees("arrive with")


def add_a_stop_by_a_long_press(phone: Phone) -> None:
    x, y = phone.map_point(0.6, 0.35)
    phone.taps += 1
    phone.page.mouse.click(x, y, button="right")  # the event of a long press
    phone.tap(phone.page.get_by_role("menuitem", name="Stop here"))
    phone.sees_pins("A", "1", "B")


def does_20_percent_suffice(phone: Phone) -> None:
    phone.button("^Charge 80 %")
    phone.slide("Charge at the start", 20)
    phone.close()
    expect(phone.page.get_by_role("button", name="Charge 20 %")).to_be_visible()
    phone.sees("arrive with")


def how_far_does_it_reach(phone: Phone) -> None:
    phone.button("^Charge 20 %")
    phone.tap(phone.page.get_by_text("Show how far this charge reaches"))
    phone.close()
    phone.page.locator(".evroute-map[data-range]").wait_for(state="attached")
    phone.sees("20 % reaches .* km of road")


def arrive_at_a_risk_of_1_percent(phone: Phone) -> None:
    phone.button("^Charge")
    phone.tap(phone.page.get_by_role("radio", name="1 %", exact=True))
    phone.close()
    phone.sees("of trips")


def plan_a_cold_day(phone: Phone) -> None:
    phone.button("^Mild")
    phone.tap(phone.page.get_by_text("Weather, load and traffic"))
    phone.still()
    phone.slide("Temperature", -5)
    phone.close()
    expect(phone.page.get_by_role("button", name="-5 °C")).to_be_visible()


def streets_of_the_fastest(phone: Phone) -> None:
    phone.tap(phone.page.locator(".evroute-cards button", has_text="astest"))
    phone.still()
    phone.tap(phone.page.get_by_role("tab", name="Streets"))
    expect(phone.page.get_by_test_id("stDataFrame")).to_be_visible()


def reopen_by_the_address(phone: Phone) -> None:
    phone.page.wait_for_url(lambda url: "risk=1" in url and "range=True" in url)
    phone.taps += 1
    phone.page.reload()
    phone.still()
    phone.sees_pins("A", "1", "B")
    expect(phone.page.get_by_role("button", name="risk 1 %")).to_be_visible()


def add_own_trips(phone: Phone) -> None:
    phone.go_to("My car")
    phone.taps += 2  # the browser's own choice of a file
    phone.page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(LOG)
    phone.button("Learn these trips")
    phone.sees("learned 1 trip")


def watch_it_learn(phone: Phone) -> None:
    phone.go_to("Learn")
    phone.button("^Start$")
    found = phone.page.get_by_text("than routes by physics alone").first
    expect(found).to_be_visible(timeout=LEARNING_MS)


TASKS: tuple[Callable[[Phone], None], ...] = (
    plan_between_streets,
    add_a_stop_by_a_long_press,
    does_20_percent_suffice,
    how_far_does_it_reach,
    arrive_at_a_risk_of_1_percent,
    plan_a_cold_day,
    streets_of_the_fastest,
    reopen_by_the_address,
    add_own_trips,
    watch_it_learn,
)


def main(pictures: str = "") -> None:
    expect.set_options(timeout=PATIENCE_MS)
    with (
        TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        served(Path(folder)) as address,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        size = {"width": 390, "height": 844}
        context = browser.new_context(viewport=size, has_touch=True, is_mobile=True)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(address)
        page.locator(".evroute-map[data-roads]").wait_for()
        print("| task | done | taps | texts |\n| --- | --- | --- | --- |")
        for task in TASKS:
            phone, name = Phone(page), task.__name__.replace("_", " ")
            phone.still()
            try:
                task(phone)
                done = "yes"
            except (AssertionError, Error) as error:
                done = f"no: {str(error).splitlines()[0]}"
            print(f"| {name} | {done} | {phone.taps} | {phone.texts} |", flush=True)
            if pictures:
                Path(pictures).mkdir(parents=True, exist_ok=True)
                page.screenshot(path=str(Path(pictures, f"{task.__name__}.png")))
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
