"""Conservation: no closed drive along legal turns may charge the battery.

Bellman-Ford over the signed energies of the turns, all edges being possible starts (Cormen et al.,
*Introduction to Algorithms*, section 24.1). A cycle of the predecessors is a closed drive with a
negative sum, found as a strongly connected component.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from evroute.arrays import FloatArray, IntArray
from evroute.planning.searches.search import Search

ROUNDING_WH = 1e-9
"""Gain for each edge of a loop that is rounding, Wh: 1e-6 Wh in a loop of 1,000 edges."""
CHECKED_PASSES = 8
"""Relaxations after which the predecessors are searched for a cycle."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A closed drive along legal turns.

    Parameters
    ----------
    edges
        Network rows in driving order. The last leads into the first.
    energy_wh
        Energy of one round, Wh. Negative if the battery gains.
    """

    edges: tuple[int, ...]
    energy_wh: float


def gaining_loop(search: Search, energy_wh: FloatArray) -> Loop | None:
    """Return a closed drive that charges the battery, or None if there is none.

    Parameters
    ----------
    search
        The n edges and their m legal turns.
    energy_wh
        (a,) energy of each arm, Wh. A turn has the energy of the arm that it enters.
    """
    graph = search.line_graph
    source, target = graph.source.astype(np.int64), graph.indices.astype(np.int64)
    cost = energy_wh[search.entering]
    least, before = np.zeros(graph.n_edges), np.full(graph.n_edges, -1)
    turns = np.flatnonzero(cost + ROUNDING_WH < 0.0)
    lowered = np.zeros(graph.n_edges, dtype=np.bool_)
    passes = 0
    while len(turns):
        reached = least[source[turns]] + cost[turns] + ROUNDING_WH
        np.minimum.at(least, target[turns], reached)
        chosen = turns[reached == least[target[turns]]]
        before[target[chosen]] = chosen
        lowered[:] = False
        lowered[target[turns]] = True
        passes += 1
        if passes % CHECKED_PASSES == 0 and (loop := _cycle(before, source)) is not None:
            return Loop(tuple(target[loop].tolist()), float(cost[loop].sum()))
        after = np.flatnonzero(lowered[source])
        turns = after[least[source[after]] + cost[after] + ROUNDING_WH < least[target[after]]]
    return None


def _cycle(before: IntArray, source: IntArray) -> IntArray | None:
    """Return the turns of a cycle of predecessors in driving order, or None.

    Parameters
    ----------
    before
        (n,) turn by which each edge is reached at the least cost, or -1.
    source
        (m,) edge that each turn leaves.
    """
    reached = np.flatnonzero(before >= 0)
    left = source[before[reached]]
    n = len(before)
    arcs = csr_matrix((np.ones(len(reached)), (left, reached)), shape=(n, n))
    _, component = connected_components(arcs, connection="strong")
    inside = reached[(component[reached] == component[left])]
    if not len(inside):
        return None
    edge, turns = int(inside[0]), []
    while True:
        turns.append(int(before[edge]))
        edge = int(source[turns[-1]])
        if edge == inside[0]:
            return np.array(turns[::-1])
