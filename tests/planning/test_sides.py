"""Pins on both sides of a street: every plan is the best over all combinations of sides."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import shapely
from pyproj import Transformer
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.door.plan import plan
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.dispatch.stops import read_stops
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner
from evroute.planning.reach import charge_needed

MakeNetwork = Callable[..., RoadNetwork]
Side = tuple[int, float]
APART_M = 6.0


def beside(network: RoadNetwork, right_m: float) -> RoadNetwork:
    """Return a network of straight edges whose lines run to the right of the middle, as in SUMO."""
    x_m, y_m = (at.reshape(-1, 2) for at in (network.shape_x_m, network.shape_y_m))
    dx, dy = np.diff(x_m), np.diff(y_m)
    length_m = np.hypot(dx, dy)
    return replace(
        network,
        shape_x_m=(x_m + right_m * dy / length_m).ravel(),
        shape_y_m=(y_m - right_m * dx / length_m).ravel(),
    )


def grid(make_network: MakeNetwork, apart_m: float = APART_M) -> RoadNetwork:
    """Return nine junctions 200 m apart on a slope, and their two-way streets of two lines each."""
    corners = [
        (500_000.0 + 200 * k, 4_800_000.0 + 200 * j, 4.0 * k) for j in range(3) for k in range(3)
    ]
    pairs = [(k, k + 1) for k in range(9) if k % 3 < 2] + [(k, k + 3) for k in range(6)]
    edges = [(f"{a}-{b}", a, b) for pair in pairs for a, b in (pair, pair[::-1])]
    speed_mps = np.random.default_rng(2).uniform(5, 20, len(edges))
    return beside(make_network(edges, corners, speed_mps=speed_mps), apart_m / 2)


def sides(network: RoadNetwork, place: str) -> list[Side]:
    """Return the edges on which a pin lies, with the share of each before it, by the rule alone."""
    lat, lon = map(float, place.split(","))
    to_map = Transformer.from_crs("EPSG:4326", network.crs, always_xy=True)
    pin, lines = shapely.Point(to_map.transform(lon, lat)), lines_of(network)
    apart_m = shapely.distance(lines, pin)
    found = np.flatnonzero(apart_m <= apart_m.min() + 0.01).tolist()
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    for edge in tuple(found):
        back = [k for k, pair in enumerate(ends) if pair == ends[edge][::-1] and k != edge]
        other = min(back, key=lambda k: apart_m[k], default=None)
        fast = any("motorway" in network.road_class[k] for k in (edge, *back))
        if other is not None and not fast and apart_m[other] <= apart_m.min() + 10:
            found.append(other)
    return [(k, lines[k].project(pin, normalized=True)) for k in dict.fromkeys(found)]


def lines_of(network: RoadNetwork) -> list[shapely.LineString]:
    points = np.column_stack([network.shape_x_m, network.shape_y_m])
    return [shapely.LineString(part) for part in np.split(points, network.shape_start[1:-1])]


def pin(network: RoadNetwork, edge: int, share: float, right_m: float = 0.0) -> str:
    """Return a point to the right of a point of an edge as ``lat,lon``."""
    line = lines_of(network)[edge]
    behind = min(share, 1 - 1e-6)
    parts = share, behind, behind + 1e-6
    at, first, last = (line.interpolate(part, normalized=True) for part in parts)
    dx, dy = (last.x - first.x) / last.distance(first), (last.y - first.y) / last.distance(first)
    to_degrees = Transformer.from_crs(network.crs, "EPSG:4326", always_xy=True)
    lon, lat = to_degrees.transform(at.x + right_m * dy, at.y - right_m * dx)
    return f"{lat:.9f},{lon:.9f}"


def fastest_s(network: RoadNetwork, starts: Sequence[Side], ends: Sequence[Side]) -> float:
    """Return the least time from one of some positions to one of others, by Dijkstra's method."""
    left, entered = network.turns.T
    n, time_s = network.n_edges, network.time_s
    roads = csr_matrix((time_s[entered], (left, entered)), shape=(n, n))
    after_s = dijkstra(roads, indices=[edge for edge, _ in starts])
    found = [np.inf]
    for (start, from_share), reached_s in zip(starts, after_s, strict=True):
        for end, to_share in ends:
            begun_s = (1 - from_share) * time_s[start]
            into = left[entered == end]
            found += (begun_s + reached_s[into] + to_share * time_s[end]).tolist()
            if start == end and to_share > from_share:
                found.append((to_share - from_share) * time_s[start])
    return min(found)


def two_way(network: RoadNetwork) -> list[int]:
    """Return the edges that have a reverse."""
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    known = set(ends)
    return [edge for edge, pair in enumerate(ends) if pair[::-1] in known]


def check_all_pairs(network: RoadNetwork, pairs: int, seed: int) -> int:
    """Check that the fastest plans between random pins take the time of the best sides.

    Returns the number of trips that are slower from the nearest edges alone.
    """
    planner, rng, gained = Planner(network, physics="eq8"), np.random.default_rng(seed), 0
    for first, last in rng.choice(two_way(network), (pairs, 2)).tolist():
        places = [
            pin(network, edge, rng.uniform(0.05, 0.95), rng.uniform(-8, 8))
            for edge in (first, last)
        ]
        starts, ends = (sides(network, place) for place in places)
        best_s = fastest_s(network, starts, ends)
        route = planner.plan(*places).routes["time"]
        assert route.time_s == pytest.approx(best_s, rel=1e-6, abs=1e-3)
        gained += fastest_s(network, starts[:1], ends[:1]) > best_s + 1.0
    return gained


