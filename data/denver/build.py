"""Make network.npz, the embedded network of downtown Denver.

Source: the wheel of nrel.routee.compass 0.19.5.

    pip download --no-deps nrel.routee.compass==0.19.5
    python data/denver/build.py nrel_routee_compass-0.19.5-*.whl

The wheel is read as a zip file and never installed. See README.md beside this script for the
attribution.
"""

import argparse
import ast
import csv
import gzip
import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import shapely
from pyproj import Transformer

from evroute.network import catalog, controls, store
from evroute.network.heights import elevation
from evroute.network.road_network import RoadNetwork, Source
from evroute.network.sources.graphml import meeting_turns

FOLDER = "nrel/routee/compass/resources/downtown_denver_example"
CRS = "EPSG:32613"  # WGS 84 / UTM zone 13N
SMOOTHING_M = 0.0  # the heights are smooth as they come: no edge is steeper than 7 %
ATTRIBUTION = (
    "map data (c) OpenStreetMap contributors (ODbL 1.0); prepared by the National Renewable Energy "
    "Laboratory for "
    "RouteE Compass (BSD-3-Clause)"
)


def main() -> None:
    """Read the wheel named on the command line and write network.npz beside this script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel
    network = read(wheel)
    on_ground = ~elevation.carried_junctions(network)
    network = replace(network, elevation_m=elevation.fill(network, network.elevation_m, on_ground))
    network = catalog.build(network, smoothing_m=SMOOTHING_M)
    store.save(network, Path(__file__).with_name("network.npz"))
    print(
        f"{network.n_edges} edges, {len(network.turns)} turns, {network.length_m.sum() / 1000:.1f} "
        "km"
    )


def read(wheel: Path) -> RoadNetwork:
    """Turn the two tables of the wheel into a RoadNetwork."""
    with zipfile.ZipFile(wheel) as archive:
        vertices = _table(archive, "vertices-complete.csv.gz")
        edges = _table(archive, "edges-complete.csv.gz")
    row = {vertex["vertex_uuid"]: k for k, vertex in enumerate(vertices)}
    tail = np.array([row[edge["src_vertex_uuid"]] for edge in edges])
    head = np.array([row[edge["dst_vertex_uuid"]] for edge in edges])

    to_plane = Transformer.from_crs("EPSG:4326", CRS, always_xy=True)
    x_m, y_m = to_plane.transform(*np.array([(v["x"], v["y"]) for v in vertices], dtype=float).T)
    points, owner = shapely.get_coordinates(
        shapely.from_wkt([e["geometry"] for e in edges]), return_index=True
    )
    shape_x_m, shape_y_m = to_plane.transform(*points.T)
    straight_m = np.hypot(x_m[head] - x_m[tail], y_m[head] - y_m[tail])
    turns = meeting_turns(tail, head)
    control = np.array([controls.at(vertex) for vertex in vertices])[head[turns[:, 0]]]
    return RoadNetwork(
        name="denver",
        edge_id=tuple(f"{e['src_vertex_uuid']},{e['dst_vertex_uuid']},{e['key']}" for e in edges),
        tail=tail,
        head=head,
        length_m=np.maximum(np.array([e["distance"] for e in edges], dtype=float), straight_m),
        speed_mps=np.array([e["speed_kph"] for e in edges], dtype=float) / 3.6,
        structure=np.array([1 if e["bridge"] else 2 if e["tunnel"] else 0 for e in edges]),
        street=tuple(" / ".join(_several(e["name"])) for e in edges),
        road_class=tuple(_several(e["highway"])[0] for e in edges),
        turns=turns,
        control=control,
        junction_id=tuple(row),
        x_m=x_m,
        y_m=y_m,
        elevation_m=np.array([v["elevation"] for v in vertices], dtype=float),
        shape_start=np.searchsorted(owner, np.arange(len(edges) + 1)),
        shape_x_m=shape_x_m,
        shape_y_m=shape_y_m,
        crs=CRS,
        source=Source(
            kind="osmnx",
            files=(wheel.name,),
            sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
            attribution=ATTRIBUTION,
            elevation="elevation column of the wheel's vertices, straight along bridges",
            notes=(
                "no turn restrictions in the source: all turns are legal, U-turns at dead ends "
                "alone",
                controls.note(control),
            ),
        ),
    )


def _table(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    text = gzip.decompress(archive.read(f"{FOLDER}/{name}")).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _several(cell: str) -> list[str]:
    """Read a cell that holds one value or a Python list of them."""
    return [str(value) for value in ast.literal_eval(cell)] if cell.startswith("[") else [cell]


if __name__ == "__main__":
    main()
