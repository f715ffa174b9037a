"""RoadNetwork: directed road edges, junctions with heights, and the legal turns between edges.

Rows are the integers used inside. The ids of the source are kept, parallel edges included.
Heights belong to junctions, so every closed walk climbs as much as it descends ("conservative"
inclines).
"""

import hashlib
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from copy import copy
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from evroute.arrays import BoolArray, FloatArray, IntArray, expanded, freeze
from evroute.checked import digest_of
from evroute.display import drawn_by
from evroute.errors import NetworkFormatError
from evroute.network.coordinates import WGS84, check_crs, transformer
from evroute.network.geo import gpd, nx, shapely
from evroute.network.heights.pieces import Pieces
from evroute.network.invariants import check_columns
from evroute.network.memory import check_memory
from evroute.network.optional_tables import EDGES, JUNCTIONS, TABLES, TURNS, CarriedTables, Table
from evroute.network.source import Source
from evroute.network.sources import osmnx_graph
from evroute.network.texts import check_name, check_texts
from evroute.network.views import graphs


@dataclass(frozen=True, eq=False)
class RoadNetwork:
    """Directed edges of a passenger-car road network. n edges, v junctions, m turns, p points.

    edge_id, street, road_class: n strings (the last two may be empty strings).
    tail, head: (n,) junction rows.  length_m: (n,) as driven, junction crossings included, never
    below the straight 3-D distance between the two junctions.  speed_mps: (n,) limit.  structure:
    (n,) 0 ground, 1 bridge, 2 tunnel.
    turns: (m, 2) edge rows of legal turns, from and to, sorted, unique.  control: (m,) traffic
    control, one of `network.controls`, or None if the source has none.
    junction_id: v strings.  x_m, y_m: (v,) in ``crs``.  elevation_m: (v,).
    shape_x_m, shape_y_m: (p,) shape points in ``crs``. Edge e owns points
    ``shape_start[e]:shape_start[e + 1]`` (at least two).
    crs: any text that pyproj reads, units metres.

    Raises
    ------
    NetworkFormatError
        If a column breaks an invariant: duplicate ids, non-finite or non-positive length or speed,
        an edge longer than 500 km or steeper than its length allows, a turn between edges that do
        not meet; or if the name is no file name, a text is no text, or the coordinate system is not
        known or not in metres.
    LimitError
        If there are too many edges, or a text is too long.
    EvrouteError
        If a text holds unprintable characters (`text.UNPRINTABLE`).
    """

    name: str
    edge_id: tuple[str, ...]
    tail: IntArray
    head: IntArray
    length_m: FloatArray
    speed_mps: FloatArray
    structure: IntArray
    street: tuple[str, ...]
    road_class: tuple[str, ...]
    turns: IntArray
    junction_id: tuple[str, ...]
    x_m: FloatArray
    y_m: FloatArray
    elevation_m: FloatArray
    shape_start: IntArray
    shape_x_m: FloatArray
    shape_y_m: FloatArray
    crs: str
    source: Source
    control: IntArray | None = None

    _repr_html_ = drawn_by("network_html")

    def __repr__(self) -> str:
        """Return name, numbers of edges, junctions and turns, and length in one line."""
        return (
            f"RoadNetwork({self.name!r}, {self.n_edges:,} edges, {len(self.x_m):,} junctions, "
            f"{len(self.turns):,} turns, {self.length_m.sum() / 1000:,.1f} km)"
        )

    def __post_init__(self) -> None:
        self._check_texts()
        self._freeze()
        check_columns(self)

    def _check_texts(self) -> None:
        check_memory(len(self.edge_id), len(self.turns), "the network")
        check_texts("name", (self.name,))
        check_name(self.name)
        check_texts("crs", (self.crs,))
        check_crs(self.crs)
        for column in ("edge_id", "street", "road_class", "junction_id"):
            check_texts(column.replace("_", " "), getattr(self, column))

    def _freeze(self) -> None:
        n, v = len(self.edge_id), len(self.junction_id)
        p = len(self.shape_x_m)
        freeze(
            self,
            tail=(self.tail, np.int64, (n,)),
            head=(self.head, np.int64, (n,)),
            length_m=(self.length_m, np.float64, (n,)),
            speed_mps=(self.speed_mps, np.float64, (n,)),
            structure=(self.structure, np.int64, (n,)),
            turns=(self.turns, np.int64, (len(self.turns), 2)),
            x_m=(self.x_m, np.float64, (v,)),
            y_m=(self.y_m, np.float64, (v,)),
            elevation_m=(self.elevation_m, np.float64, (v,)),
            shape_start=(self.shape_start, np.int64, (n + 1,)),
            shape_x_m=(self.shape_x_m, np.float64, (p,)),
            shape_y_m=(self.shape_y_m, np.float64, (p,)),
        )
        if self.control is not None:
            freeze(self, control=(self.control, np.int64, (len(self.turns),)))

    @property
    def n_edges(self) -> int:
        """Number of directed edges."""
        return len(self.edge_id)

    @property
    def n_junctions(self) -> int:
        """Number of junctions."""
        return len(self.junction_id)

    @cached_property
    def climb_m(self) -> FloatArray:
        """(n,) height of the head junction minus the height of the tail, m."""
        return self.elevation_m[self.head] - self.elevation_m[self.tail]

    @property
    def middle_m(self) -> FloatArray:
        """(n, 2) middle of the line between the two junctions of each edge, x and y, m."""
        x_m, y_m = (0.5 * (at[self.tail] + at[self.head]) for at in (self.x_m, self.y_m))
        return np.column_stack([x_m, y_m])

    @cached_property
    def pieces(self) -> Pieces | None:
        """The edges in pieces of one slope, from the table ``profile``, or None without it."""
        if "profile" not in self.tables:
            return None
        ends_m = self.elevation_m[self.tail], self.elevation_m[self.head]
        try:
            return Pieces.from_table(self.tables["profile"], self.length_m, *ends_m)
        except (KeyError, ValueError) as error:
            raise NetworkFormatError(
                f"the profile of network '{self.name}' is damaged ({error}). Build it again"
            ) from error

    @cached_property
    def ascent_m(self) -> FloatArray:
        """(n,) height gained on the rising pieces of each edge, m."""
        return self._rise_m(1.0)

    @cached_property
    def descent_m(self) -> FloatArray:
        """(n,) height lost on the falling pieces of each edge, m, at least 0."""
        return self._rise_m(-1.0)

    def _rise_m(self, sign: float) -> FloatArray:
        if self.pieces is None:
            return np.maximum(sign * self.climb_m, 0.0)
        return np.add.reduceat(np.maximum(sign * self.pieces.climb_m, 0.0), self.pieces.start[:-1])

    @property
    def incline_rad(self) -> FloatArray:
        """(n,) incline with ``sin(incline) = climb / length``."""
        return np.arcsin(self.climb_m / self.length_m)

    @cached_property
    def time_s(self) -> FloatArray:
        """(n,) travel time at the speed limit, s."""
        return self.length_m / self.speed_mps

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Edge row by edge id."""
        return {edge_id: row for row, edge_id in enumerate(self.edge_id)}

    def has_turns(self, edges: IntArray) -> BoolArray:
        """Return whether a turn leads from each of edges (k,) to the next, (k - 1,)."""
        return self.turn_rows(edges[:-1], edges[1:]) >= 0

    def turn_rows(self, left: IntArray, entered: IntArray) -> IntArray:
        """Return the rows of the turns between pairs of edges, (k,), -1 where there is none."""
        number = left * self.n_edges + entered
        row = np.searchsorted(self._turn_numbers, number)
        return np.where(self._turn_numbers[row] == number, row, -1)

    @cached_property
    def turn_start(self) -> IntArray:
        """(n + 1,) first turn out of each edge. Edge e has the turns up to that of edge e + 1."""
        count = np.bincount(self.turns[:, 0], minlength=self.n_edges)
        return np.concatenate([[0], np.cumsum(count)])

    @cached_property
    def _turn_numbers(self) -> IntArray:
        """(m + 1,) increasing number of each turn, and one beyond all."""
        return np.append(self.turns @ [self.n_edges, 1], self.n_edges**2)

    @cached_property
    def lon_lat(self) -> tuple[FloatArray, FloatArray]:
        """Shape points as WGS 84 longitudes and latitudes, (p,) degrees each."""
        return transformer(self.crs, WGS84).transform(self.shape_x_m, self.shape_y_m)

    @cached_property
    def junction_lon_lat(self) -> tuple[FloatArray, FloatArray]:
        """Junctions as WGS 84 longitudes and latitudes, (v,) degrees each."""
        return transformer(self.crs, WGS84).transform(self.x_m, self.y_m)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every column that planning or learning reads. Stored in beliefs and runs."""
        total = hashlib.sha256()
        for column in ("tail", "head", "length_m", "speed_mps", "turns", "elevation_m"):
            total.update(getattr(self, column).tobytes())
        total.update("\n".join(self.edge_id).encode())
        if self.control is not None:
            total.update(self.control.tobytes())
        return total.hexdigest()

    @cached_property
    def content_digest(self) -> str:
        """SHA-256 of the name and every column, without the optional tables."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {
            name: "\0".join(value) for name, value in values.items() if isinstance(value, tuple)
        }
        texts |= {"name": self.name, "crs": self.crs, "source": repr(asdict(self.source))}
        return digest_of(
            {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
            | {
                name: np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
                for name, text in texts.items()
            }
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Optional tables by name, one of `optional_tables.TABLES`."""
        return self.__dict__.get("_tables", {})

    def with_tables(self, tables: Mapping[str, Table]) -> "RoadNetwork":
        """Return the same network with further optional tables: arrays or texts by column.

        Raises
        ------
        ValueError
            If a name is none of `optional_tables.TABLES`.
        """
        if unknown := [name for name in tables if name not in TABLES]:
            raise ValueError(
                f"unknown table '{unknown[0]}'. A network may have {', '.join(TABLES)}"
            )
        maps = cast("list[MutableMapping[str, Table]]", [tables, self.tables])
        return self._copy(ChainMap(*maps))  # reads none of them

    def without_table(self, name: str) -> "RoadNetwork":
        """Return the same network without an optional table."""
        return self._copy(CarriedTables(self.tables, {name}, {}))

    def changed(self, **columns: Any) -> "RoadNetwork":
        """Return the network with other columns and all tables that still fit.

        A table fits unless one of the columns is among those that it depends on
        (`optional_tables.TABLES`). A new turn has no length inside its junction.

        Parameters
        ----------
        **columns
            Columns of the same edges and junctions, or other turns.
        """
        rows = {}
        if "turns" in columns:
            rows[TURNS] = self.turn_rows(*np.asarray(columns["turns"]).T)
        return replace(self, **columns)._copy(CarriedTables(self.tables, columns, rows))

    def _copy(self, tables: Mapping[str, Table]) -> "RoadNetwork":
        """Return the same columns with these tables alone."""
        other = copy(self)
        object.__setattr__(other, "_tables", tables)
        for cached in set(vars(other)) - {"_tables", *(field.name for field in fields(self))}:
            del vars(other)[cached]
        return other

    def lines(self, x: FloatArray, y: FloatArray) -> Any:
        """Return the edges as lines of shapely, (n,), through positions (p,) of shape points."""
        edge = np.repeat(np.arange(self.n_edges), np.diff(self.shape_start))
        return shapely.linestrings(x, y, indices=edge)

    @property
    def edges(self) -> "gpd.GeoDataFrame":
        """The n edges with their columns and one line each, in WGS 84. A new table at each use."""
        return graphs.edge_table(self)

    @property
    def junctions(self) -> "gpd.GeoDataFrame":
        """The v junctions with heights (m) and one point each, in WGS 84."""
        return graphs.junction_table(self)

    def to_networkx(self) -> "nx.MultiDiGraph":
        """Return the network as the graph that OSMnx reads (`graphs.to_networkx`)."""
        return graphs.to_networkx(self)

    def line_graph(self, prior: graphs.Prior | None = None) -> "nx.DiGraph":
        """Return the line graph: one node an edge, one arc a legal turn (`graphs.line_graph`).

        Parameters
        ----------
        prior
            Prior means and deviations of the edges, as ``evroute.energy.prior.fit(network,
            vehicle)`` returns them. None to leave them out.
        """
        return graphs.line_graph(self, prior)

    @classmethod
    def from_osmnx(cls, graph: "nx.MultiDiGraph", name: str = "osmnx") -> "RoadNetwork":
        """Return the network of an OSMnx graph. Edges are named ``u,v,key``.

        Parameters
        ----------
        graph
            Directed graph with ``x`` and ``y`` of the nodes, ``length`` of the edges (m) and a
            ``crs``, as OSMnx makes it. It holds no turn restrictions: all edges that meet may turn,
            back only at dead ends.
        name
            Name of the network.

        Raises
        ------
        NetworkFormatError
            If the graph is not directed, lacks a number, or has no road for passenger cars.
        """
        found = osmnx_graph.columns_of(graph)
        return cls(name=name, source=Source("osmnx", (), **found.origin), **found.columns)

    def subset(self, edges: BoolArray) -> "RoadNetwork":
        """Return the network of the edges where ``edges`` (n,) is true, without bare junctions.

        It has their part of all tables that depend on nothing beside them.
        """
        keep = np.flatnonzero(edges)
        junctions = np.unique([self.tail[keep], self.head[keep]])
        new_edge = np.full(self.n_edges, -1)
        new_edge[keep] = np.arange(len(keep))
        new_junction = np.full(self.n_junctions, -1)
        new_junction[junctions] = np.arange(len(junctions))
        turns = new_edge[self.turns]
        kept = (turns >= 0).all(axis=1)
        points, place = expanded(self.shape_start, keep)
        rows = {EDGES: keep, TURNS: np.flatnonzero(kept), JUNCTIONS: junctions}
        part = replace(
            self,
            edge_id=tuple(self.edge_id[e] for e in keep),
            street=tuple(self.street[e] for e in keep),
            road_class=tuple(self.road_class[e] for e in keep),
            tail=new_junction[self.tail[keep]],
            head=new_junction[self.head[keep]],
            length_m=self.length_m[keep],
            speed_mps=self.speed_mps[keep],
            structure=self.structure[keep],
            turns=turns[kept],
            control=None if self.control is None else self.control[kept],
            junction_id=tuple(self.junction_id[j] for j in junctions),
            x_m=self.x_m[junctions],
            y_m=self.y_m[junctions],
            elevation_m=self.elevation_m[junctions],
            shape_start=np.searchsorted(place, np.arange(len(keep) + 1)),
            shape_x_m=self.shape_x_m[points],
            shape_y_m=self.shape_y_m[points],
        )
        return part._copy(CarriedTables(self.tables, {EDGES}, rows))

    def strongest_component(self) -> "RoadNetwork":
        """Return the largest strongly connected component of the line graph.

        All its edges reach each other.
        """
        n = self.n_edges
        arcs = csr_matrix((np.ones(len(self.turns)), tuple(self.turns.T)), shape=(n, n))
        _, label = connected_components(arcs, directed=True, connection="strong")
        return self.subset(label == np.bincount(label).argmax())


def unchecked(**columns: Any) -> RoadNetwork:
    """Return a network of all columns whose texts and invariants are not checked."""
    check_memory(len(columns["edge_id"]), len(columns["turns"]), "the network")
    network = object.__new__(RoadNetwork)
    for column, value in columns.items():
        object.__setattr__(network, column, value)
    network._freeze()
    return network
