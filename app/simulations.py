"""Running simulations, each in a separate process (``worker``), identified by its folder's lock.

Every window of every browser lists them and can stop them. A process ends when the server that
started it ends, for any reason.
"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from signal import SIGTERM
from subprocess import PIPE
from threading import Lock
from time import monotonic, sleep
from zlib import crc32

from lan import check_write
from worker import PROGRESS

from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.limits import parse_json, parse_toml, read_text
from evroute.resources import app_path
from evroute.worlds.world import World, load_world

WITHOUT_A_FILE = ("physics", "sampled-gp")
"""Kinds of worlds that read no other files."""
PATIENCE_S = 10.0
"""Longest wait for a process to end, s."""


def folder_name(experiment: Experiment) -> str:
    """Return the folder name of an experiment: equal experiments continue the same runs."""
    ((network_name, trips),) = experiment.trips.items()
    name = f"{network_name}-{'-'.join(trips)}"
    safe = re.sub(r"[^\w-]+|_+", "_", name)[:60].rstrip("_")
    return f"{safe}-{crc32(experiment.model_dump_json().encode()):08x}"


def own_world(content: bytes) -> World:
    """Return the world of an uploaded world file. Only kinds that read no other files.

    Raises
    ------
    EvrouteError
        If it is none.
    """
    try:
        table = parse_toml(content.decode(), "the world file")
    except ValueError as error:
        raise EvrouteError(f"the world file is not TOML: {error}") from None
    if table.get("kind") not in WITHOUT_A_FILE:
        raise EvrouteError(f"an uploaded world must be of kind {' or '.join(WITHOUT_A_FILE)}")
    return load_world(table)


def start(experiment: Experiment, folder: RunFolder) -> None:
    """Start or continue the runs of a folder, in a process that ends with this server.

    Raises
    ------
    EvrouteError
        If this tab may not.
    """
    check_write()
    if is_running(folder):  # another window was quicker
        return
    (folder.path / PROGRESS).unlink(missing_ok=True)
    command = [sys.executable, str(app_path("worker.py")), str(folder.path)]
    process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, encoding="utf-8")
    _workers[folder.path.resolve()] = process
    if process.stdin is not None:  # it stays open: its end is the end of this server
        print(experiment.model_dump_json(exclude_none=True), file=process.stdin)
        process.stdin.flush()


def stop(folder: RunFolder) -> None:
    """Stop the runs of a folder, in any process. Finished runs are kept.

    Raises
    ------
    EvrouteError
        If the process runs on another machine, does not end, or this tab may not end it.
    """
    check_write()
    if (process := _alive(folder)) is not None:
        process.terminate()
        process.wait(PATIENCE_S)
    elif (writer := folder.writer()) is not None:
        pid, node = writer
        if node != platform.node():
            raise EvrouteError(
                f"process {pid} works on {folder.path} on machine {node}. End it there"
            )
        os.kill(pid, SIGTERM)
        deadline = monotonic() + PATIENCE_S
        while folder.writer() == writer:
            if monotonic() > deadline:
                raise EvrouteError(f"process {pid}, which works on {folder.path}, does not end")
            sleep(0.05)


def is_running(folder: RunFolder) -> bool:
    """Return True if a process works on a folder, or was just started."""
    return _alive(folder) is not None or folder.writer() is not None


def running(folders: Path) -> list[RunFolder]:
    """Return the folders below a folder that have a running process, by name."""
    return [each for each in RunFolder.below(folders, "*/.lock") if is_running(each)]


def progress(folder: RunFolder) -> tuple[float, str]:
    """Return the finished share of the trips, and a text with both counts."""
    path = folder.path / PROGRESS
    try:
        rounds = parse_json(read_text(path, "json_mb"), str(path))
        done, total = int(rounds["done"]), int(rounds["total"])
    except (EvrouteError, OSError, LookupError, OverflowError, TypeError, ValueError):
        return 0.0, "Preparing …"
    share = min(max(done / max(total, 1), 0.0), 1.0)
    return share, f"{done:,} of {total:,} trips"


def trouble(folder: RunFolder) -> str:
    """Return the error of this server's last process on a folder, or empty if it did not fail."""
    return "" if _alive(folder) else _troubles.get(folder.path.resolve(), "")


def _alive(folder: RunFolder) -> subprocess.Popen[str] | None:
    """Return this server's running process on a folder, None if there is none."""
    key = folder.path.resolve()
    with _looking:  # sessions are threads
        process = _workers.get(key)
        if process is not None and process.poll() is not None:
            _troubles[key] = _workers.pop(key).communicate()[0].strip()
            return None
        return process


_looking = Lock()
_workers: dict[Path, subprocess.Popen[str]] = {}
_troubles: dict[Path, str] = {}
