"""TurnGraph: the graph kernel between turns, by the edges that they leave and enter.

Two turns into the same edge share most of the error about it; two turns that also leave the same
edge share slightly more:

    k_T((e, e'), (f, f')) = k_G(e', f') (s + (1 - s) k_G(e, f) / sqrt(k_G(e, e) k_G(f, f)))

with s = `ENTERED_SHARE`, our value; positive semi-definite as sum and product of kernels. It
replaces ``GraphMatern`` in ``EdgeContextKernel``, whose "edges" are then rows of the table of
turns.
"""

import hashlib

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.kernels import ArmGraph

ENTERED_SHARE = 0.75


class TurnGraph:
    """The kernel k_T over the a rows of a ``network.turn_table.TurnTable``.

    Parameters
    ----------
    graph
        Kernel between edges, k_G.
    left, entered
        (a,) edge left and edge entered by each turn.

    Attributes
    ----------
    n_edges
        Number of arms, a.
    """

    def __init__(self, graph: ArmGraph, left: IntArray, entered: IntArray) -> None:
        self.n_edges = len(entered)
        self._graph, self._left, self._entered = graph, left, entered
        self.diagonal: FloatArray = graph.diagonal[entered]
        self._unit = (1.0 - ENTERED_SHARE) ** 0.5 / np.sqrt(graph.diagonal)
        total = hashlib.sha256(f"turns {ENTERED_SHARE!r} {graph.digest}".encode())
        for part in (left, entered):
            total.update(np.ascontiguousarray(part).tobytes())
        self.digest = total.hexdigest()

    def block(self, turn_a: IntArray, turn_b: IntArray) -> FloatArray:
        """Return k_T between two lists of turns, (a, b)."""
        left_a, left_b = self._left[turn_a], self._left[turn_b]
        block = self._graph.block(left_a, left_b)
        block *= self._unit[left_a, np.newaxis]
        block *= self._unit[left_b]
        block += ENTERED_SHARE
        block *= self._graph.block(self._entered[turn_a], self._entered[turn_b])
        return block

    def matrix(self) -> FloatArray:
        """Return the full k_T, (a, a): seconds to minutes on a city."""
        full = self._graph.matrix()
        unit = self._unit * full * self._unit[:, np.newaxis] + ENTERED_SHARE
        matrix: FloatArray = unit[np.ix_(self._left, self._left)]
        matrix *= full[np.ix_(self._entered, self._entered)]
        return matrix
