"""Hostile files of roads: XML and OpenStreetMap's binary format, packed or not."""

import bz2
import gzip
import zlib
from pathlib import Path

from case import MB, Command, kind, large, one
from numpy.random import Generator
from tables import with_trips
from texts import graph


def _pack(path: Path, text: bytes, rng: Generator) -> None:
    pack = {".gz": lambda b: gzip.compress(b, 1), ".bz2": lambda b: bz2.compress(b, 1)}
    packed = pack.get(path.suffix, bytes)(text)
    path.write_bytes(packed if rng.random() < 0.8 else packed[: len(packed) // 2])


def _hostile_xml(rng: Generator, root: str, inner: str) -> bytes:
    """Return XML that is deep, long, wide, or expands."""
    size = large(rng, 1, 60)
    head = '<?xml version="1.0"?>'
    texts = [
        lambda: f"<{root}>" + "<a>" * (size // 30),
        lambda: f"<{root}>" + inner * (size // len(inner)) + f"</{root}>",
        lambda: f'<{root} a="' + "x" * size + f'"></{root}>',
        lambda: f"<{root}><!--" + "x" * size + f"--></{root}>",
        lambda: f"<{root}>" + "x" * size + f"</{root}>",
        lambda: f"<{root} " + " ".join(f'a{k}=""' for k in range(size // 40)) + f"></{root}>",
        lambda: _laughs(root),
        lambda: f'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]><{root}>&x;</{root}>',
        lambda: f'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><{root}></{root}>',
        lambda: f"<{root}>" + "<![CDATA[" + "<" * size + f"]]></{root}>",
        lambda: "<" + "a" * size,
    ]
    text = head + one(rng, texts)()
    return text.encode(one(rng, ["utf-8", "utf-8", "utf-8", "utf-16"]))


def _laughs(root: str) -> str:
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
    return f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]><{root} a="&e11;">&e11;</{root}>'


@kind
def osm(folder: Path, rng: Generator) -> Command:
    path = folder / one(rng, ["x.osm", "x.osm.gz", "x.osm.bz2"])
    tag = '<tag k="highway" v="residential"/>'
    inner = one(
        rng,
        [
            f'<way id="1"><nd ref="1"/><nd ref="2"/>{tag}</way>',
            f"<way>{tag}</way>",
            '<node id="1" lat="49" lon="6"/>',
            '<relation id="1"><tag k="type" v="restriction"/></relation>',
            f'<way id="1"><nd ref="1"/>{tag}<tag k="name" v="{"x" * 30_000}"/></way>',
        ],
    )
    _pack(path, _hostile_xml(rng, "osm", inner), rng)
    return Command(["network", "build", "x", "--osm", str(path)])


@kind
def sumo(folder: Path, rng: Generator) -> Command:
    path = folder / one(rng, ["x.net.xml", "x.net.xml.gz"])
    lane = '<lane index="0" speed="1" length="1"/>'
    inner = one(
        rng,
        [
            f'<edge id="1" from="a" to="b">{lane}</edge>',
            '<junction id="1" x="0" y="0"/>',
            '<connection from="1" to="1" fromLane="0" toLane="0"/>',
            "<edge/>",
            "<a/>",
        ],
    )
    text = _hostile_xml(rng, "net", inner)
    for _ in range(
        2 if rng.random() < 0.7 else 0
    ):  # other ids, so that duplicates do not refuse it
        text = text.replace(b'id="1"', b'id="%d"' % rng.integers(10**9), int(rng.integers(1, 3)))
    _pack(path, text, rng)
    return Command(["network", "build", "x", "--sumo", str(path)])


@kind
def sumo_many(folder: Path, rng: Generator) -> Command:
    """A network of very many edges between two junctions."""
    path, many = folder / "x.net.xml.gz", int(rng.integers(10_000, 60_000))
    lane = '<lane index="0" speed="1" length="1"/>'
    edges = "".join(f'<edge id="{k}" from="a" to="b">{lane}</edge>' for k in range(many))
    ends = '<junction id="a" x="0" y="0"/><junction id="b" x="1" y="0"/>'
    path.write_bytes(gzip.compress(f"<net>{edges}{ends}</net>".encode(), 1))
    return Command(["network", "build", "x", "--sumo", str(path)])


@kind
def hub(folder: Path, rng: Generator) -> Command:
    """A junction at which so many roads meet that their turns would fill the memory."""
    many, path = int(rng.integers(2_500, 15_000)), folder / one(rng, ["x.osm", "x.graphml"])
    if path.suffix == ".osm":
        tag = '<tag k="highway" v="residential"/>'
        nodes = "".join(f'<node id="{k}" lat="{49 + k / 1e5}" lon="6"/>' for k in range(many))
        ways = "".join(
            f'<way id="{k}"><nd ref="0"/><nd ref="{k}"/>{tag}</way>' for k in range(1, many)
        )
        path.write_text(f'<osm version="0.6">{nodes}{ways}</osm>')
        return Command(["network", "build", "x", "--osm", str(path)])
    graph(folder, [(0, k) for k in range(1, many)] + [(k, 0) for k in range(1, many)])
    return Command(["network", "build", "x", "--graphml", str(path)])


@kind
def graphml(folder: Path, rng: Generator) -> Command:
    path = folder / one(rng, ["x.graphml", "x.graphml.gz"])
    inner = one(rng, ['<node id="1"/>', '<edge source="1" target="1"/>', "<a/>", '<data key="d"/>'])
    _pack(path, _hostile_xml(rng, "graphml", inner), rng)
    return Command(["network", "build", "x", "--graphml", str(path)])


@kind
def routes(folder: Path, rng: Generator) -> Command:
    path = folder / one(rng, ["x.rou.xml", "x.rou.xml.gz"])
    inner = one(
        rng, ['<vehicle id="a" depart="nan"/>', '<route id="a" edges=""/>', "<trip/>", "<a/>"]
    )
    _pack(path, _hostile_xml(rng, "routes", inner), rng)
    return with_trips(folder, path)


@kind
def pbf(folder: Path, rng: Generator) -> Command:
    """Blocks of OpenStreetMap's binary format that unpack to 32 MB each."""

    def item(number: int, content: bytes) -> bytes:
        return _varint(number << 3 | 2) + _varint(len(content)) + content

    def blob(name: bytes, content: bytes, announced: int) -> bytes:
        packed = _varint(2 << 3) + _varint(announced) + item(3, zlib.compress(content, 9))
        head = item(1, name) + _varint(3 << 3) + _varint(len(packed))
        return len(head).to_bytes(4, "big") + head + packed

    header = item(4, b"OsmSchema-V0.6") + item(4, b"DenseNodes")
    way = item(3, _varint(1 << 3) + _varint(1) + item(2, b"\1") + item(3, b"\2"))
    strings = item(1, item(1, b"") + item(1, b"highway") + item(1, b"residential"))
    size = int(rng.integers(1, 31)) * MB
    group = one(rng, [way * (size // len(way)), item(1, b"") * (size // 2), bytes(size)])
    block = strings + item(2, group)
    announced = one(rng, [len(block), len(block), 1, 2**31 - 1])
    blocks = int(rng.integers(1, 60))
    content = blob(b"OSMHeader", header, len(header)) + blob(b"OSMData", block, announced) * blocks
    (folder / "x.osm.pbf").write_bytes(content)
    return Command(["network", "build", "x", "--osm", str(folder / "x.osm.pbf")])


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
