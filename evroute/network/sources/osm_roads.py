"""A RoadNetwork of passenger-car roads from OpenStreetMap's nodes, ways and restrictions.

Junctions are the nodes that drivable ways share or end at, and barriers. Edges run between them
along one way, in the directions open to cars, so no edge is part bridge and part ground. An edge is
named ``u,v,key`` by its nodes' ids, ``key`` counting parallel ones. Lengths are geodesic (and never
below the planar distance between the junctions). Turning round is allowed at dead ends, in turning
circles, and at an ``only_u_turn``. A way without a speed limit takes the mean of its class, as in
OSMnx's ``add_edge_speeds``.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import NetworkFormatError
from evroute.network import controls
from evroute.network.coordinates import WGS84, check_places, transformer, utm_zone
from evroute.network.geo import pyproj
from evroute.network.memory import check_memory
from evroute.network.places.names import place_table
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources import osm_tags, restrictions, speed_limits
from evroute.network.sources.columns import Places, edge_lengths, junction_rows, shape_starts
from evroute.network.sources.osm_tags import Tags
from evroute.network.sources.restrictions import Relation
from evroute.text import UNPRINTABLE


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
class _Road:
    """A way open to cars, ``forward``, ``backward`` or both."""

    way_id: int
    way: Way
    forward: bool
    backward: bool


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


@dataclass(frozen=True, slots=True, eq=False)
class _Shapes:
    """Points of the segments: segment k owns ``start[k]`` to ``start[k + 1]`` of the p points.

    crs: UTM zone.  x_m, y_m: (p,).  length_m: geodesic length of each segment, m.
    """

    crs: str
    x_m: FloatArray
    y_m: FloatArray
    length_m: FloatArray
    start: IntArray

    def points_of(self, edge: _Edge) -> IntArray:
        """Return the rows of an edge's points in the direction of driving."""
        points = np.arange(self.start[edge.segment], self.start[edge.segment + 1])
        return points[::-1] if edge.reverse else points


def build(extract: Extract, name: str, source: Source) -> RoadNetwork:
    """Return the network of an extract, all junctions at height 0.

    Parameters
    ----------
    extract
        The roads.
    name
        Name of the network.
    source
        Its origin. Notes on imputed values are added.

    Raises
    ------
    MissingPackageError
        If OSMnx is not installed.
    NetworkFormatError
        If there is no drivable road, or a node cannot lie where it is.
    """
    roads = list(_roads(extract))
    segments = _segments(extract, roads)
    edges = list(_edges(segments))
    if not edges:
        raise NetworkFormatError("no road in it is open to passenger cars")
    outcome = _turns(extract, segments, edges)
    speed_mps, speed_note = _speeds(extract, [(segments[e.segment].way, e.reverse) for e in edges])

    junctions, tail, head = junction_rows([(edge.tail, edge.head) for edge in edges])
    shapes = _shapes(extract, segments)
    points = [shapes.points_of(edge) for edge in edges]
    shape = np.concatenate(points)
    shape_start = shape_starts(points)
    at_junction = np.zeros(len(junctions), dtype=np.int64)
    at_junction[tail] = shape[shape_start[:-1]]
    at_junction[head] = shape[shape_start[1:] - 1]
    places = Places(shapes.x_m[at_junction], shapes.y_m[at_junction], np.zeros(len(junctions)))
    own_m = shapes.length_m[[edge.segment for edge in edges]]
    length_m, length_notes = edge_lengths(own_m, tail, head, places)
    turns = np.array(sorted(outcome.turns), dtype=np.int64).reshape(-1, 2)
    control = _controls(extract, segments, edges)[turns[:, 0]]
    notes = [speed_note, outcome.note, *_notes(extract, roads), *length_notes]
    tags = [extract.ways[segments[edge.segment].way].tags for edge in edges]
    return RoadNetwork(
        name=name,
        edge_id=tuple(_ids(edges)),
        tail=tail,
        head=head,
        length_m=length_m,
        speed_mps=speed_mps,
        structure=np.array([osm_tags.structure(each) for each in tags]),
        street=tuple(UNPRINTABLE.sub("", osm_tags.street(each)) for each in tags),
        road_class=tuple(each["highway"] for each in tags),
        turns=turns,
        control=controls.known(control),
        junction_id=tuple(map(str, junctions)),
        x_m=places.x_m,
        y_m=places.y_m,
        elevation_m=places.z_m,
        shape_start=shape_start,
        shape_x_m=shapes.x_m[shape],
        shape_y_m=shapes.y_m[shape],
        crs=shapes.crs,
        source=replace(source, notes=(*source.notes, *notes, controls.note(control))),
    ).with_tables({"places": place_table(extract.places)} if extract.places else {})


