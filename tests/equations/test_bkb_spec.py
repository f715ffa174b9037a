"""BKB and BBKB (Calandriello et al. 2019, 2020): the specification's numbered properties, T1-T31.

Everything is compared with dense formulas written here, on a squared-exponential kernel over points
of the plane.
"""

import numpy as np
import pytest
from engines import engine

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.bkb import BKBOptions
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import draw, probabilities


class Problem:
    """A points in the unit square, and a posterior that has measured some of them."""

    def __init__(
        self, seed=0, n=40, pulls=60, lengthscale=0.25, ridge=0.05, scale=1.0, among=20, d=2
    ):
        self.rng = np.random.default_rng(seed)
        self.x = self.rng.random((n, d))
        self.kernel = VectorKernel("rbf", scale, lengthscale)
        self.ridge = ridge
        self.scale = scale
        self.edge = np.arange(n)
        self.noise = np.ones(n)
        self.posterior = SparsePosterior(self.kernel, self.noise, d, ridge * scale)
        self.slots = self.posterior.slots(self.edge, self.x)
        self.pulled = self.rng.integers(0, among, pulls)
        self.y = self.rng.normal(size=pulls)
        self.posterior.absorb(self.pulled, self.y)
        self.k = self.kernel(self.edge, self.x, self.edge, self.x)

    def exact(self, pulled=None, y=None):
        pulled, y = (self.pulled, self.y) if pulled is None else (pulled, y)
        lam = self.posterior.ridge
        gram = self.k[np.ix_(pulled, pulled)] + lam * np.eye(len(pulled))
        cross = self.k[pulled]
        solved = np.linalg.solve(gram, cross)
        variance = (self.k.diagonal() - np.einsum("ij,ij->j", cross, solved)) / lam
        return None if y is None else solved.T @ y, variance

    def sparse(self, dictionary=None):
        if dictionary is not None:
            self.posterior.set_dictionary(np.asarray(dictionary))
        z = self.posterior.embedding
        return self.posterior.mean(z), self.posterior.slot_variance(self.slots)


@pytest.fixture
def problem() -> Problem:
    return Problem()


@pytest.mark.parametrize("lengthscale", [0.05, 0.25])
def test_t1_a_dictionary_of_all_measured_arms_is_exact(lengthscale):
    problem = Problem(lengthscale=lengthscale)
    mean, variance = problem.sparse(np.unique(problem.pulled))
    exact_mean, exact_variance = problem.exact()
    np.testing.assert_allclose(mean, exact_mean, atol=1e-8)
    np.testing.assert_allclose(variance, exact_variance, atol=1e-8)


def dense(problem, dictionary):
    """Return mean and both forms of the variance by eigenvalues, as in the specification."""
    k, lam = problem.k, problem.posterior.ridge
    w, q = np.linalg.eigh(k[np.ix_(dictionary, dictionary)])
    kept = w > len(w) * np.finfo(float).eps * w.max()
    z = (q[:, kept] / np.sqrt(w[kept])).T @ k[dictionary]
    pulled = z[:, problem.pulled]
    v = pulled @ pulled.T + lam * np.eye(len(z))
    mean = z.T @ np.linalg.solve(v, pulled @ problem.y)
    solved = np.linalg.solve(v, z)
    bbkb = (k.diagonal() - np.sum(z * z, axis=0)) / lam + np.sum(z * solved, axis=0)
    bkb = (k.diagonal() - np.sum(z * ((v - lam * np.eye(len(z))) @ solved), axis=0)) / lam
    return mean, bbkb, bkb


def test_t2_both_papers_write_one_variance(problem):
    dictionary = np.array([0, 3, 5, 11, 17])
    mean, variance = problem.sparse(dictionary)
    dense_mean, bbkb, bkb = dense(problem, dictionary)
    np.testing.assert_allclose(bbkb, bkb, atol=1e-10)
    np.testing.assert_allclose(variance, bkb, atol=1e-10)
    np.testing.assert_allclose(mean, dense_mean, atol=1e-10)


