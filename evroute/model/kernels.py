"""Kernels over arms: Matérn 5/2 on contexts, and its product with the graph Matérn kernel on edges.

Sandberg et al., section B.1: ``k = k_G k_f + k_f'`` with k_G the graph Matérn kernel on edges (eq. 134) and k_f, k_f'
Matérn 5/2 kernels on contexts (eqs. 135-136). How the prior variance is split between the two terms the paper does
not say; we give each one half, and both the same lengthscales.
"""

import hashlib

import numpy as np
from scipy.spatial.distance import cdist

from evroute.arrays import FloatArray, IntArray
from evroute.model.graph_matern import GraphMatern


def matern52(x: FloatArray, y: FloatArray, lengthscales: FloatArray) -> FloatArray:
    """Return the Matérn kernel of smoothness 5/2 between contexts (a, d) and (b, d), (a, b), 1 at distance 0.

    ``(1 + r + r²/3) exp(-r)`` with ``r = sqrt(5) D`` and D the distance after each dimension is divided by its
    lengthscale (d,): Sandberg et al., eqs. 135-136 with nu = 5/2 and outputscale 1.
    """
    # Distances from differences: expanding the square would lose all digits between near contexts.
    r: FloatArray = cdist(x / lengthscales, y / lengthscales)
    r *= np.sqrt(5.0)
    kernel: FloatArray = r * (1.0 / 3.0)
    kernel += 1.0
    kernel *= r
    kernel += 1.0
    np.negative(r, out=r)
    kernel *= np.exp(r, out=r)
    return kernel


class EdgeContextKernel:
    """``k = variance (1/2 k_G k_f + 1/2 k_f')`` between arms, each an edge with a context.

    graph: k_G, mean diagonal 1.  variance: prior variance s0² of a typical edge, Wh².  lengthscales: (d,), in
    standard deviations of the contexts.
    """

    def __init__(self, graph: GraphMatern, variance: float, lengthscales: FloatArray) -> None:
        if not 0 < variance < np.inf:
            raise ValueError(f"the prior variance must be a positive number, got {variance}")
        if np.ndim(lengthscales) != 1 or not np.all((lengthscales > 0) & (lengthscales < np.inf)):
            raise ValueError(f"lengthscales must be positive numbers, one per feature; got {lengthscales}")
        self.graph = graph
        self.variance = variance
        self.lengthscales = lengthscales

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms, (a, b) Wh²."""
        covariance = self.graph.block(edge_a, edge_b)
        self._mix(covariance, features_a, features_b)
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh²; the kernel on contexts is 1 there."""
        self._check(features)
        diagonal: FloatArray = 0.5 * self.variance * (self.graph.diagonal[edge] + 1.0)
        return diagonal

    def matrix(self, features: FloatArray) -> FloatArray:
        """Return the prior covariance of all edges in the contexts (n, d), (n, n) Wh², exactly symmetric."""
        self._check(features)
        covariance = self.graph.matrix()
        n = len(covariance)
        for start in range(0, n, _BLOCK):
            block = slice(start, min(start + _BLOCK, n))
            right = slice(start, n)
            self._mix(covariance[block, right], features[block], features[right])
            square = covariance[block, block]
            square[:] = 0.5 * (square + square.T)
            covariance[block.stop :, block] = covariance[block, block.stop :].T
        return covariance

    def digest(self, features: FloatArray) -> str:
        """Return a SHA-256 that names the prior of all edges in the contexts (n, d), for caches."""
        total = hashlib.sha256(f"{self.graph.digest} {float(self.variance)!r}".encode())
        total.update(np.ascontiguousarray(self.lengthscales).tobytes())
        total.update(np.ascontiguousarray(features).tobytes())
        return total.hexdigest()

    def _mix(self, graph: FloatArray, features_a: FloatArray, features_b: FloatArray) -> None:
        """Turn k_G between arms into k, in place."""
        self._check(features_a)
        self._check(features_b)
        graph += 1.0
        graph *= 0.5 * self.variance
        graph *= matern52(features_a, features_b, self.lengthscales)

    def _check(self, features: FloatArray) -> None:
        if features.shape[1] != len(self.lengthscales):
            raise ValueError(f"contexts have {features.shape[1]} features, lengthscales {len(self.lengthscales)}")


_BLOCK = 128  # rows of a city's covariance made at once, to stay in the cache
