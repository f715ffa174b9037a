"""Log likelihood of the driven trips as a function of the kernel's numbers, with its gradient.

Sandberg et al., eqs. 2-3 integrated: ``log N(y; 0, K + R)``. Measurements of one arm enter by
their number, mean and scatter. The remaining term of the likelihood is added.

The gradient is computed backwards: the likelihood returns its derivative by the covariance,
`covariance` returns the derivative of the covariance by the numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from scipy.sparse import csc_matrix

from evroute.arms import Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.model.base import lower_factor
from evroute.model.context_kernels.base import ContextKernel
from evroute.model.kernels.graph_matern import filter_blocks


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
        """Merge the measurements of trips. Arms are sorted by id and context."""
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


def covariance(
    laplacian: csc_matrix, nu: int, numbers: FloatArray, arms: Driven, context: ContextKernel
) -> tuple[FloatArray, list[FloatArray]]:
    """Return ``a h k_f + b k_f'`` between arms, (a, a), and its derivatives by the log numbers.

    h is ``(I + L kappa² / 2 nu)^-nu``, proportional to k_G.

    Parameters
    ----------
    laplacian
        (n, n) incidence Laplacian of the line graph.
    nu
        Smoothness of the graph kernel.
    numbers
        (3 + 2 d,) a, b, lengthscales of k_f and of k_f', kappa, all positive. Derivatives are by
        their logarithms, in this order.
    arms
        Arms on the rows and columns.
    context
        Form of k_f and k_f'.
    """
    a, b = numbers[:2]
    with_graph, alone = numbers[2:-1].reshape(2, -1)
    edges, row = np.unique(arms.id, return_inverse=True)
    at = np.ix_(row, row)
    filtered, steeper = filter_blocks(laplacian, nu, float(numbers[-1]), edges)
    graph, graph_by_kappa = filtered[at], -2.0 * nu * (filtered - steeper)[at]
    k_1, by_1 = context.log_gradient(arms.features, arms.features, with_graph)
    k_2, by_2 = context.log_gradient(arms.features, arms.features, alone)
    first, second = a * graph * k_1, b * k_2
    return first + second, [
        first,
        second,
        *(a * graph * each for each in by_1),
        *(b * each for each in by_2),
        a * graph_by_kappa * k_1,
    ]


def log_likelihood(
    surface: tuple[FloatArray, list[FloatArray]],
    driven: Driven,
    unit_wh: FloatArray,
    noise_std_wh: FloatArray,
) -> tuple[float, FloatArray]:
    """Return the log likelihood of all measurements and its gradient.

    Parameters
    ----------
    surface
        Covariance between the arms and its derivatives (`covariance`), in units of ``unit_wh``.
    driven
        Merged measurements of a arms.
    unit_wh
        (a,) unit of the surface for each arm, Wh.
    noise_std_wh
        (a,) noise deviation of one measurement, Wh.

    Returns
    -------
    tuple[float, FloatArray]
        Value, and gradient by the logarithms of the covariance's numbers and of a noise factor
        (last).

    Raises
    ------
    CovarianceError
        If the covariance is not positive definite.
    """
    noise = (noise_std_wh / unit_wh) ** 2 / driven.count
    prior, derivatives = surface
    merged, by_covariance = _normal(prior + np.diag(noise), driven.mean_wh / unit_wh)
    by_numbers = [np.vdot(by_covariance, each) for each in derivatives]
    spare, scatter = driven.count - 1, driven.scatter_wh2 / noise_std_wh**2
    within = -0.5 * (spare * np.log(2.0 * np.pi * noise_std_wh**2) + np.log(driven.count) + scatter)
    by_noise = 2.0 * by_covariance.diagonal() @ noise + (scatter - spare).sum()
    return merged + float((within - np.log(unit_wh)).sum()), np.array([*by_numbers, by_noise])


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