def test_t3_units_do_not_matter():
    one, other = Problem(), Problem(scale=50.0)
    dictionary = [1, 4, 9, 16]
    for mine, theirs in zip(one.sparse(dictionary), other.sparse(dictionary), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)
    assert one.posterior.effective_dimension() == pytest.approx(
        other.posterior.effective_dimension(), abs=1e-10
    )


def test_t4_order_and_repeats_in_the_dictionary_do_not_matter(problem):
    expected = problem.sparse([2, 7, 12, 19])
    for same in ([19, 2, 12, 7], [2, 2, 7, 12, 19, 19]):
        for mine, theirs in zip(problem.sparse(same), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-8)
    twin = problem.posterior.slots(np.array([0]), problem.x[[12]])
    mean, variance = (part[problem.slots] for part in problem.sparse([2, 7, 12, 19, twin[0]]))
    np.testing.assert_allclose(mean, expected[0], atol=1e-8)
    np.testing.assert_allclose(variance, expected[1], atol=1e-8)


def test_t5_counts_and_sums_stand_for_single_measurements(problem):
    dictionary = np.array([0, 3, 5, 11, 17])
    mean, variance = problem.sparse(dictionary)
    dense_mean, dense_variance, _ = dense(problem, dictionary)
    np.testing.assert_allclose(mean, dense_mean, atol=1e-10)
    np.testing.assert_allclose(variance, dense_variance, atol=1e-10)


@pytest.mark.parametrize("dictionary", [[], [4], [0, 3, 5, 11, 17], list(range(20))])
def test_t6_variances_lie_between_the_unexplained_part_and_the_prior(problem, dictionary):
    _, variance = problem.sparse(np.array(dictionary, dtype=int))
    z, prior = problem.posterior.embedding, problem.posterior.prior
    assert np.all((prior - np.sum(z * z, axis=0)) / problem.ridge <= variance + 1e-10)
    assert np.all(variance <= prior / problem.ridge + 1e-10)


def test_t7_variances_are_understated_at_points_and_overstated_far_from_them(problem):
    dictionary = np.array([0, 3, 5, 11, 17])
    _, exact = problem.exact()
    _, variance = problem.sparse(dictionary)
    assert np.all(variance[dictionary] <= exact[dictionary] + 1e-8)
    far = problem.posterior.slots(np.array([0]), np.array([[90.0, 90.0]]))
    assert problem.posterior.slot_variance(far)[0] == pytest.approx(1 / problem.ridge, abs=1e-8)


def test_t8_a_subset_of_regressors_starves_and_this_does_not(problem):
    _, variance = problem.sparse([0, 3, 5, 11, 17])
    z, prior = problem.posterior.embedding, problem.posterior.prior
    starved = problem.posterior.explained_variance(z)
    np.testing.assert_allclose(
        variance - starved, problem.posterior.unexplained(z, prior) / problem.ridge, atol=1e-8
    )
    far = problem.posterior.slots(np.array([0]), np.array([[9.0, 9.0]]))
    z_far = problem.posterior.embedding[:, far]
    assert problem.posterior.explained_variance(z_far)[0] == pytest.approx(0.0, abs=1e-8)
    assert problem.posterior.slot_variance(far)[0] == pytest.approx(1 / problem.ridge, abs=1e-8)


def test_t9_further_pulls_never_raise_a_variance(problem):
    _, before = problem.sparse([0, 3, 5, 11, 17])
    for slot in (3, 30, 30, 8):
        problem.posterior.hallucinate(np.array([slot]))
        _, after = problem.sparse()
        assert np.all(after <= before + 1e-12)
        before = after


def test_t10_one_pull_in_closed_form(problem):
    problem.sparse(np.unique(problem.pulled))
    slot = int(problem.pulled[0])
    before = problem.posterior.slot_variance(np.array([slot]))[0]
    problem.posterior.hallucinate(np.array([slot]))
    assert problem.posterior.slot_variance(np.array([slot]))[0] == pytest.approx(
        before / (1 + before), abs=1e-10
    )
    problem.posterior.hallucinate(np.array([slot]), -1.0)
    problem.posterior.set_dictionary(np.array([0, 3, 5]))
    z = problem.posterior.embedding[:, [30]]
    unexplained = problem.posterior.unexplained(z, problem.posterior.prior[[30]])[0] / problem.ridge
    explained = problem.posterior.explained_variance(z)[0]
    problem.posterior.hallucinate(np.array([30]))
    after = problem.posterior.slot_variance(np.array([30]))[0]
    assert after == pytest.approx(unexplained + explained / (1 + explained), abs=1e-10)


