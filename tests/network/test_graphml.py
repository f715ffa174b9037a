"""Graphs that OSMnx saved become networks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import osmnx
import pytest
import shapely

from evroute.errors import NetworkFormatError
from evroute.network.controls import LIGHT, UNKNOWN
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import graphml
from evroute.network.views.export import export

XMLNS = "http://graphml.graphdrawing.org/xmlns"
Saver = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Saver:
    """Offer a function that saves a triangle 1 -> 2 -> 3 -> 1 and 2 -> 1, as OSMnx does, with
    changes.
    """

    def save(change: Callable[[nx.MultiDiGraph], Any] = lambda graph: None) -> Path:
        graph = nx.MultiDiGraph(crs="epsg:4326")
        for node, (x, y) in {1: (6.0, 49.0), 2: (6.001, 49.0), 3: (6.001, 49.001)}.items():
            graph.add_node(node, x=x, y=y, street_count=2)
        bend = shapely.LineString([(6.001, 49.001), (6.0, 49.001), (6.0, 49.0)])
        road = {"highway": "residential", "oneway": False, "reversed": False}
        graph.add_edge(1, 2, osmid=5, length=73.0, maxspeed="50", name="Rue A", **road)
        graph.add_edge(
            2, 1, osmid=5, length=73.0, maxspeed=["30", "50"], name=["Rue A", "Rue B"], **road
        )
        graph.add_edge(
            2,
            3,
            osmid=[6, 7],
            length=112.0,
            bridge="yes",
            **(road | {"highway": ["primary", "tertiary"]}),
        )
        graph.add_edge(3, 1, osmid=8, length=186.0, tunnel="yes", geometry=bend, **road)
        change(graph)
        osmnx.save_graphml(graph, tmp_path / "city.graphml")
        return tmp_path / "city.graphml"

    return save


def turns(network: RoadNetwork) -> set[tuple[str, str]]:
    return {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns}


def test_an_osmnx_graph_becomes_a_network(save: Saver) -> None:
    network = graphml.read(save(), "city")
    assert network.edge_id == ("1,2,0", "2,1,0", "2,3,0", "3,1,0")
    assert network.length_m == pytest.approx([73.2, 73.2, 112, 186], abs=0.3)
    assert network.road_class == ("residential", "residential", "primary", "residential")
    assert network.street == ("Rue A", "Rue A / Rue B", "", "")
    assert network.structure.tolist() == [0, 0, 1, 2]
    assert (3.6 * network.speed_mps).tolist() == pytest.approx([50, 40, 65, 45])
    assert turns(network) == {
        ("1,2,0", "2,3,0"),
        ("2,3,0", "3,1,0"),
        ("3,1,0", "1,2,0"),
        ("2,1,0", "1,2,0"),
    }
    lon, lat = network.lon_lat
    assert lon[-3:] == pytest.approx([6.001, 6.0, 6.0], abs=1e-9)
    assert lat[-3:] == pytest.approx([49.001, 49.001, 49.0], abs=1e-9)
    assert network.source.notes == (
        "speed limits imputed on 50.0% of the edges, from the mean of their class "
        "(typical speeds for primary, of which no road has a limit)",
        "the graph holds no turn restrictions",
        "the graph names no source, so the network has no attribution",
        "no node has a light, a stop sign or a give-way sign",
    )


def test_lights_and_signs_come_from_the_junction_at_the_end_of_an_edge(save: Saver) -> None:
    network = graphml.read(
        save(lambda graph: graph.nodes[2].update(highway="traffic_signals")), "city"
    )
    assert network.control is not None
    held_up = {
        (network.edge_id[a], int(c))
        for (a, _), c in zip(network.turns, network.control, strict=True)
    }
    assert held_up == {
        ("1,2,0", LIGHT),
        ("2,3,0", UNKNOWN),
        ("3,1,0", UNKNOWN),
        ("2,1,0", UNKNOWN),
    }


def test_a_projected_graph_keeps_its_projection(save: Saver) -> None:
    plain = graphml.read(save(), "city")
    path = save()
    osmnx.save_graphml(osmnx.project_graph(osmnx.load_graphml(path), to_crs="EPSG:32631"), path)
    projected = graphml.read(path, "city")
    assert projected.crs == "EPSG:32631"
    for a, b in zip(projected.lon_lat, plain.lon_lat, strict=True):
        assert a == pytest.approx(b, abs=1e-8)


def test_speeds_and_heights_of_the_graph_are_used(save: Saver) -> None:
    def change(graph: nx.MultiDiGraph) -> None:
        nx.set_node_attributes(graph, {1: 100.0, 2: 110.0, 3: 105.0}, "elevation")
        nx.set_edge_attributes(graph, 36.0, "speed_kph")

    network = graphml.read(save(change), "city")
    assert network.climb_m.tolist() == [10, -10, -5, -5]
    assert network.speed_mps.tolist() == pytest.approx([10] * 4)
    assert network.source.elevation == "elevation of the graph's nodes"


def test_roads_that_cars_may_not_drive_are_left_out(save: Saver) -> None:
    network = graphml.read(
        save(lambda g: g.add_edge(1, 3, length=112.0, highway="footway")), "city"
    )
    assert network.n_edges == 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda g: g.graph.update(crs="nowhere"), "its coordinate system 'nowhere' is not known"),
        (lambda g: g.graph.pop("crs"), "coordinate system 'None'"),
        (lambda g: g.nodes[1].pop("x"), "no number 'x'"),
        (lambda g: g.edges[1, 2, 0].pop("length"), "no number 'length'"),
        (lambda g: g.edges[1, 2, 0].update(length=float("nan")), "has the length nan"),
        (
            lambda g: nx.set_edge_attributes(g, "footway", "highway"),
            "no road in it is open to passenger cars",
        ),
        (lambda g: g.clear_edges(), "no road in it is open to passenger cars"),
    ],
)
def test_graphs_that_are_no_street_graphs_are_told(save: Saver, change: Any, told: str) -> None:
    with pytest.raises(NetworkFormatError, match=f"^city.graphml: .*{told}"):
        graphml.read(save(change), "city")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "cut off or not XML"),
        (b"<graphml><graph>", "cut off or not XML"),
        (b"<osm/>", "not a graph that OSMnx saved"),
        (
            b"<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
            b"<graph edgedefault='undirected'/></graphml>",
            "no dir",
        ),
    ],
)
def test_bad_files_are_told_in_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "bad.graphml").write_bytes(content)
    with pytest.raises(NetworkFormatError, match=told) as caught:
        graphml.read(tmp_path / "bad.graphml", "city")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match=r"cannot read .*none\.graphml: No such file"):
        graphml.read(tmp_path / "none.graphml", "city")


@pytest.mark.parametrize(
    ("about", "attribution"),
    [
        ({}, ""),
        ({"created_with": "traces"}, ""),
        ({"created_with": "OSMnx 2.0.1"}, "(c) OpenStreetMap contributors, ODbL 1.0"),
        ({"created_with": "OSMnx 2.0.1", "attribution": "(c) us"}, "(c) us"),
        ({"attribution": "(c) them"}, "(c) them"),
    ],
)
def test_a_graph_has_the_attribution_of_its_source(
    save: Saver, about: dict[str, str], attribution: str
) -> None:
    network = graphml.read(save(lambda graph: graph.graph.update(about)), "city")
    assert network.source.attribution == attribution
    note = "the graph names no source, so the network has no attribution"
    assert (note in network.source.notes) == (attribution == "")


def test_an_exported_network_keeps_its_attribution(denver: RoadNetwork, tmp_path: Path) -> None:
    export(denver, tmp_path / "denver.graphml")
    again = graphml.read(tmp_path / "denver.graphml", "again")
    assert again.source.attribution == denver.source.attribution != ""


def test_ferries_and_nodes_at_null_island(save: Saver) -> None:
    def ferry(graph: nx.MultiDiGraph) -> None:
        graph.add_edge(3, 2, length=120.0, route="ferry")
        graph.add_edge(3, 2, length=120.0, name="no class of road")

    assert "3,2,0" not in graphml.read(save(ferry), "city").edge_id
    assert "3,2,1" in graphml.read(save(ferry), "city").edge_id
    with pytest.raises(NetworkFormatError, match="node 3 lies at 0,0"):
        graphml.read(save(lambda graph: graph.nodes[3].update(x=0.0, y=0.0)), "city")
    with pytest.raises(NetworkFormatError, match=r"edge '3,1,0' is [\d,]+ km long"):
        graphml.read(save(lambda graph: graph.nodes[3].update(x=6.0, y=20.0)), "city")
