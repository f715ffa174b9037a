"""Sizes of the blocks of OpenStreetMap's binary format, read before the blocks are unpacked.

https://wiki.openstreetmap.org/wiki/PBF_Format: four bytes with the length of a ``BlobHeader``,
whose field 3 is the length of the ``Blob`` that follows. Field 2 of a ``Blob`` is its length when
unpacked. Both are protocol buffers.
"""

import re
from pathlib import Path

_HEADER_LENGTH_BYTES = 4
_LONGEST_HEADER_BYTES = 64 * 1024
_HEAD_BYTES = 32
"""Bytes at the start of a blob that hold its first two fields, without the packed content."""
_LONGEST_BLOB_BYTES = 32 << 20
_NOT_PACKED = b"\x0a"
"""The key of field 1, the content itself."""
_VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
"""A whole number in groups of seven bits, the lowest first."""


def unpacked_bytes(path: Path) -> int:
    """Return the sum of the unpacked sizes that the blocks of a file state, bytes.

    Raises
    ------
    ValueError
        If it is not of this format.
    OSError
        If it cannot be read.
    """
    total = 0
    with path.open("rb") as handle:
        while head := handle.read(_HEADER_LENGTH_BYTES):
            length = int.from_bytes(head, "big")
            if length > _LONGEST_HEADER_BYTES:
                raise ValueError(f"a header of {length:,} bytes")
            size = _numbers(handle.read(length)).get(3, 0)
            start = handle.tell()
            blob = handle.read(min(size, _HEAD_BYTES))
            unknown = size if blob[:1] == _NOT_PACKED else _LONGEST_BLOB_BYTES
            total += _numbers(blob).get(2, unknown)
            handle.seek(start + size)
    return total


def _numbers(message: bytes) -> dict[int, int]:
    """Return the whole numbers of a message by field, up to where it is cut."""
    found, place = dict[int, int](), 0
    while (key := _VARINT.match(message, place)) and (value := _VARINT.match(message, key.end())):
        kind, number = _whole(key[0]), _whole(value[0])
        place = value.end()
        if kind & 7 == 0:
            found[kind >> 3] = number
        elif kind & 7 == 2:  # so many bytes follow
            place = min(place + number, len(message))
        else:
            break
    return found


def _whole(varint: bytes) -> int:
    return sum((byte & 127) << 7 * k for k, byte in enumerate(varint))
