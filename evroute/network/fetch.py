"""Downloads of published networks: files of public repositories at fixed commits.

``data/published.toml`` lists them with their git blob ids, which verify the bytes. Files are
cached with pooch. An interrupted download is resumed.
"""

import hashlib
import logging
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from evroute import limits
from evroute.errors import EvrouteError, LimitError, UnknownNameError
from evroute.network.geo import requests
from evroute.resources import data_path

_TIMEOUT_S = 30
_CHUNK_BYTES = 1 << 16
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Published:
    """A network file on the internet; ``git_blob`` is the required id of its bytes."""

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
        If no published network has that name; the message lists the names.
    """
    known = published()
    if name not in known:
        raise UnknownNameError(f"no network '{name}' is published; there are: {', '.join(known)}")
    return known[name]


def download(wanted: Published, folder: Path, progress: Progress) -> Path:
    """Return the path of the verified file below ``folder``; download it if missing.

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
        bytes are not the published ones. The received part of an interrupted download is kept;
        wrong bytes are not.
    LimitError
        If the file is too large, of which nothing is kept, or takes too long.
    """
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    place = folder / wanted.git_blob
    path = place / wanted.file_name
    if path.is_file() and git_blob(path) != wanted.git_blob:
        path.unlink()
    pooch.retrieve(
        wanted.url,
        known_hash=None,
        fname=path.name,
        path=place,
        downloader=_Resuming(wanted, progress),
    )
    return path


def git_blob(path: Path) -> str:
    """Return the git id of a file: the SHA-1 of ``blob LENGTH``, a zero byte, and the bytes."""
    total = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK_BYTES):
            total.update(chunk)
    return total.hexdigest()


@dataclass(frozen=True, slots=True)
class _Resuming:
    """A downloader for pooch that resumes an interrupted download and verifies the bytes."""

    wanted: Published
    progress: Progress

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:

        output = Path(output_file)
        part = output.with_name(f"{self.wanted.file_name}.part")
        try:
            message = f"the download of {url} was interrupted; the same command continues it"
            limits.within_time(lambda over: self._complete(url, part, over), message)
        except requests.exceptions.HTTPError as error:
            raise EvrouteError(f"{url} cannot be downloaded: {error}") from error
        except requests.exceptions.RequestException as error:
            come = part.stat().st_size if part.exists() else 0
            if come:
                raise EvrouteError(
                    f"the download of {self.wanted.file_name} was interrupted after {come:,} "
                    "bytes; the same command continues it"
                ) from error
            raise EvrouteError(
                f"cannot reach {url} ({type(error).__name__}); check the internet connection"
            ) from error
        if (blob := git_blob(part)) != self.wanted.git_blob:
            part.unlink()
            raise EvrouteError(
                f"the file at {url} is not the published file (git blob {blob}, expected "
                f"{self.wanted.git_blob}); "
                "nothing was kept"
            )
        part.replace(output)

    def _complete(self, url: str, part: Path, over: Event) -> None:
        """Download the missing bytes of ``part`` until the event ``over`` is set."""
        start = part.stat().st_size if part.exists() else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                return  # complete; its digest is checked next
            answer.raise_for_status()
            if answer.status_code != requests.codes.partial_content:
                start = 0
            length = answer.headers.get("Content-Length", "")
            total = start + (int(length) if re.fullmatch(r"\d{1,18}", length) else 0)
            with part.open("ab" if start else "wb") as handle:
                for chunk in answer.iter_content(_CHUNK_BYTES):
                    if over.is_set():
                        return
                    self._check_size(max(handle.tell() + len(chunk), total), part)
                    handle.write(chunk)
                    self.progress(handle.tell(), total)

    def _check_size(self, size: int, part: Path) -> None:
        try:
            limits.check("download_mb", size / 1e6, f"{self.wanted.url} has {{}} MB or more")
        except LimitError:
            part.unlink()
            raise
