"""OpenStreetMap files become networks: access, directions, limits, junctions, ids, bad files."""

import bz2
import gzip
import struct
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from pyproj import Geod

from evroute.errors import MissingPackageError, NetworkFormatError
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import osm, osm_tags, speed_limits

Reader = Callable[..., RoadNetwork]
ROAD = {"highway": "residential"}
# 1 - 2 - 3 - 4 along a parallel, 5 north of 2, 6 north of 3
NODES = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (3, 0), 5: (1, 1), 6: (2, 1)}


def turns(network: RoadNetwork) -> set[tuple[str, str]]:
    return {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns}


def test_edges_run_between_junctions_along_the_geometry(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((1, 2, 3, 4), ROAD), 11: ((2, 5), ROAD)})
    assert network.edge_id == ("1,2,0", "2,1,0", "2,4,0", "4,2,0", "2,5,0", "5,2,0")
    assert network.junction_id == ("1", "2", "4", "5")
    lon, lat = network.lon_lat
    through = slice(*network.shape_start[[2, 3]])
    assert lon[through] == pytest.approx([6.001, 6.002, 6.003], abs=1e-9)
    back = slice(*network.shape_start[[3, 4]])
    assert lon[back] == pytest.approx([6.003, 6.002, 6.001], abs=1e-9)
    assert lat == pytest.approx([49.0] * (len(lat) - 4) + [49.0, 49.001, 49.001, 49.0], abs=1e-9)
    assert network.crs == "EPSG:32632"
    assert np.all(network.elevation_m == 0)


def test_lengths_are_geodesic(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((1, 5, 3), ROAD)})
    expected = Geod(ellps="WGS84").line_length([6.0, 6.001, 6.002], [49.0, 49.001, 49.0])
    assert network.length_m == pytest.approx([expected] * 2, rel=1e-12)


def test_u_turns_only_where_there_is_no_other_way_on(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((1, 2), ROAD), 11: ((2, 3), ROAD), 12: ((2, 5), ROAD)})
    back = {pair for pair in turns(network) if pair[0].split(",")[:2] == pair[1].split(",")[1::-1]}
    assert back == {("2,1,0", "1,2,0"), ("2,3,0", "3,2,0"), ("2,5,0", "5,2,0")}
    assert len(turns(network)) == 3 + 6


def test_a_turning_circle_on_the_way_invites_u_turns(read_osm: Reader) -> None:
    network = read_osm(
        NODES, {10: ((1, 2, 3), ROAD)}, node_tags={2: {"highway": "mini_roundabout"}}
    )
    assert ("1,2,0", "2,1,0") in turns(network)
    assert ("1,2,0", "2,3,0") in turns(network)


def test_a_bollard_stops_cars_and_a_gate_does_not(read_osm: Reader) -> None:
    ways = {10: ((1, 2, 3), ROAD)}
    assert turns(read_osm(NODES, ways, node_tags={2: {"barrier": "bollard"}})) == {
        ("2,1,0", "1,2,0"),
        ("1,2,0", "2,1,0"),
        ("2,3,0", "3,2,0"),
        ("3,2,0", "2,3,0"),
    }
    assert read_osm(NODES, ways, node_tags={2: {"barrier": "gate"}}).edge_id == ("1,3,0", "3,1,0")
    locked = read_osm(NODES, ways, node_tags={2: {"barrier": "gate", "access": "private"}})
    assert ("1,2,0", "2,3,0") not in turns(locked)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"oneway": "yes"}, {"1,3,0"}),
        ({"oneway": "-1"}, {"3,1,0"}),
        ({"oneway": "no"}, {"1,3,0", "3,1,0"}),
        ({"highway": "motorway"}, {"1,3,0"}),
        ({"highway": "motorway", "oneway": "no"}, {"1,3,0", "3,1,0"}),
        ({"highway": "motorway_link"}, {"1,3,0", "3,1,0"}),
        ({"junction": "roundabout"}, {"1,3,0"}),
        ({"oneway": "yes", "oneway:motor_vehicle": "no"}, {"1,3,0", "3,1,0"}),
        ({"motor_vehicle:backward": "no"}, {"1,3,0"}),
        ({"access": "no", "motorcar": "yes"}, {"1,3,0", "3,1,0"}),
        ({"access": "destination"}, {"1,3,0", "3,1,0"}),
        ({"access": "private"}, set()),
        ({"motor_vehicle": "no"}, set()),
        ({"motorcar": "no", "access": "yes"}, set()),
        ({"highway": "footway"}, set()),
        ({"highway": "construction"}, set()),
        ({"highway": "service", "service": "parking_aisle"}, set()),
        ({"highway": "service", "service": "alley"}, {"1,3,0", "3,1,0"}),
        ({"oneway": "reversible"}, set()),
        ({"area": "yes"}, set()),
    ],
)
def test_tags_say_where_cars_may_drive(
    read_osm: Reader, tags: dict[str, str], expected: set[str]
) -> None:
    network = read_osm(NODES, {10: ((1, 2, 3), {**ROAD, **tags}), 11: ((5, 6), ROAD)})
    assert set(network.edge_id) == expected | {"5,6,0", "6,5,0"}


