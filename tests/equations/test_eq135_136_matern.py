"""Sandberg et al., eqs. 135-136: the Matérn kernel on contexts, with nu = 5/2 and outputscale 1."""

import mpmath
import numpy as np

from evroute.model.context_kernels import context_kernel


def test_eq135_136_with_the_bessel_function_as_printed():
    rng = np.random.default_rng(0)
    lengthscales = np.array([0.3, 1.0, 2.5])
    x, y = rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
    kernel = context_kernel("matern-5/2")(x, y, lengthscales)
    nu = mpmath.mpf(5) / 2
    for i in range(3):
        for j in range(4):
            distance = mpmath.sqrt(
                sum(((a - b) / s) ** 2 for a, b, s in zip(x[i], y[j], lengthscales, strict=True))
            )
            z = mpmath.sqrt(2 * nu) * distance
            printed = 2 ** (1 - nu) / mpmath.gamma(nu) * z**nu * mpmath.besselk(nu, z)
            np.testing.assert_allclose(kernel[i, j], float(printed), rtol=1e-13)
