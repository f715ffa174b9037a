"""Files written to a temporary name and renamed, so that nothing is lost.

A writer holds a lock on its temporary file. A temporary file without a lock was left by a killed
writer, and the next writer in that folder deletes it.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from evroute.errors import require

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, and nothing is deleted
    fcntl = None  # type: ignore[assignment]

_MARK = ".evroute-"
TEMPORARY = f".*{_MARK}*"
"""Pattern of the names of temporary files."""


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a temporary path. Rename it to ``path`` on success, delete it on any failure.

    Temporary files that killed writers left in that folder are deleted. A link stays a link, to the
    new file. Devices and pipes, which nothing can replace, are yielded themselves.

    Parameters
    ----------
    path
        The file.
    mode
        Its permissions, less the permissions in the user's mask.

    Raises
    ------
    OSError
        If the path is a folder, or its folder cannot be made or written. ``path`` is then
        unchanged.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent.glob(TEMPORARY))
    handle, temporary = _temporary(path)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(mode & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        if fcntl is not None:
            os.close(handle)


def sweep(found: Iterable[Path]) -> None:
    """Delete those temporary files among ``found`` that no writer holds."""
    if fcntl is None:
        return
    for path in found:
        with suppress(OSError):  # held, renamed or deleted meanwhile
            handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def private_folder(path: Path) -> Path:
    """Make a folder that only its user can access, mode 0700, and return it.

    Raises
    ------
    EvrouteError
        If it exists and belongs to another user, or others can write it.
    OSError
        If it cannot be made.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    require(
        fcntl is None or found.st_uid == os.getuid(),
        f"{path} belongs to another user. Choose a folder of your own",
    )
    require(
        fcntl is None or not found.st_mode & 0o022,
        f"other users can write {path}. Run: chmod 700 {path}",
    )
    return path


def _temporary(path: Path) -> tuple[int, Path]:
    """Make and lock a temporary file in the folder of ``path``. Return its handle and path."""
    while True:
        handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}{_MARK}", suffix=path.suffix)
        if fcntl is None:
            os.close(handle)  # Windows renames no open file
            return handle, Path(name)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():
            return handle, Path(name)
        os.close(handle)  # another writer deleted it before it was locked
