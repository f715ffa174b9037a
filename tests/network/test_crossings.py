"""Lengths of SUMO networks as cars drive them, against a reader of the file of these tests."""

from pathlib import Path

import closures
import numpy as np
import pytest
from driven_kilometres import Lanes, gpx_m, plans
from typer.testing import CliRunner

from evroute.arrays import FloatArray
from evroute.cli import app
from evroute.errors import NetworkFormatError, UnknownNameError
from evroute.network import catalog, crossings, store
from evroute.network.places import street_names
from evroute.network.places.positions import positions
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner

LOCATION = (
    '<location netOffset="-500000.00,-4800000.00" convBoundary="0,0,1,1" origBoundary="0,0,1,1" '
    'projParameter="+proj=utm +zone=32 +ellps=WGS84 +datum=WGS84 +units=m +no_defs"/>'
)
TOWN = f"""<net version="1.20">{LOCATION}
<edge id=":B_0" function="internal"><lane id=":B_0_0" index="0" speed="9" length="8"
 shape="92,-1 100,-1"/></edge>
<edge id=":B_1" function="internal"><lane id=":B_1_0" index="0" speed="9" length="6"
 shape="92,-1 97,0"/></edge>
<edge id=":B_2" function="internal"><lane id=":B_2_0" index="0" speed="9" length="5"
 shape="97,0 99,8"/></edge>
<junction id="A" type="priority" x="0" y="0" z="0"/>
<junction id="B" type="priority" x="95" y="0" z="0"/>
<junction id="C" type="priority" x="200" y="0" z="0"/>
<junction id="D" type="priority" x="100" y="100" z="0"/>
<edge id="ab" from="A" to="B" shape="0,0 95,0">
<lane id="ab_0" index="0" speed="10" length="92" shape="0,-1 92,-1"/></edge>
<edge id="bc" from="B" to="C" shape="95,0 200,0">
<lane id="bc_0" index="0" speed="10" length="100" shape="100,-1 200,-1"/></edge>
<edge id="bd" from="B" to="D" shape="95,0 100,100">
<lane id="bd_0" index="0" speed="10" length="90" shape="99,8 99,98"/></edge>
<edge id="cb" from="C" to="B"><lane id="cb_0" index="0" speed="10" length="100"
 shape="200,1 100,1"/></edge>
<edge id="da" from="D" to="A"><lane id="da_0" index="0" speed="10" length="120"
 shape="99,98 0,3"/></edge>
<connection from="ab" to="bc" fromLane="0" toLane="0" via=":B_0_0"/>
<connection from="ab" to="bd" fromLane="0" toLane="0" via=":B_1_0"/>
<connection from="bc" to="cb" fromLane="0" toLane="0"/>
<connection from="cb" to="bd" fromLane="0" toLane="0"/>
<connection from="bd" to="da" fromLane="0" toLane="0"/>
<connection from="da" to="ab" fromLane="0" toLane="0"/>
<connection from=":B_0" to="bc" fromLane="0" toLane="0"/>
<connection from=":B_1" to="bd" fromLane="0" toLane="0" via=":B_2_0"/>
<connection from=":B_2" to="bd" fromLane="0" toLane="0"/>
</net>"""
GAPS_M = {("bc", "cb"): 2.0, ("cb", "bd"): np.hypot(1, 7), ("bd", "da"): 0.0, ("da", "ab"): 4.0}


def town(folder: Path, text: str = TOWN, lengths: str = "driven") -> RoadNetwork:
    path = folder / "town.net.xml"
    path.write_text(text, encoding="utf-8")
    return sumo_net.read(path, "town", lengths)


def rows(network: RoadNetwork, *edges: str) -> np.ndarray:
    return np.array([network.row_of[edge] for edge in edges], dtype=np.int64)


