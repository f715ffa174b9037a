"""Exports of a network: GraphML that OSMnx reads, GeoPackage, GeoJSON, GeoParquet.

Positions are WGS 84. GeoPackage holds the layers ``edges``, ``junctions`` and the table ``turns``;
GeoJSON and GeoParquet hold the edges alone; GraphML holds edges and junctions, not the turns.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evroute.errors import MissingPackageError, require
from evroute.files import replacing
from evroute.network.geo import osmnx
from evroute.network.road_network import RoadNetwork
from evroute.network.views.graphs import to_networkx


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
        f"'{path.name}' names no format to export. Use one of {', '.join(WRITERS)}",
    )
    try:
        with replacing(path, follow=True) as temporary:
            WRITERS[suffix](network, temporary)
    except ImportError as error:
        raise MissingPackageError(error.name or "geopandas", "geo") from error


def _write_geopackage(network: RoadNetwork, path: Path) -> None:
    import pandas as pd
    from pyogrio import write_dataframe  # type: ignore[import-untyped]

    path.unlink()  # the empty file that holds the name is no GeoPackage to add layers to
    network.edges.to_file(path, layer="edges", driver="GPKG")
    network.junctions.to_file(path, layer="junctions", driver="GPKG")
    ids = np.array(network.edge_id, dtype=object)[network.turns]
    write_dataframe(
        pd.DataFrame({"from_edge": ids[:, 0], "to_edge": ids[:, 1]}),
        path,
        layer="turns",
        append=True,
    )


WRITERS: dict[str, Callable[[RoadNetwork, Path], None]] = {
    ".graphml": lambda network, path: osmnx.save_graphml(to_networkx(network), path),
    ".gpkg": _write_geopackage,
    ".geojson": lambda network, path: network.edges.to_file(path, driver="GeoJSON"),
    ".parquet": lambda network, path: network.edges.to_parquet(path),
}
