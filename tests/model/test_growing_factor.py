"""The growing factor against a solve with the whole covariance."""

import numpy as np

from evroute.model.growing_factor import GrowingFactor


def covariance(n: int) -> np.ndarray:
    root = np.random.default_rng(0).standard_normal((n, n))
    return root @ root.T + np.eye(n)


def test_points_added_one_by_one_have_the_factor_of_all() -> None:
    whole, factor = covariance(6), GrowingFactor()
    for m in range(6):
        row = factor.features(whole[:m, [m]].copy())[:, 0]
        factor.append(row, whole[m, m] - row @ row)
    np.testing.assert_allclose(factor.lower, np.linalg.cholesky(whole), rtol=1e-12)


def test_features_at_more_points_follow_from_those_at_the_first() -> None:
    whole = covariance(9)
    among, between = whole[:6, :6], whole[:6, 6:]
    factor = GrowingFactor(np.linalg.cholesky(among))
    expected = np.linalg.solve(factor.lower, between)
    for k in (0, 4, 6):
        more = factor.features(between[k:].copy(), expected[:k])
        np.testing.assert_allclose(more, expected[k:], rtol=1e-12)
