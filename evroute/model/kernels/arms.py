"""Kernels over arms: Matérn 5/2 on contexts, and its product with the graph Matérn kernel on edges.

Sandberg et al., section B.1: ``k = k_G k_f + k_f'`` with k_G the graph Matérn kernel on edges
(eq. 134) and k_f, k_f' Matérn 5/2 kernels on contexts (eqs. 135-136) with separate lengthscales.
The paper does not state how the prior variance is split between the two terms. Our default is one
half each. We also use a separate prior standard deviation for every edge. The paper has one
number.

`TurnGraph` is the graph kernel between turns, by the edges that they leave and enter. Two turns
into the same edge share most of the error about it; two turns that also leave the same edge share
slightly more:

    k_T((e, e'), (f, f')) = k_G(e', f') (s + (1 - s) k_G(e, f) / sqrt(k_G(e, e) k_G(f, f)))

with s = `ENTERED_SHARE`, our value. Positive semi-definite as sum and product of kernels. It
replaces ``GraphMatern`` in ``EdgeContextKernel``, whose "edges" are then rows of the table of
turns.
"""

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.model.context_kernels import DEFAULT_KERNEL, context_kernel


class Covariance(Protocol):
    """The prior covariance that a sparse posterior needs."""

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) arm rows.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b) Wh².
        """

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh²."""


@dataclass(frozen=True, slots=True, eq=False)
class Whitened:
    """A covariance divided by the noise deviations of its arms.

    Parameters
    ----------
    kernel
        Covariance in Wh².
    noise_std_wh
        (n,) noise deviation of one measurement of each arm, Wh.
    """

    kernel: Covariance
    noise_std_wh: FloatArray

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the whitened prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) arm rows.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b).
        """
        covariance = self.kernel(edge_a, features_a, edge_b, features_b)
        covariance /= self.noise_std_wh[edge_a, np.newaxis]
        covariance /= self.noise_std_wh[edge_b]
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the whitened prior variance of each arm, (a,)."""
        return self.kernel.diagonal(edge, features) / self.noise_std_wh[edge] ** 2


class ArmGraph(Protocol):
    """A kernel between arms by their position: edges (`GraphMatern`) or turns (`TurnGraph`)."""

    n_edges: int
    diagonal: FloatArray
    digest: str

    def block(self, edge_a: IntArray, edge_b: IntArray, /) -> FloatArray:
        """Return the kernel between two lists of arms, (a, b)."""

    def matrix(self) -> FloatArray:
        """Return the full kernel, (n, n)."""


class ArmKernel(Covariance, Protocol):
    """Prior covariance of arms, as an exact model uses it."""

    @property
    def graph(self) -> ArmGraph:
        """The kernel on the edges of the network."""

    def matrix(self, features: FloatArray) -> FloatArray:
        """Return the prior covariance of all edges in contexts (n, d), (n, n) Wh², symmetric."""


