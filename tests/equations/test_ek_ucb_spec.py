"""EK-UCB (Zenati et al. 2022): the numbered tests of the specification, 1 to 13.

``Inverses`` is the paper's own recursion (section 5.1), kept here alone: it loses digits on smooth
kernels, so it is carried out in 50 digits.
"""

import io

import mpmath
import numpy as np
import pytest
from engines import engine

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse import radius
from evroute.model.sparse.ek import EKOptions, Growing, Kors, KUCBOptions, whole_matrix
from evroute.model.sparse.posterior import SparsePosterior


def projection_error(posterior):
    """Return mu_t: the largest eigenvalue of the kernel matrix minus its projection."""
    observed = posterior.observed
    z = posterior.embedding[:, observed]
    error = posterior.prior_between(observed, observed) - z.T @ z
    root = np.sqrt(posterior.count[observed])
    return max(0.0, np.linalg.eigvalsh(root[:, np.newaxis] * error * root).max(initial=0.0))


class Exponential:
    """Matérn of smoothness 1/2."""

    def __init__(self, lengthscale):
        self.lengthscale = lengthscale

    def __call__(self, edge_a, features_a, edge_b, features_b):
        distance = np.linalg.norm(features_a[:, np.newaxis] - features_b, axis=2)
        return np.exp(-distance / self.lengthscale)

    def diagonal(self, edge, features):
        return np.ones(len(edge))


def points(rng, n=60, d=3):
    return np.zeros(n, dtype=int), rng.random((n, d))


def fed(posterior, rule, edge, x, y, rng):
    rule.learn(posterior, posterior.slots(edge, x), y, rng)


def ridge_regression(kernel, lam, x, y, at):
    zero, there = np.zeros(len(x), dtype=int), np.zeros(len(at), dtype=int)
    gram = kernel(zero, x, zero, x) + lam * np.eye(len(x))
    cross = kernel(zero, x, there, at)
    solved = np.linalg.solve(gram, cross)
    return solved.T @ y, kernel.diagonal(there, at) - np.einsum("ij,ij->j", cross, solved)


def predict(posterior, at):
    there = np.zeros(len(at), dtype=int)
    z = posterior.embed(there, at)
    return posterior.mean(z), posterior.variance(z, posterior.kernel.diagonal(there, at))


@pytest.mark.parametrize(
    "kernel",
    [VectorKernel("rbf", 1.0, 0.5), VectorKernel("matern-5/2", 1.0, 0.5), Exponential(0.5)],
)
def test_1_a_full_dictionary_is_ridge_regression(kernel):
    rng = np.random.default_rng(0)
    edge, x = points(rng)
    y, at = rng.normal(size=60), rng.random((20, 3))
    posterior = SparsePosterior(kernel, np.ones(1), 3, 0.1)
    fed(posterior, Growing(None), edge, x, y, rng)
    mean, variance = predict(posterior, at)
    exact_mean, exact_variance = ridge_regression(kernel, 0.1, x, y, at)
    np.testing.assert_allclose(mean, exact_mean, atol=1e-8)
    np.testing.assert_allclose(0.1 * variance, exact_variance, atol=1e-8)


@pytest.mark.parametrize("lengthscale", [0.25, 0.5, 2.0])
def test_1_a_full_dictionary_is_ridge_regression_on_smooth_kernels(lengthscale):
    """300 points of the plane one by one; the others explain most of them to 1e-8."""
    rng = np.random.default_rng(1)
    kernel = VectorKernel("rbf", 1.0, lengthscale)
    edge, x = points(rng, 300, 2)
    y, at = rng.normal(size=300), rng.random((50, 2))
    lam = 0.1
    posterior, rule = SparsePosterior(kernel, np.ones(1), 2, lam), Growing(None)
    for i in range(300):
        fed(posterior, rule, edge[[i]], x[[i]], y[[i]], rng)
    mean, variance = predict(posterior, at)
    exact_mean, exact_variance = ridge_regression(kernel, lam, x, y, at)
    np.testing.assert_allclose(mean, exact_mean, atol=1e-8)
    np.testing.assert_allclose(lam * variance, exact_variance, atol=1e-8)
    z = posterior.embed(edge, x)
    assert np.min(1.0 - np.sum(z * z, axis=0)) > -1e-12


