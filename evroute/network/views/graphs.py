"""A network as objects of NetworkX and GeoPandas, in WGS 84.

The primal graph has junctions as nodes, as OSMnx keeps it. The line graph has edges as nodes and
legal turns as arcs, the graph of Sandberg et al.: a route is a path of it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evroute.arrays import FloatArray
from evroute.network.geo import gpd, nx, shapely
from evroute.network.sources.osm_tags import TYPICAL_KMH

Roads = Any
"""A `RoadNetwork`, which imports this module."""
LON_LAT = "EPSG:4326"
STRUCTURES = ("ground", "bridge", "tunnel")


class Prior(Protocol):
    """Prior energies of n edges."""

    @property
    def mean_wh(self) -> FloatArray:
        """Expected energies, (n,) Wh."""

    @property
    def std_wh(self) -> FloatArray:
        """Prior standard deviations, (n,) Wh."""


def edge_columns(network: Roads) -> dict[str, Any]:
    """Return the n edges as columns by name: ids, texts and numbers, each of length n."""
    return {
        "edge_id": network.edge_id,
        "tail": [network.junction_id[j] for j in network.tail],
        "head": [network.junction_id[j] for j in network.head],
        "street": network.street,
        "road_class": network.road_class,
        "structure": np.array(STRUCTURES)[network.structure],
        "length_m": network.length_m,
        "speed_kmh": 3.6 * network.speed_mps,
        "climb_m": network.climb_m,
        "ascent_m": network.ascent_m,
        "descent_m": network.descent_m,
        "incline_percent": 100 * network.climb_m / network.length_m,
    }


def edge_table(network: Roads) -> "gpd.GeoDataFrame":
    """Return the n edges with their columns and one line each, in WGS 84."""
    lines = network.lines(*network.lon_lat)
    return gpd.GeoDataFrame(edge_columns(network), geometry=lines, crs=LON_LAT)


def junction_table(network: Roads) -> "gpd.GeoDataFrame":
    """Return the v junctions with their heights (m) and one point each, in WGS 84."""
    return gpd.GeoDataFrame(
        {"junction_id": network.junction_id, "elevation_m": network.elevation_m},
        geometry=shapely.points(*network.junction_lon_lat),
        crs=LON_LAT,
    )


def route_table(
    lines: Mapping[str, FloatArray], columns: Mapping[str, Sequence[Any]]
) -> "gpd.GeoDataFrame":
    """Return routes as lines in WGS 84, one row for each, indexed by name.

    Parameters
    ----------
    lines
        (j, 2) longitudes and latitudes of each route, by name.
    columns
        Values of the routes by name of the column, in the same order.
    """
    shapes = [shapely.LineString(line) for line in lines.values()]
    return gpd.GeoDataFrame(dict(columns), geometry=shapes, index=list(lines), crs=LON_LAT)


def to_networkx(network: Roads) -> "nx.MultiDiGraph":
    """Return the network as an OSMnx graph, one arc an edge. Parallel edges have other keys.

    Nodes have x, y, elevation and street_count. Edges have osmid, length, speed_kph, travel_time,
    grade and geometry. Nodes are the junction ids if all of them are whole numbers, as OSMnx
    requires, else junction rows. An ``osmid`` numbers the streets of this network: both directions
    of a street share it if they have one line. A network keeps no ids of OpenStreetMap's ways.
    """
    lon, lat = network.junction_lon_lat
    whole = all(j.removeprefix("-").isdecimal() for j in network.junction_id)
    node = [int(j) for j in network.junction_id] if whole else list(range(network.n_junctions))
    graph = nx.MultiDiGraph(crs="epsg:4326", name=network.name, simplified=True)
    graph.graph["attribution"] = network.source.attribution
    streets_at = _street_counts(network)
    places = zip(lon.tolist(), lat.tolist(), network.elevation_m.tolist(), strict=True)
    for row, (x, y, elevation_m) in enumerate(places):
        graph.add_node(
            node[row],
            junction_id=network.junction_id[row],
            x=x,
            y=y,
            elevation=elevation_m,
            street_count=streets_at[row],
        )
    lines = network.lines(*network.lon_lat)
    numbers = _street_numbers(network, lines)
    for edge, (tail, head) in enumerate(zip(network.tail, network.head, strict=True)):
        graph.add_edge(
            node[tail],
            node[head],
            osmid=numbers[edge],
            geometry=lines[edge],
            **_attributes(network, edge),
        )
    return graph


def _street_counts(network: Roads) -> Counter[int]:
    """Return the number of streets at each junction by its row, as OSMnx counts them."""
    directed = Counter(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    streets: Counter[int] = Counter()
    for (tail, head), edges in directed.items():
        if tail == head:
            streets[tail] += 2  # both ends of a loop
        elif tail < head or (head, tail) not in directed:
            both_ways = max(edges, directed[head, tail])
            streets[tail] += both_ways
            streets[head] += both_ways
    return streets


def _street_numbers(network: Roads, lines: Sequence[Any]) -> list[int]:
    """Return the number of the street of each edge, from 1 on."""
    one_way: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    numbers, known = [], 0
    for tail, head, line in zip(network.tail.tolist(), network.head.tolist(), lines, strict=True):
        points = tuple(line.coords)
        opposite = one_way[head, tail, points[::-1]]
        if opposite:
            numbers.append(opposite.pop(0))
        else:
            known += 1
            numbers.append(known)
            one_way[tail, head, points].append(known)
    return numbers


def _attributes(network: Roads, edge: int) -> dict[str, Any]:
    """Return the attributes of an edge, as OSMnx names them."""
    road_class, built = network.road_class[edge], STRUCTURES[network.structure[edge]]
    found = {
        "edge_id": network.edge_id[edge],
        "name": network.street[edge],
        "road_class": road_class,
        "length": float(network.length_m[edge]),
        "speed_kph": float(3.6 * network.speed_mps[edge]),
        "travel_time": float(network.time_s[edge]),
        "grade": float(network.climb_m[edge] / network.length_m[edge]),
        "oneway": True,
    }
    if road_class in TYPICAL_KMH:
        found["highway"] = road_class
    if built != STRUCTURES[0]:
        found[built] = "yes"
    return found


def line_graph(network: Roads, prior: Prior | None = None) -> "nx.DiGraph":
    """Return the line graph: one node an edge, by its id, and one arc a legal turn.

    Nodes have the contexts length_m, speed_mps and incline_rad, and street and road_class. With a
    prior prior_mean_wh and prior_std_wh. Parallel edges are nodes of their own. It is
    ``networkx.line_graph`` of the network less the turns that are not allowed.

    Parameters
    ----------
    network
        The roads.
    prior
        Prior means and deviations of the edges, as ``evroute.energy.prior.fit(network, vehicle)``
        returns them. None to leave them out.
    """
    columns: dict[str, Sequence[Any]] = {
        "length_m": network.length_m.tolist(),
        "speed_mps": network.speed_mps.tolist(),
        "incline_rad": network.incline_rad.tolist(),
        "street": network.street,
        "road_class": network.road_class,
    }
    if prior is not None:
        columns["prior_mean_wh"] = prior.mean_wh.tolist()
        columns["prior_std_wh"] = prior.std_wh.tolist()
    graph = nx.DiGraph(name=network.name)
    for edge_id, values in zip(network.edge_id, zip(*columns.values(), strict=True), strict=True):
        graph.add_node(edge_id, **dict(zip(columns, values, strict=True)))
    ids = network.edge_id
    graph.add_edges_from((ids[left], ids[entered]) for left, entered in network.turns.tolist())
    return graph
