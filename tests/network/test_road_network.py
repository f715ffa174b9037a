import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from evroute.errors import LimitError, NetworkFormatError
from evroute.network import memory
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source

MakeNetwork = Callable[..., RoadNetwork]


def graph_of(network: RoadNetwork) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.n_edges))
    graph.add_edges_from(network.turns.tolist())
    return graph


def random_network(make_network: MakeNetwork, rng: np.random.Generator) -> RoadNetwork:
    """A sparse random network whose line graph falls into several strongly connected components."""
    v = int(rng.integers(4, 15))
    ends = rng.integers(v, size=(int(rng.integers(3, 30)), 2))
    positions = [tuple(place) for place in rng.uniform(0, 1000, size=(v, 3)) * [1, 1, 0.02]]
    edges = [(f"e{k}", int(a), int(b)) for k, (a, b) in enumerate(ends) if a != b]
    return make_network(edges or [("e", 0, 1)], positions)


def test_incline_climb_and_time_of_an_edge_by_hand(make_network: MakeNetwork) -> None:
    network = make_network(
        [("e", 0, 1)], [(0, 0, 10), (30, 40, 0)], length_m=[100.0], speed_mps=12.5
    )
    assert network.climb_m.tolist() == [-10.0]
    assert np.sin(network.incline_rad) == pytest.approx([-0.1])
    assert network.time_s.tolist() == [8.0]


def test_columns_cannot_be_written(hill: RoadNetwork) -> None:
    with pytest.raises(ValueError, match="read-only"):
        hill.length_m[0] = 1.0


def test_strongest_component_is_the_one_that_networkx_finds(make_network: MakeNetwork) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        network = random_network(make_network, rng)
        components = list(nx.strongly_connected_components(graph_of(network)))
        kept = network.strongest_component()
        assert kept.n_edges == max(map(len, components))
        assert {network.row_of[edge] for edge in kept.edge_id} in components


def test_strongest_component_of_the_embedded_network_is_itself(denver: RoadNetwork) -> None:
    assert nx.is_strongly_connected(graph_of(denver))


def test_a_subset_keeps_every_column_of_its_edges_and_the_turns_between_them(
    denver: RoadNetwork,
) -> None:
    wanted = np.random.default_rng(2).random(denver.n_edges) < 0.4
    part = denver.subset(wanted)
    assert part.edge_id == tuple(np.array(denver.edge_id)[wanted])
    for new, edge_id in enumerate(part.edge_id):
        old = denver.row_of[edge_id]
        for column in ("length_m", "speed_mps", "structure", "climb_m", "street", "road_class"):
            assert getattr(part, column)[new] == getattr(denver, column)[old]
        for side in ("tail", "head"):
            was, now = getattr(denver, side)[old], getattr(part, side)[new]
            assert part.junction_id[now] == denver.junction_id[was]
            assert (part.x_m[now], part.y_m[now]) == (denver.x_m[was], denver.y_m[was])
        points = slice(*denver.shape_start[old : old + 2]), slice(*part.shape_start[new : new + 2])
        assert np.array_equal(denver.shape_x_m[points[0]], part.shape_x_m[points[1]])
        assert np.array_equal(denver.shape_y_m[points[0]], part.shape_y_m[points[1]])

    def turns(network: RoadNetwork) -> set[tuple[str, str]]:
        return {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns.tolist()}

    among = set(part.edge_id)
    assert turns(part) == {(a, b) for a, b in turns(denver) if a in among and b in among}
    assert set(part.junction_id) == {
        part.junction_id[j] for j in np.concatenate([part.tail, part.head])
    }


def test_the_whole_as_a_subset_is_equal(denver: RoadNetwork) -> None:
    assert (
        denver.subset(np.ones(denver.n_edges, dtype=bool)).content_digest == denver.content_digest
    )


def test_a_subset_of_nothing_is_refused(hill: RoadNetwork) -> None:
    with pytest.raises(NetworkFormatError, match="no road that a passenger car may drive"):
        hill.subset(np.zeros(hill.n_edges, dtype=bool))


def test_equality_and_digest_see_every_change_that_matters(hill: RoadNetwork) -> None:
    assert hill.content_digest == replace(hill).content_digest
    assert hill.digest == replace(hill, name="other").digest
    for column in ("length_m", "speed_mps", "elevation_m"):
        changed = replace(hill, **{column: getattr(hill, column) * (1 + 1e-15) + 1e-12})
        assert hill.content_digest != changed.content_digest
        assert hill.digest != changed.digest


def nth(values: Any, k: int, new: float) -> Any:
    changed = np.array(values)
    changed[k] = new
    return changed


