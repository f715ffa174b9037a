"""Read the passenger-car roads of a SUMO network (``.net.xml`` or ``.net.xml.gz``) without SUMO.

The format is described at https://sumo.dlr.de/docs/Networks/SUMO_Road_Networks.html. The file is
parsed as a stream. An edge is read if a lane of it is open to ``passenger``. Internal edges,
crossings and walking areas are left out. There is a turn for each pair of edges with a connection
open to ``passenger`` between two such lanes, with its lights and priority. Ids, parallel edges,
street names and types are kept. An edge takes the highest speed limit and the greatest length of
its passenger lanes. The z of the shapes is the table ``shape``.

Lengths are those that cars drive (``"driven"``): an edge has the shape of its middle passenger
lane, a turn has length and shape of its lanes inside the junction (`crossings`), and the length of
an edge contains the mean crossing into it. With ``"junctions"``, as in the papers, a length is the
lane's, and never below the planar distance between the centres of the two junctions. The shape is
the edge's own, which ends at these centres, else its first passenger lane's.
"""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from gzip import BadGzipFile
from pathlib import Path
from xml.parsers import expat

import numpy as np

from evroute import limits
from evroute.arrays import FloatArray, IntArray
from evroute.errors import NetworkFormatError, UnknownNameError
from evroute.network import controls
from evroute.network.crossings import mean_into, table_of
from evroute.network.memory import check_memory
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources.columns import Places, edge_lengths, junction_rows, shape_starts
from evroute.network.sources.sumo_crossings import InternalLanes

# Beyond any projection of the earth in metres.
FARTHEST_COORDINATE_M = 1e8
_CARS = {"passenger", "all"}
"""Vehicle classes that hold cars."""
_NOT_ROADS = {"internal", "crossing", "walkingarea"}
LENGTHS = ("driven", "junctions")
_UNPROJECTED = "+proj=aeqd +lat_0=0 +lon_0=0 +units=m"


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
    raw, sha256 = _parse(path)
    raw.driven = lengths == LENGTHS[0]
    try:
        return _network(raw, path, name, sha256)
    except NetworkFormatError as error:
        raise NetworkFormatError(f"{path.name}: {error}") from error


