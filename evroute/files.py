"""Files: written so that nothing is lost, to a temporary name and renamed; TOML read, with one line on errors."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from evroute import limits
from evroute.errors import EvrouteError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; rename it to ``path`` on success, delete it on any failure.

    A link stays a link, to the new file. Devices and pipes, which nothing can replace, are yielded
    themselves.

    Raises
    ------
    OSError
        If the path is a folder, or its folder cannot be made or written; ``path`` then still is
        what it was.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix, delete=False
    ) as handle:
        temporary = Path(handle.name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file; ``what`` names its kind in messages, such as ``vehicle file``.

    Raises
    ------
    EvrouteError
        If it does not exist, is not TOML, or is too large or nested too deep.
    """
    try:
        return limits.parse_toml(limits.read_text(path, "toml_mb"), f"{what} {path}")
    except FileNotFoundError:
        raise EvrouteError(f"{what} {path} does not exist") from None
    except ValueError as error:
        raise EvrouteError(f"{what} {path} is not TOML: {error}") from None
