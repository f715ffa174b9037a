"""A network as the ecosystem knows it: against NetworkX's own line graph, and back from OSMnx."""

from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import numpy as np
import osmnx
import pytest
from shapely.geometry import LineString, Point

from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NetworkFormatError
from evroute.network.road_network import RoadNetwork

MakeNetwork = Callable[..., RoadNetwork]


@pytest.fixture
def ring(make_network: MakeNetwork) -> RoadNetwork:
    """A street of both directions, two parallel edges, a loop at a junction, and a way back."""
    corners = [(5e5, 5.4e6, 10.0), (5.003e5, 5.4e6, 13.0), (5.003e5, 5.404e6, 9.0)]
    edges = [
        *(("there", 0, 1), ("back", 1, 0), ("left", 1, 2), ("right", 1, 2)),
        *(("home", 2, 0), ("loop", 2, 2)),
    ]
    length_m = [310.0, 310.0, 4010.0, 4500.0, 4100.0, 50.0]
    return make_network(edges, corners, length_m=length_m, name="ring")


@pytest.mark.parametrize("with_loop", [False, True])
def test_the_line_graph_equals_networkx_less_the_turns_not_allowed(
    ring: RoadNetwork, with_loop: bool
) -> None:
    network = ring if with_loop else ring.subset(np.array(ring.edge_id) != "loop")
    graph = network.to_networkx()
    named = {(u, v, key): data["edge_id"] for u, v, key, data in graph.edges(keys=True, data=True)}
    expected = nx.DiGraph(nx.relabel_nodes(nx.line_graph(graph), named))
    every = set(expected.edges)
    allowed = {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns}
    assert allowed < every
    expected.remove_edges_from(every - allowed)
    found = network.line_graph()
    assert type(found) is nx.DiGraph
    assert set(found) == set(expected) == set(network.edge_id)
    assert set(found.edges) == set(expected.edges)
    assert {"left", "right"} <= set(found["there"])  # parallel edges are two nodes
    assert ("there", "back") in every
    assert not found.has_edge("there", "back")  # turning back is not allowed here


def test_the_line_graph_of_denver_equals_networkx_less_the_turns_not_allowed(
    denver: RoadNetwork,
) -> None:
    graph = denver.to_networkx()
    named = {(u, v, key): data["edge_id"] for u, v, key, data in graph.edges(keys=True, data=True)}
    every = set(nx.DiGraph(nx.relabel_nodes(nx.line_graph(graph), named)).edges)
    found, meet = denver.line_graph(), denver.head[:, None] == denver.tail[None, :]
    assert len(every) == meet.sum()
    assert len(found.edges) == len(denver.turns) < len(every)
    assert set(found.edges) <= every


def test_nodes_of_the_line_graph_have_contexts_and_prior(ring: RoadNetwork) -> None:
    prior = fit(ring, load_vehicle("reference"))
    graph = ring.line_graph(prior)
    assert graph.nodes["left"] == {
        "length_m": 4010.0,
        "speed_mps": 10.0,
        "incline_rad": pytest.approx(np.arcsin(-4 / 4010)),
        "street": "",
        "road_class": "",
        "prior_mean_wh": prior.mean_wh[2],
        "prior_std_wh": prior.std_wh[2],
    }
    assert "prior_mean_wh" not in ring.line_graph().nodes["left"]


def test_tables_have_lines_and_points_in_wgs84(ring: RoadNetwork) -> None:
    edges, junctions = ring.edges, ring.junctions
    assert edges.crs == junctions.crs == "EPSG:4326"
    assert tuple(edges["edge_id"]) == ring.edge_id
    metric = edges.to_crs(ring.crs)
    assert metric.geometry[0].equals_exact(LineString([(5e5, 5.4e6), (5.003e5, 5.4e6)]), 1e-3)
    assert junctions.to_crs(ring.crs).geometry[2].equals_exact(Point(5.003e5, 5.404e6), 1e-3)
    assert edges["climb_m"].tolist() == pytest.approx([3, -3, -4, -4, 1, 0])
    assert junctions["elevation_m"].tolist() == [10, 13, 9]
    edges["length_m"] = 0.0  # a table of the reader's own
    assert ring.edges["length_m"].tolist() == ring.length_m.tolist()


