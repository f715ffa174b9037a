"""Directions and turns read from OpenStreetMap are those of SUMO's netconvert, node by node.

netconvert cuts ways at more nodes than cars need (stops, crossings) and leaves service roads out,
so what is compared are movements (a, b, c) over three successive nodes, along an edge or from edge
to edge, where both know a-b and b-c. ``pip install eclipse-sumo`` and its folder on the PATH run
this test.
"""

import gzip
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import KDTree

from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm

NETCONVERT = shutil.which("netconvert")
SAME_PLACE_DEG = 3e-6
Movement = tuple[int, int, int]

pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(NETCONVERT is None, reason="netconvert is not on the PATH"),
]


class Places:
    """Numbers for places: those of the nearest of some given points, or new ones."""

    def __init__(self, lon_lat: np.ndarray) -> None:
        self.tree = KDTree(lon_lat)
        self.others: dict[tuple[float, float], int] = {}

    def number(self, lon: float, lat: float) -> int:
        distance, row = self.tree.query((lon, lat))
        return (
            int(row)
            if distance < SAME_PLACE_DEG
            else self.others.setdefault((lon, lat), -1 - len(self.others))
        )


def movements(
    lines: Mapping[str, list[int]], turns: Iterable[tuple[str, str]]
) -> tuple[set[tuple[int, int]], set[Movement]]:
    """Return the directed stretches between successive nodes, and the movements over them."""
    stretches = {pair for line in lines.values() for pair in pairwise(line)}
    over = {
        triple for line in lines.values() for triple in zip(line, line[1:], line[2:], strict=False)
    }
    over |= {
        (lines[a][-2], lines[a][-1], lines[b][1]) for a, b in turns if a in lines and b in lines
    }
    return stretches, over


def ours(network: RoadNetwork, places: Places) -> tuple[set[tuple[int, int]], set[Movement]]:
    number = [places.number(*point) for point in zip(*network.lon_lat, strict=True)]
    start = network.shape_start
    lines = {edge: number[start[e] : start[e + 1]] for e, edge in enumerate(network.edge_id)}
    return movements(lines, [(network.edge_id[a], network.edge_id[b]) for a, b in network.turns])


def theirs(
    source: Path, folder: Path, places: Places
) -> tuple[set[tuple[int, int]], set[Movement]]:
    (folder / "city.osm").write_bytes(gzip.decompress(source.read_bytes()))
    options = [
        "--keep-edges.by-vclass",
        "passenger",
        "--no-turnarounds.except-deadend",
        "--no-warnings",
    ]
    output = [
        "--plain-output-prefix",
        folder / "plain",
        "--proj.utm",
        "--proj.plain-geo",
        "--precision.geo",
        "8",
    ]
    command = [str(NETCONVERT), "--osm-files", folder / "city.osm", *options, *output]
    subprocess.run(command, check=True, capture_output=True)

    def elements(kind: str, tag: str) -> Iterable[Mapping[str, str]]:
        return [
            e.attrib for e in ElementTree.parse(folder / f"plain.{kind}.xml").getroot().iter(tag)
        ]

    node = {n["id"]: places.number(float(n["x"]), float(n["y"])) for n in elements("nod", "node")}
    lines = {}
    for edge in elements("edg", "edge"):
        shape = [tuple(map(float, p.split(",")[:2])) for p in edge.get("shape", "").split()]
        line = [node[edge["from"]], *(places.number(*p) for p in shape), node[edge["to"]]]
        lines[edge["id"]] = [p for k, p in enumerate(line) if k == 0 or p != line[k - 1]]
    return movements(
        lines, [(c["from"], c["to"]) for c in elements("con", "connection") if "to" in c]
    )


@pytest.mark.parametrize(
    ("source", "common", "mini_roundabouts", "dead_ends"),
    [
        # We let cars turn round in a mini roundabout, netconvert does not; one
        # way ends for netconvert where for us a service road goes on.
        ("monaco/monaco.osm.gz", 4535, 3, 1),
        ("monaco/most.osm.gz", 32493, 0, 0),  # 18 turn restrictions, 16 of them applied by both
        ("luxembourg/lust.osm.gz", 34051, 0, 0),
    ],
)
def test_movements_equal_netconvert(
    data_dir: Path, tmp_path: Path, source: str, common: int, mini_roundabouts: int, dead_ends: int
) -> None:
    extract = osm._extract(data_dir / source)
    places = Places(np.array(list(extract.lon_lat.values())))
    our_stretches, our_movements = ours(osm.read(data_dir / source, "city"), places)
    their_stretches, their_movements = theirs(data_dir / source, tmp_path, places)
    both = our_stretches & their_stretches
    assert len(both) > 0.98 * len(their_stretches)

    mine, other = (
        {m for m in over if m[:2] in both and m[1:] in both}
        for over in (our_movements, their_movements)
    )
    nodes = list(extract.lon_lat)
    assert len(mine & other) == common
    for a, b, c in mine - other:
        assert a == c
        assert extract.node_tags[nodes[b]]["highway"] == "mini_roundabout"
    assert len(mine - other) == mini_roundabouts
    for a, b, c in other - mine:
        assert a == c
        assert any(start == b for start, _ in our_stretches - their_stretches)
    assert len(other - mine) == dead_ends
