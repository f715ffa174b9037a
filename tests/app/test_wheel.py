"""The dashboard from the built wheel: ``evroute app`` in an empty folder, without the checkout."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 600
OPEN = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
import evroute
from evroute.resources import app_path
print(Path(evroute.__file__).parent)
sys.path.insert(0, str(app_path()))  # as Streamlit does for its main script
opened = AppTest.from_file(app_path("streamlit_app.py"), default_timeout=600).run()
assert not opened.exception, opened.exception
"""

pytestmark = pytest.mark.slow


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def environment(site: Path, tmp_path: Path) -> dict[str, str]:
    """The variables of a process that finds the wheel first and has a home without settings."""
    home = tmp_path / "home"
    home.mkdir()
    own = {"PYTHONPATH": str(site), "HOME": str(home), "STREAMLIT_SERVER_HEADLESS": "true"}
    return os.environ | own


@pytest.fixture
def address(site: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """Where ``evroute app`` of the wheel answers, started in an empty folder."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, site / "bin/evroute", "app", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=empty, env=environment, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def answer(address: str) -> bytes:
    """Return the body of a page, however long the server takes to start."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urlopen(address) as response:
                body: bytes = response.read()
                return body
        except URLError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.5)


def test_the_dashboard_of_the_wheel_answers_and_serves_leaflet(address: str) -> None:
    assert answer(f"{address}/_stcore/health") == b"ok"
    leaflet = answer(f"{address}/app/static/leaflet/leaflet.js")
    assert leaflet == (ROOT / "app/static/leaflet/leaflet.js").read_bytes()


def test_the_wheel_holds_the_files_of_the_checkout_and_its_dashboard_opens(
    site: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    for inside, outside in (("_app", "app"), ("_data", "data")):
        folders = site / "evroute" / inside, ROOT / outside
        packed, tracked = (
            {
                file.relative_to(folder)
                for file in folder.rglob("*")
                if file.is_file() and file.suffix != ".pyc"
            }
            for folder in folders
        )
        assert packed == tracked
    printed = run(sys.executable, "-c", OPEN, cwd=tmp_path, env=environment)
    assert printed.splitlines()[0] == str(site / "evroute")
