"""Log likelihood of the driven trips as a function of the kernel's numbers, with its gradient.

Exact, Sandberg et al., eqs. 2-3 integrated: ``log N(y; 0, K + R)``. Through inducing points Z,
the bound attained by the best variational distribution (Titsias, 2009, *Variational learning of
inducing variables*, eq. 9): ``log N(y; 0, Q + R) - tr(R^-1 (K - Q)) / 2`` with ``Q = K_XZ K_ZZ^-1
K_ZX``. Measurements of one arm enter by their number, mean and scatter; the remaining term of the
likelihood is added.

The gradient is computed backwards: each likelihood returns its derivative by each covariance,
`Surface` the derivative of the covariance by the numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.sparse import csc_matrix

from evroute.arms import Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import JITTER, lower_factor
from evroute.model.context_kernels.base import ContextKernel
from evroute.model.graph_matern import filter_blocks


@dataclass(frozen=True, slots=True, eq=False)
class Driven:
    """Measurements merged by arm: the sufficient statistics of a Gaussian likelihood.

    Parameters
    ----------
    id
        (a,) ids of the arms.
    features
        (a, d) contexts.
    count
        (a,) number of measurements.
    mean_wh
        (a,) mean residual, energy minus prior mean, Wh.
    scatter_wh2
        (a,) summed squared deviations from that mean, Wh².
    """

    id: IntArray
    features: FloatArray
    count: IntArray
    mean_wh: FloatArray
    scatter_wh2: FloatArray

    @classmethod
    def of(cls, trips: Sequence[Feedback]) -> "Driven":
        """Merge the measurements of trips; arms are sorted by id and context."""
        rows = np.concatenate([np.column_stack([trip.id, trip.features]) for trip in trips])
        residual_wh = np.concatenate([trip.energy_wh - trip.prior_mean_wh for trip in trips])
        arms, arm, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        mean_wh = np.bincount(arm, weights=residual_wh) / count
        scatter_wh2 = np.bincount(arm, weights=(residual_wh - mean_wh[arm]) ** 2).astype(np.float64)
        return cls(arms[:, 0].astype(np.int64), arms[:, 1:], count, mean_wh, scatter_wh2)

    def most_visited(self, most: int) -> "Driven":
        """Keep the ``most`` arms with the most measurements."""
        kept = np.sort(np.argsort(-self.count, kind="stable")[:most])
        return Driven(
            self.id[kept],
            self.features[kept],
            self.count[kept],
            self.mean_wh[kept],
            self.scatter_wh2[kept],
        )


class Surface:
    """Covariance ``a h k_f + b k_f'`` between arms and its derivatives by the log numbers.

    h is ``(I + L kappa² / 2 nu)^-nu``, proportional to k_G.

    Parameters
    ----------
    laplacian
        (n, n) incidence Laplacian of the line graph.
    nu
        Smoothness of the graph kernel.
    numbers
        (3 + 2 d,) a, b, lengthscales of k_f and of k_f', kappa, all positive; gradients are by
        their logarithms, in this order.
    edges
        Edges of all arms, repeats allowed.
    context
        Form of k_f and k_f'.
    """

    def __init__(
        self,
        laplacian: csc_matrix,
        nu: int,
        numbers: FloatArray,
        edges: IntArray,
        context: ContextKernel,
    ) -> None:
        d = (len(numbers) - 3) // 2
        self._a, self._b = numbers[:2]
        self._with_graph, self._alone = numbers[2 : 2 + d], numbers[2 + d : 2 + 2 * d]
        self._edges = np.unique(edges)
        self._context = context
        self._graph, steeper = filter_blocks(laplacian, nu, float(numbers[-1]), self._edges)
        self._graph_by_kappa = -2.0 * nu * (self._graph - steeper)

    def block(self, arms: "Points", others: "Points") -> tuple[FloatArray, list[FloatArray]]:
        """Return the covariance (a, b) and its derivatives."""
        at = np.ix_(np.searchsorted(self._edges, arms.id), np.searchsorted(self._edges, others.id))
        graph, with_graph, alone = self._graph[at], self._with_graph, self._alone
        k_1, by_1 = self._context.log_gradient(arms.features, others.features, with_graph)
        k_2, by_2 = self._context.log_gradient(arms.features, others.features, alone)
        first, second = self._a * graph * k_1, self._b * k_2
        return first + second, [
            first,
            second,
            *(self._a * graph * each for each in by_1),
            *(self._b * each for each in by_2),
            self._a * self._graph_by_kappa[at] * k_1,
        ]

    def diagonal(self, arms: "Points") -> tuple[FloatArray, list[FloatArray]]:
        """Return the variances (a,) and their derivatives."""
        row = np.searchsorted(self._edges, arms.id)
        first = self._a * self._graph.diagonal()[row]
        zero, second = np.zeros(len(row)), np.full(len(row), self._b)
        by_lengthscales = [zero] * (2 * len(self._alone))
        by_kappa = self._a * self._graph_by_kappa.diagonal()[row]
        return first + second, [first, second, *by_lengthscales, by_kappa]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Arms without measurements: id (a,), features (a, d)."""

    id: IntArray
    features: FloatArray


