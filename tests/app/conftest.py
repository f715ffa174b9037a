"""The dashboard's own modules are found beside its main script, as Streamlit does; one server for browsers."""

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

from evroute.resources import app_path

PATIENCE_S = 120


@pytest.fixture(autouse=True)
def _beside_the_main_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(app_path()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def dashboard_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard of a module was started, and keeps its runs."""
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="module")
def dashboard(dashboard_folder: Path) -> Iterator[str]:
    """The address of a dashboard started as a user does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    command = [sys.executable, "-m", "evroute", "app", "--port", str(port)]
    with (dashboard_folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=dashboard_folder, env=environment, stdout=log, stderr=log
        )
        try:
            for _ in range(2 * PATIENCE_S):
                try:
                    with urlopen(f"{address}/_stcore/health"):
                        break
                except URLError:
                    time.sleep(0.5)
            else:
                pytest.fail("the dashboard does not answer")
            yield address
        finally:
            server.terminate()
            server.wait(PATIENCE_S)
