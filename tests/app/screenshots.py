"""``make screenshots``: a picture of every page, light, dark and as wide as a phone, in
``screenshots/``, and those that the docs show, in ``docs/images/``:
``python tests/app/screenshots.py [NETWORK] [LOOK ...]``. The look ``docs`` has the latter alone.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

OUT = Path("screenshots")
IN_DOCS = Path(__file__).parents[2] / "docs" / "images"
DOCS = "docs"
"""Look of the pictures of the docs."""
SHOWN_IN_DOCS = {"Plan": "plan.png", "Learn": "learn.png"}
TRIP_IN_DOCS = {
    "network": "denver",
    "from": "Stout Street & 18th Street",
    "to": "East 19th Avenue & Emerson Street",
    "soc": 11,
    "reserve": 10,
    "risk": "10%",
}
PATIENCE_MS = 180_000
CHROMIUM = "/usr/bin/chromium"
OFFLINE = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
SETTLED = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState
    === 'notRunning'
  && !document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner]')"""
PAGES = ("Plan", "Learn", "My car", "Advanced")
LOOKS = {
    "light": (1400, 900, "light"),
    "dark": (1400, 900, "dark"),
    "phone": (390, 844, "light"),
    "phone-dark": (390, 844, "dark"),
}
"""Width and height of the window, pixels, and colour scheme."""


def main(network: str = "denver", *looks: str) -> None:
    OUT.mkdir(exist_ok=True)
    plan = {
        "network": network,
        "soc": 40,
        "temperature": -5,
        "depart": "08:15",
    }
    with (
        TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        served(Path(folder)) as address,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        chosen = looks or (*LOOKS, DOCS)
        if DOCS in chosen:
            pictures_of_docs(browser, address)
        for look in [each for each in chosen if each != DOCS]:
            width, height, scheme = LOOKS[look]
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{address}/?{urlencode(plan)}")
            for name in PAGES:
                if name != PAGES[0]:
                    go_to(page, name)
                picture(page, OUT / f"{name.lower().replace(' ', '-')}-{look}.png")
            page.close()
        browser.close()


def pictures_of_docs(browser: Browser, address: str) -> None:
    """Take the pictures that the docs show, in 256 colours."""
    width, height, scheme = LOOKS["light"]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/?{urlencode(TRIP_IN_DOCS)}")
    for name, picture in SHOWN_IN_DOCS.items():
        if name != PAGES[0]:
            go_to(page, name)
        settle(page)
        path = IN_DOCS / picture
        page.screenshot(path=str(path))
        with Image.open(path) as taken:
            small = taken.convert("RGB").quantize(256)
        small.save(path, optimize=True)
        print(path)
    page.close()


def go_to(page: Page, name: str) -> None:
    """Follow the link of a page."""
    page.get_by_role("link", name=name).click()
    page.wait_for_timeout(1000)


def settle(page: Page) -> None:
    """Wait until a page stands still."""
    page.wait_for_timeout(2500)
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(1500)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start a dashboard in a folder and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "evroute", "app", "--port", str(port)]
    own = {"STREAMLIT_SERVER_HEADLESS": "true", "EVROUTE_PROFILE": str(folder / "profile.json")}
    server = subprocess.Popen(command, cwd=folder, env=os.environ | own)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                with urlopen(f"{address}/_stcore/health"):
                    break
            except URLError:
                time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait()


def picture(page: Page, path: Path) -> None:
    """Take a picture of a page once it stands still: of the window, and of all that scrolls."""
    settle(page)
    page.screenshot(path=str(path))
    size = page.viewport_size or {"width": 0, "height": 0}
    height = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    if height > size["height"]:
        page.set_viewport_size({"width": size["width"], "height": height + 20})
        page.wait_for_timeout(2500)
        page.screenshot(path=str(path.with_stem(f"{path.stem}-whole")))
        page.set_viewport_size(size)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
