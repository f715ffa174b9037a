"""Every change of a network keeps the optional tables, or their rows, that it does not touch."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import closures
import numpy as np
import pytest

from evroute.errors import NetworkFormatError
from evroute.network import catalog, contraction
from evroute.network.heights.profile import on_terrain
from evroute.network.optional_tables import TABLES
from evroute.network.places.street_names import add_names
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Socket, Station
from evroute.network.sources.chargers import with_stations

CLOSED = 4


@pytest.fixture
def roads(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """Two blocks both ways, and a one-way street that leaves them, with a table of every name."""
    x, y = 500_000.0, 4_800_000.0
    corners = [(x + 300 * k, y, 2.0 * k) for k in range(3)] + [(x, y + 300, 1.0), (x, y + 900, 1.0)]
    pairs = [(0, 1), (1, 2), (0, 3), (3, 1)]
    edges = [(f"{a}-{b}", a, b) for pair in pairs for a, b in (pair, pair[::-1])]
    network = make_network([*edges, ("off", 3, 4)], corners)
    back = [k ^ 1 for k in range(8)]
    turns = np.vstack([network.turns, np.column_stack([np.arange(8), back])])
    network = replace(network, turns=np.unique(turns, axis=0), street=("A",) * 4 + ("B",) * 5)
    rng, n, m = np.random.default_rng(1), network.n_edges, len(network.turns)
    inner, points = rng.integers(0, 3, n), rng.integers(0, 4, m)
    lon, lat = (degrees[:1] + 1e-4 for degrees in network.junction_lon_lat)
    socket = {"socket": ("ac",), "kw": np.array([11.0]), "assumed": ("",)}
    tables = {
        "profile": {
            "start": np.append(0, np.cumsum(inner)),
            "height_m": rng.normal(0, 1, inner.sum()).astype(np.float32),
        },
        "names": {"junction": tuple(f"corner {k}" for k in range(5))},
        "places": {"name": ("Car park",), "lon": lon, "lat": lat},
        "chargers": {"name": ("Post",), "lon": lon, "lat": lat, **socket},
        "cch": {"order": rng.permutation(n)},
        "shape": {"z_m": rng.normal(0, 1, len(network.shape_x_m))},
        "crossings": {
            "lane_m": rng.uniform(1, 9, n),
            "turn_m": rng.uniform(1, 9, m),
            "start": np.append(0, np.cumsum(points)),
            "x_m": rng.normal(0, 1, points.sum()),
            "y_m": rng.normal(0, 1, points.sum()),
        },
    }
    assert tables.keys() == TABLES.keys()
    return network.with_tables(tables)


def listed(network: RoadNetwork, name: str) -> Any:
    """Return the content of a table by the ids of edges, turns and junctions."""
    table, ids = network.tables[name], network.edge_id
    turns = [(ids[a], ids[b]) for a, b in network.turns.tolist()]
    if name == "names":
        return dict(zip(network.junction_id, table["junction"], strict=True))
    if name == "cch":
        return [ids[row] for row in table["order"]]
    if name == "profile":
        return dict(zip(ids, runs(table, "height_m"), strict=True))
    if name == "crossings":
        shapes = zip(runs(table, "x_m"), runs(table, "y_m"), strict=True)
        lane_m = dict(zip(ids, table["lane_m"].tolist(), strict=True))
        values = zip(table["turn_m"].tolist(), shapes, strict=True)
        return lane_m, dict(zip(turns, values, strict=True))
    return {column: list(values) for column, values in table.items()}


def runs(table: Any, column: str) -> list[list[float]]:
    """Return the values of each row of a table with several a row."""
    return [part.tolist() for part in np.split(table[column], table["start"][1:-1])]


def built(network: RoadNetwork) -> RoadNetwork:
    return catalog.build(network, smoothing_m=0.0, checked=False)


def named(network: RoadNetwork) -> RoadNetwork:
    return add_names(network, network.changed(street=("C",) * network.n_edges))


def equipped(network: RoadNetwork) -> RoadNetwork:
    lon, lat = (float(degrees[1]) for degrees in network.junction_lon_lat)
    station = Station("Other", lon, lat, (Socket("ac", 11.0),))
    return with_stations(network, [station], "")[0]


@pytest.mark.parametrize(
    ("change", "touched"),
    [
        (named, {"names"}),
        (equipped, {"chargers"}),
        (lambda network: on_terrain(network, "edge"), {"profile"}),
        (lambda network: network.changed(name="other"), set()),
        (lambda network: network.changed(speed_mps=2 * network.speed_mps), set()),
        (
            lambda network: network.changed(elevation_m=0 * network.elevation_m),
            {"profile", "shape"},
        ),
    ],
)
def test_a_change_keeps_every_table_that_it_does_not_touch(
    roads: RoadNetwork, change: Callable[[RoadNetwork], RoadNetwork], touched: set[str]
) -> None:
    other = change(roads)
    for name in TABLES.keys() - touched:
        assert listed(other, name) == listed(roads, name), name
    for name in touched:
        assert name not in other.tables or listed(other, name) != listed(roads, name), name


def check_part(part: RoadNetwork, whole: RoadNetwork) -> None:
    """Check that profile, order and crossings are those of the whole network at its ids."""
    assert set(part.edge_id) < set(whole.edge_id)
    heights = listed(whole, "profile")
    assert listed(part, "profile") == {edge: heights[edge] for edge in part.edge_id}
    left = [edge for edge in listed(whole, "cch") if edge in part.row_of]
    assert listed(part, "cch") == left
    lane_m, turns = listed(whole, "crossings")
    own_lane_m, own_turns = listed(part, "crossings")
    assert own_lane_m == {edge: lane_m[edge] for edge in part.edge_id}
    assert own_turns == {turn: turns.get(turn, (0.0, ([], []))) for turn in own_turns}


def test_a_part_has_its_rows_of_the_tables(roads: RoadNetwork) -> None:
    part = roads.strongest_component()
    assert part.n_edges == roads.n_edges - 1
    check_part(part, roads)
    for name in ("places", "chargers"):
        assert listed(part, name) == listed(roads, name)
    assert not {"names", "shape"} & part.tables.keys()


def test_a_built_network_keeps_crossings_and_gets_its_own_order(roads: RoadNetwork) -> None:
    # heights of rasters and of shapes are sampled anew
    network = built(roads)
    lane_m, turns = listed(roads, "crossings")
    own_lane_m, own_turns = listed(network, "crossings")
    assert own_lane_m.items() < lane_m.items()
    assert own_turns.items() < turns.items()
    assert listed(network, "places") == listed(roads, "places")
    assert listed(network, "chargers") == listed(roads, "chargers")
    assert "shape" not in network.tables


def test_a_network_without_closed_roads_has_its_rows_of_the_tables(roads: RoadNetwork) -> None:
    network = roads.strongest_component()
    closed = np.arange(network.n_edges) == CLOSED
    left = closures.close(network, closed, "closed")
    assert left.n_edges == network.n_edges - 1
    check_part(left, network)
    for name in ("places", "chargers"):
        assert listed(left, name) == listed(network, name)


def test_new_turns_have_no_length_and_the_others_keep_theirs(roads: RoadNetwork) -> None:
    fewer = roads.changed(turns=roads.turns[2:])
    more = fewer.changed(turns=roads.turns)
    lengths = listed(roads, "crossings")[1]
    for k, (turn, found) in enumerate(listed(more, "crossings")[1].items()):
        assert found == (lengths[turn] if k > 1 else (0.0, ([], [])))


def test_a_damaged_table_of_a_part_is_refused_when_it_is_used(roads: RoadNetwork) -> None:
    damaged = roads.with_tables({"crossings": {"lane_m": np.ones(1), "turn_m": np.ones(1)}})
    part = damaged.strongest_component()
    with pytest.raises(NetworkFormatError, match="the table 'crossings' of the network is damaged"):
        part.tables["crossings"]


@pytest.mark.data
def test_the_named_networks_of_the_data_folder_have_their_order(
    luxembourg: RoadNetwork, monaco: RoadNetwork
) -> None:
    pytest.importorskip("routingkit_cch")
    for city in (luxembourg, monaco):
        assert any("street names from" in note for note in city.source.notes)
        assert contraction.stored_order(city) is not None
