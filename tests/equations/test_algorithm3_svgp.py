"""Sandberg et al., Algorithm 3, as printed, in numpy alone, beside the model in GPyTorch."""

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.model.svgp_gpytorch import SparseVariationalGP, SVGPStepsOptions
from evroute.network import context
from evroute.network.line_graph import LineGraph

RATE = 0.1
MOST = 4


@pytest.fixture
def arms(hill) -> Arms:
    return Arms(np.arange(7), context.build(hill).features, np.linspace(-20.0, 100.0, 7))


@pytest.fixture
def kernel(hill) -> EdgeContextKernel:
    graph = GraphMatern(LineGraph.from_network(hill).laplacian(hill.length_m))
    return EdgeContextKernel(
        graph, np.linspace(2.0, 5.0, 7), np.array([1.0, 0.5, 2.0]), graph_share=0.3
    )


def trips(arms: Arms) -> list[Feedback]:
    rng = np.random.default_rng(0)
    drives = [[0, 1, 2], [0, 3, 4, 2], [6, 5, 5, 2], [0, 3, 4, 2], [1, 1, 6]]
    return [
        Feedback(e, arms.features[e], arms.prior_mean_wh[e], rng.normal(size=len(e)))
        for e in map(np.array, drives)
    ]


def test_algorithm3_as_printed(kernel, arms):
    """The natural step of a Gaussian likelihood: (1 - r) old + r (prior + data), natural form."""
    noise = np.linspace(1.0, 2.5, 7)
    options = {"inducing_points": MOST, "natural_rate": RATE}
    model = SparseVariationalGP(
        kernel, arms, noise, np.random.default_rng(0), options=SVGPStepsOptions(**options)
    )
    covariance = kernel(arms.id, arms.features, arms.id, arms.features)
    precision, information = np.eye(MOST), np.zeros(MOST)
    edges, residuals = np.empty(0, dtype=int), np.empty(0)
    for feedback in trips(arms):
        model.update(feedback)
        # line 1: add to the history
        edges = np.append(edges, feedback.id)
        residuals = np.append(residuals, feedback.energy_wh - feedback.prior_mean_wh)
        # line 2: the most visited; equals in order of their first visit, then edges never driven
        order = [*dict.fromkeys(edges.tolist()), *(e for e in range(7) if e not in edges)]
        points = sorted(order, key=lambda e: -np.count_nonzero(edges == e))[:MOST]
        # lines 3-6: one step on a batch that holds the whole history
        lower = np.linalg.cholesky(covariance[np.ix_(points, points)])
        project = np.linalg.solve(lower, covariance[points][:, edges])
        weight = noise[edges] ** -2.0
        precision = (1 - RATE) * precision + RATE * (np.eye(MOST) + (project * weight) @ project.T)
        information = (1 - RATE) * information + RATE * (project * weight) @ residuals
        # line 7: the predictions
        spread = np.linalg.inv(precision)
        weights = np.linalg.solve(lower, covariance[points])
        expected = covariance - weights.T @ (np.eye(MOST) - spread) @ weights
        mean = arms.prior_mean_wh + weights.T @ spread @ information
        belief = model.posterior(arms)
        np.testing.assert_allclose(belief.mean_wh, mean, atol=1e-5)
        np.testing.assert_allclose(belief.std_wh, np.sqrt(expected.diagonal()), atol=1e-5)
        np.testing.assert_allclose(model.covariance(arms), expected, atol=1e-5)
