"""Confidence bounds: numbered tests of our notes on Flynn & Reeb, arXiv 2403.12732 (section 13)."""

from typing import get_args

import numpy as np
import pytest
from bound_state import BoundState
from ridge import Ridge
from rkhs_bandit import Problem, play
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from evroute.model.bounds.sets import ConfidenceSet, EmptySetError
from evroute.model.bounds.spectrum import Spectrum
from evroute.policy.bounds import Kind, assume, bounds

KINDS = get_args(Kind)
LENGTHSCALE = 0.3


def rbf(x, y):
    return np.exp(-(cdist(x, y) ** 2) / (2 * LENGTHSCALE**2))


def matern32(x, y):
    r = np.sqrt(3.0) * cdist(x, y) / LENGTHSCALE
    return (1 + r) * np.exp(-r)


def radius2(state):
    """Return R² of the state's confidence set."""
    return state._square - state.confidence.excess


def path_interval(state, points, kind):
    """Return bounds of the sum over points: summed bounds, low and high, then joint bounds."""
    each = state.bounds(points, kind)
    total = state.points(points).summed(np.ones(len(points)), rbf(points, points))
    joint = bounds(state.confidence, total, kind, count=state.count)
    return each.low.sum(), each.high.sum(), joint.low[0], joint.high[0]


KERNELS = {"rbf": rbf, "matern": matern32}


def truth(kernel, norm, rng, n=20, d=1):
    """Return a function of the kernel's space with the given norm."""
    centres, weights = rng.uniform(size=(n, d)), rng.standard_normal(n)
    weights *= norm / np.sqrt(weights @ kernel(centres, centres) @ weights)
    return lambda x: kernel(x, centres) @ weights


def problem(seed, *, t=20, kernel=rbf, norm=3.0, sigma=0.2, delta=0.1, c=0.5, d=1, **assumed):
    """Return a state with measurements of a function of norm 3, points, values, the function."""
    rng = np.random.default_rng(seed)
    f = truth(kernel, norm, rng, d=d)
    x = rng.uniform(size=(t, d))
    y = f(x) + rng.normal(0.0, sigma, t)
    state = BoundState(kernel, **({"B": 4.0, "sigma": sigma, "delta": delta, "c": c} | assumed))
    state.observe(x, y)
    return state, x, y, f


SOME = np.linspace(-0.2, 1.2, 25)[:, np.newaxis]


def rt2(state, x, y, alpha, sigma=0.2, c=0.5):
    """Compute (RT) from whole matrices."""
    gram, unit = state._kernel(x, x), np.eye(len(y))
    inner = unit + c / sigma**2 * gram
    r2 = (
        y @ np.linalg.solve(inner, y)
        + sigma**2 * np.linalg.slogdet(inner)[1]
        - 2 * sigma**2 * np.log(0.1)
    )
    return r2 + alpha * 4.0**2 - alpha * y @ np.linalg.solve(gram + alpha * unit, y), r2


@pytest.mark.parametrize("seed", range(5))
def test_01_the_radius_at_sigma2_over_c_has_a_closed_form(seed):
    state, x, y, _ = problem(seed)
    sigma, c = 0.2, 0.5
    alpha = sigma**2 / c
    expected = (
        sigma**2 * state.confidence.spectrum.log_det(c / sigma**2)
        - 2 * sigma**2 * np.log(0.1)
        + sigma**2 * 16.0 / c
    )
    np.testing.assert_allclose(state.confidence.rtilde2(np.array([alpha]))[0], expected, rtol=1e-10)
    for alpha in (1e-3, 0.08, 2.0):
        whole, r2 = rt2(state, x, y, alpha)
        np.testing.assert_allclose(state.confidence.rtilde2(np.array([alpha]))[0], whole, rtol=1e-9)
        gram = state._kernel(x, x)
        lemma_c1 = (
            r2 + alpha * 16.0 - y @ y + y @ gram @ np.linalg.solve(gram + alpha * np.eye(len(y)), y)
        )
        np.testing.assert_allclose(
            state.confidence.rtilde2(np.array([alpha]))[0], lemma_c1, rtol=1e-8
        )
    np.testing.assert_allclose(radius2(state), r2, rtol=1e-10)


