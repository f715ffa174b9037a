"""Files written to a temporary name and renamed, so that nothing is lost.

Folders of results may come from others. Below such a folder no link is followed out of it
(`inside`, `check_links`), and a file that is written replaces a link in its place.

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
def replacing(path: Path, mode: int = 0o666, *, follow: bool = False) -> Iterator[Path]:
    """Yield a temporary path. Rename it to ``path`` on success, delete it on any failure.

    Temporary files that killed writers left in that folder are deleted.

    Parameters
    ----------
    path
        The file. A link in its place is replaced.
    mode
        Its permissions, less the permissions in the user's mask.
    follow
        Whether a user named this path: a link then stays a link, to the new file, and devices and
        pipes, which nothing can replace, are yielded themselves.

    Raises
    ------
    OSError
        If the path is a folder, or its folder cannot be made or written, or the disk is full. It
        names the path. ``path`` is then unchanged.
    """
    if path.is_dir() and (follow or not path.is_symlink()):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        if follow and path.exists() and not path.is_file():
            yield path
        else:
            with _replacing(real_path(path) if follow else path, mode) as temporary:
                yield temporary
    except OSError as error:
        if error.errno and error.filename is None:  # of a write, as on a full disk
            error.filename = str(path)
        raise


@contextmanager
def _replacing(path: Path, mode: int) -> Iterator[Path]:
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


def real_path(path: Path) -> Path:
    """Return the absolute path that links lead to. It may be missing.

    Raises
    ------
    OSError
        If links lead in a circle.
    """
    try:
        return Path(os.path.realpath(path, strict=True))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
        return Path(os.path.realpath(path))


def inside(folder: Path, *names: str) -> Path:
    """Return the path of an entry below a folder, which may be missing.

    Parameters
    ----------
    folder
        The folder. It may be a link itself.
    names
        Names of the folders above the entry, and of the entry.

    Raises
    ------
    EvrouteError
        If a link or a name leads out of the folder. The message names the path.
    """
    path = folder.joinpath(*names)
    try:
        found = real_path(path).is_relative_to(real_path(folder))
    except OSError:  # links in a circle
        found = False
    require(found, f"{path} leads out of {folder}. Remove this link, nothing was read or written")
    return path


def check_links(folder: Path) -> None:
    """Check that no link leads out of a folder, at any depth. Nothing if there is no folder.

    Raises
    ------
    EvrouteError
        As `inside`.
    OSError
        If it cannot be listed.
    """
    left = [str(folder)]
    while left:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(left.pop()) as entries:
            for each in entries:
                if each.is_symlink():
                    inside(folder, os.path.relpath(each.path, folder))
                elif each.is_dir(follow_symlinks=False):
                    left.append(each.path)


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
