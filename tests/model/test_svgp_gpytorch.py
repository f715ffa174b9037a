"""Algorithm 3 as printed, in GPyTorch, and its steps beside the optimum in closed form."""

import io
import logging

import numpy as np
import pytest
import torch

from evroute.arms import Arms, Feedback
from evroute.errors import EvrouteError
from evroute.model.sparse.svgp import SVGPOptions
from evroute.model.svgp_gpytorch import SparseVariationalGP, SVGPStepsOptions
from evroute.model.variational import Inducing, Variational

PAPER = {"natural_rate": 0.1, "adam_rate": 0.01, "batch_size": 2500}  # one step of Algorithm 3
S0_WH = 20.0**0.5  # of the worlds of conftest.py


def variational(world, seed=0, **options) -> SparseVariationalGP:
    return SparseVariationalGP(
        world.kernel,
        world.arms,
        world.noise_std_wh,
        np.random.default_rng(seed),
        options=SVGPStepsOptions(**options),
    )


def largest_difference(model, other, arms: Arms) -> float:
    one, two = model.posterior(arms), other.posterior(arms)
    return max(abs(one.mean_wh - two.mean_wh).max(), abs(one.std_wh - two.std_wh).max()) / S0_WH


def rows_of(arms: Arms) -> np.ndarray:
    return np.column_stack([arms.id, arms.features])


def elsewhere(world) -> Arms:
    return Arms(world.arms.id, world.arms.features + 0.3, world.arms.prior_mean_wh)


def test_one_natural_step_of_size_one_is_the_exact_posterior(make_world):
    world = make_world()
    exact, model = world.model(), variational(world)
    for _ in range(6):
        feedback = world.trip(15, among=25)
        exact.update(feedback)
        model.update(feedback)
        assert largest_difference(model, exact, world.arms) < 1e-6
        assert largest_difference(model, exact, elsewhere(world)) < 1e-6
    np.testing.assert_allclose(
        model.covariance(world.arms), exact.covariance(world.arms), atol=1e-5
    )


def test_full_steps_of_a_tenth_converge_to_the_closed_form_at_its_points(make_world):
    world = make_world()
    model = SVGPOptions(inducing_points=12).build(world, np.random.default_rng(0))
    feedback = world.trip(60, among=25)
    model.update(feedback)
    points = model.inducing()
    assert len(points.id) == 12
    unit_wh, noise_wh = world.kernel.std_wh[feedback.id], world.noise_std_wh[feedback.id]
    arms = np.column_stack([feedback.id, feedback.features])
    residual = (feedback.energy_wh - feedback.prior_mean_wh) / unit_wh
    compute = Variational(world.kernel, natural_rate=0.1, adam_rate=0.0, device="cpu")
    belief = Inducing.at(np.column_stack([points.id, points.features]))
    for _ in range(150):
        belief = compute.step(belief, arms, residual, (unit_wh / noise_wh) ** 2)
    mean, variance = compute.predict(belief, rows_of(world.arms))
    expected, unit_wh = model.posterior(world.arms), world.kernel.std_wh
    np.testing.assert_allclose(
        world.arms.prior_mean_wh + unit_wh * mean, expected.mean_wh, atol=1e-5
    )
    np.testing.assert_allclose(unit_wh * np.sqrt(variance), expected.std_wh, atol=1e-5)


def test_the_most_visited_arms_are_the_inducing_points(make_world):
    world = make_world()
    model = variational(world, inducing_points=3)
    for edges in (
        [7, 8, 9],
        [7, 8, 9, 4],
        [4, 4, 5],
        [5, 5, 5],
    ):  # in the end 5 and 4 four and three times, the rest 2
        edge = np.array(edges)
        model.update(
            Feedback(edge, world.arms.features[edge], np.zeros(len(edge)), np.ones(len(edge)))
        )
    assert model.state()["points"][:, 0].astype(int).tolist() == [5, 4, 7]


def test_contexts_are_put_back_before_every_step(make_world):
    world = make_world()
    model = variational(world, **PAPER | {"inducing_points": 20})
    for _ in range(15):
        edge = world.rng.integers(0, 20, 25)
        model.update(
            Feedback(edge, world.arms.features[edge], np.zeros(25), world.rng.normal(size=25))
        )
    edge, *contexts = model.state()["points"].T
    moved = abs(np.transpose(contexts) - world.arms.features[edge.astype(int)])
    assert 0.0 < moved.max() < 0.01 + 1e-9  # Adam's first step is at most its rate