def test_01_two_hundred_appended_rows_give_the_whole_factorisation():
    rng = np.random.default_rng(1)
    x, y, some = rng.uniform(size=(200, 2)), rng.standard_normal(200), rng.uniform(size=(30, 2))
    alpha = 0.05
    ridge, log_det = Ridge(alpha), 0.0
    for t in range(200):
        _, variance = ridge.predict(rbf(x[:t], x[t : t + 1]), np.ones(1))
        log_det += np.log1p(variance[0] / alpha)
        ridge.append(rbf(x[:t], x[t : t + 1])[:, 0], 1.0, float(y[t]))
    whole, cross = rbf(x, x) + alpha * np.eye(200), rbf(x, some)
    expected = np.linalg.slogdet(whole / alpha)[1]
    np.testing.assert_allclose((ridge.log_det, log_det), expected, rtol=1e-9)
    np.testing.assert_allclose(ridge.quadratic, alpha * y @ np.linalg.solve(whole, y), rtol=1e-9)
    mean, variance = ridge.predict(cross, np.ones(30))
    np.testing.assert_allclose(mean, cross.T @ np.linalg.solve(whole, y), atol=1e-9)
    np.testing.assert_allclose(
        variance, 1 - np.sum(cross * np.linalg.solve(whole, cross), axis=0), atol=1e-9
    )
    inverse = np.linalg.inv(rbf(x[:199], x[:199]) + alpha * np.eye(199))
    v = inverse @ rbf(x[:199], x[199:])[:, 0]
    s = 1.0 + alpha - rbf(x[199:], x[:199])[0] @ v
    block = np.block(
        [[inverse + np.outer(v, v) / s, -v[:, np.newaxis] / s], [-v / s, np.array(1 / s)]]
    )
    np.testing.assert_allclose(block, np.linalg.inv(whole), atol=1e-9)
    with pytest.raises(ValueError, match="alpha is 0"):
        Ridge(0.0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("seed", range(10))
def test_02_cmm_in_dmm_in_amm_strictly_in_ay_and_in_igp_at_matched_parameters(seed, kernel):
    state, *_ = problem(seed, kernel=kernel)
    cmm, dmm, amm, ay = (state.bounds(SOME, kind) for kind in ("cmm", "dmm", "amm", "ay"))
    for inner, outer in ((cmm, dmm), (dmm, amm)):
        assert np.all(inner.high <= outer.high + 1e-5)
        assert np.all(inner.low >= outer.low - 1e-5)
    assert np.all(amm.high < ay.high)
    assert np.all(amm.low > ay.low)
    eta = 0.01
    matched, *_ = problem(seed, kernel=kernel, c=0.2**2 / (1 + eta))
    amm, igp = matched.bounds(SOME, "amm"), matched.bounds(SOME, "igp", eta=eta)
    assert np.all(amm.high < igp.high)
    assert np.all(amm.low > igp.low)


@pytest.mark.parametrize("kind", ["cmm", "amm"])
def test_02_before_any_measurement_the_norm_bounds(kind):
    """|f(x)| <= ||f|| sqrt(k(x, x)); AMM adds its radius -2 sigma² ln delta over alpha."""
    state = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1, c=0.5)
    found = state.bounds(SOME, kind)
    half = {"cmm": 4.0, "amm": np.sqrt(16.0 - 2 * 0.5 * np.log(0.1))}[kind]
    np.testing.assert_allclose(found.high, np.full(len(SOME), half), rtol=1e-6)
    np.testing.assert_allclose(found.low, np.full(len(SOME), -half), rtol=1e-6)


@pytest.mark.parametrize("kind", ["ay", "igp"])
def test_02_earlier_bounds_equal_their_papers_from_whole_matrices(kind):
    """Abbasi-Yadkori et al. 2011 and Chowdhury & Gopalan 2017 with ln det in place of gamma."""
    state, x, y, _ = problem(3)
    sigma, delta, norm, eta = 0.2, 0.1, 4.0, 0.5
    ridge = {"ay": sigma**2 / 0.5, "igp": 1 + eta}[kind]
    whole, cross = rbf(x, x) + ridge * np.eye(len(y)), rbf(x, SOME)
    mean = cross.T @ np.linalg.solve(whole, y)
    std = np.sqrt(1 - np.sum(cross * np.linalg.solve(whole, cross), axis=0))
    inside = np.linalg.slogdet(whole / ridge)[1] - 2 * np.log(delta)
    if kind == "ay":
        half = (sigma * np.sqrt(inside / ridge) + norm) * std
    else:
        half = (sigma * np.sqrt(inside + len(y) * eta) + norm) * std
    found = state.bounds(SOME, kind, **({"eta": eta} if kind == "igp" else {}))
    np.testing.assert_allclose(found.low, mean - half, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.high, mean + half, rtol=1e-8, atol=1e-8)


