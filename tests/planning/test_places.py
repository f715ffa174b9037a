"""Places of a request by name: their edges, the errors, and the names that a plan shows."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import evroute
from evroute.door.plan import plan
from evroute.errors import EvrouteError
from evroute.network.line_graph import LineGraph
from evroute.network.places import names
from evroute.network.places.locate import nearest
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import answer_all, answer_energies, document
from evroute.planning.dispatch.stops import read_stops
from evroute.planning.matrix import VALUES, energy_matrix
from evroute.planning.places import places_of, stops
from evroute.planning.planner import Planner
from evroute.planning.searches.search import Search

FROM, VIA, TO = "Blake Street & 17th Street", "Market Street & 15th Street", "17th avenue, pearl st"


def test_edges_at_junctions_are_chosen_by_the_fastest_trip(denver: RoadNetwork) -> None:
    search, rng = Search(LineGraph.from_network(denver)), np.random.default_rng(4)
    junctions = [label for label in names.labels(denver) if "(" not in label]
    for start, end in rng.choice(junctions, (12, 2), replace=False):
        found = stops(denver, None, (start, end))
        leaving, arriving = (
            [
                row
                for row in range(denver.n_edges)
                if ends[row] in names.find(denver, text)[0].junctions
            ]
            for text, ends in ((start, denver.tail), (end, denver.head))
        )
        times_s = {
            pair: denver.time_s[list(search.route(denver.time_s, *pair).edges)].sum()
            for pair in product(leaving, arriving)
        }
        assert times_s[found] == pytest.approx(min(times_s.values()))


def test_names_serve_the_command_line_python_and_batches_alike(denver: RoadNetwork) -> None:
    by_name = plan(denver, origin=FROM, destination=TO, via=[VIA])
    rows = [{"id": "x", "from": FROM, "via": VIA, "to": TO}]
    planner = evroute.Planner(denver)
    (answer,) = answer_all(iter(rows), lambda *_: planner)
    assert answer == {"id": "x", **document(by_name)}
    assert document(planner.plan(FROM, TO, via=[VIA])) == document(by_name)
    assert document(plan(denver, waypoints=(FROM, VIA, TO))) == document(by_name)
    assert by_name.titles == (FROM, VIA, "East 17th Avenue & Pearl Street")
    assert (answer["origin_name"], answer["via_names"]) == (FROM, [VIA])
    assert answer["destination_name"] == "East 17th Avenue & Pearl Street"


def test_a_plan_lists_the_streets_of_its_edges(denver: RoadNetwork) -> None:
    for route in plan(denver, trip="C", soc_percent=50).routes.values():
        own = [denver.street[row] for row in route.route.edges]
        expected = [street for k, street in enumerate(own) if k == 0 or own[k - 1] != street]
        assert [street.name for street in route.streets] == expected
        length_m = [
            sum(denver.length_m[row] for row in route.route.edges if denver.street[row] == street)
            for street in dict.fromkeys(own)
        ]
        totals = dict.fromkeys(own, 0.0)
        for stretch in route.streets:
            totals[stretch.name] += stretch.length_m
        assert list(totals.values()) == pytest.approx(length_m)
        assert sum(s.energy_wh for s in route.streets) == pytest.approx(route.edge_wh.sum())


def test_one_place_twice_is_no_trip_and_the_next_corner_is_one_block(denver: RoadNetwork) -> None:
    corners = {names.junction_label(denver, row): row for row in range(denver.n_junctions)}
    ends = [names.route_ends(denver, (edge, edge)) for edge in range(denver.n_edges)]
    blocks = [
        (edge, pair)
        for edge, pair in enumerate(ends)
        if pair[0] != pair[1] and corners.keys() >= set(pair)
    ]
    blocks = [each for each in blocks if all(len(names.find(denver, end)) == 1 for end in each[1])]
    assert len(blocks) > 500
    with pytest.raises(
        EvrouteError, match=r"two successive places are .* Choose places further apart"
    ):
        places_of(denver, None, (FROM, FROM))
    planner, driven = Planner(denver, physics="eq8"), 0
    for edge, pair in blocks[::50]:
        shortest = planner.plan(*pair).routes["distance"]
        assert shortest.length_m <= denver.length_m[edge] + 1e-9
        driven += shortest.route.edges == (edge,)
        with pytest.raises(EvrouteError, match="one place or the ends of one road"):
            stops(denver, None, pair)
    assert driven > 5


def test_a_round_trip_over_another_place_is_one(denver: RoadNetwork) -> None:
    edges = plan(denver, origin=FROM, destination=FROM, via=[VIA]).routes["energy"].route.edges
    assert denver.tail[edges[0]] == denver.head[edges[-1]]


@pytest.mark.parametrize(
    "options",
    [
        {"origin": FROM},
        {"destination": TO},
        {"via": [VIA]},
        {"origin": FROM, "destination": TO, "waypoints": (FROM, TO)},
        {"origin": FROM, "destination": TO, "trip": "A"},
    ],
)
def test_places_are_given_in_one_way(denver: RoadNetwork, options: dict[str, object]) -> None:
    with pytest.raises(EvrouteError, match="give "):
        plan(denver, **options)  # type: ignore[arg-type]


def pin(network: RoadNetwork, edge: int, metres: float) -> str:
    """Return the coordinates of a point of an edge, its shape stretched to its length."""
    points = slice(*network.shape_start[edge : edge + 2].tolist())
    x_m, y_m = network.shape_x_m[points], network.shape_y_m[points]
    along_m = np.append(0.0, np.cumsum(np.hypot(np.diff(x_m), np.diff(y_m))))
    share = metres / float(network.length_m[edge])
    lat, lon = (
        np.interp(share * along_m[-1], along_m, each[points]) for each in network.lon_lat[::-1]
    )
    return f"{lat:.10f},{lon:.10f}"


def test_two_pins_on_one_road_are_as_far_apart_at_every_door(
    denver: RoadNetwork, tmp_path: Path
) -> None:
    """Of the longest road, 293 m, 200 m are driven; 10 m further they are 210 m."""
    planner, edge = Planner(denver, physics="eq8"), int(np.argmax(denver.length_m))
    whole_wh, whole_s = planner.mean_wh[edge], planner.time_s[edge]
    for end_m in (260.0, 270.0):
        ends = pin(denver, edge, 60.0), pin(denver, edge, end_m)
        share = (end_m - 60.0) / float(denver.length_m[edge])
        expected = [share * whole_wh, share * whole_s, end_m - 60.0]
        route = document(planner.plan(*ends))["routes"]["energy"]
        assert (route["start_m"], route["end_m"]) == pytest.approx((60.0, end_m), abs=1e-3)
        assert route["edges"] == [denver.edge_id[edge]]
        assert sum(street["length_m"] for street in route["streets"]) == pytest.approx(
            end_m - 60.0, abs=1e-3
        )
        (answer,) = answer_energies(iter([{"from": ends[0], "to": ends[1]}]), planner)
        tables = [tmp_path / f"{number}.csv" for number in range(2)]
        for table, place in zip(tables, ends, strict=True):
            table.write_text(f'place\n"{place}"\n')
        stops_of = (
            read_stops(table, denver, leaving=number == 0) for number, table in enumerate(tables)
        )
        matrix = energy_matrix(planner, *stops_of)[:, 0, 0]
        for found in ([route[name] for name in VALUES], [answer[name] for name in VALUES], matrix):
            assert list(found) == pytest.approx(expected, rel=1e-5)


def test_one_point_twice_is_refused_in_one_line(denver: RoadNetwork) -> None:
    place = pin(denver, int(np.argmax(denver.length_m)), 100.0)
    apart = place.replace(",", ", ")
    for destination in (place, apart):
        with pytest.raises(EvrouteError, match=r"are one point of California Street. Choose two"):
            plan(denver, origin=place, destination=destination)


def test_a_place_on_the_way_is_passed_in_either_direction(denver: RoadNetwork) -> None:
    """Its edge is driven from end to end, in the direction that is best for each row."""
    planner = Planner(denver, physics="eq8")
    edges = [
        edge
        for edge in range(denver.n_edges)
        if len(nearest(denver, *map(float, pin(denver, edge, 20.0).split(",")))) == 2
    ]
    used = set()
    for edge in edges[:60:6]:
        both = nearest(denver, *map(float, pin(denver, edge, 20.0).split(",")))
        for ends in ((FROM, TO), (TO, FROM)):
            found = planner.plan(*ends, via=[pin(denver, edge, 20.0)]).routes["distance"]
            ways = []
            for way in both:
                by_id = planner.plan(*ends, via=[denver.edge_id[way]]).routes["distance"]
                ways.append(by_id.length_m)
            assert found.length_m == pytest.approx(min(ways))
            used |= {k for k, way in enumerate(both) if way in found.route.edges}
    assert used == {0, 1}
