"""BBKB (Calandriello et al. 2020): numbered properties of the specification, T14 to T31."""

import heapq
import io
from itertools import pairwise

import numpy as np
import pytest
from engines import engine

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.errors import EvrouteError
from evroute.model.sparse.all_edges_cache import AllEdgesCache
from evroute.model.sparse.bkb import BatchUCBOptions, BBKBOptions, BKBOptions
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.stopping import (
    global_bound,
    local_bound,
    local_parts,
    product_bound,
)

RIDGE = 0.05


class Bandit:
    """200 arms in the unit square, the truth a draw of the prior; one arm is pulled a round."""

    def __init__(self, seed=0, n=200, lengthscale=0.25):
        self.rng = np.random.default_rng(seed)
        x = self.rng.random((n, 2))
        self.kernel = VectorKernel("rbf", 1.0, lengthscale)
        self.arms = Arms(np.arange(n), x, np.zeros(n))
        k = self.kernel(self.arms.id, x, self.arms.id, x)
        self.truth = np.linalg.cholesky(k + 1e-8 * np.eye(n)) @ self.rng.normal(size=n)
        self.noise = np.full(n, np.sqrt(RIDGE))

    def model(self, make, seed=0, **options):
        return engine(
            make, self.kernel, self.arms, self.noise, np.random.default_rng(seed), **options
        )

    def play(self, model, horizon, form="lean", seed=1):
        """Return picks, the log of each round and the regret."""
        rng = np.random.default_rng(seed)
        picks, logs, regret = [], [], 0.0
        for _ in range(horizon):
            belief = model.posterior(self.arms)
            width = form if isinstance(form, float) else model.radius(form, 1.0, 0.1)
            pick = int(np.argmin(belief.mean_wh - width * belief.std_wh))
            model.anticipate(self.arms.take(np.array([pick])))
            energy = self.truth[pick] + np.sqrt(RIDGE) * rng.standard_normal()
            logs.append(model.diagnostics())
            model.update(self.feedback([pick], [energy]))
            picks.append(pick)
            regret += self.truth[pick] - self.truth.min()
        return picks, logs, regret

    def feedback(self, edges, energy):
        edges = np.array(edges)
        return Feedback(
            edges, self.arms.features[edges], np.zeros(len(edges)), np.array(energy, dtype=float)
        )


def random_batch(rng):
    n, d = 25, 2
    x = rng.random((n, d))
    posterior = SparsePosterior(
        VectorKernel("rbf", 1.0, rng.uniform(0.1, 0.6)), np.ones(n), d, rng.uniform(0.02, 1.0)
    )
    arms = Arms(np.arange(n), x, np.zeros(n))
    slots = posterior.slots(arms.id, x)
    observed = rng.integers(0, 10, 20)
    posterior.absorb(slots[observed], np.zeros(20))
    seen = np.unique(observed)
    posterior.set_dictionary(rng.choice(seen, rng.integers(1, len(seen) + 1), replace=False))
    posterior.hallucinate(rng.integers(0, n, rng.integers(1, 12)))
    return posterior, AllEdgesCache(posterior, arms), slots


def test_t14_the_ratio_of_variances_is_at_most_the_local_bound_and_that_the_global():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        posterior, everywhere, slots = random_batch(rng)
        ratio = posterior.slot_variance(slots, pending=False) / posterior.slot_variance(slots)
        local = 1 + local_parts(posterior, everywhere)[1]
        assert np.all(ratio <= local * (1 + 1e-9))
        assert np.all(local <= global_bound(posterior, everywhere) * (1 + 1e-9))


def test_t15_exact_ratios_are_at_most_the_sum_and_that_the_product():
    rng = np.random.default_rng(1)
    for _ in range(100):
        posterior, _, slots = random_batch(rng)
        for slot in slots:
            posterior.grow(int(slot))
        ratio = posterior.slot_variance(slots, pending=False) / posterior.slot_variance(slots)
        pulled = np.flatnonzero(posterior.pending)
        start = posterior.slot_variance(pulled, pending=False)
        total = 1 + posterior.pending[pulled] @ start
        assert ratio.max() <= total * (1 + 1e-9)
        assert total <= np.prod((1 + start) ** posterior.pending[pulled]) * (1 + 1e-9)