DIGITS = 50
exact = np.vectorize(mpmath.mpf, otypes=[object])


class Inverses:
    """Section 5.1 as printed: Lambda, Gamma and the inverse of K_ZZ by rank-one updates."""

    def __init__(self, kernel, lam, d):
        self.kernel = kernel
        self.lam = mpmath.mpf(lam)
        self.z, self.s, self.y = np.empty((0, d)), np.empty((0, d)), exact(np.empty(0))
        self.big = self.inverse = self.k_zs = exact(np.empty((0, 0)))
        self.gamma = exact(np.empty(0))

    def k(self, a, b):
        return exact(self.kernel(np.zeros(len(a), dtype=int), a, np.zeros(len(b), dtype=int), b))

    def observe(self, s, r, joins):
        kz = self.k(self.z, s[np.newaxis])[:, 0]
        v = self.big @ kz
        self.big = self.big - np.outer(v, v) / (1 + np.sum(kz * v))
        self.gamma = self.gamma + r * kz
        self.s, self.y = np.vstack([self.s, s]), np.append(self.y, mpmath.mpf(r))
        self.k_zs = np.hstack([self.k_zs, kz[:, np.newaxis]])
        if not joins:
            return
        k_ss = self.k(s[np.newaxis], s[np.newaxis])[0, 0]
        g = self.k(self.s, s[np.newaxis])[:, 0]
        b, c = self.k_zs @ g + self.lam * kz, g @ g + self.lam * k_ss
        w = self.big @ b
        q = 1 / (c - np.sum(b * w))
        self.big = np.block(
            [[self.big + q * np.outer(w, w), -q * w[:, np.newaxis]], [-q * w[np.newaxis], q]]
        )
        e = self.inverse @ kz
        omega = k_ss - np.sum(kz * e)
        self.inverse = np.block(
            [
                [self.inverse + np.outer(e, e) / omega, -e[:, np.newaxis] / omega],
                [-e[np.newaxis] / omega, 1 / omega],
            ]
        )
        self.gamma = np.append(self.gamma, g @ self.y)
        self.k_zs = np.vstack([self.k_zs, g])
        self.z = np.vstack([self.z, s])

    def predict(self, at):
        kz = self.k(self.z, at)
        delta = np.sum(kz * ((self.big - self.inverse / self.lam) @ kz), axis=0)
        return kz.T @ self.big @ self.gamma, 1 / self.lam + delta


def lost_by_updates(matrix, n_updates):
    """Bound the error of an inverse after so many rank-one updates in 50 digits.

    A vector times the inverse loses at most the condition number in digits, and the new pivot,
    a difference of two such numbers, loses it once more.
    """
    values = matrix.astype(float)
    scale = np.linalg.norm(np.linalg.inv(values), 2)
    return n_updates * scale * np.linalg.cond(values) ** 2 * 10.0**-DIGITS


@mpmath.workdps(DIGITS)
def test_2_the_papers_recursion_equals_its_batch_form_and_the_feature_form():
    rng = np.random.default_rng(1)
    kernel = VectorKernel("matern-5/2", 1.0, 0.5)
    edge, x = points(rng)
    y, at = rng.normal(size=60), rng.random((20, 3))
    paper, posterior = Inverses(kernel, 0.1, 3), SparsePosterior(kernel, np.ones(1), 3, 0.1)
    slots = posterior.slots(edge, x)
    for i in range(60):
        joins = bool(rng.random() < 0.3) or i == 0
        if joins:
            posterior.grow(int(slots[i]))
        posterior.absorb(slots[[i]], y[[i]])
        paper.observe(x[i], y[i], joins)
    k_zs = paper.k(paper.z, x)
    batch = k_zs @ k_zs.T + paper.lam * paper.k(paper.z, paper.z)
    inverse = np.array(mpmath.inverse(mpmath.matrix(batch.tolist())).tolist())
    assert np.abs(paper.big - inverse).max() < lost_by_updates(batch, 60)
    assert np.abs(paper.gamma - k_zs @ exact(y)).max() < 60 * np.abs(y).max() * 10.0**-DIGITS
    for mine, theirs in zip(predict(posterior, at), paper.predict(at), strict=True):
        np.testing.assert_allclose(mine, theirs.astype(float), atol=1e-8)


