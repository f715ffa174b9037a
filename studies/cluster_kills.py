"""Commands whose workers are killed at random moments end with the files of undisturbed ones.

python studies/cluster_kills.py KILLS SEED [batch|matrix|simulate ...]

Each command is run on Denver by one process, and then by ``--jobs 2`` and ``--cluster local:2``
while one of its processes is killed every 2 to 8 seconds, up to KILLS times. It prints status,
kills, seconds, the last line of standard error, and whether the files are the same.
"""

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.network.catalog import load_network

GAP_S = 2.0, 8.0
REQUESTS, PLACES = 3000, 2000
SIMULATE = "--method gp-ts --horizon 60 --seeds 24 --quiet"
ENGINES = {"--jobs 2": ["--jobs", "2"], "local:2": ["--cluster", "local:2"]}


def commands(place: Path, rng: np.random.Generator) -> dict[str, list[str]]:
    """Write the tables of the commands, and return their arguments without engine and output."""
    inside = sorted(set(load_network("denver").strongest_component().edge_id))
    paths = [place / f"{name}.csv" for name in ("batch", "origins", "destinations")]
    with paths[0].open("w", newline="", encoding="utf-8") as handle:
        pairs = (rng.choice(inside, 2, replace=False).tolist() for _ in range(REQUESTS))
        csv.writer(handle).writerows(
            [["id", "from", "to"], *([k, *p] for k, p in enumerate(pairs))]
        )
    for path in paths[1:]:
        with path.open("w", newline="", encoding="utf-8") as handle:
            rows = enumerate(rng.choice(inside, PLACES).tolist())
            csv.writer(handle).writerows([["id", "place"], *rows])
    batch, origins, destinations = map(str, paths)
    return {
        "batch": ["route", "--network", "denver", "--batch", batch],
        "matrix": ["route", "--network", "denver", "--matrix", origins, destinations],
        "simulate": ["simulate", "--network", "denver", *SIMULATE.split()],
    }


def workers(caller: int) -> list[int]:
    """Return the processes that a process started, without the tracker of shared resources."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            words = path.with_name("cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        if int(parent) == caller and state != "Z" and b"resource_tracker" not in words:
            found.append(int(path.parent.name))
    return found


@dataclass(frozen=True, slots=True)
class Ended:
    """Status of a command, its kills, seconds, last line of standard error, and files."""

    status: int
    kills: int
    wall_s: float
    line: str
    files: dict[str, bytes]


def run(words: list[str], out: Path, kills: int, rng: np.random.Generator) -> Ended:
    """Run a command and kill its processes."""
    started, done = time.monotonic(), 0
    with (
        (out.with_suffix(".out")).open("w") as output,
        (out.with_suffix(".err")).open("w") as error,
    ):
        command = [sys.executable, "-m", "evroute", *words, "--out", str(out)]
        with subprocess.Popen(command, stdout=output, stderr=error) as process:
            while process.poll() is None:
                time.sleep(rng.uniform(*GAP_S) if done < kills else 0.1)
                found = workers(process.pid) if done < kills else []
                if found:
                    with suppress(ProcessLookupError):
                        os.kill(int(rng.choice(found)), signal.SIGKILL)
                        done += 1
    lines = out.with_suffix(".err").read_text().splitlines() or [""]
    wanted = [path for path in out.rglob("[!.]*.*") if path.is_file()]
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for path in wanted
        if "timings" not in str(path) and path.name != "manifest.json"
    }
    return Ended(process.returncode, done, time.monotonic() - started, lines[-1], files)


def main(kills: int, seed: int, kinds: list[str]) -> None:
    """Print how each command ended."""
    rng = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for kind, words in commands(place, rng).items():
            if kinds and kind not in kinds:
                continue
            whole = run(words, place / f"{kind}-whole", 0, rng)
            for number, (name, engine) in enumerate(ENGINES.items()):
                ended = run([*words, *engine], place / f"{kind}-{number}", kills, rng)
                same = "the same files" if ended.files == whole.files else "OTHER FILES"
                print(
                    f"{kind}, {name}: status {ended.status}, {ended.kills} kills, "
                    f"{ended.wall_s:.0f} s ({whole.wall_s:.0f} s), {same}; {ended.line}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
