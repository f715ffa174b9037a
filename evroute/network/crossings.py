"""Crossings: the metres that cars drive inside junctions, turn by turn.

The optional table ``crossings`` of a network has columns ``lane_m``, (n,): the length of each edge
between its two junctions; ``turn_m``, (m,): the length of each turn inside its junction; and the
shape of turn t, points ``start[t]`` to ``start[t + 1]`` of ``x_m`` and ``y_m``.

The kilometres of a route add its edges and turns. The length of an edge itself contains
the mean crossing into it (`mean_into`): energies and minutes of edges, which do not depend on the
edge before, count the crossings in the mean.
"""

from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray, IntArray, expanded
from evroute.network.optional_tables import Table
from evroute.network.road_network import RoadNetwork

NAME = "crossings"


def mean_into(turns: IntArray, turn_m: FloatArray, tail: IntArray, head: IntArray) -> FloatArray:
    """Return the mean length of the turns into each edge, (n,) m, 0 where there is none.

    Turns back to where an edge began count only where there is no other.

    Parameters
    ----------
    turns, turn_m
        (m, 2) edge rows of turns, and (m,) their lengths, m.
    tail, head
        (n,) rows of the junctions of the edges.
    """
    n, (left, entered) = len(tail), turns.T
    on = (tail[left] != head[entered]).astype(np.float64)
    counts = np.bincount(entered, on, minlength=n)
    weight = np.where(counts[entered] > 0.0, on, 1.0)
    total_m = np.bincount(entered, weight * turn_m, minlength=n)
    return total_m / np.maximum(np.bincount(entered, weight, minlength=n), 1.0)


def lanes_m(network: RoadNetwork, rows: IntArray) -> FloatArray:
    """Return the lengths of edges without the turns before them, (k,) m.

    Parameters
    ----------
    network
        The roads. Without crossings the lengths are the lengths of the edges.
    rows
        (k,) edges.
    """
    if NAME not in network.tables:
        return network.length_m[rows]
    return np.asarray(network.tables[NAME]["lane_m"])[rows]


def along_m(network: RoadNetwork, rows: IntArray, share: FloatArray | float = 1.0) -> FloatArray:
    """Return the lengths of the edges of a route as driven, each with the turn before it, (k,) m.

    Parameters
    ----------
    network
        The roads. Without crossings the lengths are the lengths of the edges.
    rows
        (k,) edges in driving order.
    share
        (k,) shares of them that are driven. Turns are driven whole.
    """
    if NAME not in network.tables:
        return share * network.length_m[rows]
    turn_m = np.asarray(network.tables[NAME]["turn_m"])
    turn = network.turn_rows(rows[:-1], rows[1:])
    before_m = np.where(turn >= 0, turn_m[turn] if len(turn_m) else 0.0, 0.0)
    first = np.zeros(min(len(rows), 1))
    return share * lanes_m(network, rows) + np.concatenate([first, before_m])


def arm_lengths_m(network: RoadNetwork, edge: IntArray) -> FloatArray:
    """Return the lengths of arms as driven, (a,) m: of edges, or of turns and then starts.

    Parameters
    ----------
    network
        The roads.
    edge
        (a,) the edge that each arm enters.
    """
    if NAME not in network.tables or len(edge) != len(network.turns) + network.n_edges:
        return network.length_m[edge]
    lane_m = np.asarray(network.tables[NAME]["lane_m"])
    turn_m = np.asarray(network.tables[NAME]["turn_m"])
    return lane_m[edge] + np.append(turn_m, np.zeros(network.n_edges))


def beyond_mean_m(network: RoadNetwork, left: IntArray, entered: IntArray) -> FloatArray:
    """Return by how much turns are longer than the mean that lengths of edges contain, (k,) m.

    Parameters
    ----------
    network
        The roads. It is 0 without crossings.
    left, entered
        (k,) edges before and after each turn. A negative one before stands for no turn.
    """
    if NAME not in network.tables:
        return np.zeros(len(entered))
    turn_m = np.append(np.asarray(network.tables[NAME]["turn_m"]), 0.0)
    row = np.where(left >= 0, network.turn_rows(np.maximum(left, 0), entered), -1)
    return turn_m[row] + lanes_m(network, entered) - network.length_m[entered]


def points_along(network: RoadNetwork, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the points of the table's shapes between successive edges, and their turns, (p,) each.

    Parameters
    ----------
    network
        The roads.
    rows
        (k,) edges in driving order. Turn j of k - 1 leaves edge j.
    """
    if NAME not in network.tables:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    turn = network.turn_rows(rows[:-1], rows[1:])
    known = np.flatnonzero(turn >= 0)
    points, place = expanded(np.asarray(network.tables[NAME]["start"]), turn[known])
    return points, known[place]


def table_of(
    lane_m: FloatArray, turn_m: FloatArray, shapes: Sequence[FloatArray]
) -> dict[str, Table]:
    """Return the table of a network.

    Parameters
    ----------
    lane_m
        (n,) lengths of the edges between their junctions, m.
    turn_m, shapes
        (m,) lengths of the turns, m, and their m shapes, (p, 2) m each.
    """
    points = np.vstack([np.empty((0, 2)), *shapes])
    start = np.append(0, np.cumsum([len(shape) for shape in shapes], dtype=np.int64))
    columns = {"lane_m": lane_m, "turn_m": turn_m, "start": start}
    return {NAME: {**columns, "x_m": points[:, 0], "y_m": points[:, 1]}}