def log_likelihood(
    surface: Surface,
    driven: Driven,
    unit_wh: FloatArray,
    noise_std_wh: FloatArray,
    inducing: Points | None,
) -> tuple[float, FloatArray]:
    """Return the log likelihood of all measurements, or its variational bound, and its gradient.

    Parameters
    ----------
    surface
        Covariance between arms, in units of ``unit_wh``.
    driven
        Merged measurements of a arms.
    unit_wh
        (a,) unit of the surface for each arm, Wh.
    noise_std_wh
        (a,) noise deviation of one measurement, Wh.
    inducing
        Inducing points of the bound; None for the exact likelihood.

    Returns
    -------
    tuple[float, FloatArray]
        Value, and gradient by the logarithms of the surface's numbers and of a noise factor
        (last).

    Raises
    ------
    CovarianceError
        If the covariance is not positive definite.
    """
    y, noise = driven.mean_wh / unit_wh, (noise_std_wh / unit_wh) ** 2 / driven.count
    arms = Points(driven.id, driven.features)
    merged, gradient = (
        _exact(surface, arms, y, noise)
        if inducing is None
        else _bound(surface, arms, y, noise, inducing)
    )
    spare, scatter = driven.count - 1, driven.scatter_wh2 / noise_std_wh**2
    within = -0.5 * (spare * np.log(2.0 * np.pi * noise_std_wh**2) + np.log(driven.count) + scatter)
    gradient[-1] += (scatter - spare).sum()
    return merged + float((within - np.log(unit_wh)).sum()), gradient


def _exact(
    surface: Surface, arms: Points, y: FloatArray, noise: FloatArray
) -> tuple[float, FloatArray]:
    covariance, derivatives = surface.block(arms, arms)
    covariance[np.diag_indices(len(y))] += noise
    value, by_covariance = _normal(covariance, y)
    by_noise = 2.0 * by_covariance.diagonal() @ noise
    return value, np.array([*(np.vdot(by_covariance, each) for each in derivatives), by_noise])


def _bound(
    surface: Surface, arms: Points, y: FloatArray, noise: FloatArray, inducing: Points
) -> tuple[float, FloatArray]:
    cross, by_cross = surface.block(inducing, arms)
    among, by_among = surface.block(inducing, inducing)
    variance, by_variance = surface.diagonal(arms)
    among[np.diag_indices(len(among))] += JITTER * variance.mean()
    lower = lower_factor(among, "the prior covariance of the inducing points")
    half = solve_triangular(lower, cross, lower=True)
    explained = half.T @ half
    value, by_explained = _normal(explained + np.diag(noise), y)
    missing = variance - explained.diagonal()
    value -= 0.5 * float((missing / noise).sum())
    by_noise = 2.0 * by_explained.diagonal() @ noise + (missing / noise).sum()
    by_explained[np.diag_indices(len(y))] += 0.5 / noise
    projection = solve_triangular(lower, half, lower=True, trans=1)
    seen_cross = 2.0 * projection @ by_explained
    seen_among = -projection @ by_explained @ projection.T
    gradient = [
        np.vdot(seen_cross, c) + np.vdot(seen_among, z) - 0.5 * float((v / noise).sum())
        for c, z, v in zip(by_cross, by_among, by_variance, strict=True)
    ]
    return value, np.array([*gradient, by_noise])


def _normal(covariance: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return ``log N(y; 0, C)`` and its derivative by C."""
    lower = lower_factor(covariance, "the covariance of the measurements")
    weights = cho_solve((lower, True), y)
    inverse = cho_solve((lower, True), np.eye(len(y)))
    value = (
        -0.5 * float(y @ weights)
        - float(np.log(lower.diagonal()).sum())
        - 0.5 * len(y) * math.log(2.0 * math.pi)
    )
    return value, 0.5 * (np.outer(weights, weights) - inverse)
