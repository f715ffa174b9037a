"""A RoadNetwork of passenger-car roads from OpenStreetMap's nodes, ways and restrictions.

Junctions are the nodes that drivable ways share or end at, and barriers. Edges run between them
along one way, in the directions open to cars, so no edge is part bridge and part ground. An edge is
named ``u,v,key`` by its nodes' ids, ``key`` counting parallel ones. Lengths are geodesic (and never
below the planar distance between the junctions). Turning round is allowed at dead ends, in turning
circles, and at an ``only_u_turn``. A way without a speed limit takes the mean of its class, as in
OSMnx's ``add_edge_speeds``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NetworkFormatError, require
from evroute.network import controls
from evroute.network.coordinates import WGS84, transformer
from evroute.network.geo import pyproj
from evroute.network.places.names import place_table
from evroute.network.road_network import RoadNetwork, Source
from evroute.network.sources import osm_tags, restrictions
from evroute.network.sources.osm_tags import Tags
from evroute.network.sources.restrictions import Relation
from evroute.text import UNPRINTABLE

ATTRIBUTION = "(c) OpenStreetMap contributors, ODbL 1.0"
SHORTEST_EDGE_M = 0.1
LONGEST_STEP_M = 100_000.0
"""No road goes straight on for so long without a node."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way as mapped: ids of its nodes in order, and its tags."""

    nodes: tuple[int, ...]
    tags: Tags


