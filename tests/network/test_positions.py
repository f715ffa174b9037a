from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pyproj import Transformer

from evroute.errors import EvrouteError
from evroute.network.places.positions import Position, positions
from evroute.network.road_network import RoadNetwork


@pytest.fixture
def cross(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """A street of 1 km both ways to the east, and one way to the north, in UTM zone 32."""
    x, y = 500_000.0, 4_800_000.0
    network = make_network(
        [("there", 0, 1), ("back", 1, 0), ("north", 0, 2)],
        [(x, y, 0), (x + 1000, y, 0), (x, y + 1000, 0)],
        length_m=[1000, 1100, 1000],
    )
    return replace(network, street=("East Road", "East Road", "North Road"))


def place(east_m: float, north_m: float) -> str:
    to_degrees = Transformer.from_crs("EPSG:32632", "EPSG:4326", always_xy=True)
    lon, lat = to_degrees.transform(500_000 + east_m, 4_800_000 + north_m)
    return f"{lat:.9f}, {lon:.9f}"


def test_a_point_is_projected_onto_its_road(cross: RoadNetwork) -> None:
    assert positions(cross, place(-30, 400), leaving=True) == (
        Position(2, pytest.approx(400, abs=1e-3)),
    )


@pytest.mark.parametrize("leaving", [True, False])
def test_a_two_way_street_is_one_position_in_either_direction(
    cross: RoadNetwork, leaving: bool
) -> None:
    """The way back is 1,100 m long by its source, so its shape is stretched by a tenth."""
    there, back = positions(cross, place(700, 20), leaving=leaving)
    assert there == Position(0, pytest.approx(700, abs=1e-3))
    assert back == Position(1, pytest.approx(1.1 * 300, abs=1e-3))


def test_an_edge_id_is_its_whole_edge(cross: RoadNetwork) -> None:
    assert positions(cross, "back", leaving=True) == (Position(1, 0.0),)
    assert positions(cross, "back", leaving=False) == (Position(1, 1100.0),)


def test_a_junction_is_the_start_of_edges_out_and_the_end_of_edges_in(cross: RoadNetwork) -> None:
    corner = "East Road & North Road"
    assert positions(cross, corner, leaving=True) == (Position(0, 0.0), Position(2, 0.0))
    assert positions(cross, corner, leaving=False) == (Position(1, 1100.0),)
    assert positions(cross, place(0, 0), leaving=True) == (Position(0, 0.0), Position(2, 0.0))
    (end,) = positions(cross, place(0, 0), leaving=False)
    assert end == Position(1, pytest.approx(1100, abs=1e-3))


def test_the_tip_of_a_one_way_road_is_its_end_also_for_a_start(cross: RoadNetwork) -> None:
    (tip,) = positions(cross, place(0, 1000), leaving=True)
    assert tip == Position(2, pytest.approx(1000, abs=0.01))


def test_a_point_far_from_all_roads_is_refused(cross: RoadNetwork) -> None:
    with pytest.raises(EvrouteError, match="from the nearest road"):
        positions(cross, place(-2000, 0), leaving=True)


def test_random_points_of_denver_lie_where_the_position_says(denver: RoadNetwork) -> None:
    to_degrees = Transformer.from_crs(denver.crs, "EPSG:4326", always_xy=True)
    rng, hits = np.random.default_rng(4), 0
    for edge in rng.integers(denver.n_edges, size=60).tolist():
        points = slice(denver.shape_start[edge], denver.shape_start[edge + 1])
        x, y = denver.shape_x_m[points], denver.shape_y_m[points]
        steps = np.hypot(np.diff(x), np.diff(y))
        share = rng.uniform(0.2, 0.8)
        travelled = np.concatenate([[0.0], np.cumsum(steps)])
        at = [np.interp(share * travelled[-1], travelled, each) for each in (x, y)]
        lon, lat = to_degrees.transform(*at)
        found = {p.edge: p for p in positions(denver, f"{lat:.9f},{lon:.9f}", leaving=True)}
        if edge in found:  # else another road crosses below or above
            hits += 1
            along_m = share * denver.length_m[edge]
            assert found[edge].along_m == pytest.approx(along_m, abs=0.01)
    assert hits >= 55
