import io
import logging

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model import exact
from evroute.model.base import lower_factor
from evroute.model.exact import ExactGP


def assert_textbook(world, model, arms, share=1e-9):
    """Compare with the textbook to a share of the largest prior variance, about 30 Wh²."""
    mean, covariance = world.textbook(arms)
    atol = share * np.max(world.kernel.std_wh) ** 2
    belief = model.posterior(arms)
    np.testing.assert_allclose(belief.mean_wh, mean, rtol=0, atol=atol)
    np.testing.assert_allclose(belief.std_wh**2, covariance.diagonal(), rtol=0, atol=atol)
    np.testing.assert_allclose(model.covariance(arms), covariance, rtol=0, atol=atol)


def moved(arms: Arms, by: float) -> Arms:
    """Put every third arm in another context, with another prior mean."""
    features, prior_mean_wh = arms.features.copy(), arms.prior_mean_wh.copy()
    features[::3] += by
    prior_mean_wh[::3] -= 7.0
    return Arms(arms.id, features, prior_mean_wh)


def test_before_any_trip_it_is_the_prior(make_world):
    world = make_world()
    assert_textbook(world, world.model(), moved(world.arms, 1.0), share=1e-14)


@pytest.mark.parametrize("contexts", ["fixed", "changing"])
def test_it_equals_the_textbook_on_all_single_measurements(make_world, contexts):
    world = make_world()
    model = world.model()
    for t in range(40):
        # First a few edges again and again, repeats within a trip included, then every edge of the
        # network.
        model.update(world.trip(7, among=9 if t < 15 else None, moved=contexts == "changing"))
        if t in (0, 1, 14, 15, 39):
            for arms in (world.arms, moved(world.arms, 1.0), world.arms.take(np.array([2, 3, 31]))):
                assert_textbook(world, model, arms)


def test_a_fleet_at_once_is_the_same_as_its_trips_one_by_one(make_world):
    world = make_world()
    at_once, one_by_one = world.model(), world.model()
    trips = [world.trip(9, moved=True) for _ in range(5)]
    for trip in trips:
        one_by_one.update(trip)
    columns = ("id", "features", "prior_mean_wh", "energy_wh")
    at_once.update(
        Feedback(*(np.concatenate([getattr(trip, c) for trip in trips]) for c in columns))
    )
    for arms in (world.arms, moved(world.arms, 1.0)):
        np.testing.assert_allclose(
            at_once.posterior(arms).mean_wh, one_by_one.posterior(arms).mean_wh, atol=1e-10
        )
        np.testing.assert_allclose(
            at_once.covariance(arms), one_by_one.covariance(arms), atol=1e-10
        )


def test_a_negative_zero_is_no_other_context(make_world):
    world = make_world()
    model = world.model()
    for zero in (0.0, -0.0):
        model.update(Feedback(np.array([4]), np.full((1, 3), zero), np.zeros(1), np.ones(1)))
    assert len(model.state()["edge"]) == 1


def test_an_edge_driven_often_is_as_certain_as_its_noise_allows(make_world):
    world = make_world()
    model = world.model()
    arm = world.arms.take(np.array([5]))
    for _ in range(40):
        model.update(
            Feedback(
                np.full(100, 5), np.repeat(arm.features, 100, axis=0), np.zeros(100), np.ones(100)
            )
        )
    bound = world.noise_std_wh[5] / np.sqrt(4000)
    assert 0.99 * bound < model.posterior(arm).std_wh[0] < bound


