"""A caller that is killed takes its worker processes with it."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 600

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks at processes through /proc"
)


def processes_with(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in folder.joinpath("environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_workers_of_a_killed_caller_end(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    options = [
        "--network",
        "denver",
        "--horizon",
        "100000",
        "--seeds",
        "2",
        "--jobs",
        "2",
        "--quiet",
    ]
    command = [
        sys.executable,
        "-m",
        "evroute",
        "simulate",
        *options,
        "--out",
        str(tmp_path / "runs"),
    ]
    caller = subprocess.Popen(command, env={**os.environ, "EVROUTE_TEST_MARK": mark})
    try:
        # the caller, two workers and the resource tracker
        assert wait_until(lambda: len(processes_with(mark)) >= 4)
    finally:
        caller.kill()
        caller.wait()
    assert wait_until(lambda: not processes_with(mark))