def test_the_fastest_plan_is_the_best_over_all_sides(make_network: MakeNetwork) -> None:
    assert check_all_pairs(grid(make_network), 40, 3) > 10


@pytest.mark.data
@pytest.mark.parametrize("city", ["luxembourg", "monaco"])
def test_the_fastest_plan_of_a_city_is_the_best_over_all_sides(
    city: str, request: pytest.FixtureRequest
) -> None:
    assert check_all_pairs(request.getfixturevalue(city), 12, 5) > 3


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_every_row_is_the_best_of_the_plans_from_one_side_to_one(
    make_network: MakeNetwork, physics: str, tmp_path: Path
) -> None:
    """A network on which no two lines are within ten metres has one side only."""
    both, one = grid(make_network), grid(make_network, apart_m=30.0)
    planner, single = Planner(both, physics=physics), Planner(one, physics=physics)
    rng = np.random.default_rng(8)
    for first, last in rng.choice(both.n_edges, (8, 2), replace=False).tolist():
        shares = rng.uniform(0.1, 0.9, 2)
        places = [pin(both, edge, share) for edge, share in zip((first, last), shares, strict=True)]
        found = planner.plan(*places).routes
        alone = [
            single.plan(*(pin(one, edge, share) for edge, share in ends)).routes
            for ends in product(*(sides(both, place) for place in places))
        ]
        assert len(alone) == 4
        for row, of in (("time", "time_s"), ("energy", "energy_wh"), ("distance", "length_m")):
            values = [getattr(routes[row], of) for routes in alone]
            assert getattr(found[row], of) == pytest.approx(min(values), rel=1e-5), row
        stops = []
        for number, place in enumerate(places):
            table = tmp_path / f"{number}.csv"
            table.write_text(f'place\n"{place}"\n')
            stops.append(read_stops(table, both, leaving=number == 0))
        energy_wh = energy_matrix(planner, *stops)[0, 0, 0]
        assert energy_wh == pytest.approx(found["energy"].energy_wh, rel=1e-9)


def test_a_pin_across_the_street_is_the_same_point(make_network: MakeNetwork) -> None:
    roads = grid(make_network)
    here, across = pin(roads, 0, 0.5, -1.0), pin(roads, 1, 0.5, -1.0)
    with pytest.raises(EvrouteError, match="are one point of"):
        plan(roads, origin=here, destination=across)
    behind = pin(roads, 0, 0.4)
    assert plan(roads, origin=here, destination=behind).routes["distance"].edges == ("1-0",)


def test_an_edge_id_is_one_side(make_network: MakeNetwork) -> None:
    roads = grid(make_network)
    planner = Planner(roads, physics="eq8")
    for start, end in (("0-1", "7-8"), ("1-0", "8-7")):
        route = planner.plan(start, end).routes["time"]
        assert (route.edges[0], route.edges[-1]) == (start, end)


@pytest.mark.parametrize("road_class", ["highway.motorway", "highway.trunk_link"])
def test_a_fast_road_has_one_side(make_network: MakeNetwork, road_class: str) -> None:
    roads = grid(make_network)
    place, behind = pin(roads, 0, 0.5), pin(roads, 0, 0.4)
    assert plan(roads, origin=place, destination=behind).routes["distance"].length_m < 25
    for fast in (0, 1):  # also where the other side alone is one
        classes = tuple(road_class if edge == fast else "" for edge in range(roads.n_edges))
        divided = replace(roads, road_class=classes)
        found = plan(divided, origin=place, destination=behind).routes["distance"]
        assert found.edges[0] == found.edges[-1] == "0-1"
        assert found.length_m > 600


def test_the_roads_of_a_range_are_reached_from_both_sides(make_network: MakeNetwork) -> None:
    roads = grid(make_network)
    planner, battery = Planner(roads, physics="eq8"), Battery(50_000.0, 25_000.0, 1000.0)
    both = charge_needed(planner, pin(roads, 4, 0.3), battery)
    one = [charge_needed(planner, roads.edge_id[edge], battery) for edge in (4, 5)]
    # the whole edges are longer ways to the same pin
    assert (both <= np.minimum(*one) + 1e-9).all()
    assert np.isfinite(both).all()


def test_a_station_is_used_from_both_sides(make_network: MakeNetwork) -> None:
    roads = grid(make_network)
    place = pin(roads, 8, 0.5, 4.0)
    lat, lon = ([float(part)] for part in place.split(","))
    table = {
        "name": ("post",),
        "lon": np.array(lon),
        "lat": np.array(lat),
        "socket": ("ac",),
        "kw": np.array([22.0]),
    }
    (station,) = stations(roads.with_tables({"chargers": table}))
    assert edges_at(roads, station) == (8, 9)
    far = grid(make_network, apart_m=14.0)
    assert edges_at(far, station) == (8,)


@pytest.mark.parametrize(("leaving", "edge"), [(True, 2), (False, 0)])
def test_a_car_at_the_end_of_its_road_gets_no_speed_for_nothing(
    make_network: MakeNetwork, leaving: bool, edge: int
) -> None:
    """A trip from or to the end of a line takes what one from two centimetres before it takes."""
    far = grid(make_network, apart_m=30.0)
    planner = Planner(far, physics="driving")
    share = 1.0 if leaving else 0.0
    values = []
    for metres in (0.0, 0.02, 0.04):
        inside = metres / float(far.length_m[edge])
        place = pin(far, edge, share - inside if leaving else share + inside)
        ends = (place, "7-8") if leaving else ("7-8", place)
        values.append(planner.plan(*ends).routes["energy"].energy_wh)
    assert values[0] == pytest.approx(values[1], abs=0.05)
    assert values[1] == pytest.approx(values[2], abs=0.05)