def test_a_step_that_diverges_leaves_the_last_good_state_and_says_when_and_why(make_world, caplog):
    world = make_world()
    model = variational(world)
    model.update(world.trip(10))
    before = model.state()
    edge = np.array([before["points"][0, 0]], dtype=int)
    with caplog.at_level(logging.WARNING):
        model.update(Feedback(edge, world.arms.features[edge], np.zeros(1), np.full(1, 1e200)))
    assert [record.message for record in caplog.records] == [
        "update 2 of the variational model diverged, the last good state kept: the loss is inf"
    ]
    for name in ("information", "precision"):
        np.testing.assert_array_equal(model.state()[name], before[name])


def test_contexts_are_trained_and_edges_are_not(make_world):
    world = make_world()
    trained, fixed = (variational(world, **PAPER | {"adam_rate": r}) for r in (0.01, 0.0))
    for _ in range(3):
        feedback = world.trip(12)
        trained.update(feedback)
        fixed.update(feedback)
    one, other = trained.state()["points"], fixed.state()["points"]
    np.testing.assert_array_equal(one[:, 0], other[:, 0])
    moved = abs(one[:, 1:] - other[:, 1:])
    assert 0.005 < np.median(moved) <= 0.03 + 1e-9  # Adam's step is at most its rate


def test_batches_of_the_history_are_scaled_up_to_all_of_it(make_world):
    world = make_world(n=5)
    model = variational(world, batch_size=200)
    exact = world.model()
    for _ in range(40):
        feedback = world.trip(40)
        exact.update(feedback)
        model.update(feedback)
    expected, found = exact.posterior(world.arms), model.posterior(world.arms)
    # A batch of 200 of 1600 measurements estimates each mean from about 40 of 320; its sd is right
    # but for counts.
    np.testing.assert_allclose(found.std_wh, expected.std_wh, rtol=0.35)
    assert np.all(abs(found.mean_wh - expected.mean_wh) < 5 * 8.0 / np.sqrt(40))


def test_a_saved_state_continues_to_the_last_bit(make_world):
    world = make_world()
    options = {"batch_size": 30, "inducing_points": 20}
    model, other = variational(world, **options), variational(world, seed=99, **options)
    for _ in range(4):
        model.update(world.trip(15, moved=True))
    buffer = io.BytesIO()
    np.savez(buffer, **model.state())
    buffer.seek(0)
    other.restore(dict(np.load(buffer, allow_pickle=False)))
    for _ in range(3):
        feedback = world.trip(15, moved=True)
        model.update(feedback)
        other.update(feedback)
    for name, part in model.state().items():
        np.testing.assert_array_equal(part, other.state()[name])
    np.testing.assert_array_equal(
        model.posterior(world.arms).mean_wh, other.posterior(world.arms).mean_wh
    )


def test_the_state_of_another_network_is_refused(make_world):
    small, large = make_world(n=10), make_world(n=40)
    model = variational(large)
    model.update(large.trip(30))
    with pytest.raises(ValueError, match="not the state of a variational model of 10 edges"):
        variational(small).restore(model.state())


def test_joint_draws_have_the_posterior_covariance(make_world):
    world = make_world(n=6)
    model = variational(world)
    model.update(world.trip(10))
    draws = model.sample_many(world.arms, np.random.default_rng(5), 20_000)
    covariance = model.covariance(world.arms)
    error = 5 * np.sqrt(2.0 * np.outer(covariance.diagonal(), covariance.diagonal()) / len(draws))
    assert np.all(abs(np.cov(draws.T) - covariance) < error)
    assert np.all(
        abs(draws.mean(0) - model.posterior(world.arms).mean_wh)
        < 5 * np.sqrt(covariance.diagonal() / 20_000)
    )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("inducing_points", 0),
        ("batch_size", 0),
        ("steps", 0),
        ("natural_rate", 0.0),
        ("natural_rate", 1.5),
        ("adam_rate", -1.0),
        ("adam_rate", np.nan),
    ],
)
def test_options_out_of_range_are_refused_by_name(make_world, option, value):
    with pytest.raises(ValueError, match=option):
        variational(make_world(n=5), **{option: value})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused(make_world):
    with pytest.raises(EvrouteError, match=r"is missing. Use cpu"):
        variational(make_world(n=5), device="cuda")


@pytest.mark.parametrize("device", ["abacus", "meta"])
def test_a_device_of_another_kind_is_refused(make_world, device):
    with pytest.raises(EvrouteError, match=f"unknown device '{device}'. Use cpu or cuda"):
        variational(make_world(n=5), device=device)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_computes_the_same(make_world):
    world = make_world()
    models = [variational(world, device=device) for device in ("cpu", "cuda")]
    for _ in range(5):
        feedback = world.trip(15)
        for model in models:
            model.update(feedback)
    assert largest_difference(*models, world.arms) < 1e-6
