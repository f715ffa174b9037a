import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import NetworkFormatError
from evroute.network import controls
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import columns, sumo_net

LOCATION = (
    '<location netOffset="-500000.00,-4800000.00" convBoundary="0,0,1,1" origBoundary="0,0,1,1" '
    'projParameter="+proj=utm +zone=32 +ellps=WGS84 +datum=WGS84 +units=m +no_defs"/>'
)
JUNCTIONS = """
<junction id="A" type="priority" x="0" y="0" z="5"/>
<junction id="B" type="priority" x="100" y="0" z="8"/>
<junction id="C" type="dead_end" x="100" y="60" z="0"/>
<junction id=":B_0" type="internal" x="100" y="0" z="8"/>
"""
EDGES = """
<edge id=":B_0" function="internal">
<lane id=":B_0_0" index="0" speed="9" length="8" shape="95,0 100,5"/></edge>
<edge id=":B_w0" function="walkingarea">
<lane id=":B_w0_0" index="0" allow="pedestrian" speed="1" length="1"/></edge>
<edge id="ab" from="A" to="B" name="Main &amp; First" type="highway.primary_bridge"
 shape="0,0,5 50,10,6 100,0,8">
  <lane id="ab_0" index="0" allow="pedestrian" speed="3" length="90" shape="0,1 100,1"/>
  <lane id="ab_1" index="1" disallow="tram" speed="10" length="91" shape="0,2 100,2"/>
  <lane id="ab_2" index="2" speed="20" length="90" shape="0,3 100,3"/>
</edge>
<edge id="ab2" from="A" to="B" type="highway.primary_tunnel">
  <lane id="ab2_0" index="0" speed="15" length="130" shape="0,-4 100,-4"/>
</edge>
<edge id="ba" from="B" to="A"><lane id="ba_0" index="0" speed="15" length="95" shape="100,4 0,4"/>
</edge>
<edge id="bc" from="B" to="C">
<lane id="bc_0" index="0" speed="15" length="55" shape="100,0 100,60"/></edge>
<edge id="cb" from="C" to="B">
<lane id="cb_0" index="0" speed="15" length="55" shape="100,60 100,0"/></edge>
<edge id="foot" from="B" to="C">
<lane id="foot_0" index="0" allow="pedestrian" speed="1" length="55"/></edge>
"""
CONNECTIONS = """
<connection from="ab" to="foot" fromLane="0" toLane="0"/>
<connection from="ab" to="bc" fromLane="0" toLane="0"/>
<connection from="ab" to="bc" fromLane="1" toLane="0" via=":B_0_0"/>
<connection from="ab" to="bc" fromLane="2" toLane="0"/>
<connection from="ab" to="ba" fromLane="0" toLane="0"/>
<connection from="ab2" to="bc" fromLane="0" toLane="0" disallow="passenger"/>
<connection from="ba" to="ab" fromLane="0" toLane="2"/>
<connection from="ba" to="ab2" fromLane="0" toLane="0" allow="passenger bus"/>
<connection from="bc" to="cb" fromLane="0" toLane="0"/>
<connection from="cb" to="ba" fromLane="0" toLane="0"/>
<connection from=":B_0" to="bc" fromLane="0" toLane="0"/>
"""


def document(
    *, location: str = LOCATION, edges: str = EDGES, junctions: str = JUNCTIONS, more: str = ""
) -> str:
    body = f"{location}{edges}{junctions}{more}"
    return f'<?xml version="1.0" encoding="UTF-8"?><net version="1.20">{body}</net>'


def write(folder: Path, text: str) -> Path:
    path = folder / "town.net.xml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def town(tmp_path: Path) -> RoadNetwork:
    return sumo_net.read(write(tmp_path, document(more=CONNECTIONS)), "town", "junctions")


def test_only_edges_open_to_cars_are_kept_under_their_ids_parallel_ones_included(
    town: RoadNetwork,
) -> None:
    assert town.edge_id == ("ab", "ab2", "ba", "bc", "cb")
    assert town.junction_id == ("A", "B", "C")


def test_turns_are_the_connections_open_to_cars_between_lanes_open_to_cars(
    town: RoadNetwork,
) -> None:
    turns = {(town.edge_id[a], town.edge_id[b]) for a, b in town.turns.tolist()}
    assert turns == {("ab", "bc"), ("ba", "ab"), ("ba", "ab2"), ("bc", "cb"), ("cb", "ba")}


def test_an_edge_takes_the_greatest_speed_and_length_of_its_car_lanes(town: RoadNetwork) -> None:
    assert town.speed_mps[town.row_of["ab"]] == 20.0
    assert town.length_m[town.row_of["ab2"]] == 130.0


def test_no_edge_is_shorter_than_the_plane_between_its_junctions(town: RoadNetwork) -> None:
    assert town.length_m.tolist() == [100.0, 130.0, 100.0, 60.0, 60.0]


