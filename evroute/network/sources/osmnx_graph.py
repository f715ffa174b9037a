"""Columns of a network from a street graph of OSMnx.

The graph holds no turn restrictions: all edges that meet may turn, back only at dead ends. Speeds
are its ``speed_kph``, else its ``maxspeed``, imputed by class where missing. Heights are the nodes'
``elevation`` if every node has one. The attribution is the graph's, or OpenStreetMap's if OSMnx
made it. Lights and signs are those at the junctions: simplified graphs keep no others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import NetworkFormatError
from evroute.network import controls
from evroute.network.coordinates import WGS84, check_places, transformer, utm_zone
from evroute.network.geo import nx, pyproj
from evroute.network.sources import osm_tags, speed_limits
from evroute.network.sources.columns import Places, edge_lengths, junction_rows, shape_starts
from evroute.network.sources.meeting_turns import meeting_turns
from evroute.network.sources.osm_tags import ATTRIBUTION, VEHICLES

_ROAD_KEYS = ("highway", "bridge", "tunnel", "service", "area", "access", "route", "ferry")
Edge = tuple[Any, Any, int, dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A network as its graph describes it.

    Parameters
    ----------
    columns
        Columns of `RoadNetwork` by name, without name and source.
    origin
        Attribution, elevation and notes of its `Source`.
    """

    columns: dict[str, Any]
    origin: dict[str, Any]


def columns_of(graph: "nx.MultiDiGraph") -> Found:
    """Return the columns of the roads of a graph that are open to passenger cars.

    Raises
    ------
    NetworkFormatError
        If the graph is not directed, lacks a number, or has no road for passenger cars.
    """
    if not graph.is_directed():
        raise NetworkFormatError("its edges have no direction")
    edges: list[Edge] = [edge for edge in graph.edges(keys=True, data=True) if _drivable(edge[3])]
    if not edges:
        raise NetworkFormatError("no road in it is open to passenger cars")
    used, tail, head = junction_rows([(u, v) for u, v, _, _ in edges])
    crs, transform = _system(graph, used)
    x_m, y_m = transform(_of_nodes(graph, used, "x"), _of_nodes(graph, used, "y"))
    elevation_m, described = _heights(graph, used)

    lines = [_line(edge, graph) for edge in edges]
    shape_x_m, shape_y_m = transform(*np.concatenate(lines).T)
    own_m = np.array([_number(data, "length") for _, _, _, data in edges])
    length_m, length_notes = edge_lengths(own_m, tail, head, Places(x_m, y_m, elevation_m))
    turns = meeting_turns(tail, head)
    control = _control(graph, edges, turns)
    speed_mps, speed_note = _speeds(edges)
    attribution = _attribution(graph)
    notes = (speed_note, *_notes(attribution, control), *length_notes)
    columns = {
        "edge_id": tuple(str(data.get("edge_id", f"{u},{v},{key}")) for u, v, key, data in edges),
        "tail": tail,
        "head": head,
        "length_m": length_m,
        "speed_mps": speed_mps,
        "structure": np.array([osm_tags.structure(_tags(data)) for _, _, _, data in edges]),
        "street": tuple(_street(data) for _, _, _, data in edges),
        "road_class": tuple(_first(data, "highway") for _, _, _, data in edges),
        "turns": turns,
        "control": control,
        "junction_id": tuple(str(graph.nodes[node].get("junction_id", node)) for node in used),
        "x_m": x_m,
        "y_m": y_m,
        "elevation_m": elevation_m,
        "shape_start": shape_starts(lines),
        "shape_x_m": shape_x_m,
        "shape_y_m": shape_y_m,
        "crs": crs,
    }
    origin = {"attribution": attribution, "elevation": described, "notes": notes}
    return Found(columns, origin)


def _attribution(graph: "nx.MultiDiGraph") -> str:
    """Return the attribution of a graph: its own, or OpenStreetMap's if OSMnx made it."""
    own = graph.graph.get("attribution")
    if own:
        return str(own)
    from_osm = str(graph.graph.get("created_with", "")).startswith("OSMnx")
    return ATTRIBUTION if from_osm else ""


def _of_nodes(graph: "nx.MultiDiGraph", nodes: Sequence[str], key: str) -> FloatArray:
    """Return a number of each of v nodes, (v,)."""
    return np.array([_number(graph.nodes[node], key) for node in nodes])


def _heights(graph: "nx.MultiDiGraph", nodes: Sequence[str]) -> tuple[FloatArray, str]:
    """Return the heights of v nodes, (v,) m, 0 unless all have one, and where they come from."""
    if all("elevation" in graph.nodes[node] for node in nodes):
        return _of_nodes(graph, nodes, "elevation"), "elevation of the graph's nodes"
    return np.zeros(len(nodes)), "none: every junction at 0 m"


