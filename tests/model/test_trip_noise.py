"""Common noise of a trip, and learned noise, against dense formulas and true values."""

import numpy as np
import pytest

from evroute.arms import Arms, Feedback
from evroute.model.exact import ExactGP
from evroute.model.trip_noise import START_TRIP_STD, TripNoise, TripNoiseOptions
from evroute.planning.forecast import forecast


def dense(world, trips, covariances, arms):
    """Return mean and covariance of eqs. 2-3 on all measurements under block-diagonal noise."""
    edge = np.concatenate([trip.id for trip in trips])
    features = np.concatenate([trip.features for trip in trips])
    residual = np.concatenate([trip.energy_wh - trip.prior_mean_wh for trip in trips])
    gram = world.kernel(edge, features, edge, features)
    start = 0
    for covariance in covariances:
        block = slice(start, start + len(covariance))
        gram[block, block] += covariance
        start += len(covariance)
    cross = world.kernel(arms.id, arms.features, edge, features)
    prior = world.kernel(arms.id, arms.features, arms.id, arms.features)
    mean = arms.prior_mean_wh + cross @ np.linalg.solve(gram, residual)
    return mean, prior - cross @ np.linalg.solve(gram, cross.T)


def noise_of(model, trip, potential_wh):
    """Return R of one trip with the deviations in force, repeats as they came."""
    dissipated = np.maximum(trip.prior_mean_wh - potential_wh[trip.id], 0.0)
    shared = model._noise.trip_std * dissipated
    return np.diag(model._noise.std_wh[trip.id] ** 2) + np.outer(shared, shared)


def steady(trip, world):
    """Let an arm have one prior mean, as networks do."""
    return Feedback(trip.id, trip.features, world.arms.prior_mean_wh[trip.id], trip.energy_wh)


