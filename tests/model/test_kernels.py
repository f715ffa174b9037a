import numpy as np
import pytest

from evroute.model.graph_matern import GraphMatern
from evroute.model.kernels import EdgeContextKernel, matern52

ONE = np.ones(1)


def test_the_kernel_is_one_at_distance_zero_exactly():
    x = np.array([[0.1, -3.0], [1e8, 2.0]])
    np.testing.assert_array_equal(matern52(x, x, np.array([0.3, 7.0])).diagonal(), [1.0, 1.0])


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7])
def test_near_contexts_keep_their_distance(distance):
    # (1 + r + r²/3) exp(-r) = 1 - r²/6 + O(r^4), r² = 5 D²; far from the origin, where expanded squares would fail.
    kernel = matern52(np.array([[100.0]]), np.array([[100.0 + distance]]), ONE)[0, 0]
    measured = (100.0 + distance) - 100.0
    assert 1.0 - kernel == pytest.approx(5.0 / 6.0 * measured**2, rel=1e-4, abs=3e-16)


def test_each_dimension_is_divided_by_its_lengthscale():
    far = matern52(np.array([[0.0, 0.0]]), np.array([[2.0, 6.0]]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(far, matern52(np.zeros((1, 1)), np.array([[np.sqrt(5.0)]]), ONE), rtol=1e-14)


def test_half_of_the_variance_lies_on_the_context_alone(random_laplacian):
    graph = GraphMatern(random_laplacian(12, 3))
    lengthscales = np.array([0.7, 2.0])
    kernel = EdgeContextKernel(graph, 3.0, lengthscales)
    rng = np.random.default_rng(0)
    edge_a, edge_b = np.array([4, 4, 1]), np.array([0, 11, 4, 7])
    x, y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    context = matern52(x, y, lengthscales)
    expected = 3.0 * (0.5 * graph.block(edge_a, edge_b) * context + 0.5 * context)
    np.testing.assert_allclose(kernel(edge_a, x, edge_b, y), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(edge_a, x), kernel(edge_a, x, edge_a, x).diagonal(), rtol=1e-13)


def test_the_whole_matrix_is_symmetric_and_equals_its_parts(make_world):
    world = make_world(n=300)
    full = world.kernel.matrix(world.arms.features)
    np.testing.assert_array_equal(full, full.T)
    edge, features = world.arms.edge, world.arms.features
    np.testing.assert_allclose(full, world.kernel(edge, features, edge, features), atol=1e-13)
    assert np.linalg.eigvalsh(full)[0] > 0.0


def test_the_digest_tells_priors_apart(random_laplacian):
    graph = GraphMatern(random_laplacian(5, 0))
    features = np.zeros((5, 1))
    names = {
        EdgeContextKernel(graph, 1.0, ONE).digest(features),
        EdgeContextKernel(graph, 2.0, ONE).digest(features),
        EdgeContextKernel(graph, 1.0, 2.0 * ONE).digest(features),
        EdgeContextKernel(graph, 1.0, ONE).digest(features + 1.0),
    }
    assert len(names) == 4


@pytest.mark.parametrize("variance", [0.0, -1.0, np.nan, np.inf])
def test_a_bad_variance_is_refused(random_laplacian, variance):
    with pytest.raises(ValueError, match="variance must be a positive number"):
        EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), variance, ONE)


@pytest.mark.parametrize("lengthscales", [np.array([0.0]), np.array([1.0, np.nan]), np.array(1.0)])
def test_bad_lengthscales_are_refused(random_laplacian, lengthscales):
    with pytest.raises(ValueError, match="lengthscales must be positive numbers"):
        EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), 1.0, lengthscales)


def test_contexts_of_another_dimension_are_refused(random_laplacian):
    kernel = EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), 1.0, ONE)
    edge = np.arange(5)
    for ask in (lambda x: kernel(edge, x, edge, x), lambda x: kernel.diagonal(edge, x), kernel.matrix):
        with pytest.raises(ValueError, match="contexts have 2 features, lengthscales 1"):
            ask(np.zeros((5, 2)))
