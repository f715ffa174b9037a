"""Tags that decide whether a road is there, how fast and whereto: a small file for each."""

from pathlib import Path

import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, osm_tags, speed_limits
from evroute.network.sources.restrictions import KINDS

FILES = Path(__file__).parent / "osm_files"
MILE_KM = 1.60934


@pytest.fixture(autouse=True)
def _needs_osmium() -> None:
    pytest.importorskip("osmium")


def read(name: str) -> RoadNetwork:
    return osm.read(FILES / name, "case")


def kmh_of(network: RoadNetwork) -> dict[str, float]:
    return dict(zip(network.edge_id, (3.6 * network.speed_mps).round(2).tolist(), strict=True))


def test_a_rural_road_in_germany_is_100() -> None:
    network = read("rural.osm")
    assert kmh_of(network) == {"1,2,0": 100.0, "2,3,0": 50.0, "2,4,0": 130.0}
    assert network.source.notes[0] == "every edge has a speed limit of its own"


def test_the_source_of_a_limit_is_a_limit_where_there_is_no_other() -> None:
    network = read("source_maxspeed.osm")
    assert kmh_of(network) == {"1,2,0": 100.0, "2,3,0": 30.0, "2,4,0": 70.0, "2,5,0": 50.0}


def test_the_type_of_a_limit_is_a_limit_where_there_is_no_other() -> None:
    network = read("maxspeed_type.osm")
    assert kmh_of(network) == {
        "1,2,0": 90.0,
        "2,3,0": pytest.approx(60 * MILE_KM, abs=0.01),
        "2,4,0": pytest.approx(70 * MILE_KM, abs=0.01),
        "2,5,0": osm_tags.TYPICAL_KMH["tertiary"],
    }


def test_a_restriction_that_is_none_for_cars_forbids_no_turn() -> None:
    network = read("no_sheep.osm")
    row = network.row_of
    turns = {(int(a), int(b)) for a, b in network.turns}
    west = row["1,2,0"]
    assert (west, row["2,3,0"]) in turns
    assert (west, row["2,5,0"]) in turns
    assert (west, row["2,4,0"]) not in turns
    note = "1 of 3 turn restrictions applied, left out: 2 of a kind that is none for cars"
    assert note in network.source.notes


def test_the_kinds_of_restrictions_equal_the_wiki() -> None:
    """https://wiki.openstreetmap.org/wiki/Relation:restriction lists them."""
    directions = {"left_turn", "right_turn", "straight_on", "u_turn"}
    both = {f"{word}_{way}" for word in ("no", "only") for way in directions}
    assert both | {"no_entry", "no_exit"} == KINDS


def test_roads_out_of_use_are_left_out() -> None:
    network = read("disused_highway.osm")
    assert set(network.edge_id) == {"1,2,0", "2,1,0", "2,5,0", "5,2,0"}
    assert set(network.road_class) == {"residential", "service"}


@pytest.mark.parametrize("prefix", ["abandoned", "demolished", "disused", "razed", "removed"])
def test_prefixes_of_roads_out_of_use(prefix: str) -> None:
    road = {"highway": "primary"}
    assert osm_tags.directions({**road, f"{prefix}:highway": "primary"}) == (False, False)
    assert osm_tags.directions({**road, f"{prefix}:highway": "yes"}) == (False, False)
    assert osm_tags.directions({**road, f"{prefix}:highway": "secondary"}) == (True, True)
    assert osm_tags.directions({**road, f"{prefix}:railway": "primary"}) == (True, True)


def test_a_track_is_a_road_where_cars_are_welcome() -> None:
    network = read("track.osm")
    assert kmh_of(network) == {"1,2,0": 10.0, "2,1,0": 10.0}
    assert set(network.road_class) == {"track"}


@pytest.mark.parametrize(
    ("tags", "open_to_cars"),
    [
        ({"motorcar": "yes"}, True),
        ({"motor_vehicle": "designated"}, True),
        ({"vehicle": "permissive"}, True),
        ({"motor_vehicle": "yes", "access": "private"}, True),
        ({"motorcar": "no", "motor_vehicle": "yes"}, False),
        ({"access": "yes"}, False),
        ({"motor_vehicle": "private"}, False),
        ({"motor_vehicle": "destination"}, False),
        ({"motor_vehicle": "destination;permissive"}, True),
        ({"motor_vehicle": "yes", "disused:highway": "track"}, False),
    ],
)
def test_tracks_and_who_may_enter(tags: dict[str, str], open_to_cars: bool) -> None:
    assert osm_tags.directions({"highway": "track", **tags}) == (open_to_cars, open_to_cars)


@pytest.mark.parametrize(
    ("text", "kmh"),
    [
        ("DE:rural", 100),  # StVO section 3(3)
        ("de:RURAL", 100),
        ("DE:motorway", 130),  # recommended
        ("DE:living_street", 7),
        ("DE:urban", 50),  # of OSMnx
        ("FR:motorway", 130),  # Code de la route R413-2
        ("FR:trunk", 110),
        ("FR:rural", 80),  # of OSMnx
        ("LU:rural", 90),  # Code de la route 139
        ("NL:rural", 80),  # RVV 1990, 21
        ("PL:motorway", 140),  # Prawo o ruchu drogowym 20
        ("GB:nsl_restricted", 30 * MILE_KM),  # Highway Code 124
        ("UK:motorway", 70 * MILE_KM),
        ("ZA:urban", 60),
        ("BE-VLG:rural", 70),  # of OSMnx
        ("be-vlg:zone:30", 30),
        ("US:rural", np.nan),  # each state has its own
        ("DE:nowhere", np.nan),
    ],
)
def test_limits_of_zones(text: str, kmh: float) -> None:
    assert speed_limits.parse_kmh([text]) == pytest.approx([kmh], abs=0.01, nan_ok=True)


def test_the_table_of_zones_names_a_source_for_each_country_and_reads_as_limits() -> None:
    import tomllib

    from evroute.resources import data_path

    listed = tomllib.loads(data_path("speed_zones.toml").read_text(encoding="utf-8"))
    assert all(entries["source"] and len(entries) > 1 for entries in listed.values())
    texts = list(speed_limits.zone_limits().values())
    assert len(texts) == sum(len(entries) - 1 for entries in listed.values())
    kmh = speed_limits.parse_kmh(texts)
    assert np.all((kmh >= speed_limits.WALKING_KMH) & (kmh <= 140))


@pytest.mark.parametrize(
    ("tags", "kmh"),
    [
        ({"maxspeed": "30", "maxspeed:type": "DE:rural"}, 30),
        ({"maxspeed:forward": "20", "maxspeed": "30"}, 20),
        ({"maxspeed:backward": "20", "maxspeed": "30"}, 30),
        ({"maxspeed": "none", "source:maxspeed": "DE:motorway"}, 130),
        ({"zone:maxspeed": "DE:30", "source:maxspeed": "DE:urban"}, 30),
        ({"maxspeed:type": "sign", "source:maxspeed": "DE:urban"}, 50),
        ({"source:maxspeed": "30"}, np.nan),  # no zone: a source is no number
        ({"source:maxspeed": "survey 2012"}, np.nan),
        ({"maxspeed:type": "DE:zone30"}, 30),
        ({}, np.nan),
    ],
)
def test_the_first_tag_with_a_limit_counts(tags: dict[str, str], kmh: float) -> None:
    found = speed_limits.tagged_kmh([(tags, "forward")])
    assert found == pytest.approx([kmh], nan_ok=True)