@dataclass(slots=True)
class _Edge:
    """One drivable edge of the file."""

    tail: str
    head: str
    street: str
    road_class: str
    shape: str
    lane_shapes: list[str] = field(default_factory=list)
    lanes: set[str] = field(default_factory=set)
    length_m: float = -np.inf
    speed_mps: float = -np.inf

    @property
    def driven_shape(self) -> str:
        """Shape of the middle passenger lane, or empty if the file has none."""
        return self.lane_shapes[len(self.lane_shapes) // 2] if self.lane_shapes else ""

    @property
    def own_shape(self) -> str:
        """Shape of the edge itself, else of its first passenger lane. Empty if there is none."""
        return self.shape or next(iter(self.lane_shapes), "")


class _Collector:
    """Collects the opening tags of the file, in any order."""

    def __init__(self) -> None:
        self.location: dict[str, str] = {}
        self.edges: dict[str, _Edge] = {}
        self.ids: set[str] = set()
        self.junctions: dict[str, tuple[float, float, float]] = {}
        self.has_z = False
        self.connections: list[tuple[str, str, str, str, str, int]] = []
        self.inside = InternalLanes()
        self.driven = False
        self._inside = False
        self._edge_id = ""
        self._edge: _Edge | None = None
        self._handlers: dict[str, Callable[[dict[str, str]], None]] = {
            "location": self.location.update,
            "edge": self._take_edge,
            "lane": self._take_lane,
            "junction": self._take_junction,
            "connection": self._take_connection,
        }
        self._root = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._root:
            self._root = tag
            if tag != "net":
                raise NetworkFormatError(f"not a SUMO network: its root is <{tag}>, expected <net>")
        if handler := self._handlers.get(tag):
            handler(attributes)

    def _take_edge(self, a: dict[str, str]) -> None:
        self._edge = None
        self._inside = a.get("function") == "internal"
        if a.get("function") in _NOT_ROADS:
            return
        self._edge_id = a["id"]
        if self._edge_id in self.ids:
            raise NetworkFormatError(f"duplicate edge id '{self._edge_id}'. Ids must be unique")
        self.ids.add(self._edge_id)
        check_memory(len(self.ids), 0, "it")
        self._edge = _Edge(
            a["from"], a["to"], a.get("name", ""), a.get("type", ""), a.get("shape", "")
        )

    def _take_lane(self, a: dict[str, str]) -> None:
        edge = self._edge
        if self._inside:
            self.inside.take_lane(a)
        if edge is None or not _open_to_cars(a):
            return
        edge.lane_shapes += [a["shape"]] if "shape" in a else []
        edge.lanes.add(a["index"])
        length_m = float(a["length"])
        if length_m < 0:
            raise NetworkFormatError(
                f"lane '{a.get('id', self._edge_id)}' has the negative length {length_m} m"
            )
        edge.length_m = max(length_m, edge.length_m) if length_m == length_m else np.nan
        speed_mps = float(a["speed"])
        edge.speed_mps = max(speed_mps, edge.speed_mps) if speed_mps == speed_mps else np.nan
        self.edges[self._edge_id] = edge

    def _take_junction(self, a: dict[str, str]) -> None:
        if a.get("type") == "internal":
            return
        if a["id"] in self.junctions:
            raise NetworkFormatError(f"duplicate junction id '{a['id']}'. Ids must be unique")
        self.has_z = self.has_z or "z" in a
        self.junctions[a["id"]] = float(a["x"]), float(a["y"]), float(a.get("z", "0"))

    def _take_connection(self, a: dict[str, str]) -> None:
        if a["from"].startswith(":"):
            self.inside.take_connection(a)
        elif not a["to"].startswith(":") and _open_to_cars(a):
            self.connections.append(
                (
                    a["from"],
                    a["fromLane"],
                    a["to"],
                    a["toLane"],
                    a.get("via", ""),
                    controls.of_connection(a),
                )
            )


def _open_to_cars(attributes: Mapping[str, str]) -> bool:
    """Return True if a lane or connection is open to cars.

    ``allow`` lists the permitted classes; else ``disallow`` the others; else all are permitted.
    """
    allow, disallow = (attributes.get(name, "").split() for name in ("allow", "disallow"))
    return not _CARS.isdisjoint(allow) if allow else _CARS.isdisjoint(disallow)


def _parse(path: Path) -> tuple[_Collector, str]:
    collector = _Collector()
    parser = expat.ParserCreate()
    parser.StartElementHandler = collector.start
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
    except (KeyError, ValueError) as error:
        reason = f"the attribute {error} is missing" if isinstance(error, KeyError) else error
        raise NetworkFormatError(
            f"{path.name}, line {parser.CurrentLineNumber}: {reason}"
        ) from error
    except expat.ExpatError as error:
        raise NetworkFormatError(f"{path.name} is cut off or not XML: {error}") from error
    except OSError as error:
        raise NetworkFormatError(f"cannot read {path}: {error.strerror or error}") from error
    return collector, sha256


def _network(raw: _Collector, path: Path, name: str, sha256: str) -> RoadNetwork:
    edges = raw.edges
    if not edges:
        raise NetworkFormatError("no road in it is open to passenger cars")
    junction_id, tail, head = junction_rows([(e.tail, e.head) for e in edges.values()])
    places = _places(raw, junction_id)
    projection = _Projection.of(raw.location)
    own_m = np.array([e.length_m for e in edges.values()])
    at = np.column_stack([places.x_m, places.y_m])
    shapes = _shapes(raw, np.stack([at[tail], at[head]], axis=1))
    shape_x, shape_y, shape_z = np.concatenate(shapes).T
    turns, control = _turns(raw)
    tables: dict[str, Table] = {"shape": {"z_m": shape_z}} if raw.has_z else {}
    if raw.driven:
        turn_m, turn_shapes = _crossings(raw, turns, shapes)
        offset = projection.offset_x, projection.offset_y
        tables |= table_of(own_m, turn_m, [shape - offset for shape in turn_shapes])
        own_m = own_m + mean_into(turns, turn_m, tail, head)
    length_m, length_notes = edge_lengths(own_m, tail, head, places, straight=not raw.driven)
    no_heights = [] if raw.has_z else ["the file has no heights"]
    notes = [*projection.notes, *no_heights, *length_notes, controls.note(control)]
    return RoadNetwork(
        name=name,
        edge_id=tuple(edges),
        tail=tail,
        head=head,
        length_m=length_m,
        speed_mps=np.array([e.speed_mps for e in edges.values()]),
        structure=np.array([_structure(e.road_class) for e in edges.values()]),
        street=tuple(e.street for e in edges.values()),
        road_class=tuple(e.road_class for e in edges.values()),
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
            elevation="z of the SUMO junctions" if raw.has_z else "none: every junction at 0 m",
            notes=tuple(notes),
        ),
    ).with_tables(tables)


