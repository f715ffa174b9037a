"""Tasks: runs as values that any process can play, and their files as bytes.

A task names network, vehicle, trips and files of the world by the SHA-256 of their bytes. A worker
that lacks one answers so, and receives the task again with the bytes, which it stores under the
digest. It plays in a folder of its own and answers the files. A process plays one run at a time:
numbers of BLAS depend on other threads.
"""

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from glob import escape
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Protocol

import scipy.linalg  # noqa: F401  brings a BLAS of its own
from filelock import FileLock
from threadpoolctl import threadpool_info

from evroute import __version__, plugins
from evroute.errors import require
from evroute.experiments.execution import attempt
from evroute.experiments.runs import Run, RunFolder
from evroute.files import inside, replacing
from evroute.given import Copy, given
from evroute.methods.setting import load_setting
from evroute.network.catalog import cache_dir, stored_path
from evroute.worlds.demand.demand import is_file, load_file, vehicles_of

LAST = "parts"
"""Folder of the table that is written last: with it a run is finished."""
_ONE_RUN = Lock()


@dataclass(frozen=True, slots=True)
class Input:
    """One file of a run.

    name: as the run or its world has it.  digest: SHA-256 of its bytes.  suffix: end of its file
    name.  path: where workers of this machine find it, or empty for others.
    """

    name: str
    digest: str
    suffix: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A run to play.

    Parameters
    ----------
    run
        The run.
    inputs
        Its files.
    machine
        `machine` of the caller, which a worker must equal. Empty for any.
    sent
        Bytes of files by digest.
    plugins
        Modules that a person named to the caller (`plugins.use`). Workers must have them.
    """

    run: Run
    inputs: tuple[Input, ...]
    machine: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, bytes] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def with_bytes(self, digests: tuple[str, ...], paths: Mapping[str, Path]) -> "Task":
        """Return the task with the bytes of some files, whose paths are by digest."""
        return replace(self, sent=bytes_of(digests, paths))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a worker. One of its four values is not empty.

    files: bytes by the name in the run folder, the file of `LAST` at the end.  left: paths, in the
    same order, of files that it left on the caller's disk.  missing: digests of files that it
    lacks.  refused: its `machine`, which is not the caller's.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def play_task(
    task: Task, on_round: Callable[[int], None] = lambda t: None, place: Path | None = None
) -> Outcome:
    """Play the run of a task and return its files.

    Parameters
    ----------
    task
        The task.
    on_round
        Called with the number of each finished round.
    place
        Folder in which the files are left, which the caller can read. Without, their bytes are
        returned.

    Raises
    ------
    EvrouteError
        If a plug-in cannot be imported.
    """

    def play() -> Outcome:
        if place is not None:
            attempt(task.run, RunFolder(place), on_round)
            return Outcome(left=_found(place, task.run))
        with TemporaryDirectory(prefix="evroute-run-") as own:
            attempt(task.run, RunFolder(Path(own)), on_round)
            found = _found(Path(own), task.run)
            return Outcome({name: Path(path).read_bytes() for name, path in found.items()})

    return in_place(task, play)


def _found(folder: Path, run: Run) -> dict[str, str]:
    """Return the paths of the files of a run in a folder by name, the file of `LAST` at the end."""
    paths = sorted(folder.glob(f"*/{escape(run.name)}[.@]*"))
    paths.sort(key=lambda path: path.parent.name == LAST)
    return {path.relative_to(folder).as_posix(): str(path) for path in paths}


class Sent(Protocol):
    """What tasks have in common: files, and the machine and plug-ins of the caller."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Files that it reads."""

    @property
    def machine(self) -> Mapping[str, str]:
        """`machine` of the caller, which a worker must equal. Empty for any."""

    @property
    def sent(self) -> Mapping[str, bytes]:
        """Bytes of files by digest."""

    @property
    def plugins(self) -> tuple[str, ...]:
        """Modules that a person named to the caller."""


def in_place(task: Sent, work: Callable[[], Outcome]) -> Outcome:
    """Do a task's work with the files that came with it, one task at a time in a process.

    Parameters
    ----------
    task
        The task.
    work
        Returns the answer.

    Raises
    ------
    EvrouteError
        If a plug-in cannot be imported.
    """
    with _ONE_RUN:
        if task.machine and dict(task.machine) != machine():
            return Outcome(refused=machine())
        for name in set(task.plugins).difference(plugins.used()):
            plugins.use(name)
        copies = {each.name: _copy(each, task.sent) for each in task.inputs}
        missing = [each.digest for each in task.inputs if copies[each.name] is None]
        if missing:
            return Outcome(missing=tuple(missing))
        there = {name: copy for name, copy in copies.items() if copy is not None}
        with given(there):
            return work()