@dataclass(frozen=True, slots=True)
class Extract:
    """Roads of a source: ways with a ``highway`` tag by id, turn restrictions, and their nodes.

    lon_lat: degrees, of the nodes in the source.  node_tags: of those that have any.
    places: names of places to drive to, longitudes and latitudes in degrees.
    """

    ways: dict[int, Way] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    lon_lat: dict[int, tuple[float, float]] = field(default_factory=dict)
    node_tags: dict[int, Tags] = field(default_factory=dict)
    places: list[tuple[str, float, float]] = field(default_factory=list)

    def nodes_needed(self) -> set[int]:
        """Return the ids of the nodes of drivable ways."""
        return {
            node
            for way in self.ways.values()
            if any(osm_tags.directions(way.tags))
            for node in way.nodes
        }


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of a way between two junctions; ``forward`` and ``backward``: open to cars."""

    way: int
    nodes: tuple[int, ...]
    forward: bool
    backward: bool


@dataclass(frozen=True, slots=True)
class _Edge:
    """A segment driven in one direction."""

    segment: int
    reverse: bool
    tail: int
    head: int


def build(extract: Extract, name: str, source: Source) -> RoadNetwork:
    """Return the network of an extract, all junctions at height 0.

    Parameters
    ----------
    extract
        The roads.
    name
        Name of the network.
    source
        Its origin; notes on imputed values are added.

    Raises
    ------
    MissingPackageError
        If OSMnx is not installed.
    NetworkFormatError
        If there is no drivable road, or a node cannot lie where it is.
    """
    segments, notes = _segments(extract)
    edges = [
        _Edge(k, reverse, *((s.nodes[-1], s.nodes[0]) if reverse else (s.nodes[0], s.nodes[-1])))
        for k, s in enumerate(segments)
        for reverse, may_drive in ((False, s.forward), (True, s.backward))
        if may_drive
    ]
    require(edges, "no road in it is open to passenger cars", NetworkFormatError)
    outcome = _turns(extract, segments, edges)
    speed_mps, speed_note = _speeds(extract, [(segments[e.segment].way, e.reverse) for e in edges])

    junction = {
        node: row
        for row, node in enumerate(dict.fromkeys(n for e in edges for n in (e.tail, e.head)))
    }
    tail = np.array([junction[e.tail] for e in edges])
    head = np.array([junction[e.head] for e in edges])
    crs, x_m, y_m, lengths_m, start = _shapes(extract, segments)
    points = [
        np.arange(start[e.segment], start[e.segment + 1])[:: -1 if e.reverse else 1] for e in edges
    ]
    shape, shape_start = (
        np.concatenate(points),
        np.concatenate([[0], np.cumsum([len(p) for p in points])]),
    )
    at_junction = np.zeros(len(junction), dtype=np.int64)
    at_junction[tail] = shape[shape_start[:-1]]
    at_junction[head] = shape[shape_start[1:] - 1]
    x, y = x_m[at_junction], y_m[at_junction]
    length_m = np.maximum(
        lengths_m[[e.segment for e in edges]], np.hypot(x[head] - x[tail], y[head] - y[tail])
    )
    if without := int((length_m == 0).sum()):
        notes.append(f"{without} edges without any length were given {SHORTEST_EDGE_M} m")
    turns = np.array(sorted(outcome.turns), dtype=np.int64).reshape(-1, 2)
    along = (
        controls.along(segments[e.segment].nodes, extract.node_tags, reverse=e.reverse)
        for e in edges
    )
    control = np.fromiter(along, dtype=np.int64)[turns[:, 0]]
    notes.append(controls.note(control))
    tags = [extract.ways[segments[e.segment].way].tags for e in edges]
    return RoadNetwork(
        name=name,
        edge_id=tuple(_ids(edges)),
        tail=tail,
        head=head,
        length_m=np.where(length_m == 0, SHORTEST_EDGE_M, length_m),
        speed_mps=speed_mps,
        structure=np.array([osm_tags.structure(t) for t in tags]),
        street=tuple(UNPRINTABLE.sub("", osm_tags.street(t)) for t in tags),
        road_class=tuple(t["highway"] for t in tags),
        turns=turns,
        control=controls.known(control),
        junction_id=tuple(str(node) for node in junction),
        x_m=x,
        y_m=y,
        elevation_m=np.zeros(len(junction)),
        shape_start=shape_start,
        shape_x_m=x_m[shape],
        shape_y_m=y_m[shape],
        crs=crs,
        source=replace(source, notes=(*source.notes, speed_note, outcome.note, *notes)),
    ).with_tables({"places": place_table(extract.places)} if extract.places else {})


def _segments(extract: Extract) -> tuple[list[_Segment], list[str]]:
    """Cut the drivable ways at junctions, and at nodes that are not in the source."""
    runs, clipped, conditional = [], 0, 0
    for way_id, way in extract.ways.items():
        forward, backward = osm_tags.directions(way.tags)
        if not (forward or backward):
            continue
        conditional += any(key.endswith(":conditional") for key in way.tags)
        parts = [
            (held, list(nodes)) for held, nodes in groupby(way.nodes, extract.lon_lat.__contains__)
        ]
        clipped += not all(held for held, _ in parts)
        for held, nodes in parts:
            nodes = [node for node, _ in groupby(nodes)]
            if held and len(nodes) > 1:
                runs.append(_Segment(way_id, tuple(nodes), forward, backward))

    uses = Counter(node for run in runs for node in run.nodes)
    shared = {node for node, n in uses.items() if n > 1}
    ends = {end for run in runs for end in (run.nodes[0], run.nodes[-1])}
    marked = {
        node
        for node, tags in extract.node_tags.items()
        if osm_tags.blocks(tags) or osm_tags.invites_u_turn(tags)
    }
    junctions = shared | ends | marked
    segments = [
        replace(run, nodes=run.nodes[first : last + 1])
        for run in runs
        for first, last in pairwise(k for k, node in enumerate(run.nodes) if node in junctions)
    ]
    notes = []
    if clipped:
        notes.append(f"{clipped} ways are cut where the source does not hold their nodes")
    if conditional:
        notes.append(
            f"conditional access, direction or speed (hours, weights) of {conditional} ways is not "
            "applied"
        )
    return segments, notes


def _ids(edges: Sequence[_Edge]) -> Iterator[str]:
    parallel: Counter[tuple[int, int]] = Counter()
    for e in edges:
        yield f"{e.tail},{e.head},{parallel[e.tail, e.head]}"
        parallel[e.tail, e.head] += 1


def _turns(
    extract: Extract, segments: Sequence[_Segment], edges: Sequence[_Edge]
) -> restrictions.Outcome:
    """Return the legal turns between edges: rows of ``edges``."""
    leaving: defaultdict[int, list[int]] = defaultdict(list)
    for row, edge in enumerate(edges):
        leaving[edge.tail].append(row)
    limits.check(
        "turns", sum(len(leaving[edge.head]) for edge in edges), "the network has {} turns or more"
    )
    turns = set()
    for row, edge in enumerate(edges):
        onward = leaving[edge.head]
        node_tags = extract.node_tags.get(edge.head, {})
        blocked = osm_tags.blocks(node_tags)
        may_reverse = blocked or osm_tags.invites_u_turn(node_tags) or len(onward) == 1
        for target in onward:
            back = edges[target].segment == edge.segment and edges[target].reverse != edge.reverse
            if may_reverse if back else not blocked:
                turns.add((row, target))
    roads = restrictions.Roads(
        way=[segments[e.segment].way for e in edges],
        tail=[e.tail for e in edges],
        head=[e.head for e in edges],
        nodes={way_id: way.nodes for way_id, way in extract.ways.items()},
    )
    return restrictions.apply(extract.relations, roads, turns)


def _speeds(extract: Extract, driven: Sequence[tuple[int, bool]]) -> tuple[FloatArray, str]:
    """Return the limits (n,) in m/s of n edges (way, reverse), and a note on imputed ones."""
    roads = list(dict.fromkeys(driven))
    classes = [extract.ways[way].tags["highway"] for way, _ in roads]
    texts = [
        osm_tags.limit(extract.ways[way].tags, "backward" if back else "forward")
        for way, back in roads
    ]
    tagged_kmh = osm_tags.parse_kmh(texts)
    kmh, untagged = osm_tags.impute_kmh(classes, tagged_kmh)
    row = {road: k for k, road in enumerate(roads)}
    rows = [row[road] for road in driven]
    return kmh[rows] / 3.6, osm_tags.note(float(np.isnan(tagged_kmh[rows]).mean()), untagged)


def _shapes(
    extract: Extract, segments: Sequence[_Segment]
) -> tuple[str, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return UTM zone, points, geodesic lengths (m) and first point of the segments."""
    lon, lat = np.array([extract.lon_lat[node] for s in segments for node in s.nodes]).T
    start = np.concatenate([[0], np.cumsum([len(s.nodes) for s in segments])])
    _, _, step_m = pyproj.Geod(ellps="WGS84").inv(lon[:-1], lat[:-1], lon[1:], lat[1:])
    step_m = np.append(step_m, 0.0)
    step_m[start[1:] - 1] = 0.0
    check_places([str(node) for s in segments for node in s.nodes], lon, lat, step_m)
    crs = utm_zone(lon, lat)
    x_m, y_m = transformer(WGS84, crs).transform(lon, lat)
    return crs, x_m, y_m, np.add.reduceat(step_m, start[:-1]), start


