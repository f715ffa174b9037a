"""The files that a folder has read: their contents, their trips, and the columns a user named.

``files.json`` in the folder has both. A file of the same content whose trips are all recorded need
not be read again. Without the file, all files are read again and no trip is lost.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from evroute import limits
from evroute.files import inside, replacing

NAME = "files.json"
_CHUNK_BYTES = 1 << 20


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


class FilesRead:
    """Contents and columns of the files of a folder.

    Attributes
    ----------
    columns
        Headers that the user named, by the column here.
    trips
        Names of the trips of each file, by its digest.
    """

    def __init__(self, folder: Path) -> None:
        self._path = inside(folder, NAME)
        stored = self._stored()
        self.columns: dict[str, str] = {
            str(name): str(header) for name, header in stored.get("columns", {}).items()
        }
        self.trips: dict[str, list[str]] = {
            str(digest): [str(each) for each in names]
            for digest, names in stored.get("files", {}).items()
        }

    def _stored(self) -> dict[str, Any]:
        try:
            stored = limits.parse_json(limits.read_text(self._path, "json_mb"), str(self._path))
        except (OSError, ValueError):
            return {}
        parts = ("columns", "files")
        whole = isinstance(stored, dict) and all(
            isinstance(stored.get(name, {}), dict) for name in parts
        )
        return stored if whole else {}

    def with_columns(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of the folder with those of a call, which replace them."""
        return self.columns | dict(given)

    def is_known(self, digest: str, recorded: Collection[str]) -> bool:
        """Return whether a file was read and all its trips are recorded."""
        names = self.trips.get(digest, [])
        return bool(names) and all(name in recorded for name in names)

    def write(self) -> None:
        """Write the file, if there is anything to keep."""
        if not (self.columns or self.trips):
            return
        with replacing(self._path) as temporary:
            content = {"columns": self.columns, "files": self.trips}
            temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