def _copy(wanted: Input, sent: Mapping[str, bytes]) -> Copy | None:
    """Return the copy of a file, stored from its bytes if they were sent. None if it is lacking."""
    near = Path(wanted.path)
    if wanted.path and near.is_file() and digest_of_file(near) == wanted.digest:
        return Copy(near, wanted.digest)
    stored = inside(cache_dir() / "given", f"{wanted.digest}{wanted.suffix}")
    if not stored.is_file() and wanted.digest in sent:
        stored.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(stored.with_name(f"{stored.name}.lock")), replacing(stored) as temporary:
            temporary.write_bytes(sent[wanted.digest])
    return Copy(stored, wanted.digest) if stored.is_file() else None


def write_files(folder: Path, outcome: Outcome) -> None:
    """Write the files of an outcome into a run folder, each to a temporary name first, or move it.

    Parameters
    ----------
    folder
        The run folder.
    outcome
        The answer of a worker.

    Raises
    ------
    OSError
        If the folder cannot be written, as on a full disk.
    """
    for name, content in outcome.files.items():
        with replacing(inside(folder, name)) as temporary:
            temporary.write_bytes(content)
    for name, path in outcome.left.items():
        target = inside(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(path).replace(target)


def bytes_of(digests: tuple[str, ...], paths: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the bytes of files by digest.

    Parameters
    ----------
    digests
        SHA-256 of the files.
    paths
        Their paths by digest.

    Raises
    ------
    EvrouteError
        If a file has other bytes by now.
    """
    found = {}
    for digest in digests:
        found[digest] = paths[digest].read_bytes()
        same = hashlib.sha256(found[digest]).hexdigest() == digest
        require(same, f"{paths[digest]} has changed since the command began. Repeat the command")
    return found


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, read again once its date or size changes."""
    found = path.stat()
    return _digest(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Inputs:
    """Files of runs, found once for each network, vehicle, trip and world.

    Parameters
    ----------
    near
        Workers are on this machine and read the files themselves.
    """

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._found: dict[tuple[object, ...], tuple[Input, ...]] = {}
        self.paths: dict[str, Path] = {}
        """Paths of the files by digest."""

    def of(self, run: Run) -> tuple[Input, ...]:
        """Return the files of a run."""
        key = run.network, run.vehicle, run.trip, run.world.label
        if key not in self._found:
            self._found[key] = tuple(
                self.of_file(name, path) for name, path in _paths_of(run).items()
            )
        return self._found[key]

    def of_file(self, name: str, path: Path, *, suffix: str | None = None) -> Input:
        """Return a file by the name that readers have for it.

        Parameters
        ----------
        name, path
            The name, and the path on this machine.
        suffix
            End of the names of copies, or None for the file's own.
        """
        digest = digest_of_file(path)
        self.paths[digest] = path
        end = "".join(path.suffixes[-3:]) if suffix is None else suffix
        return Input(name, digest, end, str(path.resolve()) if self._near else "")


def _paths_of(run: Run) -> dict[str, Path]:
    """Return the files of a run by the names that it has for them."""
    setting = load_setting(run.network, run.vehicle, run.assumed)
    found = {run.network: stored_path(run.network)}
    vehicles: tuple[str, ...] = (run.vehicle,)
    if is_file(run.trip):
        found[run.trip] = Path(run.trip)
        vehicles = tuple(chain(vehicles, vehicles_of(load_file(Path(run.trip), setting))))
    found |= {vehicle: Path(vehicle) for vehicle in vehicles if vehicle.endswith(".toml")}
    return found | run.world.files(setting)


@cache
def machine() -> dict[str, str]:
    """Return the versions and the BLAS on which the last bits of results depend."""
    blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
    own = [each for each in blas if "numpy" in each["filepath"] or "scipy" in each["filepath"]]
    kinds = {
        f"{each['internal_api']} {each['version']} {each.get('architecture', '')}".strip()
        for each in own or blas
    }
    return {
        "evroute": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "BLAS": ", ".join(sorted(kinds)),
    }