@pytest.mark.slow
def test_after_500_rounds_it_agrees_with_a_fresh_factorisation(make_world):
    world = make_world(n=600, seed=5)
    world.noise_std_wh *= 0.3
    model = world.model()
    for t in range(500):
        model.update(world.trip(20, among=100 + t))
    edge, count = np.unique(world.edge, return_inverse=True)
    total = np.bincount(count, world.residual_wh)
    count = np.bincount(count)
    prior = world.kernel.matrix(world.arms.features)
    gram = prior[np.ix_(edge, edge)] + np.diag(world.noise_std_wh[edge] ** 2 / count)
    factor = lower_factor(gram, "it")
    whitened = np.linalg.solve(factor, prior[edge])
    mean = world.arms.prior_mean_wh + whitened.T @ np.linalg.solve(factor, total / count)
    belief = model.posterior(world.arms)
    assert len(edge) > 550
    assert model.refreshes == 0
    # a round rounds as a last bit of the matrix does: the inverse moves by the condition number,
    # and its product with the prior by as much again
    lost = 500 * np.finfo(float).eps * np.linalg.cond(gram) ** 2
    np.testing.assert_allclose(belief.mean_wh, mean, rtol=0, atol=lost * np.abs(mean).max())
    np.testing.assert_allclose(
        belief.std_wh**2,
        prior.diagonal() - (whitened**2).sum(axis=0),
        rtol=0,
        atol=lost * prior.diagonal().max(),
    )


@pytest.mark.parametrize("broken", ["mean", "open_mean", "open_variance", "covariance"])
def test_means_that_drifted_are_corrected_and_variances_computed_afresh(
    make_world, broken, monkeypatch, caplog
):
    monkeypatch.setattr(exact, "CHECK_EVERY", 4)
    world = make_world()
    model = world.model()
    for _ in range(2):
        model.update(world.trip(9, among=30, moved=True))
    state = model.state()
    state[broken] = state[broken] * (1.0 + 1e-4)
    model.restore(state)
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            model.update(world.trip(9, among=30, moved=True))
    afresh = broken not in ("mean", "open_mean")
    assert model.refreshes == afresh
    assert ("rounding errors" in caplog.text) == afresh
    assert_textbook(world, model, moved(world.arms, 1.0))
    for _ in range(5):
        model.update(world.trip(9, moved=True))
    assert model.refreshes == afresh
    assert_textbook(world, model, moved(world.arms, 1.0))


@pytest.mark.parametrize("way", ["posterior", "prior"])
@pytest.mark.parametrize("trips", [0, 3, 30])
def test_joint_draws_have_the_posterior_mean_and_covariance(make_world, monkeypatch, way, trips):
    monkeypatch.setattr(exact, "DIRECT_SAMPLE_ARMS", 0 if way == "prior" else 10**9)
    world = make_world(n=20)
    model = world.model()
    for _ in range(trips):
        model.update(world.trip(6, among=20 if trips == 30 else 12))
    arms = world.arms.take(np.array([0, 1, 3, 7, 11, 18, 19]))
    size = 40_000
    draws = model.sample_many(arms, np.random.default_rng(2), size)
    mean, covariance = (
        world.textbook(arms) if trips else (arms.prior_mean_wh, model.covariance(arms))
    )
    std = np.sqrt(covariance.diagonal())
    assert draws.shape == (size, 7)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5.0 * std / np.sqrt(size))
    # Standard error of a sample covariance of Gaussians.
    error = np.sqrt((np.outer(std, std) ** 2 + covariance**2) / size)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 5.0 * error)


def test_draws_in_changing_contexts_come_from_their_own_covariance(make_world, monkeypatch):
    monkeypatch.setattr(exact, "DIRECT_SAMPLE_ARMS", 0)
    world = make_world(n=20)
    model = world.model()
    model.update(world.trip(6, moved=True))
    size = 40_000
    draws = model.sample_many(world.arms, np.random.default_rng(2), size)
    _, covariance = world.textbook(world.arms)
    std = np.sqrt(covariance.diagonal())
    error = np.sqrt((np.outer(std, std) ** 2 + covariance**2) / size)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 5.0 * error)