class EdgeContextKernel:
    """``k = s s' (w k_G k_f + (1 - w) k_f')`` between arms, each an edge with a context.

    Parameters
    ----------
    graph
        k_G, mean diagonal 1.
    std_wh
        (n,) s, Wh: prior standard deviation of each edge where k_G is 1.
    lengthscales
        (2, d) of k_f and of k_f', or (d,) for both kernels, in standard deviations of the features.
    graph_share
        w, strictly between 0 and 1.
    context
        Name of k_f and k_f' (`context_kernels`).

    Raises
    ------
    ValueError
        If a number is outside its range, or the number of deviations is not n.
    """

    def __init__(
        self,
        graph: ArmGraph,
        std_wh: FloatArray,
        lengthscales: FloatArray,
        *,
        graph_share: float = 0.5,
        context: str = DEFAULT_KERNEL,
    ) -> None:
        require(
            std_wh.shape == (graph.n_edges,) and np.all((std_wh > 0) & (std_wh < np.inf)),
            f"the prior standard deviations must be {graph.n_edges} positive numbers",
            ValueError,
        )
        if not (
            np.ndim(lengthscales) in (1, 2) and np.all((lengthscales > 0) & (lengthscales < np.inf))
        ):
            raise ValueError(
                f"lengthscales must be positive numbers, one per feature, got {lengthscales}"
            )
        require(
            0 < graph_share < 1,
            f"the graph's share of the prior variance is {graph_share}. It must be between 0 and 1",
            ValueError,
        )
        self.graph = graph
        self.std_wh = std_wh
        self.lengthscales = np.array(np.broadcast_to(lengthscales, (2, np.shape(lengthscales)[-1])))
        self.graph_share = graph_share
        self.context_name = context
        self.context = context_kernel(context)

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms, (a, b) Wh².

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) edges.
        features_a, features_b
            (a, d) and (b, d) contexts.
        """
        covariance = self.graph.block(edge_a, edge_b)
        self._mix(covariance, edge_a, features_a, edge_b, features_b)
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh². k_f and k_f' are 1 there."""
        self._check(features)
        w = self.graph_share
        return self.std_wh[edge] ** 2 * (w * self.graph.diagonal[edge] + (1.0 - w))

    def matrix(self, features: FloatArray) -> FloatArray:
        """Return the prior covariance of all edges in contexts (n, d), (n, n) Wh², symmetric."""
        self._check(features)
        covariance = self.graph.matrix()
        n = len(covariance)
        edges = np.arange(n)
        for start in range(0, n, _BLOCK):
            block = slice(start, min(start + _BLOCK, n))
            right = slice(start, n)
            self._mix(
                covariance[block, right],
                edges[block],
                features[block],
                edges[right],
                features[right],
            )
            square = covariance[block, block]
            square[:] = 0.5 * (square + square.T)
            covariance[block.stop :, block] = covariance[block, block.stop :].T
        return covariance

    def digest(self, features: FloatArray) -> str:
        """Return a SHA-256 of the prior of all edges in contexts (n, d), as its name in caches."""
        name = f"{self.graph.digest} {float(self.graph_share)!r}"
        if self.context_name != DEFAULT_KERNEL:
            name += f" {self.context_name}"
        total = hashlib.sha256(name.encode())
        for part in (self.std_wh, self.lengthscales, features):
            total.update(np.ascontiguousarray(part).tobytes())
        return total.hexdigest()

    def _mix(
        self,
        covariance: FloatArray,
        edge_a: IntArray,
        features_a: FloatArray,
        edge_b: IntArray,
        features_b: FloatArray,
    ) -> None:
        """Replace k_G between arms by k, in place."""
        self._check(features_a)
        self._check(features_b)
        with_graph, alone = self.lengthscales
        together = np.array_equal(with_graph, alone)
        at_once = max(1, _MIXED_AT_ONCE // max(1, len(edge_b)))
        for start in range(0, len(edge_a), at_once):
            some = slice(start, start + at_once)
            rows, features = covariance[some], features_a[some]
            rows *= self.graph_share
            if together:
                rows += 1.0 - self.graph_share
                rows *= self.context(features, features_b, alone)
            else:
                rows *= self.context(features, features_b, with_graph)
                rows += (1.0 - self.graph_share) * self.context(features, features_b, alone)
            rows *= self.std_wh[edge_a[some], np.newaxis]
            rows *= self.std_wh[edge_b]

    def _check(self, features: FloatArray) -> None:
        d = self.lengthscales.shape[1]
        if features.shape[1] != d:
            raise ValueError(f"contexts have {features.shape[1]} features, lengthscales {d}")


_MIXED_AT_ONCE = 1 << 15  # entries, to stay in the cache
_BLOCK = 128  # rows of a city's covariance made at once, to stay in the cache


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
        self._graph = graph
        self._left = left
        self._entered = entered
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
