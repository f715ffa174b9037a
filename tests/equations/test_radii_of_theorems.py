"""Radii of BKB (Thm 2), BBKB (Thm 2) and EK-UCB (Lemmas 3.1, 4.1), by a calculator.

All have lambda = 4, F = 3 and delta = 0.1: ln(1 / delta) = 2.302585 and sqrt(lambda) F = 6. At
epsilon = 1/2, (1 + epsilon) / (1 - epsilon) = 3 and 1 + 1 / sqrt(1 - epsilon) = 2.414214.
"""

import pytest

from evroute.model.sparse import radius

COMMON = {"ridge": 4.0, "norm_bound": 3.0, "delta": 0.1}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("theory", 2 * (3 * 2.995732 * 5 + 2.302585) ** 0.5 + 14.485281),  # ln(2 * 10) = 2.995732
        ("safe", (2 * (3 * (1 + 1.791759) * 5 + 2.302585)) ** 0.5 + 14.485281),  # ln(20 / 4 + 1)
        ("lean", (2.302585 * 5 + 2.302585) ** 0.5 + 6),  # ln(10)
    ],
)
def test_bkb(form, expected) -> None:
    found = radius.bkb(form, n=10.0, kappa2=2.0, sum_variance=5.0, **COMMON)
    assert found == pytest.approx(expected, rel=1e-6)


def test_bkb_before_a_measurement_and_where_the_logarithm_is_negative() -> None:
    for n, kappa2 in ((0.0, 2.0), (2.0, 0.25)):
        found = radius.bkb("theory", n=n, kappa2=kappa2, sum_variance=5.0, **COMMON)
        assert found == pytest.approx(2 * 2.302585**0.5 + 14.485281, rel=1e-6)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("theory", 1.44 * (2 * (7 + 2.302585) ** 0.5 + 14.485281)),
        ("safe", 1.2 * (2 * (7 + 2.302585) ** 0.5 + 14.485281)),
        ("lean", (1.44 * 5 + 2.302585) ** 0.5 + 6),
    ],
)
def test_bbkb(form, expected) -> None:
    found = radius.bbkb(form, log_sum=5.0, log_sum_3=7.0, threshold=1.44, **COMMON)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("theory", 6 + 3 * 0.8 + (4 * 2.302585 + 2 * 5) ** 0.5),
        ("safe", 6 + 3 * 0.8 + (4 * 2.302585 + 2 * 5) ** 0.5),
        ("lean", 6 + (2 * 2.302585 + 5) ** 0.5),
    ],
)
def test_ek_ucb(form, expected) -> None:
    found = radius.ek(form, log_det=5.0, projection_error=0.64, **COMMON)
    assert found == pytest.approx(expected, rel=1e-6)
