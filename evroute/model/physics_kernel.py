"""PhysicsKernel: covariance of a linear function of the regressors plus a Gaussian process.

``k(a, b) = x_a' S x_b + k_gp(a, b)`` with S the diagonal prior covariance of the coefficients:
Rasmussen & Williams, *Gaussian Processes for Machine Learning*, eq. 2.40 with fixed basis
functions x and a proper prior.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.regressors import Derivatives
from evroute.model.kernels import ArmGraph, EdgeContextKernel


class PhysicsKernel:
    """``k(a, b) = x_a' S x_b + k_gp(a, b)`` between arms.

    Parameters
    ----------
    rest
        k_gp.
    regressors
        Source of x, Wh per unit of a coefficient.
    coefficient_std
        (p,) square roots of the diagonal of S, in the units of the regressors.
    """

    def __init__(
        self, rest: EdgeContextKernel, regressors: Derivatives, coefficient_std: FloatArray
    ) -> None:
        self.rest = rest
        self.regressors = regressors
        self.coefficient_std = coefficient_std

    @property
    def graph(self) -> ArmGraph:
        """The kernel on the edges of the network."""
        return self.rest.graph

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
        covariance = self.rest(edge_a, features_a, edge_b, features_b)
        # without BLAS: rows computed again after a restart are the same to the last bit, in blocks
        # of any size
        for of_a, of_b in zip(
            self._columns(edge_a, features_a).T, self._columns(edge_b, features_b).T, strict=True
        ):
            covariance += of_a[:, np.newaxis] * of_b
        return covariance

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,) Wh²."""
        linear: FloatArray = (self._columns(edge, features) ** 2).sum(axis=1)
        return linear + self.rest.diagonal(edge, features)

    def matrix(self, features: FloatArray) -> FloatArray:
        """Return the prior covariance of all edges in contexts (n, d), (n, n) Wh², symmetric."""
        covariance = self.rest.matrix(features)
        columns = self._columns(np.arange(len(covariance)), features)
        linear = columns @ columns.T
        covariance += 0.5 * (linear + linear.T)
        return covariance

    def with_coefficients(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior covariance of arms with the coefficients, ``x S``, (a, p)."""
        return self._columns(edge, features) * self.coefficient_std

    def _columns(self, edge: IntArray, features: FloatArray) -> FloatArray:
        return self.regressors.of(edge, features) * self.coefficient_std
