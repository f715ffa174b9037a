"""Downloads of published networks: files of public repositories at fixed commits.

``data/published.toml`` lists them with their git blob ids, which verify the bytes.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from evroute import limits
from evroute.errors import EvrouteError, UnknownNameError, require
from evroute.files import replacing
from evroute.network.geo import requests
from evroute.resources import data_path

_TIMEOUT_S = 30
_CHUNK_BYTES = 1 << 16
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Published:
    """A network file on the internet. ``git_blob`` is the required id of its bytes."""

    name: str
    url: str
    git_blob: str
    attribution: str

    @property
    def file_name(self) -> str:
        """The last part of the address."""
        return self.url.rsplit("/", 1)[-1]


def published() -> dict[str, Published]:
    """Return the networks that can be downloaded, by name."""
    listed = tomllib.loads(data_path("published.toml").read_text(encoding="utf-8"))
    return {name: Published(name=name, **entry) for name, entry in listed.items()}


def find(name: str) -> Published:
    """Return the published network of that name.

    Raises
    ------
    UnknownNameError
        If no published network has that name. The message lists the names.
    """
    known = published()
    require(
        name in known,
        f"no network '{name}' is published. There are: {', '.join(known)}",
        UnknownNameError,
    )
    return known[name]


def download(wanted: Published, folder: Path, progress: Progress) -> Path:
    """Return the path of the verified file below ``folder``. Download it if missing.

    Parameters
    ----------
    wanted
        The file.
    folder
        Folder of downloads.
    progress
        Called with the bytes received and the bytes in all.

    Raises
    ------
    EvrouteError
        If the address cannot be reached or has no such file, the download is interrupted, or the
        bytes are not the published ones. Nothing is kept.
    LimitError
        If the file is too large or takes too long.
    """
    path = folder / wanted.git_blob / wanted.file_name
    if path.is_file() and git_blob(path) == wanted.git_blob:
        return path
    with replacing(path) as temporary:
        try:
            limits.within_time(
                lambda over: _receive(wanted, temporary, progress, over),
                f"the download of {wanted.url} was interrupted",
            )
        except requests.exceptions.HTTPError as error:
            raise EvrouteError(f"{wanted.url} cannot be downloaded: {error}") from error
        except requests.exceptions.RequestException as error:
            raise EvrouteError(
                f"the download of {wanted.url} was interrupted ({type(error).__name__}). Check the "
                "internet connection"
            ) from error
        if (blob := git_blob(temporary)) != wanted.git_blob:
            raise EvrouteError(
                f"the file at {wanted.url} is not the published file (git blob {blob}, expected "
                f"{wanted.git_blob}). Nothing was kept"
            )
    return path


def _receive(wanted: Published, path: Path, progress: Progress, over: Event) -> None:
    """Write the bytes of a file to ``path`` until the event ``over`` is set."""
    with (
        requests.get(
            wanted.url,
            headers={"Accept-Encoding": "identity"},
            stream=True,
            timeout=_TIMEOUT_S,
        ) as answer,
        path.open("wb") as handle,
    ):
        answer.raise_for_status()
        length = answer.headers.get("Content-Length", "")
        total = int(length) if re.fullmatch(r"\d{1,18}", length) else 0
        for chunk in answer.iter_content(_CHUNK_BYTES):
            if over.is_set():
                return
            size_mb = max(handle.tell() + len(chunk), total) / 1e6
            limits.check("download_mb", size_mb, f"{wanted.url} has {{}} MB or more")
            handle.write(chunk)
            progress(handle.tell(), total)


def git_blob(path: Path) -> str:
    """Return the git id of a file: the SHA-1 of ``blob LENGTH``, a zero byte, and the bytes."""
    total = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK_BYTES):
            total.update(chunk)
    return total.hexdigest()