def test_an_edge_has_its_own_shape_or_its_first_car_lanes_without_the_offset_of_the_file(
    town: RoadNetwork,
) -> None:
    start = town.shape_start
    x, y = town.shape_x_m - 500_000, town.shape_y_m - 4_800_000
    assert x[start[0] : start[1]].tolist() == [0, 50, 100]
    assert y[start[0] : start[1]].tolist() == [0, 10, 0]
    assert y[start[1] : start[2]].tolist() == [-4, -4]


def test_positions_lie_on_the_earth_where_the_projection_says(town: RoadNetwork) -> None:
    lon, lat = town.junction_lon_lat
    assert lon[0] == pytest.approx(9.0, abs=1e-9)  # the central meridian of zone 32
    assert lat[0] == pytest.approx(43.3531, abs=1e-3)  # 4,800 km / 0.9996 along the meridian


def test_heights_structures_and_names_come_from_the_file(town: RoadNetwork) -> None:
    assert town.elevation_m.tolist() == [5, 8, 0]
    assert town.structure.tolist() == [1, 2, 0, 0, 0]
    assert town.street[0] == "Main & First"
    assert town.road_class[0] == "highway.primary_bridge"
    assert town.source.elevation == "z of the SUMO junctions"


def test_a_gzipped_file_reads_the_same_and_the_hash_is_of_the_bytes_on_disk(
    town: RoadNetwork, tmp_path: Path
) -> None:
    path = tmp_path / "town.net.xml.gz"
    path.write_bytes(gzip.compress(document(more=CONNECTIONS).encode()))
    zipped = sumo_net.read(path, "town", "junctions")
    assert zipped.digest == town.digest
    assert (
        zipped.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() != town.source.sha256
    )


@pytest.mark.parametrize(
    ("permissions", "is_open"),
    [
        ("", True),
        ('allow="passenger bus"', True),
        ('allow="bus taxi"', False),
        ('allow="all"', True),
        ('allow="bus" disallow="bus"', False),
        ('disallow="tram ship"', True),
        ('disallow="bus passenger"', False),
        ('disallow="all"', False),
    ],
)
def test_permissions_follow_sumo(tmp_path: Path, permissions: str, is_open: bool) -> None:
    lane = (
        f'<edge id="x" from="A" to="B"><lane index="0" {permissions} speed="1" length="1"/></edge>'
    )
    town = sumo_net.read(write(tmp_path, document(edges=EDGES + lane)), "town")
    assert ("x" in town.edge_id) == is_open


def test_without_a_projection_distances_hold_and_a_note_says_so(tmp_path: Path) -> None:
    location = '<location netOffset="0.00,0.00" projParameter="!"/>'
    town = sumo_net.read(write(tmp_path, document(location=location)), "town")
    lon, _ = town.junction_lon_lat
    assert (lon[1] - lon[0]) * 111_319.49 == pytest.approx(
        100.0, rel=1e-3
    )  # metres per degree on the equator
    assert any("no projection" in note for note in town.source.notes)


def test_a_zero_length_edge_takes_the_straight_distance_and_a_loop_the_named_least(
    tmp_path: Path,
) -> None:
    edges = (
        '<edge id="flat" from="A" to="B">'
        '<lane index="0" speed="1" length="0" shape="0,0 100,0"/></edge>'
        '<edge id="loop" from="A" to="A"><lane index="0" speed="1" length="0" shape="0,0"/></edge>'
    )
    town = sumo_net.read(write(tmp_path, document(edges=edges)), "town", "junctions")
    assert town.length_m.tolist() == [100.0, columns.SHORTEST_EDGE_M]
    assert "1 edges without any length were given 0.1 m" in town.source.notes


def lane(attributes: str) -> str:
    return document(
        edges=f'<edge id="x" from="A" to="B"><lane index="0" {attributes} shape="0,0 9,9"/></edge>'
    )