def test_a_route_is_its_lanes_and_the_lanes_in_junctions(tmp_path: Path) -> None:
    roads = town(tmp_path)
    straight = crossings.along_m(roads, rows(roads, "ab", "bc"))
    assert straight.tolist() == [92.0, 8.0 + 100.0]
    left = crossings.along_m(roads, rows(roads, "ab", "bd", "da"))
    assert left.tolist() == [92.0, 6.0 + 5.0 + 90.0, 0.0 + 120.0]
    assert len(crossings.along_m(roads, rows(roads))) == 0


def test_an_edge_contains_the_mean_crossing_into_it(tmp_path: Path) -> None:
    """Into bd lead 11 m from ab and the straight gap from cb; cars turn back into cb alone."""
    roads = town(tmp_path)
    into_m = [4.0, 8.0, (11.0 + np.hypot(1, 7)) / 2, 2.0, 0.0]
    assert roads.length_m == pytest.approx(np.array([92, 100, 90, 100, 120]) + into_m)


def test_without_a_lane_in_the_junction_the_gap_counts(tmp_path: Path) -> None:
    roads = town(tmp_path)
    for (left, entered), gap_m in GAPS_M.items():
        driven_m = crossings.along_m(roads, rows(roads, left, entered))[1]
        lane_m = crossings.along_m(roads, rows(roads, entered))[0]
        assert driven_m - lane_m == pytest.approx(gap_m)


def test_the_shape_of_a_turn_joins_the_shapes_of_its_lanes(tmp_path: Path) -> None:
    roads = town(tmp_path)
    points = crossings.points_along(roads, rows(roads, "ab", "bd"))[0]
    x_m = np.asarray(roads.tables["crossings"]["x_m"])[points] - 500_000.0
    assert x_m == pytest.approx([92.0, 97.0, 97.0, 99.0])
    assert len(crossings.points_along(roads, rows(roads, "bc", "cb"))[0]) == 0
    along, turns = crossings.points_along(roads, rows(roads, "bc", "cb", "ab", "bd"))
    assert along[turns == 2].tolist() == points.tolist()


def test_lengths_to_the_centres_of_junctions_equal_earlier_versions(tmp_path: Path) -> None:
    roads = town(tmp_path, lengths="junctions")
    assert roads.length_m == pytest.approx([95, 105, np.hypot(5, 100), 105, np.hypot(100, 100)])
    assert "crossings" not in roads.tables
    assert crossings.along_m(roads, rows(roads, "ab", "bc")).tolist() == [95.0, 105.0]
    with pytest.raises(UnknownNameError, match=r"unknown lengths 'short'. There are driven, junc"):
        town(tmp_path, lengths="short")


def test_a_city_of_the_data_folder_has_driven_lengths_or_lengths_of_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data" / "monaco" / "most.net.xml.gz"
    path.parent.mkdir(parents=True)
    path.write_text(TOWN, encoding="utf-8")
    monkeypatch.setenv("EVROUTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    driven = catalog.load_network("monaco")
    straight = rows(driven, "ab", "bc")
    assert crossings.along_m(driven, straight).tolist() == [92.0, 108.0]
    done = CliRunner().invoke(app, ["network", "build", "monaco", "--lengths", "junctions"])
    assert done.exit_code == 0, done.output
    papers = catalog.load_network("monaco")
    assert papers.length_m[straight].tolist() == [95.0, 105.0]
    assert "crossings" not in papers.tables
    with pytest.raises(UnknownNameError, match=r"no network 'nowhere'. There are: monaco"):
        catalog.built_with("nowhere", "junctions")


def test_a_part_of_a_network_keeps_its_crossings(tmp_path: Path) -> None:
    built = catalog.build(town(tmp_path), smoothing_m=0.0)
    store.save(built, tmp_path / "town.npz")
    left = closures.close(
        store.load(tmp_path / "town.npz"), np.array([e == "bc" for e in built.edge_id]), "left"
    )
    named = street_names.add_names(left, built)
    for roads in (built, left, named):
        driven_m = crossings.along_m(roads, rows(roads, "ab", "bd", "da"))
        assert driven_m.tolist() == [92.0, 101.0, 120.0]
        points = crossings.points_along(roads, rows(roads, "ab", "bd"))[0]
        x_m = np.asarray(roads.tables["crossings"]["x_m"])[points] - 500_000.0
        assert x_m == pytest.approx([92.0, 97.0, 97.0, 99.0])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('via=":B_2_0"', 'via=":B_9_0"', "leads over lane ':B_9_0', which is not in the file"),
        ('length="6"', 'length="-6"', "lane ':B_1_0' has the length -6"),
        ('length="6"', 'length="nan"', "lane ':B_1_0' has the length nan"),
        ("97,0 99,8", "97,0 99,eight", "line 7: could not convert string to float: 'eight'"),
        (
            '<connection from=":B_2" to="bd" fromLane="0" toLane="0"/>',
            '<connection from=":B_2" to="bd" fromLane="0" toLane="0" via=":B_1_0"/>',
            "leads over more than 8 internal lanes",
        ),
    ],
)
def test_bad_lanes_in_junctions_are_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert TOWN.count(old) == 1
    with pytest.raises(NetworkFormatError, match=r"town\.net\.xml") as refusal:
        town(tmp_path, TOWN.replace(old, new))
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_lengths_belong_to_sumo(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["network", "build", "x", "--osm", str(tmp_path / "x.osm"), "--lengths", "driven"]
    )
    assert done.exit_code == 2
    assert "--lengths is an option of --sumo" in done.output


