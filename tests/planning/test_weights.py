"""The four weight rules on values worked out by hand."""

import numpy as np
import pytest

from evroute.planning.weights import WEIGHT_RULES

# E[max(0, N(0, 2²))] = 2 / sqrt(2 pi)
AT_ZERO = 2 / np.sqrt(2 * np.pi)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("potential", [0.0, 7.0, 0.0]),
        ("potential-rectified", [AT_ZERO, 7.0, 0.0]),
        ("rectified", [0.0, AT_ZERO, 0.0]),
        ("clamped", [0.0, 0.0, 0.0]),
    ],
)
def test_each_rule_by_hand(rule: str, expected: list[float]) -> None:
    index = np.array([-30.0, 0.0, -500.0])
    potential = np.array([-30.0, -7.0, 400.0])
    noise_std = np.array([2.0, 0.0, 2.0])
    if rule == "rectified":
        noise_std[1] = 2.0
    weights = WEIGHT_RULES[rule](index, noise_std, potential)
    assert weights == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("rule", sorted(WEIGHT_RULES))
def test_no_rule_gives_a_negative_weight(rule: str) -> None:
    rng = np.random.default_rng(1)
    index, potential = rng.normal(0, 50, (2, 1000))
    weights = WEIGHT_RULES[rule](index, rng.uniform(0, 20, 1000), potential)
    assert (weights >= 0).all()