BROKEN: dict[str, tuple[Callable[[RoadNetwork], dict[str, Any]], str]] = {
    "edge id twice": (lambda n: {"edge_id": ("up", *n.edge_id[1:])}, "duplicate edge id 'up'"),
    "junction id twice": (
        lambda n: {"junction_id": ("j1", *n.junction_id[1:])},
        "duplicate junction id 'j1'",
    ),
    "no length": (lambda n: {"length_m": nth(n.length_m, 0, 0.0)}, "length_m of edge 'in' is 0.0"),
    "nan length": (
        lambda n: {"length_m": nth(n.length_m, 1, np.nan)},
        "length_m of edge 'up' is nan",
    ),
    "no speed": (
        lambda n: {"speed_mps": nth(n.speed_mps, 2, 0.0)},
        "speed_mps of edge 'down' is 0.0",
    ),
    "endless speed": (
        lambda n: {"speed_mps": nth(n.speed_mps, 2, np.inf)},
        "speed_mps of edge 'down' is inf",
    ),
    "nan height": (
        lambda n: {"elevation_m": nth(n.elevation_m, 0, np.nan)},
        "elevation_m holds 1 values",
    ),
    "steeper than upright": (
        lambda n: {"elevation_m": nth(n.elevation_m, 2, 1e4)},
        "edge 'up' climbs 10000.0 m",
    ),
    "unknown junction": (
        lambda n: {"tail": nth(n.tail, 0, 99)},
        "names a junction that is not there",
    ),
    "unknown edge": (lambda n: {"turns": nth(n.turns, 0, 99)}, "names an edge that is not there"),
    "turn between strangers": (
        lambda n: {"turns": [[0, 2]]},
        "joins edge 'in' to edge 'down', which do not meet",
    ),
    "turn twice": (lambda n: {"turns": n.turns[[0, 0, 1]]}, "sorted and unique"),
    "turns unsorted": (lambda n: {"turns": n.turns[::-1]}, "sorted and unique"),
    "shape of one point": (
        lambda n: {"shape_start": nth(n.shape_start, 1, 1)},
        "at least two points",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_invariant_is_refused_by_name(hill: RoadNetwork, case: str) -> None:
    change, why = BROKEN[case]
    with pytest.raises(NetworkFormatError, match=why):
        replace(hill, **change(hill))


@pytest.mark.parametrize(
    "change", [{"speed_mps": np.ones(3)}, {"street": ("",)}, {"turns": np.zeros((2, 3))}]
)
def test_columns_of_another_size_are_refused(hill: RoadNetwork, change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"shape|entries"):
        replace(hill, **change)


@pytest.mark.parametrize(
    "name", ["../../x", "a b", "", ".hidden", "x" * 201, "x.npz", 5, None, ["x"]]
)
def test_a_name_that_is_no_file_name_is_refused(hill: RoadNetwork, name: Any) -> None:
    with pytest.raises(NetworkFormatError, match=r"cannot name a network|is no text"):
        replace(hill, name=name)


@pytest.mark.parametrize(
    ("crs", "reason"),
    [
        ("EPSG:99999999", "'EPSG:99999999' is not known"),
        ("", "'' is not known"),
        ("{" * 5_000, "{{{... is not known"),
        ("EPSG:4326", "is not in metres"),
        ("EPSG:2263", "is not in metres"),
        (32632, "crs holds 32632, which is no text"),
        (None, "crs holds None, which is no text"),
    ],
)
def test_a_coordinate_system_that_is_not_known_is_refused(
    hill: RoadNetwork, crs: Any, reason: str
) -> None:
    with pytest.raises(NetworkFormatError, match=re.escape(reason)):
        replace(hill, crs=crs)


@pytest.mark.parametrize("column", ["edge_id", "street", "road_class", "junction_id"])
def test_texts_that_are_no_texts_or_too_long_are_refused(hill: RoadNetwork, column: str) -> None:
    n = len(getattr(hill, column))
    with pytest.raises(NetworkFormatError, match=f"{column.replace('_', ' ')} holds 0, which"):
        replace(hill, **{column: tuple(range(n))})
    with pytest.raises(NetworkFormatError, match=f"{column.replace('_', ' ')} holds None"):
        replace(hill, **{column: (None,) * n})
    longest = ("x" * 10_000, *map(str, range(n - 1)))
    assert getattr(replace(hill, **{column: longest}), column) == longest
    with pytest.raises(LimitError, match=f"a text of {column.replace('_', ' ')} has 10,001"):
        replace(hill, **{column: ("x" * 10_001, *map(str, range(n - 1)))})


def test_a_source_of_another_kind_is_refused() -> None:
    for wrong in ({"kind": 5}, {"kind": "x", "notes": (1,)}, {"kind": "x", "attribution": None}):
        with pytest.raises(NetworkFormatError, match=r"(source|attribution) holds"):
            Source(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NetworkFormatError, match="smoothing_m of the source is 'x'"):
        Source("x", smoothing_m="x")  # type: ignore[arg-type]


def test_too_many_edges_and_turns_are_refused(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(hill, name="same")
    for edge_bytes, turn_bytes in ((1e6, 0), (0, 1e6)):  # one MB each
        count = hill.n_edges if edge_bytes else len(hill.turns)
        with monkeypatch.context() as patch:
            patch.setattr(memory, "EDGE_BYTES", edge_bytes)
            patch.setattr(memory, "TURN_BYTES", turn_bytes)
            patch.setenv("EVROUTE_MAX_NETWORK_MB", str(count))
            replace(hill, name="same")
            patch.setenv("EVROUTE_MAX_NETWORK_MB", str(count - 1))
            with pytest.raises(LimitError, match=rf": {count} MB. .*EVROUTE_MAX_NETWORK_MB"):
                replace(hill, name="same")


def test_rows_of_turns_are_found_for_any_pairs_of_edges(hill) -> None:
    left, entered = (grid.ravel() for grid in np.indices((hill.n_edges, hill.n_edges)))
    by_hand = {tuple(turn): row for row, turn in enumerate(hill.turns.tolist())}
    expected = [by_hand.get(pair, -1) for pair in zip(left.tolist(), entered.tolist(), strict=True)]
    assert hill.turn_rows(left, entered).tolist() == expected
    assert hill.has_turns(np.array([*hill.turns[0], *hill.turns[-1]]))[[0, 2]].all()
