import json
from pathlib import Path

import pytest

from evroute.network.road_network import RoadNetwork
from evroute.planning.places import Trip, load_trips


def test_the_embedded_network_has_three_trips_between_its_edges(denver: RoadNetwork) -> None:
    trips = load_trips("denver")
    assert list(trips) == ["A", "B", "C"]
    for trip in trips.values():
        assert {trip.origin, trip.destination} <= set(denver.edge_id)
        assert trip.origin != trip.destination


def test_a_network_without_trips_has_none() -> None:
    assert load_trips("atlantis") == {}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "keys"), [("luxembourg", ("paper_routes", "routes")), ("monaco", ("routes",))]
)
def test_trips_of_the_cities_equal_their_data(
    data_dir: Path, request: pytest.FixtureRequest, name: str, keys: tuple[str, ...]
) -> None:
    listed = json.loads((data_dir / name / "routes.json").read_text())
    routes = [route for key in keys for route in listed[key]]
    expected = {
        letter: Trip(letter, route["start_edge"], route["end_edge"])
        for letter, route in zip("ABCDEF", routes, strict=False)
    }
    assert load_trips(name) == expected
    city: RoadNetwork = request.getfixturevalue(name)
    assert all({trip.origin, trip.destination} <= set(city.edge_id) for trip in expected.values())
