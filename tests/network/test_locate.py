from collections.abc import Callable

import numpy as np
import pytest
import shapely
from pyproj import Transformer

from evroute.errors import EvrouteError, UnknownNameError
from evroute.network.places.locate import locate
from evroute.network.road_network import RoadNetwork


@pytest.fixture
def cross(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """A street both ways to the east, and one way to the north, from (500000, 4800000) in UTM zone
    32.
    """
    x, y = 500_000.0, 4_800_000.0
    return make_network(
        [("there", 0, 1), ("back", 1, 0), ("north#1", 0, 2)],
        [(x, y, 0), (x + 1000, y, 0), (x, y + 1000, 0)],
    )


def place(east_m: float, north_m: float) -> str:
    to_degrees = Transformer.from_crs("EPSG:32632", "EPSG:4326", always_xy=True)
    lon, lat = to_degrees.transform(500_000 + east_m, 4_800_000 + north_m)
    return f"{lat:.9f}, {lon:.9f}"


def test_an_edge_id_is_found_exactly(cross: RoadNetwork) -> None:
    assert [locate(cross, edge_id) for edge_id in cross.edge_id] == [(0,), (1,), (2,)]


def test_ids_with_commas_are_ids_and_not_places(denver: RoadNetwork) -> None:
    assert denver.edge_id[7].count(",") == 2
    assert locate(denver, denver.edge_id[7]) == (7,)


def test_a_place_takes_the_nearest_edge(cross: RoadNetwork) -> None:
    assert locate(cross, place(3, 400)) == (cross.row_of["north#1"],)
    assert locate(cross, place(-499, 700)) == (cross.row_of["north#1"],)


def test_a_place_on_a_two_way_street_is_found_on_both_directions(cross: RoadNetwork) -> None:
    both = cross.row_of["there"], cross.row_of["back"]
    assert locate(cross, place(700, 20)) == locate(cross, place(700, -20)) == both


def test_places_on_denver_agree_with_the_distance_to_every_edge(denver: RoadNetwork) -> None:
    points = np.column_stack([denver.shape_x_m, denver.shape_y_m])
    lines = [shapely.LineString(part) for part in np.split(points, denver.shape_start[1:-1])]
    to_degrees = Transformer.from_crs(denver.crs, "EPSG:4326", always_xy=True)
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = points[rng.integers(len(points))] + rng.normal(0, 30, 2)
        lon, lat = to_degrees.transform(x, y)
        distances = shapely.distance(lines, shapely.Point(x, y))
        assert (
            distances[list(locate(denver, f"{lat:.9f},{lon:.9f}"))].max() <= distances.min() + 0.01
        )


def test_an_id_that_looks_like_a_place_suggests_near_ones(denver: RoadNetwork) -> None:
    tail, head, _ = denver.edge_id[7].split(",")
    with pytest.raises(EvrouteError, match=denver.edge_id[7]):
        locate(denver, f"{tail},{head}")


def test_an_unknown_id_suggests_near_ones(cross: RoadNetwork) -> None:
    with pytest.raises(UnknownNameError, match=r"has no edge 'north#2'. Similar ids: north#1"):
        locate(cross, "north#2")


def test_text_unlike_any_id_gets_the_accepted_forms(cross: RoadNetwork) -> None:
    with pytest.raises(UnknownNameError, match="Give street names, 'lat,lon' or an edge id"):
        locate(cross, "?")


def test_a_place_far_from_any_road_says_how_far(cross: RoadNetwork) -> None:
    with pytest.raises(
        EvrouteError, match=r"lies 2\.0 km from the nearest road of network 'toy' \(at most 500 m\)"
    ):
        locate(cross, place(-2000, 0))


@pytest.mark.parametrize("text", ["91,9", "43,181", "-90.5,0"])
def test_a_place_that_is_not_on_the_earth_is_refused(cross: RoadNetwork, text: str) -> None:
    with pytest.raises(EvrouteError, match="no place on the earth"):
        locate(cross, text)


def test_a_place_beyond_the_projection_is_refused_or_far(cross: RoadNetwork) -> None:
    with pytest.raises(EvrouteError):
        locate(cross, "0,-81")


@pytest.mark.parametrize("place", [5, 5.0, None, ("in",), b"in"])
def test_places_that_are_no_text_are_refused_with_the_way_to_write_them(
    cross: RoadNetwork, place: object
) -> None:
    with pytest.raises(UnknownNameError, match="Give ids as text, such as '"):
        locate(cross, place)  # type: ignore[arg-type]
