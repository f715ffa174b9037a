"""Via points that keep another program's navigation on a route.

Another program chooses its own way between two points, by speeds that are not known here. So its
speeds are guessed several times, and the via points are those between which its ways leave the
route on the fewest metres, on average over the guesses. The best of all choices among the
candidates is found by dynamic programming.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork

MOST = 3
"""Via points that a link of Google Maps may have on a phone."""
CANDIDATES = 16
GUESSES = 4
SPREAD = 0.25
"""Standard deviation of the logarithm of a guessed travel time of an edge."""
SEED = 0
WORTH_M = 1.0
"""A further via point is worth it if it keeps this many metres more."""


def via_points(
    network: RoadNetwork, edges: IntArray, *, passed: Sequence[int] = (), most: int = MOST
) -> tuple[list[int], float]:
    """Return positions on a route to pass, and the metres that other ways still leave out.

    Parameters
    ----------
    network
        The roads.
    edges
        (k,) rows of the edges of the route, in driving order.
    passed
        Positions among ``edges`` that have to be via points, increasing.
    most
        Greatest number of via points.

    Returns
    -------
    tuple
        Positions among ``edges`` of at most ``most`` via points, increasing, and the expected
        metres of the route that the ways between them do not drive.

    Raises
    ------
    ValueError
        If more than ``most`` positions have to be passed.
    """
    require(len(passed) <= most, f"{len(passed)} via points, at most {most}", ValueError)
    kept = np.unique([*candidates(network, edges), *passed, 0, len(edges) - 1])
    left_m = left_out_m(network, edges, kept)
    for each in np.searchsorted(kept, sorted(passed)):  # no stretch may skip it
        left_m[:each, each + 1 :] = np.inf
    rows, lost_m = _cheapest(left_m, most + 1)
    return [int(kept[row]) for row in rows[1:-1]], lost_m


def candidates(network: RoadNetwork, edges: IntArray) -> IntArray:
    """Return positions of the longest edge in each of `CANDIDATES` equal parts of a route.

    A point on a long edge is far from crossings, so that another program finds the same road.

    Parameters
    ----------
    network, edges
        As in `via_points`.
    """
    length_m = network.length_m[edges]
    middle = np.cumsum(length_m) - length_m / 2
    part = (middle / length_m.sum() * CANDIDATES).astype(int)
    order = np.lexsort((-length_m, part))
    first = np.unique(part[order], return_index=True)[1]
    return np.sort(order[first])


def left_out_m(network: RoadNetwork, edges: IntArray, kept: IntArray) -> FloatArray:
    """Return the metres of a route that guessed ways between two positions do not drive.

    Parameters
    ----------
    network, edges
        As in `via_points`.
    kept
        (c,) positions among ``edges``, increasing.

    Returns
    -------
    FloatArray
        (c, c) mean over the guesses, for the way from row to column. Infinite unless the column
        is the later one.
    """
    graph = LineGraph.from_network(network)
    length_m = network.length_m
    rng = np.random.default_rng(SEED)
    mean_m = np.zeros((len(kept), len(kept)))
    for guess in range(GUESSES):
        spread = SPREAD if guess else 0.0  # the first guess is the network's own speeds
        time_s = network.time_s * rng.lognormal(0.0, spread, network.n_edges)
        arcs = csr_matrix((time_s[graph.indices], graph.indices, graph.indptr))
        _, before = dijkstra(
            arcs,
            indices=edges[kept],
            return_predecessors=True,
            limit=float(time_s[edges].sum()) * (1 + 1e-9),
        )
        for row, start in enumerate(kept):
            for column in range(row + 1, len(kept)):
                stretch = edges[start : kept[column] + 1]
                way = _way(before[row], int(stretch[0]), int(stretch[-1]))
                mean_m[row, column] += length_m[np.setdiff1d(stretch, way)].sum() / GUESSES
    mean_m[np.tril_indices(len(kept))] = np.inf
    return mean_m


def _way(before: IntArray, origin: int, destination: int) -> list[int]:
    """Return the edges of a way, from the edge before each."""
    way = [destination]
    while way[-1] != origin and before[way[-1]] >= 0:
        way.append(int(before[way[-1]]))
    return way


def _cheapest(left_m: FloatArray, most: int) -> tuple[list[int], float]:
    """Return the rows of the cheapest chain from the first to the last in at most some steps."""
    cost = np.full(len(left_m), np.inf)
    cost[0] = 0.0
    chains = {0: [0]}
    best, found = np.inf, [0, len(left_m) - 1]
    for _ in range(most):
        total = cost[:, None] + left_m
        last = total.argmin(axis=0)
        cost = total.min(axis=0)
        reached = np.flatnonzero(np.isfinite(cost))
        chains = {int(row): [*chains[int(last[row])], int(row)] for row in reached}
        if cost[-1] < best - WORTH_M:
            best = float(cost[-1])
            found = chains[len(left_m) - 1]
    return found, best
