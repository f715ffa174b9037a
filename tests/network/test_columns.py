"""Columns of a network from the edges of a reader, on three edges by hand."""

import numpy as np
import pytest

from evroute.network.sources.columns import Places, edge_lengths, junction_rows, shape_starts


def test_junctions_are_in_the_order_in_which_edges_name_them() -> None:
    junctions, tail, head = junction_rows([("b", "a"), ("a", "c"), ("c", "c")])
    assert junctions == ("b", "a", "c")
    assert (tail.tolist(), head.tolist()) == ([0, 1, 2], [1, 2, 2])


def test_shapes_begin_where_the_one_before_ends() -> None:
    assert shape_starts([[1, 2], [3, 4, 5], [6, 7]]).tolist() == [0, 2, 5, 7]


@pytest.mark.parametrize(
    ("own_m", "length_m"),
    [
        (7.0, 7.0),  # the road winds
        (4.0, 5.0),  # the junctions are 3 m and 4 m apart
        (np.nan, np.nan),  # refused by the network
    ],
)
def test_a_length_is_at_least_the_planar_distance(own_m: float, length_m: float) -> None:
    places = Places(np.array([0.0, 3.0]), np.array([0.0, 4.0]), np.zeros(2))
    found, notes = edge_lengths(np.array([own_m]), np.array([0]), np.array([1]), places)
    assert found == pytest.approx([length_m], nan_ok=True)
    assert notes == []


def test_a_length_is_at_least_the_climb() -> None:
    places = Places(np.array([0.0, 3.0]), np.zeros(2), np.array([0.0, -9.0]))
    found, _ = edge_lengths(np.array([1.0]), np.array([0]), np.array([1]), places)
    assert found.tolist() == [9.0]


def test_loops_without_a_length_get_the_shortest_and_a_note() -> None:
    places = Places(np.zeros(1), np.zeros(1), np.zeros(1))
    loop = np.zeros(2, dtype=int)
    found, notes = edge_lengths(np.array([0.0, 2.0]), loop, loop, places)
    assert found.tolist() == [0.1, 2.0]
    assert notes == ["1 edges without any length were given 0.1 m"]
