"""Totals of trips as linear measurements, against the dense Gaussian of all edges."""

import io

import numpy as np
import pytest

from evroute.arms import Arms, Feedback, Total
from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.parts import MODELS
from evroute.methods.setting import Setting
from evroute.model import exact
from evroute.model.base import LearnsTotals
from evroute.model.exact import ExactGP


class Dense:
    """The Gaussian of all n arms in one context each: a mean, a covariance, and Bayes' rule."""

    def __init__(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        self.mean, self.covariance = mean.copy(), covariance.copy()

    def learn(self, weight: np.ndarray, measured: float, variance: float) -> None:
        with_all = self.covariance @ weight
        gain = with_all / (weight @ with_all + variance)
        self.mean = self.mean + gain * (measured - weight @ self.mean)
        self.covariance = self.covariance - np.outer(gain, with_all)


class Pair:
    """A model and the dense Gaussian, which learn the same measurements."""

    def __init__(self, model, arms: Arms, noise_std_wh: np.ndarray, prior: np.ndarray) -> None:
        self.model, self.arms, self.noise_std_wh = model, arms, noise_std_wh
        self.dense = Dense(arms.prior_mean_wh, prior)

    def edges(self, edge: np.ndarray, energy_wh: np.ndarray) -> None:
        arms = self.arms
        features, prior_mean_wh = arms.features[edge], arms.prior_mean_wh[edge]
        self.model.update(Feedback(edge, features, prior_mean_wh, energy_wh))
        for one, wh in zip(edge.tolist(), energy_wh.tolist(), strict=True):
            weight = np.eye(len(arms))[one]
            self.dense.learn(weight, wh, self.noise_std_wh[one] ** 2)

    def total(self, passages: np.ndarray, energy_wh: float, routes=1, known_wh2=0.0) -> None:
        share = np.full(len(passages), 1 / routes)
        self.model.update_total(Total.of_arms(self.arms, passages, share, energy_wh, known_wh2))
        weight = np.bincount(passages, share, minlength=len(self.arms))
        noise = sum(self.noise_std_wh[each] ** 2 / routes for each in passages)
        self.dense.learn(weight, energy_wh, noise + known_wh2)

    def compare(self, atol=1e-8) -> None:
        belief = self.model.posterior(self.arms)
        np.testing.assert_allclose(belief.mean_wh, self.dense.mean, rtol=0, atol=atol)
        covariance = self.dense.covariance
        std_wh = np.sqrt(covariance.diagonal())
        np.testing.assert_allclose(belief.std_wh, std_wh, rtol=0, atol=atol)
        np.testing.assert_allclose(self.model.covariance(self.arms), covariance, rtol=0, atol=atol)


@pytest.fixture
def pair(make_world) -> Pair:
    world = make_world()
    prior = world.kernel.matrix(world.arms.features)
    return Pair(world.model(), world.arms, world.noise_std_wh, prior)


def drive(pair: Pair, rng: np.random.Generator, trips: int) -> None:
    """Learn trips by edges, totals of known routes, and totals of two plausible routes, in turn."""
    for t in range(trips):
        edge = rng.integers(0, len(pair.arms), 7)
        if t % 3 == 0:
            pair.edges(edge, rng.normal(0.0, 8.0, 7))
        elif t % 3 == 1:
            pair.total(edge, rng.normal(0.0, 40.0), known_wh2=4.0)
        else:
            pair.total(edge, rng.normal(0.0, 20.0), routes=2)


def test_totals_are_learned_as_by_the_dense_gaussian(pair) -> None:
    rng = np.random.default_rng(0)
    pair.total(np.array([3, 4, 4, 9]), 31.0)  # an edge twice, nothing learned before
    pair.compare()
    for _ in range(4):
        drive(pair, rng, 6)  # beyond a check of rounding errors after ten updates
        pair.compare()


def test_totals_alone_are_learned(pair) -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        pair.total(rng.integers(0, 40, 6), rng.normal(0.0, 30.0))
    pair.compare()
    assert pair.model.n_measured() == pytest.approx(12.0)


def test_a_route_that_is_driven_again_takes_no_further_memory(pair) -> None:
    for energy_wh in (30.0, 34.0, 29.0, 31.0):
        pair.total(np.array([3, 4, 9]), energy_wh)
    pair.compare()
    assert len(pair.model.state()["mean"]) == 1
    pair.total(np.array([3, 4, 8]), 30.0)
    pair.compare()
    assert len(pair.model.state()["mean"]) == 2


def test_drifted_numbers_are_computed_afresh_with_totals(pair, monkeypatch) -> None:
    monkeypatch.setattr(exact, "DRIFT_TOLERANCE", -1.0)
    drive(pair, np.random.default_rng(2), 20)
    assert pair.model.refreshes == 2
    pair.compare()


def test_a_state_with_totals_continues_bit_for_bit(pair) -> None:
    drive(pair, np.random.default_rng(3), 8)
    file = io.BytesIO()
    np.savez(file, **pair.model.state())
    file.seek(0)
    again = ExactGP(pair.model._kernel, pair.arms, pair.noise_std_wh)
    with np.load(file) as stored:
        again.restore(dict(stored))
    twin = Pair(again, pair.arms, pair.noise_std_wh, pair.dense.covariance)
    twin.dense = pair.dense
    twin.compare()
    again.unpack()
    for each in (pair.model, again):
        repeated = np.array([3, 4, 9])
        share = np.ones(3)
        for _ in range(2):
            each.update_total(Total.of_arms(pair.arms, repeated, share, 25.0))
        edge = np.array([1, 2])
        features, mean_wh = pair.arms.features[edge], pair.arms.prior_mean_wh[edge]
        each.update(Feedback(edge, features, mean_wh, np.array([4.0, 5.0])))
    one, other = (each.state() for each in (pair.model, again))
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
    with pytest.raises(ValueError, match="not the state of an exact model"):
        again.restore(one | {"sum_weight": one["sum_weight"][1:]})


def test_draws_have_the_posterior_after_totals(pair, monkeypatch) -> None:
    """By factors of the posterior, and by draws of the prior as in a city."""
    drive(pair, np.random.default_rng(4), 9)
    deviation = np.sqrt(pair.dense.covariance.diagonal())
    size = 20_000
    for direct in (512, 0):
        monkeypatch.setattr(exact, "DIRECT_SAMPLE_ARMS", direct)
        draws = pair.model.sample_many(pair.arms, np.random.default_rng(5), size)
        off = (draws.mean(axis=0) - pair.dense.mean) / deviation * np.sqrt(size)
        assert np.abs(off).max() < 4.5
        found = np.cov(draws.T)
        scale = np.outer(deviation, deviation)
        np.testing.assert_allclose(found / scale, pair.dense.covariance / scale, atol=0.05)


def test_other_contexts_are_predicted_from_totals(pair, make_world) -> None:
    """A total of arms in a moved context, and predictions of arms moved elsewhere."""
    world, arms = make_world(), pair.arms
    moved = Arms(arms.id, arms.features + 0.7, arms.prior_mean_wh - 3.0)
    edge, share = np.array([2, 7, 8]), np.ones(3)
    pair.model.update_total(Total.of_arms(moved, edge, share, 40.0))
    pair.model.update_total(Total.of_arms(arms, edge, share, 55.0))
    both = [moved.features[edge], arms.features[edge]]
    kernel = world.kernel
    gram = (
        np.array([[kernel(edge, a, edge, b).sum() for b in both] for a in both])
        + np.eye(2) * (world.noise_std_wh[edge] ** 2).sum()
    )
    residual = [40.0 - moved.prior_mean_wh[edge].sum(), 55.0 - arms.prior_mean_wh[edge].sum()]
    for asked in (arms, moved):
        cross = np.stack(
            [kernel(asked.id, asked.features, edge, each).sum(axis=1) for each in both], axis=1
        )
        mean = asked.prior_mean_wh + cross @ np.linalg.solve(gram, residual)
        found = pair.model.posterior(asked).mean_wh
        np.testing.assert_allclose(found, mean, rtol=0, atol=1e-9)
    draws = pair.model.sample_many(arms, np.random.default_rng(0), 3)
    assert np.isfinite(draws).all()


def test_spectrum_and_points_have_the_totals(pair) -> None:
    drive(pair, np.random.default_rng(6), 7)
    spectrum = pair.model.spectrum()
    points = pair.model.points(spectrum, pair.arms)
    mean, variance = spectrum.ridge(points, np.ones(1))
    found = pair.arms.prior_mean_wh + mean[:, 0]
    np.testing.assert_allclose(found, pair.dense.mean, rtol=0, atol=1e-8)
    of_arms = pair.dense.covariance.diagonal()
    np.testing.assert_allclose(variance[:, 0], of_arms, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["factor", "physics", "exact", "physics+gp", "regional"])
@pytest.mark.parametrize("arms_on", ["edges", "turns"])
def test_every_model_that_learns_totals_does_so_by_the_rule(hill, name, arms_on) -> None:
    if name == "regional" and arms_on == "turns":
        arms_on = "edges"
    setting = Setting(hill, load_vehicle("reference"))
    method = Method(model=name, index="ts", arms=arms_on)
    model = make_model(method, setting, np.random.default_rng(0))
    over = setting.on_turns() if arms_on == "turns" else setting
    pair = Pair(model, over.arms, over.noise_std_wh, model.covariance(over.arms))
    atol = 2e-3 if name == "regional" else 1e-6  # single precision there
    drive(pair, np.random.default_rng(7), 12)
    pair.compare(atol)


def test_the_models_that_learn_totals(hill) -> None:
    setting = Setting(hill, load_vehicle("reference"))
    able = {
        name
        for name in MODELS
        if isinstance(
            make_model(Method(model=name, index="greedy"), setting, np.random.default_rng(0)),
            LearnsTotals,
        )
    }
    assert able == {"exact", "physics+gp", "regional", "factor", "physics"}