def check_places(
    names: Sequence[str], lon: FloatArray, lat: FloatArray, step_m: FloatArray
) -> None:
    """Refuse nodes that cannot lie where they are.

    Parameters
    ----------
    names
        The k nodes, for the message.
    lon, lat
        (k,) places, degrees.
    step_m
        (k,) distance from each to the next one of its road, m; 0 at the last.

    Raises
    ------
    NetworkFormatError
        If a node lies at 0,0, where there is no land, or far from the next one of its road.
    """
    if (stray := np.flatnonzero((lon == 0) & (lat == 0))).size:
        raise NetworkFormatError(
            f"node {names[stray[0]]} lies at 0,0, which is no place of a road; mend or remove it"
        )
    if (far := np.flatnonzero(step_m > LONGEST_STEP_M)).size:
        k = far[0]
        raise NetworkFormatError(
            f"node {names[k]} lies at {lat[k]:.4f},{lon[k]:.4f}, {step_m[k] / 1000:,.0f} km from "
            f"the next one of its road, node {names[k + 1]}; mend or remove one of them"
        )


def utm_zone(lon: FloatArray, lat: FloatArray) -> str:
    """Return the coordinate system of the UTM zone around the mean of some places, degrees."""
    zone = min(int((lon.mean() + 180) // 6) + 1, 60)
    return f"EPSG:{32600 + zone if lat.mean() >= 0 else 32700 + zone}"
