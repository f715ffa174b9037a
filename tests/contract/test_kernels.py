"""Every kernel on contexts, and sums and products of two, under the same tests."""

import numpy as np
import pytest
from scipy.special import gamma, kv

from evroute.errors import EvrouteError, UnknownNameError
from evroute.model.context_kernels import KERNELS, context_kernel

NAMES = [*KERNELS, "matern-5/2+rbf", "matern-1/2*rbf", "matern-3/2+matern-1/2"]
SCALES = np.array([0.5, 2.0, 1.3])


def points(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def by_bessel(nu: float, r: np.ndarray) -> np.ndarray:
    """Return the Matérn kernel by its definition, Rasmussen & Williams, eq. 4.14."""
    z = np.sqrt(2 * nu) * r
    return 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_one_at_distance_zero_symmetric_and_positive_definite(name: str) -> None:
    x = points(0, 40)
    kernel = context_kernel(name)(x, x, SCALES)
    assert np.array_equal(kernel.diagonal(), np.ones(40))
    np.testing.assert_allclose(kernel, kernel.T, rtol=1e-14)
    assert np.linalg.eigvalsh(kernel).min() > -1e-12


@pytest.mark.parametrize(
    ("name", "nu"), [("matern-1/2", 0.5), ("matern-3/2", 1.5), ("matern-5/2", 2.5)]
)
def test_matern_kernels_equal_the_bessel_form(name: str, nu: float) -> None:
    x, y = points(1, 7), points(2, 9)
    r = np.sqrt((((x[:, None] - y) / SCALES) ** 2).sum(axis=2))
    np.testing.assert_allclose(context_kernel(name)(x, y, SCALES), by_bessel(nu, r), rtol=1e-12)


def test_sum_is_the_mean_and_product_the_product_of_both() -> None:
    x, y = points(1, 4), points(2, 5)
    one, other = (context_kernel(name)(x, y, SCALES) for name in ("matern-3/2", "rbf"))
    np.testing.assert_allclose(
        context_kernel("matern-3/2+rbf")(x, y, SCALES), (one + other) / 2, rtol=1e-15
    )
    np.testing.assert_allclose(
        context_kernel("matern-3/2*rbf")(x, y, SCALES), one * other, rtol=1e-15
    )


@pytest.mark.parametrize("name", NAMES)
def test_gradients_by_log_lengthscales_equal_central_differences(name: str) -> None:
    kernel, x, y = context_kernel(name), points(3, 6), points(4, 5)
    y[0] = x[0]  # the distance 0
    value, gradient = kernel.log_gradient(x, y, SCALES)
    np.testing.assert_allclose(value, kernel(x, y, SCALES), rtol=1e-12)
    step = 1e-6
    for j, by_scale in enumerate(gradient):
        factor = np.exp(step * (np.arange(3) == j))
        numeric = (kernel(x, y, SCALES * factor) - kernel(x, y, SCALES / factor)) / (2 * step)
        np.testing.assert_allclose(by_scale, numeric, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_spectral_draws_average_to_the_kernel(name: str) -> None:
    kernel, size = context_kernel(name), 200_000
    frequency = kernel.spectral_draw(2, size, np.random.default_rng(0))
    lag = np.array([[0.3, -0.4], [1.0, 0.5], [2.0, -1.0]])
    # a mean of cosines has a standard error of at most 1 / sqrt(size)
    mean = np.cos(lag @ frequency).mean(axis=1)
    expected = kernel(lag, np.zeros((1, 2)), np.ones(2))[:, 0]
    np.testing.assert_allclose(mean, expected, atol=4 / np.sqrt(size))


@pytest.mark.parametrize("name", NAMES)
def test_the_torch_form_is_the_same_kernel(name: str) -> None:
    torch = pytest.importorskip("torch")
    x, y = points(5, 6), points(6, 4)
    ours = context_kernel(name)(x, y, SCALES)
    try:
        form = context_kernel(name).torch_kernel(SCALES)
    except EvrouteError as none:
        pytest.skip(str(none))
    theirs = form(torch.tensor(x), torch.tensor(y))
    np.testing.assert_allclose(theirs.to_dense().numpy(), ours, atol=1e-7)


@pytest.mark.parametrize("name", ["cubic", "rbf+cubic", "rbf+rbf+rbf", ""])
def test_an_unknown_name_lists_the_kernels(name: str) -> None:
    with pytest.raises(UnknownNameError, match="matern-3/2"):
        context_kernel(name)
