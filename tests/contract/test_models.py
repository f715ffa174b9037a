"""What every model of edge energy must do, on a small hilly network.

The sparse variational model is asked with steps of size one, where theory makes it exact; one that
fits its hyper-parameters counts as a model too, before its first fit.
"""

import io

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.parts import MODELS
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, HasJoint


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


METHODS = [{"model": model} for model in MODELS] + [{"model": "exact", "fit_hyperparameters": True}]
FEW_NUMBERS = {"factor", "edge-speeds", "physics"}
"""Models of few numbers: their covariances are of low rank."""
OWN_PRIOR = FEW_NUMBERS | {"physics+gp"}
"""Models whose prior deviations are not those of the setting."""
SINGLE_PRECISION = {"regional"}
"""Models whose kernel is kept in single precision."""
FROM_TIMES = {"edge-speeds"}
"""Models that measured energies teach nothing."""


@pytest.fixture(params=METHODS, ids=lambda fields: "-".join(map(str, fields.values())))
def fields(request):
    return request.param


@pytest.fixture
def model_name(fields):
    return fields["model"]


@pytest.fixture
def make(fields, setting):
    method = Method(index="ts", **fields)
    exact_steps = {"natural_rate": 1.0, "adam_rate": 0.0}
    return lambda: make_model(method, setting, np.random.default_rng(0), exact_steps)


def trip(arms: Arms, seed: int, k: int = 5) -> Feedback:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(arms), k)
    energy_wh = arms.prior_mean_wh[rows] + rng.normal(0.0, 30.0, k)
    return Feedback(arms.id[rows], arms.features[rows], arms.prior_mean_wh[rows], energy_wh)


def learned(model, arms: Arms, n_trips: int = 6):
    for seed in range(n_trips):
        model.update(trip(arms, seed))
    return model


def congested(arms: Arms) -> Arms:
    """Halve the second feature of some arms and raise their prior means."""
    features, prior_mean_wh = arms.features.copy(), arms.prior_mean_wh.copy()
    features[1:4, 1] /= 2
    prior_mean_wh[1:4] += 25.0
    return Arms(arms.id, features, prior_mean_wh)


def test_it_meets_the_protocol(make):
    assert isinstance(make(), EnergyModel)


def test_before_any_trip_it_believes_the_physics(make, model_name, setting):
    for arms in (setting.arms, congested(setting.arms)):
        belief = make().posterior(arms)
        np.testing.assert_array_equal(belief.mean_wh, arms.prior_mean_wh)
        if model_name not in OWN_PRIOR:
            rtol = 1e-6 if model_name in SINGLE_PRECISION else 1e-12
            np.testing.assert_allclose(
                belief.std_wh, np.sqrt(setting.prior_variance_wh2), rtol=rtol
            )


def test_asking_changes_nothing(make, setting):
    model = learned(make(), setting.arms)
    before = model.state()
    model.posterior(congested(setting.arms))
    model.noise_std(setting.arms)
    if isinstance(model, HasJoint):
        model.covariance(setting.arms)
        model.sample_many(setting.arms, np.random.default_rng(0), 1)[0]
    after = model.state()
    assert before.keys() == after.keys()
    for name, part in before.items():
        np.testing.assert_array_equal(part, after[name])


def test_nothing_measured_teaches_nothing(make, setting):
    model = make()
    model.update(trip(setting.arms, 0, k=0))
    np.testing.assert_array_equal(model.posterior(setting.arms).mean_wh, setting.arms.prior_mean_wh)


def test_closed_edges_leave_the_others_as_they_are(make, setting):
    model = learned(make(), setting.arms)
    open_rows = np.array([0, 2, 3, 6])
    whole, part = model.posterior(setting.arms), model.posterior(setting.arms.take(open_rows))
    # a matrix product of another size may round differently, depending on the processor
    np.testing.assert_allclose(part.mean_wh, whole.mean_wh[open_rows], rtol=1e-12)
    np.testing.assert_allclose(part.std_wh, whole.std_wh[open_rows], rtol=1e-12)
    np.testing.assert_array_equal(
        model.noise_std(setting.arms.take(open_rows)), setting.noise_std_wh[open_rows]
    )


