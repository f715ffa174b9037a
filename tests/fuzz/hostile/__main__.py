"""Hostile inputs, each read by the command line in a process of its own.

``python tests/fuzz/hostile --cases 500 --seed 0`` prints a line for each fault and a summary. A
fault is a traceback or exit status that nobody foresaw, a signal, more than ``--seconds`` of
processor time, more than 600 s in all, or more than ``--memory-mb``. A case is reproduced by
``--only KIND --seed N --cases 1``.
"""

import argparse
import gc
import importlib
import math
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from case import KINDS, Command

MODULES = ("texts", "stored", "roads", "tables", "rasters", "servers")
# Imported once by the parent, so that a case costs a fork and its own work.
PRELOADED = (
    *("evroute.cli", "evroute.network.catalog"),
    *("evroute.network.sources.osm", "evroute.network.sources.graphml"),
    *("evroute.learning.learn", "evroute.experiments.experiment", "evroute.planning.planner"),
    *("evroute.report.pages.run_page", "geopandas", "osmium", "osmnx"),
    *("pyarrow.csv", "pyarrow.parquet"),
    *("rasterio", "requests", "rich.table", "rich.progress", "scipy.sparse.linalg"),
)
ADDRESS_SPACE = 4 << 30
"""Bytes of address space beyond those of the parent, so that no case can flood the machine."""
KILLED_AFTER_S = 600
FORESEEN = {0, 1, 2}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended: exit status, negative for a signal, processor time, memory and messages."""

    kind: str
    seed: int
    status: int
    seconds: float
    memory_mb: float
    messages: str

    def faults(self, seconds: float, memory_mb: float) -> list[str]:
        """Return the reasons why the case is a fault, none if it is well refused or read."""
        found = []
        if self.status not in FORESEEN or "Traceback" in self.messages:
            found.append(f"exit status {self.status}")
        if self.seconds > seconds:
            found.append(f"{self.seconds:.1f} s")
        if self.memory_mb > memory_mb:
            found.append(f"{self.memory_mb:.0f} MB")
        return found


def run(kind: str, seed: int) -> Outcome:
    """Make the case of a kind and a seed, and run its command in a child with limited memory."""
    with tempfile.TemporaryDirectory(prefix="evroute-hostile-") as place:
        folder = Path(place)
        made = os.fork()
        if made == 0:  # files are made in a child too, whose memory does not count
            _leave(_make, kind, seed, folder)
        os.waitpid(made, 0)
        command = Command.read(folder)
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            _leave(_obey, command, folder)
        status, seconds, memory_mb = _wait(child, started + KILLED_AFTER_S)
        messages = (folder / "messages").read_text(errors="replace")
    return Outcome(kind, seed, status, seconds, memory_mb, messages)


def _make(kind: str, seed: int, folder: Path) -> None:
    KINDS[kind](folder, np.random.default_rng([crc32(kind.encode()), seed])).write(folder)


def _obey(command: Command, folder: Path) -> None:
    from servers import serve

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, used + ADDRESS_SPACE))
    file = os.open(folder / "messages", os.O_CREAT | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.environ |= {
        "EVROUTE_CACHE_DIR": str(folder / "cache"),
        "EVROUTE_DEBUG": "1",
        **command.environ,
    }
    sys.argv = ["evroute", *command.arguments]
    if command.server:
        serve(command.server)
    from evroute.cli import main

    main()


def _leave(work: object, *arguments: object) -> None:
    """Do work and end the process without returning to the parent's code."""
    status = 0
    try:
        work(*arguments)  # type: ignore[operator]
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 99
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _wait(child: int, deadline: float) -> tuple[int, float, float]:
    """Return exit status, processor time and peak memory of a child, killed at the deadline."""
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            seconds = usage.ru_utime + usage.ru_stime
            return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


def cases(count: int, seed: int, only: str | None) -> Iterator[tuple[str, int]]:
    """Yield kinds and seeds: every kind in turn."""
    kinds = [only] if only else list(KINDS)
    for k in range(count):
        yield kinds[k % len(kinds)], seed + k // len(kinds)


def main() -> None:
    """Run the cases and report; exit status 1 if one is a fault."""
    for name in (*MODULES, *PRELOADED):
        importlib.import_module(name)
    gc.freeze()  # children then copy fewer pages
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--for", type=float, default=math.inf, help="s, no case begins later")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--memory-mb", type=float, default=1000.0)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--verbose", action="store_true")
    wanted = parser.parse_args()
    outcomes, faulty, began = [], 0, time.monotonic()
    for kind, seed in cases(wanted.cases, wanted.seed, wanted.only):
        if outcomes and time.monotonic() > began + vars(wanted)["for"]:
            break
        outcome = run(kind, seed)
        outcomes.append(outcome)
        faults = outcome.faults(wanted.seconds, wanted.memory_mb)
        faulty += bool(faults)
        last = (outcome.messages.strip().splitlines() or [""])[-1]
        if faults or wanted.verbose:
            print(
                f"{kind} {seed}: {', '.join(faults) or outcome.status} | {outcome.seconds:.1f} s, "
                f"{outcome.memory_mb:.0f} MB | {last[:200]}",
                flush=True,
            )
    slowest = max(outcome.seconds for outcome in outcomes)
    largest = max(outcome.memory_mb for outcome in outcomes)
    refused = sum(outcome.status != 0 for outcome in outcomes)
    print(
        f"{len(outcomes)} hostile inputs: {refused} refused, {faulty} faults, at most "
        f"{slowest:.1f} s and {largest:.0f} MB"
    )
    sys.exit(faulty > 0)


if __name__ == "__main__":
    main()
