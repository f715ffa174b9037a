"""Files that a worker was given: the names that a run has, and the copies that it reads instead.

Elsewhere the copies are stored by the digests of their bytes, so that a worker needs no folder of
the caller, and never reads an older file of the same name.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a file, and the SHA-256 of its bytes."""

    path: Path
    digest: str


_COPIES: dict[str, Copy] = {}


@contextmanager
def given(copies: Mapping[str, Copy]) -> Iterator[None]:
    """Read some files from copies, in all threads of this process.

    Parameters
    ----------
    copies
        Copies by the name of the file, as runs and worlds have it.
    """
    before = dict(_COPIES)
    _COPIES.update(copies)
    try:
        yield
    finally:
        _COPIES.clear()
        _COPIES.update(before)


def copy_of(name: str | Path) -> Path | None:
    """Return the copy of a file or network by its name, or None if none is given."""
    copy = _COPIES.get(str(name))
    return None if copy is None else copy.path


def located(path: Path) -> Path:
    """Return the copy of a file if one is given, else its path."""
    return copy_of(path) or path


def digest_of_copy(name: str) -> str:
    """Return the digest of the copy of a file or network, or empty if none is given."""
    copy = _COPIES.get(name)
    return "" if copy is None else copy.digest
