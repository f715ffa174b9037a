"""Tasks: work as a value that any process can do, and its files as bytes.

A task names the files that its work reads by the SHA-256 of their bytes. A worker that lacks one
answers so, and receives the task again with the bytes, which it stores under the digest. A process
does one task at a time: numbers of BLAS depend on other threads.
"""

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Protocol

import scipy.linalg  # noqa: F401  brings a BLAS of its own
from filelock import FileLock
from threadpoolctl import threadpool_info

from evroute import __version__, plugins
from evroute.errors import EvrouteError, require
from evroute.files import inside, replacing
from evroute.given import Copy, given
from evroute.network.catalog import cache_dir

_ONE_TASK = Lock()


@dataclass(frozen=True, slots=True)
class Input:
    """One file that work reads.

    name: as the work has it.  digest: SHA-256 of its bytes.  suffix: end of its file name.  path:
    where workers of this machine find it, or empty for others.
    """

    name: str
    digest: str
    suffix: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a worker. One of its four values is not empty, but for work without files.

    files: bytes by name.  left: paths by name of files that it left on the caller's disk, in the
    order in which they are to be moved.  missing: digests of files that it lacks.  refused: its
    `machine`, which is not the caller's.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class Work(Protocol):
    """Work that a task carries: a run of an experiment, or a block of a table."""

    def load(self, inputs: tuple[Input, ...]) -> None:
        """Load what the work needs, so that forked processes have it.

        Parameters
        ----------
        inputs
            The files of the task.
        """

    def do(
        self, inputs: tuple[Input, ...], step: Callable[[], None], place: Path | None
    ) -> Outcome:
        """Do the work and return its files.

        Parameters
        ----------
        inputs
            The files of the task.
        step
            Called after each round or row. Raises an error if the work is to stop.
        place
            Folder in which files are left, which the caller can read. None to return their bytes.
        """


@dataclass(frozen=True, slots=True)
class Task:
    """Work with its files, and the machine and plug-ins of the caller.

    Parameters
    ----------
    work
        The work.
    inputs
        Its files.
    machine
        `machine` of the caller, which a worker must equal. Empty for any.
    sent
        Bytes of files by digest.
    plugins
        Modules that a person named to the caller (`plugins.use`). Workers must have them.
    """

    work: Work
    inputs: tuple[Input, ...]
    machine: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, bytes] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def with_bytes(self, digests: tuple[str, ...], paths: Mapping[str, Path]) -> "Task":
        """Return the task with the bytes of some files.

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
        sent = {}
        for digest in digests:
            sent[digest] = paths[digest].read_bytes()
            same = hashlib.sha256(sent[digest]).hexdigest() == digest
            require(same, f"{paths[digest]} has changed since the command began. Repeat it")
        return replace(self, sent=sent)

    def load(self) -> None:
        """Load what the work needs in this process."""

        def work() -> Outcome:
            self.work.load(self.inputs)
            return Outcome()

        self._in_place(work)

    def do(self, step: Callable[[], None] = lambda: None, place: Path | None = None) -> Outcome:
        """Do the work with the files that came with it.

        Parameters
        ----------
        step, place
            As in `Work.do`.

        Raises
        ------
        EvrouteError
            If a plug-in cannot be imported.
        """
        return self._in_place(lambda: self.work.do(self.inputs, step, place))

    def _in_place(self, work: Callable[[], Outcome]) -> Outcome:
        with _ONE_TASK:
            if self.machine and dict(self.machine) != machine():
                return Outcome(refused=machine())
            for name in set(self.plugins).difference(plugins.used()):
                plugins.use(name)
            copies = {each.name: _copy(each, self.sent) for each in self.inputs}
            missing = [each.digest for each in self.inputs if copies[each.name] is None]
            if missing:
                return Outcome(missing=tuple(missing))
            with given({name: copy for name, copy in copies.items() if copy is not None}):
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


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, read again once its date or size changes."""
    found = path.stat()
    return _digest(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Inputs:
    """Files of work, and their paths on this machine.

    Parameters
    ----------
    near
        Workers are on this machine and read the files themselves.
    """

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self.paths: dict[str, Path] = {}
        """Paths of the files by digest."""

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


def check_same(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Refuse a worker whose versions or BLAS differ from the caller's.

    Parameters
    ----------
    here, there
        `machine` of the caller and of the worker. The worker's is empty if it is equal.

    Raises
    ------
    EvrouteError
        If it differs. The message names what differs.
    """
    if there:
        other = [
            f"{name} {there.get(name)} there, {each} here"
            for name, each in here.items()
            if each and there.get(name) != each
        ]
        raise EvrouteError(
            f"a worker would give other last digits ({'; '.join(other)}). Install the same "
            "versions there, or accept it with --mixed"
        )
