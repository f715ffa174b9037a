"""The attacks of ``attacks.py`` on a running service, without most of the slow ones."""

import subprocess
import sys
from pathlib import Path


def test_no_quick_attack_succeeds() -> None:
    program = Path(__file__).parent / "attacks.py"
    done = subprocess.run(
        [sys.executable, program, "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "internal error" not in done.stderr
    assert done.stdout.count("\n") > 90, done.stdout


def test_half_heads_keep_no_other_client_out() -> None:
    program = Path(__file__).parent / "attacks.py"
    done = subprocess.run(
        [sys.executable, program, "--half-heads", "1500"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("\n") < 100, "a flood of the log"