def _roads(extract: Extract) -> Iterator[_Road]:
    """Yield the ways that cars may drive."""
    for way_id, way in extract.ways.items():
        forward, backward = osm_tags.directions(way.tags)
        if forward or backward:
            yield _Road(way_id, way, forward, backward)


def _segments(extract: Extract, roads: Sequence[_Road]) -> list[_Segment]:
    """Cut roads at junctions, and at nodes that are not in the source."""
    runs = [run for road in roads for run in _runs(road, extract.lon_lat)]
    junctions = _junctions(runs, extract.node_tags)
    return [
        replace(run, nodes=run.nodes[first : last + 1])
        for run in runs
        for first, last in pairwise(k for k, node in enumerate(run.nodes) if node in junctions)
    ]


def _runs(road: _Road, held: Container[int]) -> Iterator[_Segment]:
    """Yield the stretches of a road whose nodes the source holds, without repeated nodes."""
    for is_held, stretch in groupby(road.way.nodes, held.__contains__):
        nodes = tuple(node for node, _ in groupby(stretch))
        if is_held and len(nodes) > 1:
            yield _Segment(road.way_id, nodes, road.forward, road.backward)


def _junctions(runs: Sequence[_Segment], node_tags: Mapping[int, Tags]) -> set[int]:
    """Return the nodes that stretches share or end at, barriers, and turning circles."""
    uses = Counter(node for run in runs for node in run.nodes)
    shared = {node for node, n in uses.items() if n > 1}
    ends = {end for run in runs for end in (run.nodes[0], run.nodes[-1])}
    marked = {
        node
        for node, tags in node_tags.items()
        if osm_tags.blocks(tags) or osm_tags.invites_u_turn(tags)
    }
    return shared | ends | marked


def _notes(extract: Extract, roads: Sequence[_Road]) -> Iterator[str]:
    """Yield sentences on roads that are cut off, and on conditions that are not applied."""
    held = extract.lon_lat.keys()
    if clipped := sum(not held >= set(road.way.nodes) for road in roads):
        yield f"{clipped} ways are cut where the source does not hold their nodes"
    conditional = sum(any(key.endswith(":conditional") for key in road.way.tags) for road in roads)
    if conditional:
        yield (
            f"conditional access, direction or speed (hours, weights) of {conditional} ways is not "
            "applied"
        )


def _edges(segments: Sequence[_Segment]) -> Iterator[_Edge]:
    """Yield the edges of the segments, forward before backward."""
    for row, segment in enumerate(segments):
        first, last = segment.nodes[0], segment.nodes[-1]
        if segment.forward:
            yield _Edge(row, reverse=False, tail=first, head=last)
        if segment.backward:
            yield _Edge(row, reverse=True, tail=last, head=first)


def _controls(extract: Extract, segments: Sequence[_Segment], edges: Sequence[_Edge]) -> IntArray:
    """Return the traffic control at the end of each edge, (n,)."""
    along = (
        controls.along(segments[edge.segment].nodes, extract.node_tags, reverse=edge.reverse)
        for edge in edges
    )
    return np.fromiter(along, dtype=np.int64)


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
    turns_at_most = sum(len(leaving[edge.head]) for edge in edges)
    check_memory(len(edges), turns_at_most, "the network")
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
    tagged_kmh = speed_limits.tagged_kmh(
        [(extract.ways[way].tags, "backward" if back else "forward") for way, back in roads]
    )
    kmh, untagged = speed_limits.impute_kmh(classes, tagged_kmh)
    row = {road: k for k, road in enumerate(roads)}
    rows = [row[road] for road in driven]
    return kmh[rows] / 3.6, speed_limits.note(float(np.isnan(tagged_kmh[rows]).mean()), untagged)


def _shapes(extract: Extract, segments: Sequence[_Segment]) -> _Shapes:
    """Return the points of the segments in their UTM zone, and geodesic lengths."""
    nodes = [node for segment in segments for node in segment.nodes]
    lon, lat = np.array([extract.lon_lat[node] for node in nodes]).T
    start = np.concatenate([[0], np.cumsum([len(segment.nodes) for segment in segments])])
    _, _, step_m = pyproj.Geod(ellps="WGS84").inv(lon[:-1], lat[:-1], lon[1:], lat[1:])
    step_m = np.append(step_m, 0.0)
    step_m[start[1:] - 1] = 0.0
    check_places(list(map(str, nodes)), lon, lat, step_m)
    crs = utm_zone(lon, lat)
    x_m, y_m = transformer(WGS84, crs).transform(lon, lat)
    return _Shapes(crs, x_m, y_m, np.add.reduceat(step_m, start[:-1]), start)