def _notes(attribution: str, control: IntArray | None) -> Iterator[str]:
    """Yield sentences on what the graph does not have."""
    yield "the graph holds no turn restrictions"
    if not attribution:
        yield "the graph names no source, so the network has no attribution"
    if control is None:
        yield "no node has a light, a stop sign or a give-way sign"
    else:
        yield controls.note(control)


def _first(data: dict[str, Any], key: str) -> str:
    """Return an attribute as text. The first value if a simplified edge has several."""
    value = data.get(key, "")
    return str(value[0] if isinstance(value, list) and value else value or "")


def _street(data: dict[str, Any]) -> str:
    """Return the name of an edge, or its several names, which streets have that were joined."""
    name = data.get("name") or ""
    names = name if isinstance(name, list) else [name]
    return osm_tags.NAME_SEPARATOR.join(dict.fromkeys(map(str, names)))


def _control(graph: "nx.MultiDiGraph", edges: Sequence[Edge], turns: IntArray) -> IntArray | None:
    """Return the controls of turns (m,) by the tag ``highway`` of the junctions.

    None if no node has that tag.
    """
    tags = {node: {"highway": _first(data, "highway")} for node, data in graph.nodes(data=True)}
    if not any(tag["highway"] for tag in tags.values()):
        return None
    return np.array([controls.at(tags[v]) for _, v, _, _ in edges], dtype=np.int64)[turns[:, 0]]


def _tags(data: dict[str, Any]) -> dict[str, str]:
    """Return the attributes of an edge as tags of a way that is driven forward."""
    keys = (*_ROAD_KEYS, *VEHICLES)
    return {key: value for key in keys if (value := _first(data, key))}


def _drivable(data: dict[str, Any]) -> bool:
    """Return True if `osm_tags` opens the edge to cars. OSMnx has handled the directions."""
    tags = _tags(data)
    return not osm_tags.is_ferry(tags) and ("highway" not in tags or osm_tags.directions(tags)[0])


def _number(data: dict[str, Any], key: str) -> float:
    try:
        value = float(data[key])
    except (KeyError, TypeError, ValueError) as error:
        raise NetworkFormatError(f"a node or edge has no number '{key}'") from error
    if not np.isfinite(value):
        raise NetworkFormatError(f"a node or edge has the {key} {value}")
    return value


def _line(edge: Edge, graph: "nx.MultiDiGraph") -> FloatArray:
    """Return the points of an edge (k, 2), in the graph's coordinate system."""
    u, v, _, data = edge
    if "geometry" in data:
        points = np.array(getattr(data["geometry"], "coords", ()))
        if points.ndim == 2 and len(points) > 1:
            return points[:, :2]
    return np.array([[graph.nodes[n]["x"], graph.nodes[n]["y"]] for n in (u, v)])


def _system(
    graph: "nx.MultiDiGraph", nodes: Sequence[str]
) -> tuple[str, Callable[..., tuple[FloatArray, FloatArray]]]:
    """Return the coordinate system of the network, in metres, and the transformation into it."""
    try:
        crs = pyproj.CRS.from_user_input(graph.graph.get("crs"))
    except pyproj.exceptions.CRSError as error:
        raise NetworkFormatError(
            f"its coordinate system '{graph.graph.get('crs')}' is not known"
        ) from error
    if crs.is_projected and crs.axis_info[0].unit_name == "metre":
        target = crs.to_string()
    else:
        lon_lat = transformer(crs.to_wkt(), WGS84)
        lon, lat = lon_lat.transform(_of_nodes(graph, nodes, "x"), _of_nodes(graph, nodes, "y"))
        check_places(list(map(str, nodes)), lon, lat, np.zeros(len(nodes)))
        target = utm_zone(lon, lat)
    return target, transformer(crs.to_wkt(), target).transform


def _speeds(edges: Sequence[Edge]) -> tuple[FloatArray, str]:
    """Return the speeds (n,) in m/s, and a note on the share of imputed ones."""
    own_kmh = speed_limits.plausible(
        np.array([_number(d, "speed_kph") if "speed_kph" in d else np.nan for *_, d in edges])
    )
    texts = [
        "|".join(map(str, v)) if isinstance(v := d.get("maxspeed"), list) else v for *_, d in edges
    ]
    tagged_kmh = np.where(np.isnan(own_kmh), speed_limits.parse_kmh(texts), own_kmh)
    classes = [_first(data, "highway") or "road" for *_, data in edges]
    kmh, untagged = speed_limits.impute_kmh(classes, tagged_kmh)
    return kmh / 3.6, speed_limits.note(float(np.isnan(tagged_kmh).mean()), untagged)
