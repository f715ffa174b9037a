import logging

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.model.base import CovarianceError
from evroute.model.fitting import hyperparameters
from evroute.model.fitting.evidence import Driven
from evroute.model.fitting.hyperparameters import Hyperparameters, fit
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern


def drawn(world, truth: Hyperparameters, n_edges: int, repeats: int, seed: int) -> list[Feedback]:
    """Measure edges of a world drawn with known hyper-parameters."""
    rng = np.random.default_rng(seed)
    edge = np.arange(n_edges)
    x = world.arms.features[edge]
    kernel = truth.applied(world.kernel)
    energy_wh = rng.multivariate_normal(np.zeros(n_edges), kernel(edge, x, edge, x))
    noise_std_wh = truth.noise_factor * world.noise_std_wh[edge]
    return [
        Feedback(edge, x, np.zeros(n_edges), energy_wh + noise_std_wh * rng.normal(size=n_edges))
        for _ in range(repeats)
    ]


@pytest.mark.slow
def test_known_hyper_parameters_are_recovered(make_world, monkeypatch):
    """350 edges, 4 measurements each: noise to 5 %, deviation 30 %, share 0.3, scales factor 2."""
    world = make_world(n=350)
    lengthscales = np.array([[1.5, 1.5, 1.5], [1.0, 1.5, 2.0]])
    truth = Hyperparameters(2, 1.0, lengthscales, 0.4, std_factor=2.0, noise_factor=0.6)
    driven = Driven.of(drawn(world, truth, 350, 4, seed=1))
    result = fit(world.kernel, world.noise_std_wh, driven, prior_log_std=1.0)
    found = result.found
    assert not result.failed
    assert found.noise_factor == pytest.approx(0.6, rel=0.05)
    assert found.std_factor == pytest.approx(2.0, rel=0.3)
    assert found.graph_share == pytest.approx(0.4, abs=0.3)
    assert np.all(abs(np.log2(found.lengthscales[1] / lengthscales[1])) < 1)
    monkeypatch.setattr(hyperparameters, "MOST_STEPS", 1)
    at_truth = fit(
        truth.applied(world.kernel),
        truth.noise_factor * world.noise_std_wh,
        driven,
    )
    assert result.log_likelihood > at_truth.start_log_likelihood - 5


def test_the_start_is_the_kernel_itself(make_world):
    world = make_world()
    driven = Driven.of([world.trip(30)])
    result = fit(world.kernel, world.noise_std_wh, driven)
    edge, features = np.array(world.edge), np.array(world.features)
    gram = world.kernel(edge, features, edge, features) + np.diag(world.noise_std_wh[edge] ** 2)
    _, logarithm = np.linalg.slogdet(2 * np.pi * gram)
    y = np.array(world.residual_wh)
    assert result.start_log_likelihood == pytest.approx(
        -0.5 * (y @ np.linalg.solve(gram, y) + logarithm), rel=1e-9
    )
    assert result.log_likelihood > result.start_log_likelihood


def test_the_found_values_have_the_reported_likelihood(make_world):
    world = make_world()
    trips = [world.trip(30)]
    result = fit(world.kernel, world.noise_std_wh, Driven.of(trips), prior_log_std=0.5)
    kernel = result.found.applied(world.kernel)
    noise_std_wh = result.found.noise_factor * world.noise_std_wh
    again = fit(kernel, noise_std_wh, Driven.of(trips), prior_log_std=0.5)
    assert again.start_log_likelihood == pytest.approx(result.log_likelihood, rel=1e-8)


def test_a_tight_prior_keeps_the_start(make_world):
    world = make_world()
    result = fit(world.kernel, world.noise_std_wh, Driven.of([world.trip(30)]), prior_log_std=1e-3)
    assert result.found.noise_factor == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(result.found.lengthscales, world.kernel.lengthscales, rtol=0.01)


def test_a_fit_that_fails_leaves_the_old_values_and_says_so(make_world, monkeypatch, caplog):
    def broken(*_):
        raise CovarianceError("it is not positive definite")

    world = make_world()
    monkeypatch.setattr(hyperparameters, "log_likelihood", broken)
    with caplog.at_level(logging.WARNING):
        result = fit(world.kernel, world.noise_std_wh, Driven.of([world.trip(10)]))
    assert result.failed == "it is not positive definite"
    assert result.found.to_json() == Hyperparameters.of(world.kernel).to_json()
    assert "the hyper-parameters stay unchanged: it is not positive definite" in caplog.text


def test_the_kernel_has_the_applied_hyper_parameters(make_world):
    world = make_world()
    numbers = Hyperparameters(1, 0.7, np.full((2, 3), 2.0), 0.2, std_factor=3.0)
    graph = GraphMatern(world.kernel.graph.laplacian, 1, 0.7)
    expected = EdgeContextKernel(graph, 3.0 * world.kernel.std_wh, np.full(3, 2.0), graph_share=0.2)
    applied = Hyperparameters.from_json(numbers.to_json()).applied(world.kernel)
    x = world.arms.features
    np.testing.assert_array_equal(applied.matrix(x), expected.matrix(x))
    assert Hyperparameters.of(world.kernel).applied(world.kernel).graph is world.kernel.graph
