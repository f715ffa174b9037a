import numpy as np
import pytest
from scipy.stats import multivariate_normal

from evroute.arms import Feedback
from evroute.model.context_kernels import DEFAULT_KERNEL, context_kernel
from evroute.model.fitting.evidence import Driven, covariance, log_likelihood
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern

NUMBERS = np.array(
    [0.7, 0.4, 1.0, 2.0, 0.5, 0.8, 0.6, 3.0, 1.3]
)  # a, b, three lengthscales each, kappa


@pytest.fixture(params=[1, 2, 3])
def nu(request) -> int:
    return request.param


def driven_in(world, k: int = 25) -> tuple[Driven, Feedback]:
    feedback = world.trip(k, among=12, moved=True)
    return Driven.of([feedback]), feedback


def value_at(world, nu, theta, driven, context=DEFAULT_KERNEL):
    surface = covariance(
        world.kernel.graph.laplacian,
        nu,
        np.exp(theta[:-1]),
        driven,
        context_kernel(context),
    )
    noise_std_wh = np.exp(theta[-1]) * world.noise_std_wh[driven.id]
    return log_likelihood(surface, driven, world.kernel.std_wh[driven.id], noise_std_wh)


def kernel_of(world, nu, numbers=NUMBERS, context=DEFAULT_KERNEL) -> EdgeContextKernel:
    """The kernel of a surface; its k_G is scaled to mean diagonal 1, the surface's is not."""
    graph = GraphMatern(world.kernel.graph.laplacian, nu, numbers[-1])
    eigenvalues, vectors = np.linalg.eigh(graph.laplacian.toarray())
    filtered = (vectors * (1.0 + eigenvalues * numbers[-1] ** 2 / (2 * nu)) ** -nu) @ vectors.T
    first = numbers[0] * filtered.diagonal().mean()
    std_wh = np.sqrt(first + numbers[1]) * world.kernel.std_wh
    return EdgeContextKernel(
        graph,
        std_wh,
        numbers[2:8].reshape(2, 3),
        graph_share=first / (first + numbers[1]),
        context=context,
    )


@pytest.mark.parametrize("context", [DEFAULT_KERNEL, "matern-3/2", "rbf", "matern-1/2*rbf"])
def test_it_is_the_density_of_all_single_measurements(make_world, nu, context):
    world = make_world()
    driven, trip = driven_in(world)
    kernel = kernel_of(world, nu, context=context)
    gram = kernel(trip.id, trip.features, trip.id, trip.features) + np.diag(
        1.44 * world.noise_std_wh[trip.id] ** 2
    )
    expected = multivariate_normal(cov=gram).logpdf(trip.energy_wh - trip.prior_mean_wh)
    theta = np.append(np.log(NUMBERS), np.log(1.2))
    value, _ = value_at(world, nu, theta, driven, context=context)
    assert value == pytest.approx(expected, rel=1e-9)


def test_the_gradient_equals_finite_differences(make_world, nu):
    world = make_world()
    driven, _ = driven_in(world)
    theta = np.append(np.log(NUMBERS), 0.2)
    _, gradient = value_at(world, nu, theta, driven)
    step = 1e-5
    for i, direction in enumerate(np.eye(len(theta)) * step):
        above, below = (
            value_at(world, nu, theta + sign * direction, driven)[0] for sign in (1, -1)
        )
        assert gradient[i] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-5)


def test_measurements_merge_by_edge_and_context(make_world):
    world = make_world(n=5)
    x = world.arms.features
    trips = [
        Feedback(np.array([3, 1]), x[[3, 1]], np.zeros(2), np.array([4.0, 7.0])),
        Feedback(np.array([3, 3]), np.array([x[3], x[3] + 1]), np.ones(2), np.array([11.0, 2.0])),
    ]
    merged = Driven.of(trips)
    assert merged.id.tolist() == [1, 3, 3]
    by_arm = {tuple(row): i for i, row in enumerate(np.column_stack([merged.id, merged.features]))}
    i = by_arm[(3.0, *x[3])]
    assert (merged.count[i], merged.mean_wh[i], merged.scatter_wh2[i]) == (2, 7.0, 18.0)
    assert merged.most_visited(1).count.tolist() == [2]
