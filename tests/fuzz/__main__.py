"""New inputs at every run: damaged files, hostile commands, requests to the service, odd trips.

``make fuzz`` is ``python tests/fuzz --seconds 600``: it draws a seed, prints it, and gives each of
the four a quarter of the time. ``--seed N`` draws the same inputs again, in the same order. The
status is 1 if one of them is a fault: an error that nobody foresaw, or an answer that breaks the
service's own description.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

HERE = Path(__file__).parent
CASES = 5
"""Damaged files of each kind at a time."""
BATCHES = 3
"""Calls with odd trips at a time."""
SHOWN = 30
"""Lines of a fault that are printed."""


@dataclass
class Found:
    """Number of inputs, and the faults as text."""

    inputs: int = 0
    faults: list[str] = field(default_factory=list)


def rounds(seed: int, seconds: float) -> Iterator[int]:
    """Yield seeds until the time is over, one at least."""
    began = time.monotonic()
    for step in count():
        if step and time.monotonic() > began + seconds:
            return
        yield (seed + 1_000 * step) % 2**31


def damaged_files(seed: int, seconds: float) -> Found:
    """Read damaged files of every kind."""
    from test_mutated_inputs import KINDS, read_mutated

    found = Found()
    for first in rounds(seed, seconds):
        with tempfile.TemporaryDirectory() as place:
            for kind in KINDS:
                found.inputs += CASES
                try:
                    read_mutated(kind, Path(place), range(first, first + CASES))
                except AssertionError as error:
                    found.faults.append(str(error))
    return found


def hostile_commands(seed: int, seconds: float) -> Found:
    """Run commands on hostile inputs in processes of their own."""
    options = ["--cases", str(10**6), "--seed", str(seed), "--for", str(seconds)]
    done = subprocess.run(
        [sys.executable, HERE / "hostile", *options], capture_output=True, text=True, check=False
    )
    *faults, last = (done.stdout + done.stderr).splitlines() or [""]
    inputs = int(last.split()[0]) if " hostile inputs: " in last else 0
    return Found(inputs, faults or [last] * (done.returncode != 0))


def requests_to_the_service(seed: int, seconds: float) -> Found:
    """Send requests drawn from the OpenAPI document, right and wrong ones."""
    from service_requests import Service

    found = Found()
    with tempfile.TemporaryDirectory() as place:
        service = Service(Path(place))
        for number in rounds(seed, seconds):
            found.faults += service.faults(number)
        found.inputs = service.sent
    return found


def odd_trips(seed: int, seconds: float) -> Found:
    """Learn trips with odd numbers, then good ones, and plan on the belief."""
    sys.path.append(str(HERE.parent / "safety"))
    from test_odd_trips import TOGETHER, run

    found = Found()
    for number in rounds(seed, seconds):
        with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found.inputs += BATCHES * TOGETHER
            try:
                run(Path(place), "python", BATCHES, number)
            except Exception as error:
                notes = "\n".join(getattr(error, "__notes__", ()))
                found.faults.append(f"seed {number}: {error!r}\n{notes}")
    return found


PARTS: dict[str, Callable[[int, float], Found]] = {
    "damaged files": damaged_files,
    "hostile commands": hostile_commands,
    "requests to the service": requests_to_the_service,
    "odd trips": odd_trips,
}


def main() -> None:
    """Draw inputs for a time and report the faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=PARTS)
    chosen = parser.parse_args()
    seed = random.SystemRandom().randrange(2**31) if chosen.seed is None else chosen.seed
    print(f"seed {seed}: `make fuzz SEED={seed}` draws these inputs again", flush=True)
    parts = [chosen.only] if chosen.only else list(PARTS)
    faults = 0
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EVROUTE_CACHE_DIR"] = cache
        for name in parts:
            found = PARTS[name](seed, chosen.seconds / len(parts))
            faults += len(found.faults)
            for fault in found.faults:
                print(f"{name}: {chr(10).join(fault.splitlines()[:SHOWN])}")
            print(f"{found.inputs:7d} {name}, {len(found.faults)} faults", flush=True)
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