def cone_program(kernel, x, y, point, *, radius, norm):
    """Return the largest value at a point over the confidence set, by constrained optimisation.

    In coordinates v with f(z) = k(z, .)' L^-T v, where L L' = K over the points and norm is ||v||.
    A value of the set, and a bound of all its values that equals it, prove each other.
    """
    every = np.vstack([x, point])
    factor = np.linalg.cholesky(kernel(every, every) + 1e-10 * np.eye(len(every)))
    rows, goal = factor[:-1], factor[-1]
    fit = {
        "type": "ineq",
        "fun": lambda v: radius**2 - np.sum((rows @ v - y) ** 2),
        "jac": lambda v: -2 * rows.T @ (rows @ v - y),
    }
    ball = {"type": "ineq", "fun": lambda v: norm**2 - v @ v, "jac": lambda v: -2 * v}
    start = np.linalg.solve(rows.T @ rows + 1e-2 * np.eye(len(goal)), rows.T @ y)
    solved = minimize(
        lambda v: -goal @ v,
        start,
        jac=lambda v: -goal,
        constraints=[fit, ball],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    # last bits decide whether the line search ends with success: the point is judged, not the end
    assert fit["fun"](solved.x) > -1e-7
    assert ball["fun"](solved.x) > -1e-7
    return -solved.fun


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("t", [1, 5, 20, 40])
def test_03_the_dual_is_the_cone_program(t, kernel):
    state, x, y, _ = problem(t, t=t, kernel=kernel)
    radius = np.sqrt(radius2(state))
    some = SOME[::6]
    cmm = state.bounds(some, "cmm")
    for i, point in enumerate(some):
        high = cone_program(kernel, x, y, point, radius=radius, norm=4.0)
        low = -cone_program(kernel, x, -y, point, radius=radius, norm=4.0)
        np.testing.assert_allclose((cmm.high[i], cmm.low[i]), (high, low), atol=1e-5 * 4.0)


@pytest.mark.parametrize("seed", range(3))
def test_03_the_slope_of_the_dual_equals_differences(seed):
    state, *_ = problem(seed)
    confidence, points = state.confidence, state.points(SOME[:3])
    spectrum = confidence.spectrum
    d, yt = spectrum.eigenvalues, spectrum.projections
    for alpha in (1e-3, 1e-2, 0.1, 1.0):
        w = 1 / (d + alpha)
        for a, k in zip(points.coordinates, points.prior_variance, strict=True):

            def h(alpha, a=a, k=k):
                w = 1 / (d + alpha)
                s = confidence.rtilde2(np.array([alpha]))[0]
                return np.sum(a * yt * w) + np.sqrt(s * (k - np.sum(a**2 * w)) / alpha)

            s, q = confidence.rtilde2(np.array([alpha]))[0], (k - np.sum(a**2 * w)) / alpha
            s_slope = 16.0 - np.sum(yt**2 * d * w**2)
            q_slope = (np.sum(a**2 * w**2) - q) / alpha
            slope = -np.sum(a * yt * w**2) + (s_slope * q + s * q_slope) / (2 * np.sqrt(s * q))
            step = 1e-5 * alpha
            np.testing.assert_allclose(
                slope, (h(alpha + step) - h(alpha - step)) / (2 * step), rtol=1e-4, atol=1e-5
            )


def test_04_nine_arms_with_sixty_measurements_equal_sixty_rows():
    rng = np.random.default_rng(4)
    arms = rng.uniform(size=(9, 2))
    x = arms[rng.integers(0, 9, 60)]
    y = truth(rbf, 3.0, rng, d=2)(x) + rng.normal(0.0, 0.2, 60)
    merged = BoundState(rbf, B=4.0, sigma=0.2, c=0.5)
    merged.observe(x, y)
    info = merged.info()
    assert (info["measurements"], info["points"]) == (60, 9)
    closed = (
        0.5 * (merged.confidence.spectrum.log_det(0.5 / 0.2**2) - 2 * np.log(0.05)) + 4.0**2
    )  # section 3, with (RT*)
    assert info["multiplier"] == pytest.approx(np.sqrt(closed))
    whole = ConfidenceSet(Spectrum.of_gram(rbf(x, x), y, np.ones(60)), merged.assumptions)
    some = rng.uniform(size=(30, 2))
    points = whole.spectrum.points(rbf(x, some), np.ones(30))
    np.testing.assert_allclose(radius2(merged), y @ y - whole.excess, rtol=1e-8)
    np.testing.assert_allclose(
        merged.confidence.rtilde2(np.array([0.3]))[0], whole.rtilde2(np.array([0.3]))[0], rtol=1e-8
    )
    np.testing.assert_allclose(merged.confidence.b_min, whole.b_min, rtol=1e-6)
    for kind in KINDS:
        one, other = merged.bounds(some, kind), bounds(whole, points, kind, count=60)
        np.testing.assert_allclose(one.high, other.high, atol=1e-7)
        np.testing.assert_allclose(one.low, other.low, atol=1e-7)


def test_05_without_data_the_norm_alone_bounds_and_always_does():
    state = BoundState(lambda x, y: 2.0 * rbf(x, y), B=4.0, sigma=0.2)
    cmm = state.bounds(SOME)
    np.testing.assert_allclose(cmm.high, 4.0 * np.sqrt(2.0), rtol=1e-9)
    np.testing.assert_allclose(cmm.low, -4.0 * np.sqrt(2.0), rtol=1e-9)
    np.testing.assert_allclose(radius2(state), 2 * 0.2**2 * np.log(20), rtol=1e-12)
    for kind in KINDS:
        none = state.bounds(SOME, kind)
        np.testing.assert_allclose(none.high, -none.low)
    for seed in range(5):
        cmm = problem(seed)[0].bounds(SOME)
        assert np.all(cmm.high - cmm.low <= 8.0 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_06_the_bounds_mirror_with_the_measurements_and_scale_with_the_unit(kind):
    state, x, y, _ = problem(6)
    plain = state.bounds(SOME, kind)
    mirrored = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1, c=0.5)
    mirrored.observe(x, -y)
    other = mirrored.bounds(SOME, kind)
    np.testing.assert_allclose(other.high, -plain.low, rtol=1e-9)
    if kind != "igp":  # its ridge strength is in the unit of the measurements
        scaled = BoundState(rbf, B=4.0 * 7, sigma=0.2 * 7, delta=0.1, c=0.5 * 49)
        scaled.observe(x, 7 * y)
        np.testing.assert_allclose(scaled.bounds(SOME, kind).high, 7 * plain.high, rtol=1e-7)
        kernel = BoundState(
            lambda a, b: 3.0 * rbf(a, b), B=4.0 / np.sqrt(3.0), sigma=0.2, delta=0.1, c=0.5 / 3
        )
        kernel.observe(x, y)
        np.testing.assert_allclose(kernel.bounds(SOME, kind).high, plain.high, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_07_adaptive_runs_leave_the_bounds_no_oftener_than_delta():
    """100 runs of 40 rounds; each measures where the upper bound is highest."""
    delta, violated = 0.1, {"cmm": 0, "amm": 0}
    grid = np.linspace(0, 1, 30)[:, np.newaxis]
    for kind in violated:
        for seed in range(100):
            rng = np.random.default_rng(seed)
            f = truth(rbf, 4.0, rng)(grid)
            state = BoundState(rbf, B=4.0, sigma=0.3, delta=delta, c=1.0)
            for _ in range(40):
                interval = state.bounds(grid, kind)
                if np.any((f < interval.low - 1e-9) | (f > interval.high + 1e-9)):
                    violated[kind] += 1
                    break
                at = int(interval.high.argmax())
                state.observe(grid[[at]], f[[at]] + rng.normal(0.0, 0.3, 1))
    assert max(violated.values()) <= delta * 100


def test_08_an_empty_set_is_told_with_the_least_norm_that_fits():
    state, x, y, _ = problem(8, norm=15.0, B=1.0, t=40)
    assert not state.confidence.feasible
    assert state.confidence.b_min > 1.0
    for kind in ("cmm", "dmm", "amm"):
        with pytest.raises(EmptySetError, match=r"norm B = 1 .* smallest B that fits is"):
            state.bounds(SOME, kind)
    just = BoundState(rbf, B=state.confidence.b_min * (1 + 1e-6), sigma=0.2, delta=0.1, c=0.5)
    just.observe(x, y)
    assert just.confidence.feasible
    alpha = np.geomspace(1e-6, 1e6, 2000)
    assert np.all(just.confidence.rtilde2(alpha) >= 0)
    less = BoundState(rbf, B=state.confidence.b_min * (1 - 1e-3), sigma=0.2, delta=0.1, c=0.5)
    less.observe(x, y)
    assert np.any(less.confidence.rtilde2(alpha) < 0)
    extreme = BoundState(rbf, B=1.0, sigma=1e-4, c=0.5)
    extreme.observe(x, 1e3 * y)
    assert np.isfinite(extreme.confidence.b_min)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("seed", range(4))
def test_09_the_dual_falls_and_then_rises(seed, kernel):
    state, *_ = problem(seed, kernel=kernel, t=15)
    alpha = np.geomspace(1e-5, 1e5, 600)
    mean, variance = state.confidence.spectrum.ridge(state.points(SOME), alpha)
    h = mean + np.sqrt(state.confidence.rtilde2(alpha) / alpha * variance)
    slope = np.diff(h, axis=1)
    signs = np.sign(np.where(np.abs(slope) < 1e-11 * np.abs(h[:, 1:]), 0.0, slope))
    for row in signs:
        row = row[row != 0]
        assert np.all(np.diff(row) >= 0)  # minus to plus, once at most


def test_10_a_mixture_costs_at_most_the_logarithm_of_its_weight_and_whitening_equal_noise_nothing():
    rng = np.random.default_rng(10)
    _, x, y, _ = problem(10)
    mixed = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1)
    mixed.observe(x, y)
    scales = mixed.assumptions.scales
    for c in scales:
        single = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1, c=float(c))
        single.observe(x, y)
        assert radius2(mixed) <= radius2(single) + 2 * 0.2**2 * np.log(len(scales)) + 1e-12
    stds = rng.uniform(0.1, 0.5, len(y))
    whitened = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1, c=0.5)
    whitened.observe(x, y, noise_std=stds)
    gram = rbf(x, x) / stds[:, np.newaxis] / stds
    by_hand = ConfidenceSet(
        Spectrum.of_gram(gram, y / stds, np.ones(len(y))), assume(4.0, 1.0, 0.1, 0.5)
    )
    points = by_hand.spectrum.points(rbf(x, SOME) / stds[:, np.newaxis], np.ones(len(SOME)))
    np.testing.assert_allclose(whitened.bounds(SOME).high, by_hand.exact(points).high, atol=1e-6)
    equal, plain = BoundState(rbf, B=4.0, sigma=0.2, delta=0.1), mixed
    equal.observe(x, y, noise_std=np.full(len(y), 0.2))
    np.testing.assert_allclose(equal.bounds(SOME).low, plain.bounds(SOME).low, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_11_the_joint_interval_of_a_path_is_inside_the_summed_one_and_holds_the_truth(kind):
    for seed in range(10):
        state, _, _, f = problem(seed)
        path = np.random.default_rng(seed).uniform(size=(6, 1))
        sum_low, sum_high, low, high = path_interval(state, path, kind)
        assert sum_low - 1e-5 <= low <= f(path).sum() <= high <= sum_high + 1e-5


def test_11_the_elliptical_potential_of_paths_is_bounded():
    """``sum_t sum_e rho²_{t-1}(e) / alpha <= (1 + lam / alpha) ln det(I + K / alpha)``."""
    rng = np.random.default_rng(11)
    alpha, k = 0.3, 5
    for _ in range(5):
        measured, total, largest = np.empty((0, 1)), 0.0, 0.0
        for _ in range(15):
            path = rng.uniform(size=(k, 1))
            cross = rbf(measured, path)
            covariance = rbf(path, path) - cross.T @ np.linalg.solve(
                rbf(measured, measured) + alpha * np.eye(len(measured)), cross
            )
            total += covariance.trace() / alpha
            largest = max(largest, np.linalg.eigvalsh(covariance)[-1])
            measured = np.vstack([measured, path])
        log_det = np.linalg.slogdet(np.eye(len(measured)) + rbf(measured, measured) / alpha)[1]
        assert total <= (1 + largest / alpha) * log_det


@pytest.mark.parametrize("seed", range(4))
def test_12_more_norm_or_less_delta_never_narrows(seed):
    plain = problem(seed)[0].bounds(SOME)
    for changed in ({"B": 6.0}, {"delta": 0.01}):
        wider = problem(seed, **changed)[0].bounds(SOME)
        assert np.all(wider.high >= plain.high - 1e-5)
        assert np.all(wider.low <= plain.low + 1e-5)


@pytest.mark.slow
def test_13_dmm_regrets_less_than_amm_than_ay_than_igp():
    """RBF of lengthscale 0.5 in the unit cube, within twice the paper's spread, on 3 seeds."""
    problem = Problem(np.inf, 0.5)
    mean = {
        method: np.mean([play(problem, method, seed, rounds=300)[-1] for seed in range(3)])
        for method in ("DMM-UCB", "AMM-UCB", "AY-GP-UCB", "IGP-UCB")
    }
    assert mean["DMM-UCB"] < mean["AMM-UCB"] < mean["AY-GP-UCB"] < mean["IGP-UCB"]
    within = {
        "DMM-UCB": (32.2, 20.9),
        "AMM-UCB": (88.8, 6.1),
        "AY-GP-UCB": (136.9, 12.7),
        "IGP-UCB": (314.1, 110.5),
    }
    for method, (paper, spread) in within.items():
        assert abs(mean[method] - paper) <= 2 * spread
