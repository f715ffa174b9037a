"""Simulations under way: each in a process of its own (``worker``), known to the session that started it."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from zlib import crc32

import streamlit as st

from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import RunFolder
from evroute.limits import parse_toml
from evroute.resources import app_path
from evroute.worlds.world import World, load_world

WITHOUT_A_FILE = ("physics", "sampled-gp")
"""Kinds of worlds that read no other files."""


def folder_name(experiment: Experiment) -> str:
    """Name the folder after the experiment, so that the same question always continues the same runs."""
    ((network_name, trips),) = experiment.trips.items()
    name = f"{network_name}-{'-'.join(trips)}"
    safe = "".join(sign if sign.isalnum() or sign == "-" else "_" for sign in name)[:60]
    return f"{safe}-{crc32(experiment.model_dump_json().encode()):08x}"


def own_world(content: bytes) -> World:
    """Return the world that a world file describes; only of kinds that read no other files.

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
        raise EvrouteError(f"the kind of a world given here is {' or '.join(WITHOUT_A_FILE)}")
    return load_world(table)


def start(experiment: Experiment, folder: RunFolder) -> None:
    """Start or continue the work on a folder."""
    place = Path(mkdtemp(prefix="evroute-"))
    (place / "experiment.json").write_text(
        experiment.model_dump_json(exclude_none=True), encoding="utf-8"
    )
    command = [
        sys.executable,
        app_path("worker.py"),
        place / "experiment.json",
        folder.path,
        place / "progress.json",
    ]
    process = subprocess.Popen(list(map(str, command)))
    _workers()[folder.path.name] = (process, place / "progress.json")


def stop(folder: RunFolder) -> None:
    """End the work on a folder; what is finished stays."""
    process, _ = _workers().get(folder.path.name, (None, None))
    if process is not None and process.poll() is None:
        process.terminate()
        process.wait()


def is_running(folder: RunFolder) -> bool:
    """Tell whether this session works on a folder."""
    process, _ = _workers().get(folder.path.name, (None, None))
    return process is not None and process.poll() is None


def progress(folder: RunFolder) -> tuple[float, str, str]:
    """Return the share of the trips that are done, that in words, and what went wrong, if anything did."""
    process, path = _workers().get(folder.path.name, (None, Path()))
    told = (
        json.loads(path.read_text(encoding="utf-8"))
        if process is not None and path.is_file()
        else {}
    )
    if "total" not in told:
        return 0.0, "Preparing …", str(told.get("error", ""))
    return told["done"] / told["total"], f"{told['done']:,} of {told['total']:,} trips", ""


def _workers() -> dict[str, tuple[subprocess.Popen[bytes], Path]]:
    started: dict[str, tuple[subprocess.Popen[bytes], Path]] = st.session_state.setdefault(
        "workers", {}
    )
    return started