def test_a_network_comes_back_from_its_osmnx_graph(denver: RoadNetwork) -> None:
    graph = denver.to_networkx()
    back = RoadNetwork.from_osmnx(graph, "again")
    rows = [back.row_of[edge_id] for edge_id in denver.edge_id]
    assert back.name == "again"
    assert back.n_edges == denver.n_edges
    assert back.source.attribution == denver.source.attribution
    for column in ("length_m", "speed_mps", "climb_m", "structure"):
        assert getattr(back, column)[rows] == pytest.approx(getattr(denver, column), abs=1e-6)
    pairs = zip(denver.tail, denver.head, strict=True)
    ends = [(denver.junction_id[a], denver.junction_id[b]) for a, b in pairs]
    assert [(back.junction_id[back.tail[r]], back.junction_id[back.head[r]]) for r in rows] == ends
    # a graph holds no restrictions: every turn of the network is among those of edges that meet
    turns = {(back.edge_id[a], back.edge_id[b]) for a, b in back.turns}
    onwards = denver.turns[denver.tail[denver.turns[:, 0]] != denver.head[denver.turns[:, 1]]]
    assert {(denver.edge_id[a], denver.edge_id[b]) for a, b in onwards} <= turns


def test_a_graph_that_osmnx_made_needs_no_file() -> None:
    """Whole numbers as nodes, classes with OSMnx's imputed speeds, a way that is closed to cars."""
    graph = nx.MultiDiGraph(crs="epsg:4326", created_with="OSMnx 2")
    for node, (x, y) in enumerate([(6.0, 49.0), (6.01, 49.0), (6.01, 49.01)]):
        graph.add_node(node, x=x, y=y)
    graph.add_edge(0, 1, osmid=1, highway="primary", maxspeed="70", name="Main", length=740.0)
    graph.add_edge(1, 2, osmid=2, highway="residential", maxspeed="30", length=1115.0)
    graph.add_edge(2, 0, osmid=3, highway="footway", length=1400.0)
    network = RoadNetwork.from_osmnx(osmnx.add_edge_speeds(graph))
    assert network.edge_id == ("0,1,0", "1,2,0")
    assert network.junction_id == ("0", "1", "2")
    assert 3.6 * network.speed_mps == pytest.approx([70, 30])
    assert network.street == ("Main", "")
    assert network.turns.tolist() == [[0, 1]]
    assert "OpenStreetMap" in network.source.attribution
    with pytest.raises(NetworkFormatError, match="no direction"):
        RoadNetwork.from_osmnx(nx.MultiGraph(graph))


def test_an_edge_without_a_length_is_refused_in_one_line(denver: RoadNetwork) -> None:
    graph = replace(denver, name="damaged").to_networkx()
    u, v, key = next(iter(graph.edges(keys=True)))
    del graph.edges[u, v, key]["length"]
    with pytest.raises(NetworkFormatError, match="has no number 'length'"):
        RoadNetwork.from_osmnx(graph)


def mirrored(network: RoadNetwork) -> set[frozenset[str]]:
    """Streets by the ids of their edges: opposite edges with one line, compared by shapely."""
    lines = network.lines(*network.lon_lat)
    streets = set()
    for edge, (tail, head) in enumerate(zip(network.tail, network.head, strict=True)):
        same = [
            other
            for other in np.flatnonzero((network.tail == head) & (network.head == tail))
            if lines[other].reverse().equals_exact(lines[edge], 0.0)
        ]
        streets.add(frozenset(network.edge_id[k] for k in (edge, *same)))
    return streets


def test_directions_of_a_street_share_an_osmid(denver: RoadNetwork, ring: RoadNetwork) -> None:
    for network in (denver, ring):
        streets: dict[int, set[str]] = {}
        for _, _, data in network.to_networkx().edges(data=True):
            streets.setdefault(data["osmid"], set()).add(data["edge_id"])
        assert set(map(frozenset, streets.values())) == mirrored(network)


def test_osmnx_counts_the_streets_of_a_network(denver: RoadNetwork, ring: RoadNetwork) -> None:
    for network in (denver, ring):
        graph = network.to_networkx()
        counted = osmnx.stats.count_streets_per_node(graph)
        assert dict(graph.nodes(data="street_count")) == counted
    statistics = osmnx.basic_stats(denver.to_networkx())
    assert statistics["n"] == denver.n_junctions
    assert statistics["edge_length_total"] == pytest.approx(denver.length_m.sum())
    assert statistics["street_segment_count"] == len(mirrored(denver))


def test_statistics_of_an_osmnx_graph_equal_its_network(denver: RoadNetwork) -> None:
    """The graph of an OSMnx user, whose osmids are ways, beside the network's own graph."""
    graph = denver.to_networkx()
    for _, _, data in graph.edges(data=True):
        data["osmid"] = [data["osmid"], 10_000 + data["osmid"]]  # simplified: several ways
    back = RoadNetwork.from_osmnx(graph).to_networkx()
    expected, found = osmnx.basic_stats(graph), osmnx.basic_stats(back)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-6), name
