"""Names of places: junctions after their streets, named places, unnamed roads, and finding them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from closures import close
from pyproj import Transformer

from evroute.errors import EvrouteError, NetworkFormatError, UnknownNameError
from evroute.network import store
from evroute.network.catalog import build
from evroute.network.places import names
from evroute.network.places.locate import locate
from evroute.network.road_network import RoadNetwork

X, Y = 500_000.0, 4_800_000.0
TO_DEGREES = Transformer.from_crs("EPSG:32632", "EPSG:4326", always_xy=True)


def degrees(east_m: float, north_m: float) -> tuple[float, float]:
    lon, lat = TO_DEGREES.transform(X + east_m, Y + north_m)
    return float(lon), float(lat)


@pytest.fixture
def town(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """Long Road runs 4 km east over junctions 0 to 4; streets cross at 1, 2 and 3.

    Junctions 2 and 5 are two carriageways, 30 m apart; at 3 and at 1 the same Oak Street crosses, 2
    km apart. Edge "gap" has no name.
    """
    at = [(0, 0), (1000, 0), (2000, 0), (3000, 0), (4000, 0), (2000, 30), (1000, 500), (3000, 500)]
    edges = [
        ("r1", 0, 1, "Long Road"),
        ("r2", 1, 2, "Long Road"),
        ("r3", 2, 3, "Long Road"),
        ("r4", 3, 4, "Long Road"),
        ("cut", 2, 5, "Élan Way"),
        ("back", 5, 1, "Long Road"),
        ("o1", 1, 6, "Oak Street"),
        ("o3", 3, 7, "Oak Street"),
        ("gap", 7, 6, ""),
        ("e5", 5, 6, "Élan Way"),
    ]
    network = make_network(
        [edge[:3] for edge in edges], [(X + x, Y + y, 0.0) for x, y in at], name="town"
    )
    return replace(network, street=tuple(edge[3] for edge in edges))


def with_places(network: RoadNetwork, *places: tuple[str, float, float]) -> RoadNetwork:
    rows = [(name, *degrees(x, y)) for name, x, y in places]
    return network.with_tables({"places": names.place_table(rows)})


def test_junctions_are_called_after_their_streets(town: RoadNetwork) -> None:
    assert [names.junction_label(town, row) for row in (2, 5)] == ["Long Road & Élan Way"] * 2
    oak = [names.junction_label(town, row) for row in (1, 3)]
    assert oak == ["Long Road & Oak Street"] * 2
    assert names.junction_label(town, 6) == "Oak Street & Élan Way"
    numbered = replace(town, street=tuple("17th Street" if s else "" for s in town.street))
    numbered = replace(numbered, street=("Blake Street", *numbered.street[1:]))
    assert names.junction_label(numbered, 1) == "Blake Street & 17th Street"


def test_crossings_of_one_name_far_apart_are_several_places(town: RoadNetwork) -> None:
    lon, lat = degrees(1000, 0)
    near, far = f"({lat:.5f},{lon:.5f})", "({1:.5f},{0:.5f})".format(*degrees(3000, 0))
    assert names.labels(town) == [
        f"Long Road & Oak Street {near}",
        f"Long Road & Oak Street {far}",
        "Long Road & Élan Way",
        "Oak Street & Élan Way",
    ]
    (both,) = names.find(town, "Long Road & Élan Way")
    assert both.junctions == (2, 5)
    assert (both.lon, both.lat) == pytest.approx(degrees(2000, 0))
    with pytest.raises(EvrouteError, match=r"may be 2 places of network 'town'.*Oak Street \("):
        locate(town, "Long Road & Oak Street")
    assert locate(town, f"Long Road & Oak Street {near}") == (
        town.row_of["r1"],
        town.row_of["back"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "long road & élan way",
        "Elan Way and Long Road",
        "elan/long",
        "LONG ROAD, ELAN WAY",
        "élan lo",
    ],
)
def test_order_case_accents_and_ends_of_words_do_not_count(town: RoadNetwork, text: str) -> None:
    assert [place.label for place in names.find(town, text)] == ["Long Road & Élan Way"]


def test_numbers_must_be_complete(denver: RoadNetwork) -> None:
    assert [place.label for place in names.find(denver, "blake & 17")] == [
        "Blake Street & 17th Street"
    ]
    assert not names.find(denver, "blake & 1")
    assert not names.find(denver, "!!")


def test_a_complete_name_comes_before_longer_ones(town: RoadNetwork) -> None:
    places = with_places(town, ("Oak", 100, 0), ("Oak Inn", 200, 0))
    assert [place.label for place in names.find(places, "oak")] == ["Oak"]
    assert {place.label for place in names.find(places, "oa")} == {
        "Oak",
        "Oak Inn",
        "Oak Street & Élan Way",
        *(label for label in names.labels(town) if label.startswith("Long Road & Oak")),
    }


def test_a_misspelt_name_gets_the_nearest_spellings(denver: RoadNetwork) -> None:
    with pytest.raises(
        UnknownNameError, match=r"no place 'Blke & 17th'. Similar names: "
    ) as caught:
        locate(denver, "Blke & 17th")
    assert "Blake Street & 17th Street" in str(caught.value)
    assert str(caught.value).count(";") <= names.LISTED
    with pytest.raises(EvrouteError, match=r"'Blake Street' may be 23 places.*; and 18 more$"):
        locate(denver, "Blake Street")


def test_edge_ids_and_coordinates_come_before_names(town: RoadNetwork) -> None:
    places = with_places(town, ("r1", 3500, 0), ("43.0,9.0", 3500, 0))
    assert locate(places, "r1") == (0,)
    with pytest.raises(EvrouteError, match="from the nearest road"):
        locate(places, "43.0,9.0")


def test_a_junction_stands_for_the_edges_that_leave_it_or_lead_to_it(town: RoadNetwork) -> None:
    ids = [
        {town.edge_id[row] for row in locate(town, "Long Road & Élan Way", leaving=leaving)}
        for leaving in (True, False)
    ]
    assert ids == [{"r3", "back", "e5"}, {"r2"}]


def test_a_place_beside_the_road_takes_the_nearest_edge(town: RoadNetwork) -> None:
    assert locate(with_places(town, ("Car park", 3500, 40)), "car park") == (town.row_of["r4"],)


def test_unnamed_roads_go_by_class_distance_and_bearing_never_by_id(town: RoadNetwork) -> None:
    gap = town.row_of["gap"]  # its middle: 2000 m east, 500 m north
    parked = with_places(town, ("Car park", 2000, 260))
    assert names.edge_label(parked, gap) == "road 240 m north of Car park"
    for road_class, kind in {
        "service": "service road",
        "highway.trunk_link": "slip road",
        "highway.primary_tunnel": "main road",
        "living_street": "residential street",
    }.items():
        classed = replace(town, road_class=(road_class,) * town.n_edges)
        expected = f"{kind} 500 m north of Long Road & Élan Way"
        assert names.edge_label(with_places(classed, ("P", 3500, 0)), gap) == expected
    assert names.junction_label(town, 7) == (
        "Oak Street, 500 m north of Long Road & Oak Street ({1:.5f},{0:.5f})".format(
            *degrees(3000, 0)
        )
    )
    far = with_places(replace(town, street=("",) * town.n_edges), ("P", 2000, -750))
    assert names.edge_label(far, gap) == "road 1.2 km north of P"
    bare = replace(town, street=("",) * town.n_edges)
    lon, lat = degrees(2000, 500)
    assert names.edge_label(bare, gap) == f"road at {lat:.4f},{lon:.4f}"


@pytest.mark.parametrize(
    ("east_m", "north_m", "bearing"),
    [(-240, 0, "east"), (-240, -240, "north-east"), (240, 0, "west"), (90, -240, "north")],
)
def test_bearings_are_of_the_road_from_the_place(
    town: RoadNetwork, east_m: float, north_m: float, bearing: str
) -> None:
    gap = town.row_of["gap"]
    label = names.edge_label(with_places(town, ("P", 2000 + east_m, 500 + north_m)), gap)
    metres = round(float(np.hypot(east_m, north_m)), -1)
    assert label == f"road {metres:.0f} m {bearing} of P"


def test_consecutive_edges_of_one_street_are_one_row(town: RoadNetwork) -> None:
    rows = [town.row_of[edge] for edge in ("r1", "r2", "r3", "o3", "gap")]
    streets = [(label, part) for label, part in names.stretches(town, rows)]
    assert streets[:2] == [("Long Road", slice(0, 3)), ("Oak Street", slice(3, 4))]
    assert streets[2][0].startswith("road ")
    assert streets[2][1] == slice(4, 5)


def test_tables_are_built_stored_and_kept_by_closures(town: RoadNetwork, tmp_path: Path) -> None:
    both_ways = [
        (f"{name}{way}", *((tail, head) if way else (head, tail)))
        for name, tail, head in zip(town.edge_id, town.tail, town.head, strict=True)
        for way in (0, 1)
    ]
    doubled = replace(
        town,
        edge_id=tuple(edge[0] for edge in both_ways),
        tail=np.array([edge[1] for edge in both_ways]),
        head=np.array([edge[2] for edge in both_ways]),
        **{
            column: np.repeat(getattr(town, column), 2)
            for column in ("length_m", "speed_mps", "structure")
        },
        street=tuple(np.repeat(town.street, 2).tolist()),
        road_class=("",) * 2 * town.n_edges,
        turns=np.array(
            sorted(
                (a, b)
                for a, (_, _, head) in enumerate(both_ways)
                for b, (_, tail, _) in enumerate(both_ways)
                if head == tail
            )
        ),
        shape_start=2 * np.arange(2 * town.n_edges + 1),
        shape_x_m=town.x_m[[end for edge in both_ways for end in edge[1:]]],
        shape_y_m=town.y_m[[end for edge in both_ways for end in edge[1:]]],
    )
    built = build(with_places(doubled, ("Car park", 3900, 260), ("Far", 3500, 5000)))
    store.save(built, tmp_path / "town.npz")
    again = store.load(tmp_path / "town.npz")
    assert set(again.tables) - {"cch"} == {"names", "places"}
    assert again.tables["places"]["name"] == ("Car park",)
    assert len(again.tables["names"]["junction"]) == again.n_junctions
    derived = replace(again)  # drops the tables
    assert [label for label in names.labels(again) if label != "Car park"] == names.labels(derived)
    closed = np.array([edge.startswith("r1") for edge in again.edge_id])
    assert "Car park" in names.labels(close(again, closed, "works"))


@pytest.mark.parametrize(
    "tables",
    [
        {"names": {"junction": ("a",)}},
        {"places": {"name": ("a",), "lon": np.zeros(2), "lat": np.zeros(2)}},
        {"places": {"name": ("a",), "lon": ("x",), "lat": np.zeros(1)}},
        {"places": {"name": ("a",), "lon": np.zeros(1)}},
        {"places": {"name": ("a",), "lon": (None,), "lat": np.zeros(1)}},
        {"names": {"street": ("a",)}},
        {"names": {"junction": np.array(3.0)}},
    ],
)
def test_damaged_tables_are_refused(town: RoadNetwork, tables: dict[str, names.Table]) -> None:
    with pytest.raises(NetworkFormatError, match="Build the network again"):
        names.labels(town.with_tables(tables))


def test_names_are_one_line_of_text(town: RoadNetwork) -> None:
    places = with_places(town, ("A\nB;\x07 C", 3500, 0))
    assert "A B, C" in names.labels(places)
    stored = town.with_tables(
        {"places": {"name": ("x\ud800\ny", 3), "lon": np.zeros(2), "lat": np.array([0.0, np.nan])}}  # type: ignore[dict-item]
    )
    assert {"x y", "3"} <= {label.partition(" (")[0] for label in names.labels(stored)}
