"""Speed of the dashboard in Chromium: ``studies/dashboard_figures.py [NETWORK ...]``.

Prints the load of the machine, and for each network a row for the first visit and one with the
medians (least to greatest) of `VISITS` later ones: seconds from the request to the roads drawn,
from the second click to the cards and to the route on the map, and megabytes of the messages of
each rerun; those of the first beside the files (the page's own code among them). The first visit
of a network finds the server without it; later ones have it.
"""

import os
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "app"))
from screenshots import CHROMIUM, OFFLINE, PATIENCE_MS, SETTLED, served

VISITS = 20
CLICKS = ((0.47, 0.45), (0.55, 0.55))


def main(*networks: str) -> None:
    """Print a row of times for each network and visit."""
    columns = [
        "network",
        "visit",
        "page to map (s)",
        "files (MB)",
        "messages (MB)",
        "first click (MB)",
    ]
    columns += ["cards (s)", "route drawn (s)", "second click (MB)"]
    print(f"| {' | '.join(columns)} |")
    print(f"|{' --- |' * len(columns)}")
    with (
        TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        served(Path(folder)) as address,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        for network in networks or ("denver", "monaco", "luxembourg"):
            first, *later = (
                visited(browser, f"{address}/?network={network}") for _ in range(1 + VISITS)
            )
            cells = [f"{value:.2f}" for value in first]
            print(f"| {network} | first | {' | '.join(cells)} |", flush=True)
            cells = [
                f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
                for values in zip(*later, strict=True)
            ]
            print(f"| {network} | {VISITS} later | {' | '.join(cells)} |")
            print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
        browser.close()


def visited(browser: Browser, address: str) -> list[float]:
    """Open a page, click twice, and return the figures of a row."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(PATIENCE_MS)
    messages: list[int] = []
    files: list[int] = []

    def taken_mb() -> float:
        page.wait_for_function(SETTLED)
        page.wait_for_timeout(500)
        size = sum(messages)
        messages.clear()
        return size / 1e6

    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: messages.append(len(frame))),
    )
    page.on("response", lambda answer: files.append(int(answer.headers.get("content-length", 0))))
    started = time.perf_counter()
    page.goto(address)
    board = page.locator(".evroute-map[data-roads]")
    board.wait_for()
    drawn_s = time.perf_counter() - started
    first_mb = taken_mb()
    files_mb = sum(files) / 1e6
    box = board.bounding_box()
    assert box is not None
    (x, y), (x2, y2) = (
        (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in CLICKS
    )
    page.mouse.click(x, y)
    page.get_by_text("Now click where you are going.").wait_for()
    click_mb = taken_mb()
    started = time.perf_counter()
    page.mouse.click(x2, y2)
    page.locator(".evroute-cards button, [data-testid=stAlertContentError]").first.wait_for()
    cards_s = time.perf_counter() - started
    board.locator("path.evroute-selected").first.wait_for(state="attached")
    routed_s = time.perf_counter() - started
    row = [drawn_s, files_mb, first_mb, click_mb, cards_s, routed_s, taken_mb()]
    page.close()
    return row


if __name__ == "__main__":
    main(*sys.argv[1:])
