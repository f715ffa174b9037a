"""Algorithm 2, line 3: E[max(0, X)] against 50-digit arithmetic."""

import mpmath
import numpy as np
import pytest

from evroute.planning.weights import rectified_mean

SMALLEST_NORMAL = np.finfo(float).tiny


def exact(mean: float, std: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        m, s = mpmath.mpf(mean), mpmath.mpf(std)
        z = m / s
        return m * mpmath.ncdf(z) + s * mpmath.npdf(z)


@pytest.mark.parametrize("std", [1e-3, 1.0, 7.3, 1e3])
def test_it_is_accurate_to_1e_10_from_40_deviations_below_to_40_above(std: float) -> None:
    mean = np.linspace(-40, 40, 321) * std
    computed = rectified_mean(mean, np.full_like(mean, std))
    for m, value in zip(mean.tolist(), computed.tolist(), strict=True):
        truth = exact(m, std)
        # below about -38 deviations the value itself is too small for a double
        assert abs(value - truth) <= 1e-10 * truth + SMALLEST_NORMAL, m


def test_the_far_tail_keeps_its_order() -> None:
    z = np.linspace(-37, 0, 2000)
    assert (np.diff(rectified_mean(z, np.ones_like(z))) > 0).all()


def test_without_noise_it_is_the_positive_part() -> None:
    mean = np.array([-3.0, -0.0, 0.0, 2.5])
    assert rectified_mean(mean, np.zeros(4)).tolist() == [0.0, 0.0, 0.0, 2.5]


def test_it_is_never_negative_however_far_below() -> None:
    mean = -np.geomspace(1e-3, 1e6, 500)
    assert (rectified_mean(mean, np.full(500, 1.0)) >= 0).all()
