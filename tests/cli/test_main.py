"""What `main` makes of errors: one line and a status, whatever was raised."""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

import evroute.cli.network
from evroute.__main__ import main as program
from evroute.cli import COMMANDS, load, main
from evroute.errors import EvrouteError


def ended(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fail() -> Any:
        raise error

    monkeypatch.setattr(sys, "argv", ["evroute", "network", "list"])
    monkeypatch.setattr(evroute.cli.network, "network_names", fail)
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.parametrize(
    "error",
    [
        RecursionError("maximum recursion depth exceeded"),
        MemoryError(),
        KeyError("a\nb"),
        ZeroDivisionError("division by zero"),
        ValueError("x" * 100_000),
    ],
)
def test_an_unforeseen_error_prints_one_line_and_ends_with_status_70(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("EVROUTE_DEBUG", raising=False)
    assert ended(monkeypatch, error) == 70
    shown = capsys.readouterr().err
    assert shown.startswith("evroute: internal error. EVROUTE_DEBUG=1 shows its traceback: ")
    assert type(error).__name__ in shown
    assert shown.count("\n") == 1
    assert len(shown) < 3_000


def test_its_traceback_is_shown_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVROUTE_DEBUG", "1")
    assert ended(monkeypatch, KeyError("own")) == 70
    shown = capsys.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert "KeyError: 'own'" in shown.splitlines()[-2]
    assert shown.splitlines()[-1].startswith("evroute: internal error")


def test_a_foreseen_error_prints_one_line_and_ends_with_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVROUTE_DEBUG", "1")
    assert ended(monkeypatch, EvrouteError("no\nroads")) == 2
    assert capsys.readouterr().err == "evroute: no roads\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_listed_line_of_a_command_is_in_words_of_its_help(name: str) -> None:
    found = load(name)
    documented = found.info.help if isinstance(found, typer.Typer) else found.__doc__
    words = {word.rstrip("s") for word in re.findall(r"\w+", str(documented).lower())}
    listed = {word.rstrip("s") for word in re.findall(r"\w+", COMMANDS[name][1].lower())}
    assert listed <= words


@pytest.mark.parametrize("where", ["import", "options", "command"])
def test_an_interrupt_at_any_time_is_one_line(
    where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the command line loads, while its options are read, and within a command."""
    ends: list[str] = []

    def interrupt(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    owner, name = {
        "import": (evroute.cli, "main"),
        "options": (TyperGroup, "parse_args"),
        "command": (evroute.cli.network, "network_names"),
    }[where]
    monkeypatch.setattr(sys, "argv", ["evroute", "network", "list"])
    monkeypatch.setattr(owner, name, interrupt)
    monkeypatch.setattr(gc, "freeze", lambda: ends.append("quickly"))
    with pytest.raises(SystemExit) as done:
        program()
    assert done.value.code == 130
    assert capsys.readouterr().err == "evroute: interrupted\n"
    assert ends == ["quickly"]


def test_an_interrupt_while_a_text_runs_has_the_status_of_others(tmp_path: Path) -> None:
    """As while a dataclass is made. Python itself would end ``python -m`` by the signal."""
    code = (
        "import sys\n"
        "import evroute.cli\n"
        "from evroute.__main__ import main\n"
        "def run():\n"
        "    try:\n        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt:\n        sys.exit(130)\n"
        "evroute.cli.main = run\n"
        "main()\n"
    )
    (tmp_path / "interrupted.py").write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert (done.returncode, done.stderr) == (130, b"")
