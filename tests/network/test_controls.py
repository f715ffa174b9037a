"""Lights, stop signs and right of way of turns, as SUMO's connections and OpenStreetMap's nodes
tell them.
"""

from dataclasses import replace

import numpy as np
import pytest
from closures import close

from evroute.errors import NetworkFormatError
from evroute.network import controls
from evroute.network.controls import GIVES_WAY, LIGHT, RIGHT_OF_WAY, STOP, UNKNOWN
from evroute.network.turn_table import TurnTable

ROAD = {"highway": "residential"}
# 1 - 2 - 3 - 4 - 5 - 6 along a parallel, 7 north of 6
NODES = {i: (i, 0) for i in range(1, 7)} | {7: (6, 1), 8: (7, 0)}
WAYS = {10: ((1, 2, 3, 4, 5, 6), ROAD), 11: ((6, 7), ROAD), 12: ((6, 8), ROAD)}


def by_edge(network, edge_id: str) -> set[int]:
    return set(network.control[network.turns[:, 0] == network.row_of[edge_id]].tolist())


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"state": "M"}, RIGHT_OF_WAY),
        ({"state": "m"}, GIVES_WAY),
        ({"state": "="}, GIVES_WAY),
        ({"state": "s"}, STOP),
        ({"state": "w"}, STOP),
        ({"state": "O", "tl": "7", "linkIndex": "0"}, LIGHT),
        ({}, UNKNOWN),
    ],
)
def test_a_connection_is_controlled_by_its_state_and_its_lights(attributes, expected) -> None:
    assert controls.of_connection(attributes.get("tl", ""), attributes.get("state", "")) == expected


def test_a_light_at_a_junction_stops_arriving_cars_and_no_leaving_ones(
    read_osm,
) -> None:
    network = read_osm(NODES, WAYS, node_tags={6: {"highway": "traffic_signals"}})
    for edge_id in ("1,6,0", "7,6,0", "8,6,0"):
        assert by_edge(network, edge_id) == {LIGHT}
    assert by_edge(network, "6,1,0") == {UNKNOWN}


@pytest.mark.parametrize(
    ("node", "more", "towards_6", "towards_1"),
    [
        (5, {}, STOP, UNKNOWN),
        (2, {}, UNKNOWN, STOP),
        (2, {"direction": "forward"}, STOP, UNKNOWN),
        (5, {"direction": "backward"}, UNKNOWN, STOP),
        (3, {"direction": "both"}, STOP, STOP),
    ],
)
def test_a_sign_on_the_way_is_for_the_nearer_junction_or_as_its_direction_says(
    read_osm, node, more, towards_6, towards_1
) -> None:
    network = read_osm(NODES, WAYS, node_tags={node: {"highway": "stop", **more}})
    assert (by_edge(network, "1,6,0"), by_edge(network, "6,1,0")) == ({towards_6}, {towards_1})


def test_lights_go_before_signs_and_the_notes_count_both(read_osm) -> None:
    tags = {
        5: {"highway": "give_way"},
        6: {"highway": "traffic_signals"},
        2: {"highway": "give_way"},
    }
    network = read_osm(NODES, WAYS, node_tags=tags)
    assert by_edge(network, "1,6,0") == {LIGHT}
    counts = np.bincount(network.control, minlength=5)
    told = (
        f"traffic light {counts[LIGHT]}, stop sign 0, gives way {counts[GIVES_WAY]}, right of way 0"
    )
    assert f"turns: {told}, unknown {counts[UNKNOWN]}" in network.source.notes


def test_turns_keep_theirs_when_edges_go_and_new_ones_have_none(make_network) -> None:
    places = [(0, 0, 0), (100, 0, 0), (200, 0, 0), (100, 100, 0)]
    ring = [("a", 0, 1), ("b", 1, 2), ("c", 2, 1), ("d", 1, 0), ("e", 1, 3), ("f", 3, 1)]
    crossing = make_network(ring, places)
    crossing = replace(crossing, control=np.arange(len(crossing.turns)) % 4 + 1)
    kept = crossing.subset(np.array([True, True, True, True, False, False]))
    told = {
        (crossing.edge_id[a], crossing.edge_id[b]): c
        for (a, b), c in zip(crossing.turns, crossing.control, strict=True)
    }
    assert kept.control.tolist() == [told[kept.edge_id[a], kept.edge_id[b]] for a, b in kept.turns]
    closed = close(crossing, np.array([False, False, False, False, True, True]), "closed")
    for (a, b), c in zip(closed.turns, closed.control, strict=True):
        assert c == told.get((closed.edge_id[a], closed.edge_id[b]), UNKNOWN)
    assert crossing.digest != replace(crossing, control=None).digest


def test_starts_are_held_up_by_nothing(make_network) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (9, 0, 0), (18, 0, 0)])
    table = TurnTable.from_network(replace(network, control=np.array([STOP])))
    assert table.control.tolist() == [STOP, RIGHT_OF_WAY, RIGHT_OF_WAY]
    assert TurnTable.from_network(network).control is None
    np.testing.assert_array_equal(
        controls.contexts(table.control), [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    )


def test_impossible_controls_of_turns_are_refused(make_network) -> None:
    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (9, 0, 0), (18, 0, 0)])
    with pytest.raises(NetworkFormatError, match="control of turns must be 0 to 4"):
        replace(network, control=np.array([5]))
