"""LineGraph: edges as nodes, legal turns as arcs, in a fixed CSR with the weights as entries.

The cost of a path belongs to the edge *entered*. Costs per edge are broadcast to the turns that
enter them, so costs per turn need no second search. The incidence Laplacian follows Sandberg et
al., eqs. 132-133.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix

from evroute.arrays import FloatArray, freeze
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, eq=False)
class LineGraph:
    """CSR of the legal turns of n edges: entry i is a turn from ``source[i]`` to ``indices[i]``.

    indptr: (n + 1,) and indices, source: (m,), int32 as scipy's graph routines require. Entry i
    is row i of ``RoadNetwork.turns``.
    """

    indptr: np.ndarray[tuple[int], np.dtype[np.int32]]
    indices: np.ndarray[tuple[int], np.dtype[np.int32]]
    source: np.ndarray[tuple[int], np.dtype[np.int32]]

    def __post_init__(self) -> None:
        m = len(self.indices)
        freeze(
            self,
            indptr=(self.indptr, np.int32, (len(self.indptr),)),
            indices=(self.indices, np.int32, (m,)),
            source=(self.source, np.int32, (m,)),
        )

    @classmethod
    def from_network(cls, network: RoadNetwork) -> "LineGraph":
        """Return the line graph of a network: one node per edge, one arc per legal turn."""
        source, target = network.turns[:, 0], network.turns[:, 1]
        indptr = network.turn_start.astype(np.int32)
        return cls(indptr, target.astype(np.int32), source.astype(np.int32))

    @property
    def n_edges(self) -> int:
        """Number of nodes, one per road edge."""
        return len(self.indptr) - 1

    def laplacian(self, length_m: FloatArray) -> csc_matrix:
        """Return the incidence Laplacian ``L = B B'`` (n, n) of the turns.

        Sandberg et al., eqs. 132-133: the column of turn (e1, e2) in B holds ``-W`` at e1 and
        ``+W`` at e2 with ``W = mean length / length(e1)``, so L weighs a turn by W squared. Turns
        of an edge into itself add nothing.
        """
        turn = np.flatnonzero(self.source != self.indices)
        source, target = self.source[turn], self.indices[turn]
        weight = length_m.mean() / length_m[source]
        columns = np.arange(len(turn))
        incidence = csc_matrix(
            (
                np.concatenate([-weight, weight]),
                (np.concatenate([source, target]), np.concatenate([columns, columns])),
            ),
            shape=(self.n_edges, len(turn)),
        )
        return csc_matrix(incidence @ incidence.T)
