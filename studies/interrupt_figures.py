"""Interrupted commands: how soon they end, with which status and words, and what they leave.

python studies/interrupt_figures.py TIMES SEED [ENGINE ...]

A simulation on Denver by ``--jobs 1``, ``--jobs 2`` and ``--cluster local:2`` is interrupted TIMES
times each, at a random moment of its first ten seconds, as a terminal does: the signal reaches all
its processes. It prints the moment, the status, the seconds until its end, its last line and the
processes that outlive it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

MOST_S = 10.0
ENGINES = {"1": ["--jobs", "1"], "2": ["--jobs", "2"], "local:2": ["--cluster", "local:2"]}
WORDS = "simulate --network denver --method gp-ts --horizon 60 --seeds 400 --quiet"


def left(group: int) -> list[str]:
    """Return the processes of a group that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:  # it ended meanwhile
            continue
        state, _, its_group = rest.split()[:3]
        if int(its_group) == group and state != "Z":
            found.append(name.partition("(")[2])
    return found


def interrupted(words: list[str], after_s: float) -> tuple[int, float, str, list[str]]:
    """Interrupt a command. Return its status, seconds until its end, last line and what is left."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "evroute", *words, "--out", f"{place}/runs"]
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(after_s)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        status = process.wait()
        took_s = time.monotonic() - began
        rest = left(process.pid)
        assert process.stderr is not None
        lines = process.stderr.read().decode().splitlines()
        for name in lines[:-1]:
            rest.append(f"line: {name}")
    return status, took_s, lines[-1] if lines else "", rest


def main(times: int, seed: int, engines: list[str]) -> None:
    """Print how each command ended."""
    rng = np.random.default_rng(seed)
    # a shell lets its background programs ignore the signal, and theirs would, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for engine in engines or ENGINES:
        took_s = []
        for _ in range(times):
            after_s = float(rng.uniform(0.0, MOST_S))
            status, seconds, line, rest = interrupted([*WORDS.split(), *ENGINES[engine]], after_s)
            took_s.append(seconds)
            load = os.getloadavg()[0]
            print(
                f"{engine}: after {after_s:.2f} s status {status} in {seconds:.2f} s, "
                f"load {load:.1f}; {line}; left {rest}",
                flush=True,
            )
        print(f"{engine}: median {median(took_s):.2f} s, worst {max(took_s):.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
