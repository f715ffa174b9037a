"""Shapes of edges as lines."""

from itertools import pairwise

import numpy as np
import pytest

from evroute.network import crossings
from evroute.network.coordinates import WGS84, transformer
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.report.lines import edge_heights, edge_line, road_lines, route_line, thin_lines


def test_a_route_is_one_line_without_doubled_points(hill: RoadNetwork) -> None:
    line = route_line(hill, Stretches.whole(hill, np.array([0, 1, 2])))
    assert line == [*edge_line(hill, 0), edge_line(hill, 1)[1], edge_line(hill, 2)[1]]


def test_an_edge_moves_sideways_to_the_lane_of_its_turn(make_network) -> None:
    """The turn leaves and enters lanes 3 m beside the lanes that the edges have as shapes."""
    x, y = 500_000.0, 4_800_000.0
    roads = make_network(
        [("in", 0, 1), ("out", 1, 2)], [(x, y, 0), (x + 100, y, 0), (x + 200, y, 0)]
    )
    turn = np.array([[x + 95, y + 3], [x + 105, y + 3]])
    table = crossings.table_of(np.array([95.0, 95.0]), np.array([10.0]), [turn])
    line = np.array(route_line(roads.with_tables(table), Stretches.whole(roads, np.arange(2))))
    found = np.column_stack(transformer(WGS84, roads.crs).transform(*line.T)) - [x, y]
    np.testing.assert_allclose(found, [[0, 0], [95, 3], [105, 3], [200, 0]], atol=0.1)


def test_lines_start_and_end_at_the_junctions(denver: RoadNetwork) -> None:
    lon, lat = denver.junction_lon_lat
    for edge in (0, 500, denver.n_edges - 1):
        ends = np.array([edge_line(denver, edge)[k] for k in (0, -1)])
        junctions = [denver.tail[edge], denver.head[edge]]
        np.testing.assert_allclose(
            ends, np.column_stack([lon[junctions], lat[junctions]]), atol=1e-6
        )


def test_heights_run_evenly_from_junction_to_junction(denver: RoadNetwork) -> None:
    edge = int(np.diff(denver.shape_start).argmax())
    heights_m = edge_heights(denver, edge)
    assert len(heights_m) == len(edge_line(denver, edge))
    assert heights_m[0] == denver.elevation_m[denver.tail[edge]]
    assert heights_m[-1] == pytest.approx(denver.elevation_m[denver.head[edge]])
    assert (np.sign(np.diff(heights_m)) == np.sign(denver.climb_m[edge])).all()


def test_thinning_keeps_every_street_and_draws_its_two_directions_once(make_network) -> None:
    there_and_back = make_network(
        [("ab", 0, 1), ("ba", 1, 0), ("bc", 1, 2)], [(0, 0, 0), (100, 0, 0), (100, 90, 0)]
    )
    assert len(thin_lines(there_and_back, np.arange(3))) == 2


def test_thin_lines_stay_within_two_metres(denver: RoadNetwork) -> None:
    import shapely

    full = shapely.MultiLineString([edge_line(denver, edge) for edge in range(denver.n_edges)])
    thin = shapely.MultiLineString(road_lines(denver))
    assert shapely.hausdorff_distance(full, thin) < 2e-5
    assert shapely.get_num_coordinates(thin) < shapely.get_num_coordinates(full) / 2


def test_thin_lines_are_the_lesser_direction_of_each_shape(
    denver: RoadNetwork, monaco: RoadNetwork
) -> None:
    import shapely

    for network in (denver, monaco):
        lon, lat = network.lon_lat
        wanted: dict[tuple[tuple[float, ...], ...], None] = {}
        for first, end in pairwise(network.shape_start.tolist()):
            shape = shapely.simplify(shapely.linestrings(lon[first:end], lat[first:end]), 1e-5)
            line = tuple((round(x, 5), round(y, 5)) for x, y in shape.coords)
            wanted[min(line, line[::-1])] = None
        assert list(map(tuple, road_lines(network))) == list(wanted)
        assert thin_lines(network, np.arange(0)) == []