def brute_force_score(k_zz, k_z, k_ss, p, mu, eps):
    """Eq. 41: the temporary dictionary holds the new point with weight 1."""
    gram = np.block([[k_zz, k_z[:, np.newaxis]], [k_z[np.newaxis], k_ss]])
    weights = np.diag(1 / np.sqrt(np.append(p, 1.0)))
    column = weights @ np.append(k_z, k_ss)
    return (
        (1 + eps)
        / mu
        * (
            k_ss
            - column @ np.linalg.solve(weights @ gram @ weights + mu * np.eye(len(column)), column)
        )
    )


def test_3_the_score_is_eq_41():
    rng = np.random.default_rng(2)
    kernel = VectorKernel("matern-5/2", 1.0, 0.5)
    for _ in range(50):
        mu, eps = rng.uniform(0.01, 3.0), 0.5
        m = int(rng.integers(1, 12))
        edge, x = points(rng, m + 1)
        k = kernel(edge, x, edge, x)
        p = rng.uniform(0.05, 1.0, m)
        kors = Kors(mu, eps)
        for i in range(m):
            kors.add(1.0, k[:i, i], p[i])
        score = kors.score(1.0, k[:m, m])
        assert score == pytest.approx(
            brute_force_score(k[:m, :m], k[:m, m], 1.0, p, mu, eps), abs=1e-10
        )
        assert 0 <= score < 1 + eps


@pytest.mark.parametrize("mu", [0.01, 1.0, 100.0])
def test_3_a_duplicate_in_closed_form_and_novelty_raises_the_score(mu):
    kors = Kors(mu, 0.5)
    kors.add(1.0, np.empty(0), 1.0)
    rest = mu / (1 + mu)
    assert kors.score(1.0, np.ones(1)) == pytest.approx(1.5 * rest / (rest + mu))
    scores = [kors.score(1.0, np.array([similarity])) for similarity in (1.0, 0.9, 0.5, 0.0)]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(1.5 / (1 + mu))


def test_4_equal_uniforms_give_equal_dictionaries_and_gamma_goes_from_none_to_all():
    rng = np.random.default_rng(3)
    edge, x = points(rng)
    sizes, dictionaries = {}, []
    for gamma in (0.0, 1.0, 1.0, 1e9):
        posterior = SparsePosterior(VectorKernel("matern-5/2", 1.0, 0.5), np.ones(1), 3, 0.1)
        fed(
            posterior,
            Growing(Kors(0.1, 0.5), gamma=gamma),
            edge,
            x,
            np.zeros(60),
            np.random.default_rng(5),
        )
        sizes[gamma] = len(posterior.basis)
        dictionaries.append(posterior.basis)
    np.testing.assert_array_equal(dictionaries[1], dictionaries[2])
    assert sizes[0.0] == 0
    assert 0 < sizes[1.0] < 60
    assert sizes[1e9] == 60


