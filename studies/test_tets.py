"""Trees of the benchmark TETS, by hand and against LightGBM; needs the extra `benchmarks`."""

import numpy as np
import pytest

pytest.importorskip("lightgbm")

import tets

from evroute.arms import Arms, Feedback


def test_one_tree_has_the_moments_of_its_leaves(monkeypatch) -> None:
    """Two leaves, (0, 2, 4) and (10, 12): 0.3 sum / (count + 1), and 0.09 s² / count."""
    monkeypatch.setattr(tets, "N_TREES", 1)
    x, residual_wh = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 2, 4, 10, 12])
    trees = tets.Ensemble(x, residual_wh)
    mean_wh, variance_wh2 = trees.moments(trees.leaves(np.array([[0.0], [1.0]])))
    np.testing.assert_allclose(mean_wh, [0.3 * 6 / 4, 0.3 * 22 / 3])
    np.testing.assert_allclose(variance_wh2, [0.09 * 4 / 3, 0.09 * 2 / 2])
    trees.add(trees.leaves(np.array([[1.0]])), np.array([14.0]))
    mean_wh, variance_wh2 = trees.moments(trees.leaves(np.array([[1.0]])))
    np.testing.assert_allclose([mean_wh[0], variance_wh2[0]], [0.3 * 36 / 4, 0.09 * 4 / 3])


def test_the_mean_is_the_prediction_of_the_trees() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((60, 3))[rng.integers(0, 60, 600)]
    residual_wh = 10 * x[:, 0] + rng.standard_normal(600)
    trees = tets.Ensemble(x, residual_wh)
    at = rng.random((50, 3))
    predicted_wh = trees._trees.predict(at, num_threads=1)
    np.testing.assert_allclose(trees.moments(trees.leaves(at))[0], predicted_wh, atol=1e-5)


def test_a_restored_model_continues_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    arms = Arms(np.arange(40), rng.random((40, 3)), rng.random(40))
    models = [tets.TreeEnsemble(np.ones(40), np.ones(40), 2) for _ in range(2)]

    def learn(*learners: tets.TreeEnsemble) -> None:
        rows = rng.integers(0, 40, 25)
        trip = Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], rng.normal(size=25))
        for model in learners:
            model.update(trip)

    for _ in range(5):
        learn(models[0])
    models[1].restore(models[0].state())
    learn(*models)
    beliefs = [model.posterior(arms) for model in models]
    np.testing.assert_array_equal(beliefs[0].mean_wh, beliefs[1].mean_wh)
    np.testing.assert_array_equal(beliefs[0].std_wh, beliefs[1].std_wh)
    assert np.ptp(beliefs[0].std_wh) > 0


def test_trees_grow_again_eight_times_for_each_factor_e_of_the_trips() -> None:
    grown = [t for t in range(1, 201) if tets.grows(t)]
    assert grown[:6] == [1, 2, 3, 4, 5, 6]
    assert grown[-2:] == [169, 191]  # the first integers above exp(41 / 8) and exp(42 / 8)
