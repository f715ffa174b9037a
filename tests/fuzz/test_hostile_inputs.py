"""A hundred hostile inputs at a seed: none is a traceback, takes long or floods the memory."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES, SECONDS = 60, 20
"""Full counts: ``python tests/fuzz/hostile --cases 500``, which allows 10 s."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="forks and measures as on Linux")
def test_hostile_inputs_are_refused_in_one_line() -> None:
    command = [sys.executable, Path(__file__).parent / "hostile"]
    options = ["--cases", str(CASES), "--seed", "17", "--seconds", str(SECONDS)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) hostile inputs: (\d+) refused, 0 faults", done.stdout)
    assert found, done.stdout
    assert int(found[1]) == CASES
    assert int(found[2]) > CASES / 2  # most are wrong and not only large