def test_a_roundabout_is_driven_one_way_round(read_osm: Reader) -> None:
    ring = {"highway": "residential", "junction": "roundabout"}
    network = read_osm(NODES, {10: ((2, 3, 6, 5, 2), ring), 11: ((1, 2), ROAD), 12: ((3, 4), ROAD)})
    assert {"2,3,0", "3,2,0"} <= set(network.edge_id)  # 3,2 runs on round over 6 and 5
    assert (
        network.length_m[network.row_of["3,2,0"]] > 2.5 * network.length_m[network.row_of["2,3,0"]]
    )
    assert ("2,3,0", "3,2,0") in turns(network)
    assert ("3,2,0", "2,3,0") in turns(network)
    assert ("3,2,0", "2,1,0") in turns(network)


def test_parallel_ways_and_loops_keep_their_own_edges(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((2, 3), ROAD), 11: ((2, 5, 3), ROAD), 12: ((3, 4, 6, 3), ROAD)})
    assert network.edge_id == ("2,3,0", "3,2,0", "2,3,1", "3,2,1", "3,3,0", "3,3,1")
    assert ("2,3,0", "3,2,1") in turns(network)
    assert ("2,3,0", "3,2,0") not in turns(network)
    assert ("3,3,0", "3,3,0") in turns(network)
    assert ("3,3,0", "3,3,1") not in turns(network)


def test_no_edge_is_part_bridge(read_osm: Reader) -> None:
    tags = [ROAD, {**ROAD, "bridge": "viaduct", "layer": "1"}, {**ROAD, "tunnel": "yes"}]
    network = read_osm(NODES, {10 + k: ((k + 1, k + 2), t) for k, t in enumerate(tags)})
    assert network.structure.tolist() == [0, 0, 1, 1, 2, 2]


def test_limits_are_read_with_their_units_and_imputed_by_class(read_osm: Reader) -> None:
    primary, service = {"highway": "primary"}, {"highway": "service", "oneway": "yes"}
    ways = {
        10: ((1, 2), {**primary, "maxspeed": "30 mph", "maxspeed:backward": "50"}),
        11: ((2, 3), {**primary, "maxspeed": "signals"}),
        12: ((3, 4), service),
        13: ((2, 5), {**ROAD, "maxspeed": "DE:urban", "oneway": "yes"}),
        14: ((3, 6), {**ROAD, "maxspeed": "5000", "oneway": "yes"}),
    }
    network = read_osm(NODES, ways)
    kmh = dict(zip(network.edge_id, 3.6 * network.speed_mps, strict=True))
    mph30 = 30 * 1.60934
    assert kmh["1,2,0"] == pytest.approx(mph30, abs=1e-5)
    assert kmh["2,1,0"] == pytest.approx(50)
    assert kmh["2,3,0"] == kmh["3,2,0"] == pytest.approx((mph30 + 50) / 2, abs=1e-5)
    assert kmh["3,4,0"] == pytest.approx(15)
    assert kmh["2,5,0"] == kmh["3,6,0"] == pytest.approx(50)
    assert network.source.notes[0] == (
        "speed limits imputed on 57.1% of the edges, from the mean of their class "
        "(typical speeds for service, of which no road has a limit)"
    )