def test_5_the_projection_error_is_at_most_its_trace_and_falls_as_points_are_added():
    rng = np.random.default_rng(4)
    edge, x = points(rng, 30)
    posterior = SparsePosterior(VectorKernel("matern-5/2", 1.0, 0.5), np.ones(1), 3, 0.1)
    slots = posterior.slots(edge, x)
    posterior.absorb(slots, np.zeros(30))
    before = np.inf
    for slot in slots:
        posterior.grow(int(slot))
        error = projection_error(posterior)
        assert whole_matrix(posterior)[1] == pytest.approx(error, abs=1e-12)
        assert error <= min(before, posterior.trace()) + 1e-9
        before = error
    assert before == pytest.approx(0.0, abs=1e-9)
    assert posterior.trace() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_6_with_the_papers_budget_the_projection_error_stays_within_mu():
    kept, horizon, delta = 0, 200, 0.1
    for seed in range(100):
        rng = np.random.default_rng(seed)
        edge, x = points(rng, horizon, 2)
        posterior = SparsePosterior(VectorKernel("rbf", 1.0, 0.3), np.ones(1), 2, 1.0)
        rule = Growing(Kors(1.0, 0.5), gamma=12 * np.log(horizon / delta))
        worst = 0.0
        for start in range(0, horizon, 20):
            part = slice(start, start + 20)
            fed(posterior, rule, edge[part], x[part], np.zeros(20), rng)
            worst = max(worst, projection_error(posterior))
        kept += worst <= 1.0
    assert kept >= 95


