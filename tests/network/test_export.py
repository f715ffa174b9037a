"""What is exported is what other programs read back."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import osmnx
import pyogrio
import pytest

from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import graphml
from evroute.network.views.export import WRITERS, export


@pytest.mark.parametrize("suffix", [".gpkg", ".geojson", ".parquet"])
def test_tables_hold_every_edge_with_its_line(
    hill: RoadNetwork, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"hill{suffix}"
    export(hill, path)
    table = gpd.read_parquet(path) if suffix == ".parquet" else gpd.read_file(path, layer=0)
    assert table.crs == "EPSG:4326"
    assert tuple(table["edge_id"]) == hill.edge_id
    for column, expected in {
        "length_m": hill.length_m,
        "speed_kmh": 3.6 * hill.speed_mps,
        "climb_m": hill.climb_m,
        "incline_percent": 100 * np.sin(hill.incline_rad),
    }.items():
        assert table[column].to_numpy() == pytest.approx(expected)
    assert [hill.junction_id[j] for j in hill.tail] == list(table["tail"])
    lon, lat = hill.lon_lat
    coordinates = table.geometry.get_coordinates()
    assert coordinates["x"].to_numpy() == pytest.approx(lon, abs=1e-6)
    assert coordinates["y"].to_numpy() == pytest.approx(lat, abs=1e-6)


def test_a_geopackage_holds_junctions_and_turns_too(hill: RoadNetwork, tmp_path: Path) -> None:
    export(hill, tmp_path / "hill.gpkg")
    junctions = gpd.read_file(tmp_path / "hill.gpkg", layer="junctions")
    assert junctions["elevation_m"].tolist() == hill.elevation_m.tolist()
    turns = pyogrio.read_dataframe(tmp_path / "hill.gpkg", layer="turns")
    named = [(hill.edge_id[a], hill.edge_id[b]) for a, b in hill.turns]
    assert list(zip(turns["from_edge"], turns["to_edge"], strict=True)) == named


def test_osmnx_reads_the_graph_and_routes_on_it(denver: RoadNetwork, tmp_path: Path) -> None:
    export(denver, tmp_path / "denver.graphml")
    graph = osmnx.load_graphml(tmp_path / "denver.graphml")
    assert len(graph.edges) == denver.n_edges
    assert len(graph.nodes) == denver.n_junctions
    lengths = [length for *_, length in graph.edges(data="length")]
    assert sum(lengths) == pytest.approx(denver.length_m.sum())
    times = [seconds for *_, seconds in graph.edges(data="travel_time")]
    assert sum(times) == pytest.approx(denver.time_s.sum())
    _, edges = osmnx.graph_to_gdfs(graph)
    assert len(edges) == denver.n_edges
    origin, destination = (int(denver.junction_id[j]) for j in (0, denver.n_junctions // 2))
    assert osmnx.routing.shortest_path(graph, origin, destination, weight="travel_time")


def test_an_exported_graph_read_again_is_the_same_network(
    denver: RoadNetwork, tmp_path: Path
) -> None:
    export(denver, tmp_path / "denver.graphml")
    again = graphml.read(tmp_path / "denver.graphml", "denver")
    rows = np.array([again.row_of[edge_id] for edge_id in denver.edge_id])
    assert sorted(again.edge_id) == sorted(denver.edge_id)
    assert again.length_m[rows] == pytest.approx(denver.length_m, abs=1e-6)
    assert again.speed_mps[rows] == pytest.approx(denver.speed_mps)
    assert again.climb_m[rows] == pytest.approx(denver.climb_m)
    assert np.array(again.street)[rows].tolist() == list(denver.street)


def test_an_unknown_format_lists_the_known_ones(hill: RoadNetwork, tmp_path: Path) -> None:
    with pytest.raises(
        EvrouteError, match=r"'hill.kml' names no format to export. Use one of \.graphml, \.gpkg"
    ):
        export(hill, tmp_path / "hill.kml")


def test_a_failed_export_leaves_the_old_file(
    hill: RoadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(network: RoadNetwork, path: Path) -> None:
        path.write_text("half")
        raise OSError("disk full")

    (tmp_path / "hill.geojson").write_text("old")
    monkeypatch.setitem(WRITERS, ".geojson", fail)
    with pytest.raises(OSError, match="disk full"):
        export(hill, tmp_path / "hill.geojson")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
