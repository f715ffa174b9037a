"""Folders of results: a manifest, a lock and beliefs.

Both `evroute.experiments` and `evroute.learning` have their results in such folders.
"""

import json
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from filelock import BaseFileLock, FileLock, Timeout

from evroute import limits
from evroute.display import drawn_by
from evroute.errors import DamagedFileError, EvrouteError, require
from evroute.files import TEMPORARY, check_links, inside, replacing, sweep
from evroute.text import cut

SHOWN_DIFFERENCES = 3
SHOWN_CHARACTERS = 40
"""Number of characters shown of each value that differs."""
BRIEF_S = 1.0
"""Longest wait for a lock without a notice, s. `Folder.writer` holds a lock for an instant."""
_ADDED = {"kernel": '"matern-5/2"', "configuration.kernel": '"matern-5/2"'}
"""Keys that folders of earlier versions lack, with the values that they had."""
_TABLES = {"configuration", "method", "networks", "vehicle"}
"""Keys of a manifest whose values are tables."""
_KEY_ENDINGS = (".name", ".kind", ".model", ".index")
"""Endings of keys that are shown before others of the same depth."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with a manifest and beliefs.

    Parameters
    ----------
    path
        The folder, which may be missing or a link.

    Raises
    ------
    EvrouteError
        If a link below it leads out of it.
    """

    path: Path

    def __post_init__(self) -> None:
        """Check the links below the folder, which may come from others."""
        check_links(self.path)

    _repr_html_ = drawn_by("folder_html")

    @classmethod
    def below(cls, parent: Path, pattern: str) -> Iterator[Self]:
        """Yield the folders of a folder, by name. A warning names one with links out of it.

        Parameters
        ----------
        parent
            The folder of folders, which may be missing.
        pattern
            Pattern of the path of a file that a folder has, such as ``*/manifest.json``.
        """
        for path in sorted(parent.glob(pattern)):
            try:
                inside(parent, path.parent.name)
                yield cls(path.parent)
            except EvrouteError as error:
                log.warning("%s", error)

    @property
    def has_manifest(self) -> bool:
        """Whether the folder was made by a command already."""
        return (self.path / "manifest.json").exists()

    def open(self, manifest: dict[str, Any]) -> None:
        """Make the folder, or continue one that has the same manifest.

        Raises
        ------
        EvrouteError
            If the folder has other contents. The message shows the difference.
        """
        if not (self.path / "manifest.json").exists():
            if self.path.exists() and (not self.path.is_dir() or self._is_foreign()):
                raise EvrouteError(f"{self.path} exists and is not a folder of runs. {self.remedy}")
            self.write_manifest(manifest)
            return
        there, here = _ADDED | dict(_flat(self.manifest())), _ADDED | dict(_flat(manifest))
        different = [key for key in there.keys() | here.keys() if there.get(key) != here.get(key)]
        different.sort(key=lambda key: (key.count("."), not key.endswith(_KEY_ENDINGS), key))
        if different:
            shown = "; ".join(
                f"{key.removeprefix('configuration.')}: {_short(there.get(key))} there, "
                f"{_short(here.get(key))} now"
                for key in different[:SHOWN_DIFFERENCES]
            )
            more = (
                f"; and {len(different) - SHOWN_DIFFERENCES} more"
                if len(different) > SHOWN_DIFFERENCES
                else ""
            )
            raise EvrouteError(
                f"{self.path} holds runs of another configuration ({shown}{more}). Name another "
                "folder with --out"
            )

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest and replace an older one."""
        with replacing(self.path / "manifest.json") as temporary:
            temporary.write_text(
                json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )

    def _is_foreign(self) -> bool:
        """Return True if the folder holds files that no killed first writer left."""
        kept = {".lock", ".writer"}
        return any(not (each.name in kept or each.match(TEMPORARY)) for each in self.path.iterdir())

    def manifest(self) -> dict[str, Any]:
        """Read the manifest.

        Raises
        ------
        EvrouteError
            If it is missing or unreadable.
        """
        target = self.path / "manifest.json"
        try:
            manifest: dict[str, Any] = limits.parse_json(
                limits.read_text(target, "json_mb"), str(target)
            )
        except FileNotFoundError:
            raise EvrouteError(
                f"{self.path} is not a folder of runs: it has no manifest.json"
            ) from None
        except ValueError:
            raise DamagedFileError(f"{target} is unreadable. {self.remedy}") from None
        if not isinstance(manifest, dict):
            raise DamagedFileError(f"{target} holds no table. {self.remedy}")
        for name in sorted(_TABLES & manifest.keys()):
            if not isinstance(manifest[name], dict):
                raise DamagedFileError(f"{name} in {target} is no table. {self.remedy}")
        return manifest

    @property
    def remedy(self) -> str:
        """The remedy of a damaged manifest, for messages."""
        if (self.path / "measured").is_dir():
            return f"Its trips can be learned again: evroute learn --repair {self.path}"
        return "Choose another --out"

    def belief_path(self, run_name: str, vehicle: str = "") -> Path:
        """Return the path of a run's belief, or of another vehicle's belief in that run."""
        name = f"{run_name}@{Path(vehicle).stem}" if vehicle else run_name
        return self.path / "beliefs" / f"{name}.npz"

    @contextmanager
    def writing(self, manifest: dict[str, Any], wait_s: float = BRIEF_S) -> Iterator[None]:
        """Open the folder as in `open` and lock it as in `locked`.

        Raises
        ------
        EvrouteError
            If it has other contents, or another process still writes it after ``wait_s`` seconds.
        """
        self.open(manifest)
        with self.locked(wait_s):
            self.open(manifest)  # another process may have made it first
            yield

    @contextmanager
    def locked(self, wait_s: float = BRIEF_S) -> Iterator[None]:
        """Lock the folder against other writers, and delete temporary files of killed writers.

        The lock ends with the process that holds it.

        Raises
        ------
        EvrouteError
            If another process still holds the lock after ``wait_s`` seconds.
        """
        lock, mine = FileLock(self.path / ".lock"), self.path / ".writer"
        held = _acquired(lock, min(wait_s, BRIEF_S))
        if not held and wait_s > BRIEF_S:
            log.warning("another process is writing %s, waiting %g s for it", self.path, wait_s)
            held = _acquired(lock, wait_s)
        require(
            held, f"another process is writing {self.path}. Wait for it, or choose another --out"
        )
        try:
            sweep(self.path.rglob(TEMPORARY))
            with replacing(mine) as temporary:
                temporary.write_text(f"{os.getpid()} {platform.node()}", encoding="utf-8")
            yield
        finally:
            mine.unlink(missing_ok=True)
            lock.release()

    def writer(self) -> tuple[int, str] | None:
        """Return the process that holds the lock, its id and its machine, or None if it is free.

        The id is 0 if the process has not written it.
        """
        lock = self.path / ".lock"
        for _ in range(100):
            if not lock.exists():
                return None
            try:
                with FileLock(lock, timeout=0):
                    return None
            except Timeout:
                with suppress(OSError, ValueError):  # it has not written its id yet
                    process, node = (self.path / ".writer").read_text(encoding="utf-8").split(" ")
                    if int(process) > 0:
                        return int(process), node
                time.sleep(0.01)
        return 0, "unknown"

    def finished_runs(self) -> list[str]:
        """Return the names of the finished runs, sorted."""
        return sorted(path.stem for path in (self.path / "parts").glob("[!.]*.parquet"))

    def beliefs(self) -> list[str]:
        """Return the names of beliefs for planning: finished runs, or ``evroute learn`` results."""
        finished = self.finished_runs()
        of_others = {path.stem for path in (self.path / "beliefs").glob("[!.]*@*.npz")}
        finished += sorted(name for name in of_others if name.rpartition("@")[0] in finished)
        return finished or sorted(
            path.stem for path in (self.path / "beliefs").glob("[!.]*-learned.npz")
        )


def _acquired(lock: BaseFileLock, wait_s: float) -> bool:
    try:
        lock.acquire(timeout=wait_s)
    except Timeout:
        return False
    return True


def _short(value: str | None) -> str:
    return "not set" if value is None else cut(value, SHOWN_CHARACTERS)


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every leaf of nested JSON with its dotted key."""
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        value = {str(place): each for place, each in enumerate(value)}
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
    else:
        yield key, json.dumps(value, ensure_ascii=False)
