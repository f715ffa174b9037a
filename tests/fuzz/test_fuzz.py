"""Inputs of a committed seed for some seconds, and faults that they have to find."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from evroute.service.work import Work

HERE = Path(__file__).parent
SECONDS = 20
SEED = 20261122
"""The same inputs at every run of the tests; ``make fuzz`` draws new ones."""


@pytest.fixture
def service_requests(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = spec_from_file_location("service_requests", HERE / "service_requests.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EXAMPLES", 3)
    return module


@pytest.mark.slow
def test_new_inputs_of_every_kind_are_read_or_refused() -> None:
    """A fault here is a fault of the program: the first line has the seed that repeats it."""
    command = [sys.executable, HERE, "--seconds", str(SECONDS), "--seed", str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"^ *(\d+) ([a-z ]+), 0 faults$", done.stdout, re.MULTILINE)
    kinds = ["damaged files", "hostile commands", "requests to the service", "odd trips"]
    assert [kind for _, kind in counts] == kinds
    assert all(int(number) > 0 for number, _ in counts)


@pytest.mark.slow
def test_a_seed_draws_the_same_inputs_again() -> None:
    command = [sys.executable, HERE, "--seconds", "0", "--only", "hostile commands", "--seed", "7"]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in "ab"
    )
    assert first == second
    assert first.startswith("seed 7: ")


def broken(*args: Any) -> Any:
    raise ZeroDivisionError


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (broken, "Server error"),
        (lambda *args: {"from": 5}, "Response violates schema"),
    ],
)
def test_a_wrong_answer_of_the_service_is_a_fault(
    service_requests: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Any,
    words: str,
) -> None:
    monkeypatch.setattr(Work, "range", answer)
    faults = service_requests.Service(tmp_path).faults(1)
    assert faults
    assert all("POST /v1/range" in fault and words in fault for fault in faults)
