"""Measurements in the eigenbasis of their Gram matrix: ridge regression as a weighted sum.

Notes on Flynn & Reeb (arXiv 2403.12732), sections 3.2, 6.1 and 6.3 (ours). With ``K = U diag(d)
U'``, ``yt = U'y``, ``a = U'k(x)`` and ``w = 1 / (d + alpha)``

    mu(x) = sum a yt w,    rho²(x) = k(x, x) - sum a² w.

Repeated measurements of an arm enter once, by their mean and summed precision, which gives exactly
the same numbers.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points to bound: arms, or sums of arms.

    coordinates: (a, r), ``U'k(x)`` of each point, weighted.  prior_variance: (a,), ``k(x, x)``.
    """

    coordinates: FloatArray
    prior_variance: FloatArray

    def __len__(self) -> int:
        return len(self.prior_variance)

    def summed(self, counts: FloatArray, prior_covariance: FloatArray) -> "Points":
        """Return the sum of the points, with multiplicities (a,), as one point.

        Prior_covariance: (a, a).
        """
        return Points(
            (counts @ self.coordinates)[np.newaxis], np.array([counts @ prior_covariance @ counts])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The measurements: eigenvalues d (r,), projections yt (r,) and the weighted basis (t, r)."""

    eigenvalues: FloatArray
    projections: FloatArray
    basis: FloatArray

    @classmethod
    def of_gram(cls, gram: FloatArray, mean: FloatArray, weight: FloatArray) -> "Spectrum":
        """Return the spectrum of a Gram matrix.

        Parameters
        ----------
        gram
            (t, t) kernel between the distinct arms.
        mean
            (t,) mean measurement of each arm.
        weight
            (t,) number of measurements, or precision, of each arm.
        """
        root = np.sqrt(weight)
        values, vectors = np.linalg.eigh(root[:, np.newaxis] * gram * root)
        return cls(
            np.maximum(values, 0.0), vectors.T @ (root * mean), root[:, np.newaxis] * vectors
        )

    def points(self, cross: FloatArray, prior_variance: FloatArray) -> Points:
        """Return points from kernel values (t, a) and ``k(x, x)`` (a,).

        Arms that were first measured later come last and are ignored.
        """
        return Points(cross[: len(self.basis)].T @ self.basis, prior_variance)

    def ridge(self, points: Points, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``mu`` and ``rho²`` of each point for each alpha (g,), (a, g) both.

        Rounding clipped at 0.
        """
        w = 1.0 / (self.eigenvalues[:, np.newaxis] + alpha)
        mean = (points.coordinates * self.projections) @ w
        return mean, np.maximum(
            points.prior_variance[:, np.newaxis] - (np.square(points.coordinates) @ w), 0.0
        )

    def ridge_each(self, points: Points, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``mu`` and ``rho²`` of each point for its alpha, (a,) each."""
        weighted = points.coordinates / (self.eigenvalues + alpha[:, np.newaxis])
        explained = np.einsum("ij,ij->i", weighted, points.coordinates)
        return weighted @ self.projections, np.maximum(points.prior_variance - explained, 0.0)

    def fitted(self, alpha: FloatArray) -> FloatArray:
        """Return ``y'y - alpha y'(K + alpha I)^-1 y`` for each alpha (g,)."""
        return (
            self.projections**2
            * self.eigenvalues
            @ (1.0 / (self.eigenvalues[:, np.newaxis] + alpha))
        )

    def log_det(self, scale: float) -> float:
        """Return ``ln det(I + scale K)``."""
        return float(np.log1p(scale * self.eigenvalues).sum())