OPTIONS = [
    {"trip_effect": 0.4},
    {"trip_effect": "learned"},
    {"noise": "learned"},
    {"trip_effect": "learned", "noise": "learned"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("moved", [False, True])
def test_the_posterior_is_that_of_the_textbook_with_noise_in_blocks(make_world, options, moved):
    world = make_world(30, seed=1)
    potential_wh = world.arms.prior_mean_wh - world.rng.uniform(0.0, 15.0, 30)
    model = world.model(potential_wh=potential_wh, **options)
    trips, covariances = [], []
    for _ in range(25):
        trip = steady(world.trip(8, among=20, moved=moved), world)
        trips.append(trip)
        covariances.append(noise_of(model, trip, potential_wh))
        model.update(trip)
    mean, covariance = dense(world, trips, covariances, world.arms)
    belief = model.posterior(world.arms)
    np.testing.assert_allclose(belief.mean_wh, mean, atol=1e-8)
    np.testing.assert_allclose(belief.std_wh**2, covariance.diagonal(), atol=1e-8)
    np.testing.assert_allclose(model.covariance(world.arms), covariance, atol=1e-8)


def test_computing_afresh_changes_nothing(make_world):
    world = make_world(30, seed=2)
    model = world.model(potential_wh=world.arms.prior_mean_wh - 10.0, trip_effect=0.3)
    for _ in range(100):  # the hundredth compares, and would take fresh numbers if these were off
        model.update(steady(world.trip(6, among=20), world))
    assert model.refreshes == 0
    before = model.covariance(world.arms)
    model._core.refresh(fresh(model))
    np.testing.assert_allclose(model.covariance(world.arms), before, atol=1e-9)


def fresh(model):
    from evroute.model.incremental_posterior import Fresh

    prior = model._kernel(model._met.id, model._met.features, model._met.id, model._met.features)
    return Fresh(0.5 * (prior + prior.T), model._core.precision, model._core.information)


def test_draws_of_all_arms_have_the_posterior_covariance(make_world, monkeypatch):
    world = make_world(12, seed=3)
    model = world.model(potential_wh=world.arms.prior_mean_wh - 10.0, trip_effect=0.5)
    for _ in range(6):
        model.update(steady(world.trip(6, among=9), world))
    monkeypatch.setattr("evroute.model.exact.DIRECT_SAMPLE_ARMS", 0)
    draws = model.sample_many(world.arms, np.random.default_rng(0), 40_000)
    covariance = model.covariance(world.arms)
    std = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose(
        draws.mean(axis=0), model.posterior(world.arms).mean_wh, atol=5 * std.max() / 200
    )
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=5 * 2**0.5 * std.max() ** 2 / 200)


def test_the_spectrum_gives_the_posterior_again(make_world):
    world = make_world(20, seed=4)
    model = world.model(potential_wh=world.arms.prior_mean_wh - 10.0, trip_effect=0.3)
    for _ in range(5):
        model.update(steady(world.trip(6), world))
    spectrum = model.spectrum()
    mean, variance = spectrum.ridge(model.points(spectrum, world.arms), np.array([1.0]))
    np.testing.assert_allclose(
        world.arms.prior_mean_wh + mean[:, 0], model.posterior(world.arms).mean_wh, atol=1e-9
    )
    np.testing.assert_allclose(variance[:, 0], model.posterior(world.arms).std_wh ** 2, atol=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_state_goes_on_to_the_last_bit(make_world, options):
    world = make_world(20, seed=5)
    potential_wh = world.arms.prior_mean_wh - 10.0
    first, second = (world.model(potential_wh=potential_wh, **options) for _ in range(2))
    for _ in range(7):
        first.update(steady(world.trip(6), world))
    second.restore(first.state())
    for _ in range(3):
        trip = steady(world.trip(6), world)
        first.update(trip)
        second.update(trip)
    for name, part in first.state().items():
        np.testing.assert_array_equal(part, second.state()[name], err_msg=name)


def test_a_state_without_what_is_learned_is_refused(make_world):
    world = make_world(20, seed=6)
    with pytest.raises(ValueError, match="not the state of an exact model"):
        world.model(noise="learned").restore(world.model().state())


def test_a_forecast_of_a_route_holds_what_its_edges_share(make_world):
    world = make_world(20, seed=7)
    options = {"potential_wh": world.arms.prior_mean_wh - 10.0}
    plain = forecast(world.model(), world.arms, np.array([3, 4, 5]))
    shared = forecast(world.model(trip_effect=0.2, **options), world.arms, np.array([3, 4, 5]))
    assert shared.std_wh**2 - plain.std_wh**2 == pytest.approx((0.2 * 30.0) ** 2)


def simulated(*, tau: float, ratio: np.ndarray, seed: int, trips: int = 400) -> TripNoise:
    """Hear trips over 20 of 40 edges whose expectation is known to 1 Wh."""
    rng = np.random.default_rng(seed)
    noise = TripNoise(np.full(40, 5.0), TripNoiseOptions(trip_effect="learned", noise="learned"))
    for _ in range(trips):
        edge = rng.choice(40, 20, replace=False)
        dissipated = np.full(20, 20.0)
        surprise = rng.normal(size=20) + tau * rng.normal() * dissipated
        surprise += 5.0 * np.sqrt(ratio[edge]) * rng.normal(size=20)
        noise.update(edge, np.ones(20, dtype=int), surprise, np.eye(20), dissipated)
    return noise


@pytest.mark.parametrize("tau", [0.03, 0.1, 0.3])
def test_the_spread_of_the_factor_of_trips_is_found(tau):
    learned = np.mean(
        [simulated(tau=tau, ratio=np.ones(40), seed=seed).trip_std ** 2 for seed in range(8)]
    )
    # of 3,200 trips, sqrt(2 / 3200) = 2.5 % of a variance as of tau² and 20-fold independent noise
    # over 20 edges
    error = 4 * 0.025 * (tau**2 + (26 / 20) / 20.0**2) + 3 * START_TRIP_STD**2 / 400
    assert learned == pytest.approx(tau**2, abs=error)


def test_the_noise_of_every_edge_is_found():
    ratio = np.tile([0.2, 1.0, 4.0, 0.5], 10)
    found = (
        np.mean(
            [simulated(tau=0.1, ratio=ratio, seed=seed).std_wh ** 2 for seed in range(8)], axis=0
        )
        / 25.0
    )
    # 1,600 measurements of an edge, sqrt(2 / 1600) = 3.5 %; ten of each 200 are the common scale
    np.testing.assert_allclose(found, (200 * ratio + 10 * ratio.mean()) / 210, rtol=0.17, atol=0.03)


def test_noise_never_vanishes():
    silent = TripNoise(np.full(5, 2.0), TripNoiseOptions(trip_effect="learned", noise="learned"))
    for _ in range(300):
        silent.update(
            np.arange(5), np.ones(5, dtype=int), np.zeros(5), 0.01 * np.eye(5), np.ones(5)
        )
    assert np.all(silent.std_wh >= 0.2 - 1e-12)
    assert silent.trip_std >= 0.0


def test_a_trip_effect_needs_the_potential(make_world):
    with pytest.raises(ValueError, match="give potential_wh"):
        make_world(5).model(trip_effect="learned")


def test_off_is_off(make_world):
    world = make_world(10, seed=8)
    one: ExactGP = world.model()
    other = world.model(trip_effect=0.0, potential_wh=world.arms.prior_mean_wh)
    trip = world.trip(5)
    one.update(trip)
    other.update(trip)
    assert one.state().keys() == other.state().keys()
    arms: Arms = world.arms
    np.testing.assert_array_equal(one.posterior(arms).mean_wh, other.posterior(arms).mean_wh)


def test_passes_of_a_trip_count_as_their_mean() -> None:
    """The mean of c passes errs by 1 / sqrt(c) as much; times sqrt(c) it is one measurement."""
    options = TripNoiseOptions(noise="learned")
    four, one = (TripNoise(np.full(2, 5.0), options) for _ in range(2))
    edge = np.array([0])
    four.update(edge, np.array([4]), np.array([8.0]), np.array([[3.0]]), np.zeros(1))
    one.update(edge, np.array([1]), np.array([16.0]), np.array([[12.0]]), np.zeros(1))
    np.testing.assert_allclose(four.std_wh, one.std_wh)
    assert four.std_wh[0] > four.std_wh[1] > 5.0
    assert (four.n_measured, one.n_measured) == (4, 1)


@pytest.mark.parametrize("learned", ["trip_effect", "noise"])
def test_either_noise_is_learned_without_the_other(make_world, learned) -> None:
    world = make_world(6)
    model = world.model(potential_wh=world.arms.prior_mean_wh - 10.0, **{learned: "learned"})
    before = {"trip_effect": model.trip_noise, "noise": model.noise_std}[learned](world.arms)
    model.update(
        Feedback(world.arms.id, world.arms.features, world.arms.prior_mean_wh, np.full(6, 1e3))
    )
    after = {"trip_effect": model.trip_noise, "noise": model.noise_std}[learned](world.arms)
    assert np.all(after > 2 * before)  # errors of far more than any deviation before


def test_a_trip_that_dissipates_nothing_teaches_nothing_about_trips() -> None:
    noise = TripNoise(np.ones(2), TripNoiseOptions(trip_effect="learned", noise="prior"))
    edge, surprise_wh = np.arange(2), np.array([50.0, 50.0])
    noise.update(edge, np.ones(2), surprise_wh, np.eye(2), np.zeros(2))
    assert noise.trip_std == START_TRIP_STD
    noise.update(edge, np.ones(2), surprise_wh, np.eye(2), np.ones(2))
    assert noise.trip_std > START_TRIP_STD
