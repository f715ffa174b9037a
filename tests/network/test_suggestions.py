"""Places that a text may mean.

``misspelt.csv`` has names of the network Denver, and of stops in the OpenStreetMap form of LuST
(https://github.com/lcodeca/LuSTScenario; map data (c) OpenStreetMap contributors, ODbL 1.0), with
typing errors and the places that are meant. It was written before the ranking.
"""

import csv
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import NetworkFormatError
from evroute.network.places import names
from evroute.network.places.locate import locate
from evroute.network.places.suggestions import Suggestion, spellings, suggest
from evroute.network.road_network import RoadNetwork

MISSPELT = Path(__file__).with_name("misspelt.csv")


def misspelt(network: str) -> list[tuple[str, str]]:
    rows = csv.DictReader(MISSPELT.read_text(encoding="utf-8").splitlines())
    return [(row["typed"], row["meant"]) for row in rows if row["network"] == network]


def wrong(roads: RoadNetwork, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    def first(text: str) -> str:
        return next((each.label for each in suggest(roads, text)), "")

    return [(typed, first(typed)) for typed, meant in pairs if first(typed) != meant]


@pytest.mark.parametrize("city", ["denver", pytest.param("luxembourg", marks=pytest.mark.data)])
def test_misspelt_names_are_found_at_the_first_place(
    city: str, request: pytest.FixtureRequest
) -> None:
    pairs = misspelt(city)
    assert len(pairs) == {"denver": 40, "luxembourg": 20}[city]
    assert len(wrong(request.getfixturevalue(city), pairs)) <= len(pairs) // 20  # 57 of 60


def test_random_errors_are_found_as_well(denver: RoadNetwork) -> None:
    """A letter is left out, doubled or swapped with its neighbour, in names drawn at random."""
    draw = random.Random(5)
    pairs = []
    for _ in range(100):
        meant = draw.choice(names.labels(denver))
        at = draw.choice(
            [k for k, sign in enumerate(meant[:-1]) if (sign + meant[k + 1]).isalpha()]
        )
        start, two, end = meant[:at], meant[at : at + 2], meant[at + 2 :]
        typed = start + draw.choice([two[1], two[0] + two, two[::-1]]) + end
        pairs.append((typed, meant))
    assert len(wrong(denver, pairs)) <= 3


@pytest.mark.data
def test_stops_of_luxembourg_are_places(luxembourg: RoadNetwork) -> None:
    """The source has 337 bus stops, each of another name."""
    found = set(names.labels(luxembourg))
    assert {"Gare Centrale", "Hamilius", "Hôpital Kirchberg"} <= found
    stops = [label for label in found if "kindergarten" not in label and "school" not in label]
    assert len([label for label in stops if not label.startswith("university")]) == 337


def test_every_suggestion_can_be_planned_from(denver: RoadNetwork) -> None:
    for text in ("blake", "17th & b", "39.7501, -104.9999", "park ave"):
        found = suggest(denver, text)
        assert found
        for each in found:
            assert locate(denver, each.text, leaving=True), each


def test_a_road_is_a_position_on_it(denver: RoadNetwork) -> None:
    road = suggest(denver, "Larimer Street")[0]
    assert (road.label, road.kind) == ("Larimer Street", "road")
    assert {denver.street[edge] for edge in locate(denver, road.text)} == {"Larimer Street"}


def test_roads_of_one_name_far_apart_are_several(
    make_network: Callable[..., RoadNetwork],
) -> None:
    at = [(500_000.0 + x, 4_800_000.0, 0.0) for x in (0, 900, 1800, 20_000, 20_900)]
    ends = [("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("d", 3, 4)]
    roads = replace(make_network(ends, at), street=("Oak", "Oak", "", "Oak"))
    found = suggest(roads, "oak")
    assert [each.kind for each in found] == ["road", "road"]
    assert {locate(roads, each.text) for each in found} <= {(0,), (1,), (3,)}
    assert len({each.label for each in found}) == 2


def test_coordinates_and_places_chosen_before_come_first(denver: RoadNetwork) -> None:
    before = [Suggestion("Blake Street & 24th Street", "crossing", "39.75,-104.99")]
    assert suggest(denver, " ", recent=before) == [replace(before[0], kind="recent")]
    first = suggest(denver, "blake & 24", recent=before)[0]
    assert (first.kind, first.text) == ("recent", "39.75,-104.99")
    assert suggest(denver, "39.7501,-104.9999")[0] == Suggestion(
        "39.750100,-104.999900", "coordinates", "39.750100,-104.999900"
    )


def test_stations_have_their_kind(denver: RoadNetwork) -> None:
    lon, lat = (float(each[7]) for each in denver.junction_lon_lat)
    table = {
        "name": ("Fast & Green", "Fast & Green"),
        "lon": np.array([lon, lon]),
        "lat": np.array([lat, lat]),
        "socket": ("ccs", "ac"),
        "kw": np.array([50.0, 11.0]),
    }
    roads = denver.with_tables({"chargers": table})
    assert suggest(roads, "fast green")[0] == Suggestion("Fast & Green", "station", "Fast & Green")
    assert locate(roads, "Fast & Green")
    damaged = denver.with_tables({"chargers": table | {"lon": ("x", "y")}})
    with pytest.raises(NetworkFormatError, match=r"charging stations .* are damaged"):
        suggest(damaged, "fast")


def test_a_message_lists_names_that_can_be_given(denver: RoadNetwork) -> None:
    assert spellings(denver, "Larimar & 24") == ["Larimer Street & 24th Street"]
    near = spellings(denver, "Larimar St")
    assert len(near) == names.LISTED
    for name in near:
        assert names.find(denver, name)


def test_of_two_names_with_the_same_words_the_one_as_written_is_found(
    make_network: Callable[..., RoadNetwork],
) -> None:
    at = [(500_000.0, 4_800_000.0, 0.0), (500_900.0, 4_800_000.0, 0.0)]
    roads = make_network([("a", 0, 1), ("b", 1, 0)], at)
    lon, lat = roads.junction_lon_lat
    places = {"name": ("Saint-Michel", "Saint Michel"), "lon": lon, "lat": lat}
    roads = roads.with_tables({"places": places})
    assert [place.lon for place in names.find(roads, "Saint Michel")] == [float(lon[1])]
    assert len(names.find(roads, "saint michel")) == 2
