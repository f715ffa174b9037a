"""Sandberg et al., eqs. 2-3: posterior mean and covariance of the exact Gaussian process."""

import mpmath
import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model.exact import ExactGP
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network import context
from evroute.network.line_graph import LineGraph


@pytest.fixture
def kernel(hill) -> EdgeContextKernel:
    graph = GraphMatern(LineGraph.from_network(hill).laplacian(hill.length_m))
    return EdgeContextKernel(graph, np.full(7, 3.0), np.array([1.0, 0.5, 2.0]))


@pytest.fixture
def arms(hill) -> Arms:
    return Arms(np.arange(7), context.build(hill).features, np.linspace(-20.0, 100.0, 7))


def test_eq2_3_one_measurement_in_closed_form(kernel, arms):
    noise = np.linspace(1.0, 2.5, 7)
    model = ExactGP(kernel, arms, noise)
    up = np.array([1])
    model.update(
        Feedback(up, arms.features[up], arms.prior_mean_wh[up], arms.prior_mean_wh[up] + 5.0)
    )
    prior = kernel(arms.id, arms.features, arms.id, arms.features)
    gain = prior[:, 1] / (prior[1, 1] + noise[1] ** 2)
    np.testing.assert_allclose(
        model.posterior(arms).mean_wh, arms.prior_mean_wh + 5.0 * gain, rtol=1e-13
    )
    np.testing.assert_allclose(model.covariance(arms), prior - np.outer(gain, prior[1]), atol=1e-13)


def test_eq2_3_in_forty_digits(kernel, arms):
    """Three edges, one of them twice, against the formulas as printed, in multiple precision."""
    noise = np.linspace(1.0, 2.5, 7)
    edge = np.array([0, 3, 3, 6])
    energy_wh = np.array([-18.0, 45.0, 38.0, 101.5])
    model = ExactGP(kernel, arms, noise)
    model.update(Feedback(edge, arms.features[edge], arms.prior_mean_wh[edge], energy_wh))
    prior = kernel(arms.id, arms.features, arms.id, arms.features)
    with mpmath.workdps(40):
        gram = mpmath.matrix(prior[np.ix_(edge, edge)].tolist()) + mpmath.diag(
            [noise[e] ** 2 for e in edge]
        )
        k = mpmath.matrix(prior[:, edge].tolist())
        residual = mpmath.matrix((energy_wh - arms.prior_mean_wh[edge]).tolist())
        mean = mpmath.matrix(arms.prior_mean_wh.tolist()) + k * mpmath.lu_solve(gram, residual)
        covariance = mpmath.matrix(prior.tolist()) - k * gram**-1 * k.T
        np.testing.assert_allclose(
            model.posterior(arms).mean_wh, [float(m) for m in mean], rtol=0, atol=1e-11
        )
        expected = [[float(covariance[i, j]) for j in range(7)] for i in range(7)]
    np.testing.assert_allclose(model.covariance(arms), expected, rtol=0, atol=1e-12)
