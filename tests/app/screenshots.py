"""``make screenshots``: a picture of every page, light, dark and as wide as a phone, in ``screenshots/``.

``python tests/app/screenshots.py [NETWORK] [TRIP]``; a small simulation is run first, so that every page has
something to show.
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

from playwright.sync_api import Browser, sync_playwright

OUT = Path("screenshots")
PATIENCE_MS = 180_000
CHROMIUM = "/usr/bin/chromium"
OFFLINE = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SETTLED = "() => !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSkeleton]')"
LOOKS = {"light": (1400, "light"), "dark": (1400, "dark"), "phone": (390, "light")}


def main(network: str = "denver", trip: str = "A") -> None:
    OUT.mkdir(exist_ok=True)
    plan = {"network": network, "trip": trip, "charged": True, "weather": True, "temperature": -5, "alternatives": 1}
    pages = {"plan": f"?{urlencode(plan)}", "learn": "learn", "runs": "runs", "network": "network"}
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        run = ["simulate", "--network", network, "--trip", trip, "--index", "ts", "--index", "greedy", "--seeds", "2"]
        run += ["--horizon", "60", "--quiet", "--out", "runs/first"]
        subprocess.run([sys.executable, "-m", "evroute", *run], cwd=folder, check=True)
        with served(Path(folder)) as address:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
            for page, path in pages.items():
                for look, (width, scheme) in LOOKS.items():
                    picture(browser, f"{address}/{path}", width, scheme, OUT / f"{page}-{look}.png")
            browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start a dashboard in a folder and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "evroute", "app", "--port", str(port)]
    server = subprocess.Popen(command, cwd=folder, env=os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"})
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


def picture(browser: Browser, address: str, width: int, scheme: str, path: Path) -> None:
    """Open a page, wait until it stands still, and take a picture of all of it."""
    page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    page.get_by_test_id("stSidebarContent").wait_for(state="attached")
    page.wait_for_timeout(2000)
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(1500)
    height = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(1000, height + 20)})
    page.wait_for_timeout(2500)
    page.screenshot(path=str(path))
    page.close()
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