@pytest.mark.parametrize(
    ("city", "file"),
    [("luxembourg", "lust.net.xml.gz"), ("monaco", "most.net.xml.gz")],
)
def test_stated_kilometres_equal_the_file(data_dir: Path, city: str, file: str) -> None:
    """Its tracks are as long: lanes are not all as long as their shapes."""
    path = data_dir / city / file
    network, lanes = catalog.build(sumo_net.read(path, city)), Lanes(path)
    off: list[float] = []
    for plan in plans(network, 20):
        route = plan.recommended_route
        assert route.length_m == pytest.approx(lanes.route_m(route.edges), rel=1e-3)
        assert sum(each.length_m for each in route.streets) == pytest.approx(route.length_m)
        off.append(abs(gpx_m(network, plan) / route.length_m - 1.0))
    assert np.median(off) < 0.004
    assert np.quantile(off, 0.9) < 0.0065
    assert max(off) < 0.015


def test_tracks_on_roads_of_openstreetmap_are_as_long_as_stated(denver: RoadNetwork) -> None:
    for plan in plans(denver, 40):
        route = plan.recommended_route
        assert gpx_m(denver, plan) == pytest.approx(route.length_m, rel=5e-3)


def test_batches_and_plans_state_the_same_kilometres(tmp_path: Path) -> None:
    network = catalog.build(town(tmp_path), smoothing_m=0.0)
    planner = Planner(network, "reference", physics="driving")
    ends: tuple[FloatArray, ...] = (rows(network, "ab", "ab"), rows(network, "da", "cb"))
    batch_m = planner.energies(*ends).length_m
    assert batch_m == pytest.approx([92 + 101 + 120, 92 + 8 + 100 + 2 + 100])
    route = planner.plan("ab", "da").routes["energy"]
    assert route.length_m == pytest.approx(batch_m[0])


@pytest.mark.parametrize("physics", ["driving", "eq8"])
def test_matrices_and_plans_state_the_same_kilometres(tmp_path: Path, physics: str) -> None:
    network = catalog.build(town(tmp_path), smoothing_m=0.0)
    planner = Planner(network, "reference", physics=physics)
    names = ("ab", "bd", "da", "cb")
    origins, destinations = (
        [Stop(name, name, positions(network, name, leaving=leaving)) for name in names]
        for leaving in (True, False)
    )
    length_m = energy_matrix(planner, origins, destinations)[2]
    assert length_m[0, 2] == pytest.approx(92 + 101 + 120)
    for o, origin in enumerate(names):
        for d, destination in enumerate(names):
            if o != d:
                route = planner.plan(origin, destination).routes["energy"]
                assert length_m[o, d] == pytest.approx(route.length_m)
