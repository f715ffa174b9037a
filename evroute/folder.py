"""Folders of results: a manifest, a lock, the beliefs within; what `experiments` and `learning` share."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from evroute import limits
from evroute.errors import EvrouteError
from evroute.files import replacing

SHOWN_DIFFERENCES = 3
SHOWN_CHARACTERS = 40
"""Of each value that differs."""
_TELLING = (".name", ".kind", ".model", ".index")
"""Endings of keys that are shown before others as deep."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with a manifest and beliefs."""

    path: Path

    def open(self, manifest: dict[str, Any]) -> None:
        """Make the folder, or continue one that has the same manifest.

        Raises
        ------
        EvrouteError
            If the folder holds something else; the message shows the difference.
        """
        target = self.path / "manifest.json"
        if not target.exists():
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise EvrouteError(
                    f"{self.path} exists and is no folder of runs; choose another --out"
                )
            with replacing(target) as temporary:
                temporary.write_text(
                    json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
                )
            return
        there, here = dict(_flat(self.manifest())), dict(_flat(manifest))
        different = [key for key in there.keys() | here.keys() if there.get(key) != here.get(key)]
        different.sort(key=lambda key: (key.count("."), not key.endswith(_TELLING), key))
        if different:
            shown = "; ".join(
                f"{key.removeprefix('configuration.')}: {_short(there.get(key))} there, {_short(here.get(key))} now"
                for key in different[:SHOWN_DIFFERENCES]
            )
            more = (
                f"; and {len(different) - SHOWN_DIFFERENCES} more"
                if len(different) > SHOWN_DIFFERENCES
                else ""
            )
            raise EvrouteError(
                f"{self.path} holds runs of another configuration ({shown}{more}); name another folder with --out"
            )

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
                f"{self.path} is no folder of runs: it has no manifest.json"
            ) from None
        except ValueError:
            raise EvrouteError(
                f"{target} is unreadable; remove {self.path} or choose another --out"
            ) from None
        if not isinstance(manifest, dict):
            raise EvrouteError(
                f"{target} holds no table; remove {self.path} or choose another --out"
            )
        return manifest

    def belief_path(self, run_name: str, vehicle: str = "") -> Path:
        """Return where a run's belief lies, or that of another vehicle than the run's."""
        name = f"{run_name}@{Path(vehicle).stem}" if vehicle else run_name
        return self.path / "beliefs" / f"{name}.npz"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from writing the folder meanwhile; the lock falls with the process that holds it.

        Raises
        ------
        EvrouteError
            If another process is at it.
        """
        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            with lock:
                yield
        except Timeout:
            raise EvrouteError(
                f"another process is writing {self.path}; wait for it, or choose another --out"
            ) from None

    def finished_runs(self) -> list[str]:
        """List the names of the runs that are finished, sorted."""
        return sorted(path.stem for path in (self.path / "parts").glob("[!.]*.parquet"))

    def beliefs(self) -> list[str]:
        """List the names of what can be planned on: finished runs, or what ``evroute learn`` has learned."""
        finished = self.finished_runs()
        of_others = {path.stem for path in (self.path / "beliefs").glob("[!.]*@*.npz")}
        finished += sorted(name for name in of_others if name.rpartition("@")[0] in finished)
        learned = sorted(path.stem for path in (self.path / "beliefs").glob("[!.]*-learned.npz"))
        return finished or learned


def _short(value: str | None) -> str:
    if value is None:
        return "nothing"
    return value if len(value) <= SHOWN_CHARACTERS else f"{value[: SHOWN_CHARACTERS - 3]}..."


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every leaf of nested JSON with its dotted key."""
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        value = {str(place): each for place, each in enumerate(value)}
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
    else:
        yield key, json.dumps(value, ensure_ascii=False)
