import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Start = Callable[..., tuple[str, subprocess.Popen[str]]]


@pytest.fixture(scope="package")
def start() -> Iterator[Start]:
    """Offer services in processes of their own: address and process."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, folder: Path) -> tuple[str, subprocess.Popen[str]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "evroute", "serve", "--port", "0", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        running.append(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("evroute: http://127.0.0.1:"), line
        return line.removeprefix("evroute: ").strip(), process

    try:
        yield begin
    finally:
        for process in running:
            process.kill()
            process.communicate()


@pytest.fixture(scope="package")
def service(start: Start, tmp_path_factory: pytest.TempPathFactory) -> str:
    return start(folder=tmp_path_factory.mktemp("service"))[0]