def _places(raw: _Collector, junction_id: Sequence[str]) -> Places:
    """Return the places of junctions as the file has them."""
    lost = [j for j in junction_id if j not in raw.junctions]
    if lost:
        raise NetworkFormatError(f"junction '{lost[0]}', which an edge names, is not in the file")
    places = Places(*np.array([raw.junctions[j] for j in junction_id]).T)
    on_earth = (np.abs([places.x_m, places.y_m, places.z_m]) < FARTHEST_COORDINATE_M).all(axis=0)
    if not on_earth.all():
        j = junction_id[int(on_earth.argmin())]
        raise NetworkFormatError(
            f"junction '{j}' lies at {raw.junctions[j]}, which is no place on the earth"
        )
    return places


def _shapes(raw: _Collector, ends: FloatArray) -> list[FloatArray]:
    """Return the points (k, 3) of each edge. ``ends`` (n, 2, 2) where the file has no shape."""
    return [
        _points(edge_id, edge.driven_shape if raw.driven else edge.own_shape, of_edge)
        for (edge_id, edge), of_edge in zip(raw.edges.items(), ends, strict=True)
    ]


def _crossings(
    raw: _Collector, turns: IntArray, shapes: Sequence[FloatArray]
) -> tuple[FloatArray, list[FloatArray]]:
    """Return lengths of the turns (m,), m, and their shapes. Straight on where no lane is known."""
    ids = list(raw.edges)
    turn_m = np.empty(len(turns))
    found = []
    for k, (left, entered) in enumerate(turns.tolist()):
        ends = np.vstack([shapes[left][-1, :2], shapes[entered][0, :2]])
        crossing = raw.inside.crossing(ids[left], ids[entered])
        if crossing is None:
            gap_m = float(np.linalg.norm(ends[1] - ends[0]))
            crossing = gap_m, np.empty((0, 2))
        turn_m[k] = crossing[0]
        found.append(crossing[1])
    return turn_m, found


def _turns(raw: _Collector) -> tuple[IntArray, IntArray]:
    """Return the turns (m, 2) and their controls (m,), the strongest over their connections."""
    edges, row = raw.edges, {edge_id: k for k, edge_id in enumerate(raw.edges)}
    pairs: dict[tuple[int, int], int] = {}
    for origin, origin_lane, target, target_lane, via, control in raw.connections:
        for edge_id in (origin, target):
            if edge_id not in raw.ids:
                raise NetworkFormatError(
                    f"a connection names edge '{edge_id}', which is not in the file"
                )
        if (
            origin in row
            and target in row
            and origin_lane in edges[origin].lanes
            and target_lane in edges[target].lanes
        ):
            raw.inside.take_turn((origin, target), origin_lane, target_lane, via)
            pair = row[origin], row[target]
            pairs[pair] = max(pairs.get(pair, controls.UNKNOWN), control)
    turns = sorted(pairs)
    return np.array(turns, dtype=np.int64).reshape(-1, 2), np.array(
        [pairs[pair] for pair in turns], dtype=np.int64
    )


def _structure(road_class: str) -> int:
    """Return 1 for a bridge, 2 for a tunnel, 0 for the ground, by the type of an edge."""
    if "_bridge" in road_class:
        return 1
    return 2 if "_tunnel" in road_class else 0


def _points(edge_id: str, shape: str, ends: FloatArray) -> FloatArray:
    try:
        read = [[float(v) for v in point.split(",")[:3]] for point in shape.split()]
        points = np.array([point + [np.nan] * (3 - len(point)) for point in read])
    except ValueError as error:
        raise NetworkFormatError(
            f"the shape of edge '{edge_id}' is not a list of points: {error}"
        ) from error
    known = points.ndim == 2 and len(points) > 1
    return points if known else np.column_stack([ends, np.full(2, np.nan)])


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
