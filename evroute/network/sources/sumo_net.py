"""Read the passenger-car roads of a SUMO network (``.net.xml`` or ``.net.xml.gz``) by sumolib.

The format is described at https://sumo.dlr.de/docs/Networks/SUMO_Road_Networks.html. sumolib makes
edges, lanes and connections of the tags, which reach it as a guarded stream (`limits.parse_xml`).
An edge is read if a lane of it is open to ``passenger``. Internal edges, crossings and walking
areas are left out. There is a turn for each pair of edges with a connection open to ``passenger``
between two such lanes, with its lights and priority. Ids, parallel edges, street names and types
are kept. An edge takes the highest speed limit and the greatest length of its passenger lanes. The
z of the shapes is the table ``shape``.

Lengths are those that cars drive (``"driven"``): an edge has the shape of its middle passenger
lane, a turn has length and shape of its lanes inside the junction (`crossings`), and the length of
an edge contains the mean crossing into it. With ``"junctions"``, as in the papers, a length is the
lane's, and never below the planar distance between the centres of the two junctions. The shape is
the edge's own, which ends at these centres, else its first passenger lane's.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NetworkFormatError, UnknownNameError, require
from evroute.network import controls
from evroute.network.crossings import mean_into, table_of
from evroute.network.memory import check_memory
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources.columns import Places, edge_lengths, junction_rows, shape_starts

# Beyond any projection of the earth in metres.
FARTHEST_COORDINATE_M = 1e8
LENGTHS = ("driven", "junctions")
MOST_LANES = 8
"""Internal lanes of one turn. Netconvert writes at most two."""
MOST_BESIDE = 100
"""Lanes of an edge beside each other."""
_CARS = "passenger"
Point = tuple[float, float, float]
_UNPROJECTED = "+proj=aeqd +lat_0=0 +lon_0=0 +units=m"
_ATTRIBUTES = {
    "edge": {"crossingEdges": ""},
    "junction": {"type": "", "incLanes": "", "intLanes": ""},
    "connection": {"dir": "", "state": "", "linkIndex": "-1"},
}
"""Attributes that sumolib requires and roads for cars do not need."""


def read(path: Path, name: str, lengths: str = LENGTHS[0]) -> RoadNetwork:
    """Read a SUMO network as network ``name``, with the junctions' z as heights (0 if absent).

    ``elevation.set_heights`` smooths the heights and lengthens edges that climb too much.

    Parameters
    ----------
    path
        The file.
    name
        Name of the network.
    lengths
        One of `LENGTHS`.

    Raises
    ------
    UnknownNameError
        If the lengths are none of `LENGTHS`.
    NetworkFormatError
        If the file is missing, cut off, not XML, no SUMO network, without a drivable road, or holds
        bad numbers.
    LimitError
        If it is too large or nested too deep.
    """
    if lengths not in LENGTHS:
        raise UnknownNameError(f"unknown lengths '{lengths}'. There are {', '.join(LENGTHS)}")
    net, sha256 = _parse(path)
    try:
        return _network(net, path, name, sha256, driven=lengths == LENGTHS[0])
    except NetworkFormatError as error:
        raise NetworkFormatError(f"{path.name}: {error}") from error


class _Tags:
    """Hands the tags of a file that describe roads to sumolib, and refuses those it would mix up.

    location: attributes of the tag ``location``.  has_z: whether a junction has a height.
    shapes: shapes of the edges that have one of their own. sumolib gives one to the others.
    """

    def __init__(self) -> None:
        from sumolib.net import NetReader, convertShape  # a tenth of a second

        self._points = convertShape
        self._reader = NetReader(withInternal=True, withMacroConnectors=True, withFoes=False)
        self.net = self._reader.getNet()
        self.location: dict[str, str] = {}
        self.has_z = False
        self.shapes: dict[str, list[Point]] = {}
        self._root = ""
        self._roads = 0
        self._beside = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._root:
            self._root = tag
            if tag != "net":
                raise NetworkFormatError(f"not a SUMO network: its root is <{tag}>, expected <net>")
        if tag == "location":
            self.location = attributes
        elif tag in ("edge", "lane", "junction", "connection"):
            whole = _for_sumolib(tag, attributes)
            self._check(tag, whole)
            self._reader.startElement(tag, whole)

    def _check(self, tag: str, a: dict[str, str]) -> None:
        if tag == "lane":
            self._beside += 1
            require(
                self._beside <= MOST_BESIDE,
                f"an edge has more than {MOST_BESIDE} lanes beside each other",
                NetworkFormatError,
            )
        elif tag == "edge":
            self._beside = 0
            require(not self.net.hasEdge(a["id"]), _twice("edge", a["id"]), NetworkFormatError)
            if not a.get("function"):
                require({"from", "to"} <= a.keys(), f"edge '{a['id']}' has no ends", ValueError)
                self._roads += 1
                check_memory(self._roads, 0, "it")
            self.shapes[a["id"]] = self._points(a["shape"])
        elif tag == "junction":
            known = self.net.hasNode(a["id"]) and self.net.getNode(a["id"]).getCoord3D()
            require(not known, _twice("junction", a["id"]), NetworkFormatError)
            self.has_z |= "z" in a and a.get("type") != "internal"
        elif tag == "connection":
            for edge_id in (a["from"], a["to"]):
                require(
                    self.net.hasEdge(edge_id),
                    f"a connection names edge '{edge_id}', which is not in the file before it",
                    NetworkFormatError,
                )


def _twice(kind: str, name: str) -> str:
    return f"duplicate {kind} id '{name}'. Ids must be unique"


def _for_sumolib(tag: str, attributes: dict[str, str]) -> dict[str, str]:
    """Return the attributes of a tag as sumolib reads them without loss.

    ``allow`` counts before ``disallow``, as in SUMO. A point without a height has an unknown one,
    where sumolib would take 0 m.
    """
    allow = attributes.get("allow", "").split()
    ignored = {"disallow"} if allow else {"allow"}
    if "all" in allow:
        ignored.add("allow")
    found = {name: value for name, value in attributes.items() if name not in ignored}
    points = attributes.get("shape", "").split()
    found["shape"] = " ".join(f"{each},nan" if each.count(",") == 1 else each for each in points)
    return _ATTRIBUTES.get(tag, {}) | found


def _parse(path: Path) -> tuple[_Tags, str]:
    tags = _Tags()
    parser = expat.ParserCreate()
    parser.StartElementHandler = tags.start
    try:
        with path.open("rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
        with limits.unpacked(path) as stream:
            limits.parse_xml(parser, stream, path)
    except NetworkFormatError as error:
        raise NetworkFormatError(f"{path.name}: {error}") from error
    except (EOFError, zlib.error, BadGzipFile) as error:
        raise NetworkFormatError(
            f"{path.name} is a cut-off or damaged gzip file: {error}"
        ) from error
    except (LookupError, ValueError) as error:
        reason: object = error
        if isinstance(error, KeyError):
            reason = f"the attribute {error} is missing"
        elif isinstance(error, IndexError):
            reason = "a connection names a lane that its edge does not have"
        raise NetworkFormatError(
            f"{path.name}, line {parser.CurrentLineNumber}: {reason}"
        ) from error
    except expat.ExpatError as error:
        raise NetworkFormatError(f"{path.name} is cut off or not XML: {error}") from error
    except OSError as error:
        raise NetworkFormatError(f"cannot read {path}: {error.strerror or error}") from error
    return tags, sha256


def _network(tags: _Tags, path: Path, name: str, sha256: str, *, driven: bool) -> RoadNetwork:
    edges = [each for each in tags.net.getEdges(withInternal=False) if each.allows(_CARS)]
    require(edges, "no road in it is open to passenger cars", NetworkFormatError)
    lanes = [_lanes_of_cars(each) for each in edges]
    ends = [(each.getFromNode().getID(), each.getToNode().getID()) for each in edges]
    junction_id, tail, head = junction_rows(ends)
    places = _places(tags.net, junction_id)
    projection = _Projection.of(tags.location)
    at = np.column_stack([places.x_m, places.y_m])
    shapes = _shapes(tags, edges, lanes, at[np.column_stack([tail, head])], driven=driven)
    shape_x, shape_y, shape_z = np.concatenate(shapes).T
    connections = _connections(edges)
    turns = np.array(list(connections), dtype=np.int64).reshape(-1, 2)
    control = np.array([kind for kind, _ in connections.values()], dtype=np.int64)
    tables: dict[str, Table] = {"shape": {"z_m": shape_z}} if tags.has_z else {}
    own_m = np.array([max(map(_length_m, of_edge)) for of_edge in lanes])
    if driven:
        turn_m, turn_shapes = _crossings(tags.net, connections, projection)
        turn_m = np.where(np.isnan(turn_m), _gaps_m(shapes, turns), turn_m)
        tables |= table_of(own_m, turn_m, turn_shapes)
        own_m = own_m + mean_into(turns, turn_m, tail, head)
    length_m, length_notes = edge_lengths(own_m, tail, head, places, straight=not driven)
    no_heights = [] if tags.has_z else ["the file has no heights"]
    notes = [*projection.notes, *no_heights, *length_notes, controls.note(control)]
    return RoadNetwork(
        name=name,
        edge_id=tuple(each.getID() for each in edges),
        tail=tail,
        head=head,
        length_m=length_m,
        speed_mps=np.array([np.max([lane.getSpeed() for lane in each]) for each in lanes]),
        structure=np.array([_structure(each.getType()) for each in edges]),
        street=tuple(each.getName() for each in edges),
        road_class=tuple(each.getType() for each in edges),
        turns=turns,
        control=controls.known(control),
        junction_id=junction_id,
        x_m=places.x_m - projection.offset_x,
        y_m=places.y_m - projection.offset_y,
        elevation_m=places.z_m,
        shape_start=shape_starts(shapes),
        shape_x_m=shape_x - projection.offset_x,
        shape_y_m=shape_y - projection.offset_y,
        crs=projection.crs,
        source=Source(
            kind="sumo",
            files=(path.name,),
            sha256=sha256,
            elevation="z of the SUMO junctions" if tags.has_z else "none: every junction at 0 m",
            notes=tuple(notes),
        ),
    ).with_tables(tables)


def _lanes_of_cars(edge: Any) -> list[Any]:
    return [lane for lane in edge.getLanes() if lane.allows(_CARS)]


def _shapes(
    tags: _Tags,
    edges: Sequence[Any],
    lanes: Sequence[Sequence[Any]],
    ends: FloatArray,
    *,
    driven: bool,
) -> list[FloatArray]:
    """Return the shapes of n edges, (p, 3) m: the middle lane's if driven, else the edge's own.

    An edge without a shape is straight from junction to junction, which lie at ``ends``,
    (n, 2, 2) m.
    """
    shapes = []
    for each, of_edge, between in zip(edges, lanes, ends, strict=True):
        of_lanes = [points for lane in of_edge if (points := lane.getShape3D())] or [[]]
        middle = of_lanes[len(of_lanes) // 2]
        points = middle if driven else tags.shapes[each.getID()] or of_lanes[0]
        straight = np.column_stack([between, np.full(2, np.nan)])
        shapes.append(np.array(points) if len(points) > 1 else straight)
    return shapes


def _gaps_m(shapes: Sequence[FloatArray], turns: IntArray) -> FloatArray:
    """Return how far the edges of m turns end and begin from each other, (m,) m."""
    left = np.array([shapes[edge][-1, :2] for edge in turns[:, 0]]).reshape(-1, 2)
    entered = np.array([shapes[edge][0, :2] for edge in turns[:, 1]]).reshape(-1, 2)
    return np.linalg.norm(entered - left, axis=1)


def _places(net: Any, junction_id: Sequence[str]) -> Places:
    """Return the places of junctions as the file has them."""
    points = {each: net.getNode(each).getCoord3D() for each in junction_id}
    lost = [each for each, point in points.items() if point is None]
    require(
        not lost,
        f"junction '{next(iter(lost), '')}', which an edge names, is not in the file",
        NetworkFormatError,
    )
    places = Places(*np.array(list(points.values())).T)
    on_earth = (np.abs([places.x_m, places.y_m, places.z_m]) < FARTHEST_COORDINATE_M).all(axis=0)
    if not on_earth.all():
        j = junction_id[int(on_earth.argmin())]
        raise NetworkFormatError(
            f"junction '{j}' lies at {points[j]}, which is no place on the earth"
        )
    return places


def _length_m(lane: Any) -> float:
    length_m: float = lane.getLength()
    if not 0.0 <= length_m < np.inf:  # sumolib counts the lanes of an edge for the id of one
        raise NetworkFormatError(
            f"lane '{lane.getID()}' has the length {length_m} m, expected 0 m or more"
        )
    return length_m


def _connections(edges: Sequence[Any]) -> dict[tuple[int, int], tuple[int, Any]]:
    """Return control and connection of each turn by its edge rows, in the order of the rows.

    The control is the strongest over the connections of a turn, and the connection that of its
    rightmost lanes.
    """
    row = {each.getID(): k for k, each in enumerate(edges)}
    found = {
        (row[edge.getID()], row[to.getID()]): connections
        for edge in edges
        for to, connections in edge.getAllowedOutgoing(_CARS).items()
        if to.getID() in row
    }
    return {
        pair: (max(map(_control, found[pair])), min(found[pair], key=_rightmost))
        for pair in sorted(found)
    }


def _control(connection: Any) -> int:
    return controls.of_connection(connection.getTLSID(), connection.getState())


def _rightmost(connection: Any) -> tuple[int, int, str]:
    lanes = connection.getFromLane(), connection.getToLane()
    return lanes[0].getIndex(), lanes[1].getIndex(), connection.getViaLaneID()


def _crossings(
    net: Any, connections: Mapping[tuple[int, int], tuple[int, Any]], projection: "_Projection"
) -> tuple[FloatArray, list[FloatArray]]:
    """Return lengths of turns inside their junctions, (m,) m, and their shapes, (p, 2) m.

    The length is NaN and the shape empty where the file has no internal lane. An internal lane
    leads to the road, or first through another one, where cars wait inside the junction.
    """
    turn_m, found = np.full(len(connections), np.nan), []
    offset = projection.offset_x, projection.offset_y
    for k, (_, connection) in enumerate(connections.values()):
        lanes = list(_inside(net, connection))
        if lanes:
            turn_m[k] = sum(map(_length_m, lanes))
        points = [point[:2] for lane in lanes for point in lane.getShape3D()]
        found.append(np.array(points).reshape(-1, 2) - offset)
    return turn_m, found


def _inside(net: Any, connection: Any) -> Iterator[Any]:
    """Yield the internal lanes of a connection in driving order."""
    left, entered = connection.getFrom().getID(), connection.getTo().getID()
    for _ in range(MOST_LANES + 1):
        via = connection.getViaLaneID() if connection else ""
        if not via:
            return
        try:
            lane = net.getLane(via)
        except (LookupError, ValueError):
            raise NetworkFormatError(
                f"a connection from '{left}' to '{entered}' leads over lane '{via}', which is not "
                "in the file"
            ) from None
        yield lane
        onward = (each for each in lane.getOutgoing() if each.getTo().getID() == entered)
        connection = next(onward, None)
    raise NetworkFormatError(
        f"the connection from '{left}' to '{entered}' leads over more than {MOST_LANES} internal "
        "lanes"
    )


def _structure(road_class: str) -> int:
    """Return 1 for a bridge, 2 for a tunnel, 0 for the ground, by the type of an edge."""
    if "_bridge" in road_class:
        return 1
    return 2 if "_tunnel" in road_class else 0


@dataclass(frozen=True, slots=True)
class _Projection:
    """The coordinate system of a file, and the offset that the file added to it, m."""

    crs: str
    offset_x: float = 0.0
    offset_y: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, location: Mapping[str, str]) -> "_Projection":
        """Read the tag ``location``."""
        projection = location.get("projParameter", "!")
        if projection == "!":
            note = "the file has no projection: positions on the earth are not real"
            return cls(_UNPROJECTED, notes=(note,))
        offset = location.get("netOffset", "0,0")
        try:
            offset_x, offset_y = (float(value) for value in offset.split(","))
        except ValueError as error:
            raise NetworkFormatError(f"its netOffset '{offset}' is not two numbers") from error
        return cls(projection, offset_x, offset_y)
