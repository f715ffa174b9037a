"""PhysicsRegression by normal equations written out, and recovery of known coefficients."""

import numpy as np

from evroute.arms import Feedback
from evroute.energy.regressors import NAMES, PRIOR_STD, Regressors
from evroute.energy.vehicle import load_vehicle
from evroute.model.coefficients import PhysicsOptions, PhysicsRegression
from evroute.network import context
from evroute.planning.spaces.edge_space import EdgeSpace

VEHICLE = load_vehicle("reference")
TRUE = np.array([0.12, -0.15, 0.1, 1.4, -4.0, 6.0])


def drive(arms, edges, energy_wh) -> Feedback:
    return Feedback(edges, arms.features[edges], arms.prior_mean_wh[edges], energy_wh)


def linear(regressors, noise_wh) -> PhysicsRegression:
    return PhysicsRegression(regressors, noise_wh, PhysicsOptions().prior_std(regressors))


def test_two_edges_are_the_normal_equations(make_network) -> None:
    roads = make_network(
        [("up", 0, 1), ("down", 1, 2)], [(0, 0, 0), (900, 0, 40), (900, 700, 0)], speed_mps=[14, 20]
    )
    arms = EdgeSpace(roads, VEHICLE).reference
    noise_wh = np.array([3.0, 4.0])
    regressors = Regressors(roads, VEHICLE)
    model = linear(regressors, noise_wh)
    edges, over_wh = np.array([0, 1, 0]), np.array([20.0, -5.0, 24.0])
    model.update(drive(arms, edges, arms.prior_mean_wh[edges] + over_wh))

    x = regressors.of(np.arange(2), context.build(roads).features)
    prior = np.diag(np.square(PRIOR_STD))
    # the other way round: condition the joint of coefficients and measurements
    gram = x[edges] @ prior @ x[edges].T + np.diag(noise_wh[edges] ** 2)
    gain = prior @ x[edges].T @ np.linalg.inv(gram)
    mean, covariance = gain @ over_wh, prior - gain @ x[edges] @ prior
    found = model.coefficients()
    assert found.names == NAMES
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(found.std, np.sqrt(covariance.diagonal()), rtol=1e-9)
    np.testing.assert_allclose(
        model.posterior(arms).mean_wh, arms.prior_mean_wh + x @ mean, rtol=1e-9
    )
    np.testing.assert_allclose(model.covariance(arms), x @ covariance @ x.T, rtol=1e-7)


def test_coefficients_are_recovered_within_their_deviations(denver) -> None:
    arms = EdgeSpace(denver, VEHICLE).reference
    regressors = Regressors(denver, VEHICLE)
    truth_wh = arms.prior_mean_wh + regressors.of(arms.id, arms.features) @ TRUE
    model = linear(regressors, np.full(len(arms), 3.0))
    rng = np.random.default_rng(1)
    for _ in range(10):
        edges = rng.integers(0, len(arms), 60)
        model.update(drive(arms, edges, truth_wh[edges] + rng.normal(0, 3.0, 60)))
    found = model.coefficients()
    # of a chi-squared of 6 degrees of freedom, 99.9 % lie below 22.5; the inverse needs the joint,
    # not the marginals
    root = model._root()
    distance = np.linalg.solve(root.T @ root, found.mean - TRUE) @ (found.mean - TRUE)
    assert distance < 22.5
    assert np.all(found.std < found.prior_std)
    mass, auxiliary = (
        NAMES.index("mass"),
        NAMES.index("auxiliary"),
    )  # in a city the others look alike
    assert np.all((found.std < 0.5 * found.prior_std)[[mass, auxiliary]])
    assert np.all(np.abs(found.mean - TRUE) < 4 * found.std)


def test_roads_never_driven_are_learned_too(denver) -> None:
    arms = EdgeSpace(denver, VEHICLE).reference
    regressors = Regressors(denver, VEHICLE)
    truth_wh = arms.prior_mean_wh + regressors.of(arms.id, arms.features) @ TRUE
    model = linear(regressors, np.full(len(arms), 1.0))
    driven = np.arange(0, len(arms), 20)
    model.update(drive(arms, driven, truth_wh[driven]))
    others = np.setdiff1d(arms.id, driven)
    before_wh = np.abs(truth_wh - arms.prior_mean_wh)[others].mean()
    after_wh = np.abs(truth_wh - model.posterior(arms).mean_wh)[others].mean()
    assert after_wh < 0.1 * before_wh


def test_draws_have_the_mean_and_the_covariance(hill) -> None:
    arms = EdgeSpace(hill, VEHICLE).reference
    model = linear(Regressors(hill, VEHICLE), np.full(7, 5.0))
    model.update(drive(arms, np.array([1, 3]), np.array([200.0, 150.0])))
    drawn_wh = model.sample_many(arms, np.random.default_rng(3), 20_000)
    belief = model.posterior(arms)
    assert np.all(
        np.abs(drawn_wh.mean(axis=0) - belief.mean_wh) < 5 * belief.std_wh / np.sqrt(20_000)
    )
    scale = np.outer(belief.std_wh, belief.std_wh)
    np.testing.assert_allclose(
        np.cov(drawn_wh.T) / scale, model.covariance(arms) / scale, atol=0.05
    )
