"""Sizes that blocks announce, against files that osmium wrote and blocks written by hand."""

import zlib
from pathlib import Path

import pytest

from evroute.errors import LimitError
from evroute.network.sources import osm, pbf

osmium = pytest.importorskip("osmium")


def written(path: Path, compression: str, nodes: int) -> int:
    file = osmium.io.File(str(path), f"osm.pbf,pbf_compression={compression}")
    with osmium.SimpleWriter(file) as writer:
        for k in range(nodes):
            writer.add_node(osmium.osm.mutable.Node(id=k + 1, location=(k / 1e6, k / 2e6)))
    return path.stat().st_size


def test_packed_and_plain_blocks_unpack_to_the_same_size(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.osm.pbf", "none", 20_000)
    packed = written(tmp_path / "packed.osm.pbf", "zlib", 20_000)
    assert packed < plain / 2
    size = pbf.unpacked_bytes(tmp_path / "packed.osm.pbf")
    # a plain file holds the contents, and heads of some dozen bytes for each of few blocks
    assert plain - 500 < size < plain
    assert abs(pbf.unpacked_bytes(tmp_path / "plain.osm.pbf") - size) < 100


def block(kind: bytes, content: bytes) -> bytes:
    """Return a block by hand: the contents are shorter than 2^28 bytes."""

    def number(value: int) -> bytes:
        return bytes([value >> shift & 127 | 128 for shift in (0, 7, 14)] + [value >> 21])

    packed = zlib.compress(content, 9)
    blob = b"\x10" + number(len(content)) + b"\x1a" + number(len(packed)) + packed
    head = b"\x0a" + bytes([len(kind)]) + kind + b"\x18" + number(len(blob))
    return len(head).to_bytes(4, "big") + head + blob


def test_a_file_that_unpacks_to_far_more_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path, content = tmp_path / "bomb.osm.pbf", bytes(30_000_000)
    one = block(b"OSMData", content)
    path.write_bytes(one)
    assert pbf.unpacked_bytes(path) == 30_000_000
    path.write_bytes(one * 50)
    assert pbf.unpacked_bytes(path) == 1_500_000_000
    with pytest.raises(LimitError, match="times its size or more"):
        osm.read(path, "bomb")


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.osm.pbf").write_bytes(b"not of this format")
    with pytest.raises(ValueError, match="a header of"):
        pbf.unpacked_bytes(tmp_path / "x.osm.pbf")