def test_a_measurement_draws_the_belief_towards_it_and_sharpens_it(make, model_name, setting):
    if model_name in FROM_TIMES:
        pytest.skip("learns from travel times")
    model = make()
    arm = setting.arms.take(np.array([4]))
    before = model.posterior(arm)
    model.update(Feedback(arm.id, arm.features, arm.prior_mean_wh, arm.prior_mean_wh + 40.0))
    after = model.posterior(arm)
    variance, noise_variance = before.std_wh**2, setting.noise_std_wh[4] ** 2
    np.testing.assert_allclose(
        after.mean_wh - before.mean_wh, 40.0 * variance / (variance + noise_variance)
    )
    np.testing.assert_allclose(after.std_wh**-2, 1 / variance + 1 / noise_variance)


def test_an_edge_driven_often_becomes_certain(make, model_name, setting):
    if model_name in FROM_TIMES:
        pytest.skip("learns from travel times")
    model = make()
    arm = setting.arms.take(np.array([2]))
    truth_wh = arm.prior_mean_wh + 17.0
    for _ in range(20):
        often = np.zeros(50, dtype=int)
        model.update(
            Feedback(arm.id[often], arm.features[often], arm.prior_mean_wh[often], truth_wh[often])
        )
    belief = model.posterior(arm)
    assert belief.std_wh[0] <= setting.noise_std_wh[2] / np.sqrt(1000)
    np.testing.assert_allclose(belief.mean_wh, truth_wh, atol=0.1)


def test_equal_trips_give_equal_beliefs(make, setting):
    one, other = (learned(make(), setting.arms).posterior(setting.arms) for _ in range(2))
    np.testing.assert_array_equal(one.mean_wh, other.mean_wh)
    np.testing.assert_array_equal(one.std_wh, other.std_wh)


def test_it_continues_from_its_saved_state_to_the_last_bit(make, setting):
    model, other = learned(make(), setting.arms), make()
    buffer = io.BytesIO()
    np.savez(buffer, **model.state())
    buffer.seek(0)
    other.restore(dict(np.load(buffer)))
    for seed in range(50, 60):
        for each in (model, other):
            each.update(trip(congested(setting.arms), seed))
    for arms in (setting.arms, congested(setting.arms)):
        np.testing.assert_array_equal(model.posterior(arms).mean_wh, other.posterior(arms).mean_wh)
        np.testing.assert_array_equal(model.posterior(arms).std_wh, other.posterior(arms).std_wh)


@pytest.mark.parametrize("spoil", ["empty", "shape", "name"])
def test_a_state_of_something_else_is_refused(make, setting, spoil):
    model = learned(make(), setting.arms)
    state = {} if spoil == "empty" else model.state()
    if spoil == "shape":
        state |= {name: np.ones((3, 3)) for name in state if name.endswith("precision")}
    if spoil == "name":
        state["unknown"] = np.ones(3)
    with pytest.raises(ValueError, match=r"this is not the state of an? .* model of 7 edges"):
        make().restore(state)


def test_the_joint_has_the_marginals_on_its_diagonal(make, model_name, setting):
    model = learned(make(), setting.arms)
    if not isinstance(model, HasJoint):
        pytest.skip("no joint")
    for arms in (setting.arms, congested(setting.arms), setting.arms.take(np.array([1, 5]))):
        covariance = model.covariance(arms)
        np.testing.assert_array_equal(covariance, covariance.T)
        np.testing.assert_allclose(
            covariance.diagonal(), model.posterior(arms).std_wh ** 2, rtol=1e-9
        )
        smallest, *_, largest = np.linalg.eigvalsh(covariance)
        assert smallest > (-1e-12 * largest if model_name in FEW_NUMBERS else 0.0)


def test_joint_draws_depend_on_the_generator_alone(make, setting):
    model = learned(make(), setting.arms)
    if not isinstance(model, HasJoint):
        pytest.skip("no joint")
    draws = [model.sample_many(setting.arms, np.random.default_rng(8), 1)[0] for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    assert draws[0].shape == (len(setting.arms),)
    assert model.sample_many(setting.arms, np.random.default_rng(8), 3).shape == (
        3,
        len(setting.arms),
    )
