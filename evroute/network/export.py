"""Exports of a network: GraphML that OSMnx reads, GeoPackage, GeoJSON, GeoParquet.

Positions are WGS 84. GeoPackage holds the layers ``edges``, ``junctions`` and the table ``turns``;
GeoJSON and GeoParquet hold the edges alone; GraphML holds edges and junctions, not the turns.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evroute.errors import MissingPackageError, require
from evroute.files import replacing
from evroute.network.geo import gpd, nx, osmnx, shapely
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.osm_tags import TYPICAL_KMH


def export(network: RoadNetwork, path: Path) -> None:
    """Write a network in the format of the suffix of ``path`` (a key of `WRITERS`).

    Raises
    ------
    MissingPackageError
        If geopandas or OSMnx is not installed.
    EvrouteError
        If the suffix is not known.
    """
    suffix = path.suffix.lower()
    require(
        suffix in WRITERS,
        f"'{path.name}' names no format to export; use one of {', '.join(WRITERS)}",
    )
    try:
        with replacing(path) as temporary:
            WRITERS[suffix](network, temporary)
    except ImportError as error:
        raise MissingPackageError(error.name or "geopandas", "geo") from error


def edge_table(network: RoadNetwork) -> "gpd.GeoDataFrame":
    """Return the n edges with their columns and one line each, in WGS 84."""
    return gpd.GeoDataFrame(
        {
            "edge_id": network.edge_id,
            "tail": [network.junction_id[j] for j in network.tail],
            "head": [network.junction_id[j] for j in network.head],
            "street": network.street,
            "road_class": network.road_class,
            "structure": np.array(["ground", "bridge", "tunnel"])[network.structure],
            "length_m": network.length_m,
            "speed_kmh": 3.6 * network.speed_mps,
            "climb_m": network.climb_m,
            "ascent_m": network.ascent_m,
            "descent_m": network.descent_m,
            "incline_percent": 100 * network.climb_m / network.length_m,
        },
        geometry=network.lines(*network.lon_lat),
        crs="EPSG:4326",
    )


def junction_table(network: RoadNetwork) -> "gpd.GeoDataFrame":
    """Return the v junctions with their heights (m) and one point each, in WGS 84."""
    return gpd.GeoDataFrame(
        {"junction_id": network.junction_id, "elevation_m": network.elevation_m},
        geometry=shapely.points(*network.junction_lon_lat),
        crs="EPSG:4326",
    )


def to_osmnx(network: RoadNetwork) -> "nx.MultiDiGraph":
    """Return the network as an OSMnx graph.

    Nodes have x, y, elevation; edges have length, speed_kph, geometry. Nodes are the junction ids
    if all of them are whole numbers, as OSMnx requires, else junction rows.
    """
    lon, lat = network.junction_lon_lat
    whole = all(j.removeprefix("-").isdecimal() for j in network.junction_id)
    node = [int(j) for j in network.junction_id] if whole else list(range(network.n_junctions))
    graph = nx.MultiDiGraph(crs="epsg:4326", name=network.name, simplified=True)
    graph.graph["attribution"] = network.source.attribution
    for key, junction_id, x, y, elevation_m in zip(
        node,
        network.junction_id,
        lon.tolist(),
        lat.tolist(),
        network.elevation_m.tolist(),
        strict=True,
    ):
        graph.add_node(key, junction_id=junction_id, x=x, y=y, elevation=elevation_m)
    for row, tail, head in zip(
        edge_table(network).itertuples(), network.tail, network.head, strict=True
    ):
        kind = {"highway": row.road_class} if row.road_class in TYPICAL_KMH else {}
        built = {} if row.structure == "ground" else {row.structure: "yes"}
        graph.add_edge(
            node[tail],
            node[head],
            edge_id=row.edge_id,
            name=row.street,
            road_class=row.road_class,
            length=row.length_m,
            speed_kph=row.speed_kmh,
            travel_time=row.length_m / (row.speed_kmh / 3.6),
            grade=row.incline_percent / 100,
            oneway=True,
            geometry=row.geometry,
            **kind,
            **built,
        )
    return graph


def _write_geopackage(network: RoadNetwork, path: Path) -> None:
    import pandas as pd
    from pyogrio import write_dataframe  # type: ignore[import-untyped]

    path.unlink()  # the empty file that holds the name is no GeoPackage to add layers to
    edge_table(network).to_file(path, layer="edges", driver="GPKG")
    junction_table(network).to_file(path, layer="junctions", driver="GPKG")
    ids = np.array(network.edge_id, dtype=object)[network.turns]
    write_dataframe(
        pd.DataFrame({"from_edge": ids[:, 0], "to_edge": ids[:, 1]}),
        path,
        layer="turns",
        append=True,
    )


WRITERS: dict[str, Callable[[RoadNetwork, Path], None]] = {
    ".graphml": lambda network, path: osmnx.save_graphml(to_osmnx(network), path),
    ".gpkg": _write_geopackage,
    ".geojson": lambda network, path: edge_table(network).to_file(path, driver="GeoJSON"),
    ".parquet": lambda network, path: edge_table(network).to_parquet(path),
}
