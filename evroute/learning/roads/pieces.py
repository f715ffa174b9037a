"""Roads that a map has in pieces: a junction was added on the way.

A road is found as a chain of roads from its tail to its head, each of which a turn joins to the
next, if the chain has its length and passes its middle.
"""

import numpy as np
from scipy.spatial import KDTree

from evroute.arrays import FloatArray, IntArray
from evroute.learning.roads.road_lines import LENGTH_SHARE, LINE_M, RoadLines
from evroute.network.road_network import RoadNetwork

MOST_PIECES = 6
"""Greatest number of pieces of a road."""


def in_pieces(roads: RoadLines, network: RoadNetwork) -> dict[int, IntArray]:
    """Return the rows of the pieces of roads by their position, those found alone.

    Parameters
    ----------
    roads
        k roads on the sheets of the network, of which it has none as a whole.
    network
        The network.
    """
    if not len(roads):
        return {}
    junctions_m = np.column_stack([network.x_m, network.y_m, np.zeros(network.n_junctions)])
    apart_m, ends = KDTree(junctions_m).query(roads.points_m[:, [0, 2]])
    found = {}
    for k in np.flatnonzero((apart_m <= LINE_M).all(axis=1)).tolist():
        first, last = ends[k].tolist()
        most_m = roads.length_m[k] * (1.0 + LENGTH_SHARE) + LINE_M
        for chain in _chains(network, first, last, most_m):
            if _is(chain, roads.length_m[k], roads.points_m[k, 1, :2], network):
                found[k] = np.array(chain, dtype=np.int64)
                break
    return found


def _chains(network: RoadNetwork, first: int, last: int, most_m: float) -> list[list[int]]:
    """Return the chains of edges from a junction to another one up to a length, m."""
    begun = [[row] for row in np.flatnonzero(network.tail == first).tolist()]
    ended = []
    while begun:
        chain = begun.pop()
        if network.length_m[chain].sum() > most_m:
            continue
        head = int(network.head[chain[-1]])
        if head == last:
            ended.append(chain)
        elif len(chain) < MOST_PIECES:
            after = network.turns[network.turns[:, 0] == chain[-1], 1].tolist()
            begun += [[*chain, row] for row in after if row not in chain]
    return ended


def _is(chain: list[int], length_m: float, middle_m: FloatArray, network: RoadNetwork) -> bool:
    """Return whether a chain has the length of a road, and passes its middle."""
    longer_m = abs(float(network.length_m[chain].sum()) - length_m)
    if longer_m > LENGTH_SHARE * length_m + LINE_M:
        return False
    start = network.shape_start
    points_m = np.concatenate(
        [
            np.column_stack([network.shape_x_m, network.shape_y_m])[start[row] : start[row + 1]]
            for row in chain
        ]
    )
    return _distance_m(points_m, middle_m) <= LINE_M


def _distance_m(points_m: FloatArray, place_m: FloatArray) -> float:
    """Return the distance of a place from a line of points (k, 2), m."""
    begin_m, step_m = points_m[:-1], np.diff(points_m, axis=0)
    squared = np.maximum((step_m**2).sum(axis=1), 1e-12)
    share = np.clip(((place_m - begin_m) * step_m).sum(axis=1) / squared, 0.0, 1.0)
    nearest_m = begin_m + share[:, np.newaxis] * step_m
    return float(np.linalg.norm(nearest_m - place_m, axis=1).min())