def test_the_product_rule_multiplies_running_variances():
    posterior, everywhere, slots = random_batch(np.random.default_rng(5))
    for slot in slots:
        posterior.grow(int(slot))
    pulled = np.repeat(np.arange(len(slots)), posterior.pending.astype(int))
    posterior.hallucinate(pulled, -1.0)
    product = 1.0
    for slot in pulled:
        product *= 1 + posterior.slot_variance(np.array([slot]))[0]
        posterior.hallucinate(np.array([slot]))
    assert product_bound(posterior, everywhere) == pytest.approx(product, rel=1e-9)


@pytest.mark.parametrize("stop_rule", ["global", "local", "global-local"])
def test_t20_with_a_threshold_of_one_every_batch_is_one_pull_and_picks_equal_bkb(stop_rule):
    bandit = Bandit(n=60)
    batched = bandit.model(BBKBOptions, stop_rule=stop_rule, threshold=1.0)
    picks, logs, _ = bandit.play(batched, 60, form=2.0)
    assert all(log["batch_trips"] == 1 for log in logs)
    assert picks == bandit.play(bandit.model(BKBOptions), 60, form=2.0)[0]


def test_t21_with_all_arms_in_the_dictionary_it_is_batch_gp_ucb_with_the_sum_rule():
    bandit = Bandit(n=50)
    picks, _, _ = bandit.play(
        bandit.model(BatchUCBOptions, stop_rule="global", threshold=3.0), 80, form=2.0
    )
    x = bandit.arms.features
    k = bandit.kernel(bandit.arms.id, x, bandit.arms.id, x) / RIDGE
    rng, expected = np.random.default_rng(1), []
    known, y, total = 0, [], 1.0
    for t in range(80):
        gram = k[np.ix_(expected, expected)] + np.eye(t)
        variance = k.diagonal() - np.einsum(
            "ij,ij->j", k[expected], np.linalg.solve(gram, k[expected])
        )
        old = expected[:known]
        old_gram = k[np.ix_(old, old)] + np.eye(known)
        mean = k[old].T @ np.linalg.solve(old_gram, np.array(y[:known]))
        start = k.diagonal() - np.einsum("ij,ij->j", k[old], np.linalg.solve(old_gram, k[old]))
        pick = int(np.argmin(mean - 2.0 * np.sqrt(variance)))
        expected.append(pick)
        y.append((bandit.truth[pick] + np.sqrt(RIDGE) * rng.standard_normal()) / np.sqrt(RIDGE))
        total += start[pick]
        if total > 3.0:
            known, total = t + 1, 1.0
    assert picks == expected


@pytest.mark.parametrize("stop_rule", ["global", "local", "global-local"])
def test_t22_a_batch_closes_with_the_pull_that_exceeds_the_threshold(stop_rule):
    bandit = Bandit(n=60)
    _, logs, _ = bandit.play(bandit.model(BBKBOptions, stop_rule=stop_rule), 100)
    for log, after in pairwise(logs[1:]):  # the first is planned without a dictionary
        closed = after["batches"] > log["batches"]
        assert (log["stop_criterion"] > 2.0) == closed or log["batch_trips"] == 50


def test_t23_batches_grow():
    bandit = Bandit()
    model = bandit.model(BBKBOptions, max_batch_trips=1000)
    _, logs, _ = bandit.play(model, 300)
    sizes = [log["batch_trips"] for log, after in pairwise(logs) if after["batch_trips"] == 1]
    quarter = len(sizes) // 4
    assert np.mean(sizes[-quarter:]) >= 3 * np.mean(sizes[:quarter])
    assert model.diagnostics()["batches"] < 150


def greatest_ratio(posterior: SparsePosterior, everywhere: AllEdgesCache) -> float:
    """Return the greatest shrinkage of a variance, over the arms of the batch and all others."""
    pulled = np.flatnonzero(posterior.pending)
    some = posterior.embedding[:, pulled], posterior.prior[pulled]
    return max(
        float(np.max(posterior.variance(*of, pending=False) / posterior.variance(*of)))
        for of in (some, (everywhere.embed(), everywhere.prior))
    )


def test_t24_from_one_state_local_batches_are_longer_than_global_ones_and_exact_ones_than_local():
    rng = np.random.default_rng(4)
    for _ in range(50):
        posterior, everywhere, _ = random_batch(rng)
        exact, local = greatest_ratio(posterior, everywhere), local_bound(posterior, everywhere)
        assert exact <= local * (1 + 1e-9)
        assert local <= global_bound(posterior, everywhere) * (1 + 1e-9)


