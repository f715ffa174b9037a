import numpy as np
import pytest

from evroute.model.context_kernels import context_kernel
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern

ONE = np.ones(1)
FIVE = np.ones(5)


def test_the_kernel_is_one_at_distance_zero_exactly():
    x = np.array([[0.1, -3.0], [1e8, 2.0]])
    np.testing.assert_array_equal(
        context_kernel("matern-5/2")(x, x, np.array([0.3, 7.0])).diagonal(), [1.0, 1.0]
    )


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7])
def test_near_contexts_keep_their_distance(distance):
    # (1 + r + r²/3) exp(-r) = 1 - r²/6 + O(r^4), r² = 5 D²; far from the origin, where expanded
    # squares would fail.
    kernel = context_kernel("matern-5/2")(np.array([[100.0]]), np.array([[100.0 + distance]]), ONE)[
        0, 0
    ]
    measured = (100.0 + distance) - 100.0
    assert 1.0 - kernel == pytest.approx(5.0 / 6.0 * measured**2, rel=1e-4, abs=3e-16)


def test_each_dimension_is_divided_by_its_lengthscale():
    far = context_kernel("matern-5/2")(
        np.array([[0.0, 0.0]]), np.array([[2.0, 6.0]]), np.array([2.0, 3.0])
    )
    np.testing.assert_allclose(
        far,
        context_kernel("matern-5/2")(np.zeros((1, 1)), np.array([[np.sqrt(5.0)]]), ONE),
        rtol=1e-14,
    )


@pytest.mark.parametrize("lengthscales", [np.array([0.7, 2.0]), np.array([[0.7, 2.0], [3.0, 0.5]])])
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_graph_has_its_share_of_the_variance_of_every_edge(
    random_laplacian, lengthscales, share
):
    rng = np.random.default_rng(0)
    graph, std_wh = GraphMatern(random_laplacian(12, 3)), rng.uniform(1.0, 5.0, 12)
    kernel = EdgeContextKernel(graph, std_wh, lengthscales, graph_share=share)
    edge_a, edge_b = np.array([4, 4, 1]), np.array([0, 11, 4, 7])
    x, y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    with_graph, alone = (
        context_kernel("matern-5/2")(x, y, np.atleast_2d(lengthscales)[row]) for row in (0, -1)
    )
    expected = share * graph.block(edge_a, edge_b) * with_graph + (1.0 - share) * alone
    expected *= np.outer(std_wh[edge_a], std_wh[edge_b])
    np.testing.assert_allclose(kernel(edge_a, x, edge_b, y), expected, rtol=1e-13)
    np.testing.assert_allclose(
        kernel.diagonal(edge_a, x), kernel(edge_a, x, edge_a, x).diagonal(), rtol=1e-13
    )


def test_the_whole_matrix_is_symmetric_and_equals_its_parts(make_world):
    world = make_world(n=300)
    full = world.kernel.matrix(world.arms.features)
    np.testing.assert_array_equal(full, full.T)
    edge, features = world.arms.id, world.arms.features
    np.testing.assert_allclose(full, world.kernel(edge, features, edge, features), atol=1e-13)
    assert np.linalg.eigvalsh(full)[0] > 0.0


def test_the_digest_tells_priors_apart(random_laplacian):
    graph = GraphMatern(random_laplacian(5, 0))
    features = np.zeros((5, 1))
    names = {
        EdgeContextKernel(graph, FIVE, ONE).digest(features),
        EdgeContextKernel(graph, np.array([1.0, 1.0, 1.0, 1.0, 2.0]), ONE).digest(features),
        EdgeContextKernel(graph, FIVE, 2.0 * ONE).digest(features),
        EdgeContextKernel(graph, FIVE, ONE, graph_share=0.4).digest(features),
        EdgeContextKernel(graph, FIVE, ONE).digest(features + 1.0),
    }
    assert len(names) == 5


@pytest.mark.parametrize("std_wh", [0.0 * FIVE, -FIVE, np.nan * FIVE, np.inf * FIVE, np.ones(4)])
def test_bad_deviations_are_refused(random_laplacian, std_wh):
    with pytest.raises(ValueError, match="deviations must be 5 positive numbers"):
        EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), std_wh, ONE)


@pytest.mark.parametrize("share", [0.0, 1.0, np.nan])
def test_a_share_of_nothing_or_all_is_refused(random_laplacian, share):
    with pytest.raises(ValueError, match="It must be between 0 and 1"):
        EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), FIVE, ONE, graph_share=share)


@pytest.mark.parametrize("lengthscales", [np.array([0.0]), np.array([1.0, np.nan]), np.array(1.0)])
def test_bad_lengthscales_are_refused(random_laplacian, lengthscales):
    with pytest.raises(ValueError, match="lengthscales must be positive numbers"):
        EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), FIVE, lengthscales)


def test_contexts_of_another_dimension_are_refused(random_laplacian):
    kernel = EdgeContextKernel(GraphMatern(random_laplacian(5, 0)), FIVE, ONE)
    edge = np.arange(5)
    for ask in (
        lambda x: kernel(edge, x, edge, x),
        lambda x: kernel.diagonal(edge, x),
        kernel.matrix,
    ):
        with pytest.raises(ValueError, match="contexts have 2 features, lengthscales 1"):
            ask(np.zeros((5, 2)))