BAD = {
    "empty": ("", "cut off or not XML"),
    "not XML": ("roads, roads, roads", "cut off or not XML"),
    "cut off": (document()[:700], "cut off or not XML"),
    "odd encoding": (document().replace("UTF-8", "runes"), "unknown encoding: runes"),
    "another XML": ("<osm><node/></osm>", "root is <osm>"),
    "no road": (document(edges=""), "no road in it is open to passenger cars"),
    "no car road": (lane('allow="bicycle" speed="1" length="1"'), "no road in it is open"),
    "edge twice": (document(edges=EDGES + EDGES), "duplicate edge id ':B_0'"),
    "junction twice": (document(junctions=JUNCTIONS + JUNCTIONS), "duplicate junction id 'A'"),
    "nan speed": (lane('speed="nan" length="1"'), "speed_mps of edge 'x' is nan"),
    "zero speed": (lane('speed="0" length="1"'), "speed_mps of edge 'x' is 0"),
    "nan length": (lane('speed="1" length="nan"'), "lane 'x_0' has the length nan"),
    "negative length": (
        lane('id="x_0" speed="1" length="-4"'),
        "lane 'x_0' has the length -4",
    ),
    "no number": (lane('speed="fast" length="1"'), "line 1: could not convert"),
    "no speed": (lane('length="1"'), "the attribute 'speed' is missing"),
    "no junction": (document(junctions=JUNCTIONS.replace('"C"', '"D"')), "junction 'C'"),
    "nowhere": (document(junctions=JUNCTIONS.replace('x="0"', 'x="inf"')), "junction 'A' lies at"),
    "bad shape": (document(edges=EDGES.replace("50,10,6", "50,ten")), "to float: 'ten'"),
    "unknown lane": (
        document(more='<connection from="ab" to="bc" fromLane="7" toLane="0"/>'),
        "names a lane that its edge does not have",
    ),
    "no ends": (document(edges=EDGES.replace('from="B" to="C"', "")), "edge 'bc' has no ends"),
    "unknown edge": (
        document(more='<connection from="zz" to="ab" fromLane="0" toLane="0"/>'),
        "names edge 'zz'",
    ),
    "apart": (
        document(more='<connection from="bc" to="ab" fromLane="0" toLane="2"/>'),
        "do not meet",
    ),
    "projection": (document(location='<location projParameter="+proj=nonsense"/>'), "is not known"),
    "degrees": (document(location='<location projParameter="+proj=longlat"/>'), "not in metres"),
    "offset": (document(location=LOCATION.replace("-500000.00,", "")), "is not two numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_in_one_line_that_says_why(tmp_path: Path, case: str) -> None:
    text, why = BAD[case]
    with pytest.raises(NetworkFormatError) as refusal:
        sumo_net.read(write(tmp_path, text), "town", "junctions")
    assert why in str(refusal.value)
    assert "town.net.xml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match=r"cannot read .*No such file"):
        sumo_net.read(tmp_path / "town.net.xml", "town")


@pytest.mark.parametrize("keep", [3, 200, -9])
def test_a_cut_off_gzip_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "town.net.xml.gz"
    path.write_bytes(gzip.compress(document(more=CONNECTIONS).encode())[:keep])
    with pytest.raises(NetworkFormatError, match="cut-off or damaged gzip"):
        sumo_net.read(path, "town")


def test_damaged_files_are_read_or_refused_but_never_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whole = document(more=CONNECTIONS).encode()
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            damaged[place] = rng.integers(32, 127)
        path = tmp_path / "town.net.xml"
        path.write_bytes(damaged)
        try:
            sumo_net.read(path, "town")
        except NetworkFormatError:
            refused += 1
    assert 0 < refused < 300


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "edges", "turns", "lane_km"),
    [
        ("monaco/most.net.xml.gz", 3475, 5656, 435.6),
        ("luxembourg/lust.net.xml.gz", 5895, 16346, 882.6),
    ],
)
def test_the_two_cities_have_the_sizes_that_their_sources_document(
    data_dir: Path, file: str, edges: int, turns: int, lane_km: float
) -> None:
    city = sumo_net.read(data_dir / file, "city").strongest_component()
    assert (city.n_edges, len(city.turns)) == (edges, turns)
    lane_m = np.asarray(city.tables["crossings"]["lane_m"])
    assert lane_m.sum() / 1000 == pytest.approx(lane_km, abs=0.05)


def test_a_turn_has_the_control_of_most_of_its_lanes(tmp_path: Path) -> None:
    more = CONNECTIONS.replace('toLane="0" via=":B_0_0"/>', 'toLane="0" state="M"/>')
    more = more.replace(
        '"ab" to="bc" fromLane="2" toLane="0"', '"ab" to="bc" fromLane="2" toLane="0" state="m"'
    )
    more = more.replace(
        '"ba" to="ab" fromLane="0" toLane="2"',
        '"ba" to="ab" fromLane="0" toLane="2" state="O" tl="A"',
    )
    town = sumo_net.read(write(tmp_path, document(more=more)), "town")
    assert town.control is not None
    found = {
        (town.edge_id[a], town.edge_id[b]): int(c)
        for (a, b), c in zip(town.turns, town.control, strict=True)
    }
    assert found == {
        ("ab", "bc"): controls.GIVES_WAY,
        ("ba", "ab"): controls.LIGHT,
        **dict.fromkeys([("ba", "ab2"), ("bc", "cb"), ("cb", "ba")], controls.UNKNOWN),
    }


def test_an_edge_of_very_many_lanes_is_refused_at_once(tmp_path: Path) -> None:
    lanes = '<lane index="0" speed="1" length="1"/>' * 1000
    edges = f'<edge id="x" from="A" to="B">{lanes}</edge>'
    with pytest.raises(NetworkFormatError, match="more than 100 lanes beside each other"):
        sumo_net.read(write(tmp_path, document(edges=edges)), "town")