def test_a_prior_factor_handed_in_gives_the_same_draws(make_world, monkeypatch):
    monkeypatch.setattr(exact, "DIRECT_SAMPLE_ARMS", 0)
    world = make_world()
    factor = lower_factor(world.kernel.matrix(world.arms.features), "the prior")
    factor.setflags(write=False)
    own, given = world.model(), world.model(prior_factor=lambda: factor)
    draws = [
        model.sample_many(world.arms, np.random.default_rng(3), 1)[0] for model in (own, given)
    ]
    np.testing.assert_array_equal(*draws)


def test_a_restored_model_continues_to_the_last_bit(make_world):
    world = make_world(n=90)
    model = world.model()
    for _ in range(25):
        model.update(world.trip(11, among=60, moved=True))
    buffer = io.BytesIO()
    np.savez(buffer, **model.state())
    buffer.seek(0)
    # Another kernel object: nothing may hide in what the first one has kept.
    other = make_world(n=90).model()
    other.restore(dict(np.load(buffer)))
    for _ in range(100):
        trip = world.trip(11, moved=True)
        model.update(trip)
        other.update(trip)
    for arms in (world.arms, moved(world.arms, 2.0)):
        np.testing.assert_array_equal(model.posterior(arms).mean_wh, other.posterior(arms).mean_wh)
        np.testing.assert_array_equal(model.posterior(arms).std_wh, other.posterior(arms).std_wh)
        np.testing.assert_array_equal(model.covariance(arms), other.covariance(arms))
    for name, part in model.state().items():
        np.testing.assert_array_equal(part, other.state()[name], err_msg=name)


def test_a_state_is_a_copy(make_world):
    world = make_world()
    model = world.model()
    model.update(world.trip(5))
    state = model.state()
    kept = {name: part.copy() for name, part in state.items()}
    model.update(world.trip(5))
    for name, part in state.items():
        np.testing.assert_array_equal(part, kept[name])
    model.restore(state)
    model.update(world.trip(5))
    for name, part in state.items():
        np.testing.assert_array_equal(part, kept[name])


def test_the_reference_must_be_every_edge(make_world):
    world = make_world()
    with pytest.raises(ValueError, match="all 40 edges"):
        exact.ExactGP(world.kernel, world.arms.take(np.arange(39)), world.noise_std_wh)


@pytest.mark.parametrize("noise", [np.ones(39), np.zeros(40), np.full(40, np.nan)])
def test_the_noise_must_be_positive_on_every_edge(make_world, noise):
    world = make_world()
    with pytest.raises(ValueError, match="noise_std_wh must be 40 positive numbers"):
        exact.ExactGP(world.kernel, world.arms, noise)


def test_draws_around_the_mean_have_the_deviations_of_a_draw_times_the_multiplier(make_world):
    world = make_world(n=20)
    model = world.model()
    model.update(world.trip(6))
    mean_wh = model.posterior(world.arms).mean_wh
    draw_wh = model.sample_many(world.arms, np.random.default_rng(1), 1)[0]
    around_wh = model.sample_around(world.arms, np.random.default_rng(1), 3.0)
    np.testing.assert_allclose(around_wh - mean_wh, 3.0 * (draw_wh - mean_wh), atol=1e-9)


def test_rounding_errors_are_checked_every_ten_trips(make_world, monkeypatch):
    world, checked = make_world(5), []
    model = world.model()
    monkeypatch.setattr(ExactGP, "check_rounding", lambda self: checked.append(self._updates))
    for _ in range(21):
        model.update(world.trip(1))
    assert checked == [10, 20]


def test_the_spectrum_gives_the_posterior_again(make_world):
    world = make_world(20, seed=4)
    model = world.model()
    for _ in range(5):
        model.update(world.trip(6))
    spectrum = model.spectrum()
    mean, variance = spectrum.ridge(model.points(spectrum, world.arms), np.array([1.0]))
    np.testing.assert_allclose(
        world.arms.prior_mean_wh + mean[:, 0], model.posterior(world.arms).mean_wh, atol=1e-9
    )
    np.testing.assert_allclose(variance[:, 0], model.posterior(world.arms).std_wh ** 2, atol=1e-9)
