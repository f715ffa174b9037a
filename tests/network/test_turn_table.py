"""The table of turns: its rows, its angles, and what a route passes."""

from math import pi

import numpy as np
import pytest

from evroute.network.turn_table import TurnTable


@pytest.fixture
def crossing(make_network):
    """In from the west; on to the east, left to the north, right to the south; from the north far
    down.
    """
    places = [(0, 0, 0), (100, 0, 0), (200, 0, 0), (100, 100, 0), (100, -100, 0)]
    edges = [("in", 0, 1), ("on", 1, 2), ("left", 1, 3), ("down", 3, 4), ("right", 1, 4)]
    return make_network(edges, places)


def test_rows_are_the_turns_and_then_a_start_on_every_edge(crossing) -> None:
    table = TurnTable.from_network(crossing)
    turns = [tuple(turn) for turn in crossing.turns.tolist()]
    starts = [(e, e) for e in range(crossing.n_edges)]
    assert list(zip(table.left.tolist(), table.entered.tolist(), strict=True)) == turns + starts
    assert (len(table), table.n_turns) == (len(turns) + 5, len(turns))


def test_angles_of_turns_follow_from_the_shapes(crossing) -> None:
    table, row = TurnTable.from_network(crossing), crossing.row_of
    angle = {
        (int(a), int(b)): x
        for a, b, x in zip(table.left, table.entered, table.angle_rad, strict=True)
        if a != b
    }
    assert angle[row["in"], row["on"]] == pytest.approx(0)
    assert angle[row["in"], row["left"]] == pytest.approx(pi / 2)
    assert angle[row["in"], row["right"]] == pytest.approx(pi / 2)
    assert angle[row["left"], row["down"]] == pytest.approx(pi)


def test_a_route_passes_a_start_and_its_turns(crossing) -> None:
    table, row = TurnTable.from_network(crossing), crossing.row_of
    route = np.array([row[e] for e in ("in", "left", "down")])
    rows = table.rows_along(route)
    assert rows[0] == table.n_turns + row["in"]
    np.testing.assert_array_equal(table.left[rows[1:]], route[:-1])
    np.testing.assert_array_equal(table.entered[rows], route)


def test_a_route_that_leaps_is_refused(crossing) -> None:
    table, row = TurnTable.from_network(crossing), crossing.row_of
    with pytest.raises(ValueError, match="no legal turn leads from edge row"):
        table.rows_along(np.array([row["on"], row["right"]]))
