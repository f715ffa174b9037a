"""Sizes of the blocks of OpenStreetMap's binary format, read before the blocks are unpacked.

https://wiki.openstreetmap.org/wiki/PBF_Format: four bytes with the length of a ``BlobHeader``,
whose field 3 is the length of the ``Blob`` that follows. Field 2 of a ``Blob`` is its length when
unpacked. Both are protocol buffers.
"""

from collections.abc import Iterator
from pathlib import Path

_HEADER_LENGTH_BYTES = 4
_LONGEST_HEADER_BYTES = 64 * 1024
_HEAD_BYTES = 32
"""Of a blob, within which its first two fields lie, but for the packed bytes themselves."""
_LONGEST_BLOB_BYTES = 32 << 20
_NOT_PACKED = b"\x0a"
"""The key of field 1, the content itself."""
_VARINT, _BYTES = 0, 2


def unpacked_bytes(path: Path) -> int:
    """Return the size to which the blocks of a file say to unpack, bytes.

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
            size = dict(_numbers(handle.read(length))).get(3, 0)
            start = handle.tell()
            blob = handle.read(min(size, _HEAD_BYTES))
            unknown = size if blob[:1] == _NOT_PACKED else _LONGEST_BLOB_BYTES
            total += dict(_numbers(blob)).get(2, unknown)
            handle.seek(start + size)
    return total


def _numbers(message: bytes) -> Iterator[tuple[int, int]]:
    """Yield field and value of the whole numbers of a message, up to where it is cut."""
    place = 0
    try:
        while place < len(message):
            key, place = _varint(message, place)
            value, place = _varint(message, place)
            if key & 7 == _VARINT:
                yield key >> 3, value
            elif key & 7 == _BYTES:
                place += value
            else:
                return
    except IndexError:
        return


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return the number that starts at a place, and the place behind it."""
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
