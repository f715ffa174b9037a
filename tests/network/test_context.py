from collections.abc import Callable

import numpy as np
import pytest

from evroute.network import context
from evroute.network.road_network import RoadNetwork


def test_features_are_length_speed_and_incline_divided_by_their_standard_deviation(
    denver: RoadNetwork,
) -> None:
    built = context.build(denver)
    assert context.NAMES == ("length", "speed limit", "incline")
    columns = denver.length_m, denver.speed_mps, np.arcsin(denver.climb_m / denver.length_m)
    for k, column in enumerate(columns):
        spread = np.sqrt(np.mean((column - np.mean(column)) ** 2))
        assert built.features[:, k] == pytest.approx(column / spread)
    assert built.features.std(axis=0) == pytest.approx(np.ones(3))


def test_a_constant_feature_keeps_its_value(make_network: Callable[..., RoadNetwork]) -> None:
    flat = make_network(
        [("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (0.1, 0, 0), (0.3, 0, 0)], speed_mps=13.9
    )
    built = context.build(flat)
    assert built.scale[1:].tolist() == [1.0, 1.0]
    assert built.features[:, 1:].tolist() == [[13.9, 0.0], [13.9, 0.0]]
