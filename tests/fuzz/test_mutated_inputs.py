"""Damaged inputs: every reader gives a network (or a vehicle, an experiment), or refuses in one
line.

Each case flips bytes, cuts, drops, repeats or swaps pieces of a small good file, or puts absurd
values into it. ``EVROUTE_FUZZ`` is the number of cases per kind of file (30; the slow run takes ten
times as many). A case that fails is named by its seed and stays reproducible.
"""

import bz2
import gzip
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.experiments.experiment import load_experiment
from evroute.network import catalog, store
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import graphml, osm, sumo_net
from evroute.network.views.export import export
from evroute.resources import data_path

CASES = int(os.environ.get("EVROUTE_FUZZ", "30"))
ABSURD = [
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e308",
    b"99999999999999999999",
    b"",
    b"\xff\xfe",
    b"&amp;",
    b"[]",
    b"{}",
    b"None",
]
TOKEN = re.compile(rb'[\w.:/+-]+|"[^"]*"')

OSM = """<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">
<node id="1" lat="49" lon="6"/><node id="2" lat="49" lon="6.01"><tag k="barrier" v="gate"/></node>
<node id="3" lat="49.01" lon="6.01"/><node id="4" lat="49.01" lon="6"/>
<node id="5" lat="49.02" lon="6"/>
<way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/>
<tag k="maxspeed" v="30 mph"/></way>
<way id="11"><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="oneway" v="-1"/></way>
<way id="12"><nd ref="3"/><nd ref="4"/><tag k="highway" v="service"/><tag k="bridge" v="yes"/></way>
<way id="13"><nd ref="4"/><nd ref="1"/><tag k="highway" v="residential"/>
<tag k="junction" v="roundabout"/></way>
<way id="14"><nd ref="4"/><nd ref="5"/><tag k="highway" v="motorway"/>
<tag k="motorcar:backward" v="no"/></way>
<relation id="20"><member type="way" ref="10" role="from"/><member type="node" ref="2" role="via"/>
<member type="way" ref="11" role="to"/><tag k="type" v="restriction"/>
<tag k="restriction" v="no_left_turn"/>
</relation>
<relation id="21"><member type="way" ref="10" role="from"/><member type="way" ref="13" role="via"/>
<member type="way" ref="12" role="to"/><tag k="type" v="restriction"/>
<tag k="restriction" v="only_u_turn"/>
</relation>
</osm>"""
NET = """<?xml version="1.0"?><net>
<location netOffset="10,20" projParameter="+proj=utm +zone=32 +units=m"/>
<edge id="up" from="A" to="B" name="Hill">
<lane id="up_0" index="0" speed="10" length="100" shape="0,0 100,0"/></edge>
<edge id="down" from="B" to="A" type="highway.primary">
<lane index="0" speed="10" length="100" shape="100,0 50,1 0,0"/>
<lane index="1" disallow="passenger" speed="10" length="100" shape="100,0 0,0"/></edge>
<junction id="A" x="0" y="0" z="0"/><junction id="B" x="100" y="0" z="10"/>
<connection from="up" to="down" fromLane="0" toLane="0"/>
<connection from="down" to="up" fromLane="0" toLane="0"/>
</net>"""


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes after one to three random changes."""
    for _ in range(int(rng.integers(1, 4))):
        content = CHANGES[int(rng.integers(len(CHANGES)))](content, rng)
    return content


def flip(content: bytes, rng: np.random.Generator) -> bytes:
    cells = np.frombuffer(content, dtype=np.uint8).copy()
    if len(cells):
        where = rng.integers(len(cells), size=int(rng.integers(1, 9)))
        cells[where] ^= rng.integers(1, 256, size=len(where)).astype(np.uint8)
    return cells.tobytes()


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def drop(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted(rng.integers(len(content) + 1, size=2))
    return content[:first] + content[min(last, first + 200) :]


def repeat(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted(rng.integers(len(content) + 1, size=2))
    return content[:last] + content[first:]


def swap(content: bytes, rng: np.random.Generator) -> bytes:
    """Swap two words or attribute values, tags included."""
    tokens = list(TOKEN.finditer(content))
    if len(tokens) < 2:
        return content
    a, b = sorted(rng.choice(len(tokens), size=2, replace=False))
    one, two = tokens[a], tokens[b]
    middle = content[one.end() : two.start()]
    return content[: one.start()] + two[0] + middle + one[0] + content[two.end() :]


def exaggerate(content: bytes, rng: np.random.Generator) -> bytes:
    """Put an absurd value in the place of a word or attribute value."""
    tokens = list(TOKEN.finditer(content))
    if not tokens:
        return content
    token = tokens[int(rng.integers(len(tokens)))]
    value = ABSURD[int(rng.integers(len(ABSURD)))]
    quoted = b'"' + value + b'"' if token[0].startswith(b'"') else value
    return content[: token.start()] + quoted + content[token.end() :]


CHANGES = [flip, cut, drop, repeat, swap, exaggerate]


def _osm(folder: Path) -> bytes:
    return OSM.encode()


def _gz(folder: Path) -> bytes:
    return gzip.compress(OSM.encode(), mtime=0)


def _bz2(folder: Path) -> bytes:
    return bz2.compress(OSM.encode())


def _pbf(folder: Path) -> bytes:
    import osmium

    (folder / "good.osm").write_text(OSM)
    plain = osmium.io.File(str(folder / "plain.osm.pbf"), "osm.pbf,pbf_compression=none")
    with osmium.SimpleWriter(plain) as writer:
        for item in osmium.FileProcessor(str(folder / "good.osm")):
            writer.add(item)
    return (folder / "plain.osm.pbf").read_bytes()


def _net(folder: Path) -> bytes:
    return NET.encode()


@cache
def _good(folder: Path) -> RoadNetwork:
    (folder / "good.osm").write_text(OSM)
    return osm.read(folder / "good.osm", "good")


def _graphml(folder: Path) -> bytes:
    export(_good(folder), folder / "good.graphml")
    return (folder / "good.graphml").read_bytes()


def _npz(folder: Path) -> bytes:
    store.save(_good(folder), folder / "good.npz")
    return (folder / "good.npz").read_bytes()


def _tif(folder: Path) -> bytes:
    cells = np.arange(400, dtype=np.float32).reshape(1, 20, 20)
    shape = {"width": 20, "height": 20, "count": 1, "dtype": "float32", "nodata": -9999.0}
    grid = Affine(0.002, 0, 5.98, 0, -0.002, 49.03)
    with rasterio.open(
        folder / "good.tif", "w", driver="GTiff", crs="EPSG:4326", transform=grid, **shape
    ) as raster:
        raster.write(cells)
    return (folder / "good.tif").read_bytes()


def _vehicle(folder: Path) -> bytes:
    return data_path("vehicles", "renault-zoe.toml").read_bytes()


def _experiment(folder: Path) -> bytes:
    return data_path("experiments", "figure2.toml").read_bytes()


def _on_raster(path: Path) -> object:
    return catalog.build(_good(path.parent), rasters=[path])


KINDS: dict[str, tuple[Callable[[Path], bytes], Callable[[Path], object]]] = {
    "osm": (_osm, lambda path: catalog.build(osm.read(path, "bad"))),
    "osm.gz": (_gz, lambda path: catalog.build(osm.read(path, "bad"))),
    "osm.bz2": (_bz2, lambda path: catalog.build(osm.read(path, "bad"))),
    "osm.pbf": (_pbf, lambda path: catalog.build(osm.read(path, "bad"))),
    "net.xml": (_net, lambda path: catalog.build(sumo_net.read(path, "bad"))),
    "graphml": (_graphml, lambda path: catalog.build(graphml.read(path, "bad"))),
    "npz": (_npz, store.load),
    "tif": (_tif, _on_raster),
    "vehicle.toml": (_vehicle, load_vehicle),
    "experiment.toml": (_experiment, load_experiment),
}


def read_mutated(kind: str, folder: Path, seeds: range) -> int:
    """Read the good file and mutated ones; return how many were refused. All but a refusal or a
    result raises.
    """
    make, read = KINDS[kind]
    good = make(folder)
    path, refused = folder / f"bad.{kind}", 0
    path.write_bytes(good)
    read(path)
    for seed in seeds:
        path.write_bytes(mutated(good, np.random.default_rng(seed)))
        try:
            read(path)
        except EvrouteError as error:
            refused += 1
            if "\n" in str(error):
                raise AssertionError(f"{kind}, seed {seed}: more than one line: {error}") from error
        except Exception as error:
            raise AssertionError(f"{kind}, seed {seed}: {error!r}") from error
    return refused


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    assert read_mutated(kind, tmp_path, range(CASES)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    assert read_mutated(kind, tmp_path, range(CASES, 11 * CASES)) > 0