def test_t26_mean_and_dictionary_stand_still_within_a_batch_and_variances_shrink():
    bandit = Bandit(n=60)
    model = bandit.model(BBKBOptions, stop_rule="global", threshold=20.0)
    bandit.play(model, 40)
    assert model.diagnostics()["batch_trips"] > 0
    before, points, width = (
        model.posterior(bandit.arms),
        model.sparse.dictionary,
        model.radius("theory", 1.0, 0.1),
    )
    model.anticipate(bandit.arms.take(np.array([7])))
    model.update(bandit.feedback([7], [3.0]))
    assert model.diagnostics()["batch_trips"] > 1
    after = model.posterior(bandit.arms)
    np.testing.assert_array_equal(after.mean_wh, before.mean_wh)
    np.testing.assert_array_equal(model.sparse.dictionary, points)
    assert np.all(after.std_wh <= before.std_wh * (1 + 1e-12))
    assert model.radius("theory", 1.0, 0.1) == width


def test_t26_the_radius_counts_each_measurement_once():
    bandit = Bandit(n=60)
    model = bandit.model(BBKBOptions)
    total, waiting, before = 0.0, [], 0.0
    rng = np.random.default_rng(0)
    for _ in range(60):
        pick = int(rng.integers(0, 60))
        slot = model.sparse.slots(np.array([pick]), bandit.arms.features[[pick]])
        start = model.sparse.slot_variance(slot, pending=False)[0]
        batches = model.diagnostics()["batches"]
        model.anticipate(bandit.arms.take(np.array([pick])))
        model.update(bandit.feedback([pick], [0.0]))
        waiting.append(np.log1p(start))
        if model.diagnostics()["batches"] > batches:
            total, waiting = total + sum(waiting), []
        width = model.radius("lean", 1.0, 0.1)
        assert width == pytest.approx(1.0 + np.sqrt(2.0 * total + np.log(10.0)))
        assert width >= before
        before = width


@pytest.mark.slow
def test_t27_regret_is_within_the_measured_band():
    exact, sparse, batched, uniform = [], [], [], []
    for seed in range(8):
        bandit = Bandit(seed)
        for made, regrets, options in (
            (BKBOptions, exact, {"q_bar": 1e9}),
            (BKBOptions, sparse, {}),
            (BBKBOptions, batched, {}),
        ):
            regrets.append(bandit.play(bandit.model(made, **options), 300)[2])
        uniform.append(300 * (bandit.truth.mean() - bandit.truth.min()))
    for regrets in (sparse, batched):
        assert np.mean(regrets) / np.mean(uniform) < 0.40
        assert np.mean(regrets) <= 1.35 * np.mean(exact)


def test_t28_edge_cases_do_not_break():
    n = 6
    same = Arms(np.arange(n), np.zeros((n, 2)), np.zeros(n))
    for make in (BKBOptions, BBKBOptions, BatchUCBOptions):
        model = engine(
            make, VectorKernel("rbf", 1.0, 1.0), same, np.ones(n), np.random.default_rng(0)
        )
        for t in range(5):
            arms = same if t % 2 else same.take(np.array([0, 3, 5]))
            model.posterior(arms)
            model.anticipate(arms.take(np.array([0])))
            model.update(Feedback(arms.id[:1], arms.features[:1], np.zeros(1), np.zeros(1)))
        belief = model.posterior(same)
        np.testing.assert_array_equal(belief.mean_wh, 0.0)
        assert np.all(np.isfinite(belief.std_wh))


def test_t29_a_path_at_once_is_its_edges_one_by_one():
    bandit = Bandit(n=60)
    model = bandit.model(BBKBOptions)
    bandit.play(model, 30)
    slots = model.sparse.slots(np.arange(20), bandit.arms.features[:20])
    model.sparse.hallucinate(slots)
    at_once = model.sparse.slot_variance(slots)
    model.sparse.hallucinate(slots, -1.0)
    z = model.sparse.embedding[:, slots]
    prior = model.sparse.prior_between(slots, slots)
    running = model.sparse.covariance(z, prior)
    rest = (model.sparse.prior_between(slots, slots) - z.T @ z) / model.sparse.ridge
    running -= rest
    for i in range(20):
        running -= np.outer(running[:, i], running[i]) / (1 + running[i, i])
    np.testing.assert_allclose(at_once, running.diagonal() + rest.diagonal(), atol=1e-9)