@pytest.mark.parametrize(
    ("text", "kmh"),
    [
        ("DE:zone:30", 30),
        ("DE:zone30", 30),
        ("de:zone:20", 20),
        ("zone:30", 30),
        ("FR:30", 30),
        ("FR:zone30", 30),
        ("GB:zone:20", 20 * 1.60934),
        ("walk", 7),
        ("DE:walk", 7),
        ("10 knots", 18.52),
        ("5.5knots", 10.186),
        ("1 knot", 1.852),
        ("DE:zone:30|50", 40),
        ("walk|10 knots", (7 + 18.52) / 2),
        ("30", 30),
        ("30 mph", 30 * 1.60934),
        ("DE:urban", 50),
        ("zone", np.nan),
        ("walking", np.nan),
        ("DE:zone:", np.nan),
        ("knots", np.nan),
        ("none", np.nan),
        (None, np.nan),
    ],
)
def test_texts_of_limits(text: str | None, kmh: float) -> None:
    assert speed_limits.parse_kmh([text]) == pytest.approx([kmh], abs=1e-3, nan_ok=True)


def test_a_zone_gives_its_limit_to_roads_without_one(read_osm: Reader) -> None:
    zone = {**ROAD, "zone:maxspeed": "DE:30", "oneway": "yes"}
    ways = {
        10: ((1, 2), zone),
        11: ((2, 3), {**zone, "maxspeed": "50"}),
        12: ((3, 4), {**zone, "maxspeed:forward": "10"}),
    }
    kmh = 3.6 * read_osm(NODES, ways).speed_mps
    assert kmh.tolist() == pytest.approx([30, 50, 10])


@pytest.mark.parametrize("tags", [{"route": "ferry"}, {"ferry": "primary"}])
def test_a_ferry_is_no_road(read_osm: Reader, tags: dict[str, str]) -> None:
    ferry = {"highway": "primary", "maxspeed": "95", **tags}
    network = read_osm(NODES, {10: ((1, 2), ferry), 11: ((2, 3), ROAD)})
    assert set(network.edge_id) == {"2,3,0", "3,2,0"}


@pytest.mark.parametrize(
    ("access", "drivable"),
    [
        ("agricultural;forestry", False),
        ("agricultural; forestry ;emergency", False),
        ("private;bus;psv", False),
        ("forestry;destination", True),
        ("private;yes", True),
        ("unknown;words", True),
        ("unknown;agricultural", False),
    ],
)
def test_lists_of_access_do_not_depend_on_the_order_of_words(access: str, drivable: bool) -> None:
    for words in permutations(access.split(";")):
        tags = {**ROAD, "motor_vehicle": ";".join(words)}
        assert osm_tags.directions(tags) == (drivable, drivable)


def test_barriers_read_lists_of_access_in_any_order() -> None:
    for access, kinds in {
        "forestry;agricultural": {"gate", "bollard", "block"},
        "agricultural;destination": set(),
        "unknown": {"bollard", "block"},
    }.items():
        for words in permutations(access.split(";")):
            tags = {"access": ";".join(words)}
            blocking = {
                kind
                for kind in ("gate", "bollard", "block")
                if osm_tags.blocks({"barrier": kind, **tags})
            }
            assert blocking == kinds


def test_a_node_at_null_island_is_refused(read_osm: Reader) -> None:
    at_null = {**NODES, 99: (-6000, -49000)}
    with pytest.raises(
        NetworkFormatError, match=r"case\.osm: node 99 lies at 0,0, which is no place"
    ):
        read_osm(at_null, {10: ((1, 2, 99, 3), ROAD)})
    with pytest.raises(NetworkFormatError, match="node 98 lies at 0,0"):
        read_osm({**at_null, 98: (-6000, -49000)}, {10: ((1, 2), ROAD), 11: ((98, 99), ROAD)})
    network = read_osm(at_null, {10: ((1, 2), ROAD), 11: ((2, 99), {"highway": "path"})})
    assert network.n_edges == 2  # of no road, so it does not matter


def test_a_node_that_is_far_from_its_road_is_refused(read_osm: Reader) -> None:
    def reach(degrees: float) -> RoadNetwork:
        return read_osm({1: (0, 0), 2: (0, 1), 3: (0, 1000 * degrees)}, {10: ((1, 2, 3), ROAD)})

    assert reach(0.89).length_m.max() == pytest.approx(0.89 * 111_200, rel=0.01)
    with pytest.raises(NetworkFormatError, match=r"node 2 lies at 49\.0010,6\.0000, 101 km from"):
        reach(0.91)


