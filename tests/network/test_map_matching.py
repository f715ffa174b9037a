"""Map matching: routes are found again from noisy tracks, over legal turns; what is off the network
is left out.
"""

from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import pytest

from evroute.errors import EvrouteError
from evroute.network.line_graph import LineGraph
from evroute.network.places.map_matching import MapMatcher
from evroute.planning.searches.search import Search


def track(network, edges, every_s, noise_m, rng):
    """Return positions (p, 2) in m of a drive at the limits, and the edges up to the last
    position.
    """
    import shapely

    start_s = np.concatenate([[0], np.cumsum(network.time_s[edges])])
    moments = np.arange(0, start_s[-1], every_s)
    place = np.searchsorted(start_s, moments, side="right") - 1
    points = []
    for at, moment in zip(place, moments, strict=True):
        own = slice(*network.shape_start[edges[at] : edges[at] + 2])
        line = shapely.LineString(np.column_stack([network.shape_x_m[own], network.shape_y_m[own]]))
        share = (moment - start_s[at]) / network.time_s[edges[at]]
        points.append(line.interpolate(share, normalized=True).coords[0])
    return np.array(points) + noise_m * rng.standard_normal((len(points), 2)), edges[
        : place[-1] + 1
    ]


def found_again(edges, matches) -> int:
    got = [edge for match in matches for edge in match.edges.tolist()]
    return sum(
        block.size for block in SequenceMatcher(None, list(edges), got, False).get_matching_blocks()
    )


@pytest.fixture(scope="module")
def matcher(denver) -> MapMatcher:
    return MapMatcher(denver)


@pytest.mark.parametrize(
    ("every_s", "noise_m", "least"), [(1, 5, 0.99), (5, 5, 0.98), (1, 0, 0.99)]
)
def test_routes_are_found_again(denver, matcher, every_s, noise_m, least) -> None:
    rng = np.random.default_rng(1)
    search = Search(LineGraph.from_network(denver))
    there = found = told = 0
    for _ in range(20):
        route = search.route(denver.length_m, *rng.integers(denver.n_edges, size=2))
        positions, driven = track(denver, route.rows, every_s, noise_m, rng)
        matches = matcher.match_xy(positions[:, 0], positions[:, 1])
        there += len(driven)
        found += found_again(driven.tolist(), matches)
        told += sum(len(match.edges) for match in matches)
    assert found >= least * there
    assert told <= 1.08 * there


def test_matches_follow_legal_turns_and_go_forward(denver, matcher) -> None:
    rng = np.random.default_rng(2)
    route = Search(LineGraph.from_network(denver)).route(denver.length_m, 3, 700)
    positions, _ = track(denver, route.rows, 3, 8, rng)
    (match,) = matcher.match_xy(positions[:, 0], positions[:, 1])
    legal = set(map(tuple, denver.turns.tolist()))
    assert set(zip(match.edges[:-1].tolist(), match.edges[1:].tolist(), strict=True)) <= legal
    assert np.all(np.diff(match.at_m) >= 0)
    assert np.all(np.diff(match.position) > 0)


def test_the_way_along_a_straight_road_is_exact(make_network) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (100, 0, 0), (300, 0, 0)])
    (match,) = MapMatcher(network).match_xy(
        np.array([20.0, 90.0, 150.0, 280.0]), np.array([1.0, -2.0, 3.0, 0.0])
    )
    assert match.edges.tolist() == [0, 1]
    np.testing.assert_allclose(match.at_m, [20, 90, 150, 280])


def test_a_parallel_road_that_no_turn_leads_to_is_not_taken(make_network) -> None:
    """Points halfway between two roads 8 m apart, one of which cannot be reached, even where it is
    nearer.
    """
    network = make_network(
        [("a", 0, 1), ("b", 1, 2), ("other", 3, 4)],
        [(0, 0, 0), (100, 0, 0), (300, 0, 0), (100, 8, 0), (300, 8, 0)],
    )
    x_m = np.arange(10.0, 300, 20)
    (match,) = MapMatcher(network).match_xy(x_m, np.where(x_m > 100, 4.5, 0.0))
    assert match.edges.tolist() == [0, 1]


def test_a_track_is_split_where_it_leaves_the_network_or_jumps(make_network) -> None:
    network = make_network(
        [("a", 0, 1), ("b", 1, 2), ("far", 3, 4)],
        [(0, 0, 0), (500, 0, 0), (900, 0, 0), (5000, 0, 0), (5900, 0, 0)],
    )
    x_m = np.array([10, 60, 110, 160, 210, 260, 310, 5100, 5200])
    y_m = np.array([0, 0, 0, 400, 0, 0, 0, 0, 0])
    matches = MapMatcher(network).match_xy(x_m, y_m)
    assert [match.position.tolist() for match in matches] == [[0, 1, 2], [4, 5, 6], [7, 8]]
    assert MapMatcher(network).match_xy(x_m, y_m + 1000.0) == []


def test_positions_off_the_globe_are_refused(matcher) -> None:
    with pytest.raises(EvrouteError, match="no place on the earth"):
        matcher.match(np.array([95.0, 39.7]), np.array([-105.0, -105.0]))


@pytest.mark.parametrize(("off_m", "parts"), [(60.0, 1), (400.0, 2)])
def test_positions_off_the_roads_are_skipped_where_a_way_around_is_as_long(
    make_network, off_m, parts
) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (500, 0, 0), (1000, 0, 0)])
    x_m = np.arange(50.0, 960.0, 50.0)
    y_m = np.where((x_m > 300) & (x_m < 700), off_m, 0.0)
    matches = MapMatcher(network).match_xy(x_m, y_m)
    assert len(matches) == parts
    if parts == 1:
        assert matches[0].edges.tolist() == [0, 1]
        assert len(matches[0].position) == np.sum(y_m == 0)


def test_a_hairpin_on_one_edge_does_not_split_a_drive(make_network) -> None:
    """Two legs 15 m apart, 400 m each: noise moves positions from one leg to the other."""
    network = make_network([("hairpin", 0, 1), ("on", 1, 2)], [(0, 0, 0), (0, 15, 0), (0, 215, 0)])
    shape = np.array([(0, 0), (400, 0), (400, 15), (0, 15), (0, 15), (0, 215)], dtype=float)
    lengths_m = np.array([815.0, 200.0])
    network = replace(
        network,
        shape_start=np.array([0, 4, 6]),
        shape_x_m=shape[:, 0],
        shape_y_m=shape[:, 1],
        length_m=lengths_m,
    )
    way_m = np.arange(0.0, 1010.0, 25.0)
    along_m = np.append(0.0, np.cumsum(np.hypot(*np.diff(shape, axis=0).T)))
    x_m, y_m = (np.interp(way_m, along_m, shape[:, axis]) for axis in (0, 1))
    for seed in range(10):
        noise_m = 6.0 * np.random.default_rng(seed).standard_normal((2, len(way_m)))
        matches = MapMatcher(network).match_xy(x_m + noise_m[0], y_m + noise_m[1])
        assert [match.edges.tolist() for match in matches] == [[0, 1]]
        off_m = matches[0].at_m - way_m[matches[0].position]
        assert np.abs(off_m).max() < 40.0