def test_t30_soft_and_strict_fleets_agree_once_all_has_arrived():
    bandit = Bandit(n=60)
    models = [bandit.model(BBKBOptions, mode=mode, q_bar=1e9) for mode in ("strict", "soft")]
    for model in models:
        bandit.play(model, 20)
        start = model.diagnostics()["batches"]
        planned = []
        while model.diagnostics()["stop_criterion"] <= 2.0:
            planned.append(int(np.argmin(-model.posterior(bandit.arms).std_wh)))
            model.anticipate(bandit.arms.take(np.array([planned[-1]])))
        for pick in planned:
            model.update(bandit.feedback([pick], [bandit.truth[pick]]))
        assert model.diagnostics()["batches"] > start
        assert not model.sparse.pending.any()
    strict, soft = (model.posterior(bandit.arms) for model in models)
    np.testing.assert_allclose(strict.mean_wh, soft.mean_wh, atol=1e-9)
    np.testing.assert_allclose(strict.std_wh, soft.std_wh, atol=1e-9)


def test_past_the_threshold_strict_planning_is_refused_and_soft_planning_goes_on():
    bandit = Bandit(n=60)
    strict, soft = (
        bandit.model(BBKBOptions, mode=mode, threshold=1.0) for mode in ("strict", "soft")
    )
    for model in (strict, soft):
        model.anticipate(bandit.arms.take(np.array([0])))
    with pytest.raises(EvrouteError, match="1 planned trips were not measured yet"):
        strict.anticipate(bandit.arms.take(np.array([1])))
    soft.anticipate(bandit.arms.take(np.array([1])))
    assert soft.diagnostics()["planned_beyond"] == 1
    soft.update(bandit.feedback([1], [0.5]))
    assert soft.sparse.pending.sum() == 1
    assert soft.sparse.count.sum() == 1


@pytest.mark.parametrize("make", [BKBOptions, BBKBOptions, BatchUCBOptions])
def test_t31_equal_seeds_give_equal_picks_also_across_a_break(make):
    bandit = Bandit(n=60)
    whole = bandit.play(bandit.model(make), 50)[0]
    assert whole == bandit.play(bandit.model(make), 50)[0]
    first = bandit.model(make)
    bandit.play(first, 25)
    buffer = io.BytesIO()
    np.savez(buffer, **first.state())
    buffer.seek(0)
    second = bandit.model(make, seed=9)
    second.restore(dict(np.load(buffer)))
    assert bandit.play(first, 25, seed=2)[0] == bandit.play(second, 25, seed=2)[0]


def lazy_pick(model, arms, stale, width):
    """Refresh the least stale index until it stays the least; return it and the refreshes."""
    heap = [(value, arm) for arm, value in enumerate(stale)]
    heapq.heapify(heap)
    refreshed = 0
    while True:
        _, arm = heapq.heappop(heap)
        belief = model.posterior(arms.take(np.array([arm])))
        stale[arm] = belief.mean_wh[0] - width * belief.std_wh[0]
        refreshed += 1
        if not heap or (stale[arm], arm) <= heap[0]:
            return arm, refreshed
        heapq.heappush(heap, (stale[arm], arm))


@pytest.mark.parametrize("stop_rule", ["global", "local"])
def test_t25_lazy_and_full_evaluation_pick_the_same_arms(stop_rule):
    bandit = Bandit(n=100)
    arms, model = bandit.arms, bandit.model(BBKBOptions, stop_rule=stop_rule)
    stale, batches, refreshed, within = None, -1.0, 0, 0
    for _ in range(150):
        belief = model.posterior(arms)
        full = belief.mean_wh - 2.0 * belief.std_wh
        if model.diagnostics()["batches"] != batches:
            stale, batches = full.copy(), model.diagnostics()["batches"]
        else:
            within += 1
            assert np.all(stale <= full + 1e-9)
            pick, count = lazy_pick(model, arms, stale, 2.0)
            refreshed += count
            assert pick == np.argmin(full)
        row = np.array([np.argmin(full)])
        model.anticipate(arms.take(row))
        measured = bandit.truth[row] + bandit.noise[row] * bandit.rng.normal(size=1)
        model.update(Feedback(row, arms.features[row], np.zeros(1), measured))
    assert within > 30
    assert refreshed < 0.5 * within * len(arms)