def test_t11_updating_is_computing_afresh(problem):
    problem.sparse([0, 3, 5, 11, 17])
    more = problem.rng.integers(0, 40, 30)
    problem.posterior.absorb(more[:10], np.ones(10))
    problem.posterior.absorb(more[10:], -np.ones(20))
    updated = problem.sparse()
    problem.posterior.set_dictionary(problem.posterior.dictionary)
    for mine, theirs in zip(updated, problem.sparse(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


def test_t12_effective_dimension_lies_in_its_chain(problem):
    problem.sparse(np.unique(problem.pulled))
    lam, pulled = problem.ridge, problem.pulled
    gram = problem.k[np.ix_(pulled, pulled)]
    trace = np.trace(np.linalg.solve(gram + lam * np.eye(len(gram)), gram))
    assert problem.posterior.effective_dimension() == pytest.approx(trace, abs=1e-8)
    running = sum(problem.exact(pulled[: i + 1])[1][pulled[i]] for i in range(len(pulled)))
    log_det = np.linalg.slogdet(gram / lam + np.eye(len(gram)))[1]
    assert trace <= running <= log_det <= trace * (1 + np.log(np.linalg.norm(gram, 2) / lam + 1))
    observed = problem.posterior.observed
    assert np.all(problem.posterior.count[observed] * problem.posterior.slot_variance(observed) < 1)


def test_t13_the_log_det_is_a_sum_of_logs_of_running_variances(problem):
    problem.sparse(np.unique(problem.pulled))
    total, pulled = 0.0, problem.pulled
    for i in range(len(pulled)):
        prior = problem.k.diagonal() / problem.ridge if i == 0 else problem.exact(pulled[:i])[1]
        total += np.log1p(prior[pulled[i]])
    assert problem.posterior.log_det() == pytest.approx(total, abs=1e-8)


def test_t16_sampled_dictionaries_keep_variances_within_a_factor_of_three():
    """200 draws at q_bar 5 (99 %) and 2 (90 %); a squared exponential on 200 arms, 300 pulls."""
    problem = Problem(seed=3, n=200, pulls=300, among=200)
    _, exact = problem.exact()
    observed = problem.posterior.observed
    problem.posterior.set_dictionary(observed)
    within = {}
    for q_bar in (5.0, 2.0):
        good = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            problem.posterior.set_dictionary(observed)
            for _ in range(2):  # variances of a drawn dictionary draw the next, as in the algorithm
                variance = problem.posterior.slot_variance(observed)
                p = probabilities(variance, problem.posterior.count[observed], q_bar, "union")
                problem.posterior.set_dictionary(observed[draw(p, rng)])
            _, variance = problem.sparse()
            good += bool(np.all((exact / 3 <= variance) & (variance <= 3 * exact)))
        within[q_bar] = good / 200
    assert within[5.0] >= 0.99
    assert within[2.0] >= 0.90


@pytest.mark.parametrize("sampling", ["union", "per_obs"])
def test_t17_the_mean_size_is_the_sum_of_probabilities(problem, sampling):
    observed = problem.posterior.observed
    problem.posterior.set_dictionary(observed)
    p = probabilities(
        problem.posterior.slot_variance(observed), problem.posterior.count[observed], 2.0, sampling
    )
    rng = np.random.default_rng(1)
    sizes = [len(draw(p, rng)) for _ in range(500)]
    assert abs(np.mean(sizes) - p.sum()) <= 3 * np.sqrt(np.sum(p * (1 - p)) / 500) + 1e-12
    assert (
        max(sizes)
        <= 3 * (1 + 1 / problem.ridge) * 3 * 2.0 * problem.posterior.effective_dimension()
    )


def test_t19_a_larger_ridge_means_fewer_points_and_oversampling_more():
    def mean_size(ridge, q_bar):
        problem = Problem(ridge=ridge, n=100, pulls=150, among=100)
        observed = problem.posterior.observed
        problem.posterior.set_dictionary(observed)
        p = probabilities(
            problem.posterior.slot_variance(observed),
            problem.posterior.count[observed],
            q_bar,
            "union",
        )
        return p.sum()

    assert mean_size(0.5, 1.0) < mean_size(0.05, 1.0) < mean_size(0.05, 2.0) < mean_size(0.05, 4.0)


def test_per_obs_is_the_law_of_the_published_loop(problem):
    variance, count = np.array([0.05, 0.3, 0.9]), np.array([4.0, 2.0, 1.0])
    p = probabilities(variance, count, 2.0, "per_obs")
    np.testing.assert_allclose(p, [1 - 0.9**4, 1 - 0.4**2, 1.0])
    assert np.all(probabilities(variance, count, 2.0, "union") >= p)


@pytest.mark.slow
def test_t18_dictionaries_grow_slower_than_the_measured_arms():
    """New contexts in four dimensions, 60 a trip (section 6.5), q_bar 1; and 40 repeated arms."""
    rng = np.random.default_rng(0)
    n = 60
    arms = Arms(np.arange(n), rng.normal(size=(n, 4)), np.zeros(n))
    model = engine(
        BKBOptions, VectorKernel("matern-5/2", 1.0, 2.0), arms, np.ones(n), rng, q_bar=1.0
    )
    measured, sizes = [], []
    for trip in range(1, 26):
        model.update(Feedback(arms.id, rng.normal(size=(n, 4)), np.zeros(n), rng.normal(size=n)))
        if trip >= 5:
            measured.append(60 * trip)
            sizes.append(model.diagnostics()["dictionary_size"])
    assert np.polyfit(np.log(measured), np.log(sizes), 1)[0] < 0.75
    assert 0.5 <= sizes[-1] / model.diagnostics()["effective_dimension"] <= 3.0
    repeated = engine(BKBOptions, VectorKernel("matern-5/2", 1.0, 2.0), arms, np.ones(n), rng)
    sizes = []
    for _ in range(40):
        rows = rng.integers(0, 40, 60)
        repeated.update(
            Feedback(arms.id[rows], arms.features[rows], np.zeros(60), rng.normal(size=60))
        )
        sizes.append(repeated.diagnostics()["dictionary_size"])
    assert max(sizes) <= 40
    assert max(sizes[-10:]) <= max(sizes[5:15])


def test_the_cap_is_told_once_and_kept(caplog):
    rng = np.random.default_rng(0)
    arms = Arms(np.arange(30), rng.random((30, 2)), np.zeros(30))
    model = engine(
        BKBOptions,
        VectorKernel("matern-5/2", 1.0, 0.2),
        arms,
        np.full(30, 0.1),
        rng,
        max_dictionary=5,
    )
    for _ in range(4):
        model.update(Feedback(arms.id, arms.features, np.zeros(30), np.ones(30)))
    assert model.diagnostics()["dictionary_size"] == 5
    assert model.diagnostics()["capped"] == 4
    assert np.isnan(model.diagnostics()["effective_dimension"])
    assert [record.message for record in caplog.records if "cap of 5" in record.message] == [
        "the dictionary has reached its cap of 5 points. Its guarantees end here"
    ]


def test_a_matrix_that_is_no_kernel_is_reported(caplog):
    class Wrong(VectorKernel):
        def diagonal(self, edge, features):
            return 0.5 * super().diagonal(edge, features)

    posterior = SparsePosterior(Wrong("matern-5/2", 1.0, 0.5), np.ones(3), 2, 1.0)
    slots = posterior.slots(np.arange(3), np.eye(3)[:, :2])
    posterior.absorb(slots, np.zeros(3))
    posterior.set_dictionary(slots)
    posterior.slot_variance(slots)
    assert "The kernel may not be positive definite" in caplog.text


def test_without_noise_nothing_is_learned_from():
    arms = Arms(np.arange(3), np.eye(3), np.zeros(3))
    with pytest.raises(ValueError, match="noise_std_wh must be 3 positive numbers"):
        engine(
            BKBOptions,
            VectorKernel("matern-5/2", 1.0, 0.5),
            arms,
            np.array([1.0, 0.0, 1.0]),
            np.random.default_rng(0),
        )
