"""Roads that are closed are gone, and so is what cannot be reached without them."""

from collections.abc import Callable

import numpy as np
import pytest

from evroute.errors import EvrouteError, UnknownNameError
from evroute.network import closures
from evroute.network.road_network import RoadNetwork


def test_closed_edges_and_edges_that_they_cut_off_are_gone(hill: RoadNetwork) -> None:
    left = closures.close(hill, closures.named(hill, ["up"]), "roadworks")
    assert left.name == "roadworks"
    assert set(left.edge_id) == set(hill.edge_id) - {"up", "down"}
    assert left.source.notes[-1] == "closed in 'hill': 1 edges (up), 1 more are cut off"
    row = [hill.row_of[e] for e in left.edge_id]
    assert left.climb_m.tolist() == hill.climb_m[row].tolist()


def test_edges_are_named_by_their_ids(hill: RoadNetwork) -> None:
    closed = closures.named(hill, ["up", "down", "east"])
    assert [hill.edge_id[e] for e in np.flatnonzero(closed)] == ["up", "down", "east"]
    with pytest.raises(UnknownNameError, match="has no edge 'nowhere'"):
        closures.named(hill, ["up", "nowhere"])


def test_an_area_closes_the_edges_that_touch_it(hill: RoadNetwork) -> None:
    lon, lat = hill.junction_lon_lat
    top = 5  # where east meets west
    box = f"{lat[top] - 1e-4},{lon[top] - 1e-4},{lat[top] + 1e-4},{lon[top] + 1e-4}"
    closed = closures.within(hill, box)
    assert {hill.edge_id[e] for e in np.flatnonzero(closed)} == {"east", "west"}


def test_a_closure_of_nothing_or_everything_is_refused(hill: RoadNetwork) -> None:
    with pytest.raises(EvrouteError, match="no edge of network 'hill' is closed"):
        closures.close(hill, closures.within(hill, "-89,0,-88,1"), "x")
    with pytest.raises(EvrouteError, match="every edge of network 'hill' is closed"):
        closures.close(hill, np.ones(hill.n_edges, dtype=bool), "x")
    for area in ("1,2,3", "1,2,3,x", "works.geojson"):
        with pytest.raises(EvrouteError, match="is not two corners: lat,lon,lat,lon"):
            closures.within(hill, area)


def test_cars_turn_round_where_every_way_on_is_closed(
    make_network: Callable[..., RoadNetwork],
) -> None:
    ends = [(0, 1), (1, 2), (2, 3), (3, 0)]
    edges = [(f"{a}{b}", a, b) for x, y in ends for a, b in ((x, y), (y, x))]
    square = make_network(edges, [(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0)])
    left = closures.close(square, closures.named(square, ["12", "21"]), "roadworks")
    assert set(left.edge_id) == set(square.edge_id) - {"12", "21"}
    u_turns = {
        (left.edge_id[a], left.edge_id[b]) for a, b in left.turns if left.tail[a] == left.head[b]
    }
    assert u_turns == {("01", "10"), ("32", "23")}
