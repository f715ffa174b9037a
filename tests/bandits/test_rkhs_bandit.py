"""The bandit of functions of known norm: functions, shared worlds, methods against bounds."""

import numpy as np
import pytest
from bound_state import BoundState
from numpy.random import default_rng
from rkhs_bandit import (
    METHODS,
    AbbasiYadkori,
    Ellipsoids,
    Exact,
    ImprovedGP,
    Problem,
    play,
)

PROBLEM = Problem(2.5, 0.5, d=2, horizon=40)


@pytest.mark.parametrize("smoothness", [1.5, 2.5, np.inf])
def test_kernels_are_one_at_distance_nought_and_positive_definite(smoothness):
    points = default_rng(0).uniform(size=(30, 2))
    gram = Problem(smoothness, 0.5, d=2).kernel(points, points)
    np.testing.assert_allclose(gram.diagonal(), 1.0)
    assert np.linalg.eigvalsh(gram)[0] > -1e-12


def test_functions_have_the_norm_and_so_no_larger_values():
    values = [
        np.abs(PROBLEM.function(default_rng(s))(default_rng(9).uniform(size=(500, 2)))).max()
        for s in range(20)
    ]
    assert max(values) <= PROBLEM.norm
    assert min(values) > 0.1 * PROBLEM.norm


def test_regret_never_falls_and_repeats_under_a_seed():
    for method in METHODS:
        regret = play(PROBLEM, method, 3, rounds=15)
        assert np.all(np.diff(regret) >= 0)
        np.testing.assert_array_equal(regret, play(PROBLEM, method, 3, rounds=15))
    first = {method: play(PROBLEM, method, 3, rounds=1)[0] for method in METHODS}
    assert len(set(first.values())) == 1  # the first choice is random, and the same for all


@pytest.mark.parametrize(
    ("make", "kind", "options"),
    [
        (Exact, "cmm", {}),
        (lambda p: Ellipsoids(p, (0.1, 0.3, 1.0, 3.0, 10.0)), "dmm", {}),
        (lambda p: Ellipsoids(p, (1.0,)), "amm", {}),
        (AbbasiYadkori, "ay", {}),
        (ImprovedGP, "igp", {"eta": 2 / 40}),
    ],
)
def test_every_method_has_the_upper_ends_of_its_bounds(make, kind, options):
    rng = default_rng(1)
    f, x, some = PROBLEM.function(rng), rng.uniform(size=(40, 2)), rng.uniform(size=(20, 2))
    y = f(x) + PROBLEM.sigma * rng.standard_normal(40)
    method = make(PROBLEM)
    for t in range(40):
        method.observe(PROBLEM.kernel(x[:t], x[t : t + 1])[:, 0], 1.0, float(y[t]))
    state = BoundState(
        PROBLEM.kernel, B=PROBLEM.norm, sigma=PROBLEM.sigma, delta=PROBLEM.delta, c=PROBLEM.scale
    )
    state.observe(x, y)
    upper = method.upper(PROBLEM.kernel(x, some), np.ones(20))
    # after T = 40 measurements t eta is 2
    np.testing.assert_allclose(upper, state.bounds(some, kind, **options).high, rtol=1e-7)


def test_other_smoothness_is_refused():
    with pytest.raises(ValueError, match="smoothness is 3"):
        Problem(3.5, 0.5)