def test_7_a_round_at_once_is_its_measurements_one_by_one_and_counts_are_repeats():
    rng = np.random.default_rng(6)
    edge, x = points(rng, 40)
    y = rng.normal(size=40)
    at = rng.random((20, 3))
    made = []
    for size in (40, 1):
        posterior = SparsePosterior(VectorKernel("matern-5/2", 1.0, 0.5), np.ones(1), 3, 0.1)
        slots = posterior.slots(edge, x)
        for slot in slots[:10]:
            posterior.grow(int(slot))
        twice, values = np.concatenate([slots, slots[:15]]), np.concatenate([y, y[:15] + 1.0])
        for start in range(0, len(twice), size):
            posterior.absorb(twice[start : start + size], values[start : start + size])
        made.append(predict(posterior, at))
    for mine, theirs in zip(*made, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    full = SparsePosterior(VectorKernel("matern-5/2", 1.0, 0.5), np.ones(1), 3, 0.1)
    fed(full, Growing(None), np.concatenate([edge, edge[:15]]), np.vstack([x, x[:15]]), values, rng)
    expanded = ridge_regression(
        VectorKernel("matern-5/2", 1.0, 0.5), 0.1, np.vstack([x, x[:15]]), values, at
    )
    np.testing.assert_allclose(predict(full, at)[0], expanded[0], atol=1e-8)
    np.testing.assert_allclose(0.1 * predict(full, at)[1], expanded[1], atol=1e-8)


class Table:
    """A kernel given by a matrix; the context is the row."""

    def __init__(self, k):
        self.k = k

    def __call__(self, edge_a, features_a, edge_b, features_b):
        return self.k[np.ix_(features_a[:, 0].astype(int), features_b[:, 0].astype(int))]

    def diagonal(self, edge, features):
        return self.k.diagonal()[features[:, 0].astype(int)]


def test_8_variances_are_not_negative_and_may_be_below_the_exact_ones():
    """F = 2 [[1, 1], [1, 1]], P on axis 1, lambda 1/2, phi = (1, -1) / sqrt 2: 1.2 against 2."""
    phi = np.array([[1.0, 1.0], [1.0, 0.0], [1 / np.sqrt(2), -1 / np.sqrt(2)]])
    variances = []
    for dictionary in ([1], [0, 1]):
        posterior = SparsePosterior(Table(phi @ phi.T), np.ones(1), 1, 0.5)
        slots = posterior.slots(np.zeros(3, dtype=int), np.arange(3.0)[:, np.newaxis])
        posterior.absorb(slots[[0, 0]], np.zeros(2))
        posterior.set_dictionary(slots[dictionary])
        variances.append(posterior.slot_variance(slots[[2]])[0])
    assert variances[0] == pytest.approx(1.2)
    assert variances[1] == pytest.approx(2.0)


@pytest.mark.slow
def test_9_the_theorys_radius_covers_a_function_of_known_norm():
    rng = np.random.default_rng(9)
    kernel, broken = VectorKernel("matern-5/2", 1.0, 0.4), 0
    at = rng.random((60, 2))
    zero = np.zeros(60, dtype=int)
    for _ in range(200):
        centres = rng.random((5, 2))
        weights = rng.normal(size=5)
        five = np.zeros(5, dtype=int)
        norm = np.sqrt(weights @ kernel(five, centres, five, centres) @ weights)
        x = at[rng.integers(0, 60, 60)]
        truth = kernel(zero, at, five, centres) @ weights
        y = kernel(zero, x, five, centres) @ weights + rng.normal(size=60)
        posterior = SparsePosterior(kernel, np.ones(1), 2, 1.0)
        fed(posterior, Growing(Kors(1.0, 0.5)), zero, x, y, rng)
        mean, variance = predict(posterior, at)
        width = radius.ek(
            "theory",
            log_det=posterior.log_det() + posterior.trace(),
            projection_error=posterior.trace(),
            ridge=1.0,
            norm_bound=norm,
            delta=0.05 / 60,
        )
        broken += bool(np.any(np.abs(mean - truth) > width * np.sqrt(variance)))
    assert broken <= 10


def test_10_far_from_everything_the_prior_is_believed():
    rng = np.random.default_rng(10)
    edge, x = points(rng)
    posterior = SparsePosterior(VectorKernel("rbf", 3.0, 0.5), np.ones(1), 3, 0.1)
    fed(posterior, Growing(Kors(0.1, 0.5)), edge, x, rng.normal(size=60), rng)
    mean, variance = predict(posterior, np.full((1, 3), 99.0))
    assert mean[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.1 * variance[0] == pytest.approx(3.0)


def test_11_the_log_det_and_the_effective_dimension_lie_in_their_bounds():
    """New contexts in the cube, Matérn of lengthscale 1, deviation 1/4, lambda 0.01, gamma 1."""
    rng = np.random.default_rng(11)
    edge, x = points(rng, 400)
    kernel = VectorKernel("matern-5/2", 0.25**2, 1.0)
    gram = kernel(edge, x, edge, x)
    exact_log_det = np.linalg.slogdet(np.eye(400) + gram / 0.01)[1]
    d_eff = np.trace(np.linalg.solve(gram + 0.01 * np.eye(400), gram))
    for rule, tolerance in ((Growing(Kors(0.01, 0.5)), 0.1), (Growing(None), 1e-6)):
        posterior = SparsePosterior(kernel, np.ones(1), 3, 0.01)
        fed(posterior, rule, edge, x, np.zeros(400), rng)
        lower = posterior.log_det()
        assert lower <= exact_log_det + 1e-6
        assert exact_log_det <= lower + posterior.trace() / 0.01 + 1e-6
        assert posterior.effective_dimension() == pytest.approx(d_eff, rel=tolerance)


@pytest.mark.parametrize("make", [EKOptions, KUCBOptions])
def test_13_a_run_goes_on_bit_for_bit_from_its_saved_state(make):
    rng = np.random.default_rng(13)
    n = 20
    arms = Arms(np.arange(n), rng.random((n, 2)), np.zeros(n))

    def trip():
        rows, moved = rng.integers(0, n, 6), rng.random((6, 2)).round(1)
        return Feedback(rows, moved, np.zeros(6), rng.normal(size=6))

    def start(seed):
        return engine(
            make,
            VectorKernel("matern-5/2", 1.0, 0.5),
            arms,
            np.full(n, 0.4),
            np.random.default_rng(seed),
        )

    one, other = start(0), start(1)
    for _ in range(10):
        one.update(trip())
    buffer = io.BytesIO()
    np.savez(buffer, **one.state())
    buffer.seek(0)
    other.restore(dict(np.load(buffer)))
    for _ in range(10):
        feedback = trip()
        for model in (one, other):
            model.update(feedback)
        np.testing.assert_array_equal(one.posterior(arms).mean_wh, other.posterior(arms).mean_wh)
        np.testing.assert_array_equal(one.posterior(arms).std_wh, other.posterior(arms).std_wh)
    np.testing.assert_array_equal(one.sparse.dictionary, other.sparse.dictionary)
