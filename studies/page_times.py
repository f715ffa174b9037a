"""Page to map of the dashboard, step by step.

``page_times.py [--network N] [--visits K] TREE ...`` opens, in turns in one run, the page Plan of
each tree (a folder with ``app`` and ``evroute``) and an empty page of Streamlit: first after the
start of the server, in new windows with an empty cache, and in new tabs with the browser's cache.
It prints for each the medians (least to greatest) of the seconds from the request to the steps
below, of the processor time of server and page until the map is drawn, of the server's resident
memory then, and of the files and megabytes asked for until then and in all. Wall times mean little
on a busy machine: compare the rows of one run, and read the load below.

Steps: ``app`` the browser runs Streamlit's script, ``socket`` its WebSocket is open, ``message``
the first message of the server, ``map`` Leaflet is asked for, ``roads`` the file of roads is asked
for, ``drawn`` the roads are drawn (on the empty page: its text).
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import BrowserContext, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "app"))
from screenshots import CHROMIUM, OFFLINE, PATIENCE_MS

EMPTY = "empty page"
EMPTY_PAGE = "import streamlit as st\n\nst.write('drawn')\n"
STEPS = ("app", "socket", "message", "map", "roads", "drawn")
COLUMNS = (
    *(f"{step} (s)" for step in STEPS),
    "server CPU (s)",
    "page CPU (s)",
    "server memory (MB)",
    "files to map",
    "MB to map",
    "files",
    "MB",
)
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
CALM_MS = 1500
"""Wait for late files, after the map is drawn."""


def main() -> None:
    """Print a table of times."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("trees", nargs="+", type=Path)
    given.add_argument("--network", default="luxembourg")
    given.add_argument("--visits", type=int, default=5)
    asked = given.parse_args()
    ways = [EMPTY, *(str(tree.resolve()) for tree in asked.trees)]
    rows: dict[tuple[str, str], list[list[float]]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        for _ in range(asked.visits):
            for way in ways:
                with served(way) as (address, process):
                    link = address if way == EMPTY else f"{address}/?network={asked.network}"
                    for visit in ("first", "new window", "warm cache"):
                        if visit != "warm cache":
                            context = browser.new_context(viewport={"width": 1400, "height": 900})
                        row = visited(context, link, process, is_empty=way == EMPTY)
                        rows.setdefault((way, visit), []).append(row)
                        if visit != "new window":
                            context.close()
        browser.close()
    print(f"| page | visit | {' | '.join(COLUMNS)} |")
    print(f"|{' --- |' * (len(COLUMNS) + 2)}")
    for (way, visit), found in rows.items():
        cells = [
            f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
            for values in zip(*found, strict=True)
        ]
        print(f"| {Path(way).name} | {visit} | {' | '.join(cells)} |")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {asked.visits} turns")


@contextmanager
def served(way: str) -> Iterator[tuple[str, int]]:
    """Start a dashboard, or the empty page, and yield its address and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with TemporaryDirectory() as folder:
        own = {
            "STREAMLIT_SERVER_HEADLESS": "true",
            "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
            "EVROUTE_PROFILE": str(Path(folder) / "profile.json"),
        }
        if way == EMPTY:
            Path(folder, "page.py").write_text(EMPTY_PAGE, encoding="utf-8")
            command = ["streamlit", "run", "page.py", "--server.port", str(port)]
        else:
            own["PYTHONPATH"] = way
            command = ["evroute", "app", "--port", str(port)]
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=os.environ | own
        )
        address = f"http://127.0.0.1:{port}"
        try:
            while True:
                try:
                    with urlopen(f"{address}/_stcore/health"):
                        break
                except URLError:
                    time.sleep(0.2)
            yield address, server.pid
        finally:
            server.terminate()
            server.wait()


def cpu_s(process: int) -> float:
    """Return the processor time that a process has used, s."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(process: int) -> float:
    """Return the resident memory of a process, MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
    return pages * PAGE_MB


def visited(context: BrowserContext, link: str, process: int, *, is_empty: bool) -> list[float]:
    """Open a page and return the figures of a row."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    developer = context.new_cdp_session(page)
    developer.send("Performance.enable", {"timeDomain": "threadTicks"})
    at: dict[str, float] = {}
    sizes: list[int] = []
    begun_cpu_s, begun_s = cpu_s(process), time.perf_counter()

    def reached(step: str) -> None:
        at.setdefault(step, time.perf_counter() - begun_s)

    def asked(request: object) -> None:
        address = getattr(request, "url", "")
        if "_stcore/" in address:
            reached("app")
        if "leaflet.js" in address:
            reached("map")
        if "/evroute/roads?" in address:
            reached("roads")

    def received() -> None:
        reached("socket")
        reached("message")

    page.on("request", asked)
    page.on("websocket", lambda found: found.on("framereceived", lambda _: received()))
    page.on(
        "response",
        lambda answer: sizes.append(int(answer.headers.get("content-length", 0))),
    )
    page.on("websocket", lambda _: reached("socket"))
    page.goto(link, wait_until="commit")
    if is_empty:
        page.get_by_text("drawn").wait_for()
    else:
        page.locator(".evroute-map[data-roads]").wait_for()
    reached("drawn")
    server_s = cpu_s(process) - begun_cpu_s
    metrics = developer.send("Performance.getMetrics")["metrics"]
    page_s = next(each["value"] for each in metrics if each["name"] == "TaskDuration")
    files, megabytes = len(sizes), sum(sizes) / 1e6
    page.wait_for_timeout(CALM_MS)
    row = [at.get(step, 0.0) for step in STEPS]
    row += [server_s, page_s, resident_mb(process)]
    row += [files, megabytes, len(sizes), sum(sizes) / 1e6]
    page.close()
    return row


if __name__ == "__main__":
    main()