def test_a_street_with_a_name_on_each_side_has_both(read_osm: Reader) -> None:
    names = [
        {"name:left": "Rue A", "name:right": "Rue B"},
        {"name:left": "Rue A", "name:right": "Rue A"},
        {"name:right": "Rue B", "ref": "D 1"},
        {"name": "Rue C", "name:left": "Rue A"},
        {"ref": "D 1"},
    ]
    oneway = {**ROAD, "oneway": "yes"}
    ends = [(1, 2), (2, 3), (3, 4), (2, 5), (3, 6)]
    ways = {
        10 + k: (pair, {**oneway, **tags})
        for k, (pair, tags) in enumerate(zip(ends, names, strict=True))
    }
    assert read_osm(NODES, ways).street == ("Rue A / Rue B", "Rue A", "Rue B", "Rue C", "D 1")


def test_a_source_without_any_limit_gets_typical_speeds() -> None:
    tagged = speed_limits.parse_kmh([None, "fast", ""])
    assert np.isnan(tagged).all()
    kmh, untagged = speed_limits.impute_kmh(["primary", "service", "primary"], tagged)
    assert kmh.tolist() == [65, 15, 65]
    assert untagged == {"primary", "service"}


def test_imputed_speeds_equal_osmnx() -> None:
    import networkx as nx
    import osmnx

    rng = np.random.default_rng(3)
    classes = [("primary", "secondary", "service")[k] for k in rng.integers(3, size=60)]
    texts = [
        ("30", "50", "20 mph", "FR:urban", None, None, "signals")[k]
        for k in rng.integers(7, size=60)
    ]
    graph = nx.MultiDiGraph(crs="EPSG:4326")
    graph.add_nodes_from([0, 1], x=0.0, y=0.0)
    for key, (name, text) in enumerate(zip(classes, texts, strict=True)):
        graph.add_edge(0, 1, key, highway=name, maxspeed=text)
    osmnx.add_edge_speeds(graph)
    kmh, untagged = speed_limits.impute_kmh(classes, speed_limits.parse_kmh(texts))
    assert kmh == pytest.approx([value for *_, value in graph.edges(data="speed_kph")])
    assert untagged == set()


def test_ways_are_cut_where_the_source_lacks_their_nodes(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((1, 2, 99, 3, 4), ROAD)})
    assert network.edge_id == ("1,2,0", "2,1,0", "3,4,0", "4,3,0")
    assert "1 ways are cut where the source does not hold their nodes" in network.source.notes


def test_two_nodes_in_one_place_make_an_edge_of_a_decimetre(read_osm: Reader) -> None:
    network = read_osm({1: (0, 0), 2: (0, 0), 3: (1, 0)}, {10: ((1, 2), ROAD), 11: ((2, 3), ROAD)})
    assert network.length_m[0] == 0.1
    assert "2 edges without any length were given 0.1 m" in network.source.notes


def test_every_form_of_file_gives_the_same_network(
    tmp_path: Path, osm_text: Callable[..., str], read_osm: Reader
) -> None:
    case = (
        NODES,
        {10: ((1, 2, 3), ROAD), 11: ((2, 5), {**ROAD, "oneway": "yes", "name": "Rue d'Été"})},
    )
    plain = read_osm(*case)
    text = osm_text(*case).encode()
    (tmp_path / "z.osm.gz").write_bytes(gzip.compress(text, mtime=0))
    (tmp_path / "z.osm.bz2").write_bytes(bz2.compress(text))
    import osmium

    with osmium.SimpleWriter(str(tmp_path / "z.osm.pbf")) as writer:
        for item in osmium.FileProcessor(str(tmp_path / "case.osm")):
            writer.add(item)
    assert plain.street[4] == "Rue d'Été"
    for suffix in ("gz", "bz2", "pbf"):
        other = osm.read(tmp_path / f"z.osm.{suffix}", "case")
        assert other.digest == plain.digest
        assert other.street == plain.street
        assert len({plain.source.sha256, other.source.sha256}) == 2


