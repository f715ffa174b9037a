"""Every kernel on contexts, and sums and products of two, under `evroute.testing.kernels`."""

from typing import Any

import numpy as np
import pytest
from scipy.special import gamma, kv

from evroute.errors import UnknownNameError
from evroute.model.context_kernels import KERNELS, context_kernel
from evroute.testing.base import hold
from evroute.testing.kernels import CHECKS

NAMES = [*KERNELS, "matern-5/2+rbf", "matern-1/2*rbf", "matern-3/2+matern-1/2"]
SCALES = np.array([0.5, 2.0, 1.3])


def points(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def by_bessel(nu: float, r: np.ndarray) -> np.ndarray:
    """Return the Matérn kernel by its definition, Rasmussen & Williams, eq. 4.14."""
    z = np.sqrt(2 * nu) * r
    return 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_protocol(name: str, check: Any) -> None:
    hold([check], context_kernel(name))


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


@pytest.mark.parametrize("name", ["cubic", "rbf+cubic", "rbf+rbf+rbf", ""])
def test_an_unknown_name_lists_the_kernels(name: str) -> None:
    with pytest.raises(UnknownNameError, match="matern-3/2"):
        context_kernel(name)
