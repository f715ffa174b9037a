"""Arrays on disk with a SHA-256 digest that is checked when they are read.

An ``.npz`` of several arrays holds the digest as one more array. An ``.npy`` that is mapped into
memory holds it behind its last number.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.errors import DamagedFileError, require
from evroute.files import replacing

DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions that numpy, zipfile, zlib and json raise on damaged bytes."""
_DIGEST = "sha256"
_DIGEST_BYTES = 32


def digest_of(arrays: Mapping[str, Any]) -> str:
    """Return the SHA-256 of names, types, shapes and values of arrays, in hexadecimal digits."""
    total = sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(np.ascontiguousarray(array.T if array.flags.f_contiguous else array).data)
    return total.hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays and their digest as an ``.npz``.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    with replacing(path) as temporary:
        np.savez(temporary, **{**arrays, _DIGEST: np.array(digest_of(arrays))})


def read_arrays(path: Path) -> dict[str, Any]:
    """Read the arrays that `write_arrays` wrote.

    Raises
    ------
    DamagedFileError
        If the file is cut off, was changed, is of another kind, or has no digest, as files of
        earlier versions.
    LimitError
        If it is too large once unpacked.
    """
    try:
        limits.check_archive(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        digest = arrays.pop(_DIGEST, None)
        require(
            digest is None or str(digest) == digest_of(arrays), "its digest differs", ValueError
        )
    except DAMAGE as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from error
    require(
        digest is not None, f"{path} has no digest: an earlier version wrote it", DamagedFileError
    )
    return arrays


def write_mapped(path: Path, array: np.ndarray[Any, Any]) -> None:
    """Write one array and its digest as an ``.npy``.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full.
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        file.write(bytes.fromhex(digest_of({"": array})))


def read_mapped(path: Path) -> np.ndarray[Any, Any]:
    """Map the array that `write_mapped` wrote into memory, read-only.

    Raises
    ------
    DamagedFileError
        If the file is missing, cut off, was changed or is of another kind.
    """
    try:
        array: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        with path.open("rb") as file:
            file.seek(-_DIGEST_BYTES, os.SEEK_END)
            require(
                file.read() == bytes.fromhex(digest_of({"": array})),
                "its digest differs",
                ValueError,
            )
    except DAMAGE as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from error
    return array