def test_negative_ids_of_unpublished_objects_are_read(read_osm: Reader) -> None:
    network = read_osm({-1: (0, 0), -2: (1, 0)}, {-10: ((-1, -2), ROAD)})
    assert network.edge_id == ("-1,-2,0", "-2,-1,0")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.osm", b"", "not a whole OpenStreetMap file"),
        (
            "cut.osm",
            b'<?xml version="1.0"?><osm version="0.6"><node id="1" lat="49" lon="6"/><way id="2',
            "not a whole",
        ),
        ("other.osm", b"<net><edge/></net>", "not a whole OpenStreetMap file"),
        ("text.osm.pbf", b"hello, world" * 20, "not a whole OpenStreetMap file"),
        (
            "long.osm.pbf",
            struct.pack(">I", 14) + b"\x12" + b"\xff" * 9 + b"\x01abc" + b"0" * 50,
            "not a whole OpenStreetMap file",
        ),
        (
            "cut.osm.gz",
            gzip.compress(b"<osm version='0.6'>" + b" " * 5000, mtime=0)[:30],
            "not a whole OpenStreetMap file",
        ),
        ("unknown.xyz", b"<osm version='0.6'></osm>", "not a whole OpenStreetMap file"),
        ("bare.osm", b"<osm version='0.6'></osm>", "no road in it is open to passenger cars"),
    ],
)
def test_bad_files_are_told_in_one_line(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NetworkFormatError, match=told) as caught:
        osm.read(tmp_path / name, "case")
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [Path("/dev/zero"), Path("/dev")])
def test_a_file_that_is_not_regular_is_refused(path: Path) -> None:
    with pytest.raises(NetworkFormatError, match=f"{path} is not a regular file. Give"):
        osm.read(path, "town")


def test_a_missing_file_and_a_missing_package_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NetworkFormatError, match=r"cannot read .*no\.osm: No such file"):
        osm.read(tmp_path / "no.osm", "case")
    (tmp_path / "a.osm").write_text("<osm version='0.6'/>")
    monkeypatch.setitem(sys.modules, "osmium", None)
    with pytest.raises(MissingPackageError, match="osmium is not installed"):
        osm.read(tmp_path / "a.osm", "case")


@pytest.mark.data
@pytest.mark.parametrize(
    ("path", "edges", "turns_kept"),
    [
        ("monaco/monaco.osm.gz", 1023, 1545),
        ("monaco/most.osm.gz", 3002, 5117),
        ("luxembourg/lust.osm.gz", 5855, 11619),
    ],
)
def test_the_cities_of_the_data_folder_are_read(
    data_dir: Path, path: str, edges: int, turns_kept: int
) -> None:
    network = osm.read(data_dir / path, "city")
    assert network.n_edges == edges
    assert len(network.turns) == turns_kept
    assert network.strongest_component().n_edges > 0.7 * edges


def test_named_places_and_chargers_are_read_from_nodes_and_areas(read_osm: Reader) -> None:
    square = (7, 8, 9, 7)
    nodes = {**NODES, 7: (0, 0), 8: (0.3, 0), 9: (0, 0.3), 20: (2, 1), 21: (3, 1), 22: (4, 1)}
    places = {
        20: {"amenity": "charging_station", "operator": "Power & Co"},
        21: {"amenity": "bench"},
        22: {"railway": "station", "name": "Gare\nA"},
        2: {"highway": "crossing", "name": "no place"},
    }
    network = read_osm(
        nodes,
        {
            10: ((1, 2, 3), {**ROAD, "name": "Rue A"}),
            11: (square, {"amenity": "parking", "name": "Parking A"}),
            12: ((999, 998), {"amenity": "parking", "name": "not in the file"}),
            13: ((3, 4), {"railway": "rail", "name": "Ligne A"}),
        },
        node_tags=places,
    )
    table = network.tables["places"]
    found = dict(zip(table["name"], zip(table["lon"], table["lat"], strict=True), strict=True))
    assert set(found) == {"Charging station Power & Co", "Gare A", "Parking A"}
    assert found["Charging station Power & Co"] == pytest.approx((6.002, 49.001))
    assert found["Parking A"] == pytest.approx((6.000075, 49.000075))
