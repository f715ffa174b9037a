"""Simulations of the dashboard: known by the lock of their folder, in every window, as long as the
server lives.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.resources import app_path

PATIENCE_S = 600
LONG = Experiment(trips={"denver": ("A",)}, methods=("bi-ts",), horizon=100_000, seeds=1)
SERVER = """
import sys, time
from pathlib import Path
from simulations import start
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
start(Experiment.model_validate_json(sys.argv[1]), RunFolder(Path(sys.argv[2])))
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def _nothing_runs_on() -> Iterator[None]:
    yield
    from simulations import _workers

    for process in _workers.values():
        process.kill()
        process.communicate()
    _workers.clear()


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def learn_page() -> AppTest:
    return AppTest.from_file(str(app_path("views/learn.py")), default_timeout=PATIENCE_S).run()


def test_every_window_sees_a_simulation_and_can_stop_it(tmp_path: Path) -> None:
    from simulations import is_running, progress, running, start

    folder = RunFolder(Path("runs", "long"))
    assert running(Path("runs")) == []
    start(LONG, folder)
    assert is_running(folder)
    wait_until(lambda: progress(folder)[0] > 0)
    assert running(Path("runs")) == [folder]
    window = learn_page()
    assert not window.exception
    button = window.button(key="stop:long")
    assert button.label == "Stop long"
    button.click().run()
    assert not window.exception
    assert folder.writer() is None
    assert not is_running(folder)
    assert not [each for each in learn_page().button if each.key == "stop:long"]


@pytest.mark.parametrize(
    ("content", "share", "words"),
    [
        ('{"done": 3, "total": 12}', 0.25, "3 of 12 trips"),
        ('{"done": 9, "total": 3}', 1.0, "9 of 3 trips"),
        ('{"done": -9, "total": 3}', 0.0, "-9 of 3 trips"),
        ('{"done": 1, "total": 0}', 1.0, "1 of 0 trips"),
        ('{"done": Infinity, "total": 3}', 0.0, "Preparing …"),
        ('{"done": null, "total": 3}', 0.0, "Preparing …"),
        ('["done", "total"]', 0.0, "Preparing …"),
        ("[" * 100_000, 0.0, "Preparing …"),
        ("", 0.0, "Preparing …"),
    ],
)
def test_progress_is_a_share_whatever_its_file_holds(
    tmp_path: Path, content: str, share: float, words: str
) -> None:
    from simulations import progress

    (tmp_path / ".progress.json").write_text(content, encoding="utf-8")
    assert progress(RunFolder(tmp_path)) == (share, words)


def test_a_simulation_that_the_command_line_started_is_stopped_by_its_process(
    tmp_path: Path,
) -> None:
    from simulations import is_running, stop

    command = [sys.executable, "-m", "evroute", "simulate", "--network", "denver", "--quiet"]
    command += ["--horizon", "100000", "--model", "independent", "--out", "runs/cli"]
    folder = RunFolder(Path("runs", "cli"))
    with subprocess.Popen(command) as process:
        try:
            wait_until(lambda: folder.writer() == (process.pid, os.uname().nodename))
            assert is_running(folder)
            stop(folder)
            assert process.wait() == -signal.SIGTERM
            assert not is_running(folder)
        finally:
            process.kill()


def test_a_simulation_ends_when_its_server_is_killed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "long")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(app_path()), *sys.path])}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, LONG.model_dump_json(exclude_none=True), folder.path],
        env=environment,
    )
    try:
        wait_until(lambda: folder.writer())
        assert folder.writer() != (server.pid, os.uname().nodename)
    finally:
        server.kill()
        server.wait()
    wait_until(lambda: folder.writer() is None)


def test_a_stopped_simulation_goes_on_and_a_failed_one_says_why(tmp_path: Path) -> None:
    from simulations import is_running, start, stop, trouble

    folder = RunFolder(tmp_path / "runs" / "own")
    start(LONG, folder)
    wait_until(lambda: folder.writer())
    start_again = LONG.model_copy(update={"horizon": 10})
    stop(folder)
    assert trouble(folder) == ""
    start(start_again, folder)
    wait_until(lambda: not is_running(folder))
    assert "holds runs of another configuration (horizon: 100000 there, 10 now)" in trouble(folder)
    assert trouble(folder) == trouble(folder)


def test_a_process_on_another_machine_is_named_and_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulations import stop

    from evroute.errors import EvrouteError

    folder = RunFolder(tmp_path)
    with folder.locked():
        monkeypatch.setattr("platform.node", lambda: "elsewhere")
        with pytest.raises(EvrouteError, match=rf"process {os.getpid()} works on .* End it there"):
            stop(folder)
